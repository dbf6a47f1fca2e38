"""Figures of the language report before they are published, by key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.figures import Figure
from wayword.intervals import Interval, wilson
from wayword.learning.language.matches import Matches

SEED = 0
"""Of every bootstrap; each figure starts from it anew, so that one more or less does not change the others."""


@dataclass(frozen=True)
class Measured:
    """One figure: fractions if ``unit`` is "%"; ``note`` says what else it depends on (a model's version)."""

    interval: Interval
    unit: str = "%"
    note: str = ""

    def figure(self, command: str, date: str) -> Figure:
        """Ready for docs/results.json; the note becomes a comment at the end of the command."""
        return Figure.of(self.interval, self.unit, f"{command}  # {self.note}" if self.note else command, date)


MeasuredFigures = dict[str, Measured]


def f1_figures(prefix: str, matches: Matches, suffix: str = "", note: str = "") -> MeasuredFigures:
    """F1 with an interval over sentences; precision and recall as rates over what was said and wanted.

    A system that said nothing has no precision, and data without gold no recall: they are left out.
    """
    report = {f"{prefix}.f1{suffix}": Measured(matches.f1_interval(np.random.default_rng(SEED)), note=note)}
    for name, total in (("precision", matches.answers), ("recall", matches.gold)):
        if total:
            report[f"{prefix}.{name}{suffix}"] = Measured(wilson(matches.right, total), note=note)
    return report


def rate(hits: NDArray[np.bool_]) -> Measured:
    """Share of hits."""
    return Measured(wilson(int(hits.sum()), len(hits)))
