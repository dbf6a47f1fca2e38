"""Lines and columns, left and right: the axes of the reward, with numbers that tell them apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.learning.policy.rewards import (
    IntrinsicReward,
    RewardConfig,
    grid_places,
    mean_distance_cells,
    transport_cells,
)
from wayword.mapping.grid import CELL_M, UNOBSERVED


def one_at(*cells: tuple[int, int]) -> np.ndarray:
    """(1, 4096) with equal mass in some cells."""
    grid = np.zeros((64, 64), np.float32)
    for cell in cells:
        grid[cell] = 1 / len(cells)
    return grid.reshape(1, -1)


@pytest.mark.parametrize(
    ("yaw", "ahead"),
    [(0.0, (1, 0)), (math.pi / 2, (0, 1)), (math.pi, (-1, 0)), (-math.pi / 2, (0, -1))],
)
def test_ahead_is_a_column_and_left_a_line(yaw: float, ahead: tuple[int, int]):
    """The grid is seen from the start: three cells ahead are three columns on, two to the left two lines on."""
    left = (-ahead[1], ahead[0])
    point = [2.0 + CELL_M * (3 * ahead[0] + 2 * left[0]), 1.0 + CELL_M * (3 * ahead[1] + 2 * left[1])]
    np.testing.assert_allclose(grid_places([point], [[2.0, 1.0, yaw]]), [[31.5 + 2, 31.5 + 3]], atol=1e-9)


def test_every_flight_has_its_own_start():
    points, starts = [[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0, 2.0], [1.0 - CELL_M, 1.0, 0.0]]
    np.testing.assert_allclose(grid_places(points, starts), [[31.5, 31.5], [31.5, 32.5]], atol=1e-9)


def test_the_distance_to_a_place_tells_lines_from_columns():
    # The mass is in line 10, column 40.
    there = one_at((10, 40))
    assert mean_distance_cells(there, np.array([[10.0, 40.0]])) == pytest.approx([0.0])
    assert mean_distance_cells(there, np.array([[13.0, 44.0]])) == pytest.approx([5.0])
    assert mean_distance_cells(there, np.array([[40.0, 10.0]])) == pytest.approx([30 * math.sqrt(2)])


@pytest.mark.parametrize("directions", [0, 8])
def test_transport_along_lines_and_along_columns(directions: int):
    start = one_at((10, 40))
    assert transport_cells(start, one_at((10, 46)), directions) == pytest.approx([6.0], rel=0.02)
    assert transport_cells(start, one_at((16, 40)), directions) == pytest.approx([6.0], rel=0.02)
    assert transport_cells(start, one_at((10, 34)), directions) == pytest.approx([6.0], rel=0.02)
    assert transport_cells(start, start, directions) == pytest.approx([0.0], abs=1e-6)


def test_an_end_beside_the_goal_costs_its_distance():
    """Goal two lines to the left of where it stops, three columns ahead: sqrt(13) cells, times 0.5."""
    distributions = np.zeros((1, 2, UNOBSERVED + 1), np.float32)
    distributions[0, :, 20 * 64 + 50] = 1
    visited = np.zeros((1, 64, 64), np.float32)
    visited[0, 18, 47] = 1
    reward = IntrinsicReward(1, RewardConfig(step=0.0))
    total = reward(np.array([0]), distributions, visited, np.array([[18.0, 47.0]]), [[0.5, 0.0]], np.array([True]))
    assert total[0] == pytest.approx(-0.5 * math.sqrt(13), abs=1e-5)


def test_flying_towards_the_predicted_path_is_rewarded_in_both_directions():
    """From the middle of the grid, towards a path ahead (columns) and towards one to the left (lines)."""
    for path, toward, away in (((32, 44), (32, 36), (36, 32)), ((44, 32), (36, 32), (32, 36))):
        gains = []
        for place in (toward, away):
            distributions = np.zeros((1, 2, UNOBSERVED + 1), np.float32)
            distributions[0, :, path[0] * 64 + path[1]] = 1
            reward = IntrinsicReward(1, RewardConfig(step=0.0, directions=0))
            for cells in (((32, 32),), ((32, 32), place)):
                visited = np.zeros((1, 64, 64), np.float32)
                for cell in cells:
                    visited[0][cell] = 1
                total = reward(
                    np.array([0]), distributions, visited, np.array([[32.0, 32.0]]), [[0.5, 0.0]], np.array([False])
                )
            gains.append(float(total[0]))
        # Half of the mass goes 4 of 12 cells: -12 to -10, times 0.3; aside it goes from 12 to 12.65.
        assert gains[0] == pytest.approx(0.6, abs=1e-5)
        assert gains[1] == pytest.approx(-0.3 * (math.hypot(12, 4) - 12) / 2, abs=1e-5)


CELLS = st.tuples(st.integers(0, 63), st.integers(0, 63))


@settings(deadline=None, max_examples=60)
@given(CELLS, CELLS, CELLS)
def test_transport_is_a_distance(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]):
    """Between single cells the exact one is the distance between their centres, and the sliced one never more."""
    first, second, third = one_at(a), one_at(b), one_at(c)
    wanted = math.dist(a, b)
    assert transport_cells(first, second, 0)[0] == pytest.approx(wanted, abs=1e-5)
    assert transport_cells(first, second)[0] == pytest.approx(wanted, rel=0.02, abs=0.02)
    assert transport_cells(second, first)[0] == pytest.approx(transport_cells(first, second)[0], abs=1e-6)
    detour = transport_cells(first, third)[0] + transport_cells(third, second)[0]
    assert transport_cells(first, second)[0] <= 1.03 * detour + 0.05


@settings(deadline=None, max_examples=60)
@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(-3.2, 3.2), st.floats(0, 4.7), st.floats(0, 4.7))
def test_places_keep_distances(x: float, y: float, yaw: float, px: float, py: float):
    place = grid_places([[px, py]], [[x, y, yaw]])[0] - 31.5
    assert math.hypot(*place) * CELL_M == pytest.approx(math.hypot(px - x, py - y), abs=1e-9)
    u, v = place[1] * CELL_M, place[0] * CELL_M
    assert x + u * math.cos(yaw) - v * math.sin(yaw) == pytest.approx(px, abs=1e-9)
    assert y + u * math.sin(yaw) + v * math.cos(yaw) == pytest.approx(py, abs=1e-9)
