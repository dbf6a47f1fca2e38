"""Base noun phrases with character offsets from a Universal Dependencies treebank (CoNLL-U).

A base noun phrase is a head nominal with its contiguous left ``det``, ``amod``, ``nummod``, ``compound`` and
``nmod:poss`` dependents ("the two big red boxes", "your left side"); nothing to the right of the head belongs
to it ("the pile" | "stones" in "the pile of stones"), except the rest of a name joined by ``flat``. A
dependent brings its own words along ("a very tall tree", "about 90 degrees", "the red and white umbrella").

Heads are nouns, names and pronouns, and other words in a nominal role: numerals and determiners ("the two",
"both"), adjectives if they have a determiner ("the latter", "a little").
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wayword.errors import DataError

LEFT = frozenset({"det", "det:predet", "amod", "nummod", "compound", "nmod:poss"})
NOMINAL_ROLES = frozenset({"nsubj", "obj", "iobj", "obl", "nmod", "appos", "root", "conj", "vocative", "dislocated"})
NEVER_HEADS = LEFT | {"fixed", "goeswith", "flat", "compound:prt", "reparandum"}


@dataclass(frozen=True)
class AnnotatedText:
    """A text and its chunks as (start, end) character offsets, in order and disjoint."""

    text: str
    chunks: tuple[tuple[int, int], ...]
    imperative: bool = False


@dataclass(frozen=True)
class _Word:
    start: int
    end: int
    upos: str
    features: str
    head: int  # index into the sentence, -1 for the root
    relation: str


def read_treebank(path: Path) -> list[AnnotatedText]:
    """All sentences of a ``.conllu`` or ``.conllu.gz`` file."""
    return [_annotate(text, words) for text, words in _sentences(path)]


def _sentences(path: Path) -> Iterator[tuple[str, list[_Word]]]:
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            rows: list[list[str]] = []
            for number, line in enumerate(lines, start=1):
                if line.strip() and not line.startswith("#"):
                    rows.append(line.rstrip("\n").split("\t"))
                    if len(rows[-1]) != 10:
                        raise DataError(path, f"a CoNLL-U row has 10 columns, not {len(rows[-1])}", number)
                elif not line.strip() and rows:
                    yield _lay_out(rows)
                    rows = []
            if rows:
                yield _lay_out(rows)
    except OSError as error:
        raise DataError(path, f"cannot be read ({error}); give the treebank's .conllu.gz file") from error


def _lay_out(rows: list[list[str]]) -> tuple[str, list[_Word]]:
    """The sentence's text and where each word stands in it."""
    text = ""
    words: list[_Word] = []
    covered = 0  # the last word number of the multiword token being read
    span_start = 0
    for number, form, _lemma, upos, _xpos, features, head, relation, _deps, misc in rows:
        space = "" if "SpaceAfter=No" in misc else " "
        if "." in number:
            continue
        if "-" in number:  # "don't" stands in the text once; its parts lie inside
            covered = int(number.split("-")[1])
            span_start = len(text)
            text += form + space
            cursor = span_start
            continue
        if int(number) <= covered:
            # A part that is not spelt out in the token ("wanna" = want + to) gets what is left of it.
            at = text.find(form, cursor)
            start = at if at >= 0 else span_start
            end = start + len(form) if at >= 0 else len(text.rstrip())
            cursor = end
        else:
            start, end = len(text), len(text) + len(form)
            text += form + space
        words.append(_Word(start, end, upos, features, int(head) - 1, relation))
    return text.rstrip(), words


def _annotate(text: str, words: list[_Word]) -> AnnotatedText:
    children: list[list[int]] = [[] for _ in words]
    for index, word in enumerate(words):
        if word.head >= 0:
            children[word.head].append(index)
    inside: set[int] = set()
    spans: list[tuple[int, int]] = []
    # Outer heads first, so that "the teacher" in "the teacher's house" is not a chunk of its own.
    for index in sorted(range(len(words)), key=lambda i: _depth(words, i)):
        if index in inside or not _is_head(words, children, index):
            continue
        first, last = _extent(words, children, index)
        if inside.intersection(range(first, last + 1)):
            first = last = index
        inside.update(range(first, last + 1))
        spans.append((words[first].start, words[last].end))
    root = next((word for word in words if word.head < 0), None)
    imperative = root is not None and "Mood=Imp" in root.features
    return AnnotatedText(text, tuple(sorted(set(spans))), imperative)


def _depth(words: list[_Word], index: int) -> int:
    depth = 0
    while words[index].head >= 0 and depth <= len(words):
        index, depth = words[index].head, depth + 1
    return depth


def _is_head(words: list[_Word], children: list[list[int]], index: int) -> bool:
    word = words[index]
    if word.relation in NEVER_HEADS:
        return False
    if word.upos in ("NOUN", "PROPN", "PRON"):
        return True
    if word.relation.split(":")[0] not in NOMINAL_ROLES:
        return False
    if word.upos in ("NUM", "DET"):
        return True
    return word.upos == "ADJ" and any(words[child].relation in ("det", "nmod:poss") for child in children[index])


def _extent(words: list[_Word], children: list[list[int]], head: int) -> tuple[int, int]:
    """First and last word of the base phrase around ``head``."""
    inside = {head}
    for child in children[head]:
        if (child < head and words[child].relation in LEFT) or words[child].relation == "flat":
            inside.update(_subtree(children, child))
    inside.update(  # hyphens and quotes inside the phrase hang on the head
        child for child in children[head] if words[child].upos == "PUNCT" and min(inside) < child < max(inside)
    )
    first = last = head
    while first - 1 in inside:
        first -= 1
    while last + 1 in inside:
        last += 1
    return first, last


def _subtree(children: list[list[int]], index: int) -> set[int]:
    result, stack = set[int](), [index]
    while stack:
        node = stack.pop()
        if node not in result:
            result.add(node)
            stack.extend(children[node])
    return result
