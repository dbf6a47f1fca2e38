"""Slips in short words, where only the most common words of instructions can be meant.

Words of two and three letters are too near to one another to be corrected by distance. Four kinds of slips are safe
because the word meant is far more common than anything else near: two letters swapped ("teh", "fo", "irght"), a letter
left out ("lef") or beside the right key ("tge"), and a space a letter too early or too late ("tot he", "fo rthe").
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from wayword.language.edit_distance import typing_cost

UNKNOWN = 0.02
"""Rarer words, in occurrences per 100,000, may be slips: the list has every abbreviation that was ever written."""
COMMON = {2: 500.0, 3: 100.0}
"""How common the meant word must be, by the length of the typed one, if two letters are swapped; 30 for longer ones."""
COMMON_BY_DISTANCE = 300.0
ONE_SLIP = 0.85
"""Typing cost of a letter left out; a key beside the right one costs less."""
_BEFORE_THE = frozenset(
    ["to", "in", "on", "at", "of", "by", "for", "from", "past", "over", "behind", "with", "near", "and", "into", "onto"]
)


class ShortTypos:
    """Finds the common word that a short or swapped one means."""

    def __init__(self, weights: Mapping[str, float], named: Collection[str]) -> None:
        """``weights`` of all known words, and the words of the database, which are never slips."""
        self._weights = weights
        self._named = named
        self._common = [
            word for word, weight in weights.items() if weight >= COMMON_BY_DISTANCE and 3 <= len(word) <= 4
        ]

    def meant(self, word: str) -> str | None:
        """The common word that ``word``, in lower case, is a slip of; None if there is none."""
        rare = 0.0 if len(word) > 3 else UNKNOWN
        if len(word) < 2 or word in self._named or self._weight(word) > rare:
            return None
        swapped = {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)} - {word}
        best = max(swapped, key=self._weight, default=word)
        if self._weight(best) >= COMMON.get(len(word), 30.0):
            return best
        if len(word) != 3 or word in self._weights:
            return None
        near = [(typing_cost(word, other, ONE_SLIP), -self._weight(other), other) for other in self._common]
        cost, _, other = min((each for each in near if each[2][0] == word[0]), default=(1.0, 0.0, word))
        return other if cost <= ONE_SLIP else None

    def moved_space(self, first: str, second: str) -> str | None:
        """What two words in lower case mean if the space between them is one letter off; None if it is not."""
        if first in self._named or second in self._named:
            return None
        if second == "he" and first[-1:] == "t" and first[:-1] in _BEFORE_THE and self._is_rare(first):
            return f"{first[:-1]} the"  # "tot he"
        if second[1:] == "the" and first + second[0] in _BEFORE_THE and self._is_rare(second):
            return f"{first}{second[0]} the"  # "fo rthe"
        return None

    def _is_rare(self, word: str) -> bool:
        return self._weight(word) < 2.0

    def _weight(self, word: str) -> float:
        return self._weights.get(word, 0.0)
