"""What a noun chunk may not be: it does not cross the end of a sentence, and it does not end in a side.

The chunker learned on whole sentences. In clipped style ("Flower pot starboard. Melon port side") it takes nouns and
sides for one phrase. English has no noun phrase that ends in "left" or "starboard" but for the sides themselves ("your
left", "the far right", "the robot's left"), so what stands before the side is the phrase.
"""

from __future__ import annotations

import re

SIDES = frozenset({"left", "right", "port", "starboard"})
_ENDING = re.compile(r"(?:\s+|-)(?:port|starboard|left|right)(?:(?:\s+|-)hand)?(?:(?:\s+|-)side)?$", re.IGNORECASE)
_BREAK = re.compile(r"[.;!?]+(?=\s)")
_ABBREVIATED = re.compile(
    r"(?:\b[^\W\d_]|\.[^\W\d_]|\b(?:mrs?|ms|dr|prof|capt|gen|col|lt|sgt|rev|gov|sen|st|mt|ave|no|ext|fig|vol|vs|jr|sr|"
    r"inc|co|corp|ltd|pvt|dept|approx|etc|ft|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec))$",
    re.IGNORECASE,
)
"""What a full stop may follow without ending a sentence: "St. Louis", "the U.S. flag"."""
_TURN = re.compile(
    r"(?:an?(?:other)?|your|ur|my|its|his|her|their|our|one|each|every|any|either|no)\s|.*\d", re.IGNORECASE
)
"""How a phrase begins whose noun is the side: "a wide left", "your immediate right", "another left", "90 left"."""
_OF_A_SIDE = SIDES | {
    "the", "a", "an", "this", "that", "your", "ur", "my", "its", "his", "her", "their", "our", "far", "near", "hard",
    "immediate", "extreme", "direct", "slight", "sharp", "front", "back", "rear", "top", "bottom", "upper", "lower",
    "outer", "inner", "opposite", "other", "very", "complete", "stage", "and", "or", "to", "of", "on", "gentle",
    "quick", "soft", "wide", "tight", "full", "half", "small", "big", "little", "long", "short", "slow", "steep",
    "easy", "degree", "degrees", "bit", "touch", "another", "same", "next", "first", "second", "third", "last", "final",
}  # fmt: skip
"""Words that can stand before a side inside of its own phrase."""


def tidy(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A chunk [start, end) of ``text`` as the parts that can be noun phrases.

    "Flower pot starboard. Melon port" becomes "Flower pot" and "Melon".
    """
    parts = []
    for first, last in _sentences(text, start, end):
        parts.append((first, first + len(without_side(text[first:last]))))
    return parts


def without_side(phrase: str) -> str:
    """``phrase`` without the side it ends in, if that is none of its own: "drum port side" is "drum"."""
    match = _ENDING.search(phrase)
    if match is None:
        return phrase
    before = phrase[: match.start()].split()
    last = before[-1].lower() if before else "the"
    if last in _OF_A_SIDE or _TURN.match(phrase) or last.endswith(("'s", "’s", "s'", "s’")):
        return phrase
    return without_side(phrase[: match.start()].rstrip(" ,"))


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The parts of [start, end) between ends of sentences, without the space around them."""
    cuts = [start]
    for match in _BREAK.finditer(text, start, end):
        if match[0] != "." or not _ABBREVIATED.search(text[start : match.start()]):
            cuts += [match.start(), match.end()]
    cuts.append(end)
    parts = []
    for first, last in zip(cuts[::2], cuts[1::2], strict=True):
        inside = text[first:last]
        first, last = first + len(inside) - len(inside.lstrip()), first + len(inside.rstrip())
        if last > first:
            parts.append((first, last))
    return parts
