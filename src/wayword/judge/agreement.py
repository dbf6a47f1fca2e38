"""Krippendorff's alpha: how far raters agree beyond chance, with any number of raters and any gaps.

    alpha = 1 - D_o / D_e

D_o is the mean difference between two judgements of the same unit, D_e that between any two judgements, both taken
from the coincidence matrix o (values x values): each ordered pair of judgements within a unit of m judgements adds
1 / (m - 1). Units with a single judgement say nothing about agreement and are left out. With n_c the row sums of o,

    interval    delta(c, k) = (c - k)^2
    ordinal     delta(c, k) = (sum of n_g for g from c to k, minus (n_c + n_k) / 2)^2

After K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Level = Literal["ordinal", "interval"]


def krippendorff_alpha(units: Iterable[Sequence[float]], level: Level) -> float | None:
    """Alpha of the judgements of each unit; None where it is undefined: no two judgements of a unit, or all alike."""
    judged = [list(unit) for unit in units if len(unit) > 1]
    values = sorted({value for unit in judged for value in unit})
    if len(values) < 2:
        return None
    place = {value: i for i, value in enumerate(values)}
    coincidences = np.zeros((len(values), len(values)))
    for unit in judged:
        counts = np.bincount([place[value] for value in unit], minlength=len(values)).astype(np.float64)
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = coincidences.sum(axis=1)
    delta = _ordinal(totals) if level == "ordinal" else np.subtract.outer(values, values) ** 2
    chance = np.outer(totals, totals) - np.diag(totals)  # pairs of two different judgements
    observed, expected = (coincidences * delta).sum(), (chance * delta).sum() / (totals.sum() - 1)
    return float(1 - observed / expected)


def _ordinal(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    middle = np.cumsum(totals) - totals / 2  # the rank of each value, ties sharing the middle of theirs
    squared: NDArray[np.float64] = np.subtract.outer(middle, middle) ** 2
    return squared
