"""Large databases in flight: the objects an instruction may mean one by one, all others together.

    k_o(b)      densities of the K candidates, as in ``density``
    k_+(b)  =   sum of k_o(b) over all objects that are no candidates: "another taught object"
    P(o | b)  = k_o / (beta + k_+ + sum_c k_c)

The candidates' probabilities are those that the whole database gives: what looks like an object nobody spoke of is not
taken for one of them, and is still seen to be a taught thing. What changes is the cost: K + 2 columns instead of M + 1
for everything that comes after, and k_+ from one pass over all exemplars in single precision,

    k_+(b) = sum_j exp(log w_j - (|q_j|^2 + |x|^2 - 2 x . q_j) / (2 sigma_o^2)),     w_j = 1 / J_o

Databases of up to ``MOST_CANDIDATES`` objects are taken whole, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.compiled import compiled
from wayword.grounding.density import OTHERS, DensityConfig, Exemplars

MOST_CANDIDATES = 100
"""Objects that are told apart one by one in a flight."""
LEAST_EXPONENT = -30.0
"""Kernels of less than exp of this count as nothing: ten thousand of them are a millionth of beta."""


@dataclass(frozen=True, eq=False)
class CrowdTable:
    """All exemplars of a database, made ready for that pass; shared by all flights with this database."""

    factors: NDArray[np.float32]
    """(J, D + 1) q_j / sigma_o^2 and 1 / (2 sigma_o^2), the coefficients of x and of -|x|^2."""
    offsets: NDArray[np.float32]
    """(J,) log w_j - |q_j|^2 / (2 sigma_o^2)."""

    @staticmethod
    def of(exemplars: Exemplars, config: DensityConfig) -> CrowdTable:
        """The table of a whole database."""
        variance = np.full(len(exemplars.owners), config.variance)
        if config.spread > 0:
            variance = (config.variance + config.spread * exemplars.spreads(config.typical))[exemplars.owners]
        vectors = exemplars.vectors.astype(np.float64)
        sizes = np.bincount(exemplars.owners, minlength=len(exemplars.names))[exemplars.owners]
        factors = np.concatenate([vectors / variance[:, None], -0.5 / variance[:, None]], axis=1)
        offsets = -np.log(sizes) - np.square(vectors).sum(axis=1) / (2 * variance)
        return CrowdTable(factors.astype(np.float32), offsets.astype(np.float32))

    def densities(self, x: NDArray[np.float32], without: NDArray[np.int64]) -> NDArray[np.float64]:
        """k_+ (B,) of regions x (B, D), the exemplars of the numbers ``without`` left out."""
        points = np.concatenate([x, np.square(x).sum(axis=1, keepdims=True)], axis=1).astype(np.float32)
        result = np.zeros(len(points))
        _add_kernels(points, self.factors, self.offsets, result)
        left = np.zeros(len(points))
        _add_kernels(points, self.factors[without], self.offsets[without], left)
        return np.maximum(result - left, 0.0)


@compiled(nogil=True, fastmath=True)
def _add_kernels(points: Any, factors: Any, offsets: Any, sums: Any) -> None:
    """Add exp(offset_j + x . factor_j) over all j to ``sums`` (B,); a matrix product would wake threads."""
    for j in range(len(factors)):
        for b in range(len(points)):
            exponent = offsets[j]
            for d in range(factors.shape[1]):
                exponent += points[b, d] * factors[j, d]
            if exponent > LEAST_EXPONENT:
                sums[b] += math.exp(exponent)


@dataclass(frozen=True, eq=False)
class Crowd:
    """The objects of a database that are no candidates of one flight."""

    table: CrowdTable
    candidates: NDArray[np.int64]
    """Numbers of the exemplars that are left out of the sum."""

    def densities(self, x: NDArray[np.float32]) -> NDArray[np.float64]:
        """k_+ (B,)."""
        return self.table.densities(x, self.candidates)


@dataclass(frozen=True, eq=False)
class ExemplarGallery:
    """The exemplars of a database, from which every flight takes those it needs."""

    exemplars: Exemplars
    config: DensityConfig

    @property
    def whole(self) -> bool:
        """Whether it is small enough to be taken whole."""
        return len(self.exemplars.names) <= MOST_CANDIDATES

    @cached_property
    def _table(self) -> CrowdTable:
        return CrowdTable.of(self.exemplars, self.config)

    @cached_property
    def _rows(self) -> dict[str, NDArray[np.int64]]:
        """Numbers of the exemplars of each object."""
        order = np.argsort(self.exemplars.owners, kind="stable")
        sizes = np.bincount(self.exemplars.owners, minlength=len(self.exemplars.names))
        parts = np.split(order, np.cumsum(sizes)[:-1])
        return dict(zip(self.exemplars.names, parts, strict=True))

    def shortlist(self, names: Collection[str]) -> Exemplars:
        """The exemplars of these objects, and ``OTHERS`` for all others; everything if the database is small."""
        if self.whole:
            return self.exemplars
        rows = [self._rows[name] for name in names]
        every = np.concatenate([np.zeros(0, np.int64), *rows])
        owners = np.repeat(np.arange(len(rows)), [len(own) for own in rows]).astype(np.int64)
        return Exemplars((*names, OTHERS), self.exemplars.vectors[every], owners, Crowd(self._table, every))
