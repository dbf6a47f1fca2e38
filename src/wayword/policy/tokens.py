"""From an anonymised instruction to the numbers the policy reads.

"past <obj>, then stop"  ->  [past, <obj>, ",", then, stop]  ->  [17, 2, 5, 9, 11], placeholder at 1

Numbers are read as words, "10 o'clock" as "ten o'clock" and "45" as "forty five": people write both. "Past X on its
left" is read as "past X on your right": whoever passes on the left of a thing has it on the right. In the natural train
corpus the two mean the same path every time (23 of 23), but the first is so rare that training hardly learns it.

Words that training met fewer than a few times are all "unknown": the policy reads how to move relative to
objects, never what the objects are, so a few hundred words suffice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.language.anonymise import PLACEHOLDER

PADDING, UNKNOWN, OBJECT = 0, 1, 2
_SPECIAL = ("<pad>", "<unknown>", PLACEHOLDER)
_TOKEN = re.compile(rf"{re.escape(PLACEHOLDER)}|[a-z0-9]+(?:'[a-z]+)?|[.,;:!?]")
_MEASURED = re.compile(r"(\d{1,3})(degrees?|degs?|deg|metres?|meters?|m|cm|oclock)?")
_UNITS = {"deg": "degrees", "degs": "degrees", "m": "metres", "oclock": "o'clock"}
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_MIRRORED = {"left": "right", "clockwise": "counterclockwise", "port": "starboard"}
_OTHER_SIDE = {"left": "right", "right": "left"}
_SPELLED = {"oclock": "o'clock", "anticlockwise": "counterclockwise"}
_BACKWARDS = ("counter", "anti", "contra")
_HOURS = {_SMALL[hour]: _SMALL[12 - hour] for hour in range(1, 12)}
_BEFORE_HOURS = frozenset(("at", "your", "ur", "to", "toward", "towards", "about", "for", "past"))
MOST_TOKENS = 160
"""Longer instructions are cut: several times the longest of the corpus."""


def tokenise(anonymised: str) -> list[str]:
    """Lower-case words, punctuation marks and placeholders."""
    return canonical(_TOKEN.findall(anonymised.lower().replace("\u2019", "'")))[:MOST_TOKENS]


def canonical(tokens: Iterable[str]) -> list[str]:
    """The same with numbers up to 999 as words, and one spelling of "o'clock" and of "counterclockwise"."""
    result: list[str] = []
    for token in tokens:
        if number := _MEASURED.fullmatch(token):
            unit = number[2]
            result += _number_words(int(number[1])) + ([_UNITS.get(unit, unit)] if unit else [])
        elif token == "clockwise" and result and result[-1] in _BACKWARDS:
            result[-1] = "counterclockwise"
        else:
            result.append(_SPELLED.get(token, token))
            if len(result) >= 4 and result[-1] in _OTHER_SIDE and _is_its_side(result[-4:-1]):
                result[-3:] = ["on", "your", _OTHER_SIDE[result[-1]]]
    return result


def _is_its_side(words: Sequence[str]) -> bool:
    """Whether these come before a side of the object: "X on its", "X along his"."""
    return words[0] == PLACEHOLDER and words[1] in ("on", "along") and words[2] in ("its", "his", "her", "their")


def _number_words(number: int) -> list[str]:
    """A number as it is said: 45 is "forty five", 180 "one eighty"."""
    hundreds, rest = divmod(number, 100)
    words = [_SMALL[hundreds]] if hundreds else []
    if hundreds and not rest:
        return [*words, "hundred"]
    if rest < 20:
        return [*words, _SMALL[rest]]
    return [*words, _TENS[rest // 10], *([_SMALL[rest % 10]] if rest % 10 else [])]


def mirrored(tokens: Sequence[str]) -> list[str]:
    """What the instruction would say in a mirror: left for right, port for starboard, ten o'clock for two.

    In a text that speaks of o'clock, "keep it at nine" is an hour as well; "forty five" never is.
    """
    table = {**_MIRRORED, **{b: a for a, b in _MIRRORED.items()}}
    by_the_clock = "o'clock" in tokens
    result: list[str] = []
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else ""
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        if token in table:
            result.append(table[token])
        elif token in _HOURS and (after == "o'clock" or (by_the_clock and before in _BEFORE_HOURS)):
            result.append(_HOURS[token])
        elif token.startswith("left"):  # lefthand, leftmost, left's
            result.append("right" + token[4:])
        elif token.startswith("right"):
            result.append("left" + token[5:])
        else:
            result.append(token)
    return result


@dataclass(frozen=True)
class Vocabulary:
    """The words the policy knows, in the order of their numbers."""

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if not all(isinstance(word, str) for word in self.words):
            raise ValueError("a vocabulary holds words only")
        if self.words[: len(_SPECIAL)] != _SPECIAL:
            raise ValueError(f"a vocabulary starts with {_SPECIAL}")

    @staticmethod
    def build(texts: Iterable[Sequence[str]], least: int = 3) -> Vocabulary:
        """All tokens that occur at least ``least`` times, the most frequent first."""
        counts = Counter(token for tokens in texts for token in tokens)
        words = sorted(
            (t for t, n in counts.items() if n >= least and t not in _SPECIAL), key=lambda t: (-counts[t], t)
        )
        return Vocabulary((*_SPECIAL, *words))

    def __len__(self) -> int:
        return len(self.words)

    def numbers(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """Numbers (L,) of tokens; at least one, since an empty sentence has no states."""
        index = self._index()
        result = [index.get(token, UNKNOWN) for token in tokens]
        return np.array(result or [UNKNOWN], np.int64)

    def _index(self) -> dict[str, int]:
        cached: dict[str, int] | None = self.__dict__.get("_cache")
        if cached is None:
            cached = {word: number for number, word in enumerate(self.words)}
            object.__setattr__(self, "_cache", cached)
        return cached


def placeholders(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Where the object references stand, (R,)."""
    return np.array([i for i, token in enumerate(tokens) if token == PLACEHOLDER], np.int64)
