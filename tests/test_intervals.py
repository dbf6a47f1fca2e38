from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from wayword.errors import WaywordError
from wayword.evaluation import (
    EpisodeMetrics,
    Interval,
    bootstrap_mean,
    count_endings,
    summarise,
    wilson,
)
from wayword.evaluation.metrics import EndedBy
from wayword.evaluation.summary import metrics_table
from wayword.intervals import auroc, bootstrap_auroc, bootstrap_ratio, bootstrap_two_way


def episode(sr: bool, ne: float, ended_by: EndedBy = "policy", collisions: int = 0) -> EpisodeMetrics:
    return EpisodeMetrics(sr, ne / 2, True, ne, 0.5 * sr, 0.6, 0.6 * sr, collisions, 20, ended_by)


def test_wilson_by_hand() -> None:
    # p = 0.8, n = 10, z = 1.96, z2 = 3.8415: centre (0.8 + 0.19207) / 1.38415 = 0.71674,
    # half width 1.96 / 1.38415 * sqrt(0.016 + 0.0096037) = 0.22658.
    interval = wilson(8, 10)
    assert interval.mean == 0.8
    assert interval.low == pytest.approx(0.4902, abs=5e-5)
    assert interval.high == pytest.approx(0.9433, abs=5e-5)


def test_wilson_at_the_ends() -> None:
    # With no success the upper bound is z2 / (n + z2) = 3.8415 / 13.8415.
    none, every = wilson(0, 10), wilson(10, 10)
    assert (none.low, every.high) == (0.0, 1.0)
    assert none.high == pytest.approx(0.2775, abs=5e-5)
    assert every.low == pytest.approx(1 - none.high)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.01, 0.999))
def test_wilson_stays_within_the_unit_interval(counts: tuple[int, int], confidence: float) -> None:
    successes, n = counts
    interval = wilson(successes, n, confidence)
    mirrored = wilson(n - successes, n, confidence)
    assert 0 <= interval.low <= interval.mean <= interval.high <= 1
    assert mirrored.low == pytest.approx(1 - interval.high, abs=1e-12)


def test_bootstrap_of_two_values() -> None:
    # Means of two draws from {0, 1} are 0, 1/2, 1 with chances 1/4, 1/2, 1/4: the 2.5 % and 97.5 % quantiles
    # are 0 and 1, the 30 % and 70 % quantiles both 1/2.
    assert bootstrap_mean([0, 1], np.random.default_rng(0)) == Interval(0.5, 0.0, 1.0, 2)
    assert bootstrap_mean([0, 1], np.random.default_rng(0), confidence=0.4) == Interval(0.5, 0.5, 0.5, 2)


def test_bootstrap_approaches_the_normal_interval() -> None:
    # 400 values, half of them 0 and half 2: deviation 1, so 1.96 / sqrt(400) = 0.098 to either side of 1.
    interval = bootstrap_mean([0.0, 2.0] * 200, np.random.default_rng(1))
    assert interval.mean == 1.0
    assert interval.low == pytest.approx(1 - 0.098, abs=0.008)
    assert interval.high == pytest.approx(1 + 0.098, abs=0.008)


def test_bootstrap_does_not_depend_on_how_draws_are_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).random(37)
    whole = bootstrap_mean(values, np.random.default_rng(3))
    monkeypatch.setattr("wayword.intervals._BLOCK", 100)
    assert bootstrap_mean(values, np.random.default_rng(3)) == whole


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20), st.integers(0, 2**32))
def test_bootstrap_is_deterministic_and_ordered(values: list[float], seed: int) -> None:
    first = bootstrap_mean(values, np.random.default_rng(seed), samples=200)
    assert first == bootstrap_mean(values, np.random.default_rng(seed), samples=200)
    assert min(values) - 1e-9 <= first.low <= first.mean <= first.high <= max(values) + 1e-9


def test_degenerate_and_bad_input() -> None:
    rng = np.random.default_rng(0)
    assert bootstrap_mean([3.5], rng) == Interval(3.5, 3.5, 3.5, 1)
    assert bootstrap_mean([0.1] * 3, rng).high == pytest.approx(0.1)
    with pytest.raises(WaywordError, match="no episodes"):
        bootstrap_mean([], rng)
    with pytest.raises(WaywordError, match="no episodes"):
        wilson(0, 0)
    with pytest.raises(ValueError, match="11 successes out of 10"):
        wilson(11, 10)
    with pytest.raises(ValueError, match="value 1 of 2 is not finite"):
        bootstrap_mean([1.0, float("nan")], rng)
    with pytest.raises(ValueError, match="confidence is 95"):
        wilson(8, 10, confidence=95)
    with pytest.raises(ValueError, match="no interval"):
        Interval(0.5, 0.6, 0.7, 10)


def test_bootstrap_ratio_by_hand() -> None:
    # Items 1/2 and 3/4. Draws: both the first 2/4, one of each 4/6, both the second 6/8.
    interval = bootstrap_ratio([1, 3], [2, 4], np.random.default_rng(0))
    assert interval == Interval(4 / 6, 0.5, 0.75, 2)
    # With nothing below there is nothing to get wrong.
    assert bootstrap_ratio([0.0], [0.0], np.random.default_rng(0)) == Interval(1.0, 1.0, 1.0, 1)
    with pytest.raises(ValueError, match="needs its partner"):
        bootstrap_ratio([1, 2], [1], np.random.default_rng(0))
    with pytest.raises(ValueError, match="negative"):
        bootstrap_ratio([1], [-1], np.random.default_rng(0))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=20), st.integers(0, 2**32))
def test_a_ratio_over_ones_is_a_mean(values: list[int], seed: int) -> None:
    ratio = bootstrap_ratio(values, [1] * len(values), np.random.default_rng(seed), samples=200)
    mean = bootstrap_mean(values, np.random.default_rng(seed), samples=200)
    assert (ratio.mean, ratio.low, ratio.high) == pytest.approx((mean.mean, mean.low, mean.high))


def test_auroc_by_hand() -> None:
    # Pairs (3, 1), (3, 2), (2, 1) won, (2, 2) tied: 3.5 of 4.
    assert auroc([3.0, 2.0], [1.0, 2.0]) == 0.875
    assert auroc([1.0], [0.0]) == 1.0
    # Paired draws of (3, 1) and (2, 2): the first twice 1, the second twice 1/2, one of each 3.5/4.
    paired = bootstrap_auroc([3.0, 2.0], [1.0, 2.0], np.random.default_rng(0), paired=True)
    assert paired == Interval(0.875, 0.5, 1.0, 2)
    # Apart: positives (2, 2) against negatives (2, 2) is the worst that can be drawn, 1/2; n counts both sides.
    apart = bootstrap_auroc([3.0, 2.0], [1.0, 2.0], np.random.default_rng(0))
    assert apart == Interval(0.875, 0.5, 1.0, 4)
    # (1, 3) over (0, 2) wins 3 of 4. Drawn together the worst is 3/4; apart, 1 and 1 over 2 and 2 win nothing, once
    # in 16 draws.
    paired = bootstrap_auroc([1.0, 3.0], [0.0, 2.0], np.random.default_rng(0), paired=True)
    assert paired == Interval(0.75, 0.75, 1.0, 2)
    assert bootstrap_auroc([1.0, 3.0], [0.0, 2.0], np.random.default_rng(0)) == Interval(0.75, 0.0, 1.0, 4)
    with pytest.raises(ValueError, match="cannot be paired"):
        bootstrap_auroc([1.0, 2.0], [1.0], np.random.default_rng(0), paired=True)
    with pytest.raises(WaywordError, match="no episodes"):
        auroc([], [1.0])


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
    st.integers(0, 2**32),
)
def test_auroc_turns_round_and_is_seeded(positive: list[int], negative: list[int], seed: int) -> None:
    assert auroc(positive, negative) == pytest.approx(1 - auroc(negative, positive))
    first = bootstrap_auroc(positive, negative, np.random.default_rng(seed), samples=50)
    assert first == bootstrap_auroc(positive, negative, np.random.default_rng(seed), samples=50)
    assert 0 <= first.low <= first.mean <= first.high <= 1 + 1e-12


def test_auroc_interval_covers_the_truth() -> None:
    # Normal scores one deviation apart: AUROC is Phi(1 / sqrt(2)) = 0.7602. A 95 % interval holds it 19 times in 20.
    rng = np.random.default_rng(5)
    intervals = [bootstrap_auroc(rng.normal(1, 1, 60), rng.normal(0, 1, 60), rng, samples=300) for _ in range(60)]
    assert sum(interval.low <= 0.7602 <= interval.high for interval in intervals) >= 52


def test_to_dict() -> None:
    assert Interval(0.5, 0.25, 0.75, 4).to_dict() == {"mean": 0.5, "low": 0.25, "high": 0.75, "n": 4}


# --- summaries


def test_summarise_means_and_endings() -> None:
    episodes = [
        episode(True, 0.2),
        episode(True, 0.4, "horizon"),
        episode(False, 1.2, "contact", collisions=1),
    ]
    summary = summarise(episodes, seed=0)
    assert summary["sr"] == wilson(2, 3)
    assert summary["osr"] == wilson(3, 3)
    assert summary["ne"].mean == pytest.approx(0.6)
    assert summary["collisions"].mean == pytest.approx(1 / 3)
    assert summary["steps"] == Interval(20.0, 20.0, 20.0, 3)
    assert summary == summarise(episodes, seed=0)
    assert count_endings(episodes) == {"policy": 1, "horizon": 1, "contact": 1, "error": 0}
    with pytest.raises(WaywordError, match="no episodes"):
        summarise([], seed=0)


def test_table_prints_percent_and_metres() -> None:
    summary = summarise([episode(True, 0.2)] * 8 + [episode(False, 1.2)] * 2, seed=0)
    console = Console(file=io.StringIO(), width=140)
    console.print(metrics_table({"oracle [1]": summary, "partial": {"emd": summary["emd"]}}))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "oracle [1]" in text
    assert "80.0" in text
    assert "[49.0, 94.3]" in text
    assert "0.40" in text  # NE: (8 * 0.2 + 2 * 1.2) / 10
    assert "–" in text  # the partial row has no SR


@pytest.mark.parametrize("name", ["oracle", "perfect segmentation"])
@pytest.mark.parametrize("width", [20, 30, 60, *range(66, 83), 100, 200])
def test_no_width_of_terminal_drops_a_metric(width: int, name: str) -> None:
    summary = summarise([episode(True, 0.2)] * 8 + [episode(False, 1.2)] * 2, seed=0)
    console = Console(file=io.StringIO(), width=width)
    console.print(metrics_table({name: summary}))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    words = text.split()
    for title in ("SR", "EMD", "OSR", "NE", "SPL", "nDTW", "SDTW", "coll.", "/flight"):
        assert title in words
    for number in ("80.0", "[49.0,", "94.3]", "100.0", "[72.2,", "100.0]", "0.40"):  # SR, OSR and NE, unbroken
        assert number in words
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width


def test_a_narrow_table_by_hand() -> None:
    console = Console(file=io.StringIO(), width=30)
    console.print(metrics_table({"a [b]": {"sr": Interval(0.8, 0.5, 0.9, 10)}}))
    assert isinstance(console.file, io.StringIO)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert lines[:3] == ["a [b], n = 10", " SR % 80.0 [50.0, 90.0]", " EMD m –"]


def test_two_way_bootstrap_draws_rows_and_columns() -> None:
    ones = np.ones((3, 40))
    rng = np.random.default_rng(0)
    by_row = bootstrap_two_way(np.array([[4.0], [4.0], [5.0]]) * ones, ones, rng)
    assert (by_row.low, by_row.high, by_row.n) == (4.0, 5.0, 40)
    # Columns alone: as the plain bootstrap of the columns' means, 0 or 1 with equal frequency.
    by_column = bootstrap_two_way(np.tile([0.0, 1.0], (3, 20)), ones, rng)
    plain = bootstrap_mean([0.0, 1.0] * 20, rng)
    assert by_column.low == pytest.approx(plain.low, abs=0.03)
    assert by_column.high == pytest.approx(plain.high, abs=0.03)
    gaps = bootstrap_two_way(np.array([[4.0, 0.0], [0.0, 2.0]]), np.eye(2), rng)  # each judged one of the two
    assert (gaps.mean, gaps.low, gaps.high) == (3.0, 2.0, 4.0)
    with pytest.raises(ValueError, match="0 judgements"):
        bootstrap_two_way(np.zeros((2, 2)), np.zeros((2, 2)), rng)
