"""Overlap of boxes, and non-maximum suppression.

b   (K, 4)   boxes x0, y0, x1, y1 in pixels, x1 and y1 exclusive
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def iou(first: ArrayLike, second: ArrayLike) -> NDArray[np.float32]:
    """Intersection over union of every box of ``first`` (A) with every box of ``second`` (B): (A, B)."""
    a = np.asarray(first, dtype=np.float32).reshape(-1, 1, 4)
    b = np.asarray(second, dtype=np.float32).reshape(1, -1, 4)
    low, high = np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])
    overlap = np.maximum(high - low, 0).prod(axis=2)
    areas = np.maximum(a[..., 2:] - a[..., :2], 0).prod(axis=2) + np.maximum(b[..., 2:] - b[..., :2], 0).prod(axis=2)
    result: NDArray[np.float32] = overlap / np.maximum(areas - overlap, np.float32(1e-9))
    return result


def nms(boxes: ArrayLike, scores: ArrayLike, threshold: float, most: int) -> NDArray[np.int64]:
    """Indices of at most ``most`` boxes, best first, none overlapping a better one by more than ``threshold``."""
    order = np.argsort(-np.asarray(scores), kind="stable")
    overlaps = iou(boxes, boxes)
    best: list[int] = []
    for k in order:
        if all(overlaps[k, j] <= threshold for j in best):
            best.append(int(k))
            if len(best) == most:
                break
    return np.array(best, dtype=np.int64)
