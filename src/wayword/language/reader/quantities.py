"""Lengths and angles in a text: "thirty centimetres", "a metre and a half", "two steps", "four five degrees", "90".

A step is 0.5 m, a foot 0.3 m, a yard 0.9 m, as people who fly by eye count. What a number without a unit means (metres,
degrees, or which of the steps of a list) is for the reader to say; small numbers in words stay words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from wayword.language.reader.program import Quantity

UNITS: dict[str, tuple[float, Quantity]] = {
    r"centi\W?met(?:re|er|ere|ers|res)s?|centimes?|centis?|cms?": (0.01, "m"),
    r"milli\W?met(?:re|er)s?|mm": (0.001, "m"),
    r"met(?:re|er|ers|res|ros?)s?|met(?:re|er)es|metr|mtrs?|mts?|m": (1.0, "m"),
    r"feets?|foots?|ft": (0.3, "m"),
    r"yards?|yds?": (0.9, "m"),
    r"(?:baby |big |small |little |good |full |short |long )?(?:steps?|paces?|strides?|footsteps?)": (0.5, "m"),
    r"inch(?:es)?": (0.025, "m"),
    r"degrees?|degs?|degress?|grades?|°|º": (1.0, "deg"),
}
NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
SMALL = {word: value for value, word in enumerate(NUMBER_WORDS)} | {"niner": 9, "fife": 5, "tree": 3, "oh": 0}
TENS = {
    word: 10 * value
    for value, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
TENS["fourty"] = 40

_WORDS = "|".join((*TENS, *sorted(SMALL, key=len, reverse=True)))
_UNIT = "|".join(f"(?P<u{number}>{pattern})" for number, pattern in enumerate(UNITS))
_NUMBER_WORDS = rf"(?:{_WORDS}|hundred)(?:(?:[ -]|\s+and\s+)(?:{_WORDS}|hundred))*"
_POINT = rf"(?:{_WORDS})\s+(?:point|decimal)\s+(?:{_WORDS})(?:\s+(?:{_WORDS}))?"
_DIGITS = r"\d+(?:[.,]\d+)?|\.\d+|\d+\s?/\s?\d+|[½¼¾]"
_FRACTION = r"half|quarter|three[ -]quarters|third|tenth"
_WHOLE = (
    rf"(?:(?P<digits>{_DIGITS})|(?P<point>{_POINT})|(?P<couple>(?:a )?couple(?: of)?)|(?P<spoken>{_NUMBER_WORDS})"
    rf"|(?:an? )?(?P<fraction>{_FRACTION})(?:\s+of)?(?:\s+an?)?|(?P<one>an?|another|1 single|a single|single))"
)
_MEASURED = re.compile(
    rf"(?<![\w.,]){_WHOLE}(?P<half> and (?:a |one )?(?:half|quarter))?(?:\s*|-)(?:{_UNIT})(?![^\W\d_])"
    rf"(?P<after_half> and (?:a |one )?(?:half|quarter))?",
    re.IGNORECASE,
)
_NOT_MORE = re.compile(r"not (?:an?|one) \w+ (?:more|further|less|closer)\b", re.IGNORECASE)
"""Emphasis, no length: "a quarter turn, and not an inch more"."""
_BARE = re.compile(
    rf"(?<![\w.,])(?:(?P<digits>\d+(?:\.\d+)?)|(?P<point>{_POINT})|(?P<spoken>{_NUMBER_WORDS}))(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    rf"(?<![\w.,])(?:(?P<digits>1[0-2]|[1-9])|(?P<spoken>{'|'.join(NUMBER_WORDS[1:13])}))"
    r"(?:\s*o\s?['’`]?\s?clock)(?![^\W_])",
    re.IGNORECASE,
)
_PLAIN_HOURS = frozenset({3, 6, 9, 12})
"""Hours that are sides: right, behind, left, ahead. The network knows them as words."""
_SIGNS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_FRACTIONS = {"half": 0.5, "quarter": 0.25, "third": 1 / 3, "tenth": 0.1}


@dataclass(frozen=True)
class Measure:
    """Characters [start, end) of the text say ``value`` metres or degrees, or a number without a unit."""

    start: int
    end: int
    value: float
    kind: Quantity
    side: int = 0
    """Of an angle that says its side itself, as hours do: 1 left, -1 right."""


def find_measures(text: str) -> list[Measure]:
    """Every length, angle and larger bare number of ``text``, in order and disjoint."""
    measures: list[Measure] = []
    emphasis = [match.span() for match in _NOT_MORE.finditer(text)]
    for match in _MEASURED.finditer(text):
        if any(start <= match.start() < end for start, end in emphasis):
            continue
        factor, kind = next(UNITS[pattern] for number, pattern in enumerate(UNITS) if match[f"u{number}"] is not None)
        value = _value(match)
        for group in ("half", "after_half"):
            if match[group]:
                value += 0.25 if match[group].lower().endswith("quarter") else 0.5
        measures.append(Measure(match.start(), match.end(), round(value * factor, 4), kind))
    measures += _clock_angles(text)
    spans = [(measure.start, measure.end) for measure in measures]
    for match in _BARE.finditer(text):
        value = _value_of_bare(match)
        is_number = match["spoken"] is None or value >= 10
        if is_number and all(match.end() <= start or match.start() >= end for start, end in spans):
            measures.append(Measure(match.start(), match.end(), value, "bare"))
    return sorted(measures, key=lambda measure: measure.start)


def is_measure(phrase: str) -> bool:
    """Whether a phrase is a length or an angle and nothing else: "1.5 metres"."""
    return any((each.start, each.end) == (0, len(phrase)) for each in find_measures(phrase))


def _clock_angles(text: str) -> list[Measure]:
    """Hours as angles: "two o'clock" is 60 degrees to the right."""
    angles = []
    for match in _CLOCK.finditer(text):
        hour = int(match["digits"]) if match["digits"] else NUMBER_WORDS.index(match["spoken"].lower())
        if hour not in _PLAIN_HOURS:
            value, side = (30.0 * hour, -1) if hour < 6 else (30.0 * (12 - hour), 1)
            angles.append(Measure(match.start(), match.end(), value, "deg", side))
    return angles


def _value_of_bare(match: re.Match[str]) -> float:
    if match["digits"]:
        return float(match["digits"])
    return _pointed(match["point"]) if match["point"] else spoken_number(match["spoken"])


def _pointed(words: str) -> float:
    """ "One point five" is 1.5."""
    whole, decimals = re.split(r"\s+(?:point|decimal)\s+", words.lower())
    return float(f"{spoken_number(whole):.0f}." + "".join(str(SMALL.get(word, 0)) for word in decimals.split()))


def _value(match: re.Match[str]) -> float:
    if match["digits"]:
        return _digits(match["digits"])
    if match["point"]:
        return _pointed(match["point"])
    if match["couple"]:
        return 2.0
    if match["spoken"]:
        return spoken_number(match["spoken"])
    if match["fraction"]:
        return 0.75 if match["fraction"].lower().startswith("three") else _FRACTIONS[match["fraction"].lower()]
    return 1.0


def _digits(text: str) -> float:
    if text in _SIGNS:
        return _SIGNS[text]
    if "/" in text:
        above, below = text.split("/")
        return float(above) / max(1.0, float(below))
    return float(text.replace(",", "."))


def spoken_number(text: str) -> float:
    """ "forty-five" and "four five" are 45, "one eighty" is 180, "a hundred and twenty" 120."""
    total = 0.0
    for word in re.split(r"[\s-]+", text.lower()):
        if word == "hundred":
            total = (total or 1) * 100
        elif word in TENS:
            total = total * 100 + TENS[word] if 0 < total < 10 else total + TENS[word]
        elif word in SMALL:
            value = SMALL[word]
            follows_tens = total >= 20 and total % 10 == 0 and 0 < value < 10 and not _spelt_out(text)
            if total and not follows_tens and value < 10 and total % 100 != 0:
                total = total * 10 + value  # digit by digit, as on the radio
            elif 0 < total < 10 and value >= 10:
                total = total * 100 + value
            else:
                total += value
    return total


def _spelt_out(text: str) -> bool:
    """Whether a number is said digit by digit."""
    return all(word in SMALL and SMALL[word] < 10 for word in re.split(r"[\s-]+", text.lower()))
