"""Black boxes that were cut, damaged or written by somebody else, and what a replayed vehicle answers."""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.errors import WaywordError
from wayword.flight import Fence, GovernorConfig, Kind, Mode, Reason
from wayword.flight.autopilot_model import AutopilotModel
from wayword.flight.blackbox import FORMAT, BlackBox, decode_image, encode_image, read_box
from wayword.flight.faults import ScriptedMind
from wayword.flight.mission import FlightPlan, fly_mission
from wayword.flight.replay import ReplayVehicle, govern_again, load_recording
from wayword.flight.simulated import SimulatedVehicle


def line(values: dict) -> bytes:
    """A record as the box writes it."""
    body = json.dumps(values).encode()
    return b"%08x " % zlib.crc32(body) + body + b"\n"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short flight."""
    path = tmp_path_factory.mktemp("box") / "flight.box"
    recorder = BlackBox(path)
    vehicle = SimulatedVehicle(AutopilotModel(seed=5))
    plan = FlightPlan(governor=GovernorConfig(max_flight_s=3), lockstep=True)
    fly_mission(vehicle, ScriptedMind(0.4, 0.2), plan, recorder, about={"instruction": "go round"})
    recorder.close()
    return path


def test_a_recording_holds_the_flight(box: Path):
    recording = load_recording(box)
    assert recording.config.max_flight_s == 3
    assert recording.config.silence_s == pytest.approx(1.1)  # what the vehicle said, not the default
    assert recording.fence == Fence()
    assert recording.about == {"instruction": "go round"}
    times = [inputs.now_s for inputs, _ in recording.ticks]
    assert np.diff(times) == pytest.approx(0.05, abs=1e-6)
    assert recording.ticks[-1][1].kind is Kind.LAND
    assert Reason.TIME_UP in recording.ticks[-1][1].reasons
    assert recording.ticks[-1][0].telemetry.mode is Mode.GROUND
    # Every decision that a tick rests on is there, with its image.
    assert {inputs.decision.made_s for inputs, _ in recording.ticks if inputs.decision} <= {
        item.decision.made_s for item in recording.sights
    }
    assert all(item.shot.taken_s == item.decision.image_s for item in recording.sights)


def test_a_box_cut_anywhere_is_read_up_to_there(box: Path, tmp_path: Path):
    data = box.read_bytes()
    whole = load_recording(box)
    for share in (0.4, 0.7, 0.95):
        cut = tmp_path / f"{share}.box"
        cut.write_bytes(data[: int(share * len(data))])
        part = load_recording(cut)
        assert 0 < len(part.ticks) < len(whole.ticks)
        assert part.end is None
        assert part.box.damaged <= 1
        for (a, told), (b, recorded) in zip(part.ticks, whole.ticks, strict=False):
            assert (a, told) == (b, recorded)
        assert list(govern_again(part)) == []


def test_other_settings_give_other_commands(box: Path):
    recording = load_recording(box)
    object.__setattr__(recording, "config", GovernorConfig(max_flight_s=3, silence_s=1.1, max_acceleration_m_s2=0.2))
    number, recorded, now = next(iter(govern_again(recording)))
    assert recorded.forward_m_s > now.forward_m_s
    assert now.forward_m_s == pytest.approx(0.01)  # 0.2 m/s^2 for a tick of 0.05 s
    assert number > 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is no black box"),
        (line({"kind": "tick"}), "is no black box"),
        (line({"kind": "begin", "format": "black box 2"}), "is no black box"),
        (line({"kind": "begin", "format": FORMAT}), "never flew"),
        (line({"kind": "begin", "format": FORMAT}) + line({"kind": "governor"}), "another version"),
        (
            line({"kind": "begin", "format": FORMAT})
            + line({"kind": "governor", "config": {"wings": 2}, "started_s": 0.0,
                    "fence": {"corners": [[0, 0], [4, 0], [4, 4]], "low_m": 0.3, "high_m": 1.5}}),
            "another version",
        ),
    ],
)  # fmt: skip
def test_boxes_that_cannot_be_replayed_say_why(tmp_path: Path, content: bytes, message: str):
    path = tmp_path / "flight.box"
    path.write_bytes(content)
    with pytest.raises(WaywordError, match=message):
        load_recording(path)


def test_a_missing_box_is_one_line(tmp_path: Path):
    with pytest.raises(WaywordError, match="cannot be read"):
        read_box(tmp_path / "none.box")


@pytest.mark.parametrize("damage", [b"zzzzzzzz {}\n", b"00000000 {}\n", b"short\n", line({"no": "kind"}), line([1])])
def test_lines_of_no_record_are_counted(tmp_path: Path, damage: bytes):
    path = tmp_path / "flight.box"
    path.write_bytes(line({"kind": "begin", "format": FORMAT}) + damage + line({"kind": "tick", "number": 1}))
    read = read_box(path)
    assert read.damaged == 1
    assert [record["number"] for record in read.of("tick")] == [1]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


def same(a, b) -> bool:
    """Equal to the bit; NaN is itself."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and math.isnan(a):
        return isinstance(b, float) and math.isnan(b)
    return type(a) is type(b) and a == b


@settings(deadline=None, max_examples=60)
@given(value=VALUES)
def test_whatever_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, value):
    path = tmp_path_factory.mktemp("box") / "flight.box"
    box = BlackBox(path)
    box.write("anything", value=value)
    box.close()
    read = read_box(path)
    (record,) = read.of("anything")
    assert same(record["value"], value)
    assert read.damaged == 0


def test_what_python_has_and_json_has_not(tmp_path: Path):
    path = tmp_path / "flight.box"
    box = BlackBox(path)
    box.write("odd", mode=Mode.LAND, reasons=frozenset({Reason.YAW, Reason.SPEED}), array=np.arange(3),
              number=np.float64(0.1), place=Path("a/b"), fence=Fence())  # fmt: skip
    with pytest.raises(TypeError, match="cannot record a object"):
        box.write("worse", what=object())
    box.close()
    (record,) = read_box(path).of("odd")
    assert (record["mode"], record["reasons"], record["array"]) == ("land", ["SPEED", "YAW"], [0, 1, 2])
    assert (record["number"], record["place"], record["fence"]["high_m"]) == (0.1, "a/b", 1.5)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_images_come_back_to_the_pixel(height: int, width: int, seed: int):
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    assert np.array_equal(decode_image(encode_image(pixels)), pixels)


def test_a_replayed_vehicle_does_what_it_did(box: Path):
    recording = load_recording(box)
    vehicle = ReplayVehicle(recording)
    assert vehicle.connect().silence_s == pytest.approx(1.1)
    assert vehicle.now() == recording.ticks[0][0].now_s
    vehicle.take_off(0.7)
    vehicle.set_velocity(9.0, 9.0)
    vehicle.hold(None)
    vehicle.land()
    vehicle.emergency_stop()
    assert vehicle.commands == ["velocity", "hold", "land", "emergency stop"]
    assert vehicle.telemetry() == recording.ticks[0][0].telemetry
    vehicle.wait(0.5)
    assert vehicle.now() == pytest.approx(recording.ticks[0][0].now_s + 0.5)
    shot = vehicle.shot()
    assert shot is None or shot.taken_s <= vehicle.now()
    vehicle.wait(1e6)
    assert vehicle.over
    assert vehicle.now() == recording.ticks[-1][0].now_s
    vehicle.close()


def test_a_box_never_goes_where_it_cannot(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "flight.box", tmp_path):
        with pytest.raises(WaywordError):
            BlackBox(place)
