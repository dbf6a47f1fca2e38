"""Spelling: unknown words become the nearest word of the instruction vocabulary and the object database.

The encoder cannot see through misspellings ("barell" and "barrel" have cosine 0.26), so they are put right
first. The step is conservative: a known word, a number and a word with digits are never touched, and an unknown word
is left as it is unless a known one is clearly near. Of words with fewer than four letters, only slips of the most
common words are put right (``short_typos``).

    score(w | typed) = typing_cost(typed, w) - prior_weight * log10(frequency of w)

Offsets into the corrected text can be mapped back to the original with ``CorrectedText.to_original``.
"""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.errors import DataError
from wayword.language.edit_distance import typing_cost
from wayword.language.encoder import check_text
from wayword.language.short_typos import ShortTypos

VOCABULARY = Path(__file__).parent / "data" / "vocabulary.txt.gz"
SUFFIXES = ("s", "es", "ed", "ing", "ly", "er", "est", "ish", "y", "less", "like", "ward", "wards")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\w+")
_PLAIN = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class SpellingConfig:
    """How far a word may be moved.

    Attributes:
        shortest: of words with fewer letters, only slips of the most common words are corrected.
        cost_per_letter: the typing cost allowed grows with the length of the word,
        most_cost: up to this.
        prior_weight: what a factor of ten in frequency is worth in typing cost.
        split_cost: of a missing space ("phonebooth"), between two words as frequent as ``split_weight``.
        split_weight: see there.
        least_weight: rarer known words are left alone but nothing is corrected into them.
        database_weight: given to the words of the object database. Weights are occurrences per 100,000 words.
    """

    shortest: int = 4
    cost_per_letter: float = 0.22
    most_cost: float = 1.9
    prior_weight: float = 0.15
    split_cost: float = 0.95
    split_weight: float = 10.0
    least_weight: float = 0.05
    database_weight: float = 50.0


@dataclass(frozen=True)
class Correction:
    """Characters [start, end) of the original, ``typed``, were read as ``meant``."""

    start: int
    end: int
    typed: str
    meant: str


@dataclass(frozen=True)
class CorrectedText:
    """A text with its words put right, and the way back."""

    original: str
    text: str
    corrections: tuple[Correction, ...]

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the original for [start, end) of ``text``; a corrected word is covered whole."""
        return self._place(start, at_end=False), self._place(end, at_end=True)

    def _place(self, offset: int, at_end: bool) -> int:
        shift = 0  # how much longer the corrected text is, up to here
        for item in self.corrections:
            begin = item.start + shift
            if offset <= begin:
                break
            if offset < begin + len(item.meant):
                return item.end if at_end else item.start
            shift += len(item.meant) - (item.end - item.start)
        return offset - shift


LengthIndex = dict[int, tuple[list[str], NDArray[np.int8]]]


class Speller:
    """Corrects words against a vocabulary and the words of an object database."""

    def __init__(
        self,
        database: Iterable[str] = (),
        vocabulary: Mapping[str, float] | None = None,
        config: SpellingConfig | None = None,
    ) -> None:
        """Prepare the word list.

        Args:
            database: phrases of the object database; all their words become known words.
            vocabulary: known words and how often they occur; the shipped list by default.
            config: see ``SpellingConfig``.
        """
        self.config = config or SpellingConfig()
        base = shipped_vocabulary() if vocabulary is None else vocabulary
        named = {word for phrase in database for word in _WORD.findall(check_text(phrase).lower())}
        weights = dict(base)
        weights.update({word: max(weights.get(word, 0.0), self.config.database_weight) for word in named})
        self._weights = weights
        self._short = ShortTypos(weights, named)
        least = self.config.least_weight
        if vocabulary is None:  # the large part is prepared once per process, whatever the databases
            self._total, contractions, common = _shipped_index(least)
        else:
            self._total, contractions, common = _prepared(base, least)
        self._contractions: dict[str, str] = {
            **contractions,
            **{word.replace("'", ""): word for word in named if "'" in word},
        }
        added = [word for word in named if base.get(word, 0.0) < least <= weights[word]]
        self._indices = (common, _by_length(added))
        self._cache: dict[str, str] = {}

    def knows(self, word: str) -> bool:
        """Whether ``word`` weights as a word already."""
        return word.lower().replace("’", "'") in self._weights

    def correct(self, text: str) -> CorrectedText:
        """``text`` with its unknown words corrected."""
        corrected, cursor = "", 0
        corrections: list[Correction] = []
        matches = list(_WORD.finditer(check_text(text)))
        for match, following in zip_longest(matches, matches[1:]):
            if match.start() < cursor:
                continue  # its space was moved
            start, end, typed = match.start(), match.end(), match[0]
            meant = self.correct_word(typed)
            if following is not None and text[end : following.start()] == " ":
                pair = self._short.moved_space(typed.lower(), following[0].lower())
                if pair is not None:
                    end, typed = following.end(), text[start : following.end()]
                    meant = _like(typed, pair)
            if meant != typed:
                corrections.append(Correction(start, end, typed, meant))
                corrected += text[cursor:start] + meant
                cursor = end
        return CorrectedText(text, corrected + text[cursor:], tuple(corrections))

    def correct_word(self, typed: str) -> str:
        """The word meant by ``typed``; ``typed`` itself if it is known or nothing is near enough."""
        word = typed.lower()
        if not _PLAIN.fullmatch(word):
            return typed
        if word not in self._cache:
            self._cache[word] = self._meant(word)
        meant = self._cache[word]
        is_name = len(word) < self.config.shortest and (typed.isupper() or (len(word) == 2 and typed != word))
        return typed if meant == word or is_name else _like(typed, meant)

    def _meant(self, word: str) -> str:
        slip = None if word in self._contractions else self._short.meant(word)
        if slip is not None:
            return slip
        return word if len(word) < self.config.shortest or self.knows(word) else self._nearest(word)

    def _nearest(self, word: str) -> str:
        if word in self._contractions:  # "youre"
            return self._contractions[word]
        limit = min(self.config.most_cost, self.config.cost_per_letter * len(word))
        best, best_score, best_cost = word, math.inf, math.inf
        for meant, cost in [*self._neighbours(word, limit), *self._splits(word, limit)]:
            score = cost - self.config.prior_weight * self._log_frequency(meant)
            if score < best_score:
                best, best_score, best_cost = meant, score, cost
        if best_cost > 0.5 and self._is_derived(word):  # dearer than one doubled letter ("stoping")
            return word
        return best

    def _neighbours(self, word: str, limit: float) -> Iterable[tuple[str, float]]:
        """Known words within ``limit``. Letters in common are compared first: a fast lower bound."""
        letters = _letter_counts(word)
        for length in range(len(word) - 2, len(word) + 3):
            for index in self._indices:
                group, counts = index.get(length, ([], np.zeros((0, 26), np.int8)))
                apart = np.abs(counts - letters).sum(axis=1, dtype=np.int8)
                for place in np.flatnonzero(apart <= 4):
                    cost = typing_cost(word, group[place], limit)
                    if cost <= limit:
                        yield group[place], cost

    def _splits(self, word: str, limit: float) -> Iterable[tuple[str, float]]:
        """Two frequent words written as one."""
        if self.config.split_cost > limit:
            return
        for at in range(2, len(word) - 2):
            left, right = word[:at], word[at:]
            if min(self._weights.get(left, 0), self._weights.get(right, 0)) >= self.config.split_weight:
                yield f"{left} {right}", self.config.split_cost

    def _log_frequency(self, meant: str) -> float:
        return min(math.log10((self._weights[part] + 0.1) / self._total) for part in meant.split())

    def _is_derived(self, word: str) -> bool:
        """Whether ``word`` is a known word with an ordinary ending ("turreted"), or one without its plural s."""
        if f"{word}s" in self._weights:
            return True
        for suffix in SUFFIXES:
            stem = word.removesuffix(suffix)
            if stem != word and len(stem) >= 4:
                undoubled = stem[:-1] if stem[-1] == stem[-2] else stem
                forms = (stem, stem + "e", undoubled, stem[:-1] + "y" if stem.endswith("i") else stem)
                if any(form in self._weights and len(form) >= 3 for form in forms):
                    return True
        return False


def _like(typed: str, meant: str) -> str:
    """``meant`` with the capitals of ``typed``."""
    if typed.isupper():
        return meant.upper()
    return meant[0].upper() + meant[1:] if typed[0].isupper() else meant


def load_word_weights(path: Path = VOCABULARY) -> dict[str, float]:
    """Words and their weights: one ``word weight`` per line, gzipped."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            pairs = (line.split() for line in lines)
            return {word: float(weight) for word, weight in pairs}
    except (OSError, EOFError, ValueError) as error:
        raise DataError(path, "the word list is missing or damaged; reinstall wayword") from error


@cache
def shipped_vocabulary() -> Mapping[str, float]:
    """The word list of the package, read once."""
    return load_word_weights()


@cache
def _shipped_index(least_weight: float) -> tuple[float, dict[str, str], LengthIndex]:
    return _prepared(shipped_vocabulary(), least_weight)


def _prepared(weights: Mapping[str, float], least_weight: float) -> tuple[float, dict[str, str], LengthIndex]:
    """Sum of all weights, contractions by their letters, and the words to correct to by length."""
    contractions = {word.replace("'", ""): word for word in weights if "'" in word}
    frequent = _by_length([word for word, weight in weights.items() if weight >= least_weight])
    return max(1.0, sum(weights.values())), contractions, frequent


def _by_length(words: Iterable[str]) -> LengthIndex:
    groups: dict[int, list[str]] = {}
    for word in words:
        if len(word) >= 3 and _PLAIN.fullmatch(word):
            groups.setdefault(len(word), []).append(word)
    return {length: (group, np.stack([_letter_counts(word) for word in group])) for length, group in groups.items()}


def _letter_counts(word: str) -> NDArray[np.int8]:
    codes = np.frombuffer(word.encode("ascii"), np.uint8) - ord("a")
    return np.bincount(codes, minlength=26).astype(np.int8)
