"""World masks that make up their mind: every look counts with what is believed of its thing by now.

    look         footprints (K, 4), P(b) (K,), P(o | b) (K, M + 1), landmark of each box (K,)
    P(o | r)     (R, M + 1)
    references   (R, 32, 32)   largest value over all looks, as in ``WorldMap``

``WorldMap`` keeps the largest value that any frame gave a cell, with what that frame alone said about the name: one
wrong look stays for the whole flight. Here the looks are kept instead, and their masks are made anew from
the landmarks' P(o), in which the evidence of all frames has added up. An extension of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayword.grounding.align import align
from wayword.mapping.grid import WORLD_CELLS
from wayword.mapping.landmarks import Landmarks
from wayword.mapping.world_map import splat_max


class Sighting(NamedTuple):
    """What one frame showed, before any reference is asked about."""

    stands: NDArray[np.float32]
    p_box: NDArray[np.float64]
    of_box: NDArray[np.float64]
    pose: NDArray[np.float64]
    numbers: NDArray[np.int64]
    """The landmark of each box, -1 for none."""


@dataclass(eq=False)
class SettledMap:
    """All looks of one flight."""

    landmarks: Landmarks
    sightings: list[Sighting] = field(default_factory=list)

    def add(
        self,
        stands: NDArray[np.float32],
        p_box: NDArray[np.float64],
        of_box: NDArray[np.float64],
        pose: NDArray[np.float64],
    ) -> None:
        """One frame, taken from ``pose`` (6,); the landmarks learn of it too."""
        numbers = self.landmarks.update(stands, p_box, of_box, pose)
        self.sightings.append(Sighting(stands, p_box, of_box, pose.copy(), numbers))

    def references(self, table: NDArray[np.float64]) -> NDArray[np.float32]:
        """Masks (R, 32, 32) of references with P(o | r) ``table`` (R, M + 1), from all looks so far."""
        world = np.zeros((len(table), WORLD_CELLS, WORLD_CELLS), np.float32)
        beliefs = self.landmarks.beliefs()
        for look in self.sightings:
            if len(look.stands) and len(table):
                of_box = self.landmarks.by_beliefs(beliefs, look.numbers, look.of_box)
                splat_max(world, np.ascontiguousarray(look.stands, np.float32), align(of_box, look.p_box, table))
        return world
