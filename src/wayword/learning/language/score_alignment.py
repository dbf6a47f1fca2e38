"""How often the alignment finds the right object, against two simple ways of doing it.

- most frequent: the candidate that is spoken of most in the training text, whatever the phrase;
- PMI: the candidate with the highest mean pointwise mutual information with the words of the phrase, counted
  over training instructions; NULL if no candidate is positively associated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wayword.language.alignment import NULL
from wayword.learning.language.grounded import Grounded
from wayword.learning.language.phrase_lm import words_of
from wayword.learning.language.train_alignment import AlignmentModel

Scorer = Callable[[str, str], float]
"""(phrase, object) -> how well they go together; higher is better."""


@dataclass(frozen=True)
class AlignmentScore:
    """Counts over chunks with known referents."""

    right_objects: int
    objects: int
    right_nulls: int
    nulls: int

    @property
    def accuracy(self) -> float:
        """Share of the chunks that mean an object and were aligned to it."""
        return self.right_objects / self.objects if self.objects else 0.0

    @property
    def accuracy_with_null(self) -> float:
        """Share of all chunks aligned rightly, to their object or to NULL."""
        total = self.objects + self.nulls
        return (self.right_objects + self.right_nulls) / total if total else 0.0


def score_chunks(texts: Sequence[Grounded], choices: Sequence[Sequence[str]]) -> AlignmentScore:
    """Compare the chosen object of every chunk (NULL allowed) with ``gold``.

    Chunks whose gold object is not among the candidates are counted too: they cannot be right.
    """
    counts: Counter[tuple[bool, bool]] = Counter()
    for text, row in zip(texts, choices, strict=True):
        for gold, choice in zip(text.gold, row, strict=True):
            counts[gold != NULL, gold == choice] += 1
    objects, nulls = counts[True, True] + counts[True, False], counts[False, True] + counts[False, False]
    return AlignmentScore(counts[True, True], objects, counts[False, True], nulls)


def model_choices(model: AlignmentModel, texts: Sequence[Grounded]) -> list[list[str]]:
    """Equation (align:probe) for every chunk."""
    return [[aligned.object or NULL for aligned in row] for row in model.align_all(texts)]


class Association:
    """Counts of words and objects in the same instruction: both baselines."""

    def __init__(self, texts: Sequence[Grounded]) -> None:
        self._texts = len(texts)
        self._words: Counter[str] = Counter()
        self._objects: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        for text in texts:
            words = {word for phrase in text.phrases for word in words_of(phrase)}
            names = set(text.candidates) - {NULL}
            self._words.update(words)
            self._objects.update(names)
            self._pairs.update((word, name) for word in words for name in names)

    def pmi(self, phrase: str, name: str) -> float:
        """Mean pointwise mutual information of the words of ``phrase`` with an object; 0 for unseen pairs."""
        values = [0.0]
        for word in words_of(phrase):
            both = self._pairs[word, name]
            if both:
                values.append(math.log(both * self._texts / (self._words[word] * self._objects[name])))
        return sum(values) / max(1, len(values) - 1)

    def most_frequent(self, phrase: str, name: str) -> float:
        """How often the object was a candidate."""
        return float(self._objects[name])


def baseline_choices(scorer: Scorer, texts: Sequence[Grounded], null_below: float | None) -> list[list[str]]:
    """The best-scoring candidate of every chunk; NULL if it scores at most ``null_below``."""
    result = []
    for text in texts:
        names = [name for name in text.candidates if name != NULL]
        row = []
        for phrase in text.phrases:
            best = max(names, key=lambda name: scorer(phrase, name), default=NULL)
            refused = null_below is not None and best != NULL and scorer(phrase, best) <= null_below
            row.append(NULL if refused else best)
        result.append(row)
    return result


def target_accuracy(scores: Sequence[Sequence[dict[str, float]]], texts: Sequence[Grounded]) -> float:
    """Share of instructions whose best (chunk, object) names the target; per chunk, a score for every object."""
    right = 0
    for text, rows in zip(texts, scores, strict=True):
        best: dict[str, float] = {}
        for row in rows:
            for name, value in row.items():
                if name != NULL:
                    best[name] = max(value, best.get(name, -math.inf))
        right += max(best, key=lambda name: best[name], default=NULL) == text.target
    return right / len(texts) if texts else 0.0


def model_target_scores(model: AlignmentModel, texts: Sequence[Grounded]) -> list[list[dict[str, float]]]:
    """Per chunk, the posterior of every candidate: what ``target_accuracy`` compares."""
    return [model.posteriors(text) for text in texts]


def best_null_threshold(scorer: Scorer, texts: Sequence[Grounded]) -> float:
    """The NULL threshold that suits a baseline best on the very texts it is scored on: no baseline can do better."""
    values = []
    for text in texts:
        names = [name for name in text.candidates if name != NULL]
        values += [max((scorer(phrase, name) for name in names), default=0.0) for phrase in text.phrases]
    steps = sorted(set(values))
    grid = [-math.inf, *steps[:: max(1, len(steps) // 60)], math.inf]
    return max(grid, key=lambda t: score_chunks(texts, baseline_choices(scorer, texts, t)).accuracy_with_null)
