"""Random layouts of pool objects: who stands where, how large, turned and tilted.

Shapes: K objects; ``transforms`` (K, 3, 4) take mesh coordinates (longest edge 1) to the world, metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.learning.ar.config import ARLayoutConfig
from wayword.learning.ar.objects import ObjectPool
from wayword.sim.models.mesh import rotation

_DRAWS = 40


@dataclass(frozen=True)
class ARLayout:
    """Objects in an arena."""

    places: tuple[int, ...]
    """Place of each object in the pool's entries; equal places are the same identity."""
    transforms: NDArray[np.float32]
    arena_m: float

    @property
    def centres(self) -> NDArray[np.float64]:
        """Where the objects stand (K, 2)."""
        return self.transforms[:, :2, 3].astype(np.float64)


def random_ar_layout(pool: ObjectPool, rng: np.random.Generator, config: ARLayoutConfig) -> ARLayout:
    """Draw a layout. An object that finds no room after some tries is left out; the first always does."""
    count = int(rng.integers(config.min_objects, config.max_objects + 1))
    repeats = rng.random() < config.repeat_layouts
    low, high = config.edge_clearance_m, config.arena_m - config.edge_clearance_m
    low, high = min(low, config.arena_m / 2), max(high, config.arena_m / 2)
    places: list[int] = []
    spots: list[tuple[float, float, float]] = []
    transforms = []
    for k in range(count):
        again = repeats and k > 0 and rng.random() < config.repeat_share and places
        place = places[-1] if again else pool.draw(rng)
        edge = pool.entries[place].edge_m
        spot = _free_spot(spots, edge / 2, low, high, rng, config.gap_m)
        yaw = float(rng.uniform(-math.pi, math.pi))
        pitch, roll = rng.uniform(-config.tilt_rad, config.tilt_rad, 2)
        if spot is None:
            continue
        turn = rotation("z", yaw) @ rotation("y", float(pitch)) @ rotation("x", float(roll)) * edge
        # A tilted object stands on its lowest point: below the ground it would be drawn over the ground.
        lift = -float((pool.mesh(place).vertices @ turn[2]).min())
        places.append(place)
        spots.append((*spot, edge / 2))
        transforms.append(np.column_stack([turn, [spot[0], spot[1], lift]]))
    return ARLayout(tuple(places), np.array(transforms, dtype=np.float32), config.arena_m)


def _free_spot(
    places: list[tuple[float, float, float]],
    radius: float,
    low: float,
    high: float,
    rng: np.random.Generator,
    gap: float,
) -> tuple[float, float] | None:
    for x, y in rng.uniform(low, high, (_DRAWS, 2)).tolist():
        if all(math.hypot(x - u, y - v) >= radius + other + gap for u, v, other in places):
            return x, y
    return None
