"""One flight of a command: what was asked, what was flown, and what the judge says of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from wayword.episodes.commands import CommandScene
from wayword.evaluation.commands.judge import CommandEnding, Judgement
from wayword.evaluation.commands.trace import Trace

HORIZON = 240
"""Decisions that a command has: two minutes."""


@dataclass(frozen=True, eq=False)
class FlownCommand:
    """One flight and what the judge says of it."""

    scene: CommandScene
    trace: Trace
    ending: CommandEnding
    contacts: int
    complaint: str | None
    """What the policy gave as its reason not to fly, or not to have found something."""
    judgement: Judgement

    @property
    def refused(self) -> bool:
        """Whether it was not flown."""
        return self.ending == "refused"

    def to_json(self) -> dict[str, Any]:
        """One line of a file; all that is needed to judge it again."""
        scene = self.scene
        return {
            "id": scene.id,
            "family": scene.family,
            "scene": scene.kind,
            "text": scene.text,
            "steps": [step.to_json() for step in scene.steps],
            "arena_m": scene.arena_m,
            "objects": [asdict(item) for item in scene.objects],
            "start": asdict(scene.start),
            "trace": self.trace.to_json(),
            "ending": self.ending,
            "contacts": self.contacts,
            "said": self.complaint,
            "done": self.judgement.done,
            "verdicts": [verdict.to_json() for verdict in self.judgement.steps],
        }
