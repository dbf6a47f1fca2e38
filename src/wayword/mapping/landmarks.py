"""Things on the map, one by one: where each stands and which object it is, made up from all frames together.

    footprint   (K, 4)        x, y, radius in metres, quality, of one frame's boxes
    P(b)        (K,)          how surely a box holds an object
    P(o | b)    (K, M + 1)    which object a box shows, the last column "none of these"
    landmark                  x, y, radius; P(o) over M + 1, from the product of all its frames' P(o | b)

The masks of ``WorldMap`` keep the largest value that any frame gave a cell, so one wrong look stays. Here the looks at
one place are taken together: places are averaged, near looks counting more, and evidence about the name adds up, so
that a single look does not flip it. A thing that should be in view and is not found again and again is forgotten.
An extension of the paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.grounding.density import OTHERS
from wayword.task import ARENA_M


@dataclass(frozen=True)
class LandmarkConfig:
    """When two looks are at one thing, and how much a look is worth."""

    join_m: float = 0.42
    """A box belongs to the landmark nearest to its footprint if that is not farther than this ..."""
    join_per_m: float = 0.08
    """... plus this per metre of distance from the drone: far footprints are worse."""
    least_box: float = 0.35
    """Boxes with a smaller P(b) are left out."""
    least_quality: float = 0.12
    """Footprints of smaller quality are left out."""
    temper: float = 0.5
    """Weight of a look's log P(o | b): looks at one thing are not independent of each other."""
    floor: float = 0.01
    """No look takes an object's P(o | b) for smaller than this."""
    error_m: float = 0.05
    error_per_m: float = 0.07
    """Standard deviation of a footprint: at the drone, and more per metre of distance."""
    forget: int = 4
    """A landmark goes after this many more looks in which it was missing than in which it was found."""
    confirmed: float = 0.6
    """Looks, each weighed by P(b) and quality, that make a landmark."""
    recognised: float = 0.3
    """P(o) of some object from which a landmark looks like a taught thing."""
    solid: float = 4.0
    """Looks that make a thing of a landmark that looks like nothing that was taught."""
    twin: float = 0.5
    """Of two landmarks that look like one object, the one with fewer looks stays if it has this share of them."""
    beyond_m: float = 0.25
    """Nothing stands farther than this off the map."""
    rim_m: float = 0.3
    """What seems to stand this near to the edge of the arena ..."""
    rim_from_m: float = 1.2
    """... seen from so near, is the edge itself: red and white, it looks like a brick."""


@dataclass(eq=False)
class Landmark:
    """One thing."""

    number: int
    """Its own for the whole flight."""
    x: float
    y: float
    radius: float
    evidence: NDArray[np.float64]
    """(M + 1,) sum of tempered log P(o | b)."""
    precision: float
    """1 / m^2."""
    weight: float = 0.0
    """Looks, weighed."""
    missed: int = 0

    @property
    def place(self) -> tuple[float, float]:
        """x, y in the world."""
        return self.x, self.y

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """P(o), (M + 1,)."""
        scaled = np.exp(self.evidence - self.evidence.max())
        result: NDArray[np.float64] = scaled / scaled.sum()
        return result


@dataclass(eq=False)
class Landmarks:
    """All things one drone has seen in a flight."""

    names: tuple[str, ...]
    """The objects of the database."""
    camera: Camera
    config: LandmarkConfig = field(default_factory=LandmarkConfig)

    def __post_init__(self) -> None:
        self._all: list[Landmark] = []
        self._count = 0
        self._merged: dict[int, int] = {}
        """Numbers of landmarks that are part of another one now."""
        self._columns = {name: column for column, name in enumerate(self.names)}
        self._crowd = self._columns.get(OTHERS, -1)

    @property
    def confirmed(self) -> list[Landmark]:
        """Those that are believed to be there."""
        return [mark for mark in self._all if mark.weight >= self.config.confirmed]

    @property
    def recognised(self) -> list[Landmark]:
        """Those that are things one can speak of: one that looks like a taught object, or was seen again and again.

        A taught thing stands in one place: of several landmarks that look like it, only those stay that were seen at
        least half as much as the best; the others are looks at its edge, put down in a wrong place.
        """
        config = self.config
        things: list[Landmark] = []
        best: dict[int, float] = {}
        for mark in sorted(self.confirmed, key=lambda item: -item.weight):
            chances = mark.probabilities
            name = int(chances.argmax())
            if chances[:-1].max() < config.recognised and mark.weight < config.solid:
                continue
            several = name in (len(self.names), self._crowd)  # what is none of these, or another one, is not one thing
            if not several and mark.weight < config.twin * best.get(name, 0.0):
                continue
            best.setdefault(name, mark.weight)
            things.append(mark)
        return sorted(things, key=lambda item: item.number)

    def update(
        self, places: NDArray[np.float32], p_box: ArrayLike, p_object_of_box: ArrayLike, pose: ArrayLike
    ) -> NDArray[np.int64]:
        """Add one frame, taken from ``pose`` (6,); which landmark each of its boxes (K,) is a look at, -1 for none."""
        p, of_box = np.asarray(p_box, np.float64), np.asarray(p_object_of_box, np.float64)
        if np.shape(places) != (len(p), 4) or of_box.shape != (len(p), len(self.names) + 1):
            raise WaywordError(
                f"{len(p)} boxes and {len(self.names)} objects need footprints ({len(p)}, 4) and P(o | b) of shape "
                f"({len(p)}, {len(self.names) + 1}), not {np.shape(places)} and {of_box.shape}"
            )
        here = np.asarray(pose, np.float64)[[0, 1, 5]]
        in_frame: set[int] = set()
        numbers = np.full(len(p), -1)
        for k in np.argsort(-p, kind="stable"):
            x, y, radius, quality = (float(value) for value in places[k])
            if p[k] < self.config.least_box or quality < self.config.least_quality or not self._on_map(x, y):
                continue
            distance = math.hypot(x - here[0], y - here[1])
            if distance < self.config.rim_from_m and self._is_rim(x, y):
                continue
            mark = self._nearest(x, y, distance, in_frame)
            if mark is None:
                mark = self._new(x, y, radius)
            in_frame.add(mark.number)
            numbers[k] = mark.number
            self._look(mark, x, y, radius, distance, float(p[k]) * quality, of_box[k])
        self._miss(here, in_frame)
        self._merge()
        return numbers

    def believed(self, numbers: NDArray[np.int64], p_object_of_box: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(o | b) (K, M + 1) of boxes by all looks at their landmarks; as it was where there is no landmark (now)."""
        return self.by_beliefs(self.beliefs(), numbers, p_object_of_box)

    def beliefs(self) -> dict[int, NDArray[np.float64]]:
        """P(o) (M + 1,) of every landmark by its number, by all looks at it so far."""
        return {mark.number: mark.probabilities for mark in self._all}

    def by_beliefs(
        self,
        beliefs: Mapping[int, NDArray[np.float64]],
        numbers: NDArray[np.int64],
        p_object_of_box: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """``believed`` with ``beliefs`` worked out before, for many looks at once."""
        result = p_object_of_box.copy()
        for k, number in enumerate(numbers):
            belief = beliefs.get(self._merged.get(int(number), int(number)))
            if belief is not None:
                result[k] = belief
        return result

    def find(self, meaning: Sequence[float] | NDArray[np.float64]) -> tuple[Landmark | None, float]:
        """The landmark that most probably is meant by ``meaning`` (M,), a distribution over the objects; how surely.

        A taught thing stands in one place: of two landmarks that claim a name, the one with the better claim has it.
        """
        best, score = None, 0.0
        for mark in self.confirmed:
            value = float(np.dot(mark.probabilities[:-1], meaning))
            if value > score:
                best, score = mark, value
        return best, score

    def one_hot(self, name: str) -> NDArray[np.float64]:
        """The distribution that means one object of the database."""
        result = np.zeros(len(self.names))
        result[self._columns[name]] = 1.0
        return result

    def _on_map(self, x: float, y: float) -> bool:
        beyond = self.config.beyond_m
        return -beyond <= x <= ARENA_M + beyond and -beyond <= y <= ARENA_M + beyond

    def _is_rim(self, x: float, y: float) -> bool:
        return min(x, y, ARENA_M - x, ARENA_M - y) < self.config.rim_m

    def _nearest(self, x: float, y: float, distance: float, in_frame: set[int]) -> Landmark | None:
        reach = self.config.join_m + self.config.join_per_m * distance
        free = [mark for mark in self._all if mark.number not in in_frame]
        mark = min(free, key=lambda item: math.hypot(item.x - x, item.y - y), default=None)
        return mark if mark is not None and math.hypot(mark.x - x, mark.y - y) <= reach else None

    def _new(self, x: float, y: float, radius: float) -> Landmark:
        mark = Landmark(self._count, x, y, radius, np.zeros(len(self.names) + 1), 0.0)
        self._count += 1
        self._all.append(mark)
        return mark

    def _look(
        self, mark: Landmark, x: float, y: float, radius: float, distance: float, worth: float, of_box: NDArray
    ) -> None:
        config = self.config
        precision = worth / (config.error_m + config.error_per_m * distance) ** 2
        share = precision / (mark.precision + precision)
        mark.x += share * (x - mark.x)
        mark.y += share * (y - mark.y)
        mark.radius += share * (radius - mark.radius)
        mark.precision += precision
        mark.weight += worth
        mark.missed = max(mark.missed - 1, 0)
        mark.evidence += config.temper * worth * np.log(np.maximum(of_box, config.floor))

    def _miss(self, here: NDArray[np.float64], in_frame: set[int]) -> None:
        """Count what should have been in view and was not; things behind nearer ones are not expected."""
        half = math.radians(self.camera.hfov_deg) / 2 - 0.15
        views = []
        for mark in self._all:
            distance = math.hypot(mark.x - here[0], mark.y - here[1])
            bearing = math.atan2(mark.y - here[1], mark.x - here[0]) - here[2]
            views.append((distance, (bearing + math.pi) % (2 * math.pi) - math.pi, mark))
        for distance, bearing, mark in views:
            expected = abs(bearing) < half and 0.9 < distance < 2.5 and mark.number not in in_frame
            nearer = [(near, other) for near, other, _ in views if near < distance]
            hidden = any(abs(bearing - other) < math.atan2(0.3, near) for near, other in nearer)
            if expected and not hidden:
                mark.missed += 1
        self._all = [mark for mark in self._all if mark.missed < self.config.forget]

    def _merge(self) -> None:
        """Two landmarks that have drifted into one place are one thing."""
        places: list[Landmark] = []
        for mark in sorted(self._all, key=lambda item: -item.precision):
            twin = next((m for m in places if math.hypot(m.x - mark.x, m.y - mark.y) < 0.6 * self.config.join_m), None)
            if twin is None:
                places.append(mark)
                continue
            self._merged = {old: twin.number if new == mark.number else new for old, new in self._merged.items()}
            self._merged[mark.number] = twin.number
            twin.evidence += mark.evidence
            twin.weight += mark.weight
        self._all = sorted(places, key=lambda item: item.number)
