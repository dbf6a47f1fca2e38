"""Crops of known objects out of labelled frames: stand-ins for a database's photos, and the queries against it.

crops   (K, 3, 32, 32)   squares around true boxes, as ``wayword teach`` stores them
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayword.grounding.crops import crop_and_resize, square
from wayword.grounding.image_metric import MARGIN
from wayword.learning.grounding.data import Labelled
from wayword.task import IMAGE_HEIGHT, IMAGE_WIDTH


def good_views(data: Labelled, side_px: float = 14.0, visible: float = 0.6) -> NDArray[np.int64]:
    """Rows that show an object well enough to be a photo in a database: large, whole, not cut off."""
    size = data.boxes[:, 2:] - data.boxes[:, :2]
    filled = data.pixels / np.maximum(size.prod(axis=1), 1)
    inside = (data.boxes[:, 0] > 0) & (data.boxes[:, 2] < IMAGE_WIDTH) & (data.boxes[:, 3] < IMAGE_HEIGHT)
    return np.flatnonzero((size.max(axis=1) >= side_px) & inside & (filled > 0.2) & (data.visible() >= visible))


def by_identity(data: Labelled, rows: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
    """Rows of each object."""
    return {int(o): rows[data.identity[rows] == o] for o in np.unique(data.identity[rows])}


def row_crops(data: Labelled, rows: NDArray[np.int64], boxes: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """The crops of rows, or of other ``boxes`` in the same frames."""
    frames, which = np.unique(data.frame[rows], return_inverse=True)
    return crop_and_resize(data.images(frames), which, square(data.boxes[rows] if boxes is None else boxes, MARGIN))
