"""Precision, recall and F1 of a chunker: a chunk counts if both its edges are right."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from wayword.language.chunker import Chunker, load_chunker
from wayword.learning.language.chunk_data import read_chunks
from wayword.learning.language.treebank import AnnotatedText, read_treebank


@dataclass(frozen=True)
class Score:
    """Counts, and what follows from them."""

    correct: int
    predicted: int
    gold: int
    sentences: int

    @property
    def precision(self) -> float:
        """Share of the predicted chunks that are right."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold chunks that are found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        total = self.predicted + self.gold
        return 2 * self.correct / total if total else 1.0

    def __str__(self) -> str:
        return (
            f"precision {100 * self.precision:.2f}, recall {100 * self.recall:.2f}, F1 {100 * self.f1:.2f} "
            f"({self.gold} chunks in {self.sentences} sentences)"
        )


def score_chunker(chunker: Chunker, sentences: Sequence[AnnotatedText]) -> Score:
    """Compare ``chunker`` with the gold chunks of ``sentences``."""
    correct = predicted = gold = 0
    for sentence in sentences:
        found = {(chunk.start, chunk.end) for chunk in chunker.chunk(sentence.text)}
        correct += len(found & set(sentence.chunks))
        predicted += len(found)
        gold += len(sentence.chunks)
    return Score(correct, predicted, gold, len(sentences))


def mistakes(chunker: Chunker, sentences: Sequence[AnnotatedText]) -> list[tuple[str, list[str], list[str]]]:
    """(text, missed, wrongly found) for each sentence that is not perfect."""
    rows = []
    for sentence in sentences:
        found = {(chunk.start, chunk.end) for chunk in chunker.chunk(sentence.text)}
        gold = set(sentence.chunks)
        if found != gold:
            show = [[sentence.text[a:b] for a, b in sorted(spans)] for spans in (gold - found, found - gold)]
            rows.append((sentence.text, show[0], show[1]))
    return rows


def main(data: Path, weights: Path | None = None, show_mistakes: bool = False) -> None:
    """Score the chunker on a .conllu(.gz) treebank or a .jsonl of annotated chunks.

    Args:
        data: the gold file.
        weights: folder of another trained head; the shipped one by default.
        show_mistakes: print every sentence that is not perfect.
    """
    sentences = read_chunks(data) if data.suffix == ".jsonl" else read_treebank(data)
    chunker = load_chunker() if weights is None else load_chunker(folder=weights)
    chunker.chunk("warm up")
    begin = time.process_time()
    score = score_chunker(chunker, sentences)
    each = 1000 * (time.process_time() - begin) / max(1, len(sentences))
    print(f"{data.name}: {score}; {each:.1f} ms of CPU time per sentence")
    if show_mistakes:
        for text, missed, extra in mistakes(chunker, sentences):
            print(f"{text}\n    missed {missed}, wrongly found {extra}")


if __name__ == "__main__":
    tyro.cli(main)
