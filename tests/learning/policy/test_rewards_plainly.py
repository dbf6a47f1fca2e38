"""Rewards, gold distributions and noise against the same rules said plainly, over whole episodes."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.learning.policy.gold import SPACING_M, gold_distributions
from wayword.learning.policy.noise import Noise, NoiseConfig
from wayword.learning.policy.rewards import IntrinsicReward, RewardConfig, transport_cells
from wayword.mapping.grid import CELL_M, UNOBSERVED, prediction_centres, to_frame, to_world, world_to_prediction

SEEDS = st.integers(0, 10**9)


def test_the_numbers_that_are_documented() -> None:
    assert RewardConfig() == RewardConfig(0.3, 0.5, 1.0, 1.0, 0.04, 0.0, 0.0, 0.1, 8)
    assert NoiseConfig() == NoiseConfig(0.08, 0.12, 0.10, (0.8, 2.2), 0.3, 0.05, 0.5, (0.05, 0.45), 0.7, 0.12)
    assert SPACING_M == 0.02


def plain_sliced(a: np.ndarray, b: np.ndarray, directions: int) -> float:
    """Area between the cumulated masses along each direction, in bins of half a cell, times pi / 2."""
    line, column = np.divmod(np.arange(4096), 64)
    areas = []
    for k in range(directions):
        angle = math.pi * (k + 0.5) / directions
        place = 2 * ((column - 31.5) * math.cos(angle) + (line - 31.5) * math.sin(angle)) + 128
        weight = a / a.sum() - b / b.sum()
        low = np.floor(place).astype(int)
        histogram = np.bincount(low, weight * (1 - (place - low)), 258) + np.bincount(
            low + 1, weight * (place - low), 258
        )
        areas.append(0.5 * np.abs(np.cumsum(histogram)).sum())
    return float(np.mean(areas)) * math.pi / 2


def grids(rng: np.random.Generator, count: int) -> np.ndarray:
    """Mass in a few cells, as (count, 4096); some of them empty."""
    result = np.zeros((count, 4096), np.float32)
    for row in result:
        row[rng.integers(0, 4096, 6)] = rng.random(6) * rng.choice([1.0, 1e-3, 1e-8])
    return result


@settings(max_examples=30, derandomize=True)
@given(SEEDS, st.sampled_from([1, 3, 8]))
def test_sliced_transport_direction_by_direction(seed: int, directions: int) -> None:
    a, b = grids(np.random.default_rng(seed), 8).reshape(2, 4, -1)
    found = transport_cells(a, b, directions)
    for one, other, distance in zip(a.astype(np.float64), b.astype(np.float64), found, strict=True):
        if min(one.sum(), other.sum()) < 1e-6:
            assert math.isnan(distance)
        else:
            assert distance == pytest.approx(plain_sliced(one, other, directions), rel=1e-4, abs=1e-4)


@settings(max_examples=60, derandomize=True)
@given(SEEDS)
def test_rewards_of_episodes_side_by_side(seed: int) -> None:
    rng = np.random.default_rng(seed)
    config = RewardConfig(0.3, 0.5, 1.1, 0.9, 0.04, 3.0, 0.5, 0.07)
    reward, potentials = IntrinsicReward(4, config), [(None, None)] * 4
    for _ in range(6):
        slots = rng.permutation(4)[: rng.integers(1, 5)]
        if rng.random() < 0.3:
            reward.reset(slots[:1])
            potentials[slots[0]] = (None, None)
        count = len(slots)
        distributions = np.zeros((count, 2, UNOBSERVED + 1), np.float32)
        distributions[:, :, :UNOBSERVED] = grids(rng, 2 * count).reshape(count, 2, -1)
        distributions[:, :, UNOBSERVED] = rng.choice([0.0, 0.3, 0.8, 1.0], (count, 2))
        visited, places = grids(rng, count).reshape(count, 64, 64) * 1e3, rng.uniform(0, 63, (count, 2))
        outputs, gaps = rng.uniform(-4, 4, (count, 2)), rng.choice([-0.1, 0.0, 0.03, 0.07, 0.5], count)
        ended = rng.random(count) < 0.5
        found = reward(slots, distributions, visited, places, outputs, ended, gaps)
        for n, slot in enumerate(slots):
            path, goal = distributions[n, :, :UNOBSERVED].astype(np.float64)
            unseen = float(distributions[n, 1, UNOBSERVED])
            seen = visited[n].ravel().astype(np.float64)
            before, explored = potentials[slot]
            after = -plain_sliced(seen, path, 8) if min(seen.sum(), path.sum()) >= 1e-6 else before
            best = max(1 - unseen, 1 - unseen if explored is None else explored)
            total = 0.3 * (0.0 if before is None or after is None else after - before)
            total += 1.1 * (0.0 if explored is None else best - explored)
            potentials[slot] = (after, best)
            if ended[n]:
                line, column = np.divmod(np.arange(4096), 64)
                far = np.hypot(line - places[n, 0], column - places[n, 1])
                total -= 0.5 * ((goal * far).sum() / goal.sum() if goal.sum() >= 1e-6 else 0.0)
                total -= 3.0 * unseen
            v, omega = outputs[n]
            total -= 0.9 * min(max(v - 1.7, -0.5 - v, 0.0) + max(abs(omega) - 2, 0.0), 2.0)
            total -= 0.5 * min(max(1 - gaps[n] / 0.07, 0.0), 1.0) + 0.04
            assert found[n] == pytest.approx(total, abs=2e-3)


# Gold --------------------------------------------------------------------------------------------------------


def seen_at(coverage: np.ndarray, place: np.ndarray) -> float:
    """Coverage between the centres of cells, its border repeated outwards."""
    x, y = np.clip(place / CELL_M - 0.5, 0, 31)
    j, i = min(int(x), 30), min(int(y), 30)
    fx, fy = x - j, y - i
    upper = coverage[i, j] * (1 - fx) + coverage[i, j + 1] * fx
    return float(upper * (1 - fy) + (coverage[i + 1, j] * (1 - fx) + coverage[i + 1, j + 1] * fx) * fy)


def plain_gold(points: np.ndarray, start: np.ndarray, coverage: np.ndarray, sigma: float) -> np.ndarray:
    """Mean of Gaussians, cut off after three sigma, each as far as its own place has been seen."""
    result, radius = np.zeros(UNOBSERVED + 1), math.ceil(3 * sigma)
    for point in points:
        column, line = to_frame(point, start) / CELL_M + 31.5
        j, i = math.floor(column + 0.5), math.floor(line + 0.5)
        cells = [(a, b) for a in range(i - radius, i + radius + 1) for b in range(j - radius, j + radius + 1)]
        weights = np.array([math.exp(-((a - line) ** 2 + (b - column) ** 2) / (2 * sigma**2)) for a, b in cells])
        for (a, b), weight in zip(cells, weights / weights.sum(), strict=True):
            if 0 <= a < 64 and 0 <= b < 64:
                result[a * 64 + b] += weight * seen_at(coverage, point) / len(points)
    result[UNOBSERVED] = max(0.0, 1 - result[:UNOBSERVED].sum())
    return result


@settings(max_examples=12, derandomize=True)
@given(SEEDS, st.sampled_from([0.7, 1.0, 1.6]))
def test_gold_is_a_gaussian_every_two_centimetres(seed: int, sigma: float) -> None:
    rng = np.random.default_rng(seed)
    path = rng.uniform(-0.2, 4.9, (int(rng.integers(1, 5)), 2))
    path[1:] = path[0] + np.cumsum(rng.normal(0, 0.15, (len(path) - 1, 2)), axis=0)
    if len(path) > 2:
        path[1] = path[0]  # standing still
    start, coverage = np.array([*rng.uniform(0, 4.7, 2), rng.uniform(-4, 4)]), rng.random((32, 32), np.float32)
    arc = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    at = np.linspace(0, arc[-1], math.ceil(arc[-1] / 0.02 - 1e-9) + 1)
    points = np.column_stack([np.interp(at, arc, path[:, k]) for k in (0, 1)])
    found = gold_distributions(path, start, coverage, sigma)
    np.testing.assert_allclose(found[0], plain_gold(points, start, coverage, sigma), atol=2e-5)
    np.testing.assert_allclose(found[1], plain_gold(path[-1:], start, coverage, sigma), atol=2e-5)


# Noise -------------------------------------------------------------------------------------------------------


def noise(seed: int, **changes: object) -> Noise:
    rng = np.random.default_rng(seed)
    start = np.array([*rng.uniform(1, 3.7, 2), rng.uniform(-4, 4)])
    path = np.clip(start[:2] + np.cumsum(rng.normal(0, 0.3, (6, 2)), axis=0), 0.0, 4.7)
    ghost = np.cumsum(rng.normal(0.2, 0.3, (6, 2)), axis=0)
    return Noise(path, ghost, start, NoiseConfig(**changes), rng)  # type: ignore[arg-type]


@settings(max_examples=25, derandomize=True)
@given(SEEDS)
def test_what_a_noisy_first_stage_says(seed: int) -> None:
    made = noise(seed, ghosts=0.6)
    rng, coverage = copy.deepcopy(made._rng), np.random.default_rng(seed).random((32, 32), np.float32)
    result, start = np.empty((2, UNOBSERVED + 1), np.float32), made._start
    for _ in range(2):
        e = made._errors.copy()
        made.write(coverage, result)
        turn = 0.08 * e[0]
        turned = made._path @ np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
        points = to_world(turned + 0.12 * e[1:3], start)
        goal = np.clip(points[-1] + 0.10 * e[3:5], 0.1, 4.6)
        points = np.clip(points, 0.1, 4.6)
        own = [gold_distributions(points, start, coverage, made._sigma)[0],
               gold_distributions(goal[None], start, coverage, made._goal_sigma)[1]]  # fmt: skip
        ghosts = [gold_distributions(made._ghost, start, coverage, made._sigma)[0],
                  gold_distributions(made._ghost[-1:], start, coverage, made._goal_sigma)[1]]  # fmt: skip
        share = 1 / (1 + math.exp(-made._ghost_logit - 0.5 * e[7])) if made._has_ghost else 0.0
        arena = world_to_prediction(np.ones((1, 32, 32), np.float32), start)[0].ravel().astype(np.float64)
        arena /= arena.sum()
        for row in range(2):
            both = (1 - share) * own[row].astype(np.float64) + share * ghosts[row]
            cells = np.where(both[:UNOBSERVED] > 1e-7, np.maximum(both[:UNOBSERVED], 1e-30) ** made._power, 0.0)
            p = min(max(both[UNOBSERVED], 0.003), 0.997)
            odds = p / (1 - p) * math.exp(0.7 * e[5 + row])
            unseen = odds / (1 + odds)
            spread = made._anywhere if cells.sum() > 0 else 1.0
            wanted = (1 - unseen) * ((1 - spread) * cells / max(cells.sum(), 1e-30) + spread * arena)
            np.testing.assert_allclose(result[row, :UNOBSERVED], wanted, atol=3e-5)
            assert result[row, UNOBSERVED] == pytest.approx(unseen, abs=2e-3)
        # The errors then drift, and stay of their size.
        drifted = math.sqrt(1 - 0.12**2) * e + 0.12 * rng.standard_normal(8)
        np.testing.assert_allclose(made._errors, drifted)


def test_what_is_drawn_for_an_episode() -> None:
    drawn = [noise(seed) for seed in range(300)]
    assert 0.4 < np.mean([one._has_ghost for one in drawn]) < 0.6
    shares = [1 / (1 + math.exp(-one._ghost_logit)) for one in drawn]
    assert 0.05 <= min(shares) < 0.08
    assert 0.42 < max(shares) <= 0.45
    for values in ([one._sigma for one in drawn], [one._goal_sigma for one in drawn]):
        assert 0.8 <= min(values) < 0.9
        assert 2.1 < max(values) <= 2.2
    powers = np.log([one._power for one in drawn])
    assert (abs(powers.mean()), powers.std()) == (pytest.approx(0, abs=0.06), pytest.approx(0.3, abs=0.05))
    assert 0.0 <= min(one._anywhere for one in drawn) < max(one._anywhere for one in drawn) <= 0.05
    errors = np.array([one._errors for one in drawn])
    np.testing.assert_allclose(errors.std(axis=0), 1.0, atol=0.15)
    for one in drawn[:20]:
        centre = (prediction_centres().reshape(-1, 2) * one._arena[:, None]).sum(axis=0)
        assert to_world(centre, one._start) == pytest.approx((2.35, 2.35), abs=0.15)


def test_a_ghost_begins_where_the_flight_does_and_stays_in_the_arena() -> None:
    # Facing +y at (1, 2): a metre ahead and half a metre to the left, then far off.
    start = np.array([1.0, 2.0, math.pi / 2])
    ghost = np.array([[0.0, 0.0], [1.0, 0.5], [9.0, 0.0]])
    made = Noise(np.array([[1.0, 2.0], [1.0, 3.0]]), ghost, start, NoiseConfig(), np.random.default_rng(0))
    np.testing.assert_allclose(made._ghost, [[1.0, 2.0], [0.5, 3.0], [1.0, 4.6]], atol=1e-9)
    np.testing.assert_allclose(made._path, [[0.0, 0.0], [1.0, 0.0]], atol=1e-9)
