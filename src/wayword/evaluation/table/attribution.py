"""Why a flight failed: the first stage that went wrong, from what the policy thought and what was true.

A failed flight is flown once more with its own boxes and true labels: P(o | b) says which object each box shows. If it
then arrives, the labels have lost the flight, whatever else may have been wrong: *grounding*. Otherwise the stages are
asked in the order in which information flows, and the first that shows a mistake has lost the flight:

language     a mentioned object has no reference, or a reference's most probable object is wrong. Generated
             instructions say what they refer to. For natural ones, which do not, it is a mistake if an object is
             mentioned by its name and no reference means it; or if a reference means "none of these" or an object
             that does not stand there, and some object within 1 m of the demonstration is meant by no reference.
             Words for the way ("a metre", "the gap") may mean nothing.
grounding    the object of a reference came into view, but the reference's mask is not at its place: its largest
             value is next to nothing, or farther than 0.5 m away and put there by a box that shows something else. If
             true labels do not help, this counts only where it shows with them as well: then there was no box
map          it is farther than 0.5 m away, but the box was on the object: projection put it in the wrong place
visitation   d^g at the end is not yet observed, or peaks at 0.47 m or more from the demonstration's end, or less
             but farther than the flight ended from this peak
control      the flight ended farther from d^g's peak than this is from the demonstration's end

``signs`` lists every stage that showed a mistake; counted over flights that arrived all the same, it says how much
such a mistake means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from wayword.episodes import PlacedObject
from wayword.task import SUCCESS_RADIUS_M

BlameStage = Literal["language", "grounding", "map", "visitation", "control"]
STAGES: tuple[BlameStage, ...] = get_args(BlameStage)
Point = tuple[float, float]

PASSED_M = 1.0
"""Objects this near to the demonstration may be what its instruction is about."""
WAY = frozenset({
    "angle", "arc", "area", "bend", "bit", "center", "centre", "circle", "course", "curve", "degree", "degrees",
    "direction", "distance", "end", "feet", "foot", "front", "gap", "half", "hop", "left", "length", "line",
    "loop", "meter", "meters", "metre", "metres", "middle", "moment", "o'clock", "path", "point", "quarter",
    "right", "route", "side", "space", "spot", "step", "steps", "thirds", "time", "turn", "way",
})  # fmt: skip
"""A reference that ends in one of these speaks of the way and not of a thing."""
OFF_M = 0.5
"""A mask farther than this from its object does not mark it."""


@dataclass(frozen=True)
class KnownMention:
    """Words that are known to refer to an object: characters ``start`` to ``end`` of the instruction."""

    name: str
    start: int
    end: int
    named: bool = True
    """Whether they name the object; pronouns and parts may go unnoticed."""


@dataclass(frozen=True)
class ReadReference:
    """A reference as the policy took it, and what became of it."""

    text: str
    start: int
    end: int
    """In the instruction as it was given."""
    best: str | None
    """The most probable object; None for "none of these"."""
    peak: Point | None = None
    """Where its mask is largest; None if it marks nothing."""
    box_right: bool = False
    """Whether the box that marked it strongest shows the object ``best``."""


@dataclass(frozen=True)
class Evidence:
    """What is known about one flight."""

    instruction: str
    layout: tuple[PlacedObject, ...]
    references: tuple[ReadReference, ...]
    in_view: frozenset[str]
    passed: frozenset[str]
    """Objects within ``PASSED_M`` of the demonstration."""
    goal: Point | None
    """Where d^g peaks at the end; None if it is "not yet observed"."""
    gold_end: Point
    flown_end: Point
    arrived: bool
    mentions: tuple[KnownMention, ...] | None = None
    """What the instruction refers to; None if nobody wrote it down."""


@dataclass(frozen=True)
class Relabelled:
    """How the same flight went with its own boxes and true labels."""

    arrived: bool
    signs: tuple[BlameStage, ...] = ()
    """The stages that showed a mistake then."""


@dataclass(frozen=True)
class Attribution:
    """What was found about one flight."""

    lost_by: BlameStage | None
    """None if the flight arrived."""
    signs: tuple[BlameStage, ...]
    detail: str
    """The sign of the stage that lost it, or the first one, in words."""
    with_true_labels: bool | None = None
    """Whether it arrives with true labels; None if that was not flown."""


def attribute(evidence: Evidence, relabelled: Relabelled | None = None) -> Attribution:
    """Who has lost a flight that did not arrive: the labels if true ones help, else the first stage with a mistake."""
    mistakes: dict[BlameStage, str] = {}
    language = _language_mistake(evidence)
    if language:
        mistakes["language"] = language
    mistakes |= _misplaced(evidence) | _missed(evidence)
    signs = tuple(stage for stage in STAGES if stage in mistakes)
    first = signs[0] if signs else None
    if evidence.arrived or relabelled is None:
        return Attribution(None if evidence.arrived else first, signs, mistakes[first] if first else "")
    if relabelled.arrived:
        sign = mistakes.get("grounding")
        detail = "with true labels it arrives" + (f"; {sign}" if sign else "")
        return Attribution("grounding", signs, detail, True)
    causes = [stage for stage in signs if stage != "grounding" or stage in relabelled.signs]
    lost_by = causes[0] if causes else first
    return Attribution(lost_by, signs, mistakes[lost_by] if lost_by else "", False)


def _language_mistake(evidence: Evidence) -> str:
    """The first wrong or missing reference in words; "" if there is none."""
    if evidence.mentions is None:
        return _unlikely_reading(evidence)
    return _wrong_reading(evidence, evidence.mentions)


def _unlikely_reading(evidence: Evidence) -> str:
    """What cannot be right, where nobody wrote down what the words refer to."""
    standing = {item.name for item in evidence.layout}
    meant = {reference.best for reference in evidence.references}
    for name in named_in(evidence.instruction, sorted(standing)):
        if name not in meant:
            return f"the {name} was mentioned but no reference means it"
    if evidence.passed <= meant:
        return ""
    for reference in evidence.references:
        if WAY.intersection(reference.text.lower().split()[-1:]):
            continue
        if reference.best is None:
            return f"'{reference.text}' was taken for none of the objects"
        if reference.best not in standing:
            return f"'{reference.text}' was taken for the {reference.best}, which is not there"
    return ""


def _wrong_reading(evidence: Evidence, mentions: Sequence[KnownMention]) -> str:
    """What is not as it was written down."""
    spoken_of = {mention.name for mention in mentions}
    for mention in mentions:
        over = [
            reference
            for reference in evidence.references
            if reference.start < mention.end and mention.start < reference.end
        ]
        words = evidence.instruction[mention.start : mention.end]
        if mention.named and not any(reference.best == mention.name for reference in over):
            answer = over[0].best or "no object" if over else ""
            return f"'{words}' was " + (f"taken for {answer}" if over else "not noticed as a reference")
    for reference in evidence.references:
        over_names = {m.name for m in mentions if reference.start < m.end and m.start < reference.end}
        if reference.best is not None and reference.best not in (over_names or spoken_of):
            return f"'{reference.text}' was taken for {reference.best}"
    return ""


def named_in(text: str, names: Sequence[str]) -> list[str]:
    """Which of ``names`` stand in a text word by word; "red brick" does not count as a "brick"."""
    rest, result = f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} ", []
    for name in sorted(names, key=len, reverse=True):
        words = f" {' '.join(re.findall(r'[a-z0-9]+', name.lower()))} "
        if words in rest:
            result.append(name)
            rest = rest.replace(words, " | ")
    return result


def _misplaced(evidence: Evidence) -> dict[BlameStage, str]:
    """Objects that came into view and are not marked at their place, by the stage to blame."""
    places = {item.name: (item.x, item.y) for item in evidence.layout}
    mistakes: dict[BlameStage, str] = {}
    for reference in evidence.references:
        if reference.best is None or reference.best not in evidence.in_view or reference.best not in places:
            continue
        off = None if reference.peak is None else _apart(reference.peak, places[reference.best])
        if off is None:
            mistakes.setdefault("grounding", f"the {reference.best} was in view but not found")
        elif off > OFF_M and reference.box_right:
            mistakes.setdefault("map", f"the {reference.best} was found, but marked {off:.2f} m from its place")
        elif off > OFF_M:
            mistakes.setdefault("grounding", f"something {off:.2f} m away was taken for the {reference.best}")
    return mistakes


def _missed(evidence: Evidence) -> dict[BlameStage, str]:
    """Whether d^g or the way to it was wrong."""
    if evidence.goal is None:
        return {"visitation": "the goal was not yet observed when the flight ended"}
    off, astray = _apart(evidence.goal, evidence.gold_end), _apart(evidence.flown_end, evidence.goal)
    if off >= SUCCESS_RADIUS_M or (off > astray and not evidence.arrived):
        return {"visitation": f"d^g peaked {off:.2f} m from the demonstration's end"}
    if evidence.arrived:
        return {}
    return {"control": f"the flight ended {astray:.2f} m from d^g's peak, which was {off:.2f} m from the right place"}


def _apart(a: Point, b: Point) -> float:
    return float(np.hypot(a[0] - b[0], a[1] - b[1]))
