"""Looking again, from further away, at what holds a drone up: worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.policy.steps.look_again import LOOKS, given_up, look_again
from wayword.policy.steps.phases import FlyThrough, LookBack, TurnTo
from wayword.policy.steps.vias import ViaPoint

NOTHING = np.zeros((0, 3))
HERE = np.array([2.5, 2.0, 0.4])


def test_it_flies_straight_back_and_looks_at_what_was_ahead() -> None:
    # To the east it was held up at (2.85, 2); 1.3 m west of that is (1.55, 2).
    again = look_again(HERE, (4.0, 2.0), NOTHING)
    assert again is not None
    assert again.place == pytest.approx((1.55, 2.0))
    assert again.heading == pytest.approx(0.0)
    back, turn, look = again.phases
    assert isinstance(back, FlyThrough)
    assert back.halt
    assert back.vias == (ViaPoint((), again.place),)
    assert turn == TurnTo(again.heading)
    assert look == LookBack(LOOKS)


def test_it_goes_nearer_or_aside_where_there_is_no_room_behind() -> None:
    # A thing at (1.15, 2) of 0.38 m leaves (1.55, 2) 0.02 m of room, and (1.75, 2), 1.1 m from what is ahead, 0.22 m.
    again = look_again(HERE, (4.0, 2.0), np.array([[1.15, 2.0, 0.38]]))
    assert again is not None
    assert again.place == pytest.approx((1.75, 2.0))
    # One 0.7 m behind: the way back leads through it. Half a radian beside it, on 1.3 m: 0.36 m from its middle.
    again = look_again(HERE, (4.0, 2.0), np.array([[1.8, 2.0, 0.3]]))
    assert again is not None
    assert math.dist(again.place, (2.85, 2.0)) == pytest.approx(1.3)
    assert again.place[1] != pytest.approx(2.0)
    assert math.dist(again.place, (1.8, 2.0)) > 0.35


def test_what_the_drone_is_in_does_not_keep_it_from_leaving() -> None:
    again = look_again(HERE, (4.0, 2.0), np.array([[2.7, 2.0, 0.3]]))
    assert again is not None
    assert again.place == pytest.approx((1.55, 2.0))


def test_in_a_corner_there_is_no_place_to_look_from() -> None:
    ring = [(2.5 + 0.6 * math.cos(a), 2.0 + 0.6 * math.sin(a), 0.25) for a in np.linspace(0, 2 * math.pi, 12)]
    assert look_again(HERE, (4.0, 2.0), np.array(ring)) is None


def test_given_up_is_the_next_point_or_the_phase() -> None:
    a, b = ViaPoint((), (1.0, 1.0)), ViaPoint((), (2.0, 1.0))
    turn = TurnTo(1.0)
    assert given_up([FlyThrough((a, b), True), turn]) == [FlyThrough((b,), True), turn]
    assert given_up([FlyThrough((b,), True), turn]) == [turn]
    assert given_up([turn]) == []
