"""Where a step leads: beside, past, around and between things, worked out by hand in open space."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.policy.steps.vias import (
    INSIDE_M,
    LEAST_M,
    LEAST_WINDING,
    LEFT_M,
    PASS_M,
    ViaPoint,
    arc_around,
    arc_past,
    bearing_from,
    beside,
    heading_error,
    inside,
    leaving,
    middle_of_gap,
    ring_radius,
    side_of_pass,
    through,
    way_length,
    ways_past,
    without,
)
from wayword.task import ARENA_M

MIDDLE = (2.35, 2.35)
ALONE = np.array([[*MIDDLE, 0.3]])
NOTHING = np.zeros((0, 3))


def angles(vias: list[ViaPoint]) -> np.ndarray:
    return np.unwrap([math.atan2(via.offset[1], via.offset[0]) for via in vias])


def radii(vias: list[ViaPoint]) -> list[float]:
    return [math.hypot(*via.offset) for via in vias]


def test_bearings_and_heading_errors_by_hand() -> None:
    assert bearing_from((1.0, 1.0), (1.0, 3.0)) == pytest.approx(math.pi / 2)
    assert bearing_from((1.0, 1.0), (0.0, 1.0)) == pytest.approx(math.pi)
    # At (1, 1), nose to the north: a point in the north-west is an eighth of a turn to the left.
    assert heading_error(np.array([1.0, 1.0, math.pi / 2]), (0.0, 2.0)) == pytest.approx(math.pi / 4)
    # The nose at 170 degrees, the point at -170: twenty degrees to the left, not 340 to the right.
    pose = np.array([2.0, 2.0, math.radians(170)])
    point = (2 + math.cos(math.radians(-170)), 2 + math.sin(math.radians(-170)))
    assert heading_error(pose, point) == pytest.approx(math.radians(20))


@pytest.mark.parametrize(
    ("point", "expected"),
    [((INSIDE_M, 1.0), True), ((INSIDE_M - 0.01, 1.0), False), ((ARENA_M, 1.0), False), ((1.0, ARENA_M - 0.19), False)],
)
def test_inside_is_a_little_inside_the_edge(point: tuple[float, float], expected: bool) -> None:
    assert inside(point) is expected


def test_without_leaves_out_the_disc_at_a_place_and_no_other() -> None:
    discs = np.array([[1.0, 1.0, 0.3], [1.1, 1.0, 0.3], [1.2, 1.0, 0.3]])
    np.testing.assert_array_equal(without(discs, (1.0, 1.0)), discs[2:])  # within 15 cm is the same place


def test_beside_is_at_the_angle_and_distance_asked_for_where_there_is_room() -> None:
    via = beside("globe", MIDDLE, math.pi / 2, 0.5, ALONE)
    assert via.keys == ("globe",)
    assert via.offset == pytest.approx((0.0, 0.5))


def test_beside_turns_away_from_what_stands_there() -> None:
    # Another thing right where the place would be.
    discs = np.concatenate([ALONE, [[MIDDLE[0], MIDDLE[1] + 0.7, 0.3]]])
    via = beside("globe", MIDDLE, math.pi / 2, 0.5, discs)
    assert math.hypot(*via.offset) == pytest.approx(0.5)
    assert abs(angles([via])[0] - math.pi / 2) > math.radians(45)
    # Not more than it may turn, whatever that costs.
    near = beside("globe", MIDDLE, math.pi / 2, 0.5, discs, reach=math.radians(20))
    assert abs(angles([near])[0] - math.pi / 2) <= math.radians(20) + 1e-9


def test_beside_a_thing_in_the_corner_stays_in_the_arena() -> None:
    corner = (0.4, 0.4)
    via = beside("globe", corner, math.radians(-135), 0.5, NOTHING)
    assert inside((corner[0] + via.offset[0], corner[1] + via.offset[1]))


def test_a_ring_has_the_usual_radius_in_the_open_and_gives_way_to_neighbours() -> None:
    # Radii are tried in steps of 4 cm from 42 cm on; 58 cm is one of them.
    assert ring_radius(MIDDLE, 0.3, ALONE) == pytest.approx(PASS_M)
    # A neighbour whose surface is 0.70 m away in this direction: nearer to the thing there is more room.
    neighbour = np.concatenate([ALONE, [[MIDDLE[0] + 1.0, MIDDLE[1], 0.3]]])
    assert LEAST_M < ring_radius(MIDDLE, 0.0, neighbour) < PASS_M


def test_an_arc_begins_and_ends_where_it_says() -> None:
    # 2 rad in pieces of at most 0.35 rad are six, with seven ends.
    vias = arc_around("globe", MIDDLE, 0.5, 2.0, ALONE)
    np.testing.assert_allclose(angles(vias), np.linspace(0.5, 2.5, 7), atol=1e-9)
    np.testing.assert_allclose(radii(vias), PASS_M)
    back = arc_around("globe", MIDDLE, 0.5, -2.0, ALONE)
    np.testing.assert_allclose(angles(back), np.linspace(0.5, -1.5, 7), atol=1e-9)


def test_an_arc_past_is_cut_short_at_both_ends_from_afar_only() -> None:
    # 2.4 rad from 1.5 m away: a quarter, 0.6 rad, less at both ends; but never less than what counts as passing.
    far = arc_past("globe", MIDDLE, (MIDDLE[0] + 1.5, MIDDLE[1]), 2.4, ALONE)
    assert angles(far)[0] == pytest.approx(0.6)
    assert np.ptp(angles(far)) == pytest.approx(max(2.4 - 1.2, LEAST_WINDING))
    near = arc_past("globe", MIDDLE, (MIDDLE[0] + 0.6, MIDDLE[1]), 2.4, ALONE)
    assert angles(near)[0] == pytest.approx(0.0)
    assert np.ptp(angles(near)) == pytest.approx(2.4)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_straight_past_a_thing_keeps_it_on_the_told_side(side: float) -> None:
    # From the south to the north: with the thing on the left (1) the drone flies on its eastern side.
    before, after = (MIDDLE[0], 0.8), (MIDDLE[0], 3.9)
    vias = ways_past("globe", MIDDLE, before, after, side, ALONE)
    assert all(side * via.offset[0] > 0 for via in vias[1:-1])
    assert side * (angles(vias)[-1] - angles(vias)[0]) >= LEAST_WINDING - 1e-9


def test_where_the_way_hardly_bends_the_drone_goes_by_and_comes_back() -> None:
    # The next place is beside where it comes from: it must pass, leave the thing behind, and turn back.
    before, after = (MIDDLE[0] + 1.2, MIDDLE[1]), (MIDDLE[0] + 1.1, MIDDLE[1] + 0.3)
    vias = ways_past("globe", MIDDLE, before, after, 1.0, ALONE)
    assert radii(vias)[-1] == pytest.approx(LEFT_M)
    # With the thing on the other side the same place lies nearly a whole turn away: shorter to turn back as well.
    other = ways_past("globe", MIDDLE, before, after, -1.0, ALONE)
    assert angles(other)[-1] < angles(other)[0]


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_pass_is_not_undone_by_what_comes_next(side: float) -> None:
    # With the thing on the left (1) the drone came round its eastern side and is now north of it.
    here = (MIDDLE[0], MIDDLE[1] + 0.6)
    back, on = (MIDDLE[0] + side * 1.6, MIDDLE[1]), (MIDDLE[0] - side * 1.6, MIDDLE[1])
    # On, further round it, a quarter turn: no need to leave. Back the way it came it is: 0.3 rad further, 1.35 m away.
    assert leaving("globe", MIDDLE, here, on, side, ALONE) == []
    (via,) = leaving("globe", MIDDLE, here, back, side, ALONE)
    assert via.offset == pytest.approx((-side * LEFT_M * math.sin(0.3), LEFT_M * math.cos(0.3)))
    # Straight on is no way back, nor is anything once the thing is left behind.
    assert leaving("globe", MIDDLE, here, (MIDDLE[0], MIDDLE[1] + 2.0), side, ALONE) == []
    assert leaving("globe", MIDDLE, (MIDDLE[0], MIDDLE[1] + 1.3), back, side, ALONE) == []


def test_a_thing_is_left_where_there_is_room() -> None:
    here, back = (MIDDLE[0], MIDDLE[1] + 0.6), (MIDDLE[0] + 1.6, MIDDLE[1])
    ahead = (MIDDLE[0] - LEFT_M * math.sin(0.3), MIDDLE[1] + LEFT_M * math.cos(0.3))
    (via,) = leaving("globe", MIDDLE, here, back, 1.0, np.concatenate([ALONE, [[*ahead, 0.3]]]))
    assert via.offset == pytest.approx((-LEFT_M * math.sin(0.6), LEFT_M * math.cos(0.6)))  # the next best


def test_beside_a_wall_it_goes_on_around_the_thing() -> None:
    # East of a thing in the north-eastern corner, bound for the south with the thing on the left: by the north and the
    # west, three quarters of a turn.
    corner = (ARENA_M - 0.7, ARENA_M - 0.7)
    discs = np.array([[*corner, 0.3]])
    here, back = (corner[0] + 0.5, corner[1]), (corner[0], corner[1] - 1.6)
    vias = leaving("globe", corner, here, back, 1.0, discs)
    assert angles(vias)[-1] - angles(vias)[0] == pytest.approx(1.5 * math.pi)
    assert all(corner[k] + via.offset[k] < ARENA_M for via in vias for k in (0, 1))


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_side_of_a_pass_is_that_of_its_points(side: float) -> None:
    vias = ways_past("globe", MIDDLE, (MIDDLE[0], 0.8), (MIDDLE[0], 3.9), side, ALONE)
    assert side_of_pass(vias) == side
    other = ViaPoint(("planter",), (0.0, 0.5))
    assert side_of_pass([*vias, other]) == 0.0  # one point goes round nothing


def test_in_a_corner_without_room_to_leave_it_flies_all_around() -> None:
    corner = (0.9, 0.9)
    discs = np.array([[*corner, 0.3]])
    before, after = (0.9, 1.9), (1.1, 1.9)  # to the left of it is the wall
    vias = ways_past("globe", corner, before, after, 1.0, discs)
    assert np.ptp(angles(vias)) > math.pi
    for via in vias:
        assert 0 < corner[0] + via.offset[0] < ARENA_M
        assert 0 < corner[1] + via.offset[1] < ARENA_M


def test_the_length_of_a_way_by_hand() -> None:
    vias = [ViaPoint(("globe",), (3.0, 0.0)), ViaPoint(("globe",), (3.0, 4.0))]
    # (0, 0) -> (4, 0) -> (4, 4) around a thing at (1, 0), then on to (4, 5).
    assert way_length(vias, (1.0, 0.0), (0.0, 0.0), None) == pytest.approx(8.0)
    assert way_length(vias, (1.0, 0.0), (0.0, 0.0), (4.0, 5.0)) == pytest.approx(9.0)
    assert way_length([], (1.0, 0.0), (0.0, 0.0), None) == 0.0


def test_the_middle_of_a_gap_is_halfway_unless_something_stands_there() -> None:
    a, b = (1.5, 2.0), (3.1, 2.0)
    pair = np.array([[*a, 0.3], [*b, 0.3]])
    assert middle_of_gap(a, b, pair) == pytest.approx((2.3, 2.0))
    beside_middle = np.concatenate([pair, [[2.45, 2.25, 0.2]]])
    assert middle_of_gap(a, b, beside_middle)[0] < 2.3


@pytest.mark.parametrize("before", [(2.3, 0.6), (2.3, 3.6)])
def test_through_a_gap_leads_from_this_side_to_the_other(before: tuple[float, float]) -> None:
    a, b = (1.5, 2.0), (3.1, 2.0)
    vias = through(("globe", "duck"), a, b, before, np.array([[*a, 0.3], [*b, 0.3]]))
    assert [via.keys for via in vias] == [("globe", "duck")] * 3
    ahead = 1.0 if before[1] < 2.0 else -1.0
    np.testing.assert_allclose([via.offset for via in vias], [(0, -0.65 * ahead), (0, 0), (0, 0.65 * ahead)], atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    st.floats(-math.pi, math.pi),
    st.floats(0.7, 1.6),
    st.floats(-math.pi, math.pi),
    st.floats(0.7, 1.6),
    st.sampled_from([1.0, -1.0]),
)
def test_whatever_the_way_it_winds_round_the_thing_on_the_told_side(
    first: float, near: float, last: float, far: float, side: float
) -> None:
    """In the middle of the arena, from anywhere to anywhere: at least the least winding, all of it to one side."""
    before = (MIDDLE[0] + near * math.cos(first), MIDDLE[1] + near * math.sin(first))
    after = (MIDDLE[0] + far * math.cos(last), MIDDLE[1] + far * math.sin(last))
    vias = ways_past("globe", MIDDLE, before, after, side, ALONE)
    ring = [via for via in vias if math.hypot(*via.offset) < LEFT_M - 1e-9]  # the rest is outside, on the way back
    turns = side * np.diff(angles(ring))
    assert (turns > 0).all()
    assert turns.sum() >= LEAST_WINDING - 1e-9
    assert min(radii(vias)) >= LEAST_M
