"""What stands around a drone that flies steps: what it believes, or what is true.

The flyer of steps asks where the thing of a key is, which discs to keep clear of, and what is in view. ``TrueLayout``
answers from a layout (the Oracle of commands), ``BelievedLayout`` from the landmarks of a flight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.episodes.commands import Select
from wayword.episodes.commands.select import ranked
from wayword.episodes.format import Pose2
from wayword.episodes.geometry import wrap
from wayword.language.reader import Thing
from wayword.mapping.landmarks import Landmark, Landmarks

Point = tuple[float, float]
DRONE_M = 0.08
"""Radius of the drone."""
_CERTAIN = 0.5
"""How surely a landmark is what is meant, so that nothing else need be looked for."""
_SPOKEN_OF = 0.5
"""How much a landmark must look like some taught object to be one of "the things"."""
LARGEST_M = 0.22
"""Nothing is solid beyond this radius (``ArenaConfig.column_cap_m``)."""


class Surroundings(Protocol):
    """What the flyer of steps needs to know of the world."""

    def where(self, key: str) -> Point | None:
        """Where the thing of a step is, if that is known."""
        ...

    def sure(self, key: str) -> bool:
        """Whether that place will hardly change."""
        ...

    def discs(self) -> NDArray[np.float64]:
        """(K, 3) x, y and radius of what must not be touched, the drone's own radius included."""
        ...

    def begin_select(self, start: Pose2) -> None:
        """Things that are meant by where they stand are now chosen, as seen from ``start``."""
        ...


def in_view(place: Point, pose: NDArray[np.float64], camera: Camera, margin_rad: float = 0.1) -> bool:
    """Whether a place is within the camera's horizontal view from ``pose`` (x, y, yaw)."""
    bearing = wrap(math.atan2(place[1] - pose[1], place[0] - pose[0]) - float(pose[2]))
    return abs(bearing) < math.radians(camera.hfov_deg) / 2 - margin_rad


def solid_discs(marks: Sequence[Landmark]) -> NDArray[np.float64]:
    """(K, 3) what must not be touched of landmarks; footprints are often too small, so all are as large as can be.

    With the radius that was seen, 0.15 contacts per flight on natural dev instructions; with this one 0.06.
    """
    return np.array([(mark.x, mark.y, LARGEST_M + DRONE_M) for mark in marks]).reshape(-1, 3)


class TrueLayout:
    """The layout as it is; keys are the names of its objects."""

    def __init__(self, places: Mapping[str, Point], radii: Mapping[str, float] | None = None) -> None:
        self._places = dict(places)
        self._discs = np.array(
            [(x, y, (radii or {}).get(name, LARGEST_M) + DRONE_M) for name, (x, y) in places.items()]
        ).reshape(-1, 3)

    def where(self, key: str) -> Point | None:
        """Where the object of this name stands."""
        return self._places.get(key)

    def sure(self, key: str) -> bool:
        """What is there is known."""
        return key in self._places

    def discs(self) -> NDArray[np.float64]:
        """All objects."""
        return self._discs

    def begin_select(self, start: Pose2) -> None:
        """Names are given; nothing is to be chosen."""


class BelievedLayout:
    """The landmarks of a flight; keys are those of a reading's things."""

    def __init__(self, landmarks: Landmarks, things: Mapping[str, Thing]) -> None:
        self.landmarks, self.things = landmarks, things
        self._meanings = {
            key: np.array([thing.probabilities.get(name, 0.0) for name in landmarks.names])
            for key, thing in things.items()
            if thing.select is None
        }
        self._choices: dict[str, int] = {}
        self.least = 0.35
        """How surely a landmark must be what is meant; lowered by a search that finds nothing better."""

    def where(self, key: str) -> Point | None:
        """The landmark that most probably is meant."""
        if self.things[key].select is not None:
            mark = next((m for m in self.landmarks.confirmed if m.number == self._choices.get(key)), None)
            return None if mark is None else mark.place
        mark, score = self.landmarks.find(self._meanings[key])
        return None if mark is None or score < self.least else mark.place

    def sure(self, key: str) -> bool:
        """Whether it was seen well enough to end a search."""
        if self.things[key].select is not None:
            return self.where(key) is not None
        mark, score = self.landmarks.find(self._meanings[key])
        return mark is not None and score >= max(self.least, _CERTAIN)

    def discs(self) -> NDArray[np.float64]:
        """All landmarks that are things."""
        return solid_discs(self.landmarks.recognised)

    def begin_select(self, start: Pose2) -> None:
        """Choose what is meant by where it stands among the landmarks there are now."""
        marks = [mark for mark in self.landmarks.recognised if mark.probabilities[:-1].max() >= _SPOKEN_OF]
        places = {str(mark.number): mark.place for mark in marks or self.landmarks.recognised}
        for key, thing in self.things.items():
            rule = thing.select
            if rule is None or key in self._choices:
                continue
            choice = self._choose(rule, places, start)
            if choice is not None:
                self._choices[key] = int(choice)

    def _choose(self, rule: Select, places: Mapping[str, Point], start: Pose2) -> str | None:
        anchor: str | None = None
        if rule.of is not None:
            at = self.where(rule.of)
            if at is None:
                return None
            anchor = min(places, key=lambda number: math.dist(places[number], at))
        order = ranked(rule.rule, places, start, anchor)
        return order[rule.rank - 1][0] if len(order) >= rule.rank else None
