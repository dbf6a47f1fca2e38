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
    table,
    wilson,
)
from wayword.evaluation.metrics import EndedBy


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
    monkeypatch.setattr("wayword.evaluation.intervals._BLOCK", 100)
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
    console.print(table({"oracle [1]": summary, "partial": {"emd": summary["emd"]}}))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "oracle [1]" in text
    assert "80.0" in text
    assert "[49.0, 94.3]" in text
    assert "0.40" in text  # NE: (8 * 0.2 + 2 * 1.2) / 10
    assert "–" in text  # the partial row has no SR
