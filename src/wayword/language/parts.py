"""Parts that only tell a thing apart: "the seat with the iron legs" names a seat, and no legs.

The chunker gives "the seat" and "the iron legs". What follows "with", "like", "made of", "on" or "in" belongs to the
noun before it unless it is another object of the database ("past the chair with the sofa on your left"). The whole
phrase is then what is looked up: the blades tell a windmill from other towers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from wayword.language.chunker import Chunk

_JOINT = re.compile(
    r"\s+(?:with|without|having|like|made\s+(?:of|from|out\s+of)|(?:that|which)\s+has|on|in)\s+", re.IGNORECASE
)
_OF_ITS_OWN = re.compile(r"(?:your|my|ur|our|it|its|you|me|them|this|that|these|those|both|each)\b", re.IGNORECASE)
_SAYS_WHERE = re.compile(
    r"\s+(?:(?:still|always|just|right|now|directly)\s+)?"
    r"(?:(?:on|to|at|off)\s+(?:your|the|my|its|ur)\b|behind\b|ahead\b|in\s+front\b|in\s+(?:view|sight)\b|port\b|starboard\b)",
    re.IGNORECASE,
)
"""After "with the table": then the table is a thing of its own."""


def find_parts(text: str, chunks: Sequence[Chunk]) -> dict[int, Chunk]:
    """By number of a chunk that may be a part of the one before it, the two as one phrase."""
    owners: dict[int, Chunk] = {}
    for number in range(1, len(chunks)):
        whole, part = chunks[number - 1], chunks[number]
        joint = _JOINT.fullmatch(text[whole.end : part.start])
        if joint and not _OF_ITS_OWN.match(part.text) and not _SAYS_WHERE.match(text, part.end):
            owners[number] = Chunk(whole.start, part.end, text[whole.start : part.end])
    return owners
