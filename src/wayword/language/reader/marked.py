"""A text as the network sees it: word pieces with marks, and the places its decoder can point to.

ids        (T,)  word pieces with [CLS] and [SEP]; an exactly named object is one placeholder, another one for each
marks      (T,)  what each piece is part of (``MARKS``)
targets    (C,)  pieces that can be pointed to: the last one of each mention and of each quantity
owners     (C,)  number of the entity, or of the quantity
is_entity  (C,)  which of the two
starts     (T,)  first character of each piece in the corrected text
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.language.minilm import MiniLM
from wayword.language.reader.mentions import MARKS, Mentions

CLS, SEP = 101, 102
MOST_PIECES = 254
MARK = {name: number for number, name in enumerate(MARKS)}


@dataclass(frozen=True)
class Marked:
    """See the head of this module."""

    ids: NDArray[np.int64]
    marks: NDArray[np.int64]
    targets: NDArray[np.int64]
    owners: NDArray[np.int64]
    is_entity: NDArray[np.bool_]
    starts: NDArray[np.int64]


def mark_text(mentions: Mentions, encoder: MiniLM, placeholders: Sequence[str]) -> Marked:
    """Word pieces, marks and targets of a text; what exceeds the encoder's length is left out."""
    words = _placeholders(mentions, placeholders)
    text, spans = _replaced(mentions, words)
    ids, offsets = encoder.pieces(text)
    ids, offsets = ids[:MOST_PIECES], offsets[:MOST_PIECES]
    marks = np.zeros(len(ids) + 2, np.int64)
    targets, owners, is_entity = [], [], []
    named: set[int] = set()
    for start, end, mark, owner, entity in spans:
        inside = [number + 1 for number, (first, last) in enumerate(offsets) if first < end and last > start]
        if not inside:
            continue
        marks[inside] = MARK[mark]
        if mark == "exact" and owner in named:
            marks[inside] = MARK["again"]
        named |= {owner} if entity else set()
        targets.append(inside[-1])
        owners.append(owner)
        is_entity.append(entity)
    back = _way_back(mentions, words)
    starts = [0, *(back(first) for first, _ in offsets), len(mentions.text)]
    return Marked(
        np.array([CLS, *ids, SEP], np.int64),
        marks,
        np.array(targets, np.int64),
        np.array(owners, np.int64),
        np.array(is_entity, np.bool_),
        np.array(starts, np.int64),
    )


def _placeholders(mentions: Mentions, placeholders: Sequence[str]) -> dict[int, str]:
    """The word that stands for each exactly named entity."""
    named = dict.fromkeys(each.entity for each in mentions.mentions if each.mark == "exact")
    return {entity: placeholders[number % len(placeholders)] for number, entity in enumerate(named)}


def _replaced(mentions: Mentions, words: dict[int, str]) -> tuple[str, list[tuple[int, int, str, int, bool]]]:
    """The text with placeholders, and every span of it: start, end, mark, owner, whether it is an entity."""
    spans = [(each.start, each.end, each.mark, each.entity, True) for each in mentions.mentions]
    spans += [(each.start, each.end, each.kind, number, False) for number, each in enumerate(mentions.measures)]
    text, moved, at = "", [], 0
    for start, end, mark, owner, entity in sorted(spans):
        start = max(start, at)  # a quantity may touch a mention, never the other way round
        text += mentions.text[at:start]
        begin = len(text)
        text += words[owner] if mark == "exact" else mentions.text[start:end]
        moved.append((begin, len(text), mark, owner, entity))
        at = max(at, end)
    return text + mentions.text[at:], moved


def _way_back(mentions: Mentions, words: dict[int, str]) -> Callable[[int], int]:
    """From characters of the text with placeholders to those of the text."""
    shifts: list[tuple[int, int]] = []  # from this character on, so much is to be added
    shift = 0
    for each in mentions.mentions:
        if each.mark == "exact":
            begin, word = each.start - shift, words[each.entity]
            shift += (each.end - each.start) - len(word)
            shifts.append((begin + len(word), shift))

    def back(character: int) -> int:
        return character + next((add for begin, add in reversed(shifts) if character >= begin), 0)

    return back
