"""How far apart two paths are: resampled by arc length, earth mover's distance, dynamic time warping.

A path is a float64 array (N, 2) of ground-plan positions in the world frame, in metres and in the order flown.
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from wayword.compiled import compiled

FloatArray = NDArray[np.float64]

SPACING = 0.02
"""Metres of arc length between two points of a resampled path."""

_LONGEST = 20_000  # resampled points (400 m at 2 cm): beyond it the vehicle diverged, and memory would go
_PIVOTS = 100_000_000  # network simplex steps; two 18 m flights need up to a hundred thousand


def resample(path: FloatArray, spacing: float = SPACING) -> FloatArray:
    """Points of the polyline every ``spacing`` metres of arc length, from its first to its last point.

    The last step is shorter unless the length is a multiple of ``spacing``. A path that never moves
    becomes one point. (The paper's released evaluation drops the last, shorter step; keeping it
    makes the end of a demonstration part of what is compared.)
    """
    path = checked_path(path)
    if not (np.isfinite(spacing) and spacing > 0):
        raise ValueError(f"spacing is {spacing}; it must be a positive number of metres")
    arc = arc_lengths(path)
    length = arc[-1]
    if not length / spacing <= _LONGEST:
        raise ValueError(
            f"the path is {length:.3g} m long, over {_LONGEST} steps of {spacing} m; did the vehicle diverge?"
        )
    # Repeated points add no arc length, and interpolation needs it to increase strictly.
    moved = np.concatenate(([True], np.diff(arc) > 0))
    # The small slack keeps rounding from adding a second last point when the length is a multiple.
    at = np.arange(np.ceil(length / spacing - 1e-6)) * spacing
    inner = np.column_stack([np.interp(at, arc[moved], path[moved, axis]) for axis in (0, 1)])
    return np.concatenate([inner, path[-1:]])


def emd(path_a: FloatArray, path_b: FloatArray) -> float:
    """Earth mover's distance in metres: each path, resampled, spreads one unit of mass evenly."""
    return transport(cdist(resample(path_a), resample(path_b)))


@compiled()
def dtw(distances: FloatArray) -> float:
    """Exact dynamic time warping: the cheapest monotone walk through ``distances`` from corner to corner."""
    rows, columns = distances.shape
    best = np.full(columns + 1, np.inf)  # costs up to the row above, overwritten from left to right
    best[0] = 0.0
    for i in range(rows):
        diagonal = best[0]
        best[0] = np.inf
        for j in range(columns):
            above = best[j + 1]
            best[j + 1] = distances[i, j] + min(diagonal, above, best[j])
            diagonal = above
    return float(best[columns])


def transport(distances: FloatArray) -> float:
    """Exact optimal transport between two paths, each of one unit of mass, from their points' ``distances``."""
    os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")  # numpy is enough, and loading torch takes seconds
    import ot  # still takes a second, which no other command should wait for

    cost, log = ot.emd2([], [], distances, numItermax=_PIVOTS, log=True)
    if log["warning"] is not None:
        raise RuntimeError(f"optimal transport of {distances.shape} points is not optimal: {log['warning']}")
    return max(0.0, float(cost))


def arc_lengths(path: FloatArray) -> FloatArray:
    """Length of the path up to each of its points (N,)."""
    with np.errstate(over="ignore"):  # absurd coordinates give an infinite length, refused by resample
        steps = np.diff(path, axis=0)
        return np.concatenate(([0.0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))))


def checked_path(path: FloatArray, name: str = "path") -> FloatArray:
    """The path as an array, if it is one."""
    try:
        points = np.asarray(path, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the {name} is not an array of numbers") from error
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise ValueError(f"the {name} has shape {points.shape}; it must be (N, 2) with N at least 1")
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        raise ValueError(f"point {int(np.argmin(finite))} of the {name} is not finite")
    return points
