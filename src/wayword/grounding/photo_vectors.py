"""What photographs show, as vectors of a network that has seen a million of them: EfficientNet-Lite0 from ImageNet.

    I         (H, W, 3)      uint8 photo
    b         (K, 4)         boxes in it
    vectors   (K, 1280)      unit length; two photos of one thing have a cosine near 1

Where seconds do not matter (`wayword teach`) it tells things in photographs apart far better than ImgEmb, which is made
for what a drone sees in 32 x 32 pixels within a millisecond. It never flies. ``photo_weights/`` holds it with its
source and licence (Apache-2.0).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.grounding.backend import Network, OnnxNetwork
from wayword.grounding.crops import crop_and_resize, square
from wayword.grounding.image_metric import MARGIN
from wayword.weight_folder import WeightFolder

PHOTO_WEIGHTS = Path(__file__).parent / "photo_weights"
SCHEMA = 1
SIDE, DIMENSION = 96, 1280
"""Pixels across a crop, and length of its vector."""


class PhotoEmbedder:
    """Runs the network on boxes of a photo."""

    dimension = DIMENSION

    def __init__(self, network: Network) -> None:
        self.network = network

    @staticmethod
    def load(weights: Path = PHOTO_WEIGHTS) -> PhotoEmbedder:
        """The one that ships."""
        return PhotoEmbedder(OnnxNetwork(*WeightFolder.read(weights, SCHEMA).file("backbone.onnx")))

    def __call__(self, image: NDArray[np.uint8], boxes: ArrayLike) -> NDArray[np.float32]:
        """Vectors (K, D) of boxes (K, 4)."""
        squares = square(boxes, MARGIN)
        if not len(squares):
            return np.zeros((0, self.dimension), np.float32)
        crops = crop_and_resize(image[None], np.zeros(len(squares), np.int64), squares, (SIDE, SIDE))
        (vectors,) = self.network(crops)
        unit: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return unit
