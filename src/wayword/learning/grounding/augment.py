"""Random changes of colour and sharpness, drawn for each image of a batch.

images   (N, 3, H, W)   float32, colour in [-1, 1]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]


def recolour(images: FloatArray, rng: np.random.Generator, strength: float = 1.0, blurred: float = 0.3) -> FloatArray:
    """Brightness, contrast, white balance and saturation, blur for a share of the images, then noise."""
    n = len(images)

    def around(spread: float, *shape: int) -> FloatArray:
        return np.exp(rng.uniform(-spread, spread, (n, *shape)) * strength).astype(np.float32)

    balance = around(0.06, 3)[:, :, None, None]
    gain = around(0.22, 1)[:, :, None, None]
    saturation = around(0.25, 1)[:, :, None, None]
    x = (images + 1) * np.float32(0.5) * gain * balance
    grey = x.mean(axis=1, keepdims=True)
    x = grey + (x - grey) * saturation
    middle = x.mean(axis=(1, 2, 3), keepdims=True)
    x = middle + (x - middle) * around(0.2, 1)[:, :, None, None]
    for k in np.flatnonzero(rng.random(n) < blurred):
        x[k] = _blur(x[k], np.float32(rng.uniform(0.05, 0.25)))
    noisy = np.flatnonzero(rng.random(n) < 0.5)
    if len(noisy):
        level = rng.uniform(0, 0.02, (len(noisy), 1, 1, 1)).astype(np.float32)
        x[noisy] += rng.standard_normal(x[noisy].shape, dtype=np.float32) * level
    result: FloatArray = np.clip(x, 0, 1) * np.float32(2) - np.float32(1)
    return result


def _blur(image: FloatArray, side: np.float32) -> FloatArray:
    """Three-tap blur along rows and columns, weights side, 1 - 2 side, side."""
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1)), mode="edge")
    rows = padded[:, 1:-1] * (1 - 2 * side) + (padded[:, :-2] + padded[:, 2:]) * side
    return np.asarray(rows[:, :, 1:-1] * (1 - 2 * side) + (rows[:, :, :-2] + rows[:, :, 2:]) * side, np.float32)
