"""The governor as a pure function: cases worked by hand, and properties that hold for any input."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.errors import WaywordError
from wayword.flight import (
    Decision,
    Fence,
    GovernorConfig,
    GovernorInputs,
    Kind,
    Mode,
    Reason,
    State,
    Telemetry,
    VehicleCommand,
    step,
)
from wayword.flight.watch import jumped

CONFIG = GovernorConfig(silence_s=1.1)
FAST = State(0.0, speed_m_s=0.7)
FENCE = Fence()


def heard(
    now: float, x: float = 2.0, y: float = 2.0, yaw: float = 0.0, vx: float = 0.0, **changes: object
) -> Telemetry:
    told = Telemetry((x, y, 0.7, 0.0, 0.0, yaw), (vx, 0.0, 0.0), now, now, Mode.OFFBOARD, now, True, False, 0.8)
    return replace(told, **changes)  # type: ignore[arg-type]


def wish(now: float, forward: float = 0.4, turn: float = 0.0, stop: bool = False, **changes: object) -> Decision:
    return replace(Decision(forward, turn, stop, now, now), **changes)  # type: ignore[arg-type]


def tick(state: State, now: float, told: Telemetry, asked: Decision | None, **changes: object):
    return step(CONFIG, FENCE, state, replace(GovernorInputs(now, told, now, asked), **changes))  # type: ignore[arg-type]


def run(seconds: float, state: State, start: float, **changes: object) -> tuple[State, list[VehicleCommand]]:
    """A stationary vehicle and a fresh decision at every tick, except for what is changed."""
    commands = []
    for i in range(round(seconds / 0.05)):
        now = start + 0.05 * (i + 1)
        state, command = tick(state, now, heard(now), wish(now), **changes)
        commands.append(command)
    return state, commands


def test_speed_rises_with_the_acceleration_limit_and_then_is_the_wish():
    _, commands = run(1.0, State(0.0), 0.0)
    # 1 m/s^2 at 20 Hz: 0.05 m/s more at every tick, 0.4 m/s after eight.
    assert [round(c.forward_m_s, 3) for c in commands[:9]] == [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.4]
    assert commands[0].reasons == (Reason.ACCELERATION,)
    assert commands[-1] == VehicleCommand(Kind.VELOCITY, 0.4, 0.0)


def test_the_fence_slows_by_the_way_a_broken_link_would_carry():
    # t_far = 1.0 + 0.2 + 0.05 + 1.1 = 2.35 s; from x = 4.0 to the margin at 5.4 are 1.4 m: 1.4 / 2.35 = 0.596 m/s.
    _, command = tick(State(0.0, speed_m_s=0.7), 1.0, heard(1.0, x=4.0), wish(1.0, 0.7))
    assert command.kind is Kind.VELOCITY
    assert command.forward_m_s == pytest.approx(0.596, abs=0.005)
    assert command.reasons == (Reason.FENCE,)
    # The other way there is room, and none of this counts.
    _, back = tick(State(0.0, speed_m_s=0.7), 1.0, heard(1.0, x=4.0, yaw=math.pi), wish(1.0, 0.7))
    assert back.forward_m_s == pytest.approx(0.7)
    assert back.reasons == ()


def test_an_older_pose_counts_as_further_ahead():
    # 0.2 s old: 1.4 / 2.55 = 0.549 m/s.
    told = heard(1.0, x=4.0, pose_s=0.8)
    _, command = tick(State(0.0, speed_m_s=0.7), 1.0, told, wish(1.0, 0.7))
    assert command.forward_m_s == pytest.approx(0.549, abs=0.005)


def test_a_vehicle_that_comes_too_fast_is_held_inside():
    # 0.5 m/s needs 0.5 * 1.25 = 0.625 m to stop, but only 0.4 m are left: hold, not beyond the margin at 5.4.
    _, command = tick(State(0.0, speed_m_s=0.5), 1.0, heard(1.0, x=5.0, vx=0.5), wish(1.0, 0.5))
    assert command.kind is Kind.HOLD
    assert command.reasons == (Reason.FENCE,)
    assert command.anchor is not None
    assert 5.0 < command.anchor[0] <= 5.41
    # Standing there it may turn round and leave, from inside the margin too.
    _, away = tick(State(0.0), 1.0, heard(1.0, x=5.5, yaw=math.pi), wish(1.0, 0.5))
    assert away.kind is Kind.VELOCITY
    assert away.forward_m_s == pytest.approx(0.05)
    _, on = tick(State(0.0), 1.0, heard(1.0, x=5.45), wish(1.0, 0.5))
    assert on.forward_m_s == 0.0


def test_what_steers_by_is_sent_as_a_sideways_speed():
    # At the rim of a thing (0.1 m, hull 0.08 m, 0.1 m to keep), 60 degrees to the left: the part of 0.7 m/s that leads
    # towards it is taken away, and what is left, 0.7 sin 60 = 0.606 m/s, leads past it, 30 degrees to the right.
    rim = (2.0 + 0.28 * math.cos(math.pi / 3), 2.0 + 0.28 * math.sin(math.pi / 3), 0.1)
    _, command = tick(State(0.0, speed_m_s=0.7), 1.0, heard(1.0), wish(1.0, 0.7, obstacles=(rim,)))
    assert (command.forward_m_s, command.left_m_s) == pytest.approx((0.525, -0.303), abs=0.001)
    assert command.reasons == (Reason.CLEARANCE,)
    # Turned by 90 degrees it is the same; what is remembered of it is on the map: (0.525, -0.303) turned to the left.
    aside = (2.0 - 0.28 * math.sin(math.pi / 3), 2.0 + 0.28 * math.cos(math.pi / 3), 0.1)
    turned, command = tick(
        State(0.0, speed_m_s=0.7), 1.0, heard(1.0, yaw=math.pi / 2), wish(1.0, 0.7, obstacles=(aside,))
    )
    assert (command.forward_m_s, command.left_m_s) == pytest.approx((0.525, -0.303), abs=0.001)
    assert turned.velocity == pytest.approx((0.303, 0.525), abs=0.001)
    # From a standstill no quicker than the acceleration limit, in the same direction.
    _, command = tick(State(0.0), 1.0, heard(1.0), wish(1.0, 0.7, obstacles=(rim,)))
    assert math.hypot(command.forward_m_s, command.left_m_s) == pytest.approx(0.05)
    assert command.left_m_s < 0
    # 0.6 m ahead of where it comes to rest, 0.32 m are free: 0.7 m/s would be 0.35 m in 0.5 s.
    decision = wish(1.0, 0.7, obstacles=((2.6, 2.0, 0.1),))
    _, command = tick(State(0.0, speed_m_s=0.7), 1.0, heard(1.0), decision)
    assert command.forward_m_s == pytest.approx(0.32 / 0.5)
    assert command.reasons == (Reason.CLEARANCE,)


def test_where_it_comes_to_rest_is_what_must_be_clear():
    def forward(state=FAST, age=0.0, **told):
        asked = wish(1.0, 0.7, obstacles=((3.5, 2.0, 0.1),))
        return tick(state, 1.0, heard(1.0, pose_s=1.0 - age, **told), asked)[1].forward_m_s

    asked_before = replace(FAST, velocity=(0.7, 0.0))
    assert forward() == pytest.approx(0.7)
    # 0.7 m/s carry it on by 0.7 m in response_s: 1.5 - 0.7 - 0.28 = 0.52 m are free, enough for 0.5 s; with the 0.14 m
    # of a command that is on its way for latency_s, 0.38 m; and with a pose of 0.1 s ago 0.31 m.
    assert forward(vx=0.7) == pytest.approx(0.7)
    assert forward(asked_before, vx=0.7) == pytest.approx(0.7)
    assert forward(asked_before, 0.1, vx=0.7) == pytest.approx(0.31 / 0.5)
    # Carried at 0.9 m/s by a gust it comes to rest at 2.9 m, 0.32 m before the rim; under way is what was asked for.
    assert forward(vx=0.9) == pytest.approx(0.32 / 0.5)
    assert forward(asked_before, vx=0.9) == pytest.approx(0.18 / 0.5)


def test_time_stands_still_for_a_policy_that_is_held_back():
    wall = tuple((2.36, 2.0 + 0.3 * k, 0.1) for k in range(-4, 5))
    state = State(0.0)
    for i in range(1, 81):
        now = 0.05 * i
        state, command = tick(state, now, heard(now), wish(now, 0.7, obstacles=wall))
    assert Reason.CLEARANCE in command.reasons
    assert 3.0 < state.held_s <= 4.0
    # 60 s of its own and those: no more than 30 s of them in one flight.
    late = 60.0 + state.held_s - 0.1
    assert Reason.TIME_UP not in tick(state, late, heard(late), wish(late))[1].reasons
    assert Reason.TIME_UP in tick(state, late + 0.2, heard(late + 0.2), wish(late + 0.2))[1].reasons
    state, _ = tick(replace(state, held_s=29.99), 5.0, heard(5.0), wish(5.0, 0.7, obstacles=wall))
    assert state.held_s == CONFIG.max_held_s
    # A policy that asks for nothing is not held back.
    state, _ = tick(State(0.0), 1.0, heard(1.0), wish(1.0, 0.0, obstacles=wall))
    assert (state.held_s, state.stuck_s) == (0.0, 0.0)


def test_a_start_is_not_being_held_back():
    state, command = tick(State(0.0), 1.0, heard(1.0), wish(1.0, 0.7))
    assert command.reasons == (Reason.ACCELERATION,)
    assert state.held_s == 0


def test_a_vehicle_that_is_stuck_in_a_corner_backs_out_of_it():
    # Two discs side by side leave a notch 0.009 m before it; as one disc of 0.17 m they reach 0.07 m beyond it.
    corner = ((2.3, 2.07, 0.1), (2.3, 1.93, 0.1))
    told, asked = heard(1.0, x=2.02), wish(1.0, 0.4, obstacles=corner)
    assert tick(replace(FAST, stuck_s=0.9), 1.0, told, asked)[1].forward_m_s >= 0
    assert tick(replace(FAST, stuck_s=1.0), 1.0, told, asked)[1].forward_m_s < -0.01


def test_a_vehicle_that_is_stuck_beside_a_group_is_not_led_into_one_of_its_things():
    # Three in a row, with no way between them, are a disc of 0.7 m around (1.31, 2.36). It is above the left one, and
    # the way out of that disc leads to the left and over it: it must not come nearer to it.
    row = ((0.8, 2.43, 0.17), (1.38, 2.43, 0.22), (1.85, 2.24, 0.16))
    told = heard(1.0, 0.95, 2.72, -math.pi / 2)
    nx, ny = (0.8 - 0.95) / math.hypot(0.15, 0.29), (2.43 - 2.72) / math.hypot(0.15, 0.29)
    for stuck_s in (0.0, 1.0, 2.0, 7.0):
        state, command = tick(replace(FAST, stuck_s=stuck_s), 1.0, told, wish(1.0, 0.5, obstacles=row))
        assert Reason.CLEARANCE in command.reasons
        assert state.velocity[0] * nx + state.velocity[1] * ny <= 1e-9


def test_who_was_stuck_is_so_no_longer_after_twice_the_time():
    state, _ = tick(replace(FAST, stuck_s=2.0), 1.0, heard(1.0), wish(1.0, 0.7))
    assert state.stuck_s == pytest.approx(2.0 - 0.5 * 0.05)
    state, _ = tick(replace(FAST, stuck_s=0.01), 1.0, heard(1.0), wish(1.0, 0.7))
    assert state.stuck_s == 0.0


def test_a_vehicle_that_stands_before_a_gap_squeezes_through():
    # Two things of 0.1 m, 0.52 m apart: 0.28 m of hull and room on either side do not fit, 0.24 m do.
    gap = ((2.3, 2.26, 0.1), (2.3, 1.74, 0.1))
    _, command = tick(FAST, 1.0, heard(1.0, x=2.2), wish(1.0, 0.4, obstacles=gap))
    assert command.forward_m_s <= 0
    waited = replace(FAST, stuck_s=3.0)
    assert tick(waited, 1.0, heard(1.0, x=2.2), wish(1.0, 0.4, obstacles=gap))[1].forward_m_s <= 0
    stuck = replace(FAST, stuck_s=7.0)
    _, command = tick(stuck, 1.0, heard(1.0, x=2.2), wish(1.0, 0.4, obstacles=gap))
    assert command.forward_m_s == pytest.approx(0.6)  # on from 0.7 m/s to 0.4, braking by 2 m/s^2


def test_a_vehicle_that_was_carried_to_the_fence_is_brought_back():
    # 0.2 m from the edge, less than 0.8 of the margin of 0.3 m, and nothing leads it in: hold, 0.4 + 0.3 m inside.
    _, command = tick(State(0.0), 1.0, heard(1.0, x=5.5), wish(1.0, 0.0))
    assert command.kind is Kind.HOLD
    assert command.reasons == (Reason.FENCE,)
    assert command.anchor == pytest.approx((5.0, 2.0, 0.0), abs=1e-6)
    assert FENCE.inwards(5.5, 2.0) == pytest.approx((-1.0, 0.0))
    assert FENCE.inwards(5.9, 2.0) == pytest.approx((-1.0, 0.0))  # from outside too


def test_arrived_means_here_and_not_where_it_coasts_to():
    asked = wish(1.0, stop=True)
    state, command = tick(State(0.0, speed_m_s=0.7), 1.0, heard(1.0, vx=0.7), asked)
    assert (command.kind, command.anchor) == (Kind.HOLD, (2.0, 2.0, 0.0))
    # It has coasted by 0.4 m: it is given time to come back, and lands where it was told to stop.
    state, command = tick(state, 3.0, heard(3.0, x=2.4), asked)
    assert command.kind is Kind.HOLD
    _, command = tick(state, 4.0, heard(4.0, x=2.06), asked)
    assert command.kind is Kind.HOLD
    _, command = tick(state, 4.0, heard(4.0, x=2.04), asked)
    assert command.kind is Kind.LAND
    # Not for ever.
    _, command = tick(state, 7.1, heard(7.1, x=2.4), asked)
    assert command.kind is Kind.LAND
    # The image was taken 0.1 s ago, at 0.7 m/s: it meant 0.07 m back, and 0.35 m at most, however old the image.
    earlier = wish(1.0, stop=True, image_s=0.9)
    _, command = tick(State(0.0, speed_m_s=0.7), 1.0, heard(1.0, vx=0.7), earlier)
    assert command.anchor == pytest.approx((1.93, 2.0, 0.0))
    _, command = tick(State(0.0, speed_m_s=0.7), 1.0, heard(1.0, vx=0.7), wish(1.0, stop=True, image_s=0.2))
    assert command.anchor == pytest.approx((2.0 - 0.35, 2.0, 0.0))
    # A fault holds where it comes to rest: 0.7 m/s for 0.8 s.
    _, command = tick(State(0.0), 1.0, heard(1.0, vx=0.7), None, policy_alive=False)
    assert command.anchor == pytest.approx((2.56, 2.0, 0.0))


def test_an_old_decision_fades_and_is_never_streamed_on():
    # 0.875 s old: half-way between 0.75 and 1.0 s, so half the speed.
    _, half = tick(State(0.0, speed_m_s=0.4), 2.0, heard(2.0), wish(1.125))
    assert half.forward_m_s == pytest.approx(0.3)  # 0.2, but braking is limited to 0.1 per tick
    assert Reason.FADING in half.reasons
    _, held = tick(State(0.0, speed_m_s=0.4), 2.0, heard(2.0), wish(0.99))
    assert held.kind is Kind.HOLD
    assert held.reasons == (Reason.NO_DECISION,)


FAULTS = {
    Reason.NO_IMAGE: {"image_s": -math.inf},
    Reason.BAD_OUTPUT: {"decision": wish(1.0, math.nan)},
    Reason.NO_POSE: {"telemetry": heard(0.6)},
    Reason.LINK_LOST: {"telemetry": heard(1.0, link_s=-1.0)},
}


@pytest.mark.parametrize("reason", FAULTS)
def test_a_passing_fault_holds_and_then_lands(reason):
    state = State(0.0)
    state, first = tick(state, 1.0, heard(1.0), wish(1.0), **FAULTS[reason])
    assert first.kind is Kind.HOLD
    assert reason in first.reasons
    # Passed within the patience: fly on.
    _, on = tick(state, 3.9, heard(3.9), wish(3.9))
    assert on.kind is Kind.VELOCITY
    # Not passed: land, and nothing takes that back.
    state, land = tick(state, 4.0, heard(4.0), wish(4.0), **FAULTS[reason])
    assert land.kind is Kind.LAND
    state, still = tick(state, 4.05, heard(4.05), wish(4.05))
    assert still.kind is Kind.LAND
    assert reason in still.reasons


def test_lasting_faults_settle_and_land():
    for changes, reason in (
        ({"policy_alive": False}, Reason.POLICY_FAILED),
        ({"decision": wish(1.0, stop=True)}, Reason.ARRIVED),
        ({"telemetry": heard(1.0, battery=0.15)}, Reason.BATTERY_LOW),
        ({"telemetry": heard(1.0, x=6.0)}, Reason.OUTSIDE),
        ({"telemetry": replace(heard(1.0), pose=(2.0, 2.0, 1.7, 0, 0, 0))}, Reason.ALTITUDE),
    ):
        state, command = tick(State(0.0), 1.0, heard(1.0), wish(1.0), **changes)
        assert (command.kind, command.reasons) == (Kind.HOLD, (reason,))
        state, command = tick(state, 2.0, heard(2.0), wish(2.0))  # all is well again, and too late
        assert command.kind is Kind.HOLD
        state, command = tick(state, 2.5, heard(2.5), wish(2.5))
        assert command.kind is Kind.LAND


def test_ctrl_c_and_an_empty_battery_land_at_once():
    _, command = tick(State(0.0), 1.0, heard(1.0), wish(1.0), land_asked=True)
    assert (command.kind, command.reasons) == (Kind.LAND, (Reason.PILOT_LAND,))
    _, command = tick(State(0.0), 1.0, heard(1.0, battery=0.05), wish(1.0))
    assert (command.kind, command.reasons) == (Kind.LAND, (Reason.BATTERY_EMPTY,))


def test_a_jump_forgets_the_place_to_hold():
    state, _ = tick(State(0.0), 1.0, heard(1.0), wish(1.0))
    state, command = tick(state, 1.05, heard(1.05, x=2.4), wish(1.05))
    assert command == VehicleCommand(Kind.HOLD, anchor=None, reasons=(Reason.POSE_JUMP,))
    # 0.2 m in 0.05 s is within what noise may do; so is 0.35 m in half a second at 0.7 m/s.
    assert not jumped(CONFIG, heard(1.0), heard(1.05, x=2.2))
    assert not jumped(CONFIG, heard(1.0, vx=0.7), heard(1.5, x=2.35, vx=0.7))
    assert jumped(CONFIG, heard(1.0), heard(1.05, yaw=0.5))


def test_a_mode_that_is_not_ours_means_silence_for_good():
    state, command = tick(State(0.0), 1.0, heard(1.0, mode=Mode.OTHER), wish(1.0))
    assert (command.kind, command.reasons) == (Kind.SILENT, (Reason.TAKEN_OVER,))
    _, command = tick(state, 1.05, heard(1.05), wish(1.05), land_asked=True)
    assert command.kind is Kind.SILENT
    # Heard before the flight began: no news.
    _, command = tick(State(0.0), 1.0, heard(1.0, mode=Mode.OTHER, mode_s=-1.0), wish(1.0))
    assert command.kind is Kind.VELOCITY


def test_faults_that_come_and_go_end_the_flight():
    state, now = State(0.0), 1.0
    for _ in range(CONFIG.most_holds + 1):
        state, _ = tick(state, now, heard(now), wish(now), image_s=-math.inf)
        state, _ = tick(state, now + 0.05, heard(now + 0.05), wish(now + 0.05))
        now += 0.1
    assert Reason.FLAPPING in state.lasting


anything = st.floats(allow_nan=True, allow_infinity=True)
times = st.floats(-5, 5)


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_whatever_comes_in_commands_are_finite_within_limits_and_landing_is_final(data):
    state, landed = State(0.0), False
    now = 0.0
    for _ in range(data.draw(st.integers(1, 6))):
        now += data.draw(st.floats(0, 2))
        told = Telemetry(
            tuple(data.draw(st.one_of(st.floats(-1, 6), anything)) for _ in range(6)),
            tuple(data.draw(st.one_of(st.floats(-1, 1), anything)) for _ in range(3)),
            now - data.draw(times), now - data.draw(times), data.draw(st.sampled_from(Mode)),
            now - data.draw(times), True, False, data.draw(st.one_of(st.none(), anything)),
        )  # fmt: skip
        decision = None
        if data.draw(st.booleans()):
            discs = data.draw(st.lists(st.tuples(anything, anything, st.floats(0, 1)), max_size=2))
            decision = Decision(
                data.draw(anything), data.draw(anything), data.draw(st.booleans()), now - data.draw(times), now,
                tuple(discs),
            )  # fmt: skip
        inputs = GovernorInputs(now, told, now - data.draw(times), decision, data.draw(st.booleans()))
        before = state
        state, command = step(CONFIG, FENCE, before, inputs)
        assert (state, command) == step(CONFIG, FENCE, before, inputs)
        assert 0.0 <= command.forward_m_s <= CONFIG.max_speed_m_s
        assert math.hypot(command.forward_m_s, command.left_m_s) <= CONFIG.max_speed_m_s + 1e-9
        assert abs(command.yaw_rate_rad_s) <= CONFIG.max_yaw_rate_rad_s
        assert command.anchor is None or all(map(math.isfinite, command.anchor))
        if command.kind is Kind.VELOCITY:
            assert now - told.pose_s <= CONFIG.pose_s
            assert now - inputs.image_s <= CONFIG.image_s
            assert decision is not None
            assert math.isfinite(decision.forward_m_s)
        assert not landed or command.kind in (Kind.LAND, Kind.SILENT)
        landed = landed or command.kind in (Kind.LAND, Kind.SILENT)


def test_fence_distances_and_ways():
    ell = Fence(((0, 0), (6, 0), (6, 2), (2, 2), (2, 6), (0, 6)))
    assert ell.distance(1, 1) == pytest.approx(1.0)
    assert ell.distance(3, 3) == pytest.approx(-1.0)
    assert ell.reach(1, 1, 4, 0, 0.5) == 1.0
    # From (1, 5) to (5, 1): outside where x + y = 6 crosses x = 2; 0.3 m before that edge.
    share = ell.reach(1, 5, 4, -4, 0.3)
    assert share == pytest.approx(0.7 / 4, abs=0.01)
    assert ell.reach(1, 0.1, 0, -1, 0.3) == 0.0
    assert ell.reach(1, 0.1, 0, 0.5, 0.3) == 1.0
    # From 0.1 m before the left edge across to the right one: no nearer to that than it began, 1.8 of 2 m.
    assert ell.reach(0.1, 4, 2, 0, 0.3) == pytest.approx(1.8 / 2, abs=0.01)


@settings(deadline=None, max_examples=200)
@given(st.floats(0.5, 4.5), st.floats(0.5, 4.5), st.floats(-8, 8), st.floats(-8, 8))
def test_what_is_reached_is_inside(x, y, dx, dy):
    share = FENCE.reach(x, y, dx, dy, 0.3)
    assert FENCE.distance(x + share * dx, y + share * dy) >= 0.3 - 0.01


@pytest.mark.parametrize(
    "corners",
    [((0, 0), (1, 0)), ((0, 0), (4, 4), (4, 0), (0, 4)), ((0, 0), (0.1, 0), (0, 0.1)), ((0, 0), (math.nan, 1), (2, 2))],
)
def test_fences_that_are_none(corners):
    with pytest.raises(WaywordError, match="fence"):
        Fence(corners)


def test_fence_files(tmp_path):
    file = tmp_path / "fence.json"
    file.write_text('{"corners": [[0, 0], [4, 0], [4, 4]], "high_m": 2}')
    assert Fence.load(file) == Fence(((0, 0), (4, 0), (4, 4)), 0.3, 2)
    file.write_text('{"corners": [1]}')
    with pytest.raises(WaywordError, match="is no fence; wanted"):
        Fence.load(file)
    with pytest.raises(WaywordError, match="cannot be read"):
        Fence.load(tmp_path / "none.json")


def test_settings_that_are_none():
    with pytest.raises(WaywordError, match="margin_m"):
        GovernorConfig(margin_m=math.nan)
    with pytest.raises(WaywordError, match="period_s"):
        GovernorConfig(period_s=1.0)
