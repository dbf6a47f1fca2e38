"""Makes drawn objects look as if the camera of the photographs had taken them.

A drawn object is sharp, clean and in true colours; a photograph is not. So the object layer gets a white balance, an
exposure and a vignette of its own, then it is blurred together with its outline, and what it covers gets the noise that
was measured in the photographs. What cannot be measured in pictures of an empty place is drawn at random, widely.

    layer    (H, W, 4)   light of the objects times how much of the pixel they fill, and that share
    factor   (H, W)      what the objects' shadows leave of the photograph's light
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import convolve, gaussian_filter

from wayword.compiled import compiled
from wayword.learning.ar.config import PhotoConfig
from wayword.sim.render.look import Light

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
_BLOCK = 8
_TINT = 0.06
"""Red and blue may also be off by this share for themselves: few lamps are on the line from warm to cold."""
_LAPLACE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
"""Blind to even and evenly changing light; noise of standard deviation s leaves it with 6 s."""


@dataclass(frozen=True)
class PhotoStyle:
    """How the objects of one frame are taken."""

    gains: tuple[float, float, float]
    vignette: float
    blur_px: float
    noise: float
    """Standard deviation in levels."""
    shadow_px: float = 0.0
    """How much softer than the objects their shadows are, standard deviation."""


def noise_level(photos: Bytes, most: int = 200) -> float:
    """Standard deviation of the noise of photographs (N, H, W, 3), in levels (Immerkaer's estimate).

    Texture counts as noise too, so each picture is judged by the smoothest fifth of its blocks.
    """
    levels = []
    for photo in photos[:: max(1, len(photos) // most)]:
        rows, columns = photo.shape[0] // _BLOCK, photo.shape[1] // _BLOCK
        edges = np.abs(np.stack([convolve(photo[..., c].astype(np.float32), _LAPLACE) for c in range(3)], axis=2))
        cut = edges[: rows * _BLOCK, : columns * _BLOCK].reshape(rows, _BLOCK, columns, _BLOCK, 3)
        levels.append(np.quantile(cut.mean(axis=(1, 3, 4)), 0.2))
    return float(np.median(levels)) * math.sqrt(math.pi / 2) / 6


def random_style(noise: float, rng: np.random.Generator, config: PhotoConfig) -> PhotoStyle:
    """A style around what was measured."""
    exposure, warmth, red, blue = rng.uniform(-1, 1, 4)
    blur, vignette, louder = rng.random(3)
    gain, balance = (1 + config.exposure) ** exposure, (1 + config.white_balance) ** warmth
    return PhotoStyle(
        (gain * balance * (1 + _TINT) ** red, gain, gain / balance * (1 + _TINT) ** blue),
        config.vignette * vignette,
        config.blur_px * blur,
        noise * (1 + config.noise_spread * (2 * louder - 1)),
        config.shadow_blur_px * float(rng.random()) if config.shadow_blur_px else 0.0,
    )


def photo_light(rng: np.random.Generator) -> Light:
    """A light of any room: lower and harder than those of the arena may be."""
    ambient = rng.uniform(0.30, 0.75)
    return Light(
        azimuth_deg=float(rng.uniform(0, 360)),
        elevation_deg=float(rng.uniform(15, 80)),
        ambient=float(ambient),
        diffuse=float(rng.uniform(0.95, 1.4) - ambient),
        shadows=float(rng.uniform(0.4, 1.0)),
    )


def take_photo(photo: Bytes, layer: Floats, factor: Floats, style: PhotoStyle, rng: np.random.Generator) -> Bytes:
    """The photograph with the objects in it."""
    height, width, _ = photo.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    square = ((x + 0.5 - width / 2) ** 2 + (y + 0.5 - height / 2) ** 2) * (4 / (width**2 + height**2))
    layer = layer.copy()
    layer[..., :3] *= np.asarray(style.gains, np.float32) * (1 - style.vignette * square**2)[..., None]
    np.minimum(layer[..., :3], 255 * layer[..., 3:], out=layer[..., :3])
    if style.blur_px > 0.2:
        layer = gaussian_filter(layer, (style.blur_px, style.blur_px, 0), mode="nearest", truncate=3.0)
    soft = math.hypot(style.blur_px, style.shadow_px)
    if soft > 0.2:
        factor = gaussian_filter(factor, soft, mode="nearest", truncate=3.0)
    share = layer[..., 3:]
    grain = rng.standard_normal(photo.shape, dtype=np.float32) * np.float32(style.noise)
    mixed = photo * (factor[..., None] * (1 - share)) + layer[..., :3] + grain * share
    result: Bytes = np.clip(mixed + np.float32(0.5), 0, 255).astype(np.uint8)
    return result


@compiled(nogil=True)
def separate(rendering, empty, owner, samples, layer, factor, ids):  # type: ignore[no-untyped-def]
    """Object layer, shadow factor and ids of one frame with ``samples`` samples per pixel and axis."""
    height, width = ids.shape
    one, share = np.float32(1.0), np.float32(1.0 / (samples * samples))
    for y in range(height):
        for x in range(width):
            red = green = blue = filled = shade = np.float32(0.0)
            best, votes = 0, 0
            for j in range(y * samples, (y + 1) * samples):
                for i in range(x * samples, (x + 1) * samples):
                    k = owner[j, i]
                    if k > 0:
                        red += np.float32(rendering[j, i, 0])
                        green += np.float32(rendering[j, i, 1])
                        blue += np.float32(rendering[j, i, 2])
                        filled += one
                    else:
                        lit = np.float32(empty[j, i, 0]) + np.float32(empty[j, i, 1]) + np.float32(empty[j, i, 2])
                        now = (
                            np.float32(rendering[j, i, 0])
                            + np.float32(rendering[j, i, 1])
                            + np.float32(rendering[j, i, 2])
                        )
                        shade += min(now / max(lit, one), one)
                    count = 0
                    for jj in range(y * samples, (y + 1) * samples):
                        for ii in range(x * samples, (x + 1) * samples):
                            count += owner[jj, ii] == k
                    if count > votes:
                        best, votes = k, count
            ids[y, x] = best
            layer[y, x, 0], layer[y, x, 1], layer[y, x, 2] = red * share, green * share, blue * share
            layer[y, x, 3] = filled * share
            rest = np.float32(samples * samples) - filled
            factor[y, x] = shade / rest if rest > 0 else one
