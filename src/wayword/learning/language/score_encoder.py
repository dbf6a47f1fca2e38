"""How close the shipped encoder is to the float32 original, and how fast."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import tyro

from wayword.language.encoder import CachedPhrases
from wayword.language.minilm import MiniLM
from wayword.learning.language.chunk_data import NAVIGATION, read_chunks


def sample_phrases(count: int, seed: int = 0) -> list[str]:
    """Distinct noun phrases of the annotated navigation sentences."""
    phrases = {
        sentence.text[start:end].lower() for sentence in read_chunks(NAVIGATION) for start, end in sentence.chunks
    }
    order = np.random.default_rng(seed).permutation(sorted(phrases))
    return [str(phrase) for phrase in order[:count]]


def main(reference: Path, phrases: int = 500) -> None:
    """Compare with a float32 conversion.

    Args:
        reference: folder written by ``convert_minilm --no-quantise``.
        phrases: how many to compare.
    """
    texts = sample_phrases(phrases)
    shipped, original = MiniLM(), MiniLM(weights=reference)
    cosines = (CachedPhrases(shipped).embed(texts) * CachedPhrases(original).embed(texts)).sum(axis=1)
    print(f"cosine to float32 over {len(texts)} phrases: mean {cosines.mean():.5f}, lowest {cosines.min():.5f}")
    begin = time.process_time()
    for text in texts:
        shipped.embed([f"a photo of a {text}"])
    single = 1000 * (time.process_time() - begin) / len(texts)
    begin = time.process_time()
    shipped.embed([f"a photo of a {text}" for text in texts])
    batched = 1000 * (time.process_time() - begin) / len(texts)
    print(f"CPU time per phrase: {single:.2f} ms one by one, {batched:.2f} ms in batches")


if __name__ == "__main__":
    tyro.cli(main)
