"""The two grids every map lives on, and the three frames between them.

World frame   x, y in metres; the arena is [0, 4.7] x [0, 4.7]; yaw counter-clockwise from +x.
Start frame   u forward and v left in metres, from where and how the drone stood when the instruction was given.
Ego frame     the same, from where and how the drone stands now.

M^W, S^W      (32, 32)   world grid: cell [row, col] has its centre at x = (col + 0.5) c, y = (row + 0.5) c
d^p, d^g      (64, 64)   prediction grid: cell [row, col] has its centre at u = (col - 31.5) c, v = (row - 31.5) c
c             0.147 m    4.7 m / 32, the same on both grids

The prediction grid is 9.4 m wide: the whole arena lies on it from nearly every start (from a corner, the far one
does not; no demonstration needs it). Masks are accumulated on the world grid and resampled once to the prediction
grid; probabilities are made on the prediction grid and never leave it (the release resamples logits and its
probabilities drift).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.compiled import compiled
from wayword.task import ARENA_M

WORLD_CELLS = 32
PREDICTION_CELLS = 64
CELL_M = ARENA_M / WORLD_CELLS
UNOBSERVED = PREDICTION_CELLS * PREDICTION_CELLS
"""Index of "not yet observed" behind the cells of a flattened visitation distribution."""


def to_frame(points: ArrayLike, pose: ArrayLike) -> NDArray[np.float64]:
    """World points (..., 2) as (u, v) in the frame of ``pose`` (x, y, yaw)."""
    x, y, yaw = np.asarray(pose, dtype=np.float64)
    offset = np.asarray(points, dtype=np.float64) - (x, y)
    c, s = np.cos(yaw), np.sin(yaw)
    result: NDArray[np.float64] = offset @ np.array([[c, -s], [s, c]])
    return result


def to_world(points: ArrayLike, pose: ArrayLike) -> NDArray[np.float64]:
    """Points (..., 2) in the frame of ``pose`` (x, y, yaw) as world points."""
    x, y, yaw = np.asarray(pose, dtype=np.float64)
    c, s = np.cos(yaw), np.sin(yaw)
    result: NDArray[np.float64] = np.asarray(points, dtype=np.float64) @ np.array([[c, s], [-s, c]]) + (x, y)
    return result


def frame_pose(pose: ArrayLike) -> NDArray[np.float64]:
    """(x, y, yaw) of a full pose (x, y, z, roll, pitch, yaw)."""
    full = np.asarray(pose, dtype=np.float64)
    return full[[0, 1, 5]]


def prediction_centres() -> NDArray[np.float64]:
    """(64, 64, 2): u, v of every cell of the prediction grid."""
    axis = (np.arange(PREDICTION_CELLS) - (PREDICTION_CELLS - 1) / 2) * CELL_M
    v, u = np.meshgrid(axis, axis, indexing="ij")
    return np.stack([u, v], axis=2)


def world_centres() -> NDArray[np.float64]:
    """(32, 32, 2): x, y of every cell of the world grid."""
    axis = (np.arange(WORLD_CELLS) + 0.5) * CELL_M
    y, x = np.meshgrid(axis, axis, indexing="ij")
    return np.stack([x, y], axis=2)


def world_to_prediction(maps: NDArray[np.float32], pose: ArrayLike, outside: float = 0.0) -> NDArray[np.float32]:
    """Maps (C, 32, 32) on the world grid, resampled to (C, 64, 64) in the frame of ``pose`` (x, y, yaw).

    Bilinear; cells beyond the arena are ``outside``.
    """
    x, y, yaw = (float(value) for value in np.asarray(pose, dtype=np.float64))
    bordered = np.full((len(maps), WORLD_CELLS + 2, WORLD_CELLS + 2), outside, np.float32)
    bordered[:, 1:-1, 1:-1] = maps
    result = np.empty((len(maps), PREDICTION_CELLS, PREDICTION_CELLS), np.float32)
    _resample(bordered, x / CELL_M + 0.5, y / CELL_M + 0.5, np.cos(yaw), np.sin(yaw), np.float32(outside), result)
    return result


@compiled()
def _resample(  # type: ignore[no-untyped-def]
    maps, x, y, c, s, outside, result
):  # pragma: no cover - compiled
    """Bilinear samples of maps with a border of one cell at the centres of the prediction grid."""
    channels, size, last = result.shape[0], result.shape[1], maps.shape[1] - 1
    for i in range(size):
        v = i - (size - 1) / 2
        for j in range(size):
            u = j - (size - 1) / 2
            column, row = x + c * u - s * v, y + s * u + c * v
            if column < 0 or row < 0 or column >= last or row >= last:
                for k in range(channels):
                    result[k, i, j] = outside
                continue
            j0, i0 = int(column), int(row)
            fj, fi = np.float32(column - j0), np.float32(row - i0)
            w11 = fi * fj
            w10, w01 = fi - w11, fj - w11
            w00 = np.float32(1) - fi - w01
            for k in range(channels):
                result[k, i, j] = (
                    w00 * maps[k, i0, j0]
                    + w01 * maps[k, i0, j0 + 1]
                    + w10 * maps[k, i0 + 1, j0]
                    + w11 * maps[k, i0 + 1, j0 + 1]
                )
