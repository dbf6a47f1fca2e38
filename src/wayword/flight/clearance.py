"""Clearance: the velocity nearest to a wish that keeps clear of the things that stand there.

A vehicle that answers with a lag comes to rest ahead of where it is, and that point moves as it is told:

    q = p + v (response + age of the pose) + u' latency     p, v: pose and velocity; u': what was asked for last
    dq/dt = u                                               of a vehicle that answers as slowly as ``response_s``

So it is q that is steered. With n and D from q to the middle of a thing, R its radius, the hull's and what is kept, a
velocity u is safe for ``ahead_s`` if, for every thing, one of three straight lines is kept:

    u . n <= (D - R) / ahead_s          it does not get there in this time
    u on the left of the left tangent   it goes past
    u on the right of the right tangent

and if the way from p to q stays clear as q moves: lambda u . m <= gap / ahead_s, m from the nearest point of that way
(lambda of it from p) to the thing. Where q is within R already, u . n <= (D - R) / ahead_s takes it out again.

The safe velocity nearest to the wish is the wish itself, its foot on one of the lines, or a point where two of them
cross, or one crosses the circle of the wish's speed: all of them are tried, so the answer is exact, and it is the same
to the bit wherever it is computed. Where nothing is safe, as between two things that both are too near, it is zero.

A vehicle that is stuck also keeps out of ``groups``: things without a way between them, as one. They come second: where
the way out of a group would lead into one of its things, the group gives way, and where two things are both too near,
it creeps so that it comes nearer to neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wayword.mapping.standing import SIDE_RAD, Disc

Vec = tuple[float, float]
Floats = NDArray[np.float64]
CREEP_M_S = 0.2
"""Further beside the heading, and backwards, no faster than this."""
STILL_M_S = 0.1
"""Slower than this is noise."""
MIDDLE_M = 0.01
"""So wide is the middle of a gap, on either side: a line could not be followed."""
_MOST_JOINED_M = 0.8
_MOST_PASSED = 24
"""So many demands of the nearest things leave a way past; for more it only slows down, so that time is bounded."""
_MOST_SQUEEZED = 50
"""Between more things than this it does not squeeze: time is bounded here as well."""
_EPS = 1e-9


@dataclass(frozen=True)
class Around:
    """How much room, and time, is kept."""

    keep_m: float
    """From the vehicle's middle to the surface of a thing."""
    ahead_s: float
    """For how long a velocity must be safe."""
    side_rad: float = SIDE_RAD
    """More than this beside the heading, the camera does not look."""


@dataclass(frozen=True)
class ClearanceLine:
    """Velocities u with u . n <= most."""

    nx: float
    ny: float
    most: float

    def over(self, ux: float, uy: float) -> float:
        """By how much a velocity is not among them."""
        return ux * self.nx + uy * self.ny - self.most


LineChoice = tuple[ClearanceLine, ...]
"""One of these lines must be kept."""


def cleared(
    place: Vec,
    rest: Vec,
    heading: float,
    wish: Vec,
    obstacles: Iterable[Disc],
    around: Around,
    groups: Sequence[Disc] = (),
) -> tuple[float, float]:
    """The safe velocity nearest to ``wish`` of a vehicle at ``place`` that would come to rest at ``rest``."""
    rules = _rules(place, rest, wish, obstacles, around)
    joint = _rules(place, rest, wish, groups, around)
    if all(_holds(rule, *wish) for rule in [*rules, *joint]):
        return wish
    cos, sin = math.cos(heading), math.sin(heading)
    rules.append((ClearanceLine(-cos, -sin, CREEP_M_S),))
    ux, uy = (_first_safe(wish, rules, joint) if groups else _nearest(wish, rules)) or (0.0, 0.0)
    size = math.hypot(ux, uy)
    beside = ux * cos + uy * sin < math.cos(around.side_rad) * size
    share = CREEP_M_S / size if beside and size > CREEP_M_S else 1.0
    return share * ux, share * uy


def joined_discs(obstacles: Iterable[Disc], keep_m: float) -> tuple[Disc, ...]:
    """Things between which there is no way, as one disc around them all: so that it goes around, not in between.

    Those of more than ``_MOST_JOINED_M`` stay as they are: they may enclose the vehicle.
    """
    left, groups = [disc for disc in obstacles if all(map(math.isfinite, disc))], list[Disc]()
    while left:
        group, rest = [left.pop(0)], left
        for a in group:  # grows as it goes
            touching = [b for b in rest if math.hypot(a[0] - b[0], a[1] - b[1]) < a[2] + b[2] + 2 * keep_m]
            group += touching
            rest = [b for b in rest if b not in touching]
        left = rest
        xs, ys = [x for x, _, _ in group], [y for _, y, _ in group]
        x, y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
        wide = max(math.hypot(d[0] - x, d[1] - y) + d[2] for d in group)
        groups += [(x, y, wide)] if wide <= _MOST_JOINED_M else group
    return tuple(groups)


def squeezed_discs(obstacles: Iterable[Disc], hull_m: float, room_m: float, least_m: float) -> tuple[Disc, ...]:
    """Things beside a gap that is only just one, narrower, so that the vehicle gets through in the middle of it.

    From them it then keeps what that leaves, between ``least_m`` and ``room_m``. A thing that stands alone can be gone
    around, and where there is less there is no way: nothing is won by coming nearer to those.
    """
    things, narrower = tuple(obstacles), list[Disc]()
    if len(things) > _MOST_SQUEEZED:
        return things
    for x, y, radius in things:
        gaps = [math.hypot(x - a, y - b) - radius - r for a, b, r in things if (a, b, r) != (x, y, radius)]
        rooms = [gap / 2 - hull_m - MIDDLE_M for gap in gaps]
        room = min([room for room in rooms if room >= least_m], default=room_m)
        narrower.append((x, y, radius - max(room_m - room, 0.0)))
    return tuple(narrower)


def _holds(rule: LineChoice, ux: float, uy: float) -> bool:
    return any(line.over(ux, uy) <= _EPS for line in rule)


def _rules(place: Vec, rest: Vec, wish: Vec, obstacles: Iterable[Disc], around: Around) -> list[LineChoice]:
    """What everything within reach demands."""
    rules = list[LineChoice]()
    reach = around.ahead_s * math.hypot(*wish)
    near = sorted(obstacles, key=lambda disc: math.hypot(disc[0] - rest[0], disc[1] - rest[1]) - disc[2])
    for x, y, radius in near:
        dx, dy = x - rest[0], y - rest[1]
        away, wide = math.hypot(dx, dy), radius + around.keep_m
        way = _way_rule(place, rest, (x, y), wide, reach, around.ahead_s)
        if way is not None:
            rules.append((way,))
        if not away - wide < reach or away < _EPS:  # far away, or no number
            continue
        nx, ny = dx / away, dy / away
        if away <= wide:
            rules.append((ClearanceLine(nx, ny, max((away - wide) / around.ahead_s, -CREEP_M_S / 2)),))
            continue
        if len(rules) > _MOST_PASSED:
            rules.append((ClearanceLine(nx, ny, (away - wide) / around.ahead_s),))
            continue
        sin = wide / away
        cos = math.sqrt(1 - sin * sin)
        left = ClearanceLine(sin * nx + cos * ny, sin * ny - cos * nx, 0.0)  # the normals of the tangents
        right = ClearanceLine(sin * nx - cos * ny, sin * ny + cos * nx, 0.0)
        rules.append((ClearanceLine(nx, ny, (away - wide) / around.ahead_s), left, right))
    return rules


def _way_rule(place: Vec, rest: Vec, middle: Vec, wide: float, reach: float, ahead_s: float) -> ClearanceLine | None:
    """How fast the nearest point of the way to rest may come nearer; None where that is one of its ends."""
    wx, wy = rest[0] - place[0], rest[1] - place[1]
    length = wx * wx + wy * wy
    if length < _EPS:
        return None
    part = ((middle[0] - place[0]) * wx + (middle[1] - place[1]) * wy) / length
    if not 0.05 < part < 1:
        return None
    dx, dy = middle[0] - place[0] - part * wx, middle[1] - place[1] - part * wy
    away = math.hypot(dx, dy)
    gap = away - wide
    if not gap < reach or away < _EPS:
        return None
    return ClearanceLine(dx / away, dy / away, max(gap, 0.0) / (part * ahead_s))


def _first_safe(wish: Vec, rules: list[LineChoice], joint: list[LineChoice]) -> Vec | None:
    """What keeps all rules; else those of single things; else, slowly, what comes nearer to none of them."""
    best = _nearest(wish, [*rules, *joint]) or _nearest(wish, rules)
    if best is not None:
        return best
    share = min(CREEP_M_S / max(math.hypot(*wish), _EPS), 1.0)
    patient = [tuple(replace(line, most=max(line.most, 0.0)) for line in rule) for rule in rules]
    return _nearest((share * wish[0], share * wish[1]), patient)


def _nearest(wish: Vec, rules: list[LineChoice]) -> Vec | None:
    """Of the points that can be nearest, the nearest that keeps all rules; None if there is none.

    Products and sums are taken one by one, never by a matrix product: those differ from machine to machine.
    """
    lines = np.array([(line.nx, line.ny, line.most) for rule in rules for line in rule])
    first = np.cumsum([0, *(len(rule) for rule in rules[:-1])])
    ux, uy = _candidates(wish, lines)
    over = ux[:, None] * lines[:, 0] + uy[:, None] * lines[:, 1] - lines[:, 2]
    safe = np.logical_or.reduceat(over <= _EPS, first, axis=1).all(axis=1)
    if not safe.any():
        return None
    far = np.where(safe, (ux - wish[0]) ** 2 + (uy - wish[1]) ** 2, np.inf)
    best = int(far.argmin())
    return float(ux[best]), float(uy[best])


def _candidates(wish: Vec, lines: Floats) -> tuple[Floats, Floats]:
    """Zero, feet of the wish on the lines, where they cross the circle of its speed, and where two of them cross.

    None is faster than the wish, or than creeping.
    """
    nx, ny, most = lines.T
    speed2 = max(wish[0] ** 2 + wish[1] ** 2, CREEP_M_S**2)
    over = wish[0] * nx + wish[1] * ny - most
    half = np.sqrt(np.maximum(speed2 - most * most, 0.0))
    i, j = np.triu_indices(len(lines), 1)
    det = nx[i] * ny[j] - ny[i] * nx[j]
    i, j, det = i[abs(det) > _EPS], j[abs(det) > _EPS], det[abs(det) > _EPS]
    cross_x, cross_y = (most[i] * ny[j] - most[j] * ny[i]) / det, (nx[i] * most[j] - nx[j] * most[i]) / det
    x = np.concatenate([np.zeros(1), wish[0] - over * nx, most * nx - half * ny, most * nx + half * ny, cross_x])
    y = np.concatenate([np.zeros(1), wish[1] - over * ny, most * ny + half * nx, most * ny - half * nx, cross_y])
    slow = x * x + y * y <= speed2 * (1 + _EPS)  # the foot on a line that leads out of a thing may be faster
    return x[slow], y[slow]
