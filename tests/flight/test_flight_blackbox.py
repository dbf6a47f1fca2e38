"""The black box: what was written is read back to the bit, also after a kill; the governor repeats itself on it."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from wayword.errors import WaywordError
from wayword.flight.autopilot_model import AutopilotModel
from wayword.flight.blackbox import BlackBox, decode_image, encode_image, read_box
from wayword.flight.faults import FaultScene, ScriptedMind
from wayword.flight.fence import Fence
from wayword.flight.governor import GovernorConfig
from wayword.flight.mission import FlightPlan, fly_mission
from wayword.flight.replay import ReplayVehicle, govern_again, load_recording
from wayword.flight.simulated import SimulatedVehicle


def test_round_trip_with_nan_and_pictures(tmp_path, rng):
    path = tmp_path / "a" / "flight.box"
    box = BlackBox(path)
    picture = rng.integers(0, 256, (72, 128, 3), dtype=np.uint8)
    values = [0.1 + 0.2, math.pi * 1e-17, -math.inf]
    box.write("tick", values=values, nothing=math.nan, picture=encode_image(picture))
    box.close()
    box.write("tick", values=[])  # after closing: not an error in the air, and not in the file
    record = list(read_box(path).of("tick"))
    assert len(record) == 1
    assert record[0]["values"] == values
    assert math.isnan(record[0]["nothing"])
    assert np.array_equal(decode_image(record[0]["picture"]), picture)
    with pytest.raises(WaywordError, match="never overwritten"):
        BlackBox(path)


def test_damage_costs_the_damaged_records_only(tmp_path):
    path = tmp_path / "flight.box"
    box = BlackBox(path)
    for number in range(5):
        box.write("tick", number=number)
    box.close()
    data = bytearray(path.read_bytes())
    lines = bytes(data).split(b"\n")
    at = data.index(lines[3]) + 20
    data[at] ^= 1
    path.write_bytes(bytes(data[:-4]))  # one flipped bit, and the last line torn
    read = read_box(path)
    assert [record["number"] for record in read.of("tick")] == [0, 1, 3]
    assert read.damaged == 2
    path.write_bytes(b"hello\n")
    with pytest.raises(WaywordError, match="is no black box"):
        read_box(path)


WRITER = """
import sys
from wayword.flight.blackbox import BlackBox
box = BlackBox(sys.argv[1])
number = 0
while True:
    box.write("tick", number=number)
    print(number, flush=True)
    number += 1
"""


def test_nothing_that_was_written_is_lost_by_kill_9(tmp_path):
    path = tmp_path / "flight.box"
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(50):
        last = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    numbers = [record["number"] for record in read_box(path).of("tick")]
    assert len(numbers) > last
    assert numbers == list(range(len(numbers)))


def flown(path, fault_s=2.0, **mind):
    """A recorded flight with a fault in it."""
    body, scripted = AutopilotModel(seed=3), ScriptedMind(0.5, 0.3, **mind)
    vehicle = SimulatedVehicle(body)
    scene = FaultScene(
        body, scripted, vehicle, Fence(), lambda s: setattr(s.vehicle.link, "camera_up", False), fault_s=fault_s
    )
    vehicle.on_step = scene.watch
    box = BlackBox(path)
    plan = FlightPlan(governor=GovernorConfig(max_flight_s=8), lockstep=True)
    outcome = fly_mission(vehicle, scripted, plan, box, about={"instruction": "go"})
    box.close()
    return outcome


def test_the_governor_gives_the_recorded_commands_again_to_the_bit(tmp_path):
    outcome = flown(tmp_path / "flight.box")
    recording = load_recording(tmp_path / "flight.box")
    assert len(recording.ticks) == len(outcome.tracks) > 100
    assert list(govern_again(recording)) == []
    assert recording.end is not None
    assert recording.end["ended"] == "landed"
    assert recording.about == {"instruction": "go"}
    # It can tell a difference: with another margin other commands come out.
    object.__setattr__(recording, "config", GovernorConfig(max_speed_m_s=0.3))
    assert len(list(govern_again(recording))) > 10


def test_a_flight_is_the_same_to_the_bit_every_time(tmp_path):
    first, second = flown(tmp_path / "a.box"), flown(tmp_path / "b.box")
    assert [t.command for t in first.tracks] == [t.command for t in second.tracks]
    assert np.array_equal(first.path, second.path)


def test_a_recording_is_a_vehicle(tmp_path):
    flown(tmp_path / "flight.box")
    recording = load_recording(tmp_path / "flight.box")
    vehicle = ReplayVehicle(recording)
    seen = 0
    while not vehicle.over:
        shot = vehicle.shot()
        seen += shot is not None and shot.taken_s == recording.sights[-1].shot.taken_s
        vehicle.hold(None)
        vehicle.wait(0.05)
    assert seen > 0
    assert vehicle.telemetry() == recording.ticks[-1][0].telemetry
    assert all(check.ok for check in vehicle.checks())


def test_a_full_disk_does_not_end_a_flight(tmp_path, monkeypatch):
    box = BlackBox(tmp_path / "flight.box")
    monkeypatch.setattr(os, "write", lambda *a: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    box.write("tick", number=1)
    assert box.failed == "No space left on device"


def test_syncing_does_not_hold_up_a_flight(tmp_path):
    box = BlackBox(tmp_path / "flight.box")
    box._synced = time.monotonic() - 10
    box.write("tick", number=1)
    assert time.monotonic() - box._synced < 5
    box.close()
