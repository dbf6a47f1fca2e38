"""Intervals around the means we publish: Wilson for rates, the percentile bootstrap for the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError

_BLOCK = 1_000_000  # drawn indices held at once (8 MB)


@dataclass(frozen=True)
class Interval:
    """A mean over ``n`` episodes and the bounds of its confidence interval."""

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
    values: Sequence[float] | NDArray[np.float64],
    rng: np.random.Generator,
    confidence: float = 0.95,
    samples: int = 10_000,
) -> Interval:
    """Percentile bootstrap of the mean: quantiles of ``samples`` means of n draws with replacement.

    One value gives an interval of no width: it says nothing about spread, and ``n`` shows why.
    """
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1:
        raise ValueError(f"the values have shape {data.shape}; they must be a flat list")
    n = len(data)
    _check(n, confidence)
    if samples < 1:
        raise ValueError(f"{samples} bootstrap samples; at least 1 is needed")
    if not np.isfinite(data).all():
        raise ValueError(f"value {int(np.argmin(np.isfinite(data)))} of {n} is not finite")
    mean = float(data.mean())
    if n == 1:
        return Interval(mean, mean, mean, 1)
    rows = max(1, _BLOCK // n)
    means = np.concatenate(
        [data[rng.integers(n, size=(min(rows, samples - start), n))].mean(axis=1) for start in range(0, samples, rows)]
    )
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    # Equal values summed in another order differ in the last bit; the mean stays inside all the same.
    return Interval(mean, min(mean, float(low)), max(mean, float(high)), n)


def _check(n: int, confidence: float) -> None:
    if n < 1:
        raise WaywordError("no episodes, so there is no mean to report; evaluate at least one")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it must lie between 0 and 1, for example 0.95")
