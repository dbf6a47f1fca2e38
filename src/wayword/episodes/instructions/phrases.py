"""What the objects can be called, and which of these phrases single one out in a layout.

``phrases.json`` was written by hand from the looks in the catalogue. For each object it holds phrases of four
kinds with their weights ("name", "noun" for synonyms, "look" for descriptions, "vague" for hypernyms), its
parts, which phrases are plural or a "he", and further words that are true of it. The words decide what a
phrase might also be taken for: "the tower" is fine beside a sofa, not beside a lighthouse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

PhraseKind = Literal["name", "noun", "look", "vague", "part"]
Pronoun = Literal["it", "they", "he"]

KINDS: tuple[PhraseKind, ...] = ("name", "noun", "look", "vague")
_VAGUE_HEADS = frozenset({"thing", "one", "object"})  # these can stand for anything
_AFTER_HEAD = re.compile(r" (?:with|without|of|on|in|for|to|like|made|full|pointing)\b")
_SMALL = re.compile("with|without|of|on|in|for|to|like|made|full|pointing|the|a|and|top|it")


@dataclass(frozen=True)
class Phrase:
    """One way to call an object, without its article; ``base`` is the part up to and with the noun."""

    text: str
    kind: PhraseKind
    weight: float
    pronoun: Pronoun = "it"

    @property
    def base(self) -> str:
        """The phrase without what follows its noun: "tower" of "tower with the blades"."""
        return _base(self.text)


@cache
def inventory() -> Mapping[str, Mapping[str, Any]]:
    """The contents of ``phrases.json`` by object name, in catalogue order."""
    text = files("wayword.episodes.instructions").joinpath("phrases.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, Any]] = json.loads(text)
    return loaded


@cache
def phrases(name: str) -> tuple[Phrase, ...]:
    """All phrases for an object; an object that is not in the inventory is called by its name only."""
    entry = inventory().get(name)
    if entry is None:
        return (Phrase(name, "name", 1.0),)
    return tuple(_phrase(entry, text, kind, weight) for kind in KINDS for text, weight in entry[kind].items())


@cache
def parts(name: str) -> tuple[Phrase, ...]:
    """Parts of an object that can stand for it once it was named: "petals always on your left"."""
    entry = inventory().get(name, {})
    return tuple(Phrase(text, "part", float(weight)) for text, weight in entry.get("part", {}).items())


@cache
def may_denote(text: str, name: str) -> bool:
    """Whether somebody who hears ``text`` might take it for the object ``name``."""
    heads, words = _heads_and_words(name)
    head = _stem(_base(text).split()[-1])
    content = {_stem(w) for w in _words(text)} - _VAGUE_HEADS
    return (head in _VAGUE_HEADS or head in heads) and content <= words


@cache
def _telling(name: str, others: frozenset[str]) -> tuple[Phrase, ...]:
    choices = tuple(p for p in phrases(name) if not any(may_denote(p.text, other) for other in others))
    return choices or (Phrase(name, "name", 1.0),)


def telling_phrases(name: str, layout: Iterable[str]) -> tuple[Phrase, ...]:
    """The phrases for ``name`` that fit no other object of ``layout``; never empty.

    If all of them could be mistaken, the object's own name is what remains.
    """
    rivals = (other for other in layout if other != name)
    return _telling(name, frozenset(o for o in rivals if _could_be_confused(name, o)))


@cache
def vocabulary() -> frozenset[str]:
    """Every word of the inventory, in lower case; a typo must not turn one word into another of these."""
    kinds: tuple[PhraseKind, ...] = (*KINDS, "part")
    texts = (text for entry in inventory().values() for kind in kinds for text in entry.get(kind, ()))
    return frozenset(word for text in (*texts, *inventory()) for word in re.split(r"[ -]", text.lower()))


@cache
def _could_be_confused(name: str, other: str) -> bool:
    # Only these few others enter the key of the cache: layouts are many, confusions are few.
    return any(may_denote(p.text, other) for p in phrases(name))


@cache
def _heads_and_words(name: str) -> tuple[frozenset[str], frozenset[str]]:
    entry = inventory().get(name, {})
    extra = {_stem(w) for w in entry.get("words", ())}
    texts = [p.text for p in phrases(name)] + [name]
    heads = {_stem(_base(text).split()[-1]) for text in texts} | extra
    words = {_stem(w) for text in texts for w in _words(text)} | extra
    return frozenset(heads), frozenset(words)


def _phrase(entry: Mapping[str, Any], text: str, kind: PhraseKind, weight: float) -> Phrase:
    pronoun: Pronoun = "they" if text in entry.get("plural", ()) else "he" if text in entry.get("he", ()) else "it"
    return Phrase(text, kind, float(weight), pronoun)


def _base(text: str) -> str:
    after = _AFTER_HEAD.search(text)
    return text[: after.start()] if after else text


def _words(text: str) -> list[str]:
    return [word for word in text.lower().split() if not _SMALL.fullmatch(word)]


def _stem(word: str) -> str:
    word = word.lower()
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
