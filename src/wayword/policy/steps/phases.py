"""From a step to what is done one after the other: look for things, fly through points, turn, fly ahead.

A step is planned when its turn comes, from where the drone then is and with what it then knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.episodes.commands import Step, Until
from wayword.policy.steps.surroundings import Point, Surroundings
from wayword.policy.steps.vias import (
    AT_M,
    LEAST_M,
    ViaPoint,
    arc_around,
    bearing_from,
    beside,
    leaving,
    middle_of_gap,
    side_of_pass,
    through,
    way_length,
    ways_past,
)
from wayword.task import ARENA_M

SOME_WAY_M = 0.8
"""Ahead, back or aside, when no distance is said."""
PEEK = 0.35
"""Radians to the side that still count as looking ahead: with what a vehicle turns on, still less than 30 degrees."""
PEEK_GAIN = 1.0
"""Yaw rate per radian: a vehicle that answers late would turn on by a third of what it was asked for."""
LEAD_OUT = 0.3
"""Radians that a circle goes on beyond what was said: its last point counts as reached a little early."""


@dataclass(frozen=True)
class FlyThrough:
    """Through points; ``halt`` at the last one."""

    vias: tuple[ViaPoint, ...]
    halt: bool


@dataclass(frozen=True)
class TurnBy:
    """On the spot by an angle, to the left if positive; more than half a turn is flown as it is."""

    radians: float


@dataclass(frozen=True)
class TurnTo:
    """To a heading."""

    heading: float


@dataclass(frozen=True)
class Peek:
    """To a heading, unless the thing is known before it is reached."""

    heading: float
    key: str


@dataclass(frozen=True)
class Face:
    """Towards a thing."""

    key: str


@dataclass(frozen=True)
class Ahead:
    """Straight ahead along ``heading`` for some metres, or until something is somewhere."""

    heading: float
    metres: float
    until: Until | None = None


@dataclass(frozen=True)
class LookBack:
    """Stand still and look."""

    decisions: int


Phase = FlyThrough | TurnBy | TurnTo | Peek | Face | Ahead | LookBack
PassedThing = tuple[str, float]
"""A thing that was passed, and on which side it was: 1 left, -1 right."""


def needed(step: Step) -> tuple[str, ...]:
    """Things that must be found before the step can be planned."""
    if step.do == "avoid" or step.until is not None:  # straight ahead is flown without looking round first
        return ()
    return step.mentioned


def plan(
    step: Step,
    pose: NDArray[np.float64],
    around: Surroundings,
    discs: NDArray[np.float64],
    following: Point | None,
    last: bool,
    home: Point,
) -> list[Phase]:
    """What to do for a step from ``pose`` (x, y, yaw); ``following`` is where the step after it leads, if known."""
    here, yaw = (float(pose[0]), float(pose[1])), float(pose[2])
    if step.until is not None:
        return _until(step.until, yaw, around.sure(step.until.object))
    if step.do in ("turn", "forward", "back", "sideways", "return"):
        return _move(step, here, yaw, home)
    if step.do in ("stay", "avoid"):
        return []
    places = [place for key in step.mentioned if (place := around.where(key)) is not None]
    if len(places) < len(step.mentioned):
        return []
    if step.do in ("face", "search"):  # what is searched for has been found when it is in view
        assert step.object is not None
        return [Face(step.object)]
    if step.do == "goto":
        return _goto(step, here, places[0], discs)
    if step.do == "circle":
        return [_circle(step, here, yaw, places[0], discs, last)]
    if step.do == "between":
        if step.end == "in":
            (a, b), middle = places, middle_of_gap(places[0], places[1], discs)
            offset = middle[0] - (a[0] + b[0]) / 2, middle[1] - (a[1] + b[1]) / 2
            return [FlyThrough((ViaPoint(step.objects, offset),), True)]
        return [FlyThrough(tuple(through(step.objects, places[0], places[1], here, discs)), last)]
    on = step.on if step.do == "pass" else None
    return [FlyThrough(tuple(_passes(step.mentioned, places, here, following, on, discs)), last)]


def _until(until: Until, yaw: float, known: bool) -> list[Phase]:
    """Straight ahead; a thing that is not in view is looked for a little to the sides, which is still ahead."""
    ahead = Ahead(yaw, 2 * ARENA_M, until)
    if known or until.is_ == "seen":
        return [ahead]
    sides = {"left": (PEEK,), "right": (-PEEK,)}.get(until.is_, (PEEK, -PEEK))
    return [*(Peek(yaw + side, until.object) for side in sides), TurnTo(yaw), ahead]


def _move(step: Step, here: Point, yaw: float, home: Point) -> list[Phase]:
    if step.do == "turn":
        return [TurnBy(math.radians(step.degrees))]
    if step.do == "return":
        return [FlyThrough((ViaPoint((), home),), True)]
    metres = SOME_WAY_M if step.metres is None else step.metres
    if step.do == "forward":
        return [Ahead(yaw, metres)]
    # The drone flies forward only: it turns, flies and turns back.
    turn = math.pi if step.do == "back" else math.copysign(math.pi / 2, metres)
    return [TurnTo(yaw + turn), Ahead(yaw + turn, abs(metres)), TurnTo(yaw)]


def _goto(step: Step, here: Point, centre: Point, discs: NDArray[np.float64]) -> list[Phase]:
    assert step.object is not None
    key, distance = step.object, step.distance_m
    radius = AT_M if distance is None else max(distance, LEAST_M)
    arriving = bearing_from(centre, here)  # from the thing towards the drone: its front
    sides = {"left": -math.pi / 2, "right": math.pi / 2, "behind": math.pi}
    near = math.dist(here, centre)
    if step.stop in sides:
        target = beside(key, centre, arriving + sides[step.stop], radius, discs, reach=math.radians(40))
    elif step.stop in ("near", "facing") and distance is None and near < AT_M + 0.1 and _is_nearest(here, near, discs):
        target = None
    else:
        reach = math.radians(40) if step.stop == "front" else math.pi
        target = beside(key, centre, arriving, radius, discs, reach)
    phases: list[Phase] = [] if target is None else [FlyThrough((target,), True)]
    return [*phases, Face(key)] if step.stop == "facing" else phases


def _is_nearest(here: Point, distance: float, discs: NDArray[np.float64]) -> bool:
    """Whether nothing is nearer to the drone than the thing at this distance."""
    return not len(discs) or float(np.hypot(discs[:, 0] - here[0], discs[:, 1] - here[1]).min()) > distance - 0.05


def _circle(step: Step, here: Point, yaw: float, centre: Point, discs: NDArray[np.float64], last: bool) -> FlyThrough:
    assert step.object is not None
    first = bearing_from(centre, here)
    sign = {"ccw": 1.0, "cw": -1.0}.get(step.direction)
    if sign is None:  # the way round that the drone need turn less for
        tangent = math.sin(yaw - first)
        sign = 1.0 if tangent >= 0 else -1.0
    winding = sign * (2 * math.pi * step.turns + LEAD_OUT)
    return FlyThrough(tuple(arc_around(step.object, centre, first, winding, discs)), last)


def _passes(
    keys: tuple[str, ...],
    places: list[Point],
    here: Point,
    following: Point | None,
    on: str | None,
    discs: NDArray[np.float64],
) -> list[ViaPoint]:
    """Past one thing or, on alternating sides, past several; the free choice of side falls on the shorter way."""
    sides = {"left": (1.0,), "right": (-1.0,)}.get("any" if on is None else on, (1.0, -1.0))
    best: list[ViaPoint] = []
    least = math.inf
    for first in sides:
        vias, price, before = list[ViaPoint](), 0.0, here
        for k, (key, centre) in enumerate(zip(keys, places, strict=True)):
            after = places[k + 1] if k + 1 < len(places) else following
            vias_here = ways_past(key, centre, before, after, first if k % 2 == 0 else -first, discs)
            price += way_length(vias_here, centre, before, None)
            vias += vias_here
            before = centre[0] + vias_here[-1].offset[0], centre[1] + vias_here[-1].offset[1]
        price += 0.0 if following is None else math.dist(before, following)
        if price < least:
            best, least = vias, price
    return best


def thing_passed(step: Step, phases: Sequence[Phase]) -> PassedThing | None:
    """What a step with these phases goes past at its end, if anything."""
    last = phases[-1] if phases and step.do in ("pass", "weave") else None
    if not isinstance(last, FlyThrough) or not last.vias:
        return None
    side = side_of_pass(last.vias)
    return (last.vias[-1].keys[0], side) if side else None


def left_behind(
    phases: list[Phase],
    passed: PassedThing,
    centre: Point,
    pose: NDArray[np.float64],
    point_of: Callable[[ViaPoint], Point],
    discs: NDArray[np.float64],
) -> list[Phase]:
    """The phases of a step, with the thing that the step before it went past left behind first where that is needed."""
    first = phases[0] if phases else None
    if not isinstance(first, FlyThrough) or not first.vias:
        return phases
    key, side = passed
    vias = leaving(key, centre, (float(pose[0]), float(pose[1])), point_of(first.vias[0]), side, discs)
    return [FlyThrough(tuple(vias), False), *phases] if vias else phases
