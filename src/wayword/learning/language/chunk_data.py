"""Training text for the chunker, and its frozen features, computed once and kept on disk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.errors import DataError
from wayword.io import atomic_path
from wayword.language.bio import tags_from_chunks
from wayword.language.chunker import word_features
from wayword.language.encoder import TokenEncoder
from wayword.learning.language.treebank import AnnotatedText

NAVIGATION = Path(__file__).parent / "data" / "nav_train_chunks.jsonl"
"""Instructions of the natural ``train`` split with chunks annotated by hand."""


def read_chunks(path: Path) -> list[AnnotatedText]:
    """Read annotated sentences: one JSON object per line with ``text`` and ``chunks`` [[start, end], ...]."""
    sentences = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); name a file of annotated chunks") from error
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            chunks = tuple((int(start), int(end)) for start, end in row["chunks"])
            text = str(row["text"])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(path, 'expected {"text": ..., "chunks": [[start, end], ...]}', number) from error
        edges = [0, *(edge for chunk in chunks for edge in chunk), len(text)]
        if sorted(edges) != edges or any(start == end for start, end in chunks):
            raise DataError(path, "chunks must lie in the text, in order, without overlap", number)
        sentences.append(AnnotatedText(text, chunks, True))
    return sentences


@dataclass(frozen=True)
class FeatureSet:
    """Sentences as arrays, one after another.

    Attributes:
        features: (W, D) float16 over all words of all sentences.
        tags: (W,) int64.
        starts: (S + 1,) int64; sentence s is rows starts[s] to starts[s + 1].
    """

    features: NDArray[np.float16]
    tags: NDArray[np.int64]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1


def compute_features(
    sentences: Sequence[AnnotatedText], encoder: TokenEncoder, stem: Path, step: int = 512
) -> Iterator[int]:
    """Encode ``sentences`` into ``stem``.features.npy and ``stem``.tags.npz, yielding how many are done."""
    parts, tags, lengths = [], [], []
    for begin in range(0, len(sentences), step):
        batch = sentences[begin : begin + step]
        for sentence, tokens in zip(batch, encoder.tokens([item.text for item in batch]), strict=True):
            features, words = word_features(tokens)
            parts.append(features.astype(np.float16))
            tags.append(tags_from_chunks(words, sentence.chunks))
            lengths.append(len(words))
        yield min(begin + step, len(sentences))
    with atomic_path(stem.with_suffix(".features.npy")) as temporary:
        np.save(temporary, np.concatenate(parts))
    with atomic_path(stem.with_suffix(".tags.npz")) as temporary:
        np.savez(temporary, tags=np.concatenate(tags), starts=np.cumsum([0, *lengths]))


def load_features(stem: Path) -> FeatureSet | None:
    """What ``compute_features`` wrote, or None if it has not finished there."""
    try:
        with np.load(stem.with_suffix(".tags.npz")) as arrays:
            tags, starts = arrays["tags"], arrays["starts"]
        features = np.load(stem.with_suffix(".features.npy"), mmap_mode="r")
    except (OSError, ValueError, KeyError):
        return None
    return FeatureSet(features, tags, starts)


def batches(sets: Iterable[FeatureSet], size: int, rng: np.random.Generator) -> list[list[tuple[FeatureSet, int]]]:
    """Shuffled batches of sentences of similar length, each given as (set, number)."""
    members = [(source, number) for source in sets for number in range(len(source))]
    lengths = np.array([source.starts[number + 1] - source.starts[number] for source, number in members])
    order = np.argsort(lengths + 4 * rng.random(len(lengths)))  # similar, not always the same, neighbours
    order = order[lengths[order] > 0]
    groups = [[members[row] for row in order[begin : begin + size]] for begin in range(0, len(order), size)]
    return [groups[row] for row in rng.permutation(len(groups))]


def pad(batch: Sequence[tuple[FeatureSet, int]]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """(B, W, D) features and (B, W) tags of one batch; -1 where a sentence has ended."""
    rows = [slice(int(source.starts[number]), int(source.starts[number + 1])) for source, number in batch]
    longest = max(row.stop - row.start for row in rows)
    features = np.zeros((len(batch), longest, batch[0][0].features.shape[1]), np.float32)
    tags = np.full((len(batch), longest), -1, np.int64)
    for line, ((source, _), row) in enumerate(zip(batch, rows, strict=True)):
        features[line, : row.stop - row.start] = source.features[row]
        tags[line, : row.stop - row.start] = source.tags[row]
    return features, tags
