"""Ways around things."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.policy.steps.route import EDGE_M, clearance, is_way_free, route
from wayword.task import ARENA_M

ONE = np.array([[2.0, 2.0, 0.3]])


def length(way: np.ndarray) -> float:
    return sum(math.dist(p, q) for p, q in pairwise(way))


def nearest(way: np.ndarray, discs: np.ndarray) -> float:
    points = [p + t * (q - p) for p, q in pairwise(way) for t in np.linspace(0, 1, 40)]
    return min(clearance(point, discs) for point in points)


def test_a_free_way_is_straight() -> None:
    assert route((0.5, 0.5), (4.0, 0.7), ONE).tolist() == [[0.5, 0.5], [4.0, 0.7]]


def test_a_thing_in_the_way_is_passed_with_room_and_not_by_a_long_way_round() -> None:
    way = route((1.0, 2.0), (3.0, 2.0), ONE)
    assert way[0].tolist() == [1.0, 2.0]
    assert way[-1].tolist() == [3.0, 2.0]
    assert nearest(way, ONE) > 0.15
    assert 2.0 < length(way) < 2.6  # over the tangent points it would be 2.2


def test_a_gap_that_is_too_narrow_is_not_taken() -> None:
    wall = np.array([[2.0, y, 0.3] for y in (1.0, 1.55, 2.1, 2.65)])
    way = route((1.0, 1.8), (3.0, 1.8), wall)
    assert nearest(way, wall) > 0.05
    assert way[:, 1].min() < 0.7 or way[:, 1].max() > 2.95


SIDES = {  # how places near the upper edge (large y) come to lie near each of the four
    "upper": lambda x, y: (x, y),
    "lower": lambda x, y: (x, ARENA_M - y),
    "right": lambda x, y: (y, x),
    "left": lambda x, y: (ARENA_M - y, x),
}


@pytest.mark.parametrize("side", SIDES)
def test_between_a_thing_and_the_edge_there_is_no_way(side: str) -> None:
    # A wall of seven discs from y = 0.98 to 4.58, 12 cm below the edge, of which 10 cm are kept: a drone just under its
    # upper end goes round the lower one, more than three metres away.
    at = SIDES[side]
    wall = np.array([(*at(2.35, 4.28 - 0.5 * k), 0.3) for k in range(7)])
    way = route(at(1.0, 4.3), at(3.7, 4.3), wall)
    assert min(way.min(), ARENA_M - way.max()) >= EDGE_M
    assert length(way) > 6.0
    assert nearest(way, wall) > 0.0


def test_from_inside_a_disc_there_is_still_a_way_out() -> None:
    way = route((2.1, 2.0), (3.0, 2.0), ONE)
    assert way[-1].tolist() == [3.0, 2.0]


def test_free_and_clear_by_hand() -> None:
    assert is_way_free((1.0, 2.31), (3.0, 2.31), ONE)
    assert not is_way_free((1.0, 2.29), (3.0, 2.29), ONE)
    assert is_way_free((1.0, 2.0), (1.6, 2.0), ONE)  # the line ends before the disc
    assert clearance((2.0, 2.5), ONE) == pytest.approx(0.2)
    assert clearance((2.0, 2.0), ONE) == pytest.approx(-0.3)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_ways_between_free_places_touch_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    discs = []
    while len(discs) < 6:
        x, y = rng.uniform(0.6, 4.1, 2)
        if all(math.dist((x, y), (u, v)) > 0.95 for u, v, _ in discs):
            discs.append((x, y, 0.3))
    around = np.array(discs)
    ends = [p for p in rng.uniform(0.3, 4.4, (40, 2)) if clearance(p, around) > 0.1][:2]
    assert nearest(route(*ends, around), around) > 0.0
