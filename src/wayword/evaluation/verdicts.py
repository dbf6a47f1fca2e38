"""What is said about a flight whose demonstration is known: its scores in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayword.evaluation.metrics import EpisodeMetrics, score
from wayword.pilot.free_flight import describe_end
from wayword.pilot.verdict import ENDED_WORDS, FlightEnd, FlightJudge, Verdict


@dataclass(frozen=True)
class ScoredVerdict(Verdict):
    """With the numbers behind it."""

    metrics: EpisodeMetrics | None = None


def score_end(end: FlightEnd) -> EpisodeMetrics:
    """The scores of a flight against its example's demonstration."""
    return score(end.path, end.example.path, end.contacts, end.decisions, end.ending)


def judge_by_demonstration(end: FlightEnd) -> ScoredVerdict:
    """Whether a flight arrived where its demonstration ends."""
    metrics = score_end(end)
    return ScoredVerdict(outcome_of(metrics), metrics.sr, metrics=metrics)


def judge_by_demonstration_and_goal(mentioned: Sequence[str]) -> FlightJudge:
    """The same, told from the last of ``mentioned``, the goal, for people who do not see the demonstration."""

    def judge(end: FlightEnd) -> ScoredVerdict:
        scored = judge_by_demonstration(end)
        metrics = scored.metrics
        if metrics is None or not {item.name for item in end.example.objects} & set(mentioned):
            return scored
        word = "arrived" if metrics.sr else "missed"
        off = f"{metrics.ne:.2f} m from the end of the demonstration, EMD {metrics.emd:.2f} m"
        return ScoredVerdict(f"{word}: {describe_end(end, mentioned)}; {off}", metrics.sr, metrics=metrics)

    return judge


def outcome_of(m: EpisodeMetrics) -> str:
    """How a flight ended, in one line."""
    ended = ENDED_WORDS[m.ended_by]
    verdict = "arrived" if m.sr else "missed"
    touched = f", {m.collisions} contacts" if m.collisions else ""
    return f"{verdict}: {ended} {m.ne:.2f} m from the end, EMD {m.emd:.2f} m, {m.steps} decisions{touched}"
