"""The intrinsic reward: every term worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.learning.policy.gold import gold_distributions
from wayword.learning.policy.rewards import (
    IntrinsicReward,
    RewardConfig,
    action_excess,
    grid_places,
    mean_distance_cells,
    nearness,
    transport_cells,
)
from wayword.mapping.grid import CELL_M, UNOBSERVED
from wayword.policy.control import Trails

SLOT = np.array([0])


def grid(*cells: tuple[int, int]) -> np.ndarray:
    """(64, 64) with ones."""
    result = np.zeros((64, 64), np.float32)
    for cell in cells:
        result[cell] = 1
    return result


def step(
    reward: IntrinsicReward,
    path: tuple[int, int] = (32, 40),
    goal: tuple[int, int] = (32, 40),
    unobserved: float = 0.0,
    visited: np.ndarray | None = None,
    place: tuple[float, float] = (32, 32),
    move: tuple[float, float] = (0.5, 0.0),
    ended: bool = False,
) -> float:
    """One reward with all observed mass of d^p and d^g in one cell each."""
    distributions = np.zeros((1, 2, UNOBSERVED + 1), np.float32)
    for row, cell in enumerate((path, goal)):
        distributions[0, row, cell[0] * 64 + cell[1]] = 1 - unobserved
        distributions[0, row, UNOBSERVED] = unobserved
    seen = grid((32, 32)) if visited is None else visited
    return float(reward(SLOT, distributions, seen[None], np.array([place]), [move], np.array([ended]))[0])


def test_step_penalty_alone_at_first() -> None:
    assert step(IntrinsicReward(1)) == pytest.approx(-0.04)


def test_visitation_is_a_difference_of_distances() -> None:
    reward = IntrinsicReward(1, RewardConfig(step=0))
    step(reward)  # all visited mass 8 cells from d^p: phi = -8
    # Cells 32 to 34 visited: distances 8, 7, 6, mean 7: phi rises by 1, times 0.3. (8 slices are right to 1 %.)
    assert step(reward, visited=grid((32, 32), (32, 33), (32, 34))) == pytest.approx(0.3, abs=0.03)
    exact = IntrinsicReward(1, RewardConfig(step=0, directions=0))
    step(exact)
    assert step(exact, visited=grid((32, 32), (32, 33), (32, 34))) == pytest.approx(0.3, abs=1e-5)
    # d^p moves away by 2 cells while nothing is flown: phi falls from -7 to -9.
    assert step(exact, path=(32, 42), visited=grid((32, 32), (32, 33), (32, 34))) == pytest.approx(-0.6, abs=1e-5)


def test_nothing_on_the_grid_leaves_the_visitation_potential_as_it_was() -> None:
    reward = IntrinsicReward(1, RewardConfig(step=0, exploration=0, directions=0))
    assert step(reward, unobserved=1.0) == 0
    assert step(reward) == 0  # the first distance there is: nothing to compare it with
    assert step(reward, unobserved=1.0) == 0
    assert step(reward, visited=grid((32, 34))) == pytest.approx(0.3 * 2)  # 8 cells before, 6 now


def test_exploration_pays_once() -> None:
    reward = IntrinsicReward(1, RewardConfig(step=0, visitation=0))
    assert step(reward, unobserved=0.9) == 0
    assert step(reward, unobserved=0.4) == pytest.approx(0.5)  # 0.1 -> 0.6 observed
    assert step(reward, unobserved=0.7) == 0  # less again: no punishment
    assert step(reward, unobserved=0.3) == pytest.approx(0.1)  # paid beyond the best so far only
    reward.reset([0])
    assert step(reward, unobserved=0.0) == 0


def test_the_end_is_judged_by_the_goal_distribution() -> None:
    reward = IntrinsicReward(1, RewardConfig(step=0))
    # At line 29, column 36 the goal (32, 40) is 3 and 4 cells away: 5 cells, times 0.5.
    assert step(reward, place=(29, 36), ended=True) == pytest.approx(-2.5)
    assert step(reward, place=(29, 36), ended=False) == 0
    # By the goal's alone: where the path is likely does not matter.
    anew = IntrinsicReward(1, RewardConfig(step=0))
    assert step(anew, path=(32, 50), place=(29, 36), ended=True) == pytest.approx(-2.5)
    # Unobserved mass is left out of the distance; the release's extra term counts it.
    kept = {"step": 0.0, "exploration": 0.0, "visitation": 0.0}
    assert step(IntrinsicReward(1, RewardConfig(**kept)), place=(32, 40), unobserved=0.25, ended=True) == 0
    with_term = IntrinsicReward(1, RewardConfig(**kept, stop_unobserved=3.0))
    assert step(with_term, place=(32, 40), unobserved=0.25, ended=True) == pytest.approx(-0.75)


def test_action_range() -> None:
    # Slack up to v in [-0.5, 1.7] and |omega| <= 2; linear beyond; never more than 2.
    moves = [(1.0, 1.0), (1.7, -2.0), (1.9, 0.0), (-0.8, 0.0), (0.5, 2.5), (2.0, -2.4), (9.0, 9.0)]
    np.testing.assert_allclose(action_excess(moves), [0, 0, 0.2, 0.3, 0.5, 0.7, 2.0], atol=1e-12)
    assert step(IntrinsicReward(1), move=(1.9, 0.0)) == pytest.approx(-0.24)


def test_touching_costs_in_full_and_nearness_in_part() -> None:
    # Inside, touching, half of the margin away, at its end, beyond.
    np.testing.assert_allclose(nearness([-0.01, 0.0, 0.05, 0.1, np.inf], 0.1), [1, 1, 0.5, 0, 0])


def test_weights_are_the_papers() -> None:
    config = RewardConfig()
    assert (config.visitation, config.stop, config.exploration, config.step) == (0.3, 0.5, 1.0, 0.04)
    assert config.stop_unobserved == 0


def test_places_on_the_grid() -> None:
    # Facing +y from (1, 2): one cell further in y is one column ahead, one cell less in x one line to the left.
    place = grid_places([[1 - CELL_M, 2 + CELL_M]], [[1.0, 2.0, math.pi / 2]])
    np.testing.assert_allclose(place, [[32.5, 32.5]], atol=1e-9)


def test_mean_distance_by_hand() -> None:
    two = grid((10, 10), (10, 20)).reshape(1, -1) * 0.2  # 3 and 7 cells away, mass does not matter
    np.testing.assert_allclose(mean_distance_cells(two, np.array([[10.0, 13.0]])), [5.0])
    assert np.isnan(mean_distance_cells(np.zeros((1, 4096), np.float32), np.zeros((1, 2)))).all()


def test_sliced_transport_is_exact_for_a_shift_and_close_otherwise() -> None:
    a, b = grid((5, 5), (20, 9)).reshape(1, -1), grid((8, 9), (23, 13)).reshape(1, -1)  # shifted by (3, 4)
    assert transport_cells(a, b)[0] == pytest.approx(5.0, rel=0.01)
    assert transport_cells(a, b, 0)[0] == pytest.approx(5.0)
    rng, count = np.random.default_rng(0), 60
    starts = np.column_stack([rng.uniform(1, 3.7, (count, 2)), rng.uniform(-3, 3, count)])
    turns = [np.vstack([s[:2], rng.uniform(0.5, 4.2, (3, 2))]) for s in starts]
    seen = np.ones((32, 32), np.float32)
    paths = np.stack([gold_distributions(p, s, seen)[0, :UNOBSERVED] for p, s in zip(turns, starts, strict=True)])
    trails = Trails(starts)
    for k in (1, 2):  # flown half-heartedly: towards the corners of the path, never quite there
        trails.add(np.arange(count), [(*(p[k] + rng.normal(0, 0.3, 2)), 0.0) for p in turns])
    flown = trails.maps.reshape(count, -1)
    exact, sliced = transport_cells(flown, paths, 0), transport_cells(flown, paths)
    assert np.corrcoef(exact, sliced)[0, 1] > 0.99
    assert (sliced < 1.01 * exact).all()
    assert (sliced > 0.6 * exact).all()
    assert np.isnan(transport_cells(flown[:1], 0 * paths[:1], 8)).all()
    assert np.isnan(transport_cells(flown[:1], 0 * paths[:1], 0)).all()


def test_episodes_do_not_mix() -> None:
    both = IntrinsicReward(2)
    distributions = np.zeros((2, 2, UNOBSERVED + 1), np.float32)
    distributions[:, :, 32 * 64 + 40] = 1
    visited, place = np.stack([grid((32, 32)), grid((32, 36))]), np.array([[32.0, 32.0], [32.0, 36.0]])
    move, going = np.zeros((2, 2)), np.zeros(2, bool)
    both(np.array([0, 1]), distributions, visited, place, move, going)
    one = both(np.array([1]), distributions[1:], visited[1:], place[1:], move[1:], going[1:])
    np.testing.assert_allclose(one, [-0.04])
