"""Refinement: from a box to a mask that follows the object's outline.

I[b]   (K, 3, 32, 32)   regions around the boxes, stretched to squares, colour in [-1, 1]
M_b    (K, 72, 128)     probability that a pixel belongs to the most prominent object of the region
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.grounding.backend import Network
from wayword.grounding.crops import crop_and_resize, expand, paste

MARGIN = 0.1
"""Border around a box, as a share of its width and height: proposals may be a little too small."""


class Refiner:
    """Runs the network and pastes its masks into the frame."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def __call__(self, images: NDArray[np.uint8], which: ArrayLike, boxes: ArrayLike) -> NDArray[np.float32]:
        """Masks (K, H, W) of box k of frame ``which[k]``."""
        height, width = images.shape[1:3]
        regions = expand(boxes, MARGIN)
        if not len(regions):
            return np.zeros((0, height, width), np.float32)
        (logits,) = self.network(crop_and_resize(images, which, regions))
        with np.errstate(over="ignore"):
            masks = np.float32(1) / (np.float32(1) + np.exp(-logits))
        return paste(masks, regions, height, width)
