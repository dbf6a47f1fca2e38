"""The drone's camera: a pinhole fixed to the body, looking ahead and a little down.

One ``Camera`` says what the simulator draws, what the policy takes a picture to show, where the map puts it and what
the pictures of a flight overlay. It comes from Python or from a file:

    {"width": 128, "height": 72, "hfov_deg": 60.0, "mount_pitch_deg": 40.0}

A calibrated lens (``wayword.flight.calibration``) is not a pinhole. Its file, the camera.json of `wayword flight
calibrate`, holds the lens and, under "view", the pinhole that its frames are resampled to: that view is the Camera.

Frames
    world   x right, y up on the plan, z up; metres
    body    x forward, y left, z up; R_body = Rz(yaw) Ry(pitch) Rx(roll), so positive pitch is nose down
    camera  x right, y down, z forward (the optical axis)
    image   pixel (column, row); the centre of the first pixel is (0.5, 0.5)

A pose is (x, y, z, roll, pitch, yaw) of the body, as everywhere in Wayword.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from wayword.errors import DataError, WaywordError
from wayword.guarded import read_json
from wayword.io import write_json
from wayword.task import HFOV_DEG, IMAGE_HEIGHT, IMAGE_WIDTH, MOUNT_PITCH_DEG

ASPECT_TOLERANCE = 0.02
"""How far width / height of an image may be from the camera's, as a share: 854 x 480 passes, 640 x 480 does not."""


@dataclass(frozen=True)
class Camera:
    """The paper's camera by default: 128 x 72 pixels, 84 degrees across, 15 degrees down."""

    width: int = IMAGE_WIDTH
    """Image width in pixels."""
    height: int = IMAGE_HEIGHT
    """Image height in pixels."""
    hfov_deg: float = HFOV_DEG
    """Horizontal field of view in degrees."""
    mount_pitch_deg: float = MOUNT_PITCH_DEG
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

    @classmethod
    def from_file(cls, path: Path | str) -> Camera:
        """From a file with the fields above, or from the camera.json of `wayword flight calibrate`: its view."""
        record = read_camera_record(path)
        calibrated = "fx" in record
        view = record.get("view", {}) if calibrated else record
        try:
            camera = camera_of(view)
            if not calibrated and not {"hfov_deg", "mount_pitch_deg"} <= set(view):
                raise WaywordError("a camera file says at least hfov_deg and mount_pitch_deg")
        except WaywordError as error:
            raise DataError(path, str(error)) from None
        return camera

    def to_file(self, path: Path | str) -> None:
        """As JSON, atomically."""
        write_json(path, asdict(self))

    def at_model_size(self) -> Camera:
        """The same view in the pixels of the networks, 128 x 72; refused if its proportions are others."""
        if (self.width, self.height) == (IMAGE_WIDTH, IMAGE_HEIGHT):
            return self
        if abs(self.width * IMAGE_HEIGHT / (self.height * IMAGE_WIDTH) - 1) > ASPECT_TOLERANCE:
            raise WaywordError(
                f"the camera is {self.width} x {self.height} but the networks take 16:9; crop its pictures to "
                f"{_cropped(self.width, self.height, IMAGE_WIDTH, IMAGE_HEIGHT)} around their middle and say so"
            )
        return replace(self, width=IMAGE_WIDTH, height=IMAGE_HEIGHT)

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


def project(points: ArrayLike, pose: ArrayLike, camera: Camera) -> NDArray[np.float64]:
    """World points (N, 3) to (N, 3): column, row, depth along the optical axis in metres."""
    body = np.asarray(pose, dtype=np.float64).reshape(6)
    local = (np.asarray(points, dtype=np.float64) - body[:3]) @ camera_axes(body, camera.mount_pitch_deg).T
    image = local @ camera.intrinsics.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.column_stack([image[:, 0] / local[:, 2], image[:, 1] / local[:, 2], local[:, 2]])


def open_camera(source: Camera | Path | str | None) -> Camera:
    """A camera, the one in a file, or without either the paper's."""
    if source is None or isinstance(source, Camera):
        return source or Camera()
    if not isinstance(source, (str, Path)):
        raise WaywordError(f"a Camera or its file is needed, not {type(source).__name__}")
    return Camera.from_file(source)


def read_camera_record(path: Path | str) -> dict[str, Any]:
    """The JSON object in a camera's file."""
    record = read_json(path, 2**20, "`wayword flight calibrate` makes a camera file")
    if not isinstance(record, dict):
        raise DataError(path, "is not one JSON object; `wayword flight calibrate` makes a camera file")
    return record


def camera_of(record: Any) -> Camera:
    """A camera from its fields, those that are missing as in the paper."""
    if not isinstance(record, Mapping):
        raise WaywordError("a camera is a JSON object with width, height, hfov_deg, mount_pitch_deg and near_m")
    names = [field.name for field in fields(Camera)]
    for name, value in record.items():
        if name not in names:
            raise WaywordError(f"a camera has no {name!r}; it has {', '.join(names)}")
        whole = name in ("width", "height")
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            raise WaywordError(f"{name} must be a {'whole ' if whole else ''}number, not {value!r}")
    return Camera(**record)


def fit_image(image: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """The image in a camera's own size; refused if its proportions are not the camera's."""
    pixels = np.asarray(image)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or 0 in pixels.shape:
        raise WaywordError(f"the image must be (height, width, 3) uint8, not {pixels.shape} {pixels.dtype}")
    rows, columns = pixels.shape[:2]
    if abs(columns * height / (rows * width) - 1) > ASPECT_TOLERANCE:
        raise WaywordError(
            f"the image is {columns} x {rows} but the camera is {width}:{height}; "
            f"crop it to {_cropped(columns, rows, width, height)} around its middle"
        )
    if (rows, columns) == (height, width):
        return np.ascontiguousarray(pixels)
    # Averaging whole areas neither aliases nor rings.
    how = Image.Resampling.BOX if columns >= width else Image.Resampling.BILINEAR
    return np.asarray(Image.fromarray(pixels).resize((width, height), how))


def fit_images(images: NDArray[np.uint8], camera: Camera) -> NDArray[np.uint8]:
    """Images (N, height, width, 3) in a camera's own size (``fit_image``)."""
    if images.shape[1:3] == (camera.height, camera.width):
        return np.ascontiguousarray(images)
    return np.stack([fit_image(image, camera.width, camera.height) for image in images])


def _cropped(columns: int, rows: int, width: int, height: int) -> str:
    """The largest part of a picture that has the proportions ``width`` to ``height``."""
    fitting = min(columns, rows * width // height)
    return f"{fitting} x {fitting * height // width}"
