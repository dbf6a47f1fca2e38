"""Intervals around the figures we publish: Wilson for rates, the percentile bootstrap for the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError

Values = Sequence[float] | NDArray[np.float64]

_BLOCK = 1_000_000  # drawn indices held at once (8 MB)


@dataclass(frozen=True)
class Interval:
    """A mean (or another statistic) over ``n`` episodes and the bounds of its confidence interval."""

    mean: float
    low: float
    high: float
    n: int

    def __post_init__(self) -> None:
        if self.n < 1 or not (-math.inf < self.low <= self.mean <= self.high < math.inf):
            raise ValueError(f"no interval: mean {self.mean} in [{self.low}, {self.high}] over n = {self.n}")

    def to_dict(self) -> dict[str, float | int]:
        """The four fields, ready for JSON."""
        return asdict(self)


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a rate, as fractions: honest also at 0, at 1 and for small n."""
    _check(n, confidence)
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes out of {n} is impossible")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # In exact arithmetic the rate always lies inside, on the bound itself at 0 and at n successes.
    low = 0.0 if successes == 0 else min(rate, centre - half)
    high = 1.0 if successes == n else max(rate, centre + half)
    return Interval(rate, low, high, n)


def bootstrap_mean(
    values: Values, rng: np.random.Generator, confidence: float = 0.95, samples: int = 10_000
) -> Interval:
    """Percentile bootstrap of the mean: quantiles of ``samples`` means of n draws with replacement.

    One value gives an interval of no width: it says nothing about spread, and ``n`` shows why.
    """
    data = _flat(values, confidence)
    mean = float(data.mean())
    if len(data) == 1:
        return Interval(mean, mean, mean, 1)
    means = [data[rows].mean(axis=1) for rows in _draws(len(data), samples, rng)]
    return _percentiles(mean, np.concatenate(means), len(data), confidence)


def bootstrap_ratio(
    above: Values, below: Values, rng: np.random.Generator, confidence: float = 0.95, samples: int = 10_000
) -> Interval:
    """Percentile bootstrap of sum(above) / sum(below), both drawn together; 1 where nothing is below.

    F1 over sentences is such a ratio: twice the right ones over those said plus those wanted. Sentences are
    drawn whole, because mistakes within one go together.
    """
    a, b = _flat(above, confidence), _flat(below, confidence)
    if a.shape != b.shape:
        raise ValueError(f"{len(a)} values over {len(b)}; every one needs its partner")
    if (b < 0).any():
        raise ValueError("the values below cannot be negative")
    ratios = [_ratio(a[rows].sum(axis=1), b[rows].sum(axis=1)) for rows in _draws(len(a), samples, rng)]
    return _percentiles(float(_ratio(a.sum(), b.sum())), np.concatenate(ratios), len(a), confidence)


def bootstrap_two_way(
    above: NDArray[np.float64],
    below: NDArray[np.float64],
    rng: np.random.Generator,
    confidence: float = 0.95,
    samples: int = 10_000,
) -> Interval:
    """Percentile bootstrap of sum(above) / sum(below) over tables (R, C) whose rows and columns are both drawn.

    For judgements by R raters about C instructions: a rater who is kind is kind everywhere, an instruction that is hard
    is hard for all, so both are drawn whole and independently (the pigeonhole bootstrap of Owen, 2007, which is wide
    rather than narrow). ``below`` counts the judgements in each cell, 0 in a gap. ``n`` counts columns.
    """
    a, b = np.asarray(above, np.float64), np.asarray(below, np.float64)
    if a.ndim != 2 or a.shape != b.shape or not b.sum() > 0:
        raise ValueError(
            f"tables of shapes {a.shape} and {b.shape} with {b.sum():g} judgements; give two alike, with some"
        )
    rows, columns = a.shape
    _check(columns, confidence)
    # How often each rater and each instruction was drawn: w_r' A w_c of all drawn pairs at once.
    left = rng.multinomial(rows, np.full(rows, 1 / rows), samples).astype(np.float64)
    right = rng.multinomial(columns, np.full(columns, 1 / columns), samples).astype(np.float64)
    over, under = ((left @ a) * right).sum(axis=1), ((left @ b) * right).sum(axis=1)
    ratios = over[under > 0] / under[under > 0]  # raters who judged none of the drawn instructions say nothing
    return _percentiles(float(a.sum() / b.sum()), ratios, columns, confidence)


def auroc(positive: Values, negative: Values) -> float:
    """Chance that a positive scores above a negative; ties count half."""
    return float(_wins(_flat(positive), _flat(negative)).mean())


def bootstrap_auroc(
    positive: Values,
    negative: Values,
    rng: np.random.Generator,
    paired: bool = False,
    confidence: float = 0.95,
    samples: int = 2_000,
) -> Interval:
    """AUROC and its percentile bootstrap over the items of both sides.

    ``paired`` says that positive i and negative i are the same item under two conditions; they are then drawn
    together and count once in ``n``.
    """
    wins = _wins(_flat(positive, confidence), _flat(negative, confidence))
    p, n = wins.shape
    if paired and p != n:
        raise ValueError(f"{p} positives and {n} negatives cannot be paired")
    areas = []
    rows = max(1, _BLOCK // max(p, n))
    for start in range(0, samples, rows):
        count = min(rows, samples - start)
        # How often each item was drawn: wins of all drawn pairs at once, w_p' A w_n.
        left = rng.multinomial(p, np.full(p, 1 / p), count).astype(np.float64)
        right = left if paired else rng.multinomial(n, np.full(n, 1 / n), count).astype(np.float64)
        areas.append(((left @ wins) * right).sum(axis=1) / (p * n))
    return _percentiles(float(wins.mean()), np.concatenate(areas), p if paired else p + n, confidence)


def _wins(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> NDArray[np.float64]:
    """(P, N) 1 where a positive beats a negative, 1/2 where they tie."""
    above, below = positive[:, None], negative[None]
    return np.asarray((above > below) + 0.5 * (above == below), dtype=np.float64)


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.where(below > 0, above / np.where(below > 0, below, 1.0), 1.0), dtype=np.float64)


def _flat(values: Values, confidence: float = 0.95) -> NDArray[np.float64]:
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1:
        raise ValueError(f"the values have shape {data.shape}; they must be a flat list")
    _check(len(data), confidence)
    if not np.isfinite(data).all():
        raise ValueError(f"value {int(np.argmin(np.isfinite(data)))} of {len(data)} is not finite")
    return data


def _draws(n: int, samples: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Blocks of rows of n indices drawn with replacement, ``samples`` rows in all."""
    if samples < 1:
        raise ValueError(f"{samples} bootstrap samples; at least 1 is needed")
    rows = max(1, _BLOCK // n)
    for start in range(0, samples, rows):
        yield rng.integers(n, size=(min(rows, samples - start), n))


def _percentiles(value: float, values: NDArray[np.float64], n: int, confidence: float) -> Interval:
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    # Equal values summed in another order differ in the last bit; the mean stays inside all the same.
    return Interval(value, min(value, float(low)), max(value, float(high)), n)


def _check(n: int, confidence: float) -> None:
    if n < 1:
        raise WaywordError("no episodes, so there is no mean to report; evaluate at least one")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it must lie between 0 and 1, for example 0.95")
