"""More commands from those that were written: mirrored, with other numbers, joined, chatted around.

Each change is made to text and steps alike, so that what comes out means what its steps say. What cannot be changed
safely is left as it is ("right now" has no side).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from wayword.episodes.commands import Command, Select, Step, Until
from wayword.language.reader.quantities import find_measures
from wayword.learning.language.augment import misspell
from wayword.learning.language.reader_forms import SLOT, Rng, angle, forms, length, pick_form, slots

_SIDES = {
    "left": "right", "port": "starboard", "leftmost": "rightmost", "lefthand": "righthand", "leftward": "rightward",
    "leftwards": "rightwards", "lefty": "righty", "lft": "rgt", "lfet": "rihgt", "leff": "rite", "lef": "rigt",
    "l": "r", "cw": "ccw", "lefts": "rights",
}  # fmt: skip
_OTHER = {**_SIDES, **{value: key for key, value in _SIDES.items()}}
_CLOCKWISE = re.compile(r"\b(?:(counter|anti|contra|conter|couter)[ -]?)?(clock[ -]?wise|clokwise)\b", re.IGNORECASE)
_IDIOM = re.compile(
    r"\bright (?:now|away|there|here|in|at|up|next|before|after|angles?|between|through|over|beside|by|into|past)\b"
    r"|\bright (?:across|around|round|and proper|then|so|where|when|as|down|under|above|along|against|thing|one)\b"
    r"|\bright (?:enough|back|out|off|this|about|close|near|behind)\b|^right[,.!:]|[.!?] right[,.!:]|\bright\?"
    r"|\b(?:all|that's|thats|that is|am i|is that|not) right\b|\bleft (?:over|behind|alone|it|me|us|my)\b"
    r"|\b(?:is|are|be|was|'s|what's|have|has|had|i|we|you|they|who) left\b"
    r"|\bright (?:up )?to \{|\bgo right \{|\bo'?clock\b|\b(?:east|west|north|south)\b",
    re.IGNORECASE,
)
_SIDE_WORD = re.compile(r"\b(" + "|".join(sorted(_OTHER, key=len, reverse=True)) + r")\b", re.IGNORECASE)
_SWAP = {"left": "right", "right": "left", "cw": "ccw", "ccw": "cw", "leftmost": "rightmost", "rightmost": "leftmost",
         "nearest-left": "nearest-right", "nearest-right": "nearest-left"}  # fmt: skip


def mirror(command: Command) -> Command | None:
    """Left and right exchanged; None where there is no side or the text may mean something else by "right"."""
    steps = tuple(_mirrored(step) for step in command.steps)
    select: dict[str, Select] = {
        key: replace(rule, rule=_SWAP.get(rule.rule, rule.rule))  # type: ignore[arg-type]
        for key, rule in command.select.items()
    }
    if (steps, select) == (command.steps, dict(command.select)) or _IDIOM.search(command.text):
        return None
    text, turned = _CLOCKWISE.subn(_other_way, command.text)
    text, changed = _SIDE_WORD.subn(lambda match: _like(match[0], _OTHER[match[0].lower()]), text)
    return Command(text, steps, command.family, select) if changed or turned else None


def _other_way(match: re.Match[str]) -> str:
    return "clockwise" if match[1] else "counterclockwise"


def _like(model: str, word: str) -> str:
    return word.upper() if model.isupper() and len(model) > 1 else word.capitalize() if model[0].isupper() else word


def _mirrored(step: Step) -> Step:
    until = step.until
    if until is not None:
        until = Until(until.object, _SWAP.get(until.is_, until.is_))  # type: ignore[arg-type]
    half = abs(step.degrees) == 180
    return replace(
        step,
        stop=_SWAP.get(step.stop, step.stop),  # type: ignore[arg-type]
        on=_SWAP.get(step.on, step.on),  # type: ignore[arg-type]
        direction=_SWAP.get(step.direction, step.direction),  # type: ignore[arg-type]
        degrees=step.degrees if half or not step.degrees else -step.degrees,
        metres=-step.metres if step.do == "sideways" and step.metres else step.metres,
        until=until,
    )


def renumber(command: Command, rng: Rng) -> Command | None:
    """Lengths and angles exchanged for others; None if there are none or they cannot be told apart."""
    measures = find_measures(command.text)
    values = [abs(value) for step in command.steps for value in _numbers(step)]
    if len({m.value for m in measures}) != len(measures) or len(set(values)) != len(values):
        return None
    changes: dict[float, float] = {}
    text, shift = command.text, 0
    for measure in measures:
        if measure.value not in values or measure.kind == "bare":
            continue
        value, words = angle(rng) if measure.kind == "deg" else length(rng)
        changes[measure.value] = value
        start, end = measure.start + shift, measure.end + shift
        text = text[:start] + words + text[end:]
        shift += len(words) - (measure.end - measure.start)
    if not changes or len(set(changes.values())) != len(changes):
        return None
    return replace(command, text=text, steps=tuple(_changed(step, changes) for step in command.steps))


def _numbers(step: Step) -> list[float]:
    values = [step.distance_m, step.metres, step.degrees if step.do == "turn" else None]
    return [value for value in values if value is not None]


def _changed(step: Step, changes: Mapping[float, float]) -> Step:
    def other(value: float | None) -> float | None:
        if value is None or abs(value) not in changes:
            return value
        return changes[abs(value)] * (1 if value > 0 else -1)

    degrees = other(step.degrees) if step.do == "turn" else step.degrees
    return replace(step, distance_m=other(step.distance_m), metres=other(step.metres), degrees=degrees or 0.0)


def rename(command: Command, names: Mapping[str, str]) -> Command:
    """Slots and selected objects under other names."""
    text = SLOT.sub(lambda match: "{" + names[match[1]] + "}", command.text)
    select = {
        names[key]: replace(rule, of=None if rule.of is None else names[rule.of])
        for key, rule in command.select.items()
    }
    return Command(text, tuple(step.renamed(lambda key: names[key]) for step in command.steps), command.family, select)


def join_commands(first: Command, second: Command, rng: Rng) -> Command:
    """Two commands as one; a quarter of them speak of the same object twice."""
    here, there = slots(first.text), slots(second.text)
    used = [*here, *first.select]
    names: dict[str, str] = {}
    for key in (*there, *second.select):
        shared = key in there and rng.random() < 0.25
        candidates = [slot for slot in here if slot not in names.values()]
        names[key] = (
            str(rng.choice(candidates)) if shared and candidates else f"N{len(used) + len(names)}x{len(first.text)}"
        )
    second = rename(second, names)
    imperative = all(_opens_with_verb(each.text) for each in (first, second))
    a, b = _clause(first.text), _clause(second.text)
    if imperative and rng.random() < 0.3 and not any(step.do == "stay" for step in second.steps[:1]):
        text = pick_form(forms()["reversed"], rng).replace("{a}", a).replace("{b}", b)
    else:
        connect = pick_form(forms()["connect"], rng)
        later = second.text if connect in (". {b}", "\n{b}") else b
        text = first.text.rstrip(" .!;,") + connect.replace("{b}", later)
        if re.search(r"[!?.]\s*$", first.text) and connect == ". {b}":
            text = f"{first.text.rstrip()} {second.text}"
    return Command(text, first.steps + second.steps, "compound", {**first.select, **second.select})


_MOVES = frozenset({"forward", "back", "sideways", "turn"})
_COUNTED = re.compile(r"\b(?:\w+ times|twice|thrice|once|again|repeat|each|every|\d+x)\b|:", re.IGNORECASE)
_MOST_STEPS = 9
"""Of a run of moves that is said at once."""


def repeat(command: Command, rng: Rng) -> Command | None:
    """Moves that are said once and flown several times; None where a number may mean something else."""
    steps = command.steps
    plain = all(step.do in _MOVES and step.until is None and abs(step.degrees) < 360 for step in steps)
    most = min(6, _MOST_STEPS // max(1, len(steps)))
    if not plain or most < 2 or _COUNTED.search(command.text) or re.search(r"[.!?]\s+\S", command.text):
        return None
    count = int(rng.integers(2, most + 1))
    ways, text = forms()["repeat"], _clause(command.text)
    again = ways.get(str(count))
    if again and rng.random() < 0.4:
        form = pick_form(again, rng)
    else:
        one = len(steps) == 1 and rng.random() < 0.5
        form = pick_form(ways["one" if one else "any"], rng).replace("NN", pick_form(forms()["times"][str(count)], rng))
    return replace(command, text=form.replace("{a}", text), steps=steps * count)


def _opens_with_verb(text: str) -> bool:
    return text.split()[0].lower().strip(",.!") in forms()["verbs"] and not re.search(r"[.!?;:]\s*\S", text)


def _clause(text: str) -> str:
    """A sentence as part of another: without its full stop and capital."""
    text = text.strip().rstrip(" .!;")
    return text if text[:1] == "{" or text[:2] in ("I ", "I'") else text[:1].lower() + text[1:]


def chat(command: Command, rng: Rng) -> Command:
    """Words around a command that change nothing."""
    text = command.text
    if rng.random() < 0.7 and "?" not in text:
        before = pick_form(forms()["before_words"], rng)
        needs_verb = not before.endswith((",", ":", "!")) and before not in (
            "please",
            "ok",
            "hey",
            "um",
            "uh",
            "now",
            "just",
        )
        if not needs_verb or _opens_with_verb(text):
            text = f"{before} {_clause(text)}"
    if rng.random() < 0.4:
        text = f"{text.rstrip(' .!')}{rng.choice([',', '', '.'])} {pick_form(forms()['after_words'], rng)}"
    return replace(command, text=text)


def rough(text: str, rng: Rng) -> str:
    """A text as it is typed in a hurry: slots stay, words get typos, commas are dropped."""
    parts = re.split(r"(\{\w+\})", text)
    share = float(rng.choice([0.04, 0.1]))
    drop = rng.random() < 0.4
    for number in range(0, len(parts), 2):
        part = parts[number]
        if drop:
            part = re.sub(r"(?<=\S)[,.;:!?]+(?=\s|$)", "", part)
        part = re.sub(
            r"[A-Za-z]{4,}", lambda match: misspell(match[0], rng) if rng.random() < share else match[0], part
        )
        parts[number] = part
    return "".join(parts)


def synonyms(command: Command, rng: Rng) -> Command:
    """Some words exchanged for others of the same meaning."""
    text = command.text
    for pattern, others in forms()["synonyms"]:
        if rng.random() < 0.5:
            text = re.sub(pattern, pick_form(others, rng), text, flags=re.IGNORECASE)
    return replace(command, text=text)
