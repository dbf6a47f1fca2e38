"""What came of a flight that was flown from a reading: part by part, in words, judged in the true layout.

The judge knows what was understood, not what was meant: a text that was read wrongly and flown as read counts as done.
"""

from __future__ import annotations

from collections.abc import Callable

from wayword.episodes.commands import Step, choose
from wayword.evaluation.commands.judge import Judgement, judge
from wayword.evaluation.commands.trace import Trace
from wayword.language.reader import Reading
from wayword.pilot.verdict import FlightEnd, FlightJudge, Verdict, VerdictPart


def judge_by_reading(
    reading: Reading, model: Callable[[str], str | None], refusal: Callable[[], str | None], sub_step_s: float
) -> FlightJudge:
    """Says of each step whether it was done; ``model`` is what the layout calls an object of the database."""

    def judged(end: FlightEnd) -> Verdict:
        steps = steps_in_layout(reading, end, model)
        touched = "" if not end.contacts else f"; touched something {_times(end.contacts)}"
        complaint = refusal()
        if steps is None:
            return Verdict(f"{complaint or 'not all of it stands here'}{touched}", False)
        judgement: Judgement = judge(
            steps, end.example.objects, Trace.every(end.poses, sub_step_s), end.ending, complaint
        )
        parts = tuple(VerdictPart(verdict.words, verdict.done) for verdict in judgement.steps)
        words = "; ".join(part.words for part in parts) or "stayed where it was: yes"
        head = "done" if judgement.done else "not done"
        tail = f"; {complaint}" if complaint else ""
        return Verdict(f"{head} in {end.seconds:.1f} s: {words}{tail}{touched}", judgement.done, parts)

    return judged


def steps_in_layout(reading: Reading, end: FlightEnd, model: Callable[[str], str | None]) -> tuple[Step, ...] | None:
    """The steps of a reading about the objects of the layout; None if it lacks one of them."""
    places = {item.name: (item.x, item.y) for item in end.example.objects}
    names: dict[str, str] = {}
    for key, thing in reading.things.items():
        name = None if thing.name is None else model(thing.name)
        if name in places:
            names[key] = str(name)
    for key, thing in reading.things.items():
        if thing.select is not None:
            rule = thing.select
            of = None if rule.of is None else names.get(rule.of)
            choice = choose(type(rule)(rule.rule, of, rule.rank), places, end.example.start)
            if choice is not None:
                names[key] = choice
    keys = {key for step in reading.steps for key in step.mentioned}
    return tuple(step.renamed(names.__getitem__) for step in reading.steps) if keys <= set(names) else None


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
