"""What was seen on real autopilots and must not happen again, against a stand-in that behaves as they do."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("pymavlink", reason="needs pymavlink: pip install -e '.[flight]'")

from wayword.errors import WaywordError
from wayword.flight import GovernorConfig, Mode, Reason, Shot
from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.autopilot_model import AutopilotModel, Setpoint
from wayword.flight.decider import PolicyMind
from wayword.flight.faults import ScriptedMind
from wayword.flight.mavlink_link import MavlinkLink
from wayword.flight.mavlink_vehicle import MavlinkVehicle
from wayword.flight.mission import FlightPlan, fly_mission
from wayword.flight.preflight import preflight
from wayword.flight.setup import simulated_vehicle
from wayword.flight.simulated import SimulatedVehicle
from wayword.flight.testing.mavlink_server import MavlinkServer
from wayword.pilot.pilot import open_database
from wayword.policy import make_policy

# What is tested is the protocol, not the clock of a busy machine.
PATIENT = GovernorConfig(image_s=6.0, pose_s=6.0, link_s=8.0, decision_intervals=12.0, jump_m=3.0, jump_rad=4.0)


class NoiseCamera:
    """A camera that is always on time."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def shot(self) -> Shot:
        return Shot(self._rng.integers(0, 256, (2, 4, 3), dtype=np.uint8), time.monotonic())

    def close(self) -> None:
        pass


def wait_for(holds, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextlib.contextmanager
def in_flight(kind: str, **options) -> Iterator[tuple[MavlinkServer, MavlinkVehicle]]:
    """A vehicle that hovers at 0.7 m in our hands."""
    with MavlinkServer(kind, **options) as drone:
        vehicle = MavlinkVehicle(drone.address, NoiseCamera(), connect_s=60.0)
        vehicle.connect()
        body = drone.body
        body.armed, body.z, body.mode = True, 0.7, Mode.OFFBOARD
        body.receive(Setpoint(height=0.7))
        vehicle.height_m = 0.7
        wait_for(lambda: vehicle.telemetry().armed)
        vehicle.helm.take(time.monotonic())
        yield drone, vehicle
        vehicle.close()


def stream(vehicle: MavlinkVehicle, seconds: float) -> None:
    """What the governor does: look and send, twenty times a second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        vehicle.telemetry()
        vehicle.hold(None)
        time.sleep(0.05)


# 1. A pilot who takes over less than a second before our landing.


@pytest.mark.parametrize("kind", ["PX4", "ArduPilot"])
def test_a_landing_asks_who_flies_first(kind):
    with in_flight(kind) as (drone, vehicle):
        stream(vehicle, 0.3)
        drone.body.hold()  # the pilot; PX4 will say so within a second
        time.sleep(0.11)  # an ArduPilot within a tenth
        vehicle.land()
        stream(vehicle, 0.3)
        vehicle.land()
        assert drone.mode_commands == []
        assert drone.body.mode is Mode.HOLD
        assert vehicle.telemetry().mode is not Mode.OFFBOARD


@pytest.mark.parametrize("kind", ["PX4", "ArduPilot"])
def test_a_landing_of_ours_is_granted(kind):
    with in_flight(kind) as (drone, vehicle):
        stream(vehicle, 0.3)
        wait_for(lambda: vehicle.land() and drone.mode_commands)
        assert drone.mode_commands[0][1:] == (Mode.LAND, Mode.OFFBOARD)
        wait_for(lambda: vehicle.telemetry().mode is Mode.LAND)
        assert vehicle.helm.lost is None


def test_a_vehicle_that_cannot_be_asked_lands_at_its_next_heartbeat():
    with in_flight("PX4") as (drone, vehicle):
        drone.answers_requests = False
        vehicle.helm.answers = False
        stream(vehicle, 0.2)
        began = drone.body.time_s
        while not drone.mode_commands:
            vehicle.land()
            time.sleep(0.05)
        assert drone.mode_commands[0][0] - began < 3.0


def test_a_pilot_who_gives_back_between_two_looks_has_taken_over():
    with in_flight("ArduPilot") as (drone, vehicle):
        stream(vehicle, 0.3)
        drone.body.mode = Mode.HOLD
        wait_for(lambda: vehicle.helm.lost is Mode.HOLD)  # nobody has looked
        drone.body.mode = Mode.OFFBOARD
        sent = drone.setpoints
        stream(vehicle, 0.5)
        assert drone.setpoints == sent
        assert vehicle.telemetry().mode is Mode.OTHER
        vehicle.emergency_stop()  # nothing is sent, least of all this
        time.sleep(0.2)
        assert drone.body.armed


# 2. A ceiling of ArduCopter's own that lies below the floor.


def test_arducopter_pushes_down_what_is_above_its_margin():
    body = AutopilotModel(AutopilotModelConfig(ceiling_m=0.0))
    body.arm()
    body.take_off(0.7)
    body.advance(5.0)
    assert body.z < 0.1


def test_a_ceiling_a_little_above_the_fence_is_not_flown_under():
    with MavlinkServer("ArduPilot", parameters={"FENCE_ALT_MAX": 2.0}) as drone:
        vehicle = MavlinkVehicle(drone.address, NoiseCamera(), connect_s=60.0)
        with pytest.raises(WaywordError, match=r"not armed: room in FENCE_ALT_MAX: 2 m less FENCE_MARGIN 2 m"):
            fly_mission(vehicle, ScriptedMind(), FlightPlan(governor=PATIENT))
        vehicle.close()
        assert not drone.body.armed


# 3. A link that is lost for a moment, while images go on.


@pytest.mark.parametrize("seconds", [0.5, 1.0, 2.0])
def test_no_image_is_mapped_from_where_the_vehicle_was_before(seconds):
    body = AutopilotModel(AutopilotModelConfig(silence_s=3.9, on_silence="stop"), 0.6, 1.0)
    vehicle, wrong, true = SimulatedVehicle(body), [], {}

    class Compared(ScriptedMind):
        def decide(self, pixels, pose):
            wrong.append(np.hypot(*np.subtract(pose[:2], true[pixels.tobytes()][:2])))
            return super().decide(pixels, pose)

    look = vehicle._look

    def seen():
        pixels = look()
        true[pixels.tobytes()] = body.true_pose
        return pixels

    vehicle._look = seen
    began: list[float] = []

    def cut(v: SimulatedVehicle) -> None:
        if body.mode is Mode.OFFBOARD:
            began[:] = began or [v.now()]
            v.link.up = not 2.0 <= v.now() - began[0] < 2.0 + seconds

    vehicle.on_step = cut
    plan = FlightPlan(governor=GovernorConfig(max_flight_s=8.0), lockstep=True, catch_signals=False)
    fly_mission(vehicle, Compared(0.7, 0.4), plan)
    assert len(wrong) > 8
    assert max(wrong[2:]) < 0.1  # the first two are made on the ground, as if it were in the air


def test_the_real_policy_maps_nothing_from_where_it_was_before(bank, dev_pairs):
    """FsPVN in the drawn world, on a vehicle as PX4 flies it, with a second without a link in the middle."""
    example = dev_pairs[3]
    vehicle = simulated_vehicle(bank, example.objects, example.start, speed_share=0.8, comes_back=True, silence_s=1.6)
    true: dict[bytes, tuple[float, ...]] = {}
    body, eye = vehicle.body, vehicle.eye

    def seen(pose):
        pixels = eye(pose)
        true[pixels.tobytes()] = pose
        return pixels

    vehicle.eye, began = seen, []

    def cut(v: SimulatedVehicle) -> None:
        if body.mode is Mode.OFFBOARD:
            began[:] = began or [v.now()]
            v.link.up = not 2.0 <= v.now() - began[0] < 3.0

    vehicle.on_step = cut
    mind, wrong = PolicyMind(make_policy("fspvn"), example.instruction, open_database("dev")), []
    decide = mind.decide

    def compared(pixels, pose):
        wrong.append(np.hypot(*np.subtract(pose[:2], true[pixels.tobytes()][:2])))
        return decide(pixels, pose)

    mind.decide = compared
    plan = FlightPlan(governor=GovernorConfig(max_flight_s=10.0), lockstep=True, catch_signals=False)
    outcome = fly_mission(vehicle, mind, plan)
    assert outcome.ended == "landed"
    assert outcome.decisions > 8
    assert max(wrong) < 0.1


# 4. PX4's failsafe landing, which ends as soon as setpoints return.


def test_setpoints_would_end_px4s_failsafe():
    body = AutopilotModel(AutopilotModelConfig(comes_back=True))
    body.armed, body.z, body.mode = True, 0.7, Mode.OFFBOARD
    body.receive(Setpoint())
    body.advance(1.5)
    assert body.mode is Mode.LAND
    body.receive(Setpoint())
    assert body.mode is Mode.OFFBOARD
    body.hold()  # but not what a pilot chose
    body.receive(Setpoint())
    assert body.mode is Mode.HOLD


@pytest.mark.parametrize("cut", ["mute", "deaf"])
def test_a_failsafe_landing_is_never_undone(cut):
    """Both ways, and our way only: then poses go on, but answers do not."""
    with in_flight("PX4") as (drone, vehicle):
        stream(vehicle, 0.3)
        setattr(drone, cut, True)
        end = time.monotonic() + 30
        while drone.body.mode is Mode.OFFBOARD and time.monotonic() < end:
            stream(vehicle, 0.05)
        setattr(drone, cut, False)
        assert drone.body.mode is Mode.LAND
        stream(vehicle, 1.0)
        assert drone.body.mode in (Mode.LAND, Mode.GROUND)
        assert vehicle.helm.lost is Mode.LAND


def test_a_short_gap_is_flown_over():
    with in_flight("PX4", silence_s=30.0) as (drone, vehicle):
        stream(vehicle, 0.3)
        drone.mute = True
        stream(vehicle, 0.7)
        sent = drone.setpoints
        drone.mute = False
        wait_for(lambda: (stream(vehicle, 0.05), drone.setpoints > sent)[1])
        assert vehicle.helm.lost is None


def test_an_arducopter_that_is_not_heard_is_left_to_its_own_failsafe():
    """A landing is wanted, nobody answers: our heartbeat stops, or it would hover for ever."""
    with in_flight("ArduPilot", parameters={"FS_GCS_TIMEOUT": 2.0}) as (drone, vehicle):
        stream(vehicle, 0.3)
        drone.speechless = True
        end = time.monotonic() + 30
        while drone.body.mode is Mode.OFFBOARD and time.monotonic() < end:
            vehicle.telemetry()
            vehicle.land()
            time.sleep(0.05)
        assert drone.body.mode is Mode.LAND


# 6. Smaller things.


def test_a_second_listener_does_not_steal_the_link():
    with in_flight("PX4") as (drone, vehicle):
        with pytest.raises(WaywordError, match="is a flight or a check using it"):
            MavlinkLink(drone.address)
        heard = vehicle.telemetry().pose_s
        wait_for(lambda: vehicle.telemetry().pose_s > heard)
    again = MavlinkLink(drone.address)  # and it is free afterwards
    again.close()


@pytest.mark.parametrize("kind", ["PX4", "ArduPilot"])
def test_a_refusal_is_said_in_the_vehicles_own_words(kind):
    with MavlinkServer(kind) as drone:
        drone.refusal = "PreArm: Compass not calibrated, and neither is anything else on this aircraft"
        vehicle = MavlinkVehicle(drone.address, NoiseCamera(), connect_s=60.0)
        with pytest.raises(
            WaywordError, match=r"refused \(result 1\) .* \(the vehicle says: PreArm: Compass not .*craft"
        ):
            fly_mission(vehicle, ScriptedMind(), FlightPlan(governor=PATIENT))
        vehicle.close()


def test_how_well_the_autopilot_is_stands_on_the_list():
    with MavlinkServer("PX4") as drone:
        drone.voice.unhealthy = 0b100
        vehicle = MavlinkVehicle(drone.address, NoiseCamera(), connect_s=60.0)
        vehicle.connect()
        lines = {check.name: check.line() for check in preflight(vehicle, FlightPlan(governor=PATIENT))}
        vehicle.close()
    assert lines["autopilot health"].startswith("STOP autopilot health: not well: 3d mag, prearm check")
    assert lines["room in GF_MAX_VER_DIST"].startswith("ok ")


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="needs the main thread")
@pytest.mark.parametrize("kind", ["PX4", "ArduPilot"])
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_in_the_climb_leaves_a_second_one_for_the_motors(kind, times):
    with MavlinkServer(kind) as drone:
        vehicle = MavlinkVehicle(drone.address, NoiseCamera(), connect_s=60.0)
        fell_from: list[float] = []

        def hand() -> None:
            wait_for(lambda: drone.body.z > 0.3)
            os.kill(os.getpid(), signal.SIGINT)
            if times == 2:
                wait_for(lambda: drone.body.mode is Mode.LAND)
                time.sleep(0.1)
                fell_from.append(drone.body.z)
                os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=hand, daemon=True)
        thread.start()
        outcome = fly_mission(vehicle, ScriptedMind(), FlightPlan(governor=PATIENT))
        thread.join()
        wait_for(lambda: not drone.body.armed)
        vehicle.close()
    assert outcome.reasons == (Reason.PILOT_LAND,)
    assert outcome.ended == ("landed" if times == 1 else "emergency stop")
    assert times == 1 or fell_from[0] > 0.05


ORPHAN = """
import os, signal, threading
from wayword.flight.decider import PolicyMind
from wayword.flight.faults import ScriptedMind
from wayword.flight.mind_process import MindProcess
if __name__ == "__main__":
    import numpy as np
    mind = MindProcess(ScriptedMind)
    mind._pipe.send((np.zeros((720, 1280, 3), np.uint8), (0.0,) * 6))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_orphan_leaves_without_a_word(tmp_path):
    script = tmp_path / "orphan.py"
    script.write_text(ORPHAN)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    assert done.stderr == ""
