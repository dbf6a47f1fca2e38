"""Names with "of" in them: "the pile of stones" is one thing, "the front of the sofa" is not.

A base noun phrase ends before "of", so the chunker gives "the pile" and "stones". The two are taken as one
reference where the database says so: the joined phrase must be nearer to some phrase of the database than
either half. "Front of chair" is farther from every object than "chair" is, and stays in two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wayword.language.chunker import Chunk

_OF = re.compile(r"\s+of\s+", re.IGNORECASE)
_STANDS_ALONE = re.compile(r"(?:the|an?|this|that|your|its|my|it|you|u|them|him|her|me|us)\b", re.IGNORECASE)
"""How a second half begins that is a phrase of its own."""


def join_compounds(
    text: str, chunks: Sequence[Chunk], distances: Callable[[Sequence[str]], NDArray[np.float64]]
) -> list[Chunk]:
    """``chunks`` with the halves of names with "of" joined.

    Args:
        text: what the chunks were found in.
        chunks: in order and disjoint.
        distances: the distance of each phrase to the nearest phrase of the database.
    """
    result: list[Chunk] = []
    for chunk in chunks:
        before = result[-1] if result else None
        of_between = before is not None and _OF.fullmatch(text[before.end : chunk.start])
        if before is not None and of_between and not _STANDS_ALONE.match(chunk.text):
            joined = Chunk(before.start, chunk.end, text[before.start : chunk.end])
            whole, first, second = distances([joined.text, before.text, chunk.text])
            if whole < min(first, second):
                result[-1] = joined
                continue
        result.append(chunk)
    return result
