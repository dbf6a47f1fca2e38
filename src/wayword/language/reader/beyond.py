"""What a text asks for that no step can say: compass points, sizes, conditions, everything there is.

The network has steps only and takes the nearest one: the biggest thing is the farthest, north is home, "unless" is
nothing at all. Each rule is words of English that ask for such a thing, whatever the objects are called; a text that
only uses them ("unless you fancy the wall", "everything is fine") is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from wayword.episodes.commands import Step
from wayword.language.reader.mentions import TextMention

_POINT = r"(?:north|south|east|west)(?:[- ]?(?:east|west))?(?:wards?)?"
_COMPASS = re.compile(
    r"\b(?:go|going|fly|flying|head|heading|turn|face|facing|move|moving|continue|metres?|meters?)"
    rf"(?:\s+(?:to|towards?|the|due|straight|a bit))*\s+{_POINT}\b|\bto the {_POINT} of\b|^\W*{_POINT}\W*$",
    re.IGNORECASE,
)
_GREATEST = r"(?:biggest|smallest|largest|tallest|heaviest|lightest|widest|thickest|thinnest|oldest|newest|brightest)"
_NOUN = r"(?:things?|objects?|items?|one)"
_SIZES = re.compile(
    rf"\b(?:go|fly|head|get|find|visit|pass|circle|orbit|approach|to|round|around|by|at)\s+(?:the\s+)?{_GREATEST}"
    rf"(?=\s+{_NOUN}\b|\s+(?:of|in|on|here|there|you)\b|\W*$|\s*[,;.])",
    re.IGNORECASE,
)
_SUBJECT = r"(?:(?:the|an?|this|that|my|your)\s+\w+(?:\s+\w+)?|it|there)"
_CONDITION = re.compile(
    rf"\bunless\s+{_SUBJECT}(?:\s+(?:is|are|was|has|looks|turns|isn['’]t)|['’]s)\b[^.;!?]*"
    r"|\bif\b[^.!?]*[,;]\s*(?:otherwise|or else|if not|else)\b[^.!?]*",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"\b(?:visit|tour|inspect|circle|pass|(?:go|fly)\s+(?:to|past|by|round|around))\s+"
    r"(?:everything|all(?:\s+of)?(?:\s+the)?\s+(?:things|objects|items)|(?:each|every)\s+(?:thing|object|item))\b"
    r"(?!\s+(?:except|but|save|from|on)\b)",
    re.IGNORECASE,
)
_AMOUNT = r"(?:\d|an?\b|one\b|two\b|three\b|half\b|some\b)"
_HEIGHT = re.compile(
    rf"\b(?:climb|ascend|descend|rise)(?:\s+(?:up|down|to|by|about|another))*\s+{_AMOUNT}[\w.,]*"
    rf"(?:\s+(?:a|metres?|meters?|m|cm|feet|foot|ft|steps?|bit|little)\b)*"
    rf"|\b(?:go|fly|move)\s+(?:straight\s+)?(?:up|down)\s+(?:(?:to|by)\s+)?{_AMOUNT}[\w.,]*\s*(?:metres?|meters?|m|cm|feet|foot|ft)\b"
    r"(?!\s+(?:from|of|off|away|short)\b)",
    re.IGNORECASE,
)


_CHOICE = re.compile(
    r"\b(?:nearest|closest|farthest|furthest|leftmost|rightmost)\s+(?P<kind>[a-z]+)\b(?:\s+(?:thing|object|item|one)\b)?",
    re.IGNORECASE,
)


_ANY = frozenset({
    "a", "and", "at", "by", "from", "in", "item", "items", "object", "objects", "of", "on", "one", "ones", "point",
    "side", "the", "then", "thing", "things", "to", "with",
})  # fmt: skip


def choice_among_some(text: str, kinds: Iterable[str]) -> str | None:
    """What is said about "the closest brick", which rules over all things do not choose; None if it is no such kind.

    ``kinds`` are words that tell things of the database apart.
    """
    some = frozenset(kinds) - _ANY
    match = next((each for each in _CHOICE.finditer(text) if each["kind"].lower() in some), None)
    return match and f'I choose among all things and cannot tell "the {match[0]}": name it, or say the nearest thing'


def beyond_steps(text: str, steps: Sequence[Step], mentions: Iterable[TextMention] = ()) -> str | None:
    """What is said about the first thing a text asks for beyond ``steps``; None if they say all of it.

    Words of exact names among ``mentions`` ("the north star") ask for nothing.
    """
    original = text
    for each in mentions:
        if each.mark == "exact":
            text = text[: each.start] + "_" * (each.end - each.start) + text[each.end :]

    def quoted(match: re.Match[str]) -> str:
        return " ".join(original[match.start() : match.end()].split())

    if match := _COMPASS.search(text):
        return f'I have no compass and do not know "{quoted(match)}": say left, right, ahead, behind or back'
    if match := _SIZES.search(text):
        return f'I compare no sizes or looks and cannot tell "{quoted(match)}": name it, or say the nearest'
    if match := _EVERYTHING.search(text):
        return f'I go to one thing after the other and not to "{quoted(match)}": name them'
    if match := _HEIGHT.search(text):
        return f'I keep one height and cannot "{quoted(match)}": leave it out'
    if all(step.until is None for step in steps) and (match := _CONDITION.search(text)):
        return f'I cannot find out "{quoted(match)}" before I fly: say what to do without a condition'
    return None
