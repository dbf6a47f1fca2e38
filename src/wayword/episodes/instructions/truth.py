"""Whether what an instruction claims is true of the path.

Everything is measured again, from the stored path and the places of the objects alone: neither the
manoeuvres' facts nor those the writer chose from are used. Points are complex numbers x + iy; headings at the
ends of a segment come from a parabola through the path 18 to 54 cm beyond, where corners are not rounded any
more. Limits are a little wider than those the writer keeps to, because the two ways to measure differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wayword.episodes.format import Episode
from wayword.episodes.instructions.expand import Claim

ComplexPath = NDArray[np.complex128]


class _Flight:
    """One segment of an episode, measured."""

    def __init__(self, episode: Episode, segment: int) -> None:
        first, last = episode.bounds(segment)
        whole: ComplexPath = episode.path[:, 0] + 1j * episode.path[:, 1]
        self.before, self.track = whole[: first + 1], whole[first : last + 1]
        self.where = {o.name: complex(o.x, o.y) for o in episode.objects}
        self.depart = _heading(whole, first, 1)
        self.arrive = _heading(whole, last, -1)
        self.turn = _degrees(self.depart / np.exp(1j * episode.pose(segment).yaw))
        self.corner = _degrees(self.depart / _heading(whole, first, -1)) if segment else self.turn
        self.length = float(np.abs(np.diff(self.track)).sum())

    def gap(self, name: str, index: int) -> float:
        """Distance to an object from a point of the segment."""
        return float(abs(self.where[name] - self.track[index]))

    def at_start(self, name: str) -> float:
        """Bearing of an object as the drone sets off, in degrees, left positive."""
        return _degrees((self.where[name] - self.track[0]) / self.depart)

    def at_end(self, name: str) -> float:
        """Bearing of an object as the drone arrives."""
        return _degrees((self.where[name] - self.track[-1]) / self.arrive)

    def nearest(self, name: str) -> int:
        """Index of the point closest to an object."""
        return int(np.abs(self.track - self.where[name]).argmin())

    def passing_side(self, name: str) -> float:
        """Positive if the object is to the left where the path comes closest, clear of rounded corners."""
        k = min(max(self.nearest(name), 4), len(self.track) - 5)
        return float(((self.where[name] - self.track[k]) / (self.track[k + 1] - self.track[k - 1])).imag)

    def winding(self, name: str) -> float:
        """Degrees by which the drone goes around an object, counter-clockwise positive."""
        offsets = self.track - self.where[name]
        return float(np.degrees(np.angle(offsets[1:] / offsets[:-1]).sum()))

    def crossing(self, a: str, b: str) -> float | None:
        """Where between two objects the path crosses from a on its left to b: 0 at a, 1 at b."""
        relative = (self.track - self.where[a]) / (self.where[b] - self.where[a])
        for before, after in pairwise(relative.tolist()):
            # Seen from a towards b, the drone that has a on its left comes from the right-hand side: below.
            if before.imag < 0 <= after.imag or before.imag > 0 >= after.imag:
                ahead = after.imag > before.imag
                share = before.real + (after.real - before.real) * before.imag / (before.imag - after.imag)
                if 0 < share < 1 and ahead:
                    return float(share)
        return None


def check_claims(episode: Episode, claims: Sequence[Claim]) -> list[str]:
    """One line for each claim that the path contradicts."""
    problems = []
    flights = {claim.segment: _Flight(episode, claim.segment) for claim in claims}
    rounds = {(claim.segment, claim.side) for claim in claims if claim.kind == "round"}
    for claim in claims:
        if claim.kind == "clockwise":  # how it goes round says the same as the side it keeps the object on
            holds = (claim.segment, claim.side) in rounds
        else:
            holds = _CHECKS[claim.kind](flights[claim.segment], claim)
        if not holds:
            problems.append(f"{episode.id}, segment {claim.segment + 1}: not true: {claim}")
    return problems


def _heading(track: ComplexPath, index: int, forward: int) -> complex:
    beyond = track[index::forward][:12]
    arc = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(beyond)))])
    use = (arc > 0.17) & (arc < 0.55)
    slope = [np.polyfit(arc[use], part[use], 2)[1] * forward for part in (beyond.real, beyond.imag)]
    direction = complex(*slope)
    return direction / abs(direction)


def _degrees(direction: complex) -> float:
    return math.degrees(math.atan2(direction.imag, direction.real))


def _sign(claim: Claim) -> int:
    return {"left": 1, "right": -1}.get(claim.side or "", 0)


def _is_straight(flight: _Flight, claim: Claim) -> bool:
    inner = flight.track[3:-3]
    along = (inner - inner[0]) / (inner[-1] - inner[0])
    return bool(np.abs(along.imag).max() < 0.08)


def _is_past(flight: _Flight, claim: Claim) -> bool:
    name = claim.objects[0]
    return abs(flight.at_end(name)) > 92 and flight.gap(name, -1) < 1 and flight.nearest(name) < len(flight.track) - 2


def _is_beside(flight: _Flight, claim: Claim) -> bool:
    bearing = flight.at_end(claim.objects[0])
    side = _sign(claim) * bearing > 0 or claim.side is None
    return side and 38 < abs(bearing) < 138 and flight.gap(claim.objects[0], -1) < 0.9


def _is_reached(flight: _Flight, claim: Claim) -> bool:
    gap = flight.gap(claim.objects[0], -1)
    return gap < 1 and all(gap <= flight.gap(other, -1) + 0.01 for other in flight.where)


def _is_between(flight: _Flight, claim: Claim) -> bool:
    left, right = claim.objects
    apart = abs(flight.where[left] - flight.where[right])
    sides = flight.at_end(left) > 0 > flight.at_end(right)
    return sides and flight.gap(left, -1) + flight.gap(right, -1) < 1.12 * apart


def _is_far(flight: _Flight, claim: Claim) -> bool:
    centre = flight.where[claim.objects[0]]
    return abs(_degrees((flight.track[-1] - centre) / (flight.track[0] - centre))) > 120


def _is_facing(flight: _Flight, claim: Claim) -> bool:
    name = claim.objects[0]
    nearer = (o for o in flight.where if flight.gap(o, -1) < flight.gap(name, -1))
    return abs(flight.at_end(name)) < 38 and all(abs(flight.at_end(o)) > 18 for o in nearer)


def _at_start(flight: _Flight, claim: Claim) -> bool:
    return flight.gap(claim.objects[0], 0) < 0.85


_CHECKS: dict[str, Callable[[_Flight, Claim], bool]] = {
    "turn": lambda f, c: _sign(c) * f.turn > 4,
    "slight": lambda f, c: abs(f.turn) < 48,
    "sharp": lambda f, c: abs(f.turn) > 40,
    "back": lambda f, c: abs(f.corner) > 105,
    "degrees": lambda f, c: abs(_sign(c) * f.turn - (c.amount or 0.0)) < 18,
    "direct": lambda f, c: abs(f.turn) < 28,
    "straight": _is_straight,
    "long": lambda f, c: f.length > 2.0,
    "short": lambda f, c: f.length < 1.0,
    "side": lambda f, c: _sign(c) * f.passing_side(c.objects[0]) > 0.0,
    "round": lambda f, c: _sign(c) * f.winding(c.objects[0]) > 50 and _sign(c) * f.passing_side(c.objects[0]) > 0,
    "gate": lambda f, c: f.crossing(*c.objects) is not None,
    "order": lambda f, c: f.nearest(c.objects[0]) < f.nearest(c.objects[1]),
    "reach": _is_reached,
    "close": lambda f, c: f.gap(c.objects[0], -1) < 1.1,
    "front": lambda f, c: _is_reached(f, c) and abs(f.at_end(c.objects[0])) < 55,
    "lean": lambda f, c: _sign(c) * f.at_end(c.objects[0]) > 2,
    "facing": _is_facing,
    "quarter": lambda f, c: 6 < _sign(c) * f.at_end(c.objects[0]) < 72 and f.gap(c.objects[0], -1) < 1.4,
    "beside": _is_beside,
    "past": _is_past,
    "through": lambda f, c: all(abs(f.at_end(o)) > 80 for o in c.objects),
    "between": _is_between,
    "far": _is_far,
    "clock": lambda f, c: abs((f.at_end(c.objects[0]) + 30 * (c.amount or 0) + 180) % 360 - 180) < 26,
    "start": _at_start,
    "away": lambda f, c: _at_start(f, c) and abs(f.at_start(c.objects[0])) > 85,
    "beside.start": lambda f, c: _at_start(f, c) and 20 < _sign(c) * f.at_start(c.objects[0]) < 155,
    "revisit": lambda f, c: bool(np.abs(f.before - f.where[c.objects[0]]).min() < 1.0),
}
