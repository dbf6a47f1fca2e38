"""One step, tried on one flight: what it is judged by, and what is found.

Steps are judged in order over sets of moments. ``ready`` marks the samples at which everything before the step was
done, so that it may begin there; what is found marks the samples at which it may be called done in turn. All steps
were done in order if the last one's set is not empty: no choice of moments is made too early, and steps that overlap
in time (passing B on the way to C) need no special case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from wayword.episodes.commands import Step
from wayword.evaluation.commands.trace import Bools, Floats, Flown

Unit = Literal["m", "degrees", "rad", "turns", ""]


@dataclass(frozen=True)
class Bounds:
    """When a step counts as done. Metres from the centres of objects."""

    at_m: float = 0.75
    """At an object: within this of it."""
    rival_m: float = 0.10
    """And no other object nearer by more than this."""
    side_deg: float = 60.0
    """A side of an object: within this of its direction, as seen on arrival or from the start."""
    arrival_m: float = 1.2
    """A drone arrives where it last came within this of the object: from there it sees the object's sides."""
    pass_m: float = 1.0
    pass_rad: float = 0.7
    """Passed: came within ``pass_m`` and went round it by at least this, to the side that is said."""
    pass_range_m: float = 1.25
    """A pass is one stay within this of the object, and what is left of the winding at its end counts."""
    weave_rad: float = 0.5
    """The same for each object of a slalom."""
    circle_m: float = 1.0
    circle_share: tuple[float, float] = (0.8, 1.3)
    """Circled: within ``circle_m`` round it by this share of the said angle, at least and at most."""
    circle_range_m: float = 1.25
    """A circle is one stay within this of the object."""
    circle_way_in_rad: float = 1.0
    circle_way_out_rad: float = math.pi
    """Not part of the circle: what is flown round the object on the way to it, and on the way to the next goal."""
    gap_share: tuple[float, float] = (0.2, 0.8)
    gap_m: float = 0.4
    """In a gap: this share along the line between two objects, and within ``gap_m`` of the line."""
    turn_deg: float = 30.0
    """Turns and headings."""
    spot_m: float = 0.5
    """A turn on the spot ends within this of where it began, and no more than twice that is flown for it."""
    metres_share: float = 0.25
    metres_m: float = 0.2
    """Distances: within this share or these metres, whichever is larger."""
    detour: tuple[float, float] = (1.5, 0.6)
    """Flown for them: at most this many times their length, and these metres more."""
    some_way_m: float = 0.4
    """Ahead, where no metres are said: at least this."""
    until_way_m: float = 0.1
    """Flown straight until something holds: at least this far, unless it held already."""
    left_deg: tuple[float, float] = (45.0, 135.0)
    behind_deg: float = 120.0
    close_m: float = 0.9
    view_deg: float = 42.0
    """In the camera's view: half of its 84 degrees."""
    return_m: float = 0.5
    avoid_m: float = 0.6
    still_m: float = 0.25
    """Stayed where it was: never farther than this from the start."""

    def tolerance_m(self, metres: float) -> float:
        """How far a distance may be off."""
        return max(self.metres_share * abs(metres), self.metres_m)


@dataclass(frozen=True, eq=False)
class StepFinding:
    """What a step came to."""

    ends: Bools
    """(T,) samples at which it may be called done."""
    value: float
    unit: Unit
    yes: str
    """In words, if it was done."""
    no: str
    """In words, if not."""
    holds: bool = True
    """Whether it is a state that a flight must end in if the step is its last, and not a deed that stays done."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """A step and the flight it is looked for in."""

    flown: Flown
    step: Step
    ready: Bools
    """(T,) samples at which it may begin."""
    last: bool
    """Whether nothing follows it."""
    bounds: Bounds = Bounds()
    upcoming: Bools | None = None
    """(T,) samples at which the next step is done, if it is about being somewhere."""

    @property
    def object(self) -> str:
        """The step's object."""
        assert self.step.object is not None
        return self.step.object

    @cached_property
    def first(self) -> int:
        """The earliest sample at which the step may begin."""
        return int(np.argmax(self.ready))

    @cached_property
    def after(self) -> Bools:
        """(T,) samples from then on."""
        return np.arange(len(self.flown)) >= self.first

    def begins(self) -> Iterator[int]:
        """Every sample at which the step may begin."""
        return iter(np.flatnonzero(self.ready).tolist())

    def still(self, begin: int) -> Bools:
        """From a sample on, whether the drone is on the spot where it was then."""
        points, length = self.flown.points[begin:], self.flown.length[begin:]
        near = np.hypot(*(points - points[0]).T) <= self.bounds.spot_m
        return np.asarray(near & (length - length[0] <= 2 * self.bounds.spot_m))

    def reported_value(self, values: Floats) -> float:
        """The number to report: at the end of the flight for a last step, else the smallest after the beginning."""
        return float(values[-1] if self.last else values[self.first :].min())


def once_done(ends: Bools) -> Bools:
    """A deed stays done."""
    return np.asarray(np.maximum.accumulate(ends))


def called(name: str) -> str:
    """An object in a sentence."""
    return "the " + name.replace("-", " ")
