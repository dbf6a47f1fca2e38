"""ImgEmb: regions of an image as points of a metric space in which near means the same object.

I[b]   (K, 3, 32, 32)   squares around the boxes, colour in [-1, 1]
x      (K, D)           unit vectors
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.grounding.backend import Network
from wayword.grounding.crops import crop_and_resize, square

MARGIN = 0.05
"""Border around the longer side of a box, as a share of it."""


class ImageEmbedder:
    """Runs the network."""

    def __init__(self, network: Network, dimension: int) -> None:
        self.network, self.dimension = network, dimension

    def __call__(self, images: NDArray[np.uint8], which: ArrayLike, boxes: ArrayLike) -> NDArray[np.float32]:
        """Embeddings (K, D) of box k of frame ``which[k]``."""
        return self.embed(crop_and_resize(images, which, square(boxes, MARGIN)))

    def embed(self, crops: NDArray[np.float32]) -> NDArray[np.float32]:
        """Embeddings (K, D) of crops (K, 3, 32, 32)."""
        if not len(crops):
            return np.zeros((0, self.dimension), np.float32)
        return np.concatenate([self.network(crops[i : i + 256])[0] for i in range(0, len(crops), 256)])
