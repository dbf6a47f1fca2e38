"""How many times round: "five times around the tub", "two and a half laps", "spin twice".

The network has words for a few numbers of turns and was taught with fewer. A text that says one number of turns, and
has one step that it can belong to, is taken at its word. Halves and quarters alone ("half a lap") the network knows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from wayword.episodes.commands import Step
from wayword.language.reader.quantities import NUMBER_WORDS

MOST_TURNS = 10.0
QUARTER, BIT_TURNED_DEG = 90.0, 30.0
"""Degrees of a turn of which nobody says how far, and of "a bit"."""
_NUMBERS = {word: float(number) for number, word in enumerate(NUMBER_WORDS[:11]) if number} | {"couple of": 2.0}
_ADVERBS = {"twice": 2.0, "thrice": 3.0}
_PARTS = {"half": 0.5, "quarter": 0.25, "three quarters": 0.75}
_AND = rf"(?:\s+and\s+(?:an?\s+|one\s+)?(?P<part>{'|'.join(_PARTS)}))?"
_HOW = (
    r"(?:(?:full|complete|whole|entire|more|clock-?wise|(?:anti|counter)[- ]?clock-?wise|c?cw|(?:left|right)[- ]hand"
    r"|slow|quick|big|tight|wide)\s+){0,2}"
)
_ROUNDS = r"(?:times|x|laps?|rounds?|circuits?|orbits?|loops?|circles?|revolutions?|rotations?|turns?|spins?|twirls?)"
_COUNT = re.compile(
    rf"(?<![\w.,/])(?:(?P<digits>\d+(?:\.\d+)?)|(?P<word>{'|'.join(_NUMBERS)})){_AND}\s*{_HOW}{_ROUNDS}(?!\w)"
    rf"|\b(?P<adverb>{'|'.join(_ADVERBS)})\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:once|half|quarters?|one|two|three|four|five)\b(?! (?:met|cent|step|feet|foot))", re.IGNORECASE
)
"""What may be another number of turns: "two laps, no sorry, three"."""
_SPIN = re.compile(
    r"\b(?:spin|spins|twirls?|pirouettes?|revolutions?|rotations?|(?:full|complete|whole) (?:turns?|circles?)|360s?)\b",
    re.IGNORECASE,
)
_THREE_QUARTERS = re.compile(r"\bthree[- ]quarters?(?: of an?)?[- ](?:turn|spin|rotation)\b", re.IGNORECASE)
_BIT = re.compile(
    r"\b(?:turn|rotate|yaw|pivot|swivel)\b(?: (?:to|the|your|left|right|just))*"
    r" (?:slightly|a (?:tiny |little |small )?(?:bit|touch|tad|smidge)|a little)\b",
    re.IGNORECASE,
)
_EXACT = re.compile(r"\d|\b(?:degrees?|ninety|quarter)\b", re.IGNORECASE)


def with_counts(steps: Sequence[Step], text: str) -> tuple[Step, ...]:
    """``steps`` with the number of turns that the text says, where it can only belong to one of them."""
    circles = [step for step in steps if step.do == "circle"]
    moves = [step for step in steps if step.do in ("forward", "back", "sideways", "turn")]
    if len(set(moves)) < len(moves):
        return tuple(steps)  # "a metre back three times, then circle the globe": the number may be theirs
    turns = [step for step in steps if step.do == "turn"]
    if len(circles) == 1:
        count = _only_count(text)
        return tuple(replace(step, turns=count) if count and step.do == "circle" else step for step in steps)
    if len(turns) == 1 and not circles:
        count = 0.75 if _THREE_QUARTERS.search(text) else _only_count(text) if _SPIN.search(text) else None
        if abs(turns[0].degrees) == QUARTER and _BIT.search(text) and not _EXACT.search(text):
            count = BIT_TURNED_DEG / 360
        degrees = math.copysign(360 * (count or 0), turns[0].degrees)
        return tuple(replace(step, degrees=degrees) if count and step.do == "turn" else step for step in steps)
    return tuple(steps)


def _only_count(text: str) -> float | None:
    """The one number of turns in a text, if it is more than one turn."""
    matches = list(_COUNT.finditer(text))
    if len(matches) != 1 or _OTHER.search(_COUNT.sub(" ", text)):
        return None
    (match,) = matches
    if match["adverb"]:
        return _ADVERBS[match["adverb"].lower()]
    whole = float(match["digits"]) if match["digits"] else _NUMBERS[match["word"].lower()]
    count = whole + _PARTS.get((match["part"] or "").lower(), 0.0)
    return count if 1 < count <= MOST_TURNS else None
