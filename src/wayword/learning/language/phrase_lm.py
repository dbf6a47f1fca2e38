"""p(r | o): a language model of phrases, conditioned on the object they are said of (Appendix D).

    o        (B,)       object numbers; its embedding is the LSTM's first cell state, tanh of it the first output
    words    (B, T)     word numbers: words of r, then the end word, then padding
    log p    (B,)       sum over the words of log p(word | words before, o), the end word included

A one-layer LSTM as in the paper; the vocabulary is the words of the training phrases, as the paper says (the
released code used BERT's word pieces and did not score the end).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

PAD, END, UNKNOWN = 0, 1, 2
_WORD = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")


def words_of(phrase: str) -> list[str]:
    """Words and punctuation marks of a phrase, in lower case."""
    return _WORD.findall(phrase.lower())


class PhraseVocabulary:
    """Words by number; rare and unknown ones share a number."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._numbers = {word: number for number, word in enumerate(self.words, start=UNKNOWN + 1)}

    @classmethod
    def of(cls, phrases: Iterable[str], least: int = 2) -> PhraseVocabulary:
        """The words that occur at least ``least`` times."""
        counts = Counter(word for phrase in phrases for word in words_of(phrase))
        return cls(sorted(word for word, count in counts.items() if count >= least))

    def __len__(self) -> int:
        return len(self.words) + UNKNOWN + 1

    def encode(self, phrase: str, longest: int = 12) -> list[int]:
        """Numbers of the first ``longest`` words of a phrase, and the end word."""
        return [*(self._numbers.get(word, UNKNOWN) for word in words_of(phrase)[:longest]), END]


class PhraseLM(nn.Module):
    """The language model."""

    def __init__(self, objects: int, vocabulary: int, embedding: int = 32, hidden: int = 64) -> None:
        super().__init__()
        self.objects = nn.Embedding(objects, hidden)
        self.words = nn.Embedding(vocabulary, embedding)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True)
        self.output = nn.Linear(hidden, vocabulary)

    def forward(self, objects: Tensor, words: Tensor) -> Tensor:
        """(B,) log p(r | o)."""
        cell = self.objects(objects).unsqueeze(0)
        begin = torch.full_like(words[:, :1], END)  # the end word also opens
        states, _ = self.lstm(self.words(torch.cat([begin, words[:, :-1]], dim=1)), (torch.tanh(cell), cell))
        scores = torch.log_softmax(self.output(states), dim=-1)
        each = scores.gather(2, words.unsqueeze(2)).squeeze(2)
        total: Tensor = (each * (words != PAD)).sum(dim=1)
        return total


def pad_words(encoded: Sequence[Sequence[int]]) -> Tensor:
    """(B, T) word numbers, padded."""
    longest = max(len(words) for words in encoded)
    return torch.tensor([[*words, *([PAD] * (longest - len(words)))] for words in encoded])


@torch.no_grad()
def log_likelihoods(
    model: PhraseLM, objects: NDArray[np.int64], phrases: Sequence[Sequence[int]], batch: int = 2048
) -> NDArray[np.float64]:
    """log p(r | o) for pairs: ``objects`` (N,) and N encoded phrases. Pairs of similar length go together."""
    result = np.empty(len(phrases))
    order = np.argsort([len(words) for words in phrases], kind="stable")
    for begin in range(0, len(order), batch):
        rows = order[begin : begin + batch]
        result[rows] = model(torch.from_numpy(objects[rows]), pad_words([phrases[row] for row in rows])).numpy()
    return result
