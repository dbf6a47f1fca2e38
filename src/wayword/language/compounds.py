"""Names with "of" in them: "the pile of stones" is one thing, "the front of the sofa" is not.

A base noun phrase ends before "of", so the chunker gives "the pile" and "stones". The two are taken as one
reference where the database says so: the joined phrase is listed word for word, or nearer to some phrase of the
database than either half, or both halves mean the same object. "Front of chair" is farther from every object than
"chair" is, and stays in two. A heap is one with what it is made of in any case: "stack of dishes" does not become a
haystack and dishes where both are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wayword.language.chunker import Chunk
from wayword.language.listed import ListedPhrases

_OF = re.compile(r"\s+of\s+", re.IGNORECASE)
_STANDS_ALONE = re.compile(r"(?:the|an?|this|that|your|its|my|it|you|u|them|him|her|me|us)\b", re.IGNORECASE)
"""How a second half begins that is a phrase of its own."""
_HEAPS = frozenset(
    ["pile", "stack", "heap", "mound", "bunch", "bundle", "cluster", "group", "set", "pair", "row", "collection"]
)

Distances = Callable[[Sequence[str]], NDArray[np.float64]]
Meanings = Callable[[Sequence[str]], Sequence[str | None]]


def join_compounds(
    text: str, chunks: Sequence[Chunk], distances: Distances, meanings: Meanings, listed: ListedPhrases
) -> list[Chunk]:
    """``chunks`` with the halves of names with "of" joined.

    Args:
        text: what the chunks were found in.
        chunks: in order and disjoint.
        distances: the distance of each phrase to the nearest phrase of the database.
        meanings: the object of the database that each phrase means, or None.
        listed: the phrases of the database.
    """
    result: list[Chunk] = []
    for chunk in chunks:
        before = result[-1] if result else None
        of_between = before is not None and _OF.fullmatch(text[before.end : chunk.start])
        if before is not None and of_between and not _STANDS_ALONE.match(chunk.text):
            joined = Chunk(before.start, chunk.end, text[before.start : chunk.end])
            if _is_one(joined.text, before.text, chunk.text, distances, meanings, listed):
                result[-1] = joined
                continue
        result.append(chunk)
    return result


def _is_one(
    whole: str, first: str, second: str, distances: Distances, meanings: Meanings, listed: ListedPhrases
) -> bool:
    if whole in listed:
        return True
    apart, *halves = distances([whole, first, second])
    if apart < min(halves):
        return True
    one, other = meanings([first, second])
    return one is not None and other is not None and (one == other or first.split()[-1].lower() in _HEAPS)
