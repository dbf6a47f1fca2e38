"""A world for stage 2 alone: vehicles, coverage and teacher distributions, without pictures.

It flies as ``wayword.sim.arena`` does (lag vehicle, limits, decisions of 0.5 s, solid columns, horizon, net), but
instead of looking, it knows what the camera would have covered and puts the gold visitation distributions there, as
they are or with the errors of ``noise``, and discs where things stand. A core steps it over a thousand times a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.episodes import Example, examples, generate_episodes
from wayword.learning.policy.gold import gold_distributions
from wayword.learning.policy.noise import Noise, NoiseConfig
from wayword.learning.policy.rewards import IntrinsicReward, RewardConfig, grid_places
from wayword.mapping.grid import UNOBSERVED, WORLD_CELLS, to_frame
from wayword.mapping.observability import add_coverage
from wayword.mapping.world_map import splat_max
from wayword.pilot.episode_loop import FlightLoop
from wayword.policy.control import ControlConfig, Trails, control_inputs
from wayword.policy.interface import Observations
from wayword.policy.oracle import Oracle
from wayword.sim.models.catalogue import names
from wayword.sim.vehicle import Fleet, VehicleConfig
from wayword.task import DECISION_S, HORIZON, MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S, STOP_THRESHOLD, SUCCESS_RADIUS_M

Floats = NDArray[np.float32]
Array = NDArray[np.float64]
_LIMITS = np.array([MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S, 1.0])
"""Networks speak in units of these."""


@dataclass(frozen=True)
class TeacherConfig:
    """The world and what is wrong with its distributions."""

    noise: NoiseConfig | None = field(default_factory=NoiseConfig)
    """None: gold as it is."""
    sigma_cells: float = 1.0
    """Blur of gold distributions without noise."""
    horizon: int = HORIZON
    decision_s: float = DECISION_S
    column_m: float = 0.18
    """Radius of the solid column around every object."""
    misplaced_m: float = 0.05
    """Standard deviation, along x and y, of where a thing seems to stand."""
    missized: tuple[float, float] = (0.8, 1.5)
    """A thing's radius seems larger by a factor within these: what is broad above its base covers more of the map."""
    net_m: float = 1.0
    """A net stands this far outside the arena."""
    camera: Camera = field(default_factory=Camera)
    vehicle: VehicleConfig = field(
        default_factory=lambda: VehicleConfig(randomise=(0.3, 1.0), randomise_latency=(0.0, 0.3))
    )
    """Agile and sluggish airframes alike: real ones take 0.3 to 1.0 s to reach 63 % of their speed, and begin late."""


def teacher_examples(episodes: int, seed: int, segments: Sequence[int] = (1, 2)) -> list[Example]:
    """Examples cut from generated episodes of seen objects; another seed makes others."""
    generated = [episode for episode, _ in generate_episodes("train", episodes, seed, names("seen"))]
    return [example for episode in generated for count in segments for example in examples(episode, count)]


class TeacherWorld:
    """N flights side by side; those that have ended stay where they are."""

    def __init__(
        self,
        flights: Sequence[Example],
        config: TeacherConfig,
        control: ControlConfig,
        rng: np.random.Generator,
        ghosts: Sequence[Example] | None = None,
    ) -> None:
        """``ghosts`` are the examples whose paths may be mistaken for one's own; by default the flights."""
        self.config, self.control, self.examples = config, control, list(flights)
        count = len(self.examples)
        self.starts = np.array([(e.start.x, e.start.y, e.start.yaw) for e in self.examples]).reshape(-1, 3)
        self.fleet = Fleet(count, config.vehicle)
        x, y, yaw = self.starts.T
        self.fleet.reset(range(count), x, y, yaw, rng)
        self.trails = Trails(self.starts)
        self.coverage = np.zeros((count, WORLD_CELLS, WORLD_CELLS), np.float32)
        self.distributions = np.zeros((count, 2, UNOBSERVED + 1), np.float32)
        self.steps = np.zeros(count, np.int64)
        self.ended = np.zeros(count, np.bool_)
        self.stopped = np.zeros(count, np.bool_)
        """Ended by a stop, not by the horizon."""
        most = max(len(e.objects) for e in self.examples)
        self._columns = np.zeros((count, most, 3))
        for n, example in enumerate(self.examples):
            for k, item in enumerate(example.objects):
                self._columns[n, k] = (item.x, item.y, self._column_m(item.name))
        self.things = np.zeros((count, WORLD_CELLS, WORLD_CELLS), np.float32)
        """M^W (N, 32, 32) of any object, as far as it was observed."""
        self._discs = self._draw_discs(rng) if control.things else self.things
        self._noise: list[Noise] = []
        if config.noise is not None:
            others = [ghosts[int(rng.integers(len(ghosts)))] for _ in range(count)] if ghosts else self.examples[::-1]
            for n, other in enumerate(others):
                ghost = to_frame(other.path, (other.start.x, other.start.y, other.start.yaw))
                own = np.random.default_rng(rng.integers(2**63))
                self._noise.append(Noise(self.examples[n].path, ghost, self.starts[n], config.noise, own))
        self._look(np.arange(count))

    @property
    def flying(self) -> NDArray[np.int64]:
        """Slots whose flights have not ended."""
        return np.flatnonzero(~self.ended)

    @property
    def poses(self) -> Array:
        """Reported poses (N, 6)."""
        return self.fleet.reported_pose

    def inputs(self, slots: NDArray[np.int64]) -> Floats:
        """What the control network is shown (M, size)."""
        return control_inputs(
            self.distributions[slots],
            self.starts[slots],
            self.poses[slots][:, [0, 1, 5]],
            self.coverage[slots],
            self.trails.maps[slots],
            self.trails.motion[slots],
            self.things[slots],
            self.control,
        )

    @property
    def count(self) -> int:
        """How many flights there are (N)."""
        return len(self.examples)

    def step(self, actions: Array, watch: Callable[[], None] | None = None) -> None:
        """One decision, actions (N, 3), of every drone still flying; ``watch`` sees nothing, for nothing is drawn."""
        slots = self.flying
        self.steps[slots] += 1
        stop = actions[slots, 2] > STOP_THRESHOLD
        self.stopped[slots] = stop
        self.ended[slots] = stop | (self.steps[slots] >= self.config.horizon)
        moving = slots[~stop]
        if not len(moving):
            return
        setpoints = np.zeros((self.count, 2))
        setpoints[moving] = actions[moving, :2]
        self.fleet.step(setpoints, self.config.decision_s, self._columns, moving)
        sides = np.array([e.episode.arena_m for e in self.examples])
        self.fleet.confine(-self.config.net_m, sides + self.config.net_m)
        self.trails.add(moving, self.poses[moving][:, [0, 1, 5]])

    def gaps_m(self, slots: NDArray[np.int64]) -> Array:
        """How near (M,) the bodies came to any thing on the last decision's way; infinity where there is none."""
        way, columns = self.fleet.track[slots], self._columns[slots]
        apart = np.linalg.norm(way[:, :, None] - columns[:, None, :, :2], axis=3)
        gaps = np.where(columns[:, None, :, 2] > 0, apart - columns[:, None, :, 2], np.inf)
        nearest: Array = gaps.min(axis=(1, 2), initial=np.inf) - self.config.vehicle.radius_m
        return nearest

    def look(self) -> None:
        """Update coverage and distributions of the drones still flying."""
        self._look(self.flying)

    def _look(self, slots: NDArray[np.int64]) -> None:
        poses = self.poses
        for n in slots:
            add_coverage(self.coverage[n], poses[n], self.config.camera)
            np.maximum(self.things[n], self._discs[n] * self.coverage[n], out=self.things[n])
            if self._noise:
                self._noise[n].write(self.coverage[n], self.distributions[n])
            else:
                path, out = self.examples[n].path, self.distributions[n]
                gold_distributions(path, self.starts[n], self.coverage[n], self.config.sigma_cells, out)

    def _column_m(self, name: str) -> float:
        """Radius of the solid column of an object."""
        return self.config.column_m

    def _draw_discs(self, rng: np.random.Generator) -> Floats:
        """Where things seem to stand (N, 32, 32): about where they do, and about as large."""
        discs = np.zeros_like(self.things)
        for n, columns in enumerate(self._columns):
            standing = columns[columns[:, 2] > 0]
            prints = np.ones((len(standing), 4), np.float32)
            prints[:, :2] = standing[:, :2] + self.config.misplaced_m * rng.standard_normal((len(standing), 2))
            prints[:, 2] = standing[:, 2] * rng.uniform(*self.config.missized, len(standing))
            splat_max(discs[n, None], prints, np.ones((1, len(standing))), False, False)
        return discs

    def errors_m(self) -> Array:
        """Distance (N,) of each drone to the end of its demonstration."""
        ends = np.array([e.path[-1] for e in self.examples])
        errors: Array = np.linalg.norm(self.fleet.pose[:, :2] - ends, axis=1)
        return errors


class Flights(NamedTuple):
    """What happened in N flights; lists hold one array per flight, over its steps."""

    inputs: list[Floats]
    actions: list[Floats]
    log_probs: list[Floats]
    rewards: list[Array]
    values: list[Floats]
    errors_m: Array
    stopped: NDArray[np.bool_]
    paths: list[Array]
    contacts: NDArray[np.int64]

    def numbers(self) -> dict[str, float]:
        """The few that matter."""
        return {
            "return": float(np.mean([r.sum() for r in self.rewards])),
            "success": float((self.errors_m < SUCCESS_RADIUS_M).mean()),
            "error_m": float(self.errors_m.mean()),
            "stopped": float(self.stopped.mean()),
            "steps": float(np.mean([len(r) for r in self.rewards])),
            "contacts": float(self.contacts.mean()),
        }


Actor = Callable[[NDArray[np.int64], Floats], tuple[Floats, Floats, Floats]]
"""(slots, inputs) to actions (M, 3) in units of the limits, log pi (M,) and values (M,)."""


class _Acting:
    """An actor as a policy of the episode loop; it keeps what training wants to know of its last decision."""

    name = "actor"

    def __init__(self, world: TeacherWorld, actor: Actor) -> None:
        self._world, self._actor = world, actor
        self.inputs = self.actions = self.log_probs = self.values = np.zeros(0, np.float32)

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Nothing to be told: the world has the distributions."""

    def act(self, observations: Observations) -> Array:
        """Actions (M, 3) in metres and radians per second."""
        self.inputs = self._world.inputs(observations.slots)
        self.actions, self.log_probs, self.values = self._actor(observations.slots, self.inputs)
        return np.asarray(self.actions * _LIMITS)


def fly_world(world: TeacherWorld, actor: Actor, reward: RewardConfig) -> Flights:
    """Fly every episode of the world to its end."""
    policy, intrinsic = _Acting(world, actor), IntrinsicReward(world.count, reward)
    loop = FlightLoop(policy, world)
    rows: list[list[tuple[Floats, Floats, Floats, float, Floats]]] = [[] for _ in range(world.count)]
    paths = [[world.fleet.pose[n, None, :2]] for n in range(world.count)]
    while len(slots := world.flying):
        loop.move(loop.decide())  # not `for point in loop`: the reward is about where a decision has led
        actions = policy.actions
        places = grid_places(world.poses[slots, :2], world.starts[slots])
        rewards = intrinsic(
            slots, world.distributions[slots], world.trails.maps[slots], places, actions[:, :2], world.ended[slots],
            np.where(actions[:, 2] > STOP_THRESHOLD, np.inf, world.gaps_m(slots)),
        )  # fmt: skip
        track = world.fleet.track
        for m, n in enumerate(slots):
            rows[n].append((policy.inputs[m], actions[m], policy.log_probs[m], float(rewards[m]), policy.values[m]))
            if actions[m, 2] <= STOP_THRESHOLD:
                paths[n].append(track[n])
        world.look()
    columns = [tuple(zip(*row, strict=True)) for row in rows]
    return Flights(
        [np.stack(c[0]) for c in columns],
        [np.stack(c[1]) for c in columns],
        [np.array(c[2], np.float32) for c in columns],
        [np.array(c[3], np.float64) for c in columns],
        [np.array(c[4], np.float32) for c in columns],
        world.errors_m(),
        world.stopped.copy(),
        [np.concatenate(p) for p in paths],
        world.fleet.contacts,
    )


def oracle_actor(world: TeacherWorld) -> Callable[[NDArray[np.int64]], Floats]:
    """What the Oracle, which is shown the demonstrations, would do: actions (M, 3) in units of the limits."""
    oracle = Oracle()
    oracle.reset([""] * len(world.examples), [None] * len(world.examples))
    oracle.brief([example.path for example in world.examples])

    def act(slots: NDArray[np.int64]) -> Floats:
        blind = np.zeros((len(slots), 0, 0, 3), np.uint8)  # it looks at nothing
        actions = oracle.act(Observations(slots, blind, world.poses[slots]))
        return np.asarray(actions / _LIMITS, np.float32)

    return act
