"""Who has the helm: what each sign of a mode does to what may be sent, second by second."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.flight import GovernorConfig, Mode, Reason
from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.autopilot_model import AutopilotModel
from wayword.flight.faults import ScriptedMind
from wayword.flight.helm import Helm
from wayword.flight.mission import FlightPlan, fly_mission
from wayword.flight.simulated import SimulatedVehicle


def flying(answers: bool = True) -> Helm:
    """In offboard since 0 s, heard at 1.0 s."""
    helm = Helm()
    helm.answers = answers
    helm.take(0.0)
    for now in (0.0, 0.4, 0.8, 1.0):
        helm.see(Mode.OFFBOARD, now)
        helm.answer(now)
    return helm


@pytest.mark.parametrize("mode", [Mode.HOLD, Mode.LAND, Mode.OTHER, Mode.TAKEOFF, Mode.GROUND])
def test_a_mode_we_did_not_ask_for_ends_everything_for_good(mode):
    helm = flying()
    assert helm.may_fly(1.05)
    helm.see(mode, 1.1)
    helm.see(Mode.OFFBOARD, 1.12)  # and given back before anybody looked
    assert (helm.lost, helm.reported) == (mode, Mode.OTHER)
    assert not helm.may_fly(1.15)
    assert not helm.may_land(1.15)
    assert not helm.wants_news(9.0)


def test_before_the_motors_start_no_mode_counts():
    helm = Helm()
    helm.see(Mode.HOLD, 0.0)
    helm.take(1.0)
    helm.see(Mode.GROUND, 0.9)
    assert helm.lost is None
    assert helm.may_fly(0.9)


def test_after_a_gap_nothing_is_sent_until_the_mode_is_heard():
    helm = flying(answers=False)
    assert helm.may_fly(1.45)
    assert not helm.may_fly(1.55)  # half a second of nothing
    helm.hear(3.0)  # a pose: somebody is there, who flies is not known
    assert not helm.may_fly(3.01)
    helm.see(Mode.OFFBOARD, 3.02)
    assert helm.may_fly(3.03)


def test_what_has_waited_to_be_read_is_no_news():
    # The process stood still from 1.0 to 4.0 s. A heartbeat from then waits on the line, the autopilot lands since.
    helm = flying()
    helm.see(Mode.OFFBOARD, 4.0, sent_s=1.0)
    helm.see(Mode.OFFBOARD, 4.01, sent_s=1.0)
    assert not helm.may_fly(4.02)
    assert not helm.may_land(4.02)
    helm.see(Mode.LAND, 4.03, sent_s=4.02)
    assert helm.lost is Mode.LAND
    # The same of one that cannot be asked: only what was sent since says that it is still ours.
    helm = flying(answers=False)
    helm.see(Mode.OFFBOARD, 4.0, sent_s=1.0)
    assert not helm.may_fly(4.02)
    helm.see(Mode.OFFBOARD, 4.03, sent_s=4.02)
    assert helm.may_fly(4.04)


def test_a_mode_that_could_be_asked_for_may_not_be_old():
    # Poses come, answers do not: we are not heard, and its failsafe may have acted.
    for answers in (True, False):
        helm = flying(answers)
        for now in np.arange(1.0, 1.7, 0.1):
            helm.hear(float(now))
        helm.see(Mode.OFFBOARD, 1.6)  # a heartbeat that nobody asked for says nothing of whether we are heard
        assert helm.may_fly(1.65) == (not answers)
    helm = flying()
    for now in np.arange(1.0, 3.0, 0.1):
        helm.hear(float(now))
    helm.answer(3.0)  # heard again; what it did meanwhile is not known
    assert not helm.may_fly(3.01)
    helm.see(Mode.OFFBOARD, 3.02)
    assert helm.may_fly(3.03)


def test_the_first_answer_after_the_take_off_is_not_one_after_a_silence():
    # On the ground nothing is asked; the last answer, if there was any, is old when the vehicle is taken.
    for before in ((), (1.0,)):
        helm = Helm()
        helm.answers = True
        for now in before:
            helm.answer(now)
        helm.take(5.0)
        helm.see(Mode.OFFBOARD, 5.1)
        helm.answer(5.3)
        assert helm.may_fly(5.35)
    # One that comes more than STALE_S after it is: we were not heard meanwhile.
    helm = Helm()
    helm.answers = True
    helm.take(5.0)
    helm.see(Mode.OFFBOARD, 5.1)
    helm.see(Mode.OFFBOARD, 5.5)
    helm.answer(5.7)
    assert not helm.may_fly(5.75)


def test_a_landing_needs_a_mode_of_this_moment():
    helm = flying()
    assert helm.may_land(1.09)
    assert not helm.may_land(1.11)
    helm.ask_to_land()
    assert not helm.may_fly(1.05)
    helm.see(Mode.OFFBOARD, 1.2)  # it has not heard us yet
    helm.see(Mode.LAND, 1.3)
    helm.see(Mode.GROUND, 4.0)
    assert helm.lost is None
    helm.see(Mode.OFFBOARD, 4.1)
    assert helm.lost is Mode.OFFBOARD


@pytest.mark.parametrize(("heartbeat_s", "answers", "most"), [(1.0, True, 0), (0.1, False, 1), (1.0, False, 1)])
def test_no_landing_is_asked_of_a_pilot_who_took_over_just_before(heartbeat_s, answers, most):
    """The policy arrives, the governor lands 1.5 s later; a pilot takes over at every third tick around that moment.

    An autopilot that does not tell its mode when asked leaves a tenth of a second in which it is not known.
    """
    overridden = 0
    for tick in range(0, 30, 3):
        body = AutopilotModel(AutopilotModelConfig(), 1.0, 2.0)
        vehicle, landings = SimulatedVehicle(body), []
        vehicle.link.heartbeat_s, vehicle.link.answers = heartbeat_s, answers
        land = body.land
        body.land = lambda land=land, body=body, landings=landings: (landings.append(body.mode), land())[1]
        began: list[float] = []

        def pilot(v: SimulatedVehicle, tick=tick, began=began) -> None:
            if v.body.mode is Mode.OFFBOARD:
                began[:] = began or [v.now()]
                if v.now() - began[0] > 3.0 + 0.05 * tick:
                    v.body.hold()

        vehicle.on_step = pilot
        plan = FlightPlan(governor=GovernorConfig(max_flight_s=8.0), lockstep=True, catch_signals=False)
        outcome = fly_mission(vehicle, ScriptedMind(0.0, stop_after=5), plan)
        overridden += any(mode is not Mode.OFFBOARD for mode in landings)
        assert Reason.TAKEN_OVER in outcome.reasons or landings
    assert overridden <= most


@pytest.mark.parametrize("seconds", [1.5, 2.0, 3.0, math.inf])
def test_a_failsafe_landing_is_not_taken_back(seconds):
    """PX4 ends it as soon as setpoints return, so none may: it is cut off, lands after 1.1 s, and is left alone."""
    config = AutopilotModelConfig(silence_s=1.1, comes_back=True, speed_share=0.8)
    body = AutopilotModel(config, 1.0, 2.0)
    vehicle, modes, began = SimulatedVehicle(body), [], []

    def cut(v: SimulatedVehicle) -> None:
        if body.mode is Mode.OFFBOARD:
            began[:] = began or [v.now()]
        if began:
            gone = v.now() - began[0] - 3.0
            v.link.up = not 0 <= gone < seconds
            modes.append(body.mode)

    vehicle.on_step = cut
    plan = FlightPlan(governor=GovernorConfig(max_flight_s=12.0), lockstep=True, catch_signals=False)
    outcome = fly_mission(vehicle, ScriptedMind(0.3), plan)
    landing = modes.index(Mode.LAND)
    assert Mode.OFFBOARD not in modes[landing:]
    assert not body.armed
    assert outcome.ended == ("lost" if seconds == math.inf else "landed by its autopilot or pilot")
