"""Whole flights over MAVLink on loopback, in real time; patient, since the machine may be slow and busy."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("pymavlink", reason="needs pymavlink: pip install -e '.[flight]'")

from pymavlink import mavutil

from wayword.errors import WaywordError
from wayword.flight.autopilots import (
    ARDUPILOT,
    BY_NUMBER,
    FORCE_DISARM,
    PLACE_MASK,
    PX4,
    VELOCITY_HEIGHT_MASK,
    VELOCITY_MASK,
)
from wayword.flight.blackbox import BlackBox, read_box
from wayword.flight.calibration import Calibration
from wayword.flight.decider import PolicyMind
from wayword.flight.failsafe_rules import parameter_checks
from wayword.flight.faults import ScriptedMind
from wayword.flight.frames import Site, euler, quaternion_of
from wayword.flight.governor import GovernorConfig
from wayword.flight.mavlink_link import parse_address
from wayword.flight.mavlink_vehicle import MavlinkVehicle
from wayword.flight.mission import FlightPlan, fly_mission
from wayword.flight.reasons import Reason
from wayword.flight.replay import govern_again, load_recording
from wayword.flight.resample import Resampler
from wayword.flight.setup import Eye
from wayword.flight.testing.autopilot_voice import GOOD_PARAMETERS
from wayword.flight.testing.mavlink_server import MavlinkServer
from wayword.flight.testing.rtsp_server import RtspServer
from wayword.flight.vehicle import Mode, Shot
from wayword.flight.video_stream import VideoStream
from wayword.policy import make_policy

# A busy machine stalls for a second now and then; what is tested here is the protocol, not the clock.
PATIENT = GovernorConfig(
    image_s=6.0, pose_s=6.0, link_s=8.0, decision_intervals=12.0, jump_m=3.0, jump_rad=4.0, max_flight_s=40.0
)


# Which values of a parameter arm and which do not; the enumerations are cited in autopilots.py.
ALLOWED: dict[str, dict[str, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    "PX4": {
        "COM_OF_LOSS_T": ((0.1, 1.0), (0.0, 5.0)), "COM_OBL_RC_ACT": ((4, 5), (-1, 0, 1, 2, 3, 6, 7)),
        "NAV_RCL_ACT": ((1, 3), (0, 2, 5, 6)), "COM_RC_IN_MODE": ((0, 1, 2, 3), (4, 5, 8)),
        "COM_RCL_EXCEPT": ((0, 1, 2, 3), (4, 7)), "NAV_DLL_ACT": ((0, 1, 3), (2, 5, 6)),
        "COM_LOW_BAT_ACT": ((2,), (0, 1, 3)), "GF_ACTION": ((2, 5), (0, 1, 3, 4)),
        "GF_MAX_HOR_DIST": ((5.0,), (0.0, 100.0)), "GF_MAX_VER_DIST": ((2.0,), (0.0, 60.0)),
    },
    "ArduPilot": {
        "GUID_TIMEOUT": ((0.1, 3.0), (0.0, 5.0)), "FS_GCS_ENABLE": ((5,), (0, 1, 2, 3, 4, 6, 7)),
        "SYSID_MYGCS": ((245,), (1, 255)), "FS_GCS_TIMEOUT": ((2.0, 5.0), (0.0, 30.0)),
        "FS_THR_ENABLE": ((3, 7), (0, 1, 2, 4, 6)), "FS_OPTIONS": ((0, 16, 1), (4, 20)),
        "FS_EKF_ACTION": ((1, 3), (0, 2)), "BATT_FS_LOW_ACT": ((1,), (0, 2, 3, 5)),
        "BATT_LOW_VOLT": ((10.5,), (0.0,)), "BATT_FS_CRT_ACT": ((1,), (0, 2, 5)), "FENCE_ENABLE": ((1,), (0,)),
        "FENCE_TYPE": ((3, 7), (0, 1, 2, 5, 8)), "FENCE_ACTION": ((2, 4), (0, 1, 3)),
        "FENCE_RADIUS": ((8.0,), (0.0, 300.0)), "FENCE_ALT_MAX": ((3.0,), (0.0, 100.0)),
    },
}  # fmt: skip


def wait_for(holds, seconds: float = 180.0) -> None:
    """Until it holds; the time is only for a test that is going to fail."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class NoiseCamera:
    """A camera that is always on time."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def shot(self) -> Shot:
        return Shot(self._rng.integers(0, 256, (2, 4, 3), dtype=np.uint8), time.monotonic())

    def close(self) -> None:
        pass


def test_frames_turn_both_ways(rng):
    for _ in range(20):
        start = tuple(rng.uniform(-3, 3, 3))
        position, yaw = tuple(rng.uniform(-9, 9, 3)), rng.uniform(-3, 3)
        site = Site.of_start(start, position, yaw)
        pose = site.pose(position, quaternion_of(0.1, 0.2, yaw))
        assert pose[:3] == pytest.approx((start[0], start[1], 0.0))
        assert math.remainder(pose[5] - start[2], 2 * math.pi) == pytest.approx(0.0, abs=1e-9)
        assert pose[3:5] == pytest.approx((0.1, -0.2))  # nose up in NED is negative here
        assert site.ned(*pose[:3]) == pytest.approx(position)
        assert math.remainder(site.ned_yaw(pose[5]) - yaw, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)
    assert euler(quaternion_of(0.3, -0.4, 2.0)) == pytest.approx((0.3, -0.4, 2.0))
    # A drone at the origin that faces north on a map whose x is north: left is west, so y is minus east.
    site = Site.of_start((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)
    assert site.velocity((1.0, 2.0, 3.0)) == pytest.approx((1.0, -2.0, -3.0))


def test_addresses():
    assert parse_address("udpin://127.0.0.1:14540") == ("udpin:127.0.0.1:14540", None)
    assert parse_address("serial:///dev/ttyACM0:921600") == ("/dev/ttyACM0", 921600)
    for wrong in ("127.0.0.1", "udpin://127.0.0.1", "http://x:1", "udpin://127.0.0.1:99999"):
        with pytest.raises(WaywordError, match=r"address|port"):
            parse_address(wrong)


def test_masks_modes_and_numbers_are_those_of_mavlink():
    mav = mavutil.mavlink
    every = ("X", "Y", "Z", "VX", "VY", "VZ", "AX", "AY", "AZ", "YAW", "YAW_RATE")

    def using(*names: str) -> int:
        return sum(getattr(mav, f"POSITION_TARGET_TYPEMASK_{name}_IGNORE") for name in every if name not in names)

    assert using("Z", "VX", "VY", "YAW_RATE") == VELOCITY_HEIGHT_MASK == 0b010111100011  # as measured
    assert using("VX", "VY", "VZ", "YAW_RATE") == VELOCITY_MASK
    assert using("X", "Y", "Z", "YAW") == PLACE_MASK
    px4 = {Mode.OFFBOARD: "OFFBOARD", Mode.TAKEOFF: "TAKEOFF", Mode.HOLD: "LOITER", Mode.LAND: "LAND"}
    assert {mode: mavutil.px4_map[name][1:] for mode, name in px4.items()} == PX4.modes
    numbers = {mode: (value, 0) for mode, value in
               ((Mode.OFFBOARD, mav.COPTER_MODE_GUIDED), (Mode.HOLD, mav.COPTER_MODE_LOITER),
                (Mode.LAND, mav.COPTER_MODE_LAND))}  # fmt: skip
    assert numbers == ARDUPILOT.modes
    assert {mav.MAV_AUTOPILOT_PX4: PX4, mav.MAV_AUTOPILOT_ARDUPILOTMEGA: ARDUPILOT} == BY_NUMBER
    assert str(FORCE_DISARM) in mav.enums["MAV_CMD"][mav.MAV_CMD_COMPONENT_ARM_DISARM].param[2]
    assert PX4.mode(PX4.custom(Mode.LAND)) is Mode.LAND
    assert PX4.mode(3 << 16) is Mode.OTHER  # position control: a person at the sticks
    assert PX4.silence_s({}) == pytest.approx(1.6)
    assert ARDUPILOT.silence_s({}) == pytest.approx(3.9)


@pytest.mark.parametrize("autopilot", [PX4, ARDUPILOT], ids=lambda a: a.name)
def test_every_failsafe_that_is_off_or_unknown_stops_the_flight(autopilot):
    good = GOOD_PARAMETERS[autopilot.name]
    assert all(check.ok for check in parameter_checks(autopilot, good))
    judged = {rule.name for rule in autopilot.rules if not rule.only_with}
    assert judged == set(ALLOWED[autopilot.name])
    assert set(good) == judged | set(autopilot.more)
    for name in judged:
        missing = {key: value for key, value in good.items() if key != name}
        assert [c.name for c in parameter_checks(autopilot, missing) if not c.ok] == [name]
        allowed, refused = ALLOWED[autopilot.name][name]
        for value in allowed:
            assert all(check.ok for check in parameter_checks(autopilot, {**good, name: value})), (name, value)
        for value in refused:
            wrong = [c.name for c in parameter_checks(autopilot, {**good, name: value}) if not c.ok]
            assert wrong == [name], (name, value)


@pytest.mark.parametrize("kind", ["PX4", "ArduPilot"])
def test_the_emergency_stop_stops_the_motors_in_the_air_and_nothing_less_does(kind):
    with MavlinkServer(kind) as drone:
        vehicle = MavlinkVehicle(drone.address, NoiseCamera(), connect_s=60.0)
        vehicle.connect()
        drone.body.arm()
        drone.body.take_off(0.7)
        wait_for(lambda: drone.body.z > 0.3)
        disarm = vehicle.link.mavlink.MAV_CMD_COMPONENT_ARM_DISARM
        assert vehicle.link.command(disarm, 0.0) != 0
        assert drone.body.armed
        vehicle.emergency_stop()
        wait_for(lambda: not drone.body.armed)
        vehicle.close()


@pytest.mark.parametrize("kind", ["PX4", "ArduPilot"])
def test_a_whole_flight(kind):
    # A timer of its own as patient as ours: a stall of this machine is no lost link.
    with MavlinkServer(kind, start=(1.0, 1.5, 0.4), silence_s=10.0) as drone:
        vehicle = MavlinkVehicle(drone.address, NoiseCamera(), start=(1.0, 1.5, 0.4), connect_s=60.0)
        lines: list[str] = []
        outcome = fly_mission(
            vehicle, ScriptedMind(0.4, 0.0, stop_after=5), FlightPlan(governor=PATIENT), say=lines.append
        )
        vehicle.close()
        assert outcome.ended == "landed"
        assert outcome.reasons[0] is Reason.ARRIVED
        assert not drone.body.armed
        # It flew ahead, along its yaw of 0.4, at the height of 0.7 m.
        moved = np.array([drone.body.x - 1.0, drone.body.y - 1.5])
        assert np.linalg.norm(moved) > 0.2
        assert math.atan2(moved[1], moved[0]) == pytest.approx(0.4, abs=0.25)
        assert max(z for _, _, z in drone.path) < 1.2
        assert drone.masks == ({VELOCITY_HEIGHT_MASK, PLACE_MASK} if kind == "PX4" else {VELOCITY_MASK, PLACE_MASK})
        assert any(line.startswith("ok   battery: 90 %") for line in lines)


def test_the_oracle_flies_over_mavlink_and_rtsp(bank, dev_pairs, tmp_path):
    """Everything at once: rendered frames through RTSP, decisions, governor, setpoints, and the way they were meant."""
    example = dev_pairs[3]
    start = (example.start.x, example.start.y, example.start.yaw)
    eye = Eye(bank, example.objects)
    drone = MavlinkServer("PX4", start=start, silence_s=10.0)
    with drone, RtspServer(lambda: eye(drone.body.true_pose), 10) as server:
        camera = VideoStream(server.address, Resampler(Calibration.pinhole(128, 72)), open_s=90.0)
        vehicle = MavlinkVehicle(drone.address, camera, start=start, connect_s=60.0)
        mind = PolicyMind(make_policy("oracle"), example.instruction, demonstration=example.path)
        box = BlackBox(tmp_path / "flight.box")
        outcome = fly_mission(vehicle, mind, FlightPlan(governor=PATIENT), box)
        vehicle.close()
        box.close()
        assert outcome.ended == "landed"
        # The oracle decides half a second late at most on a free machine; on a busy one it still arrives or is landed.
        nearest = min(math.dist((x, y), example.path[-1]) for x, y, _ in drone.path)
        assert Reason.ARRIVED not in outcome.reasons or nearest < 0.6
    recording = load_recording(tmp_path / "flight.box")
    assert recording.sights[0].shot.pixels.shape == (72, 128, 3)
    assert list(govern_again(recording)) == []


def test_a_failsafe_that_is_off_is_not_flown_with():
    with MavlinkServer("PX4", parameters={"COM_OBL_RC_ACT": 0, "GF_ACTION": 0}) as drone:
        vehicle = MavlinkVehicle(drone.address, NoiseCamera(), connect_s=60.0)
        with pytest.raises(WaywordError, match=r"not armed: COM_OBL_RC_ACT: 0 .*GF_ACTION: 0"):
            fly_mission(vehicle, ScriptedMind(), FlightPlan(governor=PATIENT))
        vehicle.close()
        assert not drone.body.armed
        assert drone.setpoints == 0


def test_a_pilot_who_takes_over_is_left_alone():
    with MavlinkServer("PX4") as drone:
        vehicle = MavlinkVehicle(drone.address, NoiseCamera(), connect_s=60.0)

        def pilot() -> None:
            wait_for(lambda: drone.body.mode is Mode.OFFBOARD and drone.body.x > 0.75)  # under way, not climbing
            drone.body.hold()
            wait_for(heard.is_set)
            drone.seen = drone.setpoints
            beats = drone.beats
            wait_for(lambda: drone.beats > beats + 1)  # it is still there, and two seconds have passed
            drone.late = drone.setpoints
            drone.body.land()

        drone.seen = drone.late = -1
        heard = threading.Event()

        def listen(line: str) -> None:
            if "TAKEN_OVER" in line:
                heard.set()

        thread = threading.Thread(target=pilot, daemon=True)
        thread.start()
        outcome = fly_mission(vehicle, ScriptedMind(0.2), FlightPlan(governor=PATIENT), say=listen)
        thread.join()
        vehicle.close()
    assert Reason.TAKEN_OVER in outcome.reasons
    assert drone.late - drone.seen <= 1  # silent: nothing but what was on its way


@pytest.mark.parametrize("kind", ["PX4", "ArduPilot"])
def test_a_lost_link_ends_in_the_autopilots_own_landing(kind):
    with MavlinkServer(kind) as drone:
        vehicle = MavlinkVehicle(drone.address, NoiseCamera(), connect_s=60.0)

        def cut() -> None:
            wait_for(lambda: drone.body.mode is Mode.OFFBOARD and drone.body.x > 0.75)  # under way, not climbing
            drone.mute = True
            wait_for(lambda: drone.body.mode is Mode.GROUND)
            drone.mute = False

        thread = threading.Thread(target=cut, daemon=True)
        thread.start()
        outcome = fly_mission(vehicle, ScriptedMind(0.3), FlightPlan(governor=PATIENT))
        thread.join()
        vehicle.close()
        assert not drone.body.armed
    assert outcome.ended in ("landed", "landed by its autopilot or pilot")


FLYER = """
import sys
sys.path.insert(0, {tests!r})
from test_flight_mavlink import *
from wayword.flight.blackbox import BlackBox
vehicle = MavlinkVehicle(sys.argv[1], NoiseCamera(), connect_s=60.0)
fly_mission(vehicle, ScriptedMind(0.5, 0.0), FlightPlan(governor=PATIENT), BlackBox(sys.argv[2]))
"""


def test_kill_9_ends_in_the_autopilots_own_landing_and_a_readable_black_box(tmp_path):
    box = tmp_path / "flight.box"
    with MavlinkServer("PX4", start=(0.6, 2.0, 0.0)) as drone:
        script = FLYER.format(tests=os.path.dirname(__file__))
        process = subprocess.Popen([sys.executable, "-c", script, drone.address, str(box)])
        wait_for(lambda: process.poll() is not None or (drone.body.mode is Mode.OFFBOARD and drone.body.x > 0.9))
        assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed, at = drone.body.time_s, drone.body.x
        wait_for(lambda: drone.body.mode is Mode.GROUND)
        # 1.1 s until the autopilot's timer and 0.7 s to stop at 0.5 m/s, and a little for what was on its way.
        assert drone.body.x - at < 0.5 * (1.1 + 0.7) + 0.3
        assert drone.body.time_s - killed < 10
    recorded = read_box(box)
    assert recorded.damaged <= 1
    assert sum(1 for _ in recorded.of("tick")) > 5
    assert not list(recorded.of("end"))


def test_nobody_there_is_said_in_one_line():
    vehicle = MavlinkVehicle("udpin://127.0.0.1:14999", NoiseCamera(), connect_s=1.0)
    with pytest.raises(WaywordError, match="no heartbeat for 1 s"):
        vehicle.connect()
