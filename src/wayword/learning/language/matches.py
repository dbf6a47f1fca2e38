"""Right, said and wanted, counted per sentence: precision, recall and F1 of chunks and of references."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.intervals import Interval, bootstrap_ratio


@dataclass(frozen=True, eq=False)
class Matches:
    """Counts of every sentence, and what follows from their sums.

    Attributes:
        counts: (S, 3) int64, of each sentence: right, said, wanted.
    """

    counts: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, int]]) -> Matches:
        """From (right, said, wanted) of each sentence."""
        return cls(np.array(list(rows), np.int64).reshape(-1, 3))

    @property
    def sentences(self) -> int:
        """How many were scored."""
        return len(self.counts)

    @property
    def right(self) -> int:
        """Said and wanted."""
        return int(self.counts[:, 0].sum())

    @property
    def answers(self) -> int:
        """Found by the system."""
        return int(self.counts[:, 1].sum())

    @property
    def gold(self) -> int:
        """Gold."""
        return int(self.counts[:, 2].sum())

    @property
    def precision(self) -> float:
        """Share of what was said that is right."""
        return self.right / self.answers if self.answers else 0.0

    @property
    def recall(self) -> float:
        """Share of what was wanted that was found."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two: 2 right / (said + wanted)."""
        total = self.answers + self.gold
        return 2 * self.right / total if total else 1.0

    def f1_interval(self, rng: np.random.Generator) -> Interval:
        """F1 with its bootstrap interval over sentences."""
        counts = self.counts.astype(np.float64)
        return bootstrap_ratio(2 * counts[:, 0], counts[:, 1] + counts[:, 2], rng)

    def __str__(self) -> str:
        return (
            f"precision {100 * self.precision:.2f}, recall {100 * self.recall:.2f}, F1 {100 * self.f1:.2f} "
            f"({self.gold} wanted in {self.sentences} sentences)"
        )
