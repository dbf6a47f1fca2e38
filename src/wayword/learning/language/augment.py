"""Rough treatment of annotated sentences: what hurried people do to punctuation, articles and spelling.

Every function takes an ``AnnotatedText`` and returns one whose chunks still fit the changed text. Capitals are
left alone: the encoder is uncased, so lower-casing a sentence does not change its features.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wayword.learning.language.treebank import AnnotatedText

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
KEY_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SHORT_FORMS = {"you": "u", "your": "ur", "you're": "ur", "and": "n", "with": "w", "until": "til", "it's": "its"}
ARTICLES = ("the ", "a ", "an ")


@dataclass(frozen=True)
class Edit:
    """Replace characters [start, end) by ``text``."""

    start: int
    end: int
    text: str


def apply(sentence: AnnotatedText, edits: Sequence[Edit]) -> AnnotatedText:
    """Carry out disjoint edits; a chunk's edges move with the characters they stand between."""
    text, cursor = "", 0
    moved: list[tuple[int, int, int]] = []  # old start, old end, shift after it
    for edit in sorted(edits, key=lambda item: item.start):
        text += sentence.text[cursor : edit.start] + edit.text
        cursor = edit.end
        moved.append((edit.start, edit.end, len(text) - edit.end))
    text += sentence.text[cursor:]

    def place(offset: int, is_end: bool) -> int:
        shift = 0
        for start, end, after in moved:
            if offset < start or (is_end and offset == start and start < end):
                break
            if start < offset < end:  # inside a replaced stretch: the end clings to its end
                return end + after if is_end else start + shift
            if offset >= end and (offset > start or not is_end or start == end):
                shift = after
            else:
                break
        return offset + shift

    spans = [(place(start, False), place(end, True)) for start, end in sentence.chunks]
    return AnnotatedText(text, tuple(span for span in spans if span[0] < span[1]), sentence.imperative)
