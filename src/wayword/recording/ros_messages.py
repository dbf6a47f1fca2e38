"""ROS 2 messages as bytes: the definitions that a flight needs, and a writer that follows them.

A definition is a list of "type name" lines, as in a .msg file. ``encode`` turns nested dictionaries into CDR, the
encoding ROS 2 uses on the wire and in bags: little endian, every number aligned to its own size counted from the end
of the four-byte header, texts and open lists preceded by their length.

Image, pose, path, transforms and commands are the standard messages, which both ROS 2 tools and Foxglove read; what
ROS 2 has no message for, shapes over an image and lines of a log, are Foxglove's (``foxglove_msgs``).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

DEFINITIONS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "std_msgs/String": "string data",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Pose": "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation",
    "geometry_msgs/PoseStamped": "std_msgs/Header header\ngeometry_msgs/Pose pose",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation",
    "geometry_msgs/TransformStamped": (
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform"
    ),
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular",
    "geometry_msgs/TwistStamped": "std_msgs/Header header\ngeometry_msgs/Twist twist",
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "nav_msgs/Path": "std_msgs/Header header\ngeometry_msgs/PoseStamped[] poses",
    "sensor_msgs/CompressedImage": "std_msgs/Header header\nstring format\nuint8[] data",
    "sensor_msgs/RegionOfInterest": ("uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify"),
    "sensor_msgs/CameraInfo": (
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\nfloat64[9] k\n"
        "float64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\nsensor_msgs/RegionOfInterest roi"
    ),
    "foxglove_msgs/Point2": "float64 x\nfloat64 y",
    "foxglove_msgs/Color": "float64 r\nfloat64 g\nfloat64 b\nfloat64 a",
    "foxglove_msgs/CircleAnnotation": (
        "builtin_interfaces/Time timestamp\nfoxglove_msgs/Point2 position\nfloat64 diameter\nfloat64 thickness\n"
        "foxglove_msgs/Color fill_color\nfoxglove_msgs/Color outline_color"
    ),
    "foxglove_msgs/PointsAnnotation": (
        "builtin_interfaces/Time timestamp\nuint8 UNKNOWN=0\nuint8 POINTS=1\nuint8 LINE_LOOP=2\nuint8 LINE_STRIP=3\n"
        "uint8 LINE_LIST=4\nuint8 type\nfoxglove_msgs/Point2[] points\nfoxglove_msgs/Color outline_color\n"
        "foxglove_msgs/Color[] outline_colors\nfoxglove_msgs/Color fill_color\nfloat64 thickness"
    ),
    "foxglove_msgs/TextAnnotation": (
        "builtin_interfaces/Time timestamp\nfoxglove_msgs/Point2 position\nstring text\nfloat64 font_size\n"
        "foxglove_msgs/Color text_color\nfoxglove_msgs/Color background_color"
    ),
    "foxglove_msgs/ImageAnnotations": (
        "foxglove_msgs/CircleAnnotation[] circles\nfoxglove_msgs/PointsAnnotation[] points\n"
        "foxglove_msgs/TextAnnotation[] texts"
    ),
    "foxglove_msgs/Log": (
        "builtin_interfaces/Time timestamp\nuint8 UNKNOWN=0\nuint8 DEBUG=1\nuint8 INFO=2\nuint8 WARNING=3\n"
        "uint8 ERROR=4\nuint8 FATAL=5\nuint8 level\nstring message\nstring name\nstring file\nuint32 line"
    ),
}
LINE_LOOP, INFO, WARNING = 2, 2, 3
_NUMBERS = {"bool": "?", "uint8": "B", "int32": "i", "uint32": "I", "float64": "d"}
_FIELD = re.compile(r"([\w/]+)(\[(\d*)\])? (\w+)")
_LINE = "=" * 80


class Field(NamedTuple):
    """One line of a definition."""

    kind: str
    many: bool
    size: int | None
    """Of a list that always has so many."""
    name: str


@cache
def fields_of(message: str) -> tuple[Field, ...]:
    """The fields of a message; constants are none."""
    lines = [line for line in DEFINITIONS[message].splitlines() if "=" not in line]
    matches = [match for line in lines if (match := _FIELD.fullmatch(line))]
    assert len(matches) == len(lines), message
    return tuple(Field(m[1], m[2] is not None, int(m[3]) if m[3] else None, m[4]) for m in matches)


def schema_text(message: str) -> str:
    """A definition with all that it uses, as a bag holds it ("ros2msg")."""
    return "\n".join(
        (f"{_LINE}\nMSG: {name}\n" if number else "") + DEFINITIONS[name]
        for number, name in enumerate(dict.fromkeys([message, *_used(message)]))
    )


def _used(message: str) -> Iterator[str]:
    for field in fields_of(message):
        if field.kind in DEFINITIONS:
            yield field.kind
            yield from _used(field.kind)


def encode(message: str, values: Mapping[str, Any]) -> bytes:
    """A message as CDR; fields that are not given are 0, empty or false."""
    body = bytearray()
    _write(body, message, values)
    return b"\x00\x01\x00\x00" + bytes(body)


def _write(body: bytearray, message: str, values: Mapping[str, Any]) -> None:
    unknown = set(values) - {field.name for field in fields_of(message)}
    if unknown:
        raise KeyError(f"{message} has no field {sorted(unknown)[0]}")
    for field in fields_of(message):
        value = values.get(field.name)
        if not field.many:
            _write_one(body, field.kind, value)
            continue
        items = value if value is not None else [0] * (field.size or 0)
        if field.size is None:
            _number(body, "I", len(items))
        elif len(items) != field.size:
            raise ValueError(f"{message}.{field.name} takes {field.size} values, not {len(items)}")
        if isinstance(items, bytes):
            body += items
            continue
        for item in items:
            _write_one(body, field.kind, item)


def _write_one(body: bytearray, kind: str, value: Any) -> None:
    if kind in _NUMBERS:
        _number(body, _NUMBERS[kind], value or 0)
    elif kind == "string":
        text = (value or "").encode() + b"\0"
        _number(body, "I", len(text))
        body += text
    else:
        _write(body, kind, value or {})


def _number(body: bytearray, code: str, value: float) -> None:
    size = struct.calcsize(code)
    body += b"\0" * (-len(body) % size)
    body += struct.pack(f"<{code}", value)
