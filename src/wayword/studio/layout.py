"""Where things stand in a visitor's arena: drawn with a seed, taken from the corpus, or moved by hand."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example, PlacedObject, Pose2, examples, load_natural
from wayword.episodes.loader import EpisodeRules
from wayword.errors import WaywordError
from wayword.pilot.free_flight import draw_scene
from wayword.sim.models.catalogue import names
from wayword.task import ARENA_M

EDGE_M = 0.2
"""Objects stay this far inside the boundary."""
SPACING_M = 0.5
"""Least distance between the centres of two objects that were moved by hand."""


@dataclass(frozen=True, eq=False)
class StudioLayout:
    """Objects and a start; a demonstration if the layout is an example of the corpus and unchanged."""

    title: str
    objects: tuple[PlacedObject, ...]
    start: Pose2
    by_hand: bool = False
    """Somebody moved something: it is not drawn anew without being asked to."""
    instruction: str = ""
    """Of the demonstration."""
    path: NDArray[np.float64] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What stands there."""
        return tuple(item.name for item in self.objects)

    def moved(self, number: int, x: float, y: float) -> StudioLayout:
        """With one object elsewhere; refused where it would stand in another, on the start or outside."""
        if not 0 <= number < len(self.objects):
            raise WaywordError("that object is not in the layout any more")
        here = (_inside(x), _inside(y))
        item = self.objects[number]
        for other in (other for k, other in enumerate(self.objects) if k != number):
            if math.dist(here, (other.x, other.y)) < SPACING_M:
                raise WaywordError(f"too close to the {other.name}: keep {SPACING_M:g} m between objects")
        clearance = EpisodeRules().min_clearance_m
        if math.dist(here, (self.start.x, self.start.y)) < clearance:
            raise WaywordError(f"too close to the drone: keep {clearance:g} m")
        objects = list(self.objects)
        objects[number] = replace(item, x=here[0], y=here[1])
        return self._changed(tuple(objects), self.start)

    def started_at(self, x: float, y: float) -> StudioLayout:
        """With the drone elsewhere, its heading as it was; refused where it would touch something."""
        here, clearance = (_inside(x), _inside(y)), EpisodeRules().min_clearance_m
        for item in self.objects:
            if math.dist(here, (item.x, item.y)) < clearance:
                raise WaywordError(f"too close to the {item.name}: keep {clearance:g} m")
        return self._changed(self.objects, replace(self.start, x=here[0], y=here[1]))

    def headed_to(self, x: float, y: float) -> StudioLayout:
        """With the drone's nose towards a place."""
        if not (math.isfinite(x) and math.isfinite(y)) or math.dist((x, y), (self.start.x, self.start.y)) < 1e-3:
            raise WaywordError("that place is no direction")
        yaw = round(math.atan2(y - self.start.y, x - self.start.x), 3)
        return self._changed(self.objects, replace(self.start, yaw=yaw))

    def _changed(self, objects: tuple[PlacedObject, ...], start: Pose2) -> StudioLayout:
        title = self.title if self.by_hand else f"{self.title}, changed by hand"
        return StudioLayout(title, objects, start, by_hand=True)


def _inside(value: float) -> float:
    if not math.isfinite(value):
        raise WaywordError("that place is not a number")
    return round(min(max(value, EDGE_M), ARENA_M - EDGE_M), 3)


def draw_layout(seed: int, mentioned: Sequence[str], known: Collection[str]) -> StudioLayout:
    """A layout with what is ``mentioned``, more of what is ``known``, and objects nobody taught if those are few."""
    if not 0 <= seed < 2**32:
        raise WaywordError(f"the seed {seed} must be from 0 to {2**32 - 1}")
    objects, start = draw_scene(mentioned, known, names("seen"), np.random.default_rng(seed))
    return StudioLayout(f"seed {seed}", objects, start)


def corpus_example(split: str, seed: int) -> StudioLayout:
    """An example of the natural corpus with its layout, instruction and demonstration.

    One seed after the other goes through all of them, in an order without rhyme, before any comes again.
    """
    cuts = _cuts(split)
    example = cuts[int(np.random.default_rng(0).permutation(len(cuts))[seed % len(cuts)])]
    start = example.start
    return StudioLayout(example.id, example.objects, start, instruction=example.instruction, path=example.path)


@lru_cache(maxsize=4)
def _cuts(split: str) -> tuple[Example, ...]:
    return tuple(cut for episode in load_natural(split) for cut in examples(episode, 2))
