"""How varied a set of instructions is: vocabulary, lengths, type-token ratio, distinct 4-grams.

Types and distinct 4-grams grow with the amount of text, so two sets can be compared only over equally many
words: ``compare_words`` of them, drawn evenly from the whole set.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wayword.errors import WaywordError

_WORD = re.compile(r"[a-z0-9]+(?:['’-][a-z0-9]+)*")


@dataclass(frozen=True)
class TextStatistics:
    """Figures of a set of instructions, one per segment."""

    instructions: int
    words: int
    vocabulary: int
    mean_length: float
    quantiles: tuple[int, int, int, int, int]
    """5, 25, 50, 75 and 95 % of the instructions are at most this long."""
    distinct_texts: float
    compared_words: int
    """How many words the following figures are over."""
    compared_vocabulary: int
    type_token_ratio: float
    distinct_4grams: float
    """Share of different ones among all sequences of four words within an instruction."""
    once: float
    """Share of the compared vocabulary that occurs only once."""


def instruction_words(text: str) -> list[str]:
    """The words of an instruction in lower case, without punctuation; "o'clock" and "red-roofed" are one."""
    return _WORD.findall(text.lower())


def text_statistics(texts: Sequence[str], compare_words: int = 40_000) -> TextStatistics:
    """Measure a set of instructions."""
    if not texts:
        raise WaywordError("there are no instructions to count")
    tokenised = [instruction_words(text) for text in texts]
    lengths = np.array([len(words) for words in tokenised])
    vocabulary = {word for words in tokenised for word in words}
    sample = _spread(tokenised, compare_words)
    counts = Counter(word for words in sample for word in words)
    grams = [tuple(words[k : k + 4]) for words in sample for k in range(len(words) - 3)]
    total = sum(counts.values())
    quantiles = [int(q) for q in np.quantile(lengths, (0.05, 0.25, 0.5, 0.75, 0.95), method="lower")]
    return TextStatistics(
        instructions=len(texts),
        words=int(lengths.sum()),
        vocabulary=len(vocabulary),
        mean_length=float(lengths.mean()),
        quantiles=(quantiles[0], quantiles[1], quantiles[2], quantiles[3], quantiles[4]),
        distinct_texts=len({" ".join(words) for words in tokenised}) / len(texts),
        compared_words=total,
        compared_vocabulary=len(counts),
        type_token_ratio=len(counts) / max(total, 1),
        distinct_4grams=len(set(grams)) / max(len(grams), 1),
        once=sum(count == 1 for count in counts.values()) / max(len(counts), 1),
    )


def _spread(tokenised: Sequence[list[str]], words: int) -> list[list[str]]:
    """Instructions evenly spread over the set, until they have ``words`` words."""
    total = sum(len(w) for w in tokenised)
    share = min(1.0, words / max(total, 1))
    sample, due = [], 0.0
    for instruction in tokenised:
        due += share
        if due >= 1.0 - 1e-9:
            due -= 1.0
            sample.append(instruction)
    return sample
