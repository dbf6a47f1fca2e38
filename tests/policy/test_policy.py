from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.errors import WaywordError
from wayword.policy import (
    Average,
    AverageConfig,
    Observations,
    Oracle,
    OracleConfig,
    Policy,
    Privileged,
    Stop,
    make_policy,
)

STRAIGHT = np.column_stack([np.linspace(1.0, 3.0, 41), np.full(41, 2.0)])


def seen(x: float, y: float, yaw: float, slot: int = 0) -> Observations:
    image = np.zeros((1, 72, 128, 3), np.uint8)
    return Observations(np.array([slot]), image, np.array([[x, y, 0.7, 0.0, 0.0, yaw]]))


def briefed(path: np.ndarray = STRAIGHT, config: OracleConfig | None = None) -> Oracle:
    oracle = Oracle(config)
    oracle.reset(["go"], [None])
    oracle.brief([path])
    return oracle


@pytest.mark.parametrize("name", ["oracle", "average", "stop"])
def test_every_policy_has_the_one_interface(name: str) -> None:
    policy = make_policy(name)
    assert isinstance(policy, Policy)
    assert policy.name == name
    assert isinstance(policy, Privileged) == (name == "oracle")


def test_an_unknown_policy_is_named_with_the_known_ones() -> None:
    with pytest.raises(WaywordError, match="'pilot'; choose one of oracle, average, stop"):
        make_policy("pilot")


def test_oracle_flies_straight_at_full_speed_along_a_straight_path() -> None:
    (speed, turn, stop), *_ = briefed().act(seen(1.0, 2.0, 0.0))
    assert (speed, turn, stop) == pytest.approx((0.7, 0.0, 0.0))


def test_oracle_turns_towards_its_carrot_and_slows_down_for_it() -> None:
    # Facing +y, the carrot 0.55 m along +x: the error is -90 degrees, so the turn saturates at -1 rad/s
    # and the speed is 0.7 * exp(-3 * pi / 2) = 0.0063 m/s.
    (speed, turn, stop), *_ = briefed().act(seen(1.0, 2.0, math.pi / 2))
    assert turn == -1.0
    assert speed == pytest.approx(0.7 * math.exp(-3 * math.pi / 2))
    assert stop == 0.0


def test_oracle_takes_the_short_way_round_across_the_cut_at_pi() -> None:
    west = STRAIGHT[::-1]  # heading pi; the drone faces -175 degrees, 5 degrees beyond
    (_, turn, _), *_ = briefed(west).act(seen(3.0, 2.0, math.radians(-175)))
    assert turn == pytest.approx(-1.9 * math.radians(5), abs=1e-9)


def test_oracle_brakes_towards_the_end_and_stops_there() -> None:
    # 0.27 m before the end the speed is at most 0.27 / 0.9 = 0.3 m/s.
    oracle = briefed()
    for x in np.arange(1.0, 2.7, 0.3):
        oracle.act(seen(x, 2.0, 0.0))
    (speed, _, stop), *_ = oracle.act(seen(2.73, 2.0, 0.0))
    assert speed == pytest.approx(0.3, rel=0.1)
    assert stop == 0.0
    assert oracle.act(seen(2.95, 2.0, 0.0))[0, 2] == 1.0


@pytest.mark.parametrize("yaw", [0.2, -0.2])
def test_oracle_stops_where_the_end_is_just_behind_it_on_either_side(yaw: float) -> None:
    oracle = briefed()
    for x in np.arange(1.0, 3.1, 0.3):
        oracle.act(seen(x, 2.0, 0.0))
    # 0.12 m beyond: not there, but turning back would only make the path longer. From 0.22 m it turns.
    assert oracle.act(seen(3.12, 2.0, yaw))[0].tolist() == [0.0, 0.0, 1.0]
    assert oracle.act(seen(3.22, 2.0, yaw))[0, 2] == 0.0


def test_oracle_follows_the_order_of_a_path_that_crosses_itself() -> None:
    # East 2 m, a loop north and back, then south across the first leg at (2, 2). At the crossing, on the first
    # visit, the carrot is 0.55 m further east: facing east there is nothing to turn for.
    corners = np.array([[1, 2], [3, 2], [3, 3], [2, 3], [2, 1]], dtype=float)
    oracle = briefed(corners)
    for x in np.arange(1.0, 2.0, 0.25):
        oracle.act(seen(x, 2.0, 0.0))
    (speed, turn, stop), *_ = oracle.act(seen(2.0, 1.99, 0.0))
    assert abs(turn) < 0.1
    assert (speed, stop) == (pytest.approx(0.7, rel=0.1), 0.0)


def test_oracle_follows_paths_of_few_points() -> None:
    oracle = briefed(np.array([[1.0, 2.0], [4.0, 2.0]]))
    for x in (1.0, 1.5, 2.0):
        oracle.act(seen(x, 2.0, 0.0))
    (speed, turn, _), *_ = oracle.act(seen(2.5, 2.0, 0.0))
    assert (speed, turn) == (pytest.approx(0.7), pytest.approx(0.0))


def test_oracle_needs_its_demonstrations() -> None:
    oracle = Oracle()
    oracle.reset(["go"], [None])
    with pytest.raises(ValueError, match="brief"):
        oracle.act(seen(1, 2, 0))
    with pytest.raises(ValueError, match="2 demonstrations for 1"):
        oracle.brief([STRAIGHT, STRAIGHT])


def test_average_flies_its_constants_for_its_number_of_steps_in_each_slot() -> None:
    policy = Average(AverageConfig(0.4, 0.1, 2))
    policy.reset(["a", "b"], [None, None])
    for _ in range(2):
        assert policy.act(seen(0, 0, 0, slot=1)).tolist() == [[0.4, 0.1, 0.0]]
    assert policy.act(seen(0, 0, 0, slot=1))[0, 2] == 1.0
    assert policy.act(seen(0, 0, 0, slot=0))[0, 2] == 0.0  # slot 0 has its own count


def test_stop_stops() -> None:
    policy = Stop()
    policy.reset(["a"], [None])
    assert policy.act(seen(0, 0, 0)).tolist() == [[0.0, 0.0, 1.0]]
