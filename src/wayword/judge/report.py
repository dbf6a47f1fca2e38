"""What the raters said: frequencies of scores, means with intervals, agreement.

Left out, and counted: raters who fail attention checks, and instructions that more than half of their judgements
flag as bad (as in the original analysis), for all systems alike. Means are over judgements; their 95 % intervals are
bootstrapped over raters and instructions, both drawn whole, because judgements of one rater, and of one instruction,
go together. With one rater they say nothing about other raters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Literal

import numpy as np

from wayword.errors import WaywordError
from wayword.intervals import Interval, bootstrap_two_way
from wayword.judge.agreement import krippendorff_alpha
from wayword.judge.answers import SCORES, Answer
from wayword.judge.study import Study
from wayword.pictures.rating_chart import Ratings, rating_chart

Question = Literal["goal", "path"]
QUESTIONS: tuple[Question, ...] = ("goal", "path")
GOOD_SCORE = 4
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
class StudyReport:
    """Everything there is to say about a study."""

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

    def chart(self) -> str:
        """The paper's chart of both questions, as SVG."""
        return rating_chart({
            f"{question.capitalize()} score": {
                name: Ratings(scores[question].counts, scores[question].mean) for name, scores in self.systems.items()
            }
            for question in QUESTIONS
        })  # fmt: skip


def report_on(study: Study, answers: Iterable[Answer], allowed: int = 0) -> StudyReport:
    """Sum up the latest answers; raters who answer more than ``allowed`` checks wrongly are left out."""
    by_rater: dict[str, list[Answer]] = {}
    for answer in answers:
        by_rater.setdefault(answer.rater, []).append(answer)
    failed = {rater for rater, own in by_rater.items() if _mistakes(study, own) > allowed}
    unchecked = [r for r, own in by_rater.items() if _has_checks(study) and not any(_is_check(study, a) for a in own)]
    judgements = [a for r, own in by_rater.items() if r not in failed for a in own if not _is_check(study, a)]
    if not judgements:
        why = f"all {len(failed)} raters failed the attention checks" if failed else "nobody has answered yet"
        raise WaywordError(f"there are no judgements to report: {why}")
    dropped = _bad_instructions(study, judgements)
    valid = [answer for answer in judgements if study.items[answer.item].example not in dropped]
    if not valid:
        raise WaywordError("there are no judgements to report: every instruction was flagged by most raters")
    systems = {
        name: {question: _scores(study, valid, name, question) for question in QUESTIONS}
        for name in study.systems
        if any(study.items[answer.item].system == name for answer in valid)
    }
    ranked = sorted(systems, key=lambda name: -systems[name]["goal"].mean.mean)
    return StudyReport(
        study=study.id,
        raters=len(by_rater) - len(failed),
        failed=len(failed),
        unchecked=len([rater for rater in unchecked if rater not in failed]),
        silent=len(study.sheets) - len(by_rater),
        judgements=len(valid),
        instructions=len({study.items[answer.item].example for answer in valid}),
        dropped=tuple(sorted(dropped)),
        problems=dict(sorted(Counter(a.problem for a in judgements if a.problem != "none").items())),
        median_seconds=median(answer.seconds for answer in valid),
        systems={name: systems[name] for name in ranked},
        alpha={question: _alpha(valid, question) for question in QUESTIONS},
    )


def _scores(study: Study, answers: Sequence[Answer], system: str, question: Question) -> Scores:
    own = [answer for answer in answers if study.items[answer.item].system == system]
    # Sorted: the same draws whatever the order of the answers.
    raters = {name: row for row, name in enumerate(sorted({answer.rater for answer in own}))}
    examples = {name: row for row, name in enumerate(sorted({study.items[answer.item].example for answer in own}))}
    count, total, good = (np.zeros((len(raters), len(examples))) for _ in range(3))
    for answer in own:
        cell, score = (raters[answer.rater], examples[study.items[answer.item].example]), getattr(answer, question)
        count[cell] += 1
        total[cell] += score
        good[cell] += score >= GOOD_SCORE
    every = Counter(getattr(answer, question) for answer in own)
    mean, share = (bootstrap_two_way(table, count, np.random.default_rng(_SEED)) for table in (total, good))
    return Scores(tuple(every[score] for score in SCORES), mean, share)


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
