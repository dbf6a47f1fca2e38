"""MCAP files, read back with readers that are not ours: ``mcap`` for the container, ``mcap_ros2`` for the messages."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from wayword.camera import camera_axes
from wayword.cli.launch import main
from wayword.recording.mcap_log import euler_quaternion
from wayword.recording.ros_messages import DEFINITIONS, encode, schema_text

pytestmark = pytest.mark.needs_mcap


def read(path: Path) -> tuple[Any, dict[str, list[tuple[float, Any]]]]:
    """The profile, and the messages of each topic with their times in seconds."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    topics: dict[str, list[tuple[float, Any]]] = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages():
            topics.setdefault(channel.topic, []).append((message.log_time / 1e9, decoded))
        return reader.get_header().profile, topics


def test_bytes_worked_by_hand() -> None:
    # Header: 4 bytes; sec and nanosec; length 4 of "map" with its zero; padding to 8 counted from after the header.
    stamp = {"header": {"stamp": {"sec": 1, "nanosec": 2}, "frame_id": "map"}}
    expected = b"\0\x01\0\0" + b"\x01\0\0\0" + b"\x02\0\0\0" + b"\x04\0\0\0map\0" + b"\0" * 56
    assert encode("geometry_msgs/PoseStamped", stamp) == expected
    assert encode("std_msgs/String", {"data": "hi"}) == b"\0\x01\0\0\x03\0\0\0hi\0"
    with pytest.raises(KeyError, match="no field frame"):
        encode("std_msgs/Header", {"frame": "map"})
    with pytest.raises(ValueError, match="takes 9 values"):
        encode("sensor_msgs/CameraInfo", {"k": [1.0]})


@pytest.mark.parametrize("message", DEFINITIONS)
def test_an_independent_decoder_reads_every_definition(message: str) -> None:
    from mcap_ros2._dynamic import generate_dynamic

    package, name = message.split("/")
    decoders = generate_dynamic(f"{package}/msg/{name}", schema_text(message))
    decoders[f"{package}/msg/{name}"](encode(message, {}))


def test_a_quaternion_turns_as_the_pose_does() -> None:
    from scipy.spatial.transform import Rotation

    q = euler_quaternion(0.1, -0.2, 2.0)
    right, down, forward = camera_axes(np.array([0, 0, 0, 0.1, -0.2, 2.0]), 0.0)
    turn = Rotation.from_quat([q["x"], q["y"], q["z"], q["w"]]).as_matrix()
    np.testing.assert_allclose(turn, np.column_stack([forward, -right, -down]), atol=1e-9)


def test_a_flight_and_its_trace_say_the_same(tmp_path: Path) -> None:
    main(["fly", "stop in front of the globe", "--out", str(tmp_path / "f.png"), "--mcap", str(tmp_path / "f.mcap")])
    trace = json.loads((tmp_path / "f.json").read_text())
    profile, topics = read(tmp_path / "f.mcap")
    assert profile == "ros2"
    decisions = trace["decisions"]
    times = [row["time_s"] for row in decisions]
    for topic in ("/camera/image", "/camera/camera_info", "/camera/annotations", "/pose", "/path", "/tf", "/command"):
        assert [time for time, _ in topics[topic]] == pytest.approx(times), topic
    for row, (_, pose), (_, command) in zip(decisions, topics["/pose"], topics["/command"], strict=True):
        place = pose.pose.position
        assert [place.x, place.y, place.z] == pytest.approx(row["pose"][:3])
        assert 2 * math.atan2(pose.pose.orientation.z, pose.pose.orientation.w) == pytest.approx(
            row["pose"][5], abs=0.05
        )
        assert command.twist.linear.x == row["forward_m_s"]
    assert len(topics["/path"][-1][1].poses) == len(decisions)
    image = Image.open(io.BytesIO(bytes(topics["/camera/image"][0][1].data)))
    assert image.size == (128, 72)
    marked = topics["/camera/annotations"][0][1]
    assert len(marked.points) == len(decisions[0]["thought"]["boxes"]) == len(marked.texts)
    assert topics["/instruction"][0][1].data == "stop in front of the globe"
    assert topics["/log"][-1][1].message == trace["outcome"]
    still = {item.child_frame_id: item for item in topics["/tf_static"][0][1].transforms}
    assert {item["name"] for item in trace["objects"]} | {"camera"} == set(still)


def test_a_black_box_becomes_one_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["flight", "fly", "stop in front of the globe", "--out", str(tmp_path / "f.png"), "--no-film"])
    main(["flight", "replay", str(tmp_path / "f.box"), "--mcap", str(tmp_path / "f.mcap")])
    assert capsys.readouterr().out.strip().endswith("f.mcap")
    profile, topics = read(tmp_path / "f.mcap")
    assert profile == "ros2"
    assert len(topics["/pose"]) > 10 * len(topics["/camera/image"]) / 2
    assert "ended:" in topics["/log"][-1][1].message
    with pytest.raises(SystemExit):
        main(["flight", "replay", str(tmp_path / "f.box"), "--mcap", str(tmp_path / "f.bag")])
    assert ".mcap" in capsys.readouterr().err
