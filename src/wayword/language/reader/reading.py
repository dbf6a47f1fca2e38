"""What was understood of a text: steps about things, or a description of a way, or a reason not to fly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from wayword.episodes.commands import Select, Step

ReadingKind = Literal["steps", "description", "refusal"]


@dataclass(frozen=True)
class Thing:
    """What a step is about: an object that is named, or one that is meant by where it stands."""

    phrase: str
    """The words that name it, or the rule in words."""
    probabilities: Mapping[str, float] = field(default_factory=dict)
    """P(o | r) by object of the database; empty for one that is selected."""
    select: Select | None = None
    """The rule; ``of`` is a key of the reading's things."""

    @property
    def name(self) -> str | None:
        """The most probable object of the database; None for one that is selected."""
        return max(self.probabilities, key=lambda key: self.probabilities[key], default=None)


@dataclass(frozen=True)
class Reading:
    """A text as it will be flown."""

    kind: ReadingKind
    steps: tuple[Step, ...] = ()
    """In the order of flight; the objects of a step are keys of ``things``."""
    things: Mapping[str, Thing] = field(default_factory=dict)
    legs: tuple[tuple[int, int], ...] = ()
    """Of a description: where each leg stands in the corrected text, first character and one past the last."""
    refusal: str | None = None
    """Why it is not flown, in one line that says what was not understood and what is known."""
    unknown: tuple[str, ...] = ()
    """Phrases that name nothing in the database."""
    is_answer: bool = False
    """Whether the refusal answers a question: flying all the same would make no sense."""

    def to_json(self) -> dict[str, Any]:
        """As plain values, for traces and pages."""
        things = {
            key: {"phrase": thing.phrase, "object": thing.name}
            | ({} if thing.select is None else {"select": thing.select.to_json()})
            for key, thing in self.things.items()
        }
        steps = [step.to_json() for step in self.steps]
        legs = [list(leg) for leg in self.legs]
        return {"kind": self.kind, "steps": steps, "things": things, "legs": legs, "refusal": self.refusal}
