"""What can truthfully be said of one segment, beyond what its manoeuvre records.

All angles here are degrees, left positive. Where a path rounds the corner between two segments the drone has
two headings at once: that of its arrival, and that of the pose the next segment starts from. A fact about the
end is listed only if it holds, with a margin, for a listener who thinks of either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wayword.episodes.format import Episode
from wayword.episodes.geometry import Array, arc_length, wrap
from wayword.episodes.manoeuvres import Manoeuvre, Side, arrival_heading, departure_heading

PlaceRelation = Literal[
    "front", "facing", "ahead", "quarter", "beside", "past", "through", "between", "gap", "far", "clock"
]

NEAR_M = 0.95
SHORT_M, LONG_M = 0.95, 2.1


@dataclass(frozen=True)
class Turn:
    """The turn with which a segment begins, as seen from its start pose."""

    side: Side
    degrees: int
    slight: bool
    sharp: bool
    back: bool


@dataclass(frozen=True)
class Place:
    """One way to say where a segment ends."""

    relation: PlaceRelation
    objects: tuple[str, ...]
    side: Side | None = None
    hour: int | None = None


@dataclass(frozen=True)
class Via:
    """An object passed on the way; ``early`` if before the manoeuvre's own object."""

    name: str
    side: Side
    early: bool


@dataclass(frozen=True)
class Facts:
    """The sayable facts of one segment."""

    segment: int
    manoeuvre: Manoeuvre
    turn: Turn | None
    direct: bool
    """It sets off the way the drone faces."""
    straight: bool
    length: float
    via: tuple[Via, ...]
    places: tuple[Place, ...]
    leaving: tuple[str, Side | None, bool] | None
    """An object near the start, the side on which it is left behind (if clear), whether it lies behind."""
    arrive: float
    winding: float
    """Degrees by which the drone goes around the manoeuvre's object."""


def segment_facts(episode: Episode, segment: int, manoeuvre: Manoeuvre) -> Facts:
    """Measure one segment (counted from 0)."""
    first, last = episode.bounds(segment)
    arc = arc_length(episode.path)
    path = episode.path[first : last + 1]
    depart = departure_heading(episode.path, arc, arc[first])
    arrive = arrival_heading(episode.path, arc, arc[last])
    leaves = episode.pose(segment + 1).yaw if segment + 1 < len(episode.segments) else arrive
    sight = _Sight(episode, path, depart, arrive, leaves)
    turn, corner = math.degrees(manoeuvre.turn), math.degrees(manoeuvre.corner)
    return Facts(
        segment=segment,
        manoeuvre=manoeuvre,
        turn=_turn(turn, corner),
        direct=abs(turn) < 13 and abs(corner) < 18,
        straight=_is_straight(path) and abs(manoeuvre.bend) < 0.2,
        length=manoeuvre.length,
        via=_via(sight, manoeuvre),
        places=tuple(_places(sight, manoeuvre)),
        leaving=_leaving(sight, manoeuvre) if segment else None,
        arrive=arrive,
        winding=abs(math.degrees(manoeuvre.around)),
    )


class _Sight:
    """Distances and bearings of all objects from the points of one segment."""

    def __init__(self, episode: Episode, path: Array, depart: float, arrive: float, leaves: float) -> None:
        self.names = [o.name for o in episode.objects]
        self.centres = np.array([[o.x, o.y] for o in episode.objects])
        self.path = path
        offsets = self.centres[None] - path[:, None]
        self.distances = np.hypot(offsets[..., 0], offsets[..., 1])
        self.nearest = self.distances.argmin(axis=0)
        start, end = np.arctan2(offsets[0, :, 1], offsets[0, :, 0]), np.arctan2(offsets[-1, :, 1], offsets[-1, :, 0])
        self.at_start = [math.degrees(wrap(a - depart)) for a in start]
        self.at_end = [math.degrees(wrap(a - arrive)) for a in end]
        self.at_next = [math.degrees(wrap(a - leaves)) for a in end]
        self.end_distances: list[float] = self.distances[-1].tolist()

    def end_between(self, index: int, low: float, high: float, slack: float) -> bool:
        """Whether the size of the bearing at the end lies in a range, loosely so from the next pose."""
        one, other = self.at_end[index], self.at_next[index]
        agree = one * other > 0 or (abs(one) <= slack and abs(other) <= slack)
        return agree and low <= abs(one) <= high and low - slack <= abs(other) <= high + slack


def _turn(turn: float, corner: float) -> Turn | None:
    if turn * corner <= 0 or min(abs(turn), abs(corner)) < 13:
        return None
    size, whole = abs(turn), abs(corner)
    return Turn(
        side="left" if turn > 0 else "right",
        degrees=round(size / 5) * 5,
        slight=size <= 33 and whole <= 62,
        sharp=size >= 55 and whole >= 70,
        back=size >= 62 and whole >= 128,
    )


def _is_straight(path: Array) -> bool:
    inner = path[3:-3] if len(path) > 10 else path
    chord = inner[-1] - inner[0]
    length = math.hypot(*chord)
    if length < 0.2:
        return False
    aside = (inner - inner[0]) @ np.array([-chord[1], chord[0]]) / length
    return bool(np.abs(aside).max() < 0.05 * length)


def _via(sight: _Sight, m: Manoeuvre) -> tuple[Via, ...]:
    about = [int(sight.nearest[sight.names.index(name)]) for name in m.objects]
    vias = []
    for passed in m.passed:
        k = int(sight.nearest[sight.names.index(passed.name)])
        # Told in the wrong order a route is wrong; too close to call, it is better not told.
        if m.kind in ("approach", "beside") or k <= min(about) - 4:
            vias.append(Via(passed.name, passed.side, early=True))
        elif k >= max(about) + 4:
            vias.append(Via(passed.name, passed.side, early=False))
    return tuple(vias)


def _places(sight: _Sight, m: Manoeuvre) -> list[Place]:
    places: list[Place] = []
    order = sorted(range(len(sight.names)), key=lambda i: sight.end_distances[i])
    looked_at = False
    for index in order:
        name, distance, bearing = sight.names[index], sight.end_distances[index], sight.at_end[index]
        side: Side = "left" if bearing > 0 else "right"
        passed = int(sight.nearest[index])
        came_by = 2 < passed < len(sight.path) - 2 and sight.distances[passed, index] < 0.75
        if abs(bearing) < 20 and abs(sight.at_next[index]) < 62 and distance < 3.0 and not looked_at:
            places.append(Place("ahead", (name,)))
            if distance > 0.35:
                places.append(Place("facing", (name,)))
        looked_at |= abs(bearing) < 33
        if distance < 1.3 and sight.end_between(index, 22, 55, 18):
            places.append(Place("quarter", (name,), side))
        if distance > NEAR_M:
            continue
        closing = sight.distances[:, index].min() > distance - 0.04
        if closing and abs(bearing) < 40 and abs(sight.at_next[index]) < 98 and index == order[0]:
            lean = abs(bearing) > 13 and bearing * sight.at_next[index] > 0
            places.append(Place("front", (name,), side if lean else None))
        if distance < 0.85 and sight.end_between(index, 56, 120, 34):
            places.append(Place("beside", (name,), side))
        if came_by and abs(bearing) > 109 and abs(sight.at_next[index]) > 48:
            places.append(Place("past", (name,), side))
        hour = round(-bearing / 30)
        exact = abs(bearing + 30 * hour) < 11 and abs(sight.at_next[index] + 30 * hour) < 17
        if exact and abs(hour) <= 3:
            places.append(Place("clock", (name,), hour=hour % 12 or 12))
    for place in _midway(sight, order):
        relation: PlaceRelation = "gap" if m.kind == "between" and place.objects == m.objects else "between"
        places.append(Place(relation, place.objects))
    if m.kind == "between" and all(_behind(sight, name) for name in m.objects):
        places.append(Place("through", m.objects))
    if m.kind == "around" and _opposite(sight, m.objects[0]):
        places.append(Place("far", m.objects))
    return places


def _behind(sight: _Sight, name: str) -> bool:
    index = sight.names.index(name)
    return abs(sight.at_end[index]) > 97 and abs(sight.at_next[index]) > 70


def _midway(sight: _Sight, order: Sequence[int]) -> list[Place]:
    """The pair of near objects the drone stops between, the left one first."""
    near = [i for i in order if sight.end_distances[i] < 1.1 and sight.end_between(i, 50, 130, 25)]
    for left in near:
        for right in near:
            gap = math.dist(sight.centres[left], sight.centres[right])
            detour = sight.end_distances[left] + sight.end_distances[right]
            if sight.at_end[left] > 0 > sight.at_end[right] and gap < 2.0 and detour < 1.08 * gap:
                return [Place("between", (sight.names[left], sight.names[right]))]
    return []


def _opposite(sight: _Sight, name: str) -> bool:
    centre = sight.centres[sight.names.index(name)]
    start, end = sight.path[0] - centre, sight.path[-1] - centre
    angle = abs(wrap(math.atan2(end[1], end[0]) - math.atan2(start[1], start[0])))
    return angle > math.radians(135) and math.hypot(*end) < 0.9


def _leaving(sight: _Sight, m: Manoeuvre) -> tuple[str, Side | None, bool] | None:
    index = int(sight.distances[0].argmin())
    name, bearing = sight.names[index], sight.at_start[index]
    if sight.distances[0, index] > 0.8 or name in m.objects or any(p.name == name for p in m.passed):
        return None
    # It is left behind on one side if it lies abeam or a little ahead as the drone sets off.
    aside = 35 < abs(bearing) < 140 and sight.nearest[index] <= 6
    side: Side | None = ("left" if bearing > 0 else "right") if aside else None
    return name, side, abs(bearing) > 105
