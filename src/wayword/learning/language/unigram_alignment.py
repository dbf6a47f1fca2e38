"""A first alignment from word counts alone: where the expectation-maximisation of the LSTM starts.

    p(r | o) = product over the words w of r of t(w | o)

IBM Model 1 in its own words, with all words of a chunk aligned to one object. It settles within a few passes
over counts. Started from nothing, the LSTM has not yet learned what the objects are called when the second
E step comes, and NULL, which sees every chunk, then takes them all (measured: 4 to 75 % of objects found).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from wayword.language.alignment import NULL
from wayword.learning.language.phrase_lm import words_of

Group = tuple[str, tuple[str, ...]]
"""A phrase and the candidates of the instruction it stands in; equal ones are counted together."""

Expected = dict[tuple[str, str], float]
"""Expected number of times each (phrase, object) was meant."""


def unigram_alignment(groups: Mapping[Group, int], passes: int = 15, smoothing: float = 0.01) -> Expected:
    """Expectation-maximisation on counts. The first pass gives half of every chunk to NULL."""
    words = {phrase: words_of(phrase) or [phrase] for phrase, _ in groups}
    size = len({word for each in words.values() for word in each})
    expected: Expected = defaultdict(float)
    for (phrase, names), count in groups.items():
        for name in names:
            alone = len(names) == 1
            expected[phrase, name] += count * (1.0 if alone else 0.5 if name == NULL else 0.5 / (len(names) - 1))
    for _ in range(passes):
        counts, totals = _count(expected, words)
        prior = mention_rates(expected, groups)
        table = {
            (phrase, name): math.log(prior[name])
            + sum(
                math.log((counts.get((word, name), 0.0) + smoothing) / (totals[name] + smoothing * size))
                for word in words[phrase]
            )
            for phrase, name in expected
        }
        expected = expect(table, groups)
    return expected


def expect(table: Mapping[tuple[str, str], float], groups: Mapping[Group, int]) -> Expected:
    """The E step: share every chunk among its candidates in proportion to exp(table)."""
    expected: Expected = defaultdict(float)
    for (phrase, names), count in groups.items():
        joint = [table[phrase, name] for name in names]
        best = max(joint)
        weights = [math.exp(value - best) for value in joint]
        total = sum(weights)
        for name, weight in zip(names, weights, strict=True):
            expected[phrase, name] += count * weight / total
    return expected


def mention_rates(expected: Expected, groups: Mapping[Group, int]) -> dict[str, float]:
    """p(o): expected mentions of an object per chunk that might have mentioned it; one is added for safety."""
    chances: dict[str, float] = defaultdict(float)
    for (_, names), count in groups.items():
        for name in names:
            chances[name] += count
    mentions: dict[str, float] = defaultdict(float)
    for (_, name), weight in expected.items():
        mentions[name] += weight
    return {name: (mentions[name] + 1.0) / (chance + len(chances)) for name, chance in sorted(chances.items())}


def _count(expected: Expected, words: Mapping[str, list[str]]) -> tuple[dict[tuple[str, str], float], dict[str, float]]:
    counts: dict[tuple[str, str], float] = defaultdict(float)
    totals: dict[str, float] = defaultdict(float)
    for (phrase, name), weight in expected.items():
        for word in words[phrase]:
            counts[word, name] += weight
            totals[name] += weight
    return counts, totals
