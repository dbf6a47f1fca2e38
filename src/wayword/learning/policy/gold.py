"""Gold visitation distributions f*(c): where the demonstration goes and ends, as far as it has been seen.

path          (P, 2)     x, y of the demonstration, world frame, metres
start         (3,)       x, y, yaw where the instruction was given: the frame of the prediction grid
M^W           (32, 32)   coverage in [0, 1] on the world grid
d^p, d^g      (2, 4097)  flattened prediction grid, then "not yet observed"; each row sums to 1

The paper's release draws binary cells and blurs them by a third of a cell; here every 2 cm of the path is
a Gaussian of ``sigma_cells``, so that the target moves smoothly with the path and is as wide as a prediction can
be right. Each point counts as observed by the coverage at its own place, so blur leaks nothing across the edge
of what was seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.compiled import compiled
from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED, WORLD_CELLS

SPACING_M = 0.02


def gold_distributions(
    path: ArrayLike,
    start_pose: ArrayLike,
    coverage: NDArray[np.float32],
    sigma_cells: float = 1.0,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """(2, 4097): gold d^p and d^g of a path, seen through the coverage (32, 32), in the frame of the start pose."""
    points = np.ascontiguousarray(path, np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
        raise ValueError(f"a path is (P, 2) finite world coordinates with P >= 1, not {points.shape}")
    if coverage.shape != (WORLD_CELLS, WORLD_CELLS):
        raise ValueError(f"coverage is ({WORLD_CELLS}, {WORLD_CELLS}), not {coverage.shape}")
    if not sigma_cells > 0:
        raise ValueError(f"sigma_cells is positive, not {sigma_cells}")
    x, y, yaw = (float(value) for value in np.asarray(start_pose, np.float64))
    result = np.empty((2, UNOBSERVED + 1), np.float32) if out is None else out
    observed = np.ascontiguousarray(coverage, np.float32)
    sigma = float(sigma_cells)
    write_distributions(points, points[-1], (x, y, np.cos(yaw), np.sin(yaw)), observed, sigma, sigma, result)
    return result


@compiled()
def write_distributions(  # type: ignore[no-untyped-def]
    path, goal, frame, coverage, sigma, goal_sigma, result
):  # pragma: no cover - compiled
    """Splat the resampled path into row 0 and the goal (2,) into row 1; ``frame`` is x, y, cos yaw, sin yaw."""
    result[:] = 0
    size = 2 * int(np.ceil(3 * max(sigma, goal_sigma))) + 1
    kernel_u, kernel_v = np.empty(size), np.empty(size)
    length = 0.0
    for k in range(len(path) - 1):
        length += np.hypot(path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1])
    count = int(np.ceil(length / SPACING_M - 1e-9)) + 1
    segment, arc, edge = 0, 0.0, 0.0
    if len(path) > 1:
        edge = np.hypot(path[1, 0] - path[0, 0], path[1, 1] - path[0, 1])
    for k in range(count):
        at = length * k / (count - 1) if count > 1 else 0.0
        while segment < len(path) - 2 and at > arc + edge:
            arc += edge
            segment += 1
            edge = np.hypot(path[segment + 1, 0] - path[segment, 0], path[segment + 1, 1] - path[segment, 1])
        share = min((at - arc) / edge, 1.0) if edge > 0 else 0.0
        px, py = path[segment, 0], path[segment, 1]
        if share > 0:
            px += share * (path[segment + 1, 0] - px)
            py += share * (path[segment + 1, 1] - py)
        _splat(px, py, 1.0 / count, frame, coverage, sigma, kernel_u, kernel_v, result[0])
    _splat(goal[0], goal[1], 1.0, frame, coverage, goal_sigma, kernel_u, kernel_v, result[1])
    for row in range(2):
        total = 0.0
        for k in range(UNOBSERVED):
            total += result[row, k]
        result[row, UNOBSERVED] = max(0.0, 1.0 - total)


@compiled()
def _splat(  # type: ignore[no-untyped-def]
    px, py, mass, frame, coverage, sigma, kernel_u, kernel_v, row
):  # pragma: no cover - compiled
    """Add the observed share of ``mass`` at a world point as a Gaussian; what falls off the grid is not observed."""
    mass *= _bilinear(coverage, px / CELL_M - 0.5, py / CELL_M - 0.5)
    if mass <= 0:
        return
    x, y, c, s = frame
    half, radius = (PREDICTION_CELLS - 1) / 2, int(np.ceil(3 * sigma))
    du, dv = (px - x) / CELL_M, (py - y) / CELL_M
    column, line = c * du + s * dv + half, -s * du + c * dv + half
    j0, i0 = int(np.floor(column + 0.5)), int(np.floor(line + 0.5))
    total_u, total_v = 0.0, 0.0
    for k in range(2 * radius + 1):
        kernel_u[k] = np.exp(-0.5 * ((j0 + k - radius - column) / sigma) ** 2)
        kernel_v[k] = np.exp(-0.5 * ((i0 + k - radius - line) / sigma) ** 2)
        total_u += kernel_u[k]
        total_v += kernel_v[k]
    mass /= total_u * total_v
    for a in range(2 * radius + 1):
        i = i0 + a - radius
        if i < 0 or i >= PREDICTION_CELLS:
            continue
        for b in range(2 * radius + 1):
            j = j0 + b - radius
            if 0 <= j < PREDICTION_CELLS:
                row[i * PREDICTION_CELLS + j] += mass * kernel_v[a] * kernel_u[b]


@compiled()
def _bilinear(grid, column, line):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """A sample of the world grid, the border repeated outwards: the wall side of a seen cell is seen."""
    last = grid.shape[0] - 1
    column, line = min(max(column, 0.0), float(last)), min(max(line, 0.0), float(last))
    j0, i0 = min(int(column), last - 1), min(int(line), last - 1)
    fj, fi = column - j0, line - i0
    top = (1 - fj) * grid[i0, j0] + fj * grid[i0, j0 + 1]
    bottom = (1 - fj) * grid[i0 + 1, j0] + fj * grid[i0 + 1, j0 + 1]
    return (1 - fi) * top + fi * bottom
