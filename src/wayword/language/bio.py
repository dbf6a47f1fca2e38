"""Chunks as tags: B opens a chunk, I continues it, O is outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

OUTSIDE, BEGIN, INSIDE = 0, 1, 2


def tags_from_chunks(words: NDArray[np.int64], chunks: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """One tag per word. A word that a chunk touches belongs to it whole.

    Args:
        words: (W, 2) character offsets of the words, in order.
        chunks: character offsets of the chunks, in order and disjoint.
    """
    tags = np.zeros(len(words), np.int64)
    for start, end in chunks:
        inside = np.flatnonzero((words[:, 0] < end) & (words[:, 1] > start))
        if len(inside):
            tags[inside] = INSIDE
            tags[inside[0]] = BEGIN
    return tags


def chunks_from_tags(tags: Sequence[int] | NDArray[np.int64]) -> list[tuple[int, int]]:
    """(first, end) word indices of the chunks; an I that follows an O counts as B."""
    chunks: list[tuple[int, int]] = []
    open_at: int | None = None
    for index, tag in enumerate(tags):
        if open_at is not None and tag != INSIDE:
            chunks.append((open_at, index))
            open_at = None
        if tag == BEGIN or (tag == INSIDE and open_at is None):
            open_at = index
    if open_at is not None:
        chunks.append((open_at, len(tags)))
    return chunks


def best_tags(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """The highest-scoring tag sequence in which no I follows an O or starts the text (Viterbi).

    Args:
        scores: (W, 3) log-probabilities (or logits) of O, B, I for each word.
    """
    if not len(scores):
        return np.zeros(0, np.int64)
    total = scores[0].astype(np.float64)
    total[INSIDE] = -np.inf
    came_from = np.zeros((len(scores), 3), np.int64)
    for index in range(1, len(scores)):
        before_any = int(np.argmax(total))
        before_inside = BEGIN if total[BEGIN] >= total[INSIDE] else INSIDE
        came_from[index] = (before_any, before_any, before_inside)
        total = total[came_from[index]] + scores[index]
    tags = np.zeros(len(scores), np.int64)
    tags[-1] = int(np.argmax(total))
    for index in range(len(scores) - 1, 0, -1):
        tags[index - 1] = came_from[index, tags[index]]
    return tags
