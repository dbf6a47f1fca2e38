"""The drone's camera: a pinhole fixed to the body, looking ahead and a little down.

Frames
    world   x right, y up on the plan, z up; metres
    body    x forward, y left, z up; R_body = Rz(yaw) Ry(pitch) Rx(roll), so positive pitch is nose down
    camera  x right, y down, z forward (the optical axis)
    image   pixel (column, row); the centre of the first pixel is (0.5, 0.5)

A pose is (x, y, z, roll, pitch, yaw) of the body, as everywhere in Wayword.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.errors import WaywordError


@dataclass(frozen=True)
class CameraConfig:
    """The paper's camera by default: 128 x 72 pixels, 84 degrees across, 15 degrees down."""

    width: int = 128
    """Image width in pixels."""
    height: int = 72
    """Image height in pixels."""
    hfov_deg: float = 84.0
    """Horizontal field of view in degrees."""
    mount_pitch_deg: float = 15.0
    """How far the camera looks down from the body's forward axis, in degrees."""
    near_m: float = 0.05
    """Nothing nearer than this is drawn, in metres."""

    def __post_init__(self) -> None:
        if not (8 <= self.width <= 4096 and 8 <= self.height <= 4096):
            raise WaywordError(f"camera size {self.width} x {self.height} is not within 8 to 4096 pixels")
        if not -90.0 <= self.mount_pitch_deg <= 90.0 or not 0.001 <= self.near_m <= 1.0:
            raise WaywordError("a camera needs mount_pitch_deg within 90 degrees and near_m within 0.001 to 1 m")
        if not 1.0 <= self.hfov_deg <= 170.0:
            raise WaywordError(f"field of view {self.hfov_deg} is not within 1 to 170 degrees")

    @property
    def focal_px(self) -> float:
        """Focal length in pixels; 71.08 for the paper's camera."""
        return self.width / 2 / math.tan(math.radians(self.hfov_deg) / 2)

    @property
    def intrinsics(self) -> NDArray[np.float64]:
        """The matrix K (3, 3)."""
        f = self.focal_px
        return np.array([[f, 0, self.width / 2], [0, f, self.height / 2], [0, 0, 1]])


def camera_axes(pose: ArrayLike, mount_pitch_deg: float) -> NDArray[np.float64]:
    """Rows right, down, forward of the camera in world coordinates: world -> camera rotation (3, 3)."""
    _, _, _, roll, pitch, yaw = (float(value) for value in np.asarray(pose, dtype=np.float64).reshape(6))
    cr, sr, cp, sp, cy, sy = (fn(a) for a in (roll, pitch, yaw) for fn in (math.cos, math.sin))
    body = np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip
    mount = math.radians(mount_pitch_deg)
    forward = body @ np.array([math.cos(mount), 0.0, -math.sin(mount)])
    up = body @ np.array([math.sin(mount), 0.0, math.cos(mount)])
    return np.stack([-body[:, 1], -up, forward])


def project(points: ArrayLike, pose: ArrayLike, camera: CameraConfig) -> NDArray[np.float64]:
    """World points (N, 3) to (N, 3): column, row, depth along the optical axis in metres."""
    body = np.asarray(pose, dtype=np.float64).reshape(6)
    local = (np.asarray(points, dtype=np.float64) - body[:3]) @ camera_axes(body, camera.mount_pitch_deg).T
    image = local @ camera.intrinsics.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.column_stack([image[:, 0] / local[:, 2], image[:, 1] / local[:, 2], local[:, 2]])
