"""A small study for the tests of the questionnaire: two systems, three instructions, two raters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from wayword.episodes import Example
from wayword.judge.flights import StudyFlight
from wayword.judge.pages import make_study
from wayword.judge.study import Study, design
from wayword.sim.render.bank import MeshBank


def shown(example: Example, system: str, points: int | None = None) -> StudyFlight:
    """The demonstration, or its first points, as a flight."""
    path = example.path[:points:4]
    return StudyFlight(system, example, np.column_stack([path, np.full(len(path), 90.0)]))


def small_study(
    folder: Path, cuts: Sequence[Example], bank: MeshBank, systems: Sequence[str] = ("FsPVN", "Oracle"), seed: int = 1
) -> Study:
    """Written into ``folder``; the first system stops half-way."""
    rows = {cut.id: {name: shown(cut, name, 20 if name == systems[0] else None) for name in systems} for cut in cuts}
    study = design(list(rows), systems, 2, 1, Random(seed))
    make_study(folder, study, rows, bank)
    return study


def answer(study: Study, rater: str, item: str, **changes: Any) -> dict[str, Any]:
    """A valid answer, as the page sends it."""
    value = {
        "study": study.id, "rater": rater, "item": item, "goal": 4, "path": 3, "problem": "none", "seconds": 12.5,
        "at": "2026-01-31T12:00:00.000Z", "consent": True,
    }  # fmt: skip
    return {**value, **changes}
