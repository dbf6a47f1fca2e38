"""The motion nearest to what was asked for that touches nothing."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.policy.steps.follow import free_ahead, turn_rate
from wayword.policy.steps.keep_clear import ClearConfig, keep_clear

HERE = np.array([1.0, 1.0, 0.0])


def test_where_nothing_stands_the_wish_is_flown() -> None:
    assert keep_clear(HERE, 0.7, (0.7, 0.3), np.zeros((0, 3))) == (0.7, 0.3)
    assert keep_clear(HERE, 0.7, (0.7, 0.3), np.array([[4.0, 4.0, 0.3]])) == (0.7, 0.3)


def test_a_wish_that_leads_past_a_thing_is_not_changed() -> None:
    assert keep_clear(HERE, 0.7, (0.7, 0.0), np.array([[1.6, 1.9, 0.3]])) == (0.7, 0.0)


def test_it_steers_to_the_free_side() -> None:
    ahead_on_the_left = np.array([[1.75, 1.12, 0.3]])
    forward, rate = keep_clear(HERE, 0.6, (0.7, 0.0), ahead_on_the_left)
    assert rate < 0 or forward < 0.2
    mirrored = ahead_on_the_left * (1, 1, 1)
    mirrored[0, 1] = 2.0 - mirrored[0, 1]
    assert keep_clear(HERE, 0.6, (0.7, 0.0), mirrored) == pytest.approx((forward, -rate))


def test_between_two_things_that_leave_no_room_it_brakes() -> None:
    wall = np.array([[1.6, y, 0.3] for y in (0.4, 0.8, 1.2, 1.6)])
    forward, _ = keep_clear(HERE, 0.3, (0.7, 0.0), wall)
    assert forward < 0.3


def test_inside_a_disc_it_may_still_leave() -> None:
    forward, _ = keep_clear(HERE, 0.0, (0.7, 0.0), np.array([[0.8, 1.0, 0.3]]))
    assert forward > 0.3
    # Beside its middle it goes on nearly as asked: what counts is not to go deeper, not to be out at once.
    forward, rate = keep_clear(HERE, 0.0, (0.7, 0.0), np.array([[1.0, 0.9, 0.3]]), ClearConfig(room_m=0.2))
    assert forward == pytest.approx(0.7)
    assert 0.0 < rate < 0.3


def test_what_is_still_fast_brakes_for_what_is_further_away() -> None:
    # Its rim is 0.46 m ahead: 0.2 m/s for 1.2 s are 0.24 m, and a drone that comes with 0.7 m/s coasts 0.2 m further.
    ahead = np.array([[1.8, 1.0, 0.34]])
    assert keep_clear(HERE, 0.0, (0.2, 0.0), ahead) == (0.2, 0.0)
    forward, _ = keep_clear(HERE, 0.7, (0.2, 0.0), ahead)
    assert forward < 0.1


def test_free_ahead_by_hand() -> None:
    assert free_ahead(HERE, np.array([[2.0, 1.0, 0.3]])) == pytest.approx(0.7)
    assert free_ahead(HERE, np.array([[2.0, 1.4, 0.3]])) == np.inf  # beside
    assert free_ahead(HERE, np.array([[0.0, 1.0, 0.3]])) == np.inf  # behind
    assert free_ahead(HERE, np.array([[2.0, 1.18, 0.3]])) == pytest.approx(1.0 - 0.24)  # sqrt(0.09 - 0.0324)


def test_turn_rates_are_within_the_limits() -> None:
    assert turn_rate(0.1) == pytest.approx(0.18)
    assert turn_rate(2.0) == 1.0
    assert turn_rate(-2.0) == -1.0
