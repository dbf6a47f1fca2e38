"""The episode: an arena with named objects, one demonstration path and one instruction per segment.

Shapes and units: ``path`` is (P, 2), world metres, about one point every 6 cm. A segment covers the path
points from the end of the segment before it (0 for the first) to ``end``, both included. Policies do not see
episodes but *examples*: one segment, or two consecutive ones with their instructions joined by a space.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wayword.episodes.geometry import Array, arc_length, chord_heading
from wayword.errors import WaywordError

YAW_CHORD_M = 0.08
"""A later segment starts facing along the chord from this far before to this far after its first point."""


@dataclass(frozen=True)
class PlacedObject:
    """A named object standing on the ground."""

    name: str
    x: float
    y: float
    yaw: float


@dataclass(frozen=True)
class Pose2:
    """Where the drone is and which way it faces, seen from above."""

    x: float
    y: float
    yaw: float


@dataclass(frozen=True)
class Segment:
    """One instruction and the index of the path point where it has been carried out."""

    end: int
    instruction: str


@dataclass(frozen=True, eq=False)
class Episode:
    """One paragraph of instructions with its layout and its demonstration."""

    id: str
    split: str
    arena_m: float
    objects: tuple[PlacedObject, ...]
    start: Pose2
    path: Array
    segments: tuple[Segment, ...]
    annotator: str

    def __post_init__(self) -> None:
        path = np.array(self.path, dtype=np.float64)
        if path.ndim != 2 or path.shape[1] != 2 or len(path) < 2:
            raise WaywordError(f"path: must be at least two [x, y] points, found an array of shape {path.shape}")
        path.setflags(write=False)
        object.__setattr__(self, "path", path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Episode) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.id, self.split))

    def bounds(self, segment: int) -> tuple[int, int]:
        """Indices of the first and last path point of a segment (counted from 0)."""
        return (self.segments[segment - 1].end if segment else 0), self.segments[segment].end

    def pose(self, segment: int) -> Pose2:
        """Where a drone that is given only this segment (counted from 0) starts."""
        if segment == 0:
            return self.start
        first = self.bounds(segment)[0]
        arc = arc_length(self.path)
        yaw = chord_heading(self.path, arc, arc[first] - YAW_CHORD_M, arc[first] + YAW_CHORD_M)
        return Pose2(float(self.path[first, 0]), float(self.path[first, 1]), yaw)

    def to_json(self) -> dict[str, Any]:
        """Plain values, in the order in which the files hold them."""
        return {
            "id": self.id,
            "split": self.split,
            "arena_m": self.arena_m,
            "objects": [{"name": o.name, "x": o.x, "y": o.y, "yaw": o.yaw} for o in self.objects],
            "start": {"x": self.start.x, "y": self.start.y, "yaw": self.start.yaw},
            "path": self.path.tolist(),
            "annotator": self.annotator,
            "segments": [{"end": s.end, "instruction": s.instruction} for s in self.segments],
        }

    @classmethod
    def from_json(cls, value: object) -> Episode:
        """Read what ``to_json`` wrote; a missing or mistyped field raises a one-line ``WaywordError``."""
        record = _record(value, "an episode")
        return cls(
            id=_text(record, "id"),
            split=_text(record, "split"),
            arena_m=_number(record, "arena_m"),
            objects=tuple(_placed(o, f"objects[{i}]") for i, o in enumerate(_list(record, "objects"))),
            start=_pose(_field(record, "start"), "start"),
            path=_points(_list(record, "path"), "path"),
            segments=tuple(_segment(s, f"segments[{i}]") for i, s in enumerate(_list(record, "segments"))),
            annotator=_text(record, "annotator"),
        )


@dataclass(frozen=True)
class Example:
    """One instruction to follow: ``count`` consecutive segments of an episode, the first being ``first``.

    ``first`` counts from 0; ``id`` counts from 1, as people do: "dev-000/1-2" is the first two segments.
    """

    id: str
    episode: Episode = field(repr=False)
    first: int
    count: int
    instruction: str = field(compare=False)
    start: Pose2 = field(compare=False)
    path: Array = field(compare=False, repr=False)

    @property
    def objects(self) -> tuple[PlacedObject, ...]:
        """The layout the example is flown in."""
        return self.episode.objects


def examples(episode: Episode, segments: int = 1) -> tuple[Example, ...]:
    """All cuts of ``episode`` into ``segments`` (1 or 2) consecutive segments, in order; pairs overlap."""
    if segments not in (1, 2):
        raise WaywordError(f"examples have 1 or 2 segments, not {segments}")
    return tuple(_cut(episode, first, segments) for first in range(len(episode.segments) - segments + 1))


def paragraph(episode: Episode) -> Example:
    """The whole of ``episode`` as one example."""
    return _cut(episode, 0, len(episode.segments))


def _cut(episode: Episode, first: int, count: int) -> Example:
    last = first + count - 1
    begin, end = episode.bounds(first)[0], episode.bounds(last)[1]
    return Example(
        id=f"{episode.id}/{first + 1}" + (f"-{last + 1}" if last > first else ""),
        episode=episode,
        first=first,
        count=count,
        instruction=" ".join(s.instruction for s in episode.segments[first : last + 1]),
        start=episode.pose(first),
        path=episode.path[begin : end + 1],
    )


def _record(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise WaywordError(f"{what} must be a JSON object in braces, found {_excerpt(value)}")
    return value


def _field(record: Mapping[str, Any], key: str, where: str = "") -> Any:
    if key not in record:
        raise WaywordError(f"{where}field '{key}' is missing")
    return record[key]


def _text(record: Mapping[str, Any], key: str, where: str = "") -> str:
    value = _field(record, key, where)
    if not isinstance(value, str):
        raise WaywordError(f"{where}{key} must be text, found {_excerpt(value)}")
    if not value.strip():
        raise WaywordError(f"{where}{key} is empty")
    try:
        value.encode()
    except UnicodeEncodeError:  # half a surrogate pair: JSON can spell it, no file can hold it
        raise WaywordError(f"{where}{key} holds a broken character escape") from None
    return value


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    value = _field(record, key)
    if not isinstance(value, list):
        raise WaywordError(f"{key} must be a list, found {_excerpt(value)}")
    if not value:
        raise WaywordError(f"{key} is empty")
    return value


def _finite(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WaywordError(f"{what} must be a number, found {_excerpt(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise WaywordError(f"{what} must be a finite number, found {_excerpt(value)}")
    return number


def _number(record: Mapping[str, Any], key: str, where: str = "") -> float:
    return _finite(_field(record, key, where), f"{where}{key}")


def _pose(value: object, name: str) -> Pose2:
    record, where = _record(value, name), f"{name}: "
    return Pose2(*(_number(record, key, where) for key in ("x", "y", "yaw")))


def _placed(value: object, name: str) -> PlacedObject:
    record, where = _record(value, name), f"{name}: "
    return PlacedObject(_text(record, "name", where), *(_number(record, k, where) for k in ("x", "y", "yaw")))


def _segment(value: object, name: str) -> Segment:
    record, where = _record(value, name), f"{name}: "
    end = _field(record, "end", where)
    if isinstance(end, bool) or not isinstance(end, int):
        raise WaywordError(f"{where}end must be a whole number, found {_excerpt(end)}")
    return Segment(end, _text(record, "instruction", where))


def _points(values: list[Any], name: str) -> Array:
    for i, value in enumerate(values):
        if not isinstance(value, list) or len(value) != 2:
            raise WaywordError(f"{name}[{i}] must be [x, y], found {_excerpt(value)}")
    flat = [_finite(c, f"{name}[{i}]") for i, value in enumerate(values) for c in value]
    return np.array(flat).reshape(-1, 2)


def _excerpt(value: object) -> str:
    """A value as it may appear inside a one-line message."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
