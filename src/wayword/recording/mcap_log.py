"""A flight as an MCAP file: what Foxglove and ROS 2 users open with the tools they have (docs/recordings.md).

    with McapLog(path, example.instruction, camera, objects) as log:
        log.saw(time_s, pose, image)                  # at every decision
        log.commanded(time_s, forward_m_s, yaw_rate_rad_s)
        log.said(time_s, "stopped in front of the globe")

Profile "ros2", messages in CDR with their definitions inside, so that nothing needs to be installed to read it. Time
counts from the take-off. Frames: "map" (metres, x right, y up, z up), "drone" (x forward, y left, z up) and "camera"
(x right, y down, z forward). The file is there when the ``with`` block is left without an error.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.camera import Camera, camera_axes
from wayword.episodes import PlacedObject
from wayword.errors import WaywordError
from wayword.io import atomic_path
from wayword.recording.ros_messages import INFO, LINE_LOOP, WARNING, encode, schema_text
from wayword.versions import versions

MessageFields = dict[str, Any]
TOPICS = {
    "/camera/image": "sensor_msgs/CompressedImage",
    "/camera/camera_info": "sensor_msgs/CameraInfo",
    "/camera/annotations": "foxglove_msgs/ImageAnnotations",
    "/pose": "geometry_msgs/PoseStamped",
    "/path": "nav_msgs/Path",
    "/demonstration": "nav_msgs/Path",
    "/tf": "tf2_msgs/TFMessage",
    "/tf_static": "tf2_msgs/TFMessage",
    "/command": "geometry_msgs/TwistStamped",
    "/instruction": "std_msgs/String",
    "/log": "foxglove_msgs/Log",
}
"""What is written where; a topic that nothing was said on is not in the file."""
_FONT_PX = 6.0


def need_mcap() -> None:
    """Say what to install."""
    try:
        import mcap.writer  # noqa: F401
    except ImportError as error:
        raise WaywordError('--mcap needs the mcap package: pip install -e ".[mcap]"') from error


def check_mcap(path: Path) -> None:
    """Refuse another ending: tools go by it."""
    if path.suffix != ".mcap":
        raise WaywordError(f"{path}: --mcap writes .mcap files; change the ending")


class McapLog:
    """Writes one flight."""

    def __init__(
        self, path: Path, instruction: str, camera: Camera | None = None, objects: Sequence[PlacedObject] = ()
    ) -> None:
        need_mcap()
        self.path, self._instruction, self._objects = path, instruction, objects
        self._camera = camera or Camera()
        self._flown: list[MessageFields] = []
        self._counts: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self._place = ExitStack()

    def __enter__(self) -> Self:
        from mcap.writer import Writer

        self._file = self._place.enter_context(atomic_path(self.path)).open("wb")
        self._writer = Writer(self._file)
        self._writer.start("ros2", f"wayword {versions()['wayword']}")
        self._write("/instruction", 0.0, {"data": self._instruction})
        still = [_transform(0.0, "map", item.name, _standing(item)) for item in self._objects]
        mount = camera_axes(np.zeros(6), self._camera.mount_pitch_deg).T
        self._write("/tf_static", 0.0, {"transforms": [*still, _transform(0.0, "drone", "camera", _turned(mount))]})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._writer.finish()  # type: ignore[no-untyped-call]
        finally:
            self._file.close()
            self._place.__exit__(kind, error, trace)

    def moved(self, time_s: float, pose: Sequence[float] | NDArray[np.float64]) -> None:
        """Where the drone is (6,)."""
        place = _pose(pose)
        stamped = {"header": _header(time_s, "map"), "pose": place}
        self._flown.append(stamped)
        turn = {"translation": place["position"], "rotation": place["orientation"]}
        self._write("/tf", time_s, {"transforms": [_transform(time_s, "map", "drone", turn)]})
        self._write("/pose", time_s, stamped)

    def saw(self, time_s: float, pose: Sequence[float] | NDArray[np.float64], image: NDArray[np.uint8]) -> None:
        """A picture (H, W, 3), where it was taken, and the way so far."""
        self.moved(time_s, pose)
        self._write("/path", time_s, {"header": _header(time_s, "map"), "poses": self._flown})
        buffer = io.BytesIO()
        Image.fromarray(image).save(buffer, "PNG")
        header = _header(time_s, "camera")
        self._write("/camera/image", time_s, {"header": header, "format": "png", "data": buffer.getvalue()})
        height, width = image.shape[:2]
        focal = width / 2 / math.tan(math.radians(self._camera.hfov_deg) / 2)
        k = [focal, 0.0, width / 2, 0.0, focal, height / 2, 0.0, 0.0, 1.0]
        p = [focal, 0.0, width / 2, 0.0, 0.0, focal, height / 2, 0.0, 0.0, 0.0, 1.0, 0.0]
        about = {"header": header, "height": height, "width": width, "distortion_model": "plumb_bob", "d": [0.0] * 5}
        self._write("/camera/camera_info", time_s, {**about, "k": k, "r": [1, 0, 0, 0, 1, 0, 0, 0, 1], "p": p})

    def marked(self, time_s: float, boxes: Sequence[Sequence[float]], labels: Sequence[str]) -> None:
        """Boxes (left, top, right, bottom) over the last picture, and what is written at each."""
        green, white = {"r": 0.2, "g": 1.0, "b": 0.4, "a": 1.0}, {"r": 1.0, "g": 1.0, "b": 1.0, "a": 1.0}
        points, texts = [], []
        for (left, top, right, bottom), label in zip(boxes, labels, strict=True):
            corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
            loop = {"timestamp": _stamp(time_s), "type": LINE_LOOP, "outline_color": green, "thickness": 1.0}
            points.append({**loop, "points": [{"x": float(x), "y": float(y)} for x, y in corners]})
            place = {"position": {"x": float(left), "y": float(top)}, "font_size": _FONT_PX, "text_color": white}
            texts.append({"timestamp": _stamp(time_s), "text": label, **place})
        self._write("/camera/annotations", time_s, {"points": points, "texts": texts})

    def commanded(self, time_s: float, forward_m_s: float, yaw_rate_rad_s: float, left_m_s: float = 0.0) -> None:
        """What the vehicle was told."""
        twist = {"linear": {"x": forward_m_s, "y": left_m_s}, "angular": {"z": yaw_rate_rad_s}}
        self._write("/command", time_s, {"header": _header(time_s, "drone"), "twist": twist})

    def demonstrated(self, path: NDArray[np.float64], height_m: float) -> None:
        """The path (P, 2) that somebody flew to show it."""
        poses = [{"header": _header(0.0, "map"), "pose": _pose([x, y, height_m, 0, 0, 0])} for x, y in path.tolist()]
        self._write("/demonstration", 0.0, {"header": _header(0.0, "map"), "poses": poses})

    def said(self, time_s: float, text: str, warning: bool = False) -> None:
        """A line of the log."""
        level = WARNING if warning else INFO
        self._write("/log", time_s, {"timestamp": _stamp(time_s), "level": level, "message": text, "name": "wayword"})

    def _write(self, topic: str, time_s: float, values: Mapping[str, Any]) -> None:
        message = TOPICS[topic]
        if topic not in self._channels:
            package, name = message.split("/")
            schema = self._writer.register_schema(f"{package}/msg/{name}", "ros2msg", schema_text(message).encode())
            self._channels[topic] = self._writer.register_channel(topic, "cdr", schema)
        number = self._counts[topic] = self._counts.get(topic, -1) + 1
        at = round(time_s * 1e9)
        self._writer.add_message(self._channels[topic], at, encode(message, values), at, number)


def _stamp(time_s: float) -> MessageFields:
    sec, nanosec = divmod(round(time_s * 1e9), 10**9)
    return {"sec": sec, "nanosec": nanosec}


def _header(time_s: float, frame: str) -> MessageFields:
    return {"stamp": _stamp(time_s), "frame_id": frame}


def _transform(time_s: float, parent: str, child: str, transform: MessageFields) -> MessageFields:
    return {"header": _header(time_s, parent), "child_frame_id": child, "transform": transform}


def _pose(pose: Sequence[float] | NDArray[np.float64]) -> MessageFields:
    x, y, z, roll, pitch, yaw = (float(value) for value in pose)
    return {"position": {"x": x, "y": y, "z": z}, "orientation": euler_quaternion(roll, pitch, yaw)}


def _standing(item: PlacedObject) -> MessageFields:
    return {"translation": {"x": item.x, "y": item.y}, "rotation": euler_quaternion(0.0, 0.0, item.yaw)}


def euler_quaternion(roll: float, pitch: float, yaw: float) -> dict[str, float]:
    """Of Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a / 2), math.sin(a / 2)) for a in (roll, pitch, yaw))
    return {
        "x": sr * cp * cy - cr * sp * sy,
        "y": cr * sp * cy + sr * cp * sy,
        "z": cr * cp * sy - sr * sp * cy,
        "w": cr * cp * cy + sr * sp * sy,
    }


def _turned(turn: NDArray[np.float64]) -> MessageFields:
    """A rotation (3, 3) without a move."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(turn).as_quat().tolist()
    return {"rotation": {"x": x, "y": y, "z": z, "w": w}}
