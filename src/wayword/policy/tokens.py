"""From an anonymised instruction to the numbers the policy reads.

"past <obj>, then stop"  ->  [past, <obj>, ",", then, stop]  ->  [17, 2, 5, 9, 11], placeholder at 1

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
_MIRRORED = {"left": "right", "clockwise": "counterclockwise"}
MOST_TOKENS = 160
"""Longer instructions are cut: several times the longest of the corpus."""


def tokenise(anonymised: str) -> list[str]:
    """Lower-case words, punctuation marks and placeholders."""
    return _TOKEN.findall(anonymised.lower().replace("\u2019", "'"))[:MOST_TOKENS]


def mirrored(tokens: Sequence[str]) -> list[str]:
    """What the instruction would say in a mirror: left for right, clockwise for counterclockwise."""
    table = {**_MIRRORED, **{b: a for a, b in _MIRRORED.items()}, "anticlockwise": "clockwise"}
    result = []
    for token in tokens:
        if token in table:
            result.append(table[token])
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
        if self.words[: len(_SPECIAL)] != _SPECIAL:
            raise ValueError(f"a vocabulary starts with {_SPECIAL}")

    @staticmethod
    def build(texts: Iterable[Sequence[str]], least: int = 3) -> Vocabulary:
        """All tokens that occur at least ``least`` times, the most frequent first."""
        counts = Counter(token for tokens in texts for token in tokens)
        kept = sorted((t for t, n in counts.items() if n >= least and t not in _SPECIAL), key=lambda t: (-counts[t], t))
        return Vocabulary((*_SPECIAL, *kept))

    def __len__(self) -> int:
        return len(self.words)

    def numbers(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """Numbers (L,) of tokens; at least one, since an empty sentence has no states."""
        index = self._index()
        found = [index.get(token, UNKNOWN) for token in tokens]
        return np.array(found or [UNKNOWN], np.int64)

    def _index(self) -> dict[str, int]:
        cached: dict[str, int] | None = self.__dict__.get("_cache")
        if cached is None:
            cached = {word: number for number, word in enumerate(self.words)}
            object.__setattr__(self, "_cache", cached)
        return cached


def placeholders(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Where the object references stand, (R,)."""
    return np.array([i for i, token in enumerate(tokens) if token == PLACEHOLDER], np.int64)
