"""What the shipped text encoder makes of every word of an anonymised instruction, in its context.

    [past, <obj>, then, stop]  ->  (4, 384): MiniLM's states of "past thing then stop", a row per word

Stage 1 may read these beside word vectors of its own (``Size.encoded``): those know the few thousand instructions that
they were learned from, MiniLM knows how English is written elsewhere, so that a word which training hardly met is
not a stranger.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wayword.language.anonymise import PLACEHOLDER
from wayword.language.minilm import WIDTH, MiniLM, MiniLMConfig

LAYER = 4
"""Of MiniLM; its last layers are trained for the similarity of sentences and know less of how words hang together."""
_THING = "thing"
"""Stands where a placeholder stands: one common word."""


class WordStates:
    """States of the words of anonymised instructions; the newest ``size`` texts are remembered."""

    def __init__(self, encoder: MiniLM | None = None, size: int = 20_000) -> None:
        self._encoder = encoder or MiniLM(MiniLMConfig(layers=(LAYER,)))
        self._size = size
        self._known: OrderedDict[tuple[str, ...], NDArray[np.float16]] = OrderedDict()

    def of(self, tokens: Sequence[str]) -> NDArray[np.float32]:
        """(L, 384), a row per token; one row of zeros for an empty instruction."""
        key = tuple(tokens)
        if key not in self._known:
            self._known[key] = self._read(key).astype(np.float16)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key].astype(np.float32)

    def _read(self, tokens: Sequence[str]) -> NDArray[np.float32]:
        words = [_THING if token == PLACEHOLDER else token for token in tokens]
        ends = np.cumsum([len(word) + 1 for word in words])
        states = np.zeros((max(1, len(words)), WIDTH), np.float32)
        if not words:
            return states
        (features,) = self._encoder.tokens([" ".join(words)])
        # A piece belongs to the word whose letters it begins among; words of several pieces get their mean.
        owners = np.searchsorted(ends, features.offsets[:, 0], side="right")
        np.add.at(states, owners, features.features)
        counts = np.bincount(owners, minlength=len(words)).astype(np.float32)
        states /= np.maximum(counts, 1)[:, None]
        return states
