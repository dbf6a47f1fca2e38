"""From the camera's pixels to the model's: undistorted, levelled to the model's mount, 128 x 72 at 84 degrees.

Every pixel of the model is the mean of many samples of the camera's picture, weighted bilinearly. That is linear, so it
is one sparse matrix, made once: rows are the model's pixels, columns the camera's, and a whole row sums to 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from wayword.errors import WaywordError
from wayword.flight.calibration import Calibration
from wayword.sim.render.camera import CameraConfig

LEAST_COVER = 0.9
"""The camera must see this share of the model's view; the rest is black."""


class Resampler:
    """Turns frames of one calibrated camera into the model's."""

    def __init__(self, calibration: Calibration, model: CameraConfig | None = None) -> None:
        self.calibration, self.model = calibration, model or CameraConfig()
        self.matrix = _matrix(calibration, self.model)
        seen = np.asarray(self.matrix.sum(axis=1)).ravel()
        self.cover = float(seen.mean())
        """Share of the model's view that the camera sees."""
        if self.cover < LEAST_COVER:
            raise WaywordError(
                f"the camera sees only {100 * self.cover:.0f} % of the view the model needs ({self.model.hfov_deg:g} "
                f"degrees across, {self.model.mount_pitch_deg:g} down); use a wider lens or correct its mount"
            )

    def __call__(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """One frame (H, W, 3) as the model's (72, 128, 3)."""
        c, m = self.calibration, self.model
        if pixels.shape != (c.height, c.width, 3):
            raise WaywordError(
                f"the camera delivers {pixels.shape[1]} x {pixels.shape[0]} pixels but was calibrated at "
                f"{c.width} x {c.height}; set that resolution or calibrate again"
            )
        flat = self.matrix @ pixels.reshape(-1, 3).astype(np.float32)
        result: NDArray[np.uint8] = np.clip(np.rint(flat), 0, 255).astype(np.uint8).reshape(m.height, m.width, 3)
        return result


def _matrix(calibration: Calibration, model: CameraConfig) -> sparse.csr_matrix:
    c = calibration
    per_side = max(2, math.ceil(c.fx / model.focal_px))  # about one sample per pixel of the camera
    offsets = (np.arange(per_side) + 0.5) / per_side
    columns = (np.arange(model.width)[:, None] + offsets).ravel()
    rows = (np.arange(model.height)[:, None] + offsets).ravel()
    u, v = np.meshgrid(columns, rows)
    x, y, z = _turned(
        (u - model.width / 2) / model.focal_px,
        (v - model.height / 2) / model.focal_px,
        math.radians(c.mount_pitch_deg - model.mount_pitch_deg),
        math.radians(c.mount_roll_deg),
    )
    ahead = z > 1e-3
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = np.where(ahead, x / z, 0.0), np.where(ahead, y / z, 0.0)
    ahead &= x * x + y * y < c.turning_r2
    column, row = c.project(x, y)
    inside = ahead & (column >= 0) & (column <= c.width) & (row >= 0) & (row <= c.height)
    target = (np.floor(v).astype(np.int64) * model.width + np.floor(u).astype(np.int64))[inside]
    return _bilinear(column[inside], row[inside], target, c, model, per_side * per_side)


def _turned(
    x: NDArray[np.float64], y: NDArray[np.float64], pitch: float, roll: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Directions of the model's camera (at depth 1) in the frame of one that looks ``pitch`` further down, rolled."""
    down, ahead = y * math.cos(pitch) - math.sin(pitch), y * math.sin(pitch) + math.cos(pitch)
    right, down = x * math.cos(roll) + down * math.sin(roll), down * math.cos(roll) - x * math.sin(roll)
    return right, down, ahead


def _bilinear(
    column: NDArray[np.float64],
    row: NDArray[np.float64],
    target: NDArray[np.int64],
    c: Calibration,
    model: CameraConfig,
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
    shape = (model.width * model.height, c.width * c.height)
    entries = (np.concatenate(data).astype(np.float32), (np.concatenate(at), np.concatenate(source)))
    return sparse.csr_matrix(entries, shape=shape)
