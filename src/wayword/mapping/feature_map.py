"""The semantic map of PVN2: what every place on the ground looks like, by leaky integration of projected features.

    F       (C, h, w)       features of one picture, coarser than the picture itself
    F^W     (C, 32, 32)     the same on the world grid (``wayword.mapping.projection``)
    o       (32, 32)        how much of a cell's centre is in view, 0 to 1
    A, w                    running sums of features and of views
    S^W     (C, 32, 32)     semantic map, 0 where nothing was in view yet

    A <- A + rate o (F^W / o - A)        w <- w + rate o (1 - w)        S^W = A / w

So S^W is a mean of all views of a place that forgets a fifth of the past with each of them (rate 0.2, as released).
Without the division a place seen once would look like a faint version of itself seen often: in the release the first
frame of a flight counts whole, and what comes into view later begins at a fifth.

As in the paper's FsPVN everything is taken to lie on the ground, so tall things are smeared out behind their base.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.mapping.grid import WORLD_CELLS
from wayword.mapping.observability import add_coverage
from wayword.mapping.projection import project_masks

LEAK = 0.2
"""How much of the past a new view replaces."""
LEAST_VIEW = 1e-6
"""A cell with less of a view has none."""


def feature_camera(camera: Camera, height: int, width: int) -> Camera:
    """The view of ``camera`` in the coarser pixels of its features."""
    return replace(camera, width=width, height=height)


class FeatureMap:
    """The semantic map of one drone for one instruction, and what it has observed."""

    def __init__(self, channels: int, camera: Camera, rate: float = LEAK) -> None:
        self.camera, self.rate = camera, rate
        self.coverage = np.zeros((WORLD_CELLS, WORLD_CELLS), np.float32)
        """Observability, as FsPVN has it."""
        self._sums = np.zeros((channels + 1, WORLD_CELLS, WORLD_CELLS), np.float32)

    def update(self, features: NDArray[np.float32], pose: ArrayLike) -> None:
        """Add what one picture shows, as features (C, h, w), taken from ``pose`` (6,)."""
        channels = len(self._sums) - 1
        if features.ndim != 3 or len(features) != channels:
            raise WaywordError(f"features must be ({channels}, h, w), not {features.shape}")
        height, width = features.shape[1:]
        # A layer of ones is projected with the features: beyond the border it fades as they do, so it is o.
        layers = np.concatenate([features, np.ones((1, height, width), np.float32)])
        ground = project_masks(layers, pose, feature_camera(self.camera, height, width))
        self._sums += np.float32(self.rate) * (ground - ground[-1] * self._sums)
        add_coverage(self.coverage, pose, self.camera)

    @property
    def semantic(self) -> NDArray[np.float32]:
        """S^W (C, 32, 32)."""
        views = self._sums[-1]
        result: NDArray[np.float32] = np.where(views > LEAST_VIEW, self._sums[:-1] / np.maximum(views, LEAST_VIEW), 0.0)
        return result
