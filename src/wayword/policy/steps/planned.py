"""A planned way as visitation distributions, so that film, page and trace show it as they show FsPVN's d^p and d^g."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED, to_frame
from wayword.policy.steps.follow import along, length_of

_WIDTH_CELLS = 1.0
"""Standard deviation of a point on the grid."""


def planned_distributions(way: NDArray[np.float64] | None, start: NDArray[np.float64]) -> NDArray[np.float32]:
    """(2, 4097) d^p along a way (P, 2) and d^g at its end, seen from ``start``; without one, "not yet observed"."""
    result = np.zeros((2, UNOBSERVED + 1), np.float32)
    if way is None or len(way) < 2:
        result[:, UNOBSERVED] = 1.0
        return result
    points = [along(way, distance) for distance in np.arange(0.0, length_of(way), CELL_M)] + [tuple(way[-1])]
    for row, some in enumerate((points, points[-1:])):
        total = _spread(to_frame(np.array(some), start))
        if total.sum() <= 0:  # off the grid
            result[row, UNOBSERVED] = 1.0
            continue
        result[row, :UNOBSERVED] = (total / total.sum()).ravel()
    return result


def _spread(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of small normal distributions at points (P, 2) of the start's frame, on the prediction grid."""
    axis = np.arange(PREDICTION_CELLS)
    cells = points / CELL_M + (PREDICTION_CELLS - 1) / 2
    u = np.exp(-((axis[None] - cells[:, :1]) ** 2) / (2 * _WIDTH_CELLS**2))
    v = np.exp(-((axis[None] - cells[:, 1:]) ** 2) / (2 * _WIDTH_CELLS**2))
    total: NDArray[np.float64] = np.einsum("pi,pj->ij", v, u)
    return total
