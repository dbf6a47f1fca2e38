"""Precision, recall and F1 of a chunker: a chunk counts if both its edges are right."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray

from wayword.language.chunker import Chunker, load_chunker
from wayword.learning.language.chunk_data import read_chunks
from wayword.learning.language.matches import Matches
from wayword.learning.language.treebank import AnnotatedText, read_treebank


def score_chunker(chunker: Chunker, sentences: Sequence[AnnotatedText]) -> Matches:
    """Compare ``chunker`` with the gold chunks of ``sentences``."""
    rows = []
    for sentence in sentences:
        spans = {(chunk.start, chunk.end) for chunk in chunker.chunk(sentence.text)}
        rows.append((len(spans & set(sentence.chunks)), len(spans), len(sentence.chunks)))
    return Matches.of(rows)


def chunk_times(chunker: Chunker, sentences: Sequence[AnnotatedText]) -> NDArray[np.float64]:
    """Milliseconds of CPU time per sentence, by a warm chunker."""
    chunker.chunk("warm up beside the sofa")
    result = []
    for sentence in sentences:
        begin = time.process_time()
        chunker.chunk(sentence.text)
        result.append(1000 * (time.process_time() - begin))
    return np.array(result)


def mistakes(chunker: Chunker, sentences: Sequence[AnnotatedText]) -> list[tuple[str, list[str], list[str]]]:
    """(text, missed, wrongly found) for each sentence that is not perfect."""
    rows = []
    for sentence in sentences:
        answers = {(chunk.start, chunk.end) for chunk in chunker.chunk(sentence.text)}
        gold = set(sentence.chunks)
        if answers != gold:
            show = [[sentence.text[a:b] for a, b in sorted(spans)] for spans in (gold - answers, answers - gold)]
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
    chunker = load_chunker() if weights is None else load_chunker(weights=weights)
    score = score_chunker(chunker, sentences)
    each = chunk_times(chunker, sentences).mean() if sentences else 0.0
    print(f"{data.name}: {score}; {each:.1f} ms of CPU time per sentence")
    if show_mistakes:
        for text, missed, extra in mistakes(chunker, sentences):
            print(f"{text}\n    missed {missed}, wrongly found {extra}")


if __name__ == "__main__":
    tyro.cli(main)
