"""How a flight under the governor ends: what is final, what is counted, what takes over, with numbers written out."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from support.governing import FENCE, heard, tick, wish
from wayword.errors import WaywordError
from wayword.flight import MEANING, GovernorConfig, Kind, Mode, Reason, State
from wayword.flight.loop import with_silence
from wayword.flight.reasons import AT_ONCE, LASTING, PASSING

BLIND = {"image_s": -math.inf}


def arrived_and_landing() -> State:
    """Told to stop at 1.0 s, at rest there, landing since 2.5 s."""
    state, command = tick(State(0.0), 1.0, asked=wish(1.0, stop=True))
    assert command.kind is Kind.HOLD
    state, command = tick(state, 2.5, asked=wish(1.0, stop=True))
    assert command.kind is Kind.LAND
    return state


def test_a_gust_does_not_take_a_landing_back():
    # 0.2 m off its place a vehicle that holds would be given until 7.0 s to come back; one that lands goes on landing.
    state = arrived_and_landing()
    for now in (2.55, 3.0, 5.0):
        state, command = tick(state, now, heard(now, x=2.2), wish(1.0, stop=True))
        assert command.kind is Kind.LAND
        assert command.reasons == (Reason.ARRIVED,)


def test_no_wish_takes_a_landing_back():
    state, command = tick(State(0.0), 1.0, land_asked=True)
    assert command.kind is Kind.LAND
    for now in (1.05, 2.0, 10.0, 30.0):  # nobody asks any more, and the policy wants to fly on
        state, command = tick(state, now)
        assert (command.kind, command.forward_m_s, command.anchor) == (Kind.LAND, 0.0, None)


def test_a_landing_may_leave_the_band_of_heights_but_a_flight_may_not():
    _, command = tick(arrived_and_landing(), 3.0, heard(3.0, z=0.1), wish(1.0, stop=True))
    assert Reason.ALTITUDE not in command.reasons
    _, command = tick(State(0.0), 3.0, heard(3.0, z=0.29))
    assert command.reasons == (Reason.ALTITUDE,)
    for inside in (0.3, 1.5):
        assert tick(State(0.0), 3.0, heard(3.0, z=inside))[1].reasons == (Reason.ACCELERATION,)


def holds(count: int, config: GovernorConfig | None = None) -> State:
    """A flight in which the camera failed ``count`` times for one tick each."""
    state, now = State(0.0), 1.0
    for _ in range(count):
        state, command = tick(state, now, config=config, **BLIND)
        assert command.kind is Kind.HOLD
        state, _ = tick(state, now + 0.05, config=config)
        now += 0.1
    return state


def test_five_faults_may_pass_and_the_sixth_ends_the_flight():
    state = holds(5)
    assert state.holds == 5
    assert state.lasting == ()
    assert tick(state, 2.0)[1].kind is Kind.VELOCITY
    assert tick(state, 2.0, **BLIND)[1].reasons == (Reason.FLAPPING,)
    state = holds(6)
    assert state.lasting == (Reason.FLAPPING,)
    # It settles for 1.5 s from the sixth fault, at 1.5 s, on.
    assert tick(state, 2.9)[1].kind is Kind.HOLD
    assert tick(state, 3.0)[1].kind is Kind.LAND


def test_one_long_fault_is_one_hold():
    state = State(0.0)
    for i in range(40):  # two seconds without an image
        state, command = tick(state, 1.0 + 0.05 * i, **BLIND)
        assert command.kind is Kind.HOLD
    assert state.holds == 1
    state, command = tick(state, 3.0)
    assert command.kind is Kind.VELOCITY
    assert tick(state, 3.05, **BLIND)[0].holds == 2


def test_patience_begins_anew_with_every_fault():
    # Blind from 1.0 to 3.5 s, well at 3.55, blind from 3.6 s: the next landing is 3 s after that one.
    state, _ = tick(State(0.0), 1.0, **BLIND)
    state, command = tick(state, 3.5, **BLIND)
    assert command.kind is Kind.HOLD
    state, _ = tick(state, 3.55)
    state, _ = tick(state, 3.6, **BLIND)
    assert tick(state, 6.55, **BLIND)[1].kind is Kind.HOLD
    assert tick(state, 6.6, **BLIND)[1].kind is Kind.LAND


@pytest.mark.parametrize(
    ("level", "kind", "reasons"),
    [
        (None, Kind.VELOCITY, (Reason.ACCELERATION,)),  # it does not say: the list before the flight asked for it
        (0.2, Kind.VELOCITY, (Reason.ACCELERATION,)),
        (0.199, Kind.HOLD, (Reason.BATTERY_LOW,)),
        (0.1, Kind.HOLD, (Reason.BATTERY_LOW,)),
        (0.099, Kind.LAND, (Reason.BATTERY_EMPTY,)),
        (0.0, Kind.LAND, (Reason.BATTERY_EMPTY,)),
        (math.nan, Kind.LAND, (Reason.BATTERY_EMPTY,)),
        (-math.inf, Kind.LAND, (Reason.BATTERY_EMPTY,)),
    ],
)
def test_what_a_battery_says(level: float | None, kind: Kind, reasons: tuple[Reason, ...]):
    _, command = tick(State(0.0), 1.0, heard(1.0, battery=level))
    assert (command.kind, command.reasons) == (kind, reasons)


def test_a_battery_that_recovers_does_not_count():
    state, _ = tick(State(0.0), 1.0, heard(1.0, battery=0.15))
    state, command = tick(state, 2.5, heard(2.5, battery=0.9))
    assert (command.kind, command.reasons) == (Kind.LAND, (Reason.BATTERY_LOW,))


@pytest.mark.parametrize(
    ("image_s", "flies"),
    [(1.0, True), (0.0, True), (-0.01, False), (-math.inf, False), (math.nan, False)],
)
def test_a_decision_on_an_old_image_is_not_flown(image_s: float, flies: bool):
    # Ready at 1.0 s; what it saw may be two image ages (2 * 0.5 s) older than that. The camera itself is fine.
    _, command = tick(State(-9.0), 1.0, asked=wish(1.0, image_s=image_s))
    assert (command.kind is Kind.VELOCITY) == flies
    assert (Reason.NO_IMAGE in command.reasons) == (not flies)


def test_one_reason_is_named_once():
    _, command = tick(State(-9.0), 1.0, asked=wish(1.0, image_s=-5.0), **BLIND)
    assert command.reasons == (Reason.NO_IMAGE,)


@pytest.mark.parametrize(
    ("forward", "turn", "sane"),
    [
        (1.04, 0.0, True),  # up to 1.5 * 0.7 m/s: a wish, cut at the limit
        (1.06, 0.0, False),
        (-0.1, 0.0, True),  # a tenth of that backwards: cut at 0
        (-0.11, 0.0, False),
        (0.4, 1.5, True),
        (0.4, -1.5, True),
        (0.4, 1.51, False),
        (0.4, -1.51, False),
        (math.inf, 0.0, False),
        (0.4, math.nan, False),
    ],
)
def test_what_is_a_wish_and_what_an_error_of_the_policy(forward: float, turn: float, sane: bool):
    state = State(0.0, speed_m_s=0.7, yaw_rate_rad_s=max(min(turn, 1.0), -1.0) if sane else 0.0)
    _, command = tick(state, 1.0, asked=wish(1.0, forward, turn))
    if not sane:
        assert (command.kind, command.reasons) == (Kind.HOLD, (Reason.BAD_OUTPUT,))
        return
    assert command.kind is Kind.VELOCITY
    assert command.forward_m_s <= 0.7
    assert abs(command.yaw_rate_rad_s) <= 1.0
    assert (Reason.SPEED in command.reasons) == (forward > 0.7 or forward < 0)
    assert (Reason.YAW in command.reasons) == (abs(turn) > 1.0)


def test_a_stop_with_bad_numbers_is_bad_and_not_an_arrival():
    _, command = tick(State(0.0), 1.0, asked=wish(1.0, math.nan, stop=True))
    assert command.reasons == (Reason.BAD_OUTPUT,)


def test_the_longest_flight_is_a_minute():
    state = State(10.0)
    assert tick(state, 70.0)[1].kind is Kind.VELOCITY
    state, command = tick(state, 70.01)
    assert (command.kind, command.reasons) == (Kind.HOLD, (Reason.TIME_UP,))
    assert tick(state, 71.5)[1].kind is Kind.HOLD
    assert tick(state, 71.52)[1].kind is Kind.LAND


def test_the_first_decision_is_waited_for_and_not_for_ever():
    def without(state: State, now: float):
        return tick(state, now, decision=None)

    state, command = without(State(0.0), 0.5)
    assert (command.kind, command.reasons) == (Kind.HOLD, ())
    assert command.anchor == (2.0, 2.0, 0.0)
    assert state.holds == 0  # nothing is wrong yet
    state, command = without(state, 1.0)
    assert command.reasons == ()
    state, command = without(state, 1.01)
    assert command.reasons == (Reason.NO_DECISION,)
    assert without(state, 4.0)[1].kind is Kind.HOLD
    assert without(state, 4.02)[1].kind is Kind.LAND


def test_a_decision_from_before_the_flight_counts_from_its_beginning():
    # Made on the ground 20 s before take-off: at 0.7 s of the flight it is 0.7 s old, and flown.
    assert tick(State(20.0), 20.7, asked=wish(0.0, image_s=0.0))[1].kind is Kind.VELOCITY
    assert tick(State(20.0), 21.1, asked=wish(0.0, image_s=0.0))[1].reasons == (Reason.NO_DECISION,)


def test_an_over_flight_needs_no_more_decisions():
    state, _ = tick(State(0.0), 1.0, asked=wish(1.0, stop=True))
    state, command = tick(state, 2.2, heard(2.2, x=2.5), wish(1.0, stop=True))  # 1.2 s old, but it has arrived
    assert command.reasons == (Reason.ARRIVED,)


@pytest.mark.parametrize(
    ("mode", "taken"),
    [(Mode.OFFBOARD, False), (Mode.UNKNOWN, False), (Mode.OTHER, True), (Mode.HOLD, True), (Mode.TAKEOFF, True),
     (Mode.LAND, True), (Mode.GROUND, True)],
)  # fmt: skip
def test_who_flies_while_we_do_not_land(mode: Mode, taken: bool):
    _, command = tick(State(0.0), 1.0, heard(1.0, mode=mode))
    assert (command.kind is Kind.SILENT) == taken


@pytest.mark.parametrize(
    ("mode", "before", "after"),
    [(Mode.OFFBOARD, False, True), (Mode.LAND, False, False), (Mode.GROUND, False, False), (Mode.OTHER, True, True),
     (Mode.HOLD, True, True), (Mode.TAKEOFF, True, True)],
)  # fmt: skip
def test_who_flies_while_we_land(mode: Mode, before: bool, after: bool):
    """``before``: the autopilot has not said yet that it lands, so offboard is no news. ``after``: it has."""
    state = arrived_and_landing()
    assert (tick(state, 2.6, heard(2.6, mode=mode))[1].kind is Kind.SILENT) == before
    state, _ = tick(state, 2.6, heard(2.6, mode=Mode.LAND))
    assert state.landing_seen
    assert (tick(state, 2.7, heard(2.7, mode=mode))[1].kind is Kind.SILENT) == after


def test_a_mode_from_before_the_flight_is_no_sight_of_our_landing():
    """The vehicle stood in the mode "land" on the ground. We land: that it is still in offboard is no news."""
    state, command = tick(State(5.0), 5.05, heard(5.05, mode=Mode.LAND, mode_s=4.0), land_asked=True)
    assert command.kind is Kind.LAND
    assert not state.landing_seen
    state, command = tick(state, 5.1, heard(5.1, mode=Mode.LAND, mode_s=4.0))
    assert state.landing_seen == (command.kind is Kind.LAND)
    state, _ = tick(State(5.0), 5.05, heard(5.05, mode=Mode.LAND, mode_s=4.0), land_asked=True)
    assert tick(state, 5.1, heard(5.1))[1].kind is Kind.LAND


def test_silence_keeps_why_the_flight_was_ending():
    state, _ = tick(State(0.0), 1.0, heard(1.0, battery=0.15))
    state, command = tick(state, 1.05, heard(1.05, battery=0.15, mode=Mode.OTHER))
    assert command.reasons == (Reason.BATTERY_LOW, Reason.TAKEN_OVER)
    assert tick(state, 9.0, heard(9.0), land_asked=True)[1].kind is Kind.SILENT


def test_an_arrival_near_the_fence_stays_inside_the_margin():
    # 0.1 m from the edge at 5.7: 0.4 m inside are wanted, 0.3 m more for what carried it there: 5.6 - 0.3 - 0.3 = 5.0.
    _, command = tick(State(0.0), 1.0, heard(1.0, x=5.6), wish(1.0, stop=True))
    assert command.anchor == pytest.approx((5.0, 2.0, 0.0))
    # Further out than 2 m nothing is pulled: what it says of its place may be wrong.
    _, command = tick(State(0.0), 1.0, heard(1.0, x=9.0), policy_alive=False)
    assert command.anchor == pytest.approx((9.0, 2.0, 0.0))


def test_a_hold_keeps_its_first_place():
    state, command = tick(State(0.0), 1.0, heard(1.0, velocity=(0.5, 0.0, 0.0)), **BLIND)
    # 0.5 m/s for 0.7 * 1.0 + 0.5 * 0.2 = 0.8 s.
    assert command.anchor == pytest.approx((2.4, 2.0, 0.0))
    state, command = tick(state, 1.05, heard(1.05, x=2.02), **BLIND)
    assert command.anchor == pytest.approx((2.4, 2.0, 0.0))
    # It flies on, and the next hold has a place of its own.
    state, _ = tick(state, 1.1, heard(1.1, x=2.04))
    _, command = tick(state, 1.15, heard(1.15, x=2.05), **BLIND)
    assert command.anchor == pytest.approx((2.05, 2.0, 0.0))


def test_a_hold_without_a_pose_has_no_place():
    _, command = tick(State(0.0), 1.0, heard(0.6))  # 0.4 s old
    assert (command.kind, command.anchor, command.reasons) == (Kind.HOLD, None, (Reason.NO_POSE,))
    _, command = tick(State(0.0), 1.0, heard(1.0, x=math.nan))
    assert (command.anchor, command.reasons) == (None, (Reason.NO_POSE,))


def test_every_reason_has_words_and_at_most_one_kind():
    assert set(MEANING) == set(Reason)
    assert not PASSING & LASTING
    assert not AT_ONCE & (PASSING | LASTING)
    assert all(MEANING[reason][0].islower() for reason in Reason)
    named = {Reason.SPEED, Reason.YAW, Reason.ACCELERATION, Reason.FADING, Reason.FENCE, Reason.CLEARANCE}
    assert PASSING | LASTING | AT_ONCE | named | {Reason.TAKEN_OVER} == set(Reason)


@pytest.mark.parametrize("name", sorted(GovernorConfig.__dataclass_fields__))
@pytest.mark.parametrize("value", [math.nan, -1.0, math.inf])
def test_no_setting_may_be_no_number(name: str, value: float):
    with pytest.raises(WaywordError, match=f"{name} is {value:g}"):
        replace(GovernorConfig(), **{name: value})


def test_stopping_takes_response_latency_and_a_tick():
    assert GovernorConfig().stopping_s == pytest.approx(1.25)
    config = with_silence(GovernorConfig(response_s=0.5, latency_s=0.1, period_s=0.02), 3.9)
    assert config.stopping_s == pytest.approx(0.62)
    assert config.silence_s == 3.9
    with pytest.raises(WaywordError, match="max_speed_m_s at most 5"):
        GovernorConfig(max_speed_m_s=5.1)
    with pytest.raises(WaywordError, match="interval_s > 0"):
        GovernorConfig(interval_s=0.0)


def test_outside_is_outside_on_every_side():
    for x, y in ((5.71, 2.0), (-1.01, 2.0), (2.0, 5.71), (2.0, -1.01)):
        assert FENCE.distance(x, y) == pytest.approx(-0.01)
        _, command = tick(State(0.0), 1.0, heard(1.0, x=x, y=y))
        assert Reason.OUTSIDE in command.reasons


def test_the_way_back_is_waited_for_six_seconds_and_settling_one_and_a_half():
    for x, seconds in ((2.049, 1.5), (2.051, 6.0)):  # nearer than 5 cm it is there
        state, _ = tick(State(0.0), 1.0, asked=wish(1.0, stop=True))
        at = 1.0 + seconds
        assert tick(state, at - 0.01, heard(at - 0.01, x=x), wish(1.0, stop=True))[1].kind is Kind.HOLD
        assert tick(state, at, heard(at, x=x), wish(1.0, stop=True))[1].kind is Kind.LAND
    # The same across; and with anything else wrong there is no coming back.
    state, _ = tick(State(0.0), 1.0, asked=wish(1.0, stop=True))
    assert tick(state, 2.5, heard(2.5, y=1.94), wish(1.0, stop=True))[1].kind is Kind.HOLD
    assert tick(state, 2.5, heard(2.5, y=1.94, battery=0.15), wish(1.0, stop=True))[1].kind is Kind.LAND


def test_what_is_to_the_bit_as_old_as_it_may_be_is_not_too_old():
    # 0.5, 0.25 and 1 s are exact numbers, so is their sum: as old as that is still well.
    assert tick(State(0.0), 1.0, image_s=0.5)[1].kind is Kind.VELOCITY
    assert tick(State(0.0), 1.0, image_s=0.4999)[1].reasons == (Reason.NO_IMAGE,)
    assert tick(State(0.0), 1.0, heard(1.0, link_s=0.0))[1].kind is Kind.VELOCITY
    assert tick(State(0.0), 1.0, heard(1.0, link_s=-0.0001))[1].reasons == (Reason.LINK_LOST,)
    assert tick(State(0.0), 1.3, heard(1.3, pose_s=1.0001))[1].kind is Kind.VELOCITY
    assert tick(State(0.0), 1.3, heard(1.3, pose_s=0.999))[1].reasons == (Reason.NO_POSE,)
    assert tick(State(0.0), 2.0, asked=wish(1.0, 0.0))[1].kind is Kind.VELOCITY
    assert tick(State(0.0), 2.0, asked=wish(0.999, 0.0))[1].reasons == (Reason.NO_DECISION,)
    # A mode of the very moment at which the flight began is none of this flight.
    assert tick(State(1.0), 1.5, heard(1.5, mode=Mode.HOLD, mode_s=1.0))[1].kind is Kind.VELOCITY
    assert tick(State(1.0), 1.5, heard(1.5, mode=Mode.HOLD, mode_s=1.0001))[1].kind is Kind.SILENT


def test_astray_by_a_quarter_of_a_metre_is_not_yet_a_jump():
    assert tick(State(0.0), 1.0, heard(1.0, astray_m=0.25))[1].kind is Kind.VELOCITY
    assert tick(State(0.0), 1.0, heard(1.0, astray_m=0.2501))[1].reasons == (Reason.POSE_JUMP,)


def test_on_the_fence_is_not_outside():
    assert Reason.OUTSIDE not in tick(State(0.0), 1.0, heard(1.0, x=5.699))[1].reasons
    assert Reason.OUTSIDE in tick(State(0.0), 1.0, heard(1.0, x=5.701))[1].reasons
