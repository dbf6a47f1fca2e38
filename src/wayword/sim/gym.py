"""The Gymnasium environments ``wayword/Arena-v0``: one drone, or a native vector of them."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from wayword.episodes import Example, examples, load_natural
from wayword.errors import WaywordError
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.gym_options import InstructionVectors, PlainText, Shaping
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look, random_look
from wayword.task import SUCCESS_RADIUS_M

REACH_M = 100.0
MAX_CHARACTERS = 2000
CHARACTERS = string.printable + "".join(chr(c) for c in range(0xA0, 0x180)) + "‘’“”–—…°"
Observation = dict[str, Any]
Info = dict[str, Any]


Reward = Literal["success", "shaped"]
TextForm = Literal["plain", "encoded"]


def observation_space(config: ArenaConfig, text: TextForm = "plain") -> gym.spaces.Dict:
    """Image, pose and instruction, as the class docstring of ``ArenaEnv`` specifies."""
    words = gym.spaces.Text(MAX_CHARACTERS, charset=CHARACTERS) if text == "plain" else InstructionVectors.space()
    shape = (config.camera.height, config.camera.width, 3)
    reach = np.array([REACH_M] * 3 + [np.pi] * 3)
    return gym.spaces.Dict(
        image=gym.spaces.Box(0, 255, shape, np.uint8),
        pose=gym.spaces.Box(-reach, reach, dtype=np.float64),
        instruction=words,
    )


def action_space(config: ArenaConfig) -> gym.spaces.Box:
    """Forward velocity, yaw rate, stop."""
    turn = config.vehicle.max_yaw_rate_rad_s
    low, high = [0.0, -turn, 0.0], [config.vehicle.max_speed_m_s, turn, 1.0]
    return gym.spaces.Box(np.array(low, np.float32), np.array(high, np.float32))


class _Episodes:
    """Draws an example and its situation per reset, from the generator of the environment."""

    def __init__(self, cuts: Sequence[Example] | None, random_looks: bool) -> None:
        if cuts is None:
            cuts = [cut for episode in load_natural("train") for cut in examples(episode, 2)]
        if not cuts:
            raise WaywordError("the environment needs at least one episode")
        self.examples = list(cuts)
        self.by_id = {cut.id: cut for cut in self.examples}
        self.random_looks = random_looks

    def draw(self, rng: np.random.Generator, options: dict[str, Any] | None) -> tuple[Example, Situation, int]:
        example_id = (options or {}).get("example")
        if example_id is not None and example_id not in self.by_id:
            raise WaywordError(f"no example {example_id!r} among the {len(self.examples)} of this environment")
        cut = self.by_id[example_id] if example_id is not None else self.examples[int(rng.integers(len(self.examples)))]
        look = random_look(rng) if self.random_looks else Look()
        situation = Situation(cut.objects, cut.start, look, cut.episode.arena_m)
        return cut, situation, int(rng.integers(2**62))


def _readable(text: str) -> str:
    """The instruction within the observation space: other characters become "?", overlong text is cut."""
    allowed = set(CHARACTERS)
    return "".join(c if c in allowed else "?" for c in text[:MAX_CHARACTERS]) or "?"


class ArenaVectorEnv(gym.vector.VectorEnv[Observation, NDArray, NDArray]):
    """N arenas stepped and drawn together on all cores; see ``ArenaEnv`` for the specification.

    Environment i of a vector reset with ``seed`` is, byte for byte, the single environment reset with
    ``seed + i``. A finished environment is reset by the step that follows (``AutoresetMode.NEXT_STEP``).
    """

    def __init__(
        self,
        num_envs: int = 1,
        examples: Sequence[Example] | None = None,
        bank: MeshBank | None = None,
        config: ArenaConfig | None = None,
        random_looks: bool = False,
        render_mode: str | None = None,
        reward: Reward = "success",
        text: TextForm = "plain",
    ) -> None:
        if reward not in ("success", "shaped") or text not in ("plain", "encoded"):
            raise WaywordError(f"reward={reward!r}, text={text!r}: choose success or shaped, plain or encoded")
        self.num_envs = num_envs
        self._shaping = Shaping(num_envs) if reward == "shaped" else None
        self._text: InstructionVectors | PlainText = InstructionVectors() if text == "encoded" else PlainText()
        self.render_mode = render_mode
        self.config = config or ArenaConfig()
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": ["rgb_array"], "render_fps": 2}
        self.single_observation_space = observation_space(self.config, text)
        self.single_action_space = action_space(self.config)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.arena = Arena(num_envs, bank or MeshBank.of_catalogue(), self.config)
        self.current: list[Example | None] = [None] * num_envs
        self._episodes = _Episodes(examples, random_looks)
        self._rngs = [np.random.default_rng() for _ in range(num_envs)]
        camera = self.config.camera
        self._images = np.zeros((num_envs, camera.height, camera.width, 3), np.uint8)
        self._finished = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Start all environments; ``options={"example": id}`` chooses the example."""
        seeds = [int(seed) + i for i in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise WaywordError(f"{len(seeds)} seeds for {self.num_envs} environments")
        for i, one in enumerate(seeds or []):
            if one is not None:
                self._rngs[i] = np.random.default_rng(one)
        self._begin(list(range(self.num_envs)), options)
        self._finished[:] = False
        self._look(list(range(self.num_envs)))
        return self._observation(), self._info(np.zeros(self.num_envs))

    def step(self, actions: NDArray) -> tuple[Observation, NDArray, NDArray, NDArray, Info]:
        """Act in all environments; those that finished in the last step are reset instead."""
        again = np.flatnonzero(self._finished)
        commands = np.array(actions, dtype=np.float64)
        self.arena.step(commands)
        if len(again):
            self._begin(again.tolist(), None)
        self._look(list(range(self.num_envs)))
        endings = self.arena.endings
        terminated = np.array([ending in ("policy", "contact") for ending in endings])
        truncated = np.array([ending == "horizon" for ending in endings])
        success = np.array(
            [ending == "policy" and self._distance(i) < SUCCESS_RADIUS_M for i, ending in enumerate(endings)]
        )
        rewards = success.astype(np.float64)
        if self._shaping is not None:
            stopped = np.array([ending == "policy" for ending in endings])
            rewards = self._shaping.rewards(self._distances(), self.arena.contacts, stopped, success)
            rewards[again] = 0.0  # a reset is no step
        self._finished = terminated | truncated
        return self._observation(), rewards, terminated, truncated, self._info(success)

    def render(self) -> tuple[NDArray, ...] | None:
        """The newest first-person images."""
        return tuple(self._images) if self.render_mode == "rgb_array" else None

    def _begin(self, slots: list[int], options: dict[str, Any] | None) -> None:
        draws = [self._episodes.draw(self._rngs[slot], options) for slot in slots]
        for slot, (cut, _, _) in zip(slots, draws, strict=True):
            self.current[slot] = cut
        self.arena.reset(slots, [situation for _, situation, _ in draws], [seed for _, _, seed in draws])
        if self._shaping is not None:
            self._shaping.begin(slots, self._distances())

    def _look(self, slots: list[int]) -> None:
        self._images[slots] = self.arena.frames(slots).rgb

    def _distance(self, slot: int) -> float:
        cut = self.current[slot]
        return float("inf") if cut is None else float(np.linalg.norm(self.arena.flown(slot)[-1] - cut.path[-1]))

    def _distances(self) -> NDArray[np.float64]:
        return np.array([self._distance(slot) for slot in range(self.num_envs)])

    def _observation(self) -> Observation:
        texts = tuple(_readable(cut.instruction) if cut else "?" for cut in self.current)
        return {"image": self._images.copy(), "pose": self.arena.poses, "instruction": self._text(texts)}

    def _info(self, success: NDArray) -> Info:
        return {
            "example": np.array([cut.id if cut else "" for cut in self.current], dtype=object),
            "contacts": self.arena.contacts,
            "steps": self.arena.steps.copy(),
            "ended_by": np.array(self.arena.endings, dtype=object),
            "success": success > 0,
        }


class ArenaEnv(gym.Env[Observation, NDArray]):
    """A quadcopter with a camera in a square arena, and an instruction to follow.

    **Observation** (``Dict``)
        image        uint8 (72, 128, 3): RGB, pinhole, 84 degrees across, 15 degrees down, fixed to the body
        pose         float64 (6,): x, y, z (m), roll, pitch, yaw (rad) as the vehicle reports it; world frame
                     x right, y up, z up, origin in the arena's lower left corner, yaw counter-clockwise from
                     +x, rotation Rz(yaw) Ry(pitch) Rx(roll), positive pitch is nose down
        instruction  text of at most 2,000 characters, the same at every step; with ``text="encoded"`` its
                     sentence vector instead, float32 (384,) of length 1, for agents that take numbers only

    **Action** (``Box(3)``, float32)
        forward velocity 0 to 0.7 m/s; yaw rate -1 to 1 rad/s, counter-clockwise; stop, above 0.5 ends the
        episode where the drone is. Velocities outside are clipped; a number that is not finite is an error.

    **Dynamics** A decision holds for 0.5 s. Default vehicle: forward velocity follows its setpoint with a
    first-order lag of 0.5 s, yaw rate with 0.12 s; altitude 0.7 m; the body, and with it the camera, leans
    with the acceleration. Objects are solid columns: the drone slides along them, and touches are counted.
    A net 1 m outside the boundary line holds the drone back.

    **Start** The start pose of an example drawn uniformly from ``examples`` (default: natural ``train``, two
    segments), hovering. ``reset(options={"example": id})`` chooses one.

    **Reward** 1 if the episode ends by stop with the drone strictly within 0.47 m of the demonstration's end,
    0 at every other step. ``reward="shaped"`` gives instead, at every step, the metres by which the drone came
    nearer to the demonstration's end, less 0.25 per touch of an object, and for a stop +1 within 0.47 m and -0.5
    elsewhere; ``info["success"]`` tells either way. It is for learning: figures are published with the first.

    **End** Terminated by stop, or by a touch if ``config.end_on_contact``; truncated after 50 decisions.

    **Info** example (id), contacts, steps, ended_by, success.

    **Arguments** ``examples`` (list of ``Example``), ``bank`` (meshes the examples name; default: the
    catalogue), ``config`` (``ArenaConfig``: image size, decision time, speed limits, lags and horizon above are its
    defaults), ``random_looks`` (draw light, ground and surround per episode), ``render_mode`` (None, or "rgb_array":
    ``render`` returns the newest image), ``reward`` ("success" or "shaped") and ``text`` ("plain" or "encoded").

    **Determinism** The same seed and actions give the same bytes, in single and in vector environments.

    **Versions** v0: first release.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 2}  # noqa: RUF012 - gymnasium's own convention

    def __init__(
        self,
        examples: Sequence[Example] | None = None,
        bank: MeshBank | None = None,
        config: ArenaConfig | None = None,
        random_looks: bool = False,
        render_mode: str | None = None,
        reward: Reward = "success",
        text: TextForm = "plain",
    ) -> None:
        self.render_mode = render_mode
        self._one = ArenaVectorEnv(1, examples, bank, config, random_looks, render_mode, reward, text)
        self.observation_space = self._one.single_observation_space
        self.action_space = self._one.single_action_space

    @property
    def arena(self) -> Arena:
        """The simulation behind the environment; the drone is in slot 0."""
        return self._one.arena

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Info]:
        """Start an episode."""
        super().reset(seed=seed)
        observation, info = self._one.reset(seed=seed, options=options)
        return self._single(observation), {key: value[0] for key, value in info.items()}

    def step(self, action: NDArray) -> tuple[Observation, float, bool, bool, Info]:
        """Carry out one decision."""
        if self._one._finished[0]:
            raise WaywordError("the episode has ended: call reset() before the next step()")
        observation, rewards, terminated, truncated, info = self._one.step(np.asarray(action)[None])
        single = {key: value[0] for key, value in info.items()}
        return self._single(observation), float(rewards[0]), bool(terminated[0]), bool(truncated[0]), single

    def render(self) -> NDArray | None:  # type: ignore[override]
        """The newest first-person image."""
        images = self._one.render()
        return None if images is None else images[0].copy()

    @staticmethod
    def _single(observation: Observation) -> Observation:
        return {key: value[0] for key, value in observation.items()}


def register() -> None:
    """Make ``gymnasium.make("wayword/Arena-v0")`` and ``make_vec`` known; importing ``wayword.sim`` does it."""
    if "wayword/Arena-v0" not in gym.registry:
        gym.register(
            "wayword/Arena-v0",
            entry_point="wayword.sim.gym:ArenaEnv",
            vector_entry_point="wayword.sim.gym:ArenaVectorEnv",
        )
