from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword import path_distance
from wayword.evaluation.metrics import (
    EpisodeMetrics,
    navigation_error,
    ndtw,
    oracle_success,
    score,
    sdtw,
    spl,
    success,
)
from wayword.path_distance import FloatArray, dtw, emd, resample


def path(*points: tuple[float, float]) -> FloatArray:
    return np.array(points, dtype=np.float64)


# Millimetre grids make lengths that are exact multiples of 2 cm common: the hard case for resampling.
paths = st.lists(st.tuples(*[st.integers(0, 600)] * 2), min_size=1, max_size=5).map(
    lambda points: np.array(points, dtype=np.float64) / 1000
)
properties = settings(max_examples=40, deadline=None)


# --- resampling


def test_resample_walks_round_the_corner() -> None:
    # 3 cm right, then 3 cm up: length 6 cm, so points at 0, 2, 4 and 6 cm; 4 cm lies 1 cm up the second leg.
    result = resample(path((0, 0), (0.03, 0), (0.03, 0.03)))
    assert result == pytest.approx(path((0, 0), (0.02, 0), (0.03, 0.01), (0.03, 0.03)))


def test_resample_keeps_a_shorter_last_step() -> None:
    assert resample(path((0, 0), (0.05, 0)))[:, 0] == pytest.approx([0, 0.02, 0.04, 0.05])
    assert resample(path((0, 0), (0.01, 0)))[:, 0] == pytest.approx([0, 0.01])


@pytest.mark.parametrize("repeats", [1, 2, 7])
def test_resample_of_a_path_that_stays_put_is_one_point(repeats: int) -> None:
    assert resample(path(*[(1.5, 2.5)] * repeats)).tolist() == [[1.5, 2.5]]


def test_resample_ignores_repeated_points() -> None:
    hesitant = path((0, 0), (0, 0), (0.03, 0), (0.03, 0), (0.03, 0), (0.1, 0), (0.1, 0))
    assert resample(hesitant) == pytest.approx(resample(path((0, 0), (0.1, 0))))


@properties
@given(paths)
def test_resample_keeps_ends_and_spacing(points: FloatArray) -> None:
    result = resample(points)
    assert np.array_equal(result[-1], points[-1])
    assert result[0] == pytest.approx(points[0])
    # A chord is never longer than its arc.
    assert np.all(np.linalg.norm(np.diff(result, axis=0), axis=1) <= 0.02 + 1e-7)


# --- earth mover's distance


def test_emd_of_parallel_paths_is_their_distance() -> None:
    assert emd(path((0, 0), (2, 0)), path((0, 0.3), (2, 0.3))) == pytest.approx(0.3, abs=1e-12)


def test_emd_does_not_see_direction() -> None:
    there = path((0, 0), (1, 0))
    assert emd(there, there[::-1]) == pytest.approx(0, abs=1e-12)
    assert ndtw(there, there[::-1]) < 0.5  # but dynamic time warping does


def test_emd_from_one_point() -> None:
    # All mass moves from 0 to 0, 2 and 4 cm, a third each: (0 + 2 + 4) / 3 = 2 cm.
    assert emd(path((0, 0)), path((0, 0), (0.04, 0))) == pytest.approx(0.02)


def test_emd_with_unequal_masses() -> None:
    # Halves at 0 and 2 cm against thirds at 0, 2, 4 cm. On a line W1 is the integral of the difference of
    # the cumulative masses: |1/2 - 1/3| * 2 cm + |1 - 2/3| * 2 cm = 1 cm.
    assert emd(path((0, 0), (0.02, 0)), path((0, 0), (0.04, 0))) == pytest.approx(0.01)


@properties
@given(paths, paths, paths)
def test_emd_is_a_metric(a: FloatArray, b: FloatArray, c: FloatArray) -> None:
    assert emd(a, a) == pytest.approx(0, abs=1e-12)
    assert emd(a, b) == pytest.approx(emd(b, a), abs=1e-9)
    assert emd(a, c) <= emd(a, b) + emd(b, c) + 1e-9
    # Moving the whole costs at least the distance between the centres of mass.
    assert emd(a, b) >= np.linalg.norm(resample(a).mean(axis=0) - resample(b).mean(axis=0)) - 1e-9


@properties
@given(paths, paths, st.floats(-math.pi, math.pi), st.tuples(st.floats(-5, 5), st.floats(-5, 5)))
def test_scores_are_invariant_under_rigid_motion(
    flown: FloatArray, gold: FloatArray, angle: float, shift: tuple[float, float]
) -> None:
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, s], [-s, c]])
    before = score(flown, gold, 0, 1, "policy")
    after = score(flown @ turn + shift, gold @ turn + shift, 0, 1, "policy")
    for name in ("emd", "ne", "ndtw"):
        assert getattr(after, name) == pytest.approx(getattr(before, name), abs=1e-7), name


@pytest.mark.filterwarnings("ignore:numItermax")
def test_emd_that_is_not_optimal_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_distance, "_PIVOTS", 1)
    with pytest.raises(RuntimeError, match="not optimal"):
        emd(path((0, 0), (1, 0)), path((0, 1), (1, 2)))


# --- reaching the goal


def test_success_is_strict_at_47_cm() -> None:
    gold = path((1, 0), (0, 0))
    on, inside = path((1, 1), (0.47, 0)), path((1, 1), (np.nextafter(0.47, 0), 0))
    assert navigation_error(on, gold) == 0.47
    assert not success(on, gold)
    assert not oracle_success(on, gold)
    assert success(inside, gold)
    assert oracle_success(inside, gold)


def test_oracle_success_looks_at_every_recorded_position() -> None:
    gold = path((0, 0), (2, 0))
    past = path((0, 0), (2, 0.3), (4, 0.3))
    assert oracle_success(past, gold)
    assert not success(past, gold)
    assert navigation_error(past, gold) == pytest.approx(math.hypot(2, 0.3))
    # The line between (0, 0) and (4, 0.3) passes 15 cm from the goal, but no position was recorded there.
    assert not oracle_success(past[[0, 2]], gold)


def test_spl_divides_the_demonstration_by_the_flight() -> None:
    gold = path((0, 0), (1, 0), (1, 1))  # 2 m
    detour = path((0, 0), (-1, 0), (1, 0), (1, 1))  # 1 + 2 + 1 = 4 m
    assert spl(detour, gold) == pytest.approx(0.5)
    assert spl(path((0, 0), (1, 1)), gold) == 1.0  # cutting the corner gains nothing
    assert spl(detour[:-1], gold) == 0.0  # 1 m from the goal


def test_spl_of_a_demonstration_that_stays_put() -> None:
    here = path((1, 1))
    assert spl(here, here) == 1.0
    assert spl(path((1, 1), (1.2, 1)), here) == 0.0


# --- dynamic time warping


def test_dtw_by_hand() -> None:
    # 0, 1, 2 against 0, 2, 2 on a line. Distances, and the cheapest cost up to each cell:
    #   0 2 2      0 2 4
    #   1 1 1      1 1 2
    #   2 0 0      3 1 1
    distances = np.abs(np.array([[0.0], [1.0], [2.0]]) - np.array([[0.0, 2.0, 2.0]]))
    assert dtw(distances) == 1.0
    # Without the last row: 0 -> 0, then 1 -> 2 -> 2, at the cost 0 + 1 + 1.
    assert dtw(distances[:2]) == 2.0
    # One point meets every other: 1 + 1 + 1.
    assert dtw(distances[1:2]) == 3.0


def test_ndtw_by_hand() -> None:
    # Parallel straight paths pair point by point, so DTW = |R| * 0.3 and |R| cancels.
    flown, gold = path((0, 0.3), (1, 0.3)), path((0, 0), (1, 0))
    assert ndtw(flown, gold) == pytest.approx(math.exp(-0.3 / 0.47))
    assert sdtw(flown, gold) == ndtw(flown, gold)
    # 0 against 0, 2, 4 cm: DTW = 6 cm. One point is |R| = 1 as the demonstration, |R| = 3 as the flight.
    point, line = path((0, 0)), path((0, 0), (0.04, 0))
    assert ndtw(line, point) == pytest.approx(math.exp(-0.06 / 0.47))
    assert ndtw(point, line) == pytest.approx(math.exp(-0.06 / (3 * 0.47)))
    assert sdtw(path((0, 0), (1, 0.5)), gold) == 0.0


@properties
@given(paths, paths)
def test_ndtw_lies_in_the_unit_interval(flown: FloatArray, gold: FloatArray) -> None:
    assert 0 < ndtw(flown, gold) <= 1
    assert ndtw(gold, gold) == 1.0
    # Warping pairs every point of R', so it never costs less than each point's nearest neighbour.
    nearest = np.linalg.norm(resample(gold)[:, None] - resample(flown)[None], axis=-1).min(axis=1)
    assert ndtw(flown, gold) <= math.exp(-nearest.mean() / 0.47) + 1e-12


# --- whole episodes


@properties
@given(paths, paths)
def test_score_agrees_with_the_single_metrics(flown: FloatArray, gold: FloatArray) -> None:
    result = score(flown, gold, collisions=2, steps=17, ended_by="horizon")
    assert result.emd == pytest.approx(emd(flown, gold), abs=1e-9)
    assert result == EpisodeMetrics(
        sr=success(flown, gold),
        emd=result.emd,
        osr=oracle_success(flown, gold),
        ne=navigation_error(flown, gold),
        spl=spl(flown, gold),
        ndtw=ndtw(flown, gold),
        sdtw=sdtw(flown, gold),
        collisions=2,
        steps=17,
        ended_by="horizon",
    )
    assert type(result.sr) is bool
    assert type(result.osr) is bool
    assert result.osr >= result.sr


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
        (np.zeros((4, 3)), r"shape \(4, 3\)"),
        (np.zeros(2), r"shape \(2,\)"),
        (path((0, 0), (1, math.nan)), "point 1 of the .* is not finite"),
        (path((math.inf, 0), (1, 0)), "point 0 of the .* is not finite"),
        ([[0, 0], [1]], "not an array of numbers"),
        (path((0, 0), (1e6, 0)), "did the vehicle diverge"),
        (path((-1e308, 0), (1e308, 0)), "did the vehicle diverge"),
    ],
)
def test_bad_paths_are_refused(bad: Any, message: str) -> None:
    good = path((0, 0), (1, 0))
    with pytest.raises(ValueError, match=message):
        score(bad, good, 0, 1, "policy")
    with pytest.raises(ValueError, match=message):
        score(good, bad, 0, 1, "policy")


def test_bad_episodes_are_refused() -> None:
    good = score(path((0, 0)), path((0, 0)), 0, 0, "policy")
    with pytest.raises(ValueError, match="not by 'boredom'"):
        replace(good, ended_by="boredom")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="negative"):
        replace(good, collisions=-1)
    with pytest.raises(ValueError, match="positive number of metres"):
        resample(path((0, 0)), spacing=0.0)
