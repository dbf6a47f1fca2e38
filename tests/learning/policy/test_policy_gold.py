"""Gold visitation distributions: hand-worked mass, place and coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.learning.policy.gold import gold_distributions
from wayword.mapping.grid import CELL_M, UNOBSERVED, prediction_centres, to_frame

SEEN = np.ones((32, 32), np.float32)
START = (2.35, 2.35, 0.0)


def grids(distributions: np.ndarray) -> np.ndarray:
    return distributions[:, :UNOBSERVED].reshape(2, 64, 64)


def mean_place(grid: np.ndarray) -> np.ndarray:
    return (prediction_centres() * grid[..., None]).sum((0, 1)) / grid.sum()


def test_a_point_on_a_cell_centre_is_a_normalised_gaussian() -> None:
    # The point half a cell ahead and half a cell left of the start is the centre of cell [32, 32].
    point = [[2.35 + CELL_M / 2, 2.35 + CELL_M / 2]]
    result = gold_distributions(point, START, SEEN)
    # 1-D kernel at -3..3 with sigma 1: 1 + 2 (0.60653 + 0.13534 + 0.01111) = 2.50596; centre = 1 / 2.50596^2 = 0.15924.
    grid = grids(result)[1]
    assert grid[32, 32] == pytest.approx(0.15924, abs=1e-5)
    assert grid[32, 33] == pytest.approx(0.15924 * 0.60653, abs=1e-5)
    assert grid[31, 33] == pytest.approx(0.15924 * 0.60653**2, abs=1e-5)
    assert grid[32, 36] == 0
    assert result[1, UNOBSERVED] == pytest.approx(0, abs=1e-6)
    np.testing.assert_array_equal(result[0], result[1])  # a path of one point visits only its end


def test_rows_are_left_and_columns_are_forward_of_the_start() -> None:
    # Facing +y: a goal 1 m further along +y is forward (u = 1); one at smaller x is left (v > 0).
    start = (2.0, 1.0, np.pi / 2)
    goal = [2.0 - 0.5, 1.0 + 1.0]
    result = gold_distributions([[2.0, 1.0], goal], start, SEEN)
    np.testing.assert_allclose(mean_place(grids(result)[1]), (1.0, 0.5), atol=2e-3)
    np.testing.assert_allclose(mean_place(grids(result)[0]), (0.5, 0.25), atol=2e-3)  # the middle of the path
    np.testing.assert_allclose(to_frame(goal, start), (1.0, 0.5))


def test_mass_is_uniform_along_the_path_however_it_is_sampled() -> None:
    coarse = gold_distributions([[1, 1], [3, 1], [3, 2]], START, SEEN)
    fine = gold_distributions([[1, 1], [1, 1], [1.2, 1], [2.9, 1], [3, 1], [3, 1.5], [3, 2]], START, SEEN)
    np.testing.assert_allclose(coarse, fine, atol=1e-6)
    # Two of the three metres lie on y = 1: its half plane holds 2/3 of the mass (cells are 0.147 m, split at y = 1.5
    # leaves half a metre of the other leg below: 2.5/3, up to a point of 2 cm and the blur's symmetric exchange).
    below = grids(coarse)[0][(prediction_centres()[..., 1] + 2.35) < 1.5].sum()
    assert below == pytest.approx(2.5 / 3, abs=0.02)


def test_unseen_mass_goes_to_not_yet_observed() -> None:
    left_half = np.zeros((32, 32), np.float32)
    left_half[:, :16] = 1  # x < 2.35 seen
    result = gold_distributions([[1.35, 2.0], [3.35, 2.0]], START, left_half)
    # Half the path is seen (the bilinear edge is symmetric about x = 2.35); the goal is not.
    assert result[0, UNOBSERVED] == pytest.approx(0.5, abs=0.01)
    assert result[1, UNOBSERVED] == 1
    assert grids(result)[1].sum() == 0
    # The same along y: half a cell beside its place, coverage would let 0.46 or 0.54 through.
    result = gold_distributions([[2.0, 1.35], [2.0, 3.35]], START, np.ascontiguousarray(left_half.T))
    assert result[0, UNOBSERVED] == pytest.approx(0.5, abs=0.01)
    assert result[1, UNOBSERVED] == 1
    quarter = gold_distributions([[2.0, 2.0]], START, np.full((32, 32), 0.25, np.float32))
    np.testing.assert_allclose(quarter[:, UNOBSERVED], 0.75, atol=1e-6)
    # At the wall (x = 1 cm) of a fully seen arena everything is observed.
    assert gold_distributions([[0.01, 2.0]], START, SEEN)[1, UNOBSERVED] == pytest.approx(0, abs=1e-6)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="P >= 1"):
        gold_distributions(np.zeros((0, 2)), START, SEEN)
    with pytest.raises(ValueError, match="finite"):
        gold_distributions([[np.nan, 1.0]], START, SEEN)
    with pytest.raises(ValueError, match="coverage"):
        gold_distributions([[1.0, 1.0]], START, SEEN[:16])
    with pytest.raises(ValueError, match="sigma"):
        gold_distributions([[1.0, 1.0]], START, SEEN, sigma_cells=0.0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.3, 2.5))
def test_rows_are_distributions(seed: int, sigma: float) -> None:
    rng = np.random.default_rng(seed)
    path = rng.uniform(0, 4.7, (rng.integers(1, 12), 2))
    start = (*rng.uniform(0, 4.7, 2), rng.uniform(-np.pi, np.pi))
    out = np.empty((2, UNOBSERVED + 1), np.float32)
    result = gold_distributions(path, start, rng.random((32, 32), np.float32), sigma, out=out)
    assert result is out
    assert (result >= 0).all()
    np.testing.assert_allclose(result.sum(1, dtype=np.float64), 1, atol=2e-5)
