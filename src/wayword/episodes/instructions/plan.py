"""What an instruction says: which of a segment's facts are told, as bindings for the grammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wayword.episodes.instructions.facts import LONG_M, SHORT_M, Facts, Place
from wayword.episodes.instructions.voices import Voice

_TENS = ("zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_HOURS = ["twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]

# How likely each way to tell the end is: by kind of manoeuvre and relation, about its own object or another.
_OWN: dict[str, dict[str, float]] = {
    "approach": {"front": 12, "facing": 1.5, "clock": 1, "ahead": 0.3},
    "beside": {"beside": 12, "clock": 1, "between": 3},
    "pass": {"past": 6, "clock": 0.3, "between": 3},
    "around": {"beside": 3, "far": 2.5, "past": 2, "facing": 2, "front": 1, "clock": 0.7, "between": 4},
    "between": {"through": 5, "past": 4, "beside": 3, "gap": 5, "between": 2},
}
_OTHER: dict[str, float] = {
    "front": 12,
    "beside": 9,
    "ahead": 7,
    "between": 7,
    "past": 6,
    "facing": 5,
    "quarter": 4,
    "clock": 2,
}
_OTHER_AT_GOAL: dict[str, float] = {"beside": 1.5, "between": 2, "clock": 0.3}
_GOALS = frozenset({"front", "beside", "past", "between"})


@dataclass(frozen=True)
class Plan:
    """Bindings for the grammar: values of variables, amounts behind some of them, and flags."""

    values: dict[str, str]
    amounts: dict[str, float]
    flags: frozenset[str]


def make_plan(facts: Facts, earlier: Sequence[Facts], voice: Voice, rng: np.random.Generator) -> Plan:
    """Choose what to tell of one segment; ``earlier`` are the facts of the segments before it."""
    before = earlier[-1] if earlier else None
    m = facts.manoeuvre
    values: dict[str, str] = {"kind": m.kind, "o": m.objects[0], "rel": ""}
    amounts: dict[str, float] = {}
    flags: set[str] = {"later"} if facts.segment else set()
    if voice.fragments:
        flags.add("frag")
    if m.side is not None:
        values["s"] = m.side
    if m.kind == "between":
        _pair(values, m.objects, ("a", "b"), ("x", "y"), ("i", "j"), rng)
    _extent(facts, flags)
    _same_as_before(facts, before, flags)
    if any(f.manoeuvre.end_object == m.objects[0] for f in earlier[:-1]):
        flags.add("revisit")
    if m.closest[0] < 0.43:
        flags.add("tight")
    place = _choose_place(facts, voice, rng)
    if m.kind == "beside" and place is not None:
        if place.relation == "beside" and place.objects == m.objects and rng.random() < 0.4:
            place = None  # "fly until it is on your left" says it all
        else:
            values["kind"] = "approach"  # "fly to it and stop with it on your left"
    _tell_turn(facts, values, amounts, flags, voice, rng)
    _tell_via(facts, place, values, flags, voice, rng)
    _tell_start(facts, values, flags, rng)
    if place is not None:
        _tell_place(place, values, amounts, flags, rng)
        _tell_more(facts, place, values, flags, voice, rng)
        if voice.goal and place.relation in _GOALS and rng.random() < voice.goal:
            flags.add("goal")
    if m.kind == "around" and "turn" in flags and values["T"] == m.side and rng.random() < 0.35:
        flags -= {"turn"}
        flags |= {"turn.merge"}
    return Plan(values, amounts, frozenset(flags))


def _pair(
    values: dict[str, str],
    objects: Sequence[str],
    fixed: tuple[str, str],
    variables: tuple[str, str],
    sides: tuple[str, str],
    rng: np.random.Generator,
) -> None:
    """Bind a left and a right object, and the same two in the order in which they are told."""
    values.update(zip(fixed, objects, strict=True))
    pairs = [(objects[0], "left"), (objects[1], "right")]
    if rng.random() < 0.5:
        pairs.reverse()
    for variable, side, (name, where) in zip(variables, sides, pairs, strict=True):
        values[variable], values[side] = name, where


def _extent(facts: Facts, flags: set[str]) -> None:
    if facts.straight:
        flags.add("straight")
    if facts.length > LONG_M:
        flags.add("long")
    if facts.length < SHORT_M:
        flags.add("short")
    if facts.direct:
        flags.add("direct")
    if facts.manoeuvre.kind == "around":
        for name, low, high in (("quarter", 65, 115), ("half", 150, 210), ("wide", 235, 330)):
            if low <= facts.winding <= high:
                flags.add(name)
        if 2.7 < abs(facts.manoeuvre.bend) < 3.6:
            flags.add("uturn")


def _same_as_before(facts: Facts, before: Facts | None, flags: set[str]) -> None:
    if before is None:
        return
    now, then = facts.manoeuvre, before.manoeuvre
    if now.kind == then.kind == "around" and (now.objects, now.side) == (then.objects, then.side):
        flags.add("same.round")
    if facts.turn and before.turn and facts.turn.side == before.turn.side:
        flags.add("again")


def _tell_turn(
    facts: Facts,
    values: dict[str, str],
    amounts: dict[str, float],
    flags: set[str],
    voice: Voice,
    rng: np.random.Generator,
) -> None:
    turn = facts.turn
    if turn is None:
        return
    # Small turns are often left out: they follow from where the instruction leads.
    chance = voice.turn * min(1.0, 0.35 + turn.degrees / 60)
    if rng.random() >= chance:
        return
    values["T"] = turn.side
    flags.add("turn")
    flags |= {name for name in ("slight", "sharp", "back") if getattr(turn, name)}
    if turn.degrees >= 22 or not turn.slight:
        flags.add("medium")
    if 15 <= turn.degrees <= 95:
        flags.add("degrees")
        amounts["deg"] = float(turn.degrees)
        values["deg"] = _number(turn.degrees) if rng.random() < 0.85 else str(turn.degrees)


def _number(degrees: int) -> str:
    """A multiple of five in words."""
    if degrees % 10 == 0:
        return _TENS[degrees // 10]
    return "fifteen" if degrees == 15 else f"{_TENS[degrees // 10]}-five"


def _tell_via(
    facts: Facts,
    place: Place | None,
    values: dict[str, str],
    flags: set[str],
    voice: Voice,
    rng: np.random.Generator,
) -> None:
    mentioned = set(place.objects) if place else set()
    choices = [v for v in facts.via if v.name not in mentioned]
    if not choices or rng.random() >= voice.via:
        return
    via = choices[int(rng.integers(len(choices)))]
    values["p"], values["u"] = via.name, via.side
    flags |= {"via", "early" if via.early else "late"}


def _tell_start(facts: Facts, values: dict[str, str], flags: set[str], rng: np.random.Generator) -> None:
    if facts.leaving is None or rng.random() < 0.3:
        return
    name, side, behind = facts.leaving
    values["n"] = name
    flags.add("leaving.near")
    if side is not None:
        values["m"] = side
        flags.add("leaving.side")
    if behind:
        flags.add("leaving.away")


def _choose_place(facts: Facts, voice: Voice, rng: np.random.Generator) -> Place | None:
    if not facts.places or rng.random() >= voice.place:
        return None
    m = facts.manoeuvre
    weights = []
    for place in facts.places:
        own = set(place.objects) & set(m.objects)
        at_goal = m.kind in ("approach", "beside")
        table = _OWN[m.kind] if own else _OTHER_AT_GOAL if at_goal else _OTHER
        weight = table.get(place.relation, 0.0) * voice.ends.get(place.relation, 1.0)
        if place.relation == "clock":
            weight *= voice.clock
        weights.append(weight)
    total = sum(weights)
    if total <= 0:
        return None
    return facts.places[int(rng.choice(len(weights), p=[w / total for w in weights]))]


def _tell_place(
    place: Place,
    values: dict[str, str],
    amounts: dict[str, float],
    flags: set[str],
    rng: np.random.Generator,
) -> None:
    flags.add("place")
    values["rel"], values["e"] = place.relation, place.objects[0]
    if place.side is not None:
        values["d"] = place.side
        if place.relation == "front":
            flags.add("lean")
    if place.hour is not None:
        amounts["hour"] = float(place.hour)
        values["hour"] = _HOURS[place.hour % 12]
    if place.relation == "between":
        _pair(values, place.objects, ("e", "f"), ("g", "h"), ("k", "l"), rng)
    own = {values[v] for v in ("o", "a", "b") if v in values}
    if place.relation == "front" and values["kind"] != "approach" and values["e"] not in own:
        flags.add("onward")


def _tell_more(
    facts: Facts,
    place: Place,
    values: dict[str, str],
    flags: set[str],
    voice: Voice,
    rng: np.random.Generator,
) -> None:
    """A second thing about the end, about an object that is not told yet."""
    mentioned = {values[v] for v in ("o", "a", "b", "e", "f", "p") if v in values}
    choices = [
        p for p in facts.places if p.relation in ("ahead", "beside", "quarter") and not mentioned & set(p.objects)
    ]
    if not choices or place.relation in ("ahead", "facing", "between") or rng.random() >= voice.also:
        return
    more = choices[int(rng.integers(len(choices)))]
    values["z"] = more.objects[0]
    flags.add("also")
    if more.relation == "ahead":
        flags.add("also.ahead")
    elif more.side is not None:
        values["c"] = more.side
        flags.add("also.side" if more.relation == "beside" else "also.quarter")
