"""Held up: a drone that stands before a thing flies round it to where the goal is believed to be, and stops there."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED
from wayword.policy.steps.held_up import HeldUp, HeldUpConfig, believed_goal, out_of

START = np.array([1.0, 1.0, math.pi / 2])
"""Facing +y: u of the start's frame is y - 1, v is 1 - x."""
NOTHING = np.zeros((0, 3))


def goal_at(row: int, column: int, unobserved: float = 0.0) -> NDArray[np.float32]:
    distribution = np.zeros(UNOBSERVED + 1, np.float32)
    distribution[row * PREDICTION_CELLS + column] = 1.0 - unobserved
    distribution[UNOBSERVED] = unobserved
    return distribution


def test_the_likeliest_cell_in_the_world() -> None:
    """Row 31, column 41: u = 9.5 cells ahead, v = -0.5 cells to the left, so 9.5 cells up and 0.5 to the right."""
    x, y = believed_goal(goal_at(31, 41), START)
    assert (x, y) == pytest.approx((1.0 + 0.5 * CELL_M, 1.0 + 9.5 * CELL_M))


def test_the_goal_is_the_mean_of_the_cells_around_the_likeliest() -> None:
    """Two neighbours, 0.6 and 0.2: a quarter of a cell from the first towards the second; a far cell does not count."""
    distribution = goal_at(31, 41) * np.float32(0.6)
    distribution[31 * PREDICTION_CELLS + 42] = 0.2
    distribution[5 * PREDICTION_CELLS + 5] = 0.2
    assert believed_goal(distribution, START)[1] == pytest.approx(1.0 + 9.75 * CELL_M, abs=1e-6)


@pytest.mark.parametrize(("row", "cells"), [(30, 0.75), (32, 0.25)])
def test_cells_on_both_sides_of_the_likeliest_count(row: int, cells: float) -> None:
    """Of row 31, half a cell to the right of the start; a quarter of the mass is in the row to its right or left."""
    distribution = goal_at(31, 41) * np.float32(0.6)
    distribution[row * PREDICTION_CELLS + 41] = 0.2
    assert believed_goal(distribution, START)[0] == pytest.approx(1.0 + cells * CELL_M, abs=1e-6)


def test_a_goal_in_a_thing_is_put_beside_it() -> None:
    disc = np.array([[2.0, 2.0, 0.3]])
    assert out_of((2.1, 2.0), disc, 0.05) == pytest.approx((2.35, 2.0))
    assert out_of((3.0, 2.0), disc, 0.05) == (3.0, 2.0)
    assert out_of((2.0, 2.0), disc, 0.0) == pytest.approx((2.3, 2.0))  # any side is as good as another


@given(st.floats(0, 4), st.floats(0, 4), st.floats(0.1, 0.5))
def test_no_goal_is_left_in_a_thing(x: float, y: float, radius: float) -> None:
    disc = np.array([[2.0, 2.0, radius]])
    goal = out_of((x, y), disc, 0.03)
    assert math.dist(goal, (2.0, 2.0)) >= radius + 0.03 - 1e-9


def test_who_gets_on_is_left_alone() -> None:
    held_up = HeldUp()
    for k in range(20):
        assert held_up.decide(np.array([1.0 + 0.1 * k, 1.0, 0.0]), goal_at(31, 41), START, NOTHING) is None
    assert not held_up.direct


def test_who_turns_on_the_spot_is_not_held_up() -> None:
    held_up = HeldUp()
    for k in range(20):
        assert held_up.decide(np.array([1.0, 1.0, 0.2 * k]), goal_at(31, 41), START, NOTHING) is None


def test_two_decisions_without_motion_and_it_flies_to_the_goal() -> None:
    held_up, here = HeldUp(), np.array([1.0, 1.0, math.pi / 2])
    assert held_up.decide(here, goal_at(31, 41), START, NOTHING) is None
    assert held_up.decide(here, goal_at(31, 41), START, NOTHING) is None
    speed, rate, stop = held_up.decide(here, goal_at(31, 41), START, NOTHING) or (0.0, 0.0, 0.0)
    assert speed > 0.3  # the goal is 1.4 m ahead
    assert abs(rate) < 0.2
    assert stop == 0.0


def test_a_goal_nobody_has_seen_is_not_flown_to() -> None:
    held_up, here = HeldUp(), np.array([1.0, 1.0, math.pi / 2])
    for _ in range(5):
        assert held_up.decide(here, goal_at(31, 41, unobserved=0.8), START, NOTHING) is None


def test_it_flies_around_what_stands_in_the_way_and_stops() -> None:
    """A thing right between the drone and its goal; the drone does at once what it is told."""
    disc = np.array([[1.07, 1.7, 0.3]])
    held_up, here, nearest = HeldUp(HeldUpConfig(still=1)), np.array([1.0, 1.0, math.pi / 2]), math.inf
    for _ in range(60):
        motion = held_up.decide(here, goal_at(31, 41), START, disc)
        if motion is not None:
            if motion[2] > 0:
                break
            here = here + np.array([motion[0] * math.cos(here[2]), motion[0] * math.sin(here[2]), motion[1]]) * 0.5
        nearest = min(nearest, math.dist(here[:2], disc[0, :2]))
    else:
        pytest.fail("it never stopped")
    assert math.dist(here[:2], (1.0 + 0.5 * CELL_M, 1.0 + 9.5 * CELL_M)) < 0.13
    assert nearest > 0.25


def test_a_leg_that_does_not_end_is_ended() -> None:
    """Circling for ever: after the longest demonstration there is, the goal is flown to."""
    held_up = HeldUp()
    motions = [
        held_up.decide(
            np.array([2.0 + math.cos(k / 2), 2.0 + math.sin(k / 2), k / 2 + math.pi / 2]),
            goal_at(31, 41),
            START,
            NOTHING,
        )
        for k in range(40)
    ]
    assert motions[35] is None
    assert motions[36] is not None


def test_who_cannot_reach_the_goal_stops_where_it_is() -> None:
    held_up, here = HeldUp(), np.array([1.0, 1.0, math.pi / 2])
    motions = [held_up.decide(here, goal_at(31, 41), START, NOTHING) for _ in range(12)]
    assert motions[-1] == (0.0, 0.0, 1.0)
