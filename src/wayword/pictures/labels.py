"""Where names go on a map: beside their objects, clear of each other, of the objects and of what must stay visible.

A box is (4,) left, top, right, bottom in pixels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]


def place_labels(
    solid: Sequence[Boxes], sizes: Sequence[NDArray[np.float64]], avoid: NDArray[np.float64], size_px: int
) -> list[Boxes]:
    """Boxes for labels of the given sizes beside solid boxes; a few rounds of moving each to its best place."""
    candidates = [_around(box, size, size_px) for box, size in zip(solid, sizes, strict=True)]
    fixed = []
    for own, boxes in enumerate(candidates):
        cost = 0.02 * np.hypot(*(_middle(boxes) - _middle(solid[own][None])).T)
        for other, obstacle in enumerate(solid):
            cost = cost + _overlap(boxes, obstacle) * (0.004 if other == own else 0.02)
        for x, y in avoid:
            inside = (boxes[:, 0] <= x) & (x <= boxes[:, 2]) & (boxes[:, 1] <= y) & (y <= boxes[:, 3])
            cost = cost + 0.5 * inside
        fixed.append(cost)
    choice = [int(np.argmin(cost)) for cost in fixed]
    for _, own in itertools.product(range(4), range(len(solid))):
        cost = fixed[own].copy()
        for other, place in enumerate(choice):
            if other != own:
                cost += 0.2 * _overlap(candidates[own], candidates[other][place])
        choice[own] = int(np.argmin(cost))
    return [boxes[place] for boxes, place in zip(candidates, choice, strict=True)]


def _around(box: Boxes, size: NDArray[np.float64], size_px: int) -> Boxes:
    """Candidate boxes (K, 4) in rings about a solid box, moved inside the picture."""
    middle, half = _middle(box[None])[0], (box[2:] - box[:2]) / 2
    corners = []
    for gap, turn in itertools.product((1.0, 8.0, 18.0, 30.0), np.arange(16) * math.pi / 8):
        way = np.array([math.cos(turn), -math.sin(turn)])
        # Far enough along the direction that the two boxes just part.
        need = (half + size / 2 + gap) / np.maximum(np.abs(way), 1e-9)
        corners.append(middle + way * need.min() - size / 2)
    low = np.clip(np.array(corners), 2, np.maximum(size_px - 2 - size, 2))
    return np.concatenate([low, low + size], axis=1)


def _middle(boxes: Boxes) -> NDArray[np.float64]:
    return (boxes[:, :2] + boxes[:, 2:]) / 2


def _overlap(boxes: Boxes, other: Boxes) -> NDArray[np.float64]:
    """Common area of each of the boxes (K, 4) with another."""
    common = np.minimum(boxes[:, 2:], other[2:]) - np.maximum(boxes[:, :2], other[:2])
    area: NDArray[np.float64] = np.maximum(common, 0).prod(axis=1)
    return area


def solid_box(mask: NDArray[np.bool_], centre: NDArray[np.float64]) -> Boxes:
    """Left, top, right, bottom of what is drawn of an object; a point if all of it is hidden."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return np.concatenate([centre, centre])
    return np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], dtype=np.float64)
