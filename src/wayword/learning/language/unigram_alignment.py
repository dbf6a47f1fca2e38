"""A first alignment from word counts alone: where the expectation-maximisation of the LSTM starts.

    p(r | o) = product over the words w of r of t(w | o),   t(w | o) = (1 - m) c(w, o) / c(o) + m c(w) / c

IBM Model 1 in its own words, with all words of a chunk aligned to one object. Two things keep chunks that mean
nothing from sticking to an object they happen to stand near once ("about seventy-five degrees", the sunflower):
c(w, o) leaves out the chunk itself, and NULL leans on the words of all chunks more than objects do.

Without this start, the LSTM has not yet learned what the objects are called when the second E step comes, and
NULL, which sees every chunk, takes them all (measured: 4 to 75 % of the objects found).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping

from wayword.language.alignment import NULL
from wayword.learning.language.phrase_lm import words_of

Group = tuple[str, tuple[str, ...]]
"""A phrase and the candidates of the instruction it stands in; equal ones are counted together."""

Expected = dict[tuple[str, str], float]
"""Expected number of times each (phrase, object) was meant."""


OWN_MIX, NULL_MIX = 0.1, 0.4
"""m for objects and for NULL."""


def unigram_alignment(groups: Mapping[Group, int], passes: int = 12) -> Expected:
    """Expectation-maximisation on counts. The first pass gives half of every chunk to NULL."""
    words = {phrase: words_of(phrase) or [phrase] for phrase, _ in groups}
    everything: Counter[str] = Counter()
    for (phrase, _), count in groups.items():
        everything.update({word: count * number for word, number in Counter(words[phrase]).items()})
    total = sum(everything.values())
    shares = {group: [_first_share(name, len(group[1])) for name in group[1]] for group in groups}
    for _ in range(passes):
        expected = _totals(shares, groups)
        counts, sizes = _count(expected, words)
        prior = mention_rates(expected, groups)
        for (phrase, names), before in shares.items():
            joint = []
            for name, share in zip(names, before, strict=True):
                mix = NULL_MIX if name == NULL else OWN_MIX
                size = max(sizes[name] - share * len(words[phrase]), 1e-9)
                value = math.log(prior[name])
                for word in words[phrase]:
                    own = max(counts[word, name] - share * words[phrase].count(word), 0.0) / size
                    value += math.log((1 - mix) * own + mix * everything[word] / total)
                joint.append(value)
            shares[phrase, names] = _normalise(joint)
    return _totals(shares, groups)


def _first_share(name: str, candidates: int) -> float:
    if candidates == 1:
        return 1.0
    return 0.5 if name == NULL else 0.5 / (candidates - 1)


def _totals(shares: Mapping[Group, list[float]], groups: Mapping[Group, int]) -> Expected:
    expected: Expected = defaultdict(float)
    for (phrase, names), row in shares.items():
        for name, share in zip(names, row, strict=True):
            expected[phrase, name] += groups[phrase, names] * share
    return expected


def _normalise(joint: list[float]) -> list[float]:
    best = max(joint)
    weights = [math.exp(value - best) for value in joint]
    total = sum(weights)
    return [weight / total for weight in weights]


def expect(table: Mapping[tuple[str, str], float], groups: Mapping[Group, int]) -> Expected:
    """The E step: share every chunk among its candidates in proportion to exp(table)."""
    shares = {group: _normalise([table[group[0], name] for name in group[1]]) for group in groups}
    return _totals(shares, groups)


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
