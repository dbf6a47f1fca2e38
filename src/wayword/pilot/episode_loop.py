"""The one loop in which a policy flies in the simulator: look, decide, move.

    loop = EpisodeLoop(policy, arena)
    loop.begin(situations, seeds, instructions, objects, demonstrations)
    for point in loop:          # a decision of all drones still flying; carried out when the next one is asked for
        ...

Evaluation, film, studio, page, training and the flights that training data is made of all go through here; what they
differ in is what they do at a decision. Whoever must do something after moving calls ``decide`` and ``move``.

Shorthand
    N episodes side by side, M <= N still flying; an action is (forward m/s, yaw rate rad/s, stop)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.policy.interface import Observations, Policy, Privileged, Watching, check_camera
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.render.look import Look, random_look
from wayword.sim.render.renderer import Frames


@dataclass(frozen=True)
class RunConfig:
    """How a run of flights is flown."""

    seed: int = 0
    """Seeds vehicles, sensors and looks of all episodes; episode i uses (seed, i)."""
    batch: int = 32
    """Episodes flown side by side; does not change any result."""
    random_looks: bool = False
    """Draw light, ground and surround per episode instead of ``look``."""
    arena: ArenaConfig = field(default_factory=ArenaConfig)
    look: Look = field(default_factory=Look)


def situation_of(example: Example, config: RunConfig, index: int) -> tuple[Situation, int]:
    """The situation and the seed of example number ``index`` of a run."""
    look_seed, arena_seed = np.random.SeedSequence((config.seed, index)).generate_state(2, np.uint64)
    look = random_look(np.random.default_rng(int(look_seed))) if config.random_looks else config.look
    return Situation(example.objects, example.start, look, example.episode.arena_m), int(arena_seed >> 2)


@dataclass(eq=False)
class DecisionPoint:
    """One decision of the drones still flying."""

    observations: Observations
    frames: Frames | None
    """What their cameras saw, with the truth about every pixel; None if the policy does not look."""
    actions: NDArray[np.float64]
    """(M, 3) what the policy asks for. Whoever changes it changes what is flown."""

    @property
    def slots(self) -> NDArray[np.int64]:
        """(M,) numbers of the drones."""
        return self.observations.slots


class FlightWorld(Protocol):
    """What flights need of the place they are flown in: an ``Arena``, or one that draws nothing."""

    @property
    def count(self) -> int:
        """How many episodes there are (N)."""
        ...

    @property
    def flying(self) -> NDArray[np.int64]:
        """(M,) slots of the episodes that have not ended."""
        ...

    @property
    def poses(self) -> NDArray[np.float64]:
        """(N, 6) poses as reported."""
        ...

    def step(self, actions: NDArray[np.float64], watch: Callable[[], None] | None = None) -> None:
        """Carry out one decision, actions (N, 3), of all that still fly."""
        ...


class FlightLoop:
    """A policy in any world, flown to the end of the last flight; it sees nothing but poses."""

    def __init__(self, policy: Policy, world: FlightWorld) -> None:
        """The world's flights have begun, and the policy knows of them."""
        self.policy, self.world = policy, world

    def __iter__(self) -> Iterator[DecisionPoint]:
        while len(self.world.flying):
            point = self.decide()
            yield point
            self.move(point)

    def decide(self) -> DecisionPoint:
        """Let the policy look and decide, once, for all drones still flying."""
        policy, slots = self.policy, self.world.flying
        frames = self._look(slots)
        images = frames.rgb if frames is not None else np.zeros((len(slots), 0, 0, 3), np.uint8)
        observations = Observations(slots, images, self.world.poses[slots])
        actions = np.asarray(policy.act(observations), dtype=np.float64)
        if actions.shape != (len(slots), 3):
            raise ValueError(
                f"policy {policy.name} answered {actions.shape} for {len(slots)} drones, not ({len(slots)}, 3)"
            )
        return DecisionPoint(observations, frames, actions)

    def move(self, point: DecisionPoint, watch: Callable[[], None] | None = None) -> None:
        """Carry out a decision; ``watch`` is called several times on the way."""
        actions = np.zeros((self.world.count, 3))
        actions[point.slots] = point.actions
        self.world.step(actions, watch)

    def _look(self, slots: NDArray[np.int64]) -> Frames | None:
        return None


class EpisodeLoop(FlightLoop):
    """A policy and an arena, from the first look to the last stop."""

    def __init__(self, policy: Policy, arena: Arena, looks: bool = True) -> None:
        """Without ``looks`` nothing is drawn: for policies such as the Oracle, which know where to go."""
        check_camera(policy, arena.config.camera)
        super().__init__(policy, arena)
        self.arena, self.looks = arena, looks
        self._layouts: list[list[str]] = []

    def begin(
        self,
        situations: Sequence[Situation],
        seeds: Sequence[int],
        instructions: Sequence[str],
        objects: Sequence[Any],
        demonstrations: Sequence[NDArray[np.float64]] | None = None,
    ) -> None:
        """Start one episode per situation; ``objects`` is what the policy is taught for each.

        Demonstrations are shown to those policies only that declare themselves ``Privileged``.
        """
        self.arena.reset(range(len(situations)), situations, seeds)
        self._layouts = [[item.name for item in situation.objects] for situation in situations]
        self.policy.reset(instructions, objects)
        if isinstance(self.policy, Privileged) and demonstrations is not None:
            self.policy.brief(demonstrations)

    def _look(self, slots: NDArray[np.int64]) -> Frames | None:
        if not self.looks:
            return None
        frames = self.arena.frames(slots)
        if isinstance(self.policy, Watching):
            self.policy.watch(frames.ids, [self._layouts[slot] for slot in slots])
        return frames
