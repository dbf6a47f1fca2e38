"""Ways to say things, from ``data/reader_forms.json``: forms of the grammar and words around commands.

In a form, braces hold slots, brackets hold words to choose from, and two capitals stand for what is drawn: ``MM`` a
length, ``GG`` an angle, ``TT`` and ``TN`` a number of turns, ``DD`` a direction, ``LL`` a list of things, ``WW`` how
to go and ``UU`` "until".
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from wayword.language.reader.quantities import NUMBER_WORDS

Rng = np.random.Generator
PATH = Path(__file__).parent / "data" / "reader_forms.json"
SLOT = re.compile(r"\{(\w+)\}")
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SIDES = {
    "left": "right", "right": "left", "port": "starboard", "anticlockwise": "clockwise", "leftwards": "rightwards",
    "counterclockwise": "clockwise",
}  # fmt: skip

_TENS = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ANGLES = (5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 75, 80, 90, 100, 110, 120, 135, 150, 180, 270)
_CENTIMETRES = (10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 65, 70, 75, 80, 85, 90, 120, 150)
_TENTHS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 25, 30, 35, 40)
_FIXED = (
    (0.5, "half a metre"), (1.5, "a metre and a half"), (1.5, "one and a half meters"), (1.0, "a metre"),
    (1.0, "one meter"),
    (2.5, "two and a half metres"), (0.25, "a quarter of a metre"), (0.75, "three quarters of a metre"),
    (2.0, "a couple of metres"),
)  # fmt: skip


@cache
def forms() -> dict[str, Any]:
    """The file, with its two common choices put in."""
    text = PATH.read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    for name in ("GO", "STOP"):
        text = re.sub(rf"\b{name}\b(?!\":)", lambda _, name=name: loaded[name], text)  # type: ignore[misc]
    filled: dict[str, Any] = json.loads(text)
    return filled


def pick_form(choices: Sequence[str], rng: Rng) -> str:
    """One of the forms, its brackets decided."""
    text = choices[int(rng.integers(len(choices)))]
    while match := _CHOICE.search(text):
        words = match[1].split("|")
        text = text[: match.start()] + words[int(rng.integers(len(words)))] + text[match.end() :]
    return text


def to_the_right(text: str) -> str:
    """A form that says left, said of the right."""
    pattern = rf"\b({'|'.join(_SIDES)})\b"
    return re.sub(pattern, lambda match: _SIDES[match[0]], text)


def slots(text: str) -> list[str]:
    """Slots of a text, each once; those of a command in the making may have any name."""
    return list(dict.fromkeys(SLOT.findall(text)))


def number_in_words(number: int) -> str:
    """45 as "forty-five"."""
    if number < 20:
        return NUMBER_WORDS[number]
    if number < 100:
        return _TENS[number // 10] + (f"-{NUMBER_WORDS[number % 10]}" if number % 10 else "")
    rest = f" and {number_in_words(number % 100)}" if number % 100 else ""
    return ("a hundred" if number < 200 else f"{NUMBER_WORDS[number // 100]} hundred") + rest


def angle(rng: Rng) -> tuple[float, str]:
    """Degrees, and words for them."""
    value = int(rng.choice(_ANGLES))
    wordings = (
        f"{value} degrees",
        f"{value} deg",
        f"{value}°",
        f"{number_in_words(value)} degrees",
        f"{number_in_words(value)} degrees",
    )
    return float(value), wordings[int(rng.integers(len(wordings)))]


def length(rng: Rng) -> tuple[float, str]:
    """Metres, and words for them in one of six units."""
    unit = int(rng.integers(6))
    digits = rng.random() < 0.45
    if unit == 0:
        value = int(rng.choice(_CENTIMETRES))
        name = str(rng.choice(["cm", "centimetres", "centimeters"]))
        return (
            value / 100,
            f"{value}{rng.choice(['', ' ']) if name == 'cm' else ' '}{name}"
            if digits
            else f"{number_in_words(value)} {name}",
        )
    if unit in (1, 2, 3):
        metres, names, most = ((0.3, ("foot", "feet"), 8), (0.5, ("step", "steps"), 7), (0.9, ("yard", "yards"), 4))[
            unit - 1
        ]
        count = int(rng.integers(1, most))
        return round(metres * count, 2), f"{count if digits else number_in_words(count)} {names[count > 1]}"
    if unit == 4:
        return _FIXED[int(rng.integers(len(_FIXED)))]
    tenths = int(rng.choice(_TENTHS))
    if tenths % 10 == 0 and not digits:
        return tenths / 10, f"{number_in_words(tenths // 10)} metre{'s' if tenths > 10 else ''}"
    return tenths / 10, f"{tenths / 10:g}{rng.choice(['m', ' m', ' metres', ' meters'])}"
