"""Why a flight failed: the first stage that went wrong, from what the policy thought and what was true.

The stages are asked in the order in which information flows; the first that shows a mistake has lost the flight:

language     a mentioned object has no reference, or a reference's most probable object is wrong. Generated
             instructions say what they refer to. For natural ones, which do not, it is a mistake if an object is
             mentioned by its name and no reference means it; or if a reference means "none of these" or an object
             that does not stand there, and some object within 1 m of the demonstration is meant by no reference.
             Words for the way ("a metre", "the gap") may mean nothing.
grounding    the object of a reference came into view, but the reference's mask is not at its place: its largest
             value is next to nothing, or farther than 0.5 m away and put there by a box that shows something else
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
from wayword.episodes.format import SUCCESS_RADIUS_M

Stage = Literal["language", "grounding", "map", "visitation", "control"]
STAGES: tuple[Stage, ...] = get_args(Stage)
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
class Mention:
    """Words that are known to refer to an object: characters ``start`` to ``end`` of the instruction."""

    name: str
    start: int
    end: int
    named: bool = True
    """Whether they name the object; pronouns and parts may go unnoticed."""


@dataclass(frozen=True)
class Heard:
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
    heard: tuple[Heard, ...]
    in_view: frozenset[str]
    passed: frozenset[str]
    """Objects within ``PASSED_M`` of the demonstration."""
    goal: Point | None
    """Where d^g peaks at the end; None if it is "not yet observed"."""
    gold_end: Point
    flown_end: Point
    arrived: bool
    mentions: tuple[Mention, ...] | None = None
    """What the instruction refers to; None if nobody wrote it down."""


@dataclass(frozen=True)
class Verdict:
    """What was found about one flight."""

    lost_by: Stage | None
    """None if the flight arrived."""
    signs: tuple[Stage, ...]
    detail: str
    """The first sign in words."""


def judge(evidence: Evidence) -> Verdict:
    """Ask every stage; the first with a mistake has lost a flight that did not arrive."""
    found: dict[Stage, str] = {}
    language = _language_mistake(evidence)
    if language:
        found["language"] = language
    found |= _misplaced(evidence) | _missed(evidence)
    signs = tuple(stage for stage in STAGES if stage in found)
    first = signs[0] if signs else None
    return Verdict(None if evidence.arrived else first, signs, found[first] if first else "")


def _language_mistake(evidence: Evidence) -> str:
    """The first wrong or missing reference in words; "" if there is none."""
    if evidence.mentions is None:
        return _unlikely_reading(evidence)
    return _wrong_reading(evidence, evidence.mentions)


def _unlikely_reading(evidence: Evidence) -> str:
    """What cannot be right, where nobody wrote down what the words refer to."""
    standing = {item.name for item in evidence.layout}
    meant = {heard.best for heard in evidence.heard}
    for name in named_in(evidence.instruction, sorted(standing)):
        if name not in meant:
            return f"the {name} was mentioned but no reference means it"
    if evidence.passed <= meant:
        return ""
    for heard in evidence.heard:
        if WAY.intersection(heard.text.lower().split()[-1:]):
            continue
        if heard.best is None:
            return f"'{heard.text}' was taken for none of the objects"
        if heard.best not in standing:
            return f"'{heard.text}' was taken for the {heard.best}, which is not there"
    return ""


def _wrong_reading(evidence: Evidence, mentions: Sequence[Mention]) -> str:
    """What is not as it was written down."""
    spoken_of = {mention.name for mention in mentions}
    for mention in mentions:
        over = [heard for heard in evidence.heard if heard.start < mention.end and mention.start < heard.end]
        words = evidence.instruction[mention.start : mention.end]
        if mention.named and not any(heard.best == mention.name for heard in over):
            taken = over[0].best or "no object" if over else ""
            return f"'{words}' was " + (f"taken for {taken}" if over else "not noticed as a reference")
    for heard in evidence.heard:
        over_names = {m.name for m in mentions if heard.start < m.end and m.start < heard.end}
        if heard.best is not None and heard.best not in (over_names or spoken_of):
            return f"'{heard.text}' was taken for {heard.best}"
    return ""


def named_in(text: str, names: Sequence[str]) -> list[str]:
    """Which of ``names`` stand in a text word by word; "red brick" does not count as a "brick"."""
    rest, found = f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} ", []
    for name in sorted(names, key=len, reverse=True):
        words = f" {' '.join(re.findall(r'[a-z0-9]+', name.lower()))} "
        if words in rest:
            found.append(name)
            rest = rest.replace(words, " | ")
    return found


def _misplaced(evidence: Evidence) -> dict[Stage, str]:
    """Objects that came into view and are not marked at their place, by the stage to blame."""
    places = {item.name: (item.x, item.y) for item in evidence.layout}
    found: dict[Stage, str] = {}
    for heard in evidence.heard:
        if heard.best is None or heard.best not in evidence.in_view or heard.best not in places:
            continue
        off = None if heard.peak is None else _apart(heard.peak, places[heard.best])
        if off is None:
            found.setdefault("grounding", f"the {heard.best} was in view but not found")
        elif off > OFF_M and heard.box_right:
            found.setdefault("map", f"the {heard.best} was found, but marked {off:.2f} m from its place")
        elif off > OFF_M:
            found.setdefault("grounding", f"something {off:.2f} m away was taken for the {heard.best}")
    return found


def _missed(evidence: Evidence) -> dict[Stage, str]:
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
