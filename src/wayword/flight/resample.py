"""From the camera's pixels to those of its view: undistorted, levelled to the view's mount, 128 x 72.

Every pixel of the view is the mean of many samples of the camera's picture, weighted bilinearly. That is linear, so it
is one sparse matrix, made once: rows are the view's pixels, columns the camera's, and a whole row sums to 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.flight.calibration import Calibration

LEAST_COVER = 0.9
"""The camera must see this share of its view; the rest is black."""
_PER_SIDE = 8
"""Samples along each side of a pixel that decide whether it is seen."""


class Resampler:
    """Turns frames of one calibrated camera into those of its view."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration, self.view = calibration, calibration.view.at_model_size()
        self.matrix = _matrix(calibration, self.view)
        share_of_pixel = np.asarray(self.matrix.sum(axis=1)).ravel()
        self.cover = float(share_of_pixel.mean())
        """Share of the view that the camera sees."""
        if self.cover < LEAST_COVER:
            raise WaywordError(
                f"the camera sees only {100 * self.cover:.0f} % of its view ({self.view.hfov_deg:g} degrees across, "
                f"{self.view.mount_pitch_deg:g} down); make the view smaller, use a wider lens or correct its mount"
            )

    def __call__(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """One frame (H, W, 3) as the view's (72, 128, 3)."""
        c, view = self.calibration, self.view
        if pixels.shape != (c.height, c.width, 3):
            raise WaywordError(
                f"the camera delivers {pixels.shape[1]} x {pixels.shape[0]} pixels but was calibrated at "
                f"{c.width} x {c.height}; set that resolution or calibrate again"
            )
        flat = self.matrix @ pixels.reshape(-1, 3).astype(np.float32)
        result: NDArray[np.uint8] = np.clip(np.rint(flat), 0, 255).astype(np.uint8).reshape(view.height, view.width, 3)
        return result


def choose_view(calibration: Calibration) -> Camera:
    """The paper's view if the camera sees enough of it, else the widest that it sees all of, as it is mounted."""
    if _samples(calibration, Camera(), _PER_SIDE).share >= LEAST_COVER:
        return Camera()
    low, high = 1.0, 170.0
    while high - low > 0.01:
        middle = (low + high) / 2
        whole = _samples(calibration, _mounted(calibration, middle), _PER_SIDE).share == 1
        low, high = (middle, high) if whole else (low, middle)
    return _mounted(calibration, max(math.floor(10 * low) / 10, 1.0))


def _mounted(calibration: Calibration, hfov_deg: float) -> Camera:
    return Camera(hfov_deg=hfov_deg, mount_pitch_deg=calibration.mount_pitch_deg)


class _Samples(NamedTuple):
    """Where samples of a view's pixels are found in the camera's picture."""

    column: NDArray[np.float64]
    row: NDArray[np.float64]
    target: NDArray[np.int64]
    """The view's pixel, row by row, of those that are found."""
    share: float
    """How many are."""


def _samples(calibration: Calibration, view: Camera, per_side: int) -> _Samples:
    """``per_side`` squared samples of every pixel."""
    c = calibration
    offsets = (np.arange(per_side) + 0.5) / per_side
    columns = (np.arange(view.width)[:, None] + offsets).ravel()
    rows = (np.arange(view.height)[:, None] + offsets).ravel()
    u, v = np.meshgrid(columns, rows)
    x, y, z = _turned(
        (u - view.width / 2) / view.focal_px,
        (v - view.height / 2) / view.focal_px,
        math.radians(c.mount_pitch_deg - view.mount_pitch_deg),
        math.radians(c.mount_roll_deg),
    )
    ahead = z > 1e-3
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = np.where(ahead, x / z, 0.0), np.where(ahead, y / z, 0.0)
    ahead &= x * x + y * y < c.turning_r2
    column, row = c.project(x, y)
    inside = ahead & (column >= 0) & (column <= c.width) & (row >= 0) & (row <= c.height)
    target = (np.floor(v).astype(np.int64) * view.width + np.floor(u).astype(np.int64))[inside]
    return _Samples(column[inside], row[inside], target, float(inside.mean()))


def _matrix(calibration: Calibration, view: Camera) -> sparse.csr_matrix:
    per_side = max(2, math.ceil(calibration.fx / view.focal_px))  # about one sample per pixel of the camera
    places = _samples(calibration, view, per_side)
    return _bilinear(places.column, places.row, places.target, calibration, view, per_side * per_side)


def _turned(
    x: NDArray[np.float64], y: NDArray[np.float64], pitch: float, roll: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Directions of the view (at depth 1) in the frame of one that looks ``pitch`` further down, rolled."""
    down, ahead = y * math.cos(pitch) - math.sin(pitch), y * math.sin(pitch) + math.cos(pitch)
    right, down = x * math.cos(roll) + down * math.sin(roll), down * math.cos(roll) - x * math.sin(roll)
    return right, down, ahead


def _bilinear(
    column: NDArray[np.float64],
    row: NDArray[np.float64],
    target: NDArray[np.int64],
    c: Calibration,
    view: Camera,
    samples: int,
) -> sparse.csr_matrix:
    """Four neighbours of every sample; at the border the nearest pixel counts."""
    left, top = np.floor(column - 0.5), np.floor(row - 0.5)
    fx, fy = column - 0.5 - left, row - 0.5 - top
    data, at, source = [], [], []
    for dx, wx in ((0, 1 - fx), (1, fx)):
        for dy, wy in ((0, 1 - fy), (1, fy)):
            j = np.clip(left + dx, 0, c.width - 1).astype(np.int64)
            i = np.clip(top + dy, 0, c.height - 1).astype(np.int64)
            data.append(wx * wy / samples)
            at.append(target)
            source.append(i * c.width + j)
    shape = (view.width * view.height, c.width * c.height)
    entries = (np.concatenate(data).astype(np.float32), (np.concatenate(at), np.concatenate(source)))
    return sparse.csr_matrix(entries, shape=shape)
