"""What a real lens and mount do to a frame: barrel distortion, and a camera that sits a little askew.

x, y    a direction of the camera that takes the picture, right and down, at depth 1
r       sqrt(x^2 + y^2);  the picture shows it at  r_d = r (1 + k1 r^2 + k2 r^4)

The scene is drawn with a straight, wider and finer camera that shares the optical axis; every pixel of the picture is
the mean of four bilinear samples of it. That is linear, so it is one sparse matrix, made once. Ids and depth take the
sample nearest to the pixel's middle: their mean would mean nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import Frames, RenderConfig, Renderer, Scene

_FINER = 2
"""Pixels of the straight camera per pixel of the picture, along each side."""


@dataclass(frozen=True)
class LensConfig:
    """How far lens and mount are from what is believed of them; nothing by default."""

    k1: float = 0.0
    """Below 0 bends straight lines outwards (barrel), as wide lenses do."""
    k2: float = 0.0
    tilt_pitch_deg: float = 0.0
    """The camera looks this much further down than its mount angle says."""
    tilt_roll_deg: float = 0.0
    """Positive: its right side is down."""

    def __post_init__(self) -> None:
        if not all(math.isfinite(getattr(self, item.name)) for item in fields(self)):
            raise WaywordError("a lens needs finite numbers")
        if abs(self.k1) > 0.5 or abs(self.k2) > 0.5 or max(abs(self.tilt_pitch_deg), abs(self.tilt_roll_deg)) > 30:
            raise WaywordError("a lens needs k1 and k2 within 0.5 and tilts within 30 degrees")

    @property
    def identity(self) -> bool:
        """Whether pictures are those of the straight camera."""
        return self == LensConfig()


class ThroughLens(Renderer):
    """A renderer whose pictures were taken through a lens; ``camera`` is what its pixels are believed to be."""

    def __init__(self, bank: MeshBank, camera: Camera, lens: LensConfig, config: RenderConfig | None) -> None:
        x, y = _directions(camera, lens, 1)
        focal, margin = _FINER * camera.focal_px, 2
        wide = 2 * (math.ceil(np.abs(x).max() * focal) + margin)
        high = 2 * (math.ceil(np.abs(y).max() * focal) + margin)
        straight = replace(
            camera,
            width=wide,
            height=high,
            hfov_deg=math.degrees(2 * math.atan(wide / 2 / focal)),
            mount_pitch_deg=camera.mount_pitch_deg + lens.tilt_pitch_deg,
        )
        super().__init__(bank, straight, config)
        self.distorted = camera
        self._nearest = _pixel(x * focal + wide / 2, wide) + wide * _pixel(y * focal + high / 2, high)
        self._mean = _mixture(*_directions(camera, lens, 2), focal, straight, camera)

    def render(self, scenes: Sequence[Scene], poses: ArrayLike) -> Frames:
        """Frames of the believed camera's size, as the real one takes them."""
        frames = super().render(scenes, poses)
        n, h, w = len(frames.rgb), self.distorted.height, self.distorted.width
        rgb = np.empty((n, h, w, 3), np.uint8)
        for i in range(n):
            flat = self._mean @ frames.rgb[i].reshape(-1, 3).astype(np.float32)
            rgb[i] = (flat + np.float32(0.5)).astype(np.uint8).reshape(h, w, 3)
        ids = frames.ids.reshape(n, -1)[:, self._nearest].reshape(n, h, w)
        return Frames(rgb, ids, frames.depth.reshape(n, -1)[:, self._nearest].reshape(n, h, w))


def make_renderer(
    bank: MeshBank, camera: Camera, config: RenderConfig | None = None, lens: LensConfig | None = None
) -> Renderer:
    """A renderer with a lens, or the plain one where there is none."""
    return Renderer(bank, camera, config) if lens is None or lens.identity else ThroughLens(bank, camera, lens, config)


def _directions(camera: Camera, lens: LensConfig, per_side: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where the straight camera meets each sample of the picture: x, y at depth 1, in the order of the pixels."""
    offsets = (np.arange(per_side) + 0.5) / per_side
    rows, columns, down, across = np.meshgrid(
        np.arange(camera.height), np.arange(camera.width), offsets, offsets, indexing="ij"
    )
    points = np.stack([columns + across - camera.width / 2, rows + down - camera.height / 2]).reshape(2, -1)
    points = points.astype(np.float64) / camera.focal_px
    x, y = points * _undistorted(np.hypot(*points), lens)
    roll = math.radians(lens.tilt_roll_deg)
    return x * math.cos(roll) - y * math.sin(roll), x * math.sin(roll) + y * math.cos(roll)


def _undistorted(radii: NDArray[np.float64], lens: LensConfig) -> NDArray[np.float64]:
    """r / r_d for radii r_d in the picture, by Newton's method."""
    r = radii.copy()
    for _ in range(20):
        r2 = r * r
        slope = 1 + r2 * (3 * lens.k1 + 5 * lens.k2 * r2)
        if slope.min() <= 0.05:
            raise WaywordError(f"a lens with k1 = {lens.k1:g} and k2 = {lens.k2:g} folds within the picture")
        r = r - (r * (1 + r2 * (lens.k1 + r2 * lens.k2)) - radii) / slope
    return np.asarray(r / np.maximum(radii, 1e-12))


def _pixel(place: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    return np.clip(np.floor(place), 0, size - 1).astype(np.int64)


def _mixture(
    x: NDArray[np.float64], y: NDArray[np.float64], focal: float, straight: Camera, distorted: Camera
) -> sparse.csr_matrix:
    """The matrix from the straight camera's pixels to the picture's."""
    column, row = x * focal + straight.width / 2 - 0.5, y * focal + straight.height / 2 - 0.5
    left, top = np.floor(column), np.floor(row)
    fx, fy = column - left, row - top
    pixels = distorted.width * distorted.height
    samples = len(x) // pixels
    target = np.repeat(np.arange(pixels), samples)
    data, source = [], []
    for dx, wx in ((0, 1 - fx), (1, fx)):
        for dy, wy in ((0, 1 - fy), (1, fy)):
            data.append(wx * wy / samples)
            source.append(_pixel(left + dx, straight.width) + straight.width * _pixel(top + dy, straight.height))
    entries = (np.concatenate(data).astype(np.float32), (np.tile(target, 4), np.concatenate(source)))
    return sparse.csr_matrix(entries, shape=(pixels, straight.width * straight.height))
