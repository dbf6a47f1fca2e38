"""A camera's calibration file: intrinsics, distortion, mount and view, as JSON that explains itself.

The view is the ``wayword.camera.Camera`` that frames are resampled to (``wayword.flight.resample``): undistorted,
levelled, 128 x 72. All that flies takes the frames for that pinhole's. It is the paper's where the lens sees enough
of it, since the networks were trained with that, and else the widest the lens sees as it is mounted (``choose_view``).

x, y      a direction, x right and y down, at depth 1
r2        x^2 + y^2
x_d       x (1 + k1 r2 + k2 r2^2 + k3 r2^3) + 2 p1 x y + p2 (r2 + 2 x^2)     and y_d likewise (Brown, Conrady)
column    fx x_d + cx;  row  fy y_d + cy;  the centre of the first pixel is (0.5, 0.5)
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera, read_camera_record
from wayword.errors import DataError, WaywordError
from wayword.io import write_json
from wayword.task import HFOV_DEG, MOUNT_PITCH_DEG

MAX_SIDE = 8192
"""Pixels: the table for resampling is made for them all."""


@dataclass(frozen=True)
class Calibration:
    """One camera at one resolution, on one airframe."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    k1: float = 0.0
    k2: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    k3: float = 0.0
    mount_pitch_deg: float = MOUNT_PITCH_DEG
    """How far the camera looks down from the body's forward axis."""
    mount_roll_deg: float = 0.0
    """Positive: the camera's right side is down."""
    error_px: float = 0.0
    """Root mean square of what the calibration could not explain."""
    view: Camera = Camera()  # noqa: RUF009 - frozen
    """What frames are resampled to."""

    def __post_init__(self) -> None:
        values = [getattr(self, field.name) for field in fields(self) if field.name != "view"]
        if not all(isinstance(v, (int, float)) and math.isfinite(v) for v in values):
            raise WaywordError("a calibration holds finite numbers only")
        if any(isinstance(v, bool) or v != int(v) for v in (self.width, self.height)):
            raise WaywordError("a calibration's width and height are whole pixels")
        if not (8 <= self.width <= MAX_SIDE and 8 <= self.height <= MAX_SIDE and self.fx > 0 and self.fy > 0):
            raise WaywordError(f"a calibration needs a size of 8 to {MAX_SIDE} pixels and focal lengths above 0")
        if abs(self.mount_pitch_deg) > 90 or abs(self.mount_roll_deg) > 90:
            raise WaywordError("a calibration's mount angles are within 90 degrees")

    @staticmethod
    def pinhole(
        width: int, height: int, hfov_deg: float = HFOV_DEG, mount_pitch_deg: float = MOUNT_PITCH_DEG
    ) -> Calibration:
        """A perfect camera of a field of view."""
        focal = Camera(width=width, height=height, hfov_deg=hfov_deg).focal_px
        return Calibration(width, height, focal, focal, width / 2, height / 2, mount_pitch_deg=mount_pitch_deg)

    @staticmethod
    def load(path: Path | str) -> Calibration:
        """From the file that ``wayword flight calibrate`` wrote; a plain camera is a lens without any distortion."""
        record, view = read_camera_record(path), Camera.from_file(path)
        try:
            if "fx" not in record:
                lens = Calibration.pinhole(view.width, view.height, view.hfov_deg, view.mount_pitch_deg)
                return replace(lens, view=view.at_model_size())
            return Calibration(**{**record, "view": view})
        except TypeError as error:
            raise DataError(path, "is no calibration; write one with `wayword flight calibrate`") from error
        except WaywordError as error:
            raise DataError(path, str(error)) from error

    def save(self, path: Path | str) -> None:
        """As JSON, atomically."""
        write_json(path, asdict(self))

    def project(
        self, x: NDArray[np.float64], y: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Directions at depth 1 to column and row."""
        r2 = x * x + y * y
        radial = 1 + r2 * (self.k1 + r2 * (self.k2 + r2 * self.k3))
        xd = x * radial + 2 * self.p1 * x * y + self.p2 * (r2 + 2 * x * x)
        yd = y * radial + self.p1 * (r2 + 2 * y * y) + 2 * self.p2 * x * y
        return self.fx * xd + self.cx, self.fy * yd + self.cy

    @property
    def turning_r2(self) -> float:
        """Beyond this r2 the distortion polynomial folds back: nothing there is in the picture."""
        radii = np.linspace(0, 4, 2001)
        r2 = radii * radii
        grown = radii * (1 + r2 * (self.k1 + r2 * (self.k2 + r2 * self.k3)))
        folds = np.flatnonzero(np.diff(grown) <= 0)
        return float(r2[folds[0]]) if len(folds) else math.inf
