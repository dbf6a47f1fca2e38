"""What was understood of a sentence: part by part before take-off, and the same with verdicts after the flight."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wayword.language.pipeline import Parsed
from wayword.language.reader import Reading
from wayword.language.reader.words import step_words
from wayword.pilot.pilot import unknown_references
from wayword.pilot.verdict import Verdict, VerdictPart

_ARTICLES = re.compile(r"^(the|a|an|that|this|my|your|its)\s+", re.IGNORECASE)


@dataclass(frozen=True)
class PlanPart:
    """One thing that will be flown, or was."""

    words: str
    done: bool | None = None
    """None before it is known."""


@dataclass(frozen=True, eq=False)
class Understanding:
    """A sentence as one policy takes it."""

    parsed: Parsed
    reading: Reading | None
    """None for a policy that takes every sentence for the description of a way."""

    @property
    def refusal(self) -> str | None:
        """Why it will not be flown."""
        return None if self.reading is None else self.reading.refusal

    @property
    def unknown(self) -> tuple[str, ...]:
        """What is spoken of and was never taught, as names that it could be taught under."""
        phrases = unknown_references(self.parsed) if self.reading is None else self.reading.unknown
        return tuple(dict.fromkeys(name for name in map(taught_name, phrases) if name))

    @property
    def parts(self) -> tuple[PlanPart, ...]:
        """What will be flown, one after the other; nothing if it is refused."""
        reading = self.reading
        if reading is None:
            return (PlanPart(f"a way as it is described: {self.parsed.text}"),)
        if reading.kind == "refusal":
            return ()
        if reading.kind == "steps":
            return tuple(PlanPart(step_words(step, reading)) for step in reading.steps) or (PlanPart("stay"),)
        legs = [self.parsed.text[first:last].strip(" ,.;") for first, last in reading.legs]
        return tuple(PlanPart(leg) for leg in legs or [self.parsed.text])

    def judged(self, verdict: Verdict) -> tuple[PlanPart, ...]:
        """The parts with what came of them; as they were, with the outcome, if that cannot be told part by part."""
        parts = self.parts
        if len(verdict.parts) == len(parts):
            pairs = zip(parts, verdict.parts, strict=True)
            return tuple(PlanPart(f"{plan.words}: {_finding(part)}", part.done) for plan, part in pairs)
        if verdict.parts:
            return tuple(PlanPart(part.words, part.done) for part in verdict.parts)
        return (*parts, PlanPart(verdict.outcome, verdict.success))


def _finding(part: VerdictPart) -> str:
    """What was found, without what was asked: "yes, 0.41 m" of "stopped at the globe: yes, 0.41 m"."""
    return part.words.split(": ", 1)[-1]


def taught_name(phrase: str) -> str:
    """What an unknown phrase could be taught as: "the Red Rocket" as "red rocket"."""
    return _ARTICLES.sub("", " ".join(phrase.split())).strip(" .,;!?").lower()[:60]
