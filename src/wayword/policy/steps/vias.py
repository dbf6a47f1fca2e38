"""From a step to the points it leads through: the geometry of going beside, past, around and between.

A via is a point that belongs to a thing: it moves as the drone learns where the thing stands. Angles are those of the
world, seen from the thing; ``winding`` is positive counter-clockwise, with the thing on the drone's left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wayword.episodes.geometry import wrap
from wayword.policy.steps.route import clearance
from wayword.policy.steps.surroundings import Point
from wayword.task import ARENA_M

AT_M = 0.5
"""From the centre of a thing, when nothing else is said: clear of anything solid (0.30 m), well within "at it"."""
PASS_M = 0.58
"""From the centre of a thing to a way past or around it."""
LEAST_M = 0.38
"""Never nearer to a centre."""
INSIDE_M = 0.2
"""Points keep this far inside the arena."""
LEAST_WINDING = 1.3
"""Past something means at least this angle around it."""
LEFT_M = 1.35
"""From the centre of a thing, where it has been left behind."""
LEAVING = (0.3, 0.6, 0.0, 0.9, 1.2, 1.6)
"""Angles further around a thing at which to leave it, best first."""
UNWINDING, FAR_ROUND = -0.5, 2.5
"""Bound for a place between these angles further around a thing, the way there does not undo a pass."""
ARC = 0.35
"""Radians between points of a circle."""


@dataclass(frozen=True)
class ViaPoint:
    """A point relative to things; to none, a point of the world."""

    keys: tuple[str, ...]
    """Whose middle it is relative to."""
    offset: Point
    """World axes, metres."""


def unit(angle: float) -> Point:
    """The direction of an angle."""
    return math.cos(angle), math.sin(angle)


def bearing_from(centre: Point, point: Point) -> float:
    """Direction from ``centre`` to ``point``."""
    return math.atan2(point[1] - centre[1], point[0] - centre[0])


def inside(point: Point, arena_m: float = ARENA_M) -> bool:
    """Whether a point is well inside the arena."""
    return INSIDE_M <= point[0] <= arena_m - INSIDE_M and INSIDE_M <= point[1] <= arena_m - INSIDE_M


def without(discs: NDArray[np.float64], centre: Point) -> NDArray[np.float64]:
    """The discs less the one that stands at ``centre``."""
    return discs[np.hypot(discs[:, 0] - centre[0], discs[:, 1] - centre[1]) > 0.15]


def beside(
    key: str, centre: Point, angle: float, radius: float, discs: NDArray[np.float64], reach: float = math.pi
) -> ViaPoint:
    """The best place at a distance from a thing: as near to ``angle`` as there is room, at most ``reach`` off it."""
    others = without(discs, centre)
    best, least = angle, math.inf
    for k in range(-18, 19):
        turned = math.radians(10 * k)
        if abs(turned) > reach + 1e-9:
            continue
        point = _at(centre, angle + turned, radius)
        room = clearance(point, others)  # to surfaces; a place nearer to another thing belongs to that
        price = 0.25 * abs(turned) + 8.0 * max(0.0, radius - 0.28 - room) + (5.0 if not inside(point) else 0.0)
        if price < least - 1e-9:
            best, least = angle + turned, price
    return ViaPoint((key,), _scaled(best, radius))


def _at(centre: Point, angle: float, radius: float) -> Point:
    u = unit(angle)
    return centre[0] + radius * u[0], centre[1] + radius * u[1]


def _scaled(angle: float, radius: float) -> Point:
    u = unit(angle)
    return radius * u[0], radius * u[1]


def ring_radius(centre: Point, angle: float, discs: NDArray[np.float64], aim_m: float = PASS_M) -> float:
    """How far from a thing to fly at this angle: the radius to aim at, or another one with more room."""
    others = without(discs, centre)
    best, least = aim_m, math.inf
    for radius in np.arange(LEAST_M + 0.04, 0.70, 0.04):
        point = _at(centre, angle, float(radius))
        room = min(clearance(point, others), float(radius) - 0.3)
        price = abs(float(radius) - aim_m) + 6.0 * max(0.0, 0.22 - room) + (2.0 if not _within(point) else 0.0)
        if price < least - 1e-9:
            best, least = float(radius), price
    return best


def _within(point: Point, edge: float = 0.12) -> bool:
    return edge <= point[0] <= ARENA_M - edge and edge <= point[1] <= ARENA_M - edge


def arc_around(key: str, centre: Point, first: float, winding: float, discs: NDArray[np.float64]) -> list[ViaPoint]:
    """Points around a thing from angle ``first`` on, through ``winding``."""
    count = max(1, math.ceil(abs(winding) / ARC))
    angles = [first + winding * k / count for k in range(count + 1)]
    radii = [ring_radius(centre, angle, discs) for angle in angles]
    smooth = [float(np.mean(radii[max(0, k - 1) : k + 2])) for k in range(len(radii))]
    return [ViaPoint((key,), _scaled(angle, radius)) for angle, radius in zip(angles, smooth, strict=True)]


def ways_past(
    key: str, centre: Point, before: Point, after: Point | None, side: float, discs: NDArray[np.float64]
) -> list[ViaPoint]:
    """Points by a thing with it on the left (``side`` 1) or right (-1), on the way from ``before`` to ``after``.

    Where ``after`` lies so that the way would hardly lead round the thing, or nearly all around it, the drone may also
    go by, leave, and turn back from outside: a pass must last until the thing is left behind. The shorter way is taken.
    """
    first = bearing_from(centre, before)
    last = first + math.pi if after is None or math.dist(after, centre) < 0.2 else bearing_from(centre, after)
    winding = side * ((side * (last - first)) % (2 * math.pi))
    ways = []
    if abs(winding) >= LEAST_WINDING:
        ways.append(arc_past(key, centre, before, winding, discs))
    if not LEAST_WINDING <= abs(winding) <= 4.2:
        leaving = first + side * (LEAST_WINDING + 0.2)
        out = _at(centre, leaving, LEFT_M)
        if _within(out) and clearance(out, discs) > 0.05:
            ways.append(
                [
                    *arc_past(key, centre, before, side * LEAST_WINDING, discs),
                    ViaPoint((key,), _scaled(leaving, LEFT_M)),
                ]
            )
    if not ways:
        ways.append(arc_past(key, centre, before, winding + side * 2 * math.pi, discs))
    return min(ways, key=lambda vias: way_length(vias, centre, before, after))


def leaving(
    key: str, centre: Point, here: Point, target: Point, side: float, discs: NDArray[np.float64]
) -> list[ViaPoint]:
    """How to leave a thing that was passed on ``side`` before turning to ``target``; no points if there is no need.

    What comes after a pass is often not known when it is flown. If it lies back the way the drone came, to go there at
    once would unwind the pass, as if it had never been flown; from outside it does not. Beside a wall, where there is
    no outside, the drone goes on around the thing.
    """
    first, last = bearing_from(centre, here), bearing_from(centre, target)
    if math.dist(here, centre) > LEFT_M - 0.1 or UNWINDING <= side * wrap(last - first) <= FAR_ROUND:
        return []
    for further in LEAVING:
        out = _at(centre, first + side * further, LEFT_M)
        if _within(out) and clearance(out, discs) > 0.05:
            return [ViaPoint((key,), _scaled(first + side * further, LEFT_M))]
    return arc_around(key, centre, first, side * ((side * (last - first)) % (2 * math.pi)), discs)


def side_of_pass(vias: Sequence[ViaPoint]) -> float:
    """On which side the thing of the last of these points is passed: 1 left, -1 right, 0 if they do not go round it."""
    last = [math.atan2(via.offset[1], via.offset[0]) for via in vias if via.keys == vias[-1].keys]
    winding = sum(wrap(angle - before) for before, angle in pairwise(last))
    return math.copysign(1.0, winding) if abs(winding) > 0.1 else 0.0


def way_length(vias: Sequence[ViaPoint], centre: Point, before: Point, after: Point | None) -> float:
    """Metres from ``before`` through points about one thing to ``after``."""
    points = [before, *((centre[0] + via.offset[0], centre[1] + via.offset[1]) for via in vias)]
    points += [] if after is None else [after]
    return sum(math.dist(p, q) for p, q in pairwise(points))


def arc_past(key: str, centre: Point, before: Point, winding: float, discs: NDArray[np.float64]) -> list[ViaPoint]:
    """Points by a thing: the middle part of its ``winding``, enough to count as passing."""
    first, sign = bearing_from(centre, before), math.copysign(1.0, winding)
    # From farther off the way comes in along the tangent and leaves along another: the arc is shorter by that.
    spare = min(0.7, 0.25 * abs(winding)) if math.dist(before, centre) > 0.9 else 0.0
    begin, length = first + sign * spare, abs(winding) - 2 * spare
    return arc_around(key, centre, begin, sign * max(length, min(abs(winding), LEAST_WINDING)), discs)


def middle_of_gap(a: Point, b: Point, discs: NDArray[np.float64]) -> Point:
    """The place between two things with the most room, between 0.3 and 0.7 of the way."""
    others = without(without(discs, a), b)
    shares = np.linspace(0.3, 0.7, 9)
    points = [(a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])) for s in shares]
    prices = [abs(s - 0.5) + 4.0 * max(0.0, 0.25 - clearance(p, others)) for s, p in zip(shares, points, strict=True)]
    return points[int(np.argmin(prices))]


def through(
    keys: Sequence[str], a: Point, b: Point, before: Point, discs: NDArray[np.float64], reach: float = 0.65
) -> list[ViaPoint]:
    """Points before, in and behind a gap."""
    middle = middle_of_gap(a, b, discs)
    across = bearing_from(a, b) + math.pi / 2
    away = (middle[0] - before[0], middle[1] - before[1])
    if away[0] * math.cos(across) + away[1] * math.sin(across) < 0:
        across += math.pi
    centre = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
    others = without(without(discs, a), b)

    def aside(sign: float) -> Point:
        options = [_at(middle, across + turn + (math.pi if sign < 0 else 0.0), r)
                   for turn in (0.0, 0.4, -0.4, 0.8, -0.8) for r in (reach, 0.5, 0.4)]  # fmt: skip
        prices = [
            4.0 * max(0.0, 0.22 - clearance(p, others)) + (1.0 if not _within(p) else 0.0) + 0.01 * k
            for k, p in enumerate(options)
        ]
        return options[int(np.argmin(prices))]

    points = [aside(-1.0), middle, aside(1.0)]
    return [ViaPoint(tuple(keys), (p[0] - centre[0], p[1] - centre[1])) for p in points]


def heading_error(pose: NDArray[np.float64], point: Point) -> float:
    """How far to the left of the nose a point is, in radians."""
    return wrap(bearing_from((float(pose[0]), float(pose[1])), point) - float(pose[2]))
