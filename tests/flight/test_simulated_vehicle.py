"""The simulated autopilot and its link: modes, setpoints, delays and failsafes, with numbers worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.errors import WaywordError
from wayword.flight import Mode, Reason
from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.autopilot_model import AutopilotModel, Setpoint
from wayword.flight.faults import ScriptedMind
from wayword.flight.mission import FlightPlan, Outcome, fly_mission
from wayword.flight.simulated import SimulatedVehicle
from wayword.flight.vehicle import PreflightCheck

QUIET = {"position_noise_m": 0.0, "velocity_noise_m_s": 0.0, "latency_s": 0.0}


def hovering(**config) -> AutopilotModel:
    """In the air at (1, 1), 0.7 m high, taking setpoints."""
    body = AutopilotModel(AutopilotModelConfig(**{**QUIET, **config}), 1.0, 1.0)
    body.arm()
    assert body.take_off(0.7)
    body.advance(4.0)
    body.mode = Mode.OFFBOARD
    return body


def stream(body: AutopilotModel, seconds: float, setpoint: Setpoint) -> None:
    for _ in range(round(seconds / 0.05)):
        body.receive(setpoint)
        body.advance(0.05)


def test_speed_follows_with_its_time_constant():
    body = hovering(time_constant_s=0.7)
    start = body.x
    stream(body, 0.7, Setpoint((0.5, 0.0, 0.0), height=0.7))
    # v = 0.5 (1 - e^-1) = 0.316 m/s; x = 0.5 (0.7 - 0.7 (1 - e^-1)) = 0.1288 m.
    assert body.vx == pytest.approx(0.3161, abs=1e-3)
    assert body.x - start == pytest.approx(0.1288, abs=1e-3)
    assert abs(body.vy) < 1e-9


def test_a_turn_follows_with_a_time_constant_of_its_own():
    body = hovering(yaw_time_constant_s=0.2)
    stream(body, 0.2, Setpoint((0.0, 0.0, 0.0), 1.0, height=0.7))
    assert body.yaw_rate == pytest.approx(1 - math.exp(-1), abs=0.01)
    stream(body, 2.0, Setpoint((0.0, 0.0, 0.0), 1.0, height=0.7))
    assert body.yaw == pytest.approx(2.2 - 0.2, abs=0.02)  # a constant rate, one time constant behind


def test_setpoints_take_effect_after_the_latency():
    body = hovering(latency_s=0.3)
    body.receive(Setpoint((0.5, 0.0, 0.0), height=0.7))
    body.advance(0.29)
    assert body.vx == pytest.approx(0.0, abs=1e-9)
    body.advance(0.05)
    assert body.vx > 0.01


def test_it_leans_into_its_acceleration():
    body = hovering(time_constant_s=0.7)
    stream(body, 0.2, Setpoint((0.7, 0.0, 0.0), height=0.7))
    assert body.pitch > 0.03  # forward: the nose goes down
    assert abs(body.roll) < 1e-9
    body = hovering(time_constant_s=0.7)
    stream(body, 0.2, Setpoint((0.0, 0.7, 0.0), height=0.7))
    assert body.roll < -0.03  # to the left: the left side goes down
    assert abs(body.pitch) < 1e-9


def test_a_place_is_flown_to_and_held():
    body = hovering()
    stream(body, 15.0, Setpoint(None, place=(2.0, 0.5), yaw=1.0, height=1.0))
    assert (body.x, body.y, body.z, body.yaw) == pytest.approx((2.0, 0.5, 1.0, 1.0), abs=0.01)
    assert math.hypot(body.vx, body.vy) < 0.01


def test_it_goes_to_a_far_place_at_half_a_metre_a_second():
    body = hovering()
    stream(body, 5.0, Setpoint(None, place=(9.0, 1.0), height=0.7))
    assert math.hypot(body.vx, body.vy) == pytest.approx(0.5, abs=0.01)


def test_take_off_climbs_holds_and_needs_armed_motors():
    body = AutopilotModel(AutopilotModelConfig(**QUIET))
    assert not body.take_off(0.7)
    body.arm()
    assert body.take_off(0.7)
    body.advance(1.0)
    assert body.mode is Mode.TAKEOFF
    assert 0.2 < body.z < 0.5  # at most 0.5 m/s
    body.advance(3.0)
    assert body.mode is Mode.HOLD
    assert body.z == pytest.approx(0.7, abs=0.05)
    assert not body.take_off(0.7)  # it is up already


def test_landing_ends_on_the_ground_where_it_began():
    body = hovering()
    body.land()
    assert body.mode is Mode.LAND
    body.advance(1.0)
    assert body.z == pytest.approx(0.7 - 0.4 * 1.0, abs=0.1)
    body.advance(2.0)
    assert (body.mode, body.armed, body.z) == (Mode.GROUND, False, 0.0)
    assert (body.x, body.y) == pytest.approx((1.0, 1.0), abs=0.02)
    place = (body.x, body.y)
    body.receive(Setpoint((0.7, 0.0, 0.0)))
    body.advance(1.0)
    assert (body.x, body.y) == place  # on the ground nothing moves


@pytest.mark.parametrize(("action", "mode"), [("land", Mode.LAND), ("hold", Mode.HOLD), ("stop", Mode.OFFBOARD)])
def test_what_it_does_when_setpoints_stop(action: str, mode: Mode):
    body = hovering(silence_s=1.1, on_silence=action)
    stream(body, 2.0, Setpoint((0.5, 0.0, 0.0), height=0.7))
    assert body.vx > 0.4
    body.advance(1.0)
    assert body.mode is Mode.OFFBOARD
    assert body.vx > 0.4  # until then it goes on with the last one
    body.advance(0.2)
    assert body.mode is mode
    body.advance(5.0)
    assert abs(body.vx) < 0.03


def test_a_held_place_outlives_the_stream_where_the_autopilot_only_stops():
    body = hovering(silence_s=0.5, on_silence="stop")
    stream(body, 1.0, Setpoint(None, place=(2.0, 1.0), yaw=0.0, height=0.7))
    body.advance(15.0)
    assert body.mode is Mode.OFFBOARD
    assert (body.x, body.y) == pytest.approx((2.0, 1.0), abs=0.02)


def test_a_jump_moves_what_it_believes_and_not_itself():
    body = hovering()
    body.jump(0.5, -0.25)
    assert (body.x, body.y) == pytest.approx((1.0, 1.0), abs=0.02)
    told = body.telemetry().pose
    assert (told[0] - body.x, told[1] - body.y) == pytest.approx((0.5, -0.25))
    # Told to stay where it believes to have been, it really goes the other way.
    stream(body, 10.0, Setpoint(None, place=(1.0, 1.0), yaw=0.0, height=0.7))
    assert (body.x, body.y) == pytest.approx((0.5, 1.25), abs=0.02)


def test_wind_is_learned_and_gusts_come_from_the_seed():
    calm, windy = hovering(), hovering(wind_m_s=(1.0, 0.0))
    for body in (calm, windy):
        stream(body, 0.5, Setpoint((0.0, 0.0, 0.0), height=0.7))
    assert windy.x > calm.x + 0.005
    stream(windy, 20.0, Setpoint((0.0, 0.0, 0.0), height=0.7))
    assert abs(windy.vx) < 0.01

    def gusty(seed: int) -> float:
        body = AutopilotModel(AutopilotModelConfig(**QUIET, gust_m_s=1.0), 1.0, 1.0, seed=seed)
        body.arm()
        body.take_off(0.7)
        body.advance(6.0)
        return body.x

    assert gusty(1) == gusty(1) != gusty(2)


def test_motors_off_means_down():
    body = hovering()
    body.kill()
    assert (body.mode, body.armed, body.z) == (Mode.GROUND, False, 0.0)


def test_noise_is_added_to_what_is_told_and_not_to_where_it_is():
    body = AutopilotModel(AutopilotModelConfig(position_noise_m=0.01), 1.0, 2.0)
    told = np.array([body.telemetry().pose[:2] for _ in range(500)])
    assert told.mean(axis=0) == pytest.approx((1.0, 2.0), abs=0.002)
    assert told.std(axis=0) == pytest.approx((0.01, 0.01), rel=0.15)
    assert body.true_pose[:2] == (1.0, 2.0)


def flying(**link) -> SimulatedVehicle:
    vehicle = SimulatedVehicle(AutopilotModel(AutopilotModelConfig(**QUIET), 1.0, 1.0))
    for name, value in link.items():
        setattr(vehicle.link, name, value)
    vehicle.connect()
    return vehicle


def test_poses_arrive_late_with_the_time_at_which_they_were_true():
    vehicle = flying(pose_delay_s=0.2)
    vehicle.wait(1.0)
    told = vehicle.telemetry()
    assert vehicle.now() - told.pose_s == pytest.approx(0.2, abs=0.05)
    assert told.link_s == pytest.approx(vehicle.now())


def test_images_arrive_late_with_the_time_at_which_they_were_taken():
    vehicle = flying(camera_delay_s=0.3)
    vehicle.wait(1.0)
    shot = vehicle.shot()
    assert shot is not None
    assert 0.25 <= vehicle.now() - shot.taken_s <= 0.45


def test_a_camera_that_freezes_or_stops_shows_nothing_new():
    for change in ({"camera_frozen": True}, {"camera_up": False}):
        vehicle = flying()
        vehicle.wait(1.0)
        for name, value in change.items():
            setattr(vehicle.link, name, value)
        vehicle.wait(1.0)
        before = vehicle.shot()
        vehicle.wait(1.0)
        after = vehicle.shot()
        assert before is not None
        assert after is not None
        assert after.taken_s == before.taken_s
        vehicle.link.camera_frozen, vehicle.link.camera_up = False, True
        vehicle.wait(0.5)
        assert vehicle.shot().taken_s > before.taken_s


def test_a_link_that_is_down_carries_nothing_either_way():
    vehicle = flying()
    vehicle.take_off(0.7)
    before = vehicle.telemetry()
    vehicle.link.up = False
    vehicle.set_velocity(0.7, 0.0)
    vehicle.wait(0.5)
    assert vehicle.telemetry() == before
    assert abs(vehicle.body.vx) < 1e-6
    vehicle.wait(1.0)  # 1.1 s after the last setpoint that it heard
    assert vehicle.body.mode is Mode.LAND


def test_velocities_are_in_the_frame_of_the_vehicle():
    vehicle = flying()
    vehicle.body.yaw = math.pi / 2
    vehicle.take_off(0.7)
    for _ in range(60):
        vehicle.telemetry()
        vehicle.set_velocity(0.5, 0.0, 0.2)
        vehicle.wait(0.05)
    # Looking along +y: forward is +y, left is -x.
    assert (vehicle.body.vx, vehicle.body.vy) == pytest.approx((-0.2, 0.5), abs=0.01)


def test_a_flight_ends_where_the_mind_says():
    vehicle = SimulatedVehicle(AutopilotModel(AutopilotModelConfig(**QUIET), 1.0, 2.0))
    said: list[str] = []
    outcome = fly_mission(vehicle, ScriptedMind(0.5, 0.0, stop_after=4), FlightPlan(lockstep=True), say=said.append)
    assert outcome.ended == "landed"
    assert outcome.reasons == (Reason.ARRIVED,)
    assert outcome.decisions == 5
    assert outcome.path.shape == (len(outcome.tracks), 2)
    assert outcome.path[0] == pytest.approx((1.0, 2.0), abs=0.05)
    # Four decisions of half a second at 0.5 m/s, less what the climb to that speed takes.
    assert 1.4 < outcome.path[-1][0] < 2.1
    assert abs(outcome.path[-1][1] - 2.0) < 0.05
    assert outcome.line().startswith("landed after ")
    assert outcome.line().endswith("5 decisions (ARRIVED)")
    assert any("[ARRIVED]" in line for line in said)
    assert [line[:2] for line in said if line.startswith(("ok", "STOP"))] == ["ok"] * len(outcome.checks)


def test_a_flight_without_an_end_has_no_reason():
    assert Outcome("lost", (), 3.0, 2, [], []).line() == "lost after 3.0 s and 2 decisions (no reason)"
    assert Outcome("lost", (), 3.0, 2, [], []).path.shape == (0, 2)


@pytest.mark.parametrize("height", [0.3, 0.2, 1.5, 1.6, math.nan])
def test_heights_outside_the_band_are_not_flown(height: float):
    with pytest.raises(WaywordError, match="flight height"):
        FlightPlan(height_m=height)


def test_lines_of_the_list_before_a_flight():
    good = PreflightCheck("link", True, "last heard 0.10 s ago", "within 1 s", "look at the cable")
    bad = PreflightCheck("battery", False, "12 %", "at least 30 %", "charge it")
    short = PreflightCheck("pose", False, "never", "within 0.3 s")
    assert good.line() == "ok   link: last heard 0.10 s ago"
    assert bad.line() == "STOP battery: 12 % (wanted at least 30 %; charge it)"
    assert short.line() == "STOP pose: never (wanted within 0.3 s)"
