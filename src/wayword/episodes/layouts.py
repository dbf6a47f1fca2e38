"""Random layouts: which objects stand where.

Objects are dropped one after another at uniform places, and a place too close to an earlier object is drawn
again. That can paint itself into a corner (12 objects are three quarters of what random dropping can reach),
so a layout that does not get on is started afresh instead of being searched to the end.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from wayword.episodes.format import PlacedObject
from wayword.errors import WaywordError
from wayword.task import ARENA_M

_DRAWS_PER_OBJECT = 60
_RESTARTS = 200


@dataclass(frozen=True)
class LayoutConfig:
    """How many objects a layout has and how far apart they stand (metres, between centres)."""

    arena_m: float = ARENA_M
    min_objects: int = 6
    max_objects: int = 12
    min_spacing_m: float = 0.95
    edge_clearance_m: float = 0.6


def random_layout(
    names: Collection[str], rng: np.random.Generator, config: LayoutConfig | None = None
) -> tuple[PlacedObject, ...]:
    """Place 6 to 12 different objects out of ``names``, with uniform yaw.

    Fewer than ``max_objects`` names cap the number; fewer than ``min_objects`` are an error. Coordinates are
    rounded to millimetres, as files store them. The order of ``names`` does not matter.
    """
    config = config or LayoutConfig()
    pool = sorted(set(names))  # a set's own order differs from process to process
    if len(pool) < config.min_objects:
        raise WaywordError(f"a layout needs at least {config.min_objects} different objects, found {len(pool)}")
    count = int(rng.integers(config.min_objects, min(config.max_objects, len(pool)) + 1))
    rows = rng.permutation(len(pool))[:count]
    places = _places(count, rng, config)
    yaws = rng.uniform(-math.pi, math.pi, count)
    return tuple(
        PlacedObject(pool[int(i)], x, y, round(float(yaw), 3))
        for i, (x, y), yaw in zip(rows, places, yaws, strict=True)
    )


def _places(count: int, rng: np.random.Generator, config: LayoutConfig) -> list[tuple[float, float]]:
    low, high = config.edge_clearance_m, config.arena_m - config.edge_clearance_m
    if low < high:
        for _ in range(_RESTARTS):
            places: list[tuple[float, float]] = []
            for x, y in rng.uniform(low, high, (_DRAWS_PER_OBJECT * count, 2)).round(3).tolist():
                # Strictly greater: distances right at the limit may come out a hair below it elsewhere.
                if all(math.hypot(x - u, y - v) > config.min_spacing_m for u, v in places):
                    places.append((x, y))
                    if len(places) == count:
                        return places
    raise WaywordError(
        f"cannot place {count} objects {config.min_spacing_m:g} m apart and {config.edge_clearance_m:g} m "
        f"from the edge of a {config.arena_m:g} m arena; use fewer objects or a smaller spacing"
    )
