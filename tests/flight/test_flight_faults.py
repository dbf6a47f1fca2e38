"""Faults in simulated flight: end state, reason codes and distance of every case, and random ones against the fence."""

from __future__ import annotations

import functools
import math
import os
import shutil
import signal
import time
from dataclasses import replace

import numpy as np
import pytest

from wayword.errors import WaywordError
from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.autopilot_model import AutopilotModel, Setpoint
from wayword.flight.decider import Decider, PolicyMind
from wayword.flight.fault_suite import _wind, cases
from wayword.flight.faults import Case, ScriptedMind, fault_table, run_case
from wayword.flight.governor import GovernorConfig
from wayword.flight.loop import GovernorLoop
from wayword.flight.mind_process import MindProcess
from wayword.flight.mission import FlightPlan, fly_mission
from wayword.flight.random_faults import EDGES, Edge, edge_report, random_flight, report
from wayword.flight.reasons import Reason
from wayword.flight.setup import MindRecipe, simulated_vehicle
from wayword.flight.simulated import SimulatedVehicle
from wayword.flight.vehicle import Mode, VehicleFacts
from wayword.sim.vehicle import Fleet, VehicleConfig


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_fault_suite(case: Case):
    result = run_case(case)
    assert result.problems == []


def test_random_faulty_flights_stay_inside_their_fences():
    flights = [random_flight(index, seed=1) for index in range(40)]
    assert [f.index for f in flights if f.nearest_m < 0] == []
    assert len({f.fault for f in flights}) >= 8
    assert "40 flights, 0 fence violations" in report(flights)
    assert random_flight(7, seed=1).nearest_m == flights[7].nearest_m


@pytest.mark.parametrize("edge", [edge for edge in EDGES if edge.holds], ids=lambda edge: edge.name)
def test_at_the_edge_of_what_is_promised_the_fence_holds(edge: Edge):
    flights = [random_flight(index, 5, edge) for index in range(12)]
    assert [f.index for f in flights if f.nearest_m < 0] == []
    assert f"| {edge.name} | yes | 12 | 0 |" in edge_report((edge, flight) for flight in flights)


def test_a_pose_that_creeps_away_is_not_seen():
    """What docs/safety.md says cannot be closed is so: this one is carried over the fence."""
    creeping = next(edge for edge in EDGES if edge.drift_m_s)
    assert random_flight(6, 5, creeping).nearest_m < 0


def test_a_governor_that_is_lied_to_would_leave_the_fence(monkeypatch):
    """The suite can fail: with an autopilot that goes on for longer than it said, a lost link breaks the fence."""
    monkeypatch.setattr(SimulatedVehicle, "connect", lambda self: (self.wait(0.3), VehicleFacts("liar", 0.0))[1])
    case = next(case for case in cases() if case.name == "link lost at the fence, ArduPilot")
    assert any("left the fence" in problem for problem in run_case(case).problems)


@pytest.mark.parametrize("name", ["object ahead", "object ahead, slow vehicle"])
def test_a_governor_that_does_not_know_of_an_object_touches_it(name):
    """The suite can fail: the same flight with nothing on the policy's map."""
    case = next(case for case in cases() if case.name == name)
    blind = run_case(replace(case, mapped=False))
    assert blind.contacts > 0
    assert any("touched an object" in problem for problem in blind.problems)


def test_an_object_is_neither_touched_nor_stood_before_for_ever():
    """Straight at full speed past its edge: the vehicle slides by and flies on."""
    case = next(case for case in cases() if case.name == "object ahead")
    result = run_case(replace(case, columns=((3.0, 2.6, 0.2),), start=(0.6, 2.35, 0.0)))
    assert result.contacts == 0
    assert result.gap_m > 0.02
    assert result.outcome.path[-1][0] > 3.5


def test_objects_are_solid():
    body = AutopilotModel(AutopilotModelConfig(latency_s=0.0), 1.0, 1.0, columns=np.array([[2.0, 1.0, 0.2]]))
    body.arm()
    body.take_off(0.7)
    body.advance(4.0)
    body.mode = Mode.OFFBOARD
    for _ in range(60):
        body.receive(Setpoint((0.7, 0.0, 0.0), height=0.7))
        body.advance(0.05)
    assert body.x == pytest.approx(2.0 - 0.2 - 0.08, abs=1e-3)
    assert body.contacts == 1
    assert body.gap_m == pytest.approx(0.0, abs=1e-6)


def test_a_wind_that_is_too_strong_does_carry_it_over_the_fence():
    """What docs/safety.md calls the limit is one: 6 m/s all at once are too much for a vehicle of 0.7 s."""
    case = next(case for case in cases() if case.name == "wind at the fence")
    assert any("left the fence" in p for p in run_case(replace(case, begin=_wind(6.0))).problems)


def test_ardupilot_stands_still_in_guided_unless_it_watches_our_heartbeat():
    for heartbeat_s, mode in ((math.inf, Mode.OFFBOARD), (5.0, Mode.GROUND)):
        config = AutopilotModelConfig(silence_s=3.9, on_silence="stop", heartbeat_s=heartbeat_s)
        vehicle = SimulatedVehicle(AutopilotModel(config, 1.0, 2.0))
        vehicle.connect()
        vehicle.take_off(0.7)
        vehicle.telemetry()
        vehicle.set_velocity(0.5, 0.0)
        vehicle.wait(3.8)
        assert vehicle.body.vx > 0.45
        vehicle.link.up = False
        vehicle.wait(12.0)
        assert vehicle.body.mode is mode
        assert abs(vehicle.body.vx) < 0.01


def test_the_table_names_every_case():
    results = [run_case(case) for case in cases()[:2]]
    text = fault_table(results)
    assert text.count("\n") == 4
    assert "| no fault |" in text
    assert "`NO_IMAGE`" in text


def test_the_autopilot_model_moves_like_the_simulator():
    config = AutopilotModelConfig(time_constant_s=0.5, latency_s=0.0)
    body = AutopilotModel(config, 1.0, 1.0, 0.3)
    body.arm()
    body.take_off(0.7)
    body.advance(5.0)
    body.mode = Mode.OFFBOARD
    fleet = Fleet(1, VehicleConfig(time_constant_s=0.5))
    fleet.reset([0], body.x, body.y, 0.3)
    for _ in range(100):
        body.receive(Setpoint((0.7 * np.cos(0.3), 0.7 * np.sin(0.3), 0.0), 0.0, height=0.7))
        body.advance(0.02)
    fleet.step([[0.7, 0.0]], 2.0)
    assert np.hypot(body.x - fleet.pose[0, 0], body.y - fleet.pose[0, 1]) < 0.01


def test_offboard_is_refused_without_a_stream_and_left_without_one():
    body = AutopilotModel(AutopilotModelConfig(silence_s=1.1))
    body.arm()
    body.take_off(0.7)
    body.advance(4.0)
    assert body.mode is Mode.HOLD
    assert not body.offboard()
    for _ in range(12):
        body.receive(Setpoint())
        body.advance(0.05)
    assert body.offboard()
    body.advance(1.0)
    assert body.mode is Mode.OFFBOARD
    body.advance(0.2)
    assert body.mode is Mode.LAND


def test_preflight_refuses_what_is_not_ready():
    flat = SimulatedVehicle(AutopilotModel())
    flat.body.battery = 0.25
    with pytest.raises(WaywordError, match="not armed: battery: 25 %"):
        fly_mission(flat, ScriptedMind(), FlightPlan(lockstep=True))
    assert not flat.body.armed
    outside = SimulatedVehicle(AutopilotModel(x=5.6))
    with pytest.raises(WaywordError, match="not armed: place"):
        fly_mission(outside, ScriptedMind(), FlightPlan(lockstep=True))
    blind = SimulatedVehicle(AutopilotModel())
    blind.link.camera_up = False
    with pytest.raises(WaywordError, match="camera: no image"):
        fly_mission(blind, ScriptedMind(), FlightPlan(lockstep=True))
    with pytest.raises(WaywordError, match="policy: RuntimeError"):
        fly_mission(SimulatedVehicle(), ScriptedMind(crash=True), FlightPlan(lockstep=True))
    with pytest.raises(WaywordError, match="flight height"):
        FlightPlan(height_m=3.0)


def test_ctrl_c_lands_and_the_second_stops_the_motors():
    def after(seconds, times):
        def watch(vehicle):
            flying = vehicle.body.mode in (Mode.OFFBOARD, Mode.LAND)
            if flying and vehicle.body.time_s > seconds and vehicle.pressed < times:
                vehicle.pressed += 1
                os.kill(os.getpid(), signal.SIGINT)

        vehicle = SimulatedVehicle(on_step=watch)
        vehicle.pressed = 0
        return vehicle

    before = signal.getsignal(signal.SIGINT)
    once = after(8, 1)
    assert fly_mission(once, ScriptedMind(), FlightPlan(lockstep=True)).reasons == (Reason.PILOT_LAND,)
    twice = after(8, 2)
    outcome = fly_mission(twice, ScriptedMind(), FlightPlan(lockstep=True))
    assert outcome.ended == "emergency stop"
    assert not twice.body.armed
    assert signal.getsignal(signal.SIGINT) is before


def test_a_polite_kill_lands_however_often():
    def watch(vehicle):
        if vehicle.body.time_s > 8 and vehicle.body.mode in (Mode.OFFBOARD, Mode.LAND):
            os.kill(os.getpid(), signal.SIGTERM)

    before, vehicle = signal.getsignal(signal.SIGTERM), SimulatedVehicle(on_step=watch)
    outcome = fly_mission(vehicle, ScriptedMind(), FlightPlan(lockstep=True))
    assert (outcome.ended, outcome.reasons) == ("landed", (Reason.PILOT_LAND,))
    assert signal.getsignal(signal.SIGTERM) is before


def test_once_somebody_else_flies_ctrl_c_only_leaves():
    def watch(vehicle):
        if vehicle.body.time_s > 8 and vehicle.body.mode is Mode.OFFBOARD:
            vehicle.body.hold()  # the pilot's switch
        if vehicle.body.time_s > 10:
            os.kill(os.getpid(), signal.SIGINT)

    vehicle = SimulatedVehicle(on_step=watch)
    outcome = fly_mission(vehicle, ScriptedMind(), FlightPlan(lockstep=True))
    assert (outcome.ended, outcome.reasons) == ("taken over", (Reason.TAKEN_OVER,))
    assert vehicle.body.armed
    assert vehicle.body.mode is Mode.HOLD
    assert vehicle.body.z > 0.5
    assert vehicle.now() < 10.2  # at once


def test_a_governor_that_fails_lands(monkeypatch):
    import wayword.flight.loop as module

    vehicle = SimulatedVehicle()
    ticks = 0

    def broken(*arguments):
        nonlocal ticks
        ticks += 1
        if ticks > 40:
            raise ZeroDivisionError("a bug")
        return original(*arguments)

    original = module.step
    monkeypatch.setattr(module, "step", broken)
    fly_mission(vehicle, ScriptedMind(), FlightPlan(lockstep=True))
    assert vehicle.body.mode is Mode.GROUND
    assert vehicle.body.true_pose[2] == 0.0


def test_the_thread_survives_a_policy_that_hangs():
    """In real time: the mind never answers, and the governor goes on ticking and holds."""

    class Hanging(ScriptedMind):
        def decide(self, pixels, pose):
            time.sleep(3600)

    vehicle = SimulatedVehicle()
    vehicle.connect()
    vehicle.take_off(0.7)
    decider = Decider(vehicle, Hanging())
    loop = GovernorLoop(vehicle, decider, config=GovernorConfig(patience_s=1.0))
    loop.begin()
    loop.tick()
    decider.start()
    for _ in range(60):
        loop.tick()
        vehicle.wait(0.05)
        time.sleep(0.001)
    assert loop.state.landing
    assert Reason.NO_DECISION in loop.state.lasting
    decider.stop()


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    from wayword.pilot.pilot import SHIPPED_OBJECTS

    folder = tmp_path_factory.mktemp("database") / "mine"
    shutil.copytree(SHIPPED_OBJECTS / "dev", folder)
    return folder


def test_deleting_the_database_in_flight_changes_nothing(taught, bank, dev_pairs):
    example = dev_pairs[0]
    mind = MindRecipe(example.instruction, str(taught))()
    vehicle = simulated_vehicle(bank, example.objects, example.start)
    assert isinstance(vehicle, SimulatedVehicle)

    def delete(vehicle):
        if vehicle.body.mode is Mode.OFFBOARD:
            shutil.rmtree(taught, ignore_errors=True)

    vehicle.on_step = delete
    outcome = fly_mission(vehicle, mind, FlightPlan(governor=GovernorConfig(max_flight_s=4.0), lockstep=True))
    assert not taught.exists()
    assert outcome.ended == "landed"
    assert outcome.decisions >= 4
    assert Reason.POLICY_FAILED not in outcome.reasons


def test_the_oracle_flies_governed_to_the_end_of_its_path(bank, dev_pairs):
    from wayword.policy import make_policy

    example = dev_pairs[3]
    vehicle = simulated_vehicle(bank, example.objects, example.start, time_constant_s=0.5)
    mind = PolicyMind(make_policy("oracle"), example.instruction, demonstration=example.path)
    outcome = fly_mission(vehicle, mind, FlightPlan(lockstep=True))
    assert outcome.reasons == (Reason.ARRIVED,)
    assert np.linalg.norm(outcome.path[-1] - example.path[-1]) < 0.47


def crashing() -> ScriptedMind:
    return ScriptedMind(crash=True)


def exiting() -> ScriptedMind:
    class Exits(ScriptedMind):
        def decide(self, pixels, pose):
            os.kill(os.getpid(), signal.SIGKILL)

    return Exits()


def refusing() -> ScriptedMind:
    raise WaywordError("no such weights")


def test_a_mind_in_a_process_of_its_own():
    pixels, pose = np.zeros((2, 4, 3), np.uint8), (0.0,) * 6
    mind = MindProcess(functools.partial(ScriptedMind, 0.3))
    mind.begin_anew()
    assert mind.decide(pixels, pose).forward_m_s == 0.3
    mind.process.kill()
    with pytest.raises(RuntimeError, match="process ended"):
        mind.decide(pixels, pose)
    with pytest.raises(RuntimeError, match="told to crash"):
        MindProcess(crashing).decide(pixels, pose)
    with pytest.raises(RuntimeError, match="process ended"):
        MindProcess(exiting).decide(pixels, pose)
    with pytest.raises(WaywordError, match="no such weights"):
        MindProcess(refusing)
