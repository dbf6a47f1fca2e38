"""When a pose is not where the one before it and the velocity say it must be."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.governing import heard, tick
from wayword.flight import GovernorConfig, Kind, Reason, State, Telemetry
from wayword.flight.decider import Poses
from wayword.flight.pose_watch import PoseWatch
from wayword.flight.watch import has_pose, jumped

CONFIG = GovernorConfig()


def moved(dt: float, dx: float = 0.0, dy: float = 0.0, dz: float = 0.0, turn: float = 0.0, **velocity) -> bool:
    """From a hover at (2, 2, 0.7)."""
    return jumped(CONFIG, heard(1.0), heard(1.0 + dt, 2.0 + dx, 2.0 + dy, 0.7 + dz, turn, **velocity))


@pytest.mark.parametrize("axis", ["dx", "dy", "dz"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_quarter_of_a_metre_is_a_jump_along_every_axis(axis: str, sign: int):
    assert not moved(0.05, **{axis: 0.24 * sign})
    assert moved(0.05, **{axis: 0.26 * sign})


def test_a_jump_in_height_ends_the_flight():
    state, _ = tick(State(0.0), 1.0, heard(1.0, z=0.7))
    state, command = tick(state, 1.05, heard(1.05, z=1.1))
    assert (command.kind, command.reasons, command.anchor) == (Kind.HOLD, (Reason.POSE_JUMP,), None)
    # Back again: no matter, what says so cannot be trusted any more.
    state, command = tick(state, 2.55, heard(2.55, z=0.7))
    assert command.kind is Kind.LAND


def test_two_poses_with_one_time_stamp():
    # No time has passed, so nothing may have moved, whatever the velocity is.
    fast = {"velocity": (0.7, 0.0, 0.0)}
    assert not jumped(CONFIG, heard(1.0, **fast), heard(1.0, **fast))
    assert not jumped(CONFIG, heard(1.0, **fast), heard(1.0, x=2.2, **fast))
    assert jumped(CONFIG, heard(1.0, **fast), heard(1.0, x=2.3, **fast))
    # A clock that was set back is no time either: 5 s at 0.7 m/s would excuse 3.5 m.
    for x in (-1.5, 5.5):
        assert jumped(CONFIG, heard(6.0, **fast), heard(1.0, x=x, **fast))
    assert not jumped(CONFIG, heard(6.0, **fast), heard(1.0, **fast))


def test_the_velocity_explains_a_way():
    # At 0.7 m/s for 0.4 s: 0.28 m on, within 0.25 m and 1 m/s * (0.4 - 0.1) s of doubt.
    fast = {"velocity": (0.7, 0.0, 0.0)}
    one = heard(1.0, **fast)
    assert not jumped(CONFIG, one, heard(1.4, x=2.28, **fast))
    assert not jumped(CONFIG, one, heard(1.4, x=2.28 + 0.54, **fast))
    assert jumped(CONFIG, one, heard(1.4, x=2.28 + 0.56, **fast))
    assert jumped(CONFIG, one, heard(1.4, x=2.28 - 0.56, **fast))
    # The mean of both velocities counts: from 0.7 to 0 m/s in 0.4 s are 0.14 m.
    assert not jumped(CONFIG, one, heard(1.4, x=2.14 + 0.54))
    assert jumped(CONFIG, one, heard(1.4, x=2.14 + 0.56))


def test_a_turn_may_be_as_quick_as_the_limit_and_a_third_of_a_radian():
    # 0.35 rad + 1 rad/s * 0.1 s.
    assert not moved(0.1, turn=0.44)
    assert moved(0.1, turn=0.46)
    assert moved(0.1, turn=-0.46)
    # Across the seam at pi it is as far as it is, not nearly a full turn.
    assert not jumped(CONFIG, heard(1.0, yaw=math.pi - 0.1), heard(1.1, yaw=-math.pi + 0.1))
    assert jumped(CONFIG, heard(1.0, yaw=math.pi - 0.3), heard(1.1, yaw=-math.pi + 0.3))


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_pose_is_six_finite_numbers(place: int, value: float):
    pose = [2.0, 2.0, 0.7, 0.0, 0.0, 0.0]
    assert has_pose(heard(1.0))
    pose[place] = value
    assert not has_pose(heard(1.0, pose=tuple(pose)))


def test_a_pose_comes_with_a_velocity_and_a_time():
    assert not has_pose(heard(1.0, velocity=(0.0, math.nan, 0.0)))
    assert not has_pose(heard(1.0, pose_s=math.nan))
    assert not has_pose(Telemetry())


def test_a_pose_of_no_numbers_is_not_remembered():
    state, _ = tick(State(0.0), 1.0, heard(1.0))
    state, _ = tick(state, 1.05, heard(1.05, x=math.nan))
    assert state.last_pose is not None
    assert state.last_pose.pose_s == 1.0
    _, command = tick(state, 1.1, heard(1.1, x=2.5))  # against the last one that was a pose
    assert Reason.POSE_JUMP in command.reasons


@settings(deadline=None)
@given(st.floats(0, 2), st.floats(-0.7, 0.7), st.floats(-0.7, 0.7), st.floats(-1, 1))
def test_what_flies_at_a_constant_speed_never_jumps(dt: float, vx: float, vy: float, omega: float):
    velocity = (vx, vy, 0.0)
    after = heard(1.0 + dt, 2.0 + vx * dt, 2.0 + vy * dt, yaw=omega * dt, velocity=velocity)
    assert not jumped(CONFIG, heard(1.0, velocity=velocity), after)


POSES = st.tuples(*[st.floats(-3, 3)] * 6)


def test_the_pose_of_an_image_lies_between_its_neighbours():
    poses = Poses()
    assert poses.at(1.0) is None
    poses.add(1.0, (0.0, 2.0, 0.7, 0.0, 0.1, 3.0))
    assert poses.at(0.0) == poses.at(1.0) == poses.at(9.0) == (0.0, 2.0, 0.7, 0.0, 0.1, 3.0)
    poses.add(2.0, (1.0, 0.0, 0.9, 0.2, 0.1, -3.0))
    # A quarter of the way; yaw goes the short way from 3 over pi to -3: 0.283 rad, a quarter of that 0.0708.
    wanted = (0.25, 1.5, 0.75, 0.05, 0.1, 3.0 + 0.25 * (2 * math.pi - 6.0))
    assert poses.at(1.25) == pytest.approx(wanted)
    assert poses.at(1.0) == pytest.approx((0.0, 2.0, 0.7, 0.0, 0.1, 3.0))
    assert poses.at(2.5) == (1.0, 0.0, 0.9, 0.2, 0.1, -3.0)


def test_of_two_poses_with_one_time_stamp_the_first_is_kept():
    poses = Poses()
    first, second = (0.0,) * 6, (1.0,) * 6
    poses.add(1.0, first)
    poses.add(1.0, second)
    poses.add(0.5, second)  # late: it is older than what is known
    assert list(poses.recent) == [(1.0, first)]
    poses.add(2.0, second)
    assert poses.at(1.0) == pytest.approx(first)
    assert poses.at(1.5) == pytest.approx((0.5,) * 6)


def test_a_hundred_poses_are_kept():
    poses = Poses()
    for i in range(250):
        poses.add(float(i), (float(i),) + (0.0,) * 5)
    assert len(poses.recent) == 100
    assert poses.at(0.0)[0] == 150.0
    assert poses.at(200.5)[0] == pytest.approx(200.5)


@settings(deadline=None)
@given(POSES, POSES, st.floats(0, 1))
def test_between_two_poses_no_place_and_no_angle_leaves_the_short_way(first, second, share):
    poses = Poses()
    poses.add(1.0, first)
    poses.add(2.0, second)
    between = poses.at(1.0 + share)
    for a, b, value in zip(first[:3], second[:3], between[:3], strict=True):
        assert min(a, b) - 1e-9 <= value <= max(a, b) + 1e-9
    for a, b, value in zip(first[3:], second[3:], between[3:], strict=True):
        whole = abs(math.remainder(b - a, 2 * math.pi))
        assert abs(math.remainder(value - a, 2 * math.pi)) == pytest.approx(share * whole, abs=1e-6)


def astray(*poses: Telemetry) -> float:
    """After all of them."""
    watch = PoseWatch()
    return [watch.look(pose) for pose in poses][-1].astray_m


def test_two_small_jumps_one_after_the_other_are_one():
    # 0.24 m at 1.05 s and again at 1.5 s: neither is a jump, together they are 0.48 m.
    one, two, three = heard(1.0), heard(1.05, x=2.24), heard(1.1, x=2.48)
    assert not jumped(CONFIG, one, two)
    assert not jumped(CONFIG, two, three)
    assert astray(one, two) == pytest.approx(0.24)
    assert astray(one, two, three) == pytest.approx(0.48)
    state, _ = tick(State(0.0), 1.1, replace(three, astray_m=0.24))
    assert Reason.POSE_JUMP not in state.lasting
    _, command = tick(state, 1.15, replace(heard(1.15, x=2.48), astray_m=0.48))
    assert (command.kind, command.reasons) == (Kind.HOLD, (Reason.POSE_JUMP,))


def test_a_second_pose_of_the_same_moment_counts():
    # No time has passed: 0.2 m at once, and again 0.2 m.
    assert astray(heard(1.0), heard(1.0, x=2.2)) == pytest.approx(0.2)
    assert astray(heard(1.0), heard(1.0, x=2.2), heard(1.0, x=2.4)) == pytest.approx(0.4)


def test_there_and_back_is_nowhere():
    assert astray(heard(1.0), heard(1.05, x=2.2), heard(1.1)) == pytest.approx(0.0)


def test_a_flight_is_not_astray_and_a_jump_is_forgotten_after_three_seconds():
    # 0.7 m/s along x for 4 s, with a jump of 0.2 m to the side after 0.5 s.
    watch, seen = PoseWatch(), {}
    for i in range(81):
        now = 1.0 + 0.05 * i
        told = heard(now, 0.035 * i, 2.0 + 0.2 * (i >= 10), velocity=(0.7, 0.0, 0.0))
        seen[i] = watch.look(told).astray_m
    assert seen[9] == pytest.approx(0.0, abs=1e-9)
    assert seen[10] == seen[69] == pytest.approx(0.2)
    assert seen[72] == pytest.approx(0.0, abs=1e-9)


def test_what_is_three_seconds_old_to_the_bit_still_counts():
    # Poses a quarter of a second apart, of which each leaves 0.15 m of doubt; two metres aside at 1.25 s.
    watch, seen = PoseWatch(), {}
    for i in range(15):
        now = 1.0 + 0.25 * i
        seen[now] = watch.look(heard(now, y=2.0 + 2.0 * (i >= 1))).astray_m
    assert seen[1.25] == pytest.approx(2.0 - 0.15)
    assert seen[4.25] == pytest.approx(2.0 - 13 * 0.15)  # the steps from 1.25 to 4.25 s
    assert seen[4.5] == 0.0


def test_across_a_gap_nothing_is_known():
    assert astray(heard(1.0), heard(1.05, x=2.24), heard(1.4, x=2.24), heard(1.45, x=2.48)) == pytest.approx(0.24)
    # Between 0.1 and 0.3 s there is a doubt of 1 m/s: 0.24 m in 0.2 s are 0.14 m astray.
    assert astray(heard(1.0), heard(1.2, x=2.24)) == pytest.approx(0.14)


def test_a_pose_that_is_heard_again_counts_once():
    one, two = heard(1.0), heard(1.05, x=2.24)
    assert astray(one, two, two, two) == pytest.approx(0.24)
    assert astray(one, heard(1.05, x=math.nan), two) == pytest.approx(0.24)
