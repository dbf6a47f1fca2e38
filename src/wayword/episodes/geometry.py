"""Plane geometry of flight paths: arc length, chords, headings and distances.

A path is a (P, 2) float64 array of world points in metres; headings are counter-clockwise radians with
0 along +x; ``arc`` is the (P,) arc length from the first point.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def wrap(angle: float) -> float:
    """The same angle in [-pi, pi)."""
    return (angle + math.pi) % (2 * math.pi) - math.pi


def arc_length(path: Array) -> Array:
    """Metres flown from the first point to each point of ``path``."""
    steps = np.diff(path, axis=0)
    arc = np.zeros(len(path))
    np.cumsum(np.hypot(steps[:, 0], steps[:, 1]), out=arc[1:])
    return arc


def point_at(path: Array, arc: Array, metres: float) -> tuple[float, float]:
    """The point ``metres`` along the path, held at the ends."""
    after = min(max(int(arc.searchsorted(metres)), 1), len(arc) - 1)
    s0, s1 = float(arc[after - 1]), float(arc[after])
    share = min(max((metres - s0) / (s1 - s0), 0.0), 1.0) if s1 > s0 else 0.0
    (x0, y0), (x1, y1) = path[after - 1 : after + 1].tolist()
    return x0 + share * (x1 - x0), y0 + share * (y1 - y0)


def chord_heading(path: Array, arc: Array, start: float, end: float) -> float:
    """Direction of the chord between two places given by their arc lengths."""
    x0, y0 = point_at(path, arc, start)
    x1, y1 = point_at(path, arc, end)
    return math.atan2(y1 - y0, x1 - x0)


def distances_to_path(points: Array, path: Array) -> Array:
    """Distance (N,) of each of ``points`` (N, 2) to the nearest place of the polyline ``path``."""
    origin, step = path[:-1], np.diff(path, axis=0)
    squared = np.maximum((step**2).sum(axis=1), 1e-18)
    offset = points[:, None, :] - origin[None]
    along = np.clip((offset * step[None]).sum(axis=2) / squared[None], 0.0, 1.0)
    gap = offset - along[..., None] * step[None]
    nearest: Array = np.sqrt((gap**2).sum(axis=2).min(axis=1))
    return nearest


def edge_distance(points: Array, arena_m: float) -> float:
    """How far inside the square arena the outermost of ``points`` lies; negative means outside."""
    return float(min(points.min(), arena_m - points.max()))
