"""Sketches of single manoeuvres: a leg from where the drone is, made of straight lines and circular arcs.

A leg starts in any direction (sharp turns belong to the boundaries between segments) and is smooth inside
(``leg_pieces``). What a leg really does is measured later, on the finished path; here the numbers are only intentions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wayword.episodes.geometry import Array, wrap
from wayword.episodes.leg_pieces import Arc, Line, Point, ahead, heading_to, rounded, sampled, tangent
from wayword.episodes.manoeuvres import ManoeuvreKind


@dataclass(frozen=True)
class LegConfig:
    """Ranges (metres, radians) that legs are drawn from; fitted to the natural corpus."""

    stop_m: tuple[float, float] = (0.44, 0.66)
    """Distance at which the drone stops in front of an object."""
    abeam_m: tuple[float, float] = (0.34, 0.56)
    """Distance at which it passes an object in a straight line."""
    round_m: tuple[float, float] = (0.38, 0.56)
    """Distance at which it rounds one."""
    beyond_m: tuple[float, float] = (0.22, 0.5)
    """How far past the object a passing leg goes on."""
    round_rad: tuple[float, float] = (0.9, 2.9)
    """Angle of the arc around an object."""
    gate_m: tuple[float, float] = (0.95, 1.9)
    """Width of a gap between two objects worth flying through."""
    reach_m: float = 3.0
    """Objects further away are not aimed at."""
    onward: float = 0.35
    """Probability that a leg past or around an object goes on to stop in front of another one."""
    bow: float = 0.012
    """Standard deviation of the bow of straight lines, per metre."""


@dataclass(frozen=True)
class Leg:
    """A candidate for the next segment: what is meant (indices of the objects) and its pieces in order."""

    kind: ManoeuvreKind
    objects: tuple[int, ...]
    pieces: tuple[Line | Arc, ...]

    @property
    def length(self) -> float:
        """Metres."""
        return sum(piece.length for piece in self.pieces)

    @property
    def end(self) -> Point:
        """The last point."""
        return self.pieces[-1].end

    def points(self, rng: np.random.Generator, bow: float) -> Array:
        """(n, 2) points about every 2 cm; lines bow at random by ``bow`` (one sigma) of their length."""
        return np.concatenate([sampled(piece, bow * rng.standard_normal()) for piece in self.pieces])


def propose_leg(
    kind: ManoeuvreKind, at: Point, centres: Sequence[Point], rng: np.random.Generator, config: LegConfig
) -> Leg | None:
    """Draw one leg of the given kind from ``at``; None if this draw has no solution."""
    reachable = [i for i, c in enumerate(centres) if math.dist(at, c) < config.reach_m]
    if not reachable:
        return None
    target = reachable[int(rng.integers(len(reachable)))]
    leg = _SKETCHES[kind](target, at, centres, rng, config)
    if leg is not None and kind in ("approach", "beside"):
        reach = math.dist(leg.end, centres[target])
        if any(math.dist(leg.end, c) < reach for c in centres):
            return None  # whoever stops there stops at another object
    return leg


def approach(
    target: int, at: Point, centres: Sequence[Point], rng: np.random.Generator, config: LegConfig
) -> Leg | None:
    """Straight towards the target, to stop in front of it."""
    centre = centres[target]
    stop = rng.uniform(*config.stop_m)
    if math.dist(at, centre) < stop + 0.5:
        return None
    heading = heading_to(at, centre) + rng.normal(0, 0.15)
    end = ahead(centre, heading + math.pi, stop)
    return Leg("approach", (target,), (Line(at, end),))


def _pass(target: int, at: Point, centres: Sequence[Point], rng: np.random.Generator, config: LegConfig) -> Leg | None:
    if rng.random() < config.onward:
        return _onward("pass", target, at, centres, rng, config)
    return _along(target, at, centres, rng, config, "pass", rng.uniform(*config.beyond_m))


def _beside(
    target: int, at: Point, centres: Sequence[Point], rng: np.random.Generator, config: LegConfig
) -> Leg | None:
    return _along(target, at, centres, rng, config, "beside", rng.uniform(-0.1, 0.1))


def _around(
    target: int, at: Point, centres: Sequence[Point], rng: np.random.Generator, config: LegConfig
) -> Leg | None:
    if rng.random() < config.onward:
        return _onward("around", target, at, centres, rng, config)
    sign, radius = _either(rng), rng.uniform(*config.round_m)
    touch = tangent(at, centres[target], radius, sign)
    if touch is None:
        return None
    heading, run = touch
    arc = Arc(centres[target], radius, heading, sign, rng.uniform(*config.round_rad))
    pieces: tuple[Line | Arc, ...] = (Line(at, ahead(at, heading, run)), arc)
    if rng.random() < 0.5:
        pieces += (Line(arc.end, ahead(arc.end, heading + sign * arc.angle, rng.uniform(0.1, 0.4))),)
    return Leg("around", (target,), pieces)


def _between(
    target: int, at: Point, centres: Sequence[Point], rng: np.random.Generator, config: LegConfig
) -> Leg | None:
    a = centres[target]
    narrow, wide = config.gate_m
    partners = [i for i, c in enumerate(centres) if i != target and narrow <= math.dist(a, c) <= wide]
    if not partners:
        return None
    partner = partners[int(rng.integers(len(partners)))]
    b, share = centres[partner], rng.uniform(0.4, 0.6)
    gate = (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]))
    if math.dist(at, gate) < 0.45:
        return None
    straight = heading_to(at, gate)
    square = heading_to(a, b) + math.pi / 2
    if math.cos(straight - square) < 0:
        square += math.pi
    slant = wrap(square - straight)
    if abs(slant) > 1.0:
        return None
    beyond = rng.uniform(0.05, 0.6)
    if abs(slant) < 0.4:
        return Leg("between", (target, partner), (Line(at, ahead(gate, straight, beyond)),))
    through = straight + 0.7 * slant  # come round to cross the gap more squarely
    corner, end = ahead(gate, through + math.pi, 0.4), ahead(gate, through, beyond)
    pieces = rounded(at, corner, end, config.round_m[0])
    return Leg("between", (target, partner), pieces) if pieces else None


def _along(
    target: int,
    at: Point,
    centres: Sequence[Point],
    rng: np.random.Generator,
    config: LegConfig,
    kind: ManoeuvreKind,
    beyond: float,
) -> Leg | None:
    """A straight line that touches the object's circle and goes on ``beyond`` the touching point."""
    return past(kind, target, _either(rng), at, centres, beyond, rng, config)


def _onward(
    kind: ManoeuvreKind, target: int, at: Point, centres: Sequence[Point], rng: np.random.Generator, config: LegConfig
) -> Leg | None:
    """Past or around the target, then straight on to stop in front of another object."""
    radius = rng.uniform(*config.round_m)
    goal = int(rng.integers(len(centres)))
    if goal == target or math.dist(centres[target], centres[goal]) > config.reach_m:
        return None
    return past_and_on(kind, target, goal, _either(rng), radius, at, centres, rng, config)


def past(
    kind: ManoeuvreKind,
    target: int,
    sign: int,
    at: Point,
    centres: Sequence[Point],
    beyond: float,
    rng: np.random.Generator,
    config: LegConfig,
) -> Leg | None:
    """Straight past the target, which is on the left if ``sign`` is 1, and ``beyond`` metres on."""
    touch = tangent(at, centres[target], rng.uniform(*config.abeam_m), sign)
    if touch is None:
        return None
    heading, run = touch
    if run < 0.25:  # the object is abeam already
        return None
    return Leg(kind, (target,), (Line(at, ahead(at, heading, run + beyond)),))


def past_and_on(
    kind: ManoeuvreKind,
    target: int,
    goal: int,
    sign: int,
    radius: float,
    at: Point,
    centres: Sequence[Point],
    rng: np.random.Generator,
    config: LegConfig,
) -> Leg | None:
    """Around the target at ``radius``, on the left if ``sign`` is 1, as far as the line to the goal; then along it."""
    centre = centres[target]
    touch = tangent(at, centre, radius, sign)
    if touch is None:
        return None
    heading, run = touch
    away = math.dist(centre, centres[goal])
    leaving = heading_to(centre, centres[goal]) + sign * math.asin(radius / away)
    angle = (sign * (leaving - heading)) % (2 * math.pi)
    stop = rng.uniform(*config.stop_m)
    straight = math.sqrt(away**2 - radius**2) - stop
    if angle > config.round_rad[1] or straight < 0.1:
        return None
    arc = Arc(centre, radius, heading, sign, angle)
    last = Line(arc.end, ahead(arc.end, leaving, straight))
    return Leg(kind, (target,), (Line(at, ahead(at, heading, run)), arc, last))


def _either(rng: np.random.Generator) -> int:
    return 1 if rng.random() < 0.5 else -1


_Sketch = Callable[[int, Point, Sequence[Point], np.random.Generator, LegConfig], "Leg | None"]
_SKETCHES: dict[ManoeuvreKind, _Sketch] = {
    "approach": approach,
    "pass": _pass,
    "around": _around,
    "between": _between,
    "beside": _beside,
}
