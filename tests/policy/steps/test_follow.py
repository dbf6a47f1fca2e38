"""Along a way, and to rest at its end."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.policy.steps.follow import FollowConfig, follow, present_speed, same_way_round, speed_to_rest
from wayword.task import DECISION_S, MAX_SPEED_M_S


def test_the_speed_that_comes_to_rest_in_time_by_hand() -> None:
    # At 0.7 m/s with a lag of 0.5 s a vehicle coasts 0.35 m. Of 0.6 m that leaves 0.25 m for the half second until
    # the next decision: 0.5 m/s.
    assert speed_to_rest(0.6, 0.7, 0.5) == pytest.approx(0.5)
    assert speed_to_rest(0.3, 0.7, 0.5) == 0.0  # too late already
    assert speed_to_rest(math.inf, 0.7, 0.5) == MAX_SPEED_M_S


def test_how_fast_it_is_by_hand() -> None:
    # Asked for 0.4 m/s from rest with a lag of 0.5 s: k = 1 / e; gone 0.4 x (0.5 - 0.5 (1 - k)) = 0.2 k m, then
    # 0.4 (1 - k) m/s. One that holds its speed has gone 0.2 m.
    k = math.exp(-1)
    assert present_speed(0.2 * k, 0.4, 0.5) == pytest.approx(0.4 * (1 - k))
    assert present_speed(0.2, 0.4, 0.5) == pytest.approx(0.4)


@given(way_m=st.floats(0.5, 3.0), lag_s=st.floats(0.2, 0.65))
def test_a_vehicle_that_is_no_slower_than_believed_never_flies_too_far(way_m: float, lag_s: float) -> None:
    gone = speed = believed = 0.0
    for _ in range(60):
        begun, way = gone, np.array([[gone, 0.0], [way_m, 0.0]])
        asked, _ = follow(np.array([gone, 0.0, 0.0]), way, True, FollowConfig(), None, believed)
        keep = math.exp(-DECISION_S / lag_s)
        gone += asked * DECISION_S + (speed - asked) * lag_s * (1 - keep)
        speed = asked + (speed - asked) * keep
        if way_m - gone < 0.1:  # reached: from here on it is asked for nothing
            assert gone + speed * lag_s < way_m + 0.1  # it creeps on by 0.035 m at a decision
            return
        believed = present_speed(gone - begun, asked)
    pytest.fail("it did not arrive")


def test_it_slows_down_before_a_disc_that_stands_right_ahead() -> None:
    # The disc begins 0.5 m ahead: 0.5 / 0.95 m/s. Beside the way it does not count.
    here, way = np.array([0.0, 0.0, 0.0]), np.array([[0.0, 0.0], [3.0, 0.0]])
    speed, _ = follow(here, way, False, FollowConfig(), np.array([[0.8, 0.0, 0.3]]), 0.7)
    assert speed == pytest.approx(0.5 / 0.95)
    assert follow(here, way, False, FollowConfig(), np.array([[0.8, 0.5, 0.3]]), 0.7)[0] == MAX_SPEED_M_S


def test_what_is_right_behind_is_turned_to_the_way_it_is_turning() -> None:
    # 3 rad to the left, turning right: 2 pi - 3 = 3.28 rad to the right. What is 2 rad to the left is not behind.
    assert same_way_round(3.0, -1.0) == pytest.approx(3.0 - 2 * math.pi)
    assert same_way_round(-3.0, 1.0) == pytest.approx(2 * math.pi - 3.0)
    assert same_way_round(3.0, 1.0) == 3.0
    assert same_way_round(3.0, 0.0) == 3.0
    assert same_way_round(2.0, -1.0) == 2.0
