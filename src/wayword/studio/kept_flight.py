"""A flight as it is kept: its legs, half a second each, and all it takes to show, to repeat and to go on from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.episodes import Example, Pose2
from wayword.objects import ObjectDatabase
from wayword.pictures.thought_masks import View
from wayword.pilot.free_flight import free_example
from wayword.pilot.verdict import Verdict
from wayword.policy.fspvn import Thought
from wayword.sim.render.bank import MeshBank
from wayword.studio.layout import StudioLayout
from wayword.studio.understood import Understanding
from wayword.task import DECISION_S

MOST_GLIMPSES = 60
"""Pictures that a policy is shown again when it goes on: it looks at them anew, 12 ms each."""


@dataclass(frozen=True, eq=False)
class Glimpse:
    """What the drone saw at one decision, as the simulator gives it to a policy."""

    rgb: NDArray[np.uint8]
    ids: NDArray[np.uint8]
    pose: NDArray[np.float64]
    """(6,) as reported."""


@dataclass(frozen=True, eq=False)
class StudioStep:
    """Half a second of flight: one decision and what came of it."""

    number: int
    time_s: float
    """When it began."""
    action: NDArray[np.float64]
    poses: NDArray[np.float64]
    """(T, 6) true poses, evenly spaced in time, from the decision to the next one; T = 1 if it decided to stop."""
    path: NDArray[np.float64]
    """(P, 2) flown before this leg."""
    view: View
    """Where the picture was taken that the decision is about."""
    thought: Thought | None
    glimpse: Glimpse
    doing: int | None = None
    """Which part of the plan this is about, if the policy can tell."""
    verdict: Verdict | None = None
    """Of the flight, if this leg is its last."""
    beside: StudioStep | None = None
    """The same half second of another policy's flight, flown for comparison."""

    @property
    def ended(self) -> bool:
        """Whether it is the last."""
        return self.verdict is not None and (self.beside is None or self.beside.ended)

    @property
    def outcome(self) -> str | None:
        """Of the flight, in one line."""
        return None if self.verdict is None else self.verdict.outcome

    @property
    def success(self) -> bool | None:
        """Whether what was said was done; None if that cannot be told."""
        return None if self.verdict is None else self.verdict.success


@dataclass(eq=False)
class KeptFlight:
    """One flight of one policy."""

    instruction: str
    policy: str
    seed: int
    layout: StudioLayout
    start: Pose2
    """Where it began: the layout's start, or where the drone stood."""
    understood: Understanding
    database: ObjectDatabase
    bank: MeshBank
    camera: Camera
    horizon: int
    legs: list[StudioStep] = field(default_factory=list)
    before: list[Glimpse] = field(default_factory=list)
    """What was seen in the flights that this one goes on from."""

    @property
    def example(self) -> Example:
        """As the simulator and the film take it."""
        example = free_example(f"studio, {self.layout.title}", self.instruction, self.layout.objects, self.start)
        path = self.layout.path if self.demonstrated else None
        return example if path is None else replace(example, path=path)

    @property
    def demonstrated(self) -> bool:
        """Whether there is a demonstration of this very flight."""
        layout = self.layout
        return layout.path is not None and self.instruction == layout.instruction and self.start == layout.start

    @property
    def end(self) -> Pose2:
        """Where the drone stands now."""
        if not self.legs:
            return self.start
        x, y, *_, yaw = self.legs[-1].poses[-1].tolist()
        return Pose2(x, y, yaw)

    @property
    def glimpses(self) -> list[Glimpse]:
        """All that was seen, thinned out evenly."""
        glimpses = [*self.before, *(leg.glimpse for leg in self.legs)]
        if len(glimpses) <= MOST_GLIMPSES:
            return glimpses
        return [glimpses[k] for k in np.linspace(0, len(glimpses) - 1, MOST_GLIMPSES).astype(int)]

    @property
    def verdict(self) -> Verdict:
        """What came of it; of a flight that was stopped, that it was."""
        last = self.legs[-1].verdict if self.legs else None
        return last or Verdict("stopped by hand")


def moment_of(legs: Sequence[StudioStep], time_s: float) -> tuple[StudioStep, float]:
    """The leg at a time of a flight, and the share of it that is over."""
    number = min(max(int(time_s / DECISION_S + 1e-9), 0), len(legs) - 1)
    leg = legs[number]
    return leg, min(max((time_s - leg.time_s) / DECISION_S, 0.0), 1.0)


def seconds_of(legs: Sequence[StudioStep]) -> float:
    """How long a flight is; a stop takes no time."""
    return legs[-1].time_s + (DECISION_S if len(legs[-1].poses) > 1 else 0.0) if legs else 0.0
