"""What the raters said: frequencies of scores, means with intervals, agreement.

Left out, and counted: raters who fail attention checks, and instructions that more than half of their judgements
flag as bad (as in the original analysis), for all systems alike. Means are over judgements; their 95 % intervals are
bootstrapped over instructions drawn whole, because judgements of one instruction go together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Literal

import numpy as np

from wayword.errors import WaywordError
from wayword.evaluation.intervals import Interval, bootstrap_ratio
from wayword.judge.agreement import krippendorff_alpha
from wayword.judge.answers import SCORES, Answer
from wayword.judge.study import Study

Question = Literal["goal", "path"]
QUESTIONS: tuple[Question, ...] = ("goal", "path")
GOOD = 4
"""The paper calls 4 and 5 good."""
_SEED = 0


@dataclass(frozen=True)
class Scores:
    """How one system did in one question."""

    counts: tuple[int, ...]
    """Judgements with score 1 to 5."""
    mean: Interval
    """``n`` counts instructions."""
    good: Interval
    """The share of judgements of 4 or 5, as a fraction."""

    @property
    def judgements(self) -> int:
        """How many there are."""
        return sum(self.counts)


@dataclass(frozen=True)
class Verdict:
    """Everything the report says."""

    study: str
    raters: int
    """Whose judgements count."""
    failed: int
    """Raters left out because they failed attention checks."""
    unchecked: int
    """Raters among those counted who have not come to a check yet."""
    silent: int
    """Raters who have answered nothing."""
    judgements: int
    instructions: int
    dropped: tuple[str, ...]
    """Instructions left out because most judgements flag them."""
    problems: Mapping[str, int]
    """Flags given, by kind, before instructions were dropped."""
    median_seconds: float
    systems: Mapping[str, Mapping[Question, Scores]]
    """Best goal score first."""
    alpha: Mapping[Question, Mapping[str, float | None]]
    """Krippendorff's alpha over flights: ordinal and interval; None if undefined."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def judge(study: Study, answers: Iterable[Answer], allowed: int = 0) -> Verdict:
    """Sum up the latest answers; raters who answer more than ``allowed`` checks wrongly are left out."""
    by_rater: dict[str, list[Answer]] = {}
    for answer in answers:
        by_rater.setdefault(answer.rater, []).append(answer)
    failed = {rater for rater, own in by_rater.items() if _mistakes(study, own) > allowed}
    unchecked = [r for r, own in by_rater.items() if _has_checks(study) and not any(_is_check(study, a) for a in own)]
    counted = [a for r, own in by_rater.items() if r not in failed for a in own if not _is_check(study, a)]
    if not counted:
        why = f"all {len(failed)} raters failed the attention checks" if failed else "nobody has answered yet"
        raise WaywordError(f"there are no judgements to report: {why}")
    dropped = _bad_instructions(study, counted)
    kept = [answer for answer in counted if study.items[answer.item].example not in dropped]
    if not kept:
        raise WaywordError("there are no judgements to report: every instruction was flagged by most raters")
    systems = {
        name: {question: _scores(study, kept, name, question) for question in QUESTIONS}
        for name in study.systems
        if any(study.items[answer.item].system == name for answer in kept)
    }
    ranked = sorted(systems, key=lambda name: -systems[name]["goal"].mean.mean)
    return Verdict(
        study=study.id,
        raters=len(by_rater) - len(failed),
        failed=len(failed),
        unchecked=len([rater for rater in unchecked if rater not in failed]),
        silent=len(study.sheets) - len(by_rater),
        judgements=len(kept),
        instructions=len({study.items[answer.item].example for answer in kept}),
        dropped=tuple(sorted(dropped)),
        problems=dict(sorted(Counter(a.problem for a in counted if a.problem != "none").items())),
        median_seconds=median(answer.seconds for answer in kept),
        systems={name: systems[name] for name in ranked},
        alpha={question: _alpha(kept, question) for question in QUESTIONS},
    )


def _scores(study: Study, answers: Sequence[Answer], system: str, question: Question) -> Scores:
    given: dict[str, list[int]] = {}
    for answer in answers:
        item = study.items[answer.item]
        if item.system == system:
            given.setdefault(item.example, []).append(getattr(answer, question))
    rows = [given[example] for example in sorted(given)]  # the same draws whatever the order of the answers
    sizes = [float(len(row)) for row in rows]
    every = Counter(score for row in rows for score in row)
    mean = bootstrap_ratio([float(sum(row)) for row in rows], sizes, np.random.default_rng(_SEED))
    good = [float(sum(score >= GOOD for score in row)) for row in rows]
    return Scores(
        tuple(every[score] for score in SCORES), mean, bootstrap_ratio(good, sizes, np.random.default_rng(_SEED))
    )


def _alpha(answers: Sequence[Answer], question: Question) -> dict[str, float | None]:
    units: dict[str, list[int]] = {}
    for answer in answers:
        units.setdefault(answer.item, []).append(getattr(answer, question))
    return {
        "ordinal": krippendorff_alpha(units.values(), "ordinal"),
        "interval": krippendorff_alpha(units.values(), "interval"),
    }


def _bad_instructions(study: Study, answers: Sequence[Answer]) -> set[str]:
    """Examples flagged in more than half of all judgements about them."""
    flags: dict[str, list[bool]] = {}
    for answer in answers:
        flags.setdefault(study.items[answer.item].example, []).append(answer.problem != "none")
    return {example for example, own in flags.items() if 2 * sum(own) > len(own)}


def _mistakes(study: Study, answers: Iterable[Answer]) -> int:
    return sum(_is_check(study, a) and study.items[a.item].check != (a.goal, a.path) for a in answers)


def _is_check(study: Study, answer: Answer) -> bool:
    return study.items[answer.item].check is not None


def _has_checks(study: Study) -> bool:
    return any(item.check is not None for item in study.items.values())
