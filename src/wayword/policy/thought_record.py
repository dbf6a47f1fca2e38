"""The record of a thought: every number a policy saw, inferred and decided, as plain values for JSON.

Big arrays are sparse or rounded. Cells of the two distributions are [row, column, p] on the prediction grid, those of
world masks [row, column, value] on the world grid (``wayword.mapping.grid``); cells below ``LEAST`` and the pixels
of masks are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.mapping.grid import PREDICTION_CELLS, UNOBSERVED, prediction_centres, to_world

if TYPE_CHECKING:
    from wayword.policy.fspvn import Thought

LEAST = 0.001


def thought_record(thought: Thought) -> dict[str, Any]:
    """One step of one drone."""
    grounding = thought.grounding
    return {
        "boxes": _plain(grounding.boxes, 1),
        "p_box": _plain(grounding.p_box),
        "p_object_of_box": _plain(grounding.p_object_of_box),
        "p_object_of_reference": _plain(grounding.p_object_of_reference),
        "alignment": _plain(grounding.alignment),
        "footprints": _plain(thought.footprints, 3),
        "references": [sparse(mask) for mask in thought.references],
        "all_objects": sparse(thought.all_objects),
        "coverage": tenths(thought.coverage),
        "d_p": _distribution(thought.distributions[0], thought.start),
        "d_g": _distribution(thought.distributions[1], thought.start),
    }


def _distribution(row: NDArray[np.float32], start: NDArray[np.float64]) -> dict[str, Any]:
    grid = row[:UNOBSERVED].reshape(PREDICTION_CELLS, PREDICTION_CELLS)
    at = np.unravel_index(int(grid.argmax()), grid.shape)
    x, y = to_world(prediction_centres()[at], start).tolist()
    peak = {"x": round(x, 3), "y": round(y, 3), "p": round(float(grid[at]), 4)}
    return {"unobserved": round(float(row[UNOBSERVED]), 4), "peak": peak, "cells": sparse(grid)}


def sparse(grid: NDArray[np.float32]) -> list[list[float]]:
    """[row, column, value] of the cells of at least ``LEAST``."""
    rows, columns = np.nonzero(grid >= LEAST)
    values = np.round(grid[rows, columns].astype(np.float64), 4)
    return [[int(i), int(j), float(v)] for i, j, v in zip(rows, columns, values, strict=True)]


def tenths(grid: NDArray[np.float32]) -> list[str]:
    """A grid in [0, 1] as one text of digits per row, 0 to 9 tenths, first row first."""
    digits = np.clip(np.floor(grid * 10), 0, 9).astype(int)
    return ["".join(map(str, row)) for row in digits.tolist()]


def _plain(values: ArrayLike, digits: int = 4) -> list[Any]:
    result: list[Any] = np.round(np.asarray(values, np.float64), digits).tolist()
    return result
