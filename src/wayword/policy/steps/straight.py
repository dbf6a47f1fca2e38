"""Straight ahead: how far there is room, and whether what ends such a flight ("until ...") is so."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.policy.steps.surroundings import Point, in_view
from wayword.policy.steps.vias import heading_error
from wayword.task import ARENA_M


def is_there(is_: str, here: NDArray[np.float64], place: Point, camera: Camera) -> bool:
    """Whether a thing is left, right, ahead, behind, close or seen, a little early where no drone can halt at once."""
    bearing, distance = math.degrees(heading_error(here, place)), math.dist((here[0], here[1]), place)
    return {
        "left": 70 <= bearing <= 130,
        "right": -130 <= bearing <= -70,
        "ahead": abs(bearing) < 28,
        "behind": abs(bearing) > 128,
        "close": distance < 0.8,
        "seen": in_view(place, here, camera),
    }[is_]


def to_edge_m(position: NDArray[np.float64], direction: NDArray[np.float64], margin: float = 0.15) -> float:
    """Metres along a direction to the edge of the arena, less a margin."""
    reach = 2 * ARENA_M
    for p, d in zip(position, direction, strict=True):
        if d > 1e-9:
            reach = min(reach, (ARENA_M - margin - p) / d)
        elif d < -1e-9:
            reach = min(reach, (margin - p) / d)
    return max(float(reach), 0.0)
