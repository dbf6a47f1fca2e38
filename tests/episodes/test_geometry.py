"""Plane geometry of paths, on right angles and round numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.episodes.geometry import arc_length, chord_heading, distances_to_path, edge_distance, point_at, wrap
from wayword.episodes.manoeuvres import arrival_heading, departure_heading

CORNER = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
ARC = arc_length(CORNER)


def test_lengths_of_a_corner() -> None:
    np.testing.assert_allclose(ARC, [0, 3, 7])
    np.testing.assert_allclose(arc_length(np.zeros((1, 2))), [0])


@pytest.mark.parametrize(
    ("metres", "point"),
    [(0, (0, 0)), (1.5, (1.5, 0)), (3, (3, 0)), (5, (3, 2)), (7, (3, 4)), (-1, (0, 0)), (9, (3, 4))],
)
def test_points_along_it_are_held_at_the_ends(metres: float, point: tuple[float, float]) -> None:
    assert point_at(CORNER, ARC, metres) == pytest.approx(point)


def test_a_point_that_is_repeated_does_not_divide_by_zero() -> None:
    path = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    assert point_at(path, arc_length(path), 0.0) == (1.0, 1.0)
    assert point_at(path, arc_length(path), 0.5) == (1.5, 1.0)


def test_chords_across_the_corner() -> None:
    assert chord_heading(CORNER, ARC, 0, 3) == pytest.approx(0.0)
    assert chord_heading(CORNER, ARC, 0, 7) == pytest.approx(math.atan2(4, 3))
    assert chord_heading(CORNER, ARC, 3, 0) == pytest.approx(math.pi)


def test_distances_are_to_the_line_and_not_to_its_points() -> None:
    points = np.array([[1.5, 1.0], [4.0, 2.0], [-3.0, -4.0], [3.0, 0.0]])
    np.testing.assert_allclose(distances_to_path(points, CORNER), [1.0, 1.0, 5.0, 0.0], atol=1e-12)


def test_how_far_inside_the_arena() -> None:
    assert edge_distance(np.array([[0.5, 2.0], [4.0, 2.0]]), 4.7) == pytest.approx(0.5)
    assert edge_distance(np.array([[2.0, 4.5]]), 4.7) == pytest.approx(0.2)
    assert edge_distance(np.array([[-0.1, 2.0]]), 4.7) == pytest.approx(-0.1)


@given(st.floats(-50, 50))
def test_wrapped_angles_are_equal_up_to_whole_turns(angle: float) -> None:
    wrapped = wrap(angle)
    assert -math.pi <= wrapped <= math.pi
    turns = (angle - wrapped) / (2 * math.pi)
    assert turns == pytest.approx(round(turns), abs=1e-6)


def rounded_corner(radius: float) -> np.ndarray:
    """East for a metre, round the corner to the left, north for a metre."""
    before = [(x, 0.0) for x in np.arange(0, 1, 0.02)]
    bend = [(1 + radius * math.sin(a), radius - radius * math.cos(a)) for a in np.linspace(0, math.pi / 2, 12)]
    after = [(1 + radius, radius + y) for y in np.arange(0.02, 1, 0.02)]
    return np.array([*before, *bend, *after])


def test_headings_at_a_rounded_corner_are_those_beyond_the_rounding() -> None:
    path = rounded_corner(0.1)
    arc = arc_length(path)
    middle = 1.0 + 0.1 * math.pi / 4  # halfway round the bend, where the nose points to the north-east
    assert departure_heading(path, arc, middle) == pytest.approx(math.pi / 2, abs=0.02)
    assert arrival_heading(path, arc, middle) == pytest.approx(0.0, abs=0.02)


def test_headings_on_a_straight_line_and_at_its_ends() -> None:
    path = np.column_stack([np.linspace(0, 2, 60), np.linspace(0, 2, 60)])
    arc = arc_length(path)
    for metres in (0.0, 1.0, float(arc[-1])):
        assert departure_heading(path, arc, metres) == pytest.approx(math.pi / 4, abs=1e-6) or metres == arc[-1]
        assert arrival_heading(path, arc, metres) == pytest.approx(math.pi / 4, abs=1e-6) or metres == 0.0
