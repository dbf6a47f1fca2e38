"""Whether a flight did what its command says, step by step and in order, judged from its trace alone.

    judgement = judge(steps, layout, trace, ending="policy")
    judgement.done                 # all of it
    judgement.steps[0].words       # "passed the watermelon: no, 1.80 m away"

The judge knows the true layout and what was flown; nothing of how it was planned. Bounds are in ``Bounds``. Lists of
steps that mean the same flight are brought to one form first (``canonical_steps``): they score the same. The last
step, if it is about being somewhere or facing somewhere, must hold where the flight ends; steps before it at some
moment, in order. A flight must end by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from wayword.episodes import PlacedObject
from wayword.episodes.commands import Step
from wayword.episodes.commands.equal import canonical_steps
from wayword.errors import WaywordError
from wayword.evaluation.commands.arrivals import face, gap, goto, returned, search
from wayword.evaluation.commands.attempt import Attempt, Bounds, StepFinding, called
from wayword.evaluation.commands.moves import straight, turn
from wayword.evaluation.commands.trace import Bools, Flown, Trace
from wayword.evaluation.commands.windings import circle, go_past, weave

CommandEnding = Literal["policy", "horizon", "contact", "error", "refused"]
"""How a flight ended: by itself, by the clock, at an object, by a fault; or it was refused and never began."""
KINDS: Mapping[str, Callable[[Attempt], StepFinding]] = MappingProxyType(
    {
        "goto": goto,
        "pass": go_past,
        "circle": circle,
        "between": gap,
        "weave": weave,
        "turn": turn,
        "forward": straight,
        "back": straight,
        "sideways": straight,
        "face": face,
        "search": search,
        "return": returned,
    }
)
_ENDINGS = {
    "policy": "it ended by itself: yes",
    "horizon": "it ended by itself: no, it ran out of time",
    "error": "it ended by itself: no, a fault ended it",
    "contact": "it ended by itself: no, it hit something",
    "refused": "it flew: no, it refused",
}


@dataclass(frozen=True)
class StepVerdict:
    """Whether one step was done."""

    step: Step | None
    """None for what is asked of every flight: that it ends by itself, or that a refusal says why."""
    done: bool
    value: float
    """A number to it, in ``unit``: metres away, degrees off, turns."""
    unit: str
    words: str

    def to_json(self) -> dict[str, Any]:
        """For files."""
        step = None if self.step is None else self.step.to_json()
        return {"step": step, "done": self.done, "value": round(self.value, 3), "unit": self.unit, "words": self.words}


@dataclass(frozen=True)
class Judgement:
    """Whether a command was carried out."""

    done: bool
    steps: tuple[StepVerdict, ...]

    @property
    def words(self) -> str:
        """What was not done, in one line; "done" if nothing is missing."""
        return "; ".join(verdict.words for verdict in self.steps if not verdict.done) or "done"


def judge(
    steps: Sequence[Step],
    layout: Sequence[PlacedObject],
    trace: Trace,
    ending: CommandEnding = "policy",
    reason: str | None = None,
    bounds: Bounds | None = None,
) -> Judgement:
    """Judge a flight; ``steps`` name objects of the layout, ``reason`` is the one given for not flying."""
    flown, limits, canonical = Flown(trace, layout), bounds or Bounds(), canonical_steps(steps)
    _check(canonical, flown)
    flights = [step for step in canonical if step.do not in ("avoid", "stay")]
    verdicts = [_kept_away(flown, step, limits) for step in canonical if step.do == "avoid"]
    if not flights:
        verdicts.append(_still(flown, canonical[-1] if canonical else None, limits))
    verdicts += _in_order(flown, flights, limits)
    if not canonical:
        why = reason or ""
        words = f"said why it does not fly: yes, {why}" if why else "said why it does not fly: no"
        verdicts.append(StepVerdict(None, bool(why), 0.0, "", words))
    still = not flights  # to refuse is to stay
    ended = ending == "policy" or (still and ending == "refused")
    if not ended:
        verdicts.append(StepVerdict(None, False, float(trace.times[-1]), "s", _ENDINGS[ending]))
    return Judgement(all(verdict.done for verdict in verdicts), tuple(verdicts))


def _check(steps: Sequence[Step], flown: Flown) -> None:
    for step in steps:
        missing = next((name for name in step.mentioned if name not in flown.places), None)
        if missing is not None:
            raise WaywordError(f"a {step.do} step is about {missing!r}, which the layout does not hold")


def _in_order(flown: Flown, steps: Sequence[Step], bounds: Bounds) -> list[StepVerdict]:
    """Each step after those before it; one that was not done is left out for the sake of those behind it."""
    verdicts, ready = [], np.arange(len(flown)) == 0
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        upcoming = None if last else _reached(flown, steps[number + 1], ready, bounds)
        finding = KINDS[step.do](Attempt(flown, step, ready, last, bounds, upcoming))
        done = bool(finding.ends[-1] if last and finding.holds else finding.ends.any())
        verdicts.append(StepVerdict(step, done, finding.value, finding.unit, finding.yes if done else finding.no))
        if finding.ends.any():
            ready = finding.ends
    return verdicts


def _reached(flown: Flown, step: Step, ready: Bools, bounds: Bounds) -> Bools | None:
    """Where a step that is about being somewhere is done once the one before it has begun; None for deeds."""
    if step.do not in ("goto", "between", "return"):
        return None
    finding = KINDS[step.do](Attempt(flown, step, ready, False, bounds))
    return finding.ends if finding.holds else None


def _kept_away(flown: Flown, step: Step, bounds: Bounds) -> StepVerdict:
    assert step.object is not None
    nearest = float(flown.distance(step.object).min())
    done = nearest >= bounds.avoid_m
    words = f"kept away from {called(step.object)}: {'yes' if done else 'no'}, {nearest:.2f} m"
    return StepVerdict(step, done, nearest, "m", words)


def _still(flown: Flown, step: Step | None, bounds: Bounds) -> StepVerdict:
    """For "stay" alone, and for what this drone cannot do."""
    farthest = float(flown.way.max())
    done = farthest <= bounds.still_m
    words = f"stayed where it was: {'yes' if done else 'no'}, {farthest:.2f} m"
    return StepVerdict(step, done, farthest, "m", words)
