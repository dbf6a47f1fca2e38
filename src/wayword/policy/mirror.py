"""The world in a mirror: left for right on maps and distributions (``tokens.mirrored`` does the same to words).

An instruction and a map, both mirrored, mean the mirror image of where to fly. Stage 1 is trained on both and is asked
both ways at flight time: the two answers together are better than either.

The prediction grid is in the start frame: its rows run from right to left of the drone, (..., 64, 64).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayword.mapping.grid import PREDICTION_CELLS, UNOBSERVED


def mirrored_maps(maps: NDArray[np.float32]) -> NDArray[np.float32]:
    """Maps (..., C, 64, 64) with left and right exchanged; the last four channels are the boundaries."""
    flipped = maps[..., ::-1, :]
    return np.concatenate([flipped[..., :-2, :, :], flipped[..., -1:, :, :], flipped[..., -2:-1, :, :]], axis=-3)


def mirrored_distributions(distributions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Distributions (..., 4097) with left and right exchanged."""
    outer = distributions.shape[:-1]
    cells = distributions[..., :UNOBSERVED].reshape(*outer, PREDICTION_CELLS, PREDICTION_CELLS)[..., ::-1, :]
    return np.concatenate([cells.reshape(*outer, UNOBSERVED), distributions[..., UNOBSERVED:]], axis=-1)


def together(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    """What two opinions (..., 4097) agree on: their geometric mean, normalised."""
    both = np.sqrt(one * other)
    total = both.sum(axis=-1, keepdims=True)
    # Opinions that exclude each other say nothing together: then both are kept side by side.
    return np.where(total > 0, both / np.maximum(total, 1e-30), (one + other) / 2)
