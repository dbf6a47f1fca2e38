"""What a segment of a path does, measured from the path: the facts an instruction can be written from.

Conventions: angles are radians, counter-clockwise (a left turn) positive. ``left`` and ``right`` are those of
the drone as it flies. A bearing is relative to the drone's heading: 0 ahead, positive to the left.

Demonstrations round their corners at segment boundaries, over about 18 cm either way. The heading *at* a
boundary is therefore taken from the two 18 cm chords beyond the rounding, extrapolated along their curvature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wayword.episodes.format import Episode
from wayword.episodes.geometry import Array, arc_length, chord_heading, wrap

ManoeuvreKind = Literal["approach", "pass", "around", "between", "beside"]
Side = Literal["left", "right"]
Relation = Literal["in front of", "beside", "just past"]

ROUNDING_M = 0.18
MAX_CURVATURE = 2.5  # 1/m; bounds the extrapolation through a rounded corner
NEAR_M = 0.75  # an object passed within this distance is worth a word
END_NEAR_M = 0.95  # an end further from every object cannot be described by one
IN_FRONT_RAD = math.radians(50)  # an object within this bearing is ahead: the drone is in front of it
PAST_RAD = math.radians(109)  # beyond this bearing it is behind: the drone is just past it
AROUND_RAD = 0.9  # a path that bends less beside an object passes it rather than rounds it


@dataclass(frozen=True)
class Passed:
    """An object that came abeam on the way though the segment is not about it."""

    name: str
    side: Side
    distance: float


@dataclass(frozen=True)
class Manoeuvre:
    """The facts of one segment."""

    kind: ManoeuvreKind
    objects: tuple[str, ...]
    """What it is about: one object, or for "between" the one on the left and the one on the right."""
    side: Side | None
    """Side of the drone on which it has ``objects[0]`` as it goes by; None for an approach."""
    closest: tuple[float, ...]
    """Least distance (m) from the path to the centre of each of ``objects``."""
    around: float
    """Signed angle by which the direction from ``objects[0]`` to the drone turns over the whole segment."""
    bend: float
    """Signed change of heading inside the segment, without the corners at its two ends."""
    bearing: float
    """Bearing of ``objects[0]`` at the end."""
    length: float
    """Metres flown."""
    turn: float
    """Signed turn from the yaw of the segment's start pose to its direction of departure."""
    corner: float
    """Signed turn from the heading with which the segment before arrived; for the first segment, ``turn``."""
    end_object: str
    """The object nearest to the end."""
    end_relation: Relation
    end_side: Side | None
    """Side of the drone on which ``end_object`` lies at the end; None if it is in front of it."""
    end_distance: float
    end_bearing: float
    passed: tuple[Passed, ...]
    """Further objects passed within 0.75 m, in order."""


def departure_heading(path: Array, arc: Array, metres: float) -> float:
    """The heading with which the path leaves the place ``metres`` along it."""
    return _beyond_rounding(path, arc, metres, forward=1)


def arrival_heading(path: Array, arc: Array, metres: float) -> float:
    """The heading with which the path reaches the place ``metres`` along it."""
    return _beyond_rounding(path, arc, metres, forward=-1)


def measure_manoeuvre(episode: Episode, segment: int, kind: ManoeuvreKind, objects: Sequence[str]) -> Manoeuvre | None:
    """The facts of a segment (counted from 0) told as a manoeuvre ``kind`` about ``objects``.

    None if the path does not do that. The two objects of "between" may be given in either order.
    """
    first, last = episode.bounds(segment)
    arc = arc_length(episode.path)
    path = episode.path[first : last + 1]
    depart = departure_heading(episode.path, arc, arc[first])
    arrive = arrival_heading(episode.path, arc, arc[last])
    turn = wrap(depart - episode.pose(segment).yaw)
    corner = wrap(depart - arrival_heading(episode.path, arc, arc[first])) if segment else turn

    names = [o.name for o in episode.objects]
    centres = np.array([[o.x, o.y] for o in episode.objects])
    offsets = centres[None] - path[:, None]  # (P, N, 2), from the drone to each object
    distances = np.hypot(offsets[..., 0], offsets[..., 1])
    about = [names.index(name) for name in objects]
    if kind == "between":
        order = _gate(path, centres[about[0]], centres[about[1]])
        if order is None:
            return None
        about = about[::order]
    main = about[0]

    # An object kept on the left is circled counter-clockwise. Unlike the direction of flight where the path
    # comes closest, this does not depend on the rounding of a corner there.
    around = _winding(-offsets[:, main])

    def bearing_at_end(index: int) -> float:
        x, y = offsets[-1, index]
        return wrap(math.atan2(y, x) - arrive)

    end = int(distances[-1].argmin())
    end_bearing = bearing_at_end(end)
    relation = _relation(end_bearing)
    manoeuvre = Manoeuvre(
        kind=kind,
        objects=tuple(names[i] for i in about),
        side=None if kind == "approach" else "left" if kind == "between" else _side(around),
        closest=tuple(float(distances[:, i].min()) for i in about),
        around=around,
        bend=_bend(path, arc[first : last + 1] - arc[first], depart, arrive),
        bearing=bearing_at_end(main),
        length=float(arc[last] - arc[first]),
        turn=turn,
        corner=corner,
        end_object=names[end],
        end_relation=relation,
        end_side=None if relation == "in front of" else _side(end_bearing),
        end_distance=float(distances[-1, end]),
        end_bearing=end_bearing,
        passed=_passed(path, offsets, distances, names, {*about, end}),
    )
    return manoeuvre if _holds(manoeuvre) else None


def _holds(m: Manoeuvre) -> bool:
    """Whether a listener would agree with the name of the manoeuvre."""
    sign = 1 if m.side == "left" else -1
    if m.end_distance > END_NEAR_M:
        return False
    ends_at_it = m.end_object == m.objects[0]
    if m.kind == "approach":
        return ends_at_it and m.end_relation == "in front of" and m.closest[0] > m.end_distance - 0.05
    if m.kind == "between":
        return True
    if m.closest[0] > NEAR_M:
        return False
    if m.kind == "around":
        return sign * m.bend >= AROUND_RAD and sign * m.around >= AROUND_RAD
    if abs(m.bend) >= AROUND_RAD or sign * m.bearing <= 0:
        return False
    if m.kind == "beside":
        return ends_at_it and m.end_relation == "beside"
    return sign * m.bearing > PAST_RAD and sign * m.around >= AROUND_RAD


def _beyond_rounding(path: Array, arc: Array, metres: float, forward: int) -> float:
    marks = [metres + forward * k * ROUNDING_M for k in (1, 2, 3)]
    near = chord_heading(path, arc, *sorted(marks[:2]))
    far = chord_heading(path, arc, *sorted(marks[1:]))
    curvature = wrap(near - far) / ROUNDING_M
    curvature = min(max(curvature, -MAX_CURVATURE), MAX_CURVATURE)
    return wrap(near + curvature * 1.5 * ROUNDING_M)


def _winding(vectors: Array) -> float:
    """Total signed turning of a sequence of (P, 2) vectors."""
    a, b = vectors[:-1], vectors[1:]
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return float(np.arctan2(cross, (a * b).sum(axis=1)).sum())


def _bend(path: Array, arc: Array, depart: float, arrive: float) -> float:
    # The inner steps count the whole turns; the two headings, free of corner rounding, give the angle.
    inner = (arc >= ROUNDING_M) & (arc <= arc[-1] - ROUNDING_M)
    turned = _winding(np.diff(path[inner], axis=0)) if inner.sum() > 2 else 0.0
    angle = wrap(arrive - depart)
    return angle + 2 * math.pi * round((turned - angle) / (2 * math.pi))


def _relation(bearing: float) -> Relation:
    if abs(bearing) <= IN_FRONT_RAD:
        return "in front of"
    return "beside" if abs(bearing) <= PAST_RAD else "just past"


def _side(bearing: float) -> Side:
    return "left" if bearing > 0 else "right"


def _gate(path: Array, a: Array, b: Array) -> int | None:
    """1 if the path crosses once between ``a`` and ``b`` with ``a`` on its left, -1 if with ``b``."""
    span = b - a
    squared = float(span @ span)
    height = (path[:, 0] - a[0]) * span[1] - (path[:, 1] - a[1]) * span[0]
    along = (path - a) @ span
    crossings = np.flatnonzero(((height[:-1] < 0) != (height[1:] < 0)) & (along[:-1] > 0) & (along[:-1] < squared))
    if len(crossings) != 1:
        return None
    # After the crossing, not before: there a point may lie exactly on the line.
    return 1 if height[crossings[0] + 1] < 0 else -1


def _passed(
    path: Array, offsets: Array, distances: Array, names: Sequence[str], mentioned: set[int]
) -> tuple[Passed, ...]:
    nearest = distances.argmin(axis=0)
    result = []
    for index in np.argsort(nearest, kind="stable").tolist():
        k, distance = int(nearest[index]), float(distances[nearest[index], index])
        # An object closest near either end was not passed: the drone came from it or stopped short of it.
        if index not in mentioned and distance <= NEAR_M and 3 < k < len(path) - 4:
            (dx, dy), (x, y) = path[k + 2] - path[k - 2], offsets[k, index]
            result.append(Passed(names[index], _side(float(dx * y - dy * x)), distance))
    return tuple(result)


def plain_instruction(m: Manoeuvre) -> str:
    """One plain and correct sentence for a segment."""
    name = m.objects[0]
    if m.kind == "approach":
        return _sentence(m, f"fly to the {name} and stop in front of it")
    if m.kind == "beside":
        return _sentence(m, f"fly to the {name} and stop beside it with it on your {m.side}")
    if m.kind == "between":
        does = f"fly between the {name} on your left and the {m.objects[1]} on your right"
    elif m.kind == "pass":
        does = f"fly past the {name}, keeping it on your {m.side},"
    else:
        quarters = abs(m.bend) / (math.pi / 2)
        far = "a quarter" if quarters < 1.5 else "half" if quarters < 2.5 else "most of the way"
        way = "counter-clockwise" if m.side == "left" else "clockwise"
        does = f"go {far} around the {name} {way}, keeping it on your {m.side},"
    end = "it" if m.end_object == name and m.kind != "between" else f"the {m.end_object}"
    where = f"{m.end_relation} {end}"
    if m.end_relation == "beside" and end != "it":
        where += f" with it on your {m.end_side}"
    return _sentence(m, f"{does} and stop {where}")


def _sentence(m: Manoeuvre, does: str) -> str:
    # A turn is told only if it is one both from the start pose and from where the drone came.
    clear = m.turn * m.corner > 0 and min(abs(m.turn), abs(m.corner)) > 0.3 and abs(m.corner) > 0.6
    if clear:
        side = _side(m.corner)
        does = (f"turn around to the {side}" if abs(m.corner) > 2.4 else f"turn {side}") + f" and {does}"
    return does[0].upper() + does[1:] + "."
