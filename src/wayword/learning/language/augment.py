"""Rough treatment of annotated sentences: what hurried people do to punctuation, articles and spelling.

A sentence is handled as a list of pieces, inside and outside chunks by turns, so that whatever is done to a
piece the chunks still fit. Capitals are left alone: the encoder is uncased, so lower-casing a sentence (half of
them, in the prototype) does not change its features.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from wayword.learning.language.treebank import AnnotatedText

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
KEY_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SHORT_FORMS = {"you": "u", "your": "ur", "and": "n", "with": "w", "until": "til"}
CONTRACTIONS = ("'s", "'re", "'ll", "'ve")

NOT_THINGS = frozenset(
    {"left", "right", "way", "front", "back", "side", "sides", "middle", "end", "gap", "space", "other"}
    | {"latter", "two", "rest"}
)
"""Last words of definite phrases that no object's name can stand in for."""

_PUNCTUATION = re.compile(r"(?<=\w)[.,;:!?]+(?=\s|$)|(?<=\s)[-–,;:]+(?=\s)")
_ARTICLE = re.compile(r"^(the|an?)\s+", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class Roughness:
    """How often each kind of damage is done.

    Attributes:
        punctuation: share of sentences that lose commas, full stops and the like.
        join: share of sentences that run on into another one.
        article: share of the articles dropped, in the sentences chosen by ``sloppy``.
        typo: share of the longer words misspelt, in the sentences chosen by ``sloppy``.
        short_form: share of "you", "your", "and", ... written short, in the sentences chosen by ``sloppy``.
        sloppy: share of sentences with dropped articles, typos and short forms.
        swap: share of the definite phrases exchanged for others, so that no object is learnt by heart.
    """

    punctuation: float = 0.33
    join: float = 0.25
    article: float = 0.4
    typo: float = 0.12
    short_form: float = 0.4
    sloppy: float = 0.4
    swap: float = 0.0


@dataclass
class _Piece:
    text: str
    inside: bool


def roughen(
    sentence: AnnotatedText,
    others: Sequence[AnnotatedText],
    phrases: Sequence[str],
    rng: np.random.Generator,
    roughness: Roughness,
) -> AnnotatedText:
    """A damaged copy of ``sentence``.

    Args:
        sentence: what to start from.
        others: sentences it may run on into.
        phrases: definite phrases ("the old boat") that may replace its own.
        rng: decides everything.
        roughness: how often.
    """
    pieces = _split(sentence)
    joined = bool(len(others)) and rng.random() < roughness.join
    if joined or rng.random() < roughness.punctuation:
        _drop_punctuation(pieces)
    if joined:
        other = _split(others[int(rng.integers(len(others)))])
        _drop_punctuation(other)
        first, second = (pieces, other) if rng.random() < 0.5 else (other, pieces)
        pieces = [*first, _Piece(" ", False), *second]
    for piece in pieces:
        if piece.inside and len(phrases) and is_thing(piece.text) and rng.random() < roughness.swap:
            piece.text = str(phrases[int(rng.integers(len(phrases)))])
    if rng.random() < roughness.sloppy:
        _drop_apostrophes(pieces, rng, roughness.short_form)
        for piece in pieces:
            if piece.inside and rng.random() < roughness.article:
                piece.text = _ARTICLE.sub("", piece.text)
            piece.text = _WORD.sub(lambda match: _respell(match[0], rng, roughness), piece.text)
    return _join(pieces, sentence.imperative)


def is_thing(phrase: str) -> bool:
    """Whether ``phrase`` is a definite one that may be exchanged for another: "the old boat", not "the left"."""
    words = phrase.lower().split()
    return 2 <= len(words) <= 5 and words[0] == "the" and words[-1] not in NOT_THINGS


def misspell(word: str, rng: np.random.Generator) -> str:
    """``word`` with one slip: two letters swapped, one left out, doubled, added or hit beside its key."""
    at = int(rng.integers(1, len(word)))  # first letters are rarely wrong
    kind = int(rng.integers(5))
    if kind == 0:
        return word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
    if kind == 1:
        return word[:at] + word[at + 1 :]
    if kind == 2:
        return word[:at] + word[at] + word[at:]
    if kind == 3:
        return word[:at] + ALPHABET[int(rng.integers(26))] + word[at:]
    return word[:at] + _beside(word[at], rng) + word[at + 1 :]


def _beside(letter: str, rng: np.random.Generator) -> str:
    for row in KEY_ROWS:
        at = row.find(letter.lower())
        if at >= 0:
            choices = row[max(0, at - 1) : at] + row[at + 1 : at + 2]
            return choices[int(rng.integers(len(choices)))]
    return letter


def _respell(word: str, rng: np.random.Generator, roughness: Roughness) -> str:
    short = SHORT_FORMS.get(word.lower())
    if short is not None and rng.random() < roughness.short_form:
        return short
    return misspell(word, rng) if len(word) >= 4 and rng.random() < roughness.typo else word


def _drop_punctuation(pieces: list[_Piece]) -> None:
    whole = "".join(piece.text for piece in pieces)
    gone = {at for match in _PUNCTUATION.finditer(whole) for at in range(*match.span())}
    position = 0
    for piece in pieces:
        end = position + len(piece.text)
        if not piece.inside:
            piece.text = "".join(whole[at] for at in range(position, end) if at not in gone)
        position = end


def _drop_apostrophes(pieces: list[_Piece], rng: np.random.Generator, share: float) -> None:
    """Turn "it's" into "its": one word now, and it belongs to the chunk as a whole."""
    for piece, following in pairwise(pieces):
        for ending in CONTRACTIONS:
            if piece.inside and not following.inside and rng.random() < share:
                rest = following.text.removeprefix(ending)
                if rest != following.text and not rest[:1].isalnum() and " " not in piece.text:
                    piece.text += ending[1:]
                    following.text = rest


def _split(sentence: AnnotatedText) -> list[_Piece]:
    pieces, cursor = [], 0
    for start, end in sentence.chunks:
        pieces += [_Piece(sentence.text[cursor:start], False), _Piece(sentence.text[start:end], True)]
        cursor = end
    return [*pieces, _Piece(sentence.text[cursor:], False)]


def _join(pieces: list[_Piece], imperative: bool) -> AnnotatedText:
    text, chunks = "", []
    for piece in pieces:
        if piece.inside and piece.text:
            chunks.append((len(text), len(text) + len(piece.text)))
        text += piece.text
    return AnnotatedText(text, tuple(chunks), imperative)
