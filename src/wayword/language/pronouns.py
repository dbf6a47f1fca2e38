"""Pronouns, and what they stand for.

The paper's classifier drops "it", and with it what is said about the object there ("keep it on your left"). The
rules, an extension that can be switched off, for a chunk that is nothing but one of the words below:

- "it" is the reference before it. Where nouns nest, it is the outer one: in "take the bottle from the table and use
  it", the table only says where the bottle is.
- "that", "which" and the like are the nearest reference before them.
- "they", "them" and "both" are the things named together last ("the drum and the horse") or the last plural ("the
  dishes"), whichever is nearer; else the last two things of their sentence; else the one thing there is.

Without a reference before it, a pronoun refers to nothing. A possessive ("its left side") is not a mention of its
own, and "one" may be a new one: both are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from wayword.language.chunker import Chunk

NEAREST = frozenset({"that", "this", "that one", "this one", "which", "the latter"})
OUTER = frozenset({"it", "its", "it's", "him", "he", "itself"})
"""Chunks that stand for one thing. "its" alone is a carelessly written "it's"."""
PLURAL = frozenset(
    {"they", "them", "em", "they're", "both", "both of them", "the both", "the two", "the two of them", "the pair"}
    | {"these two", "those two", "these", "those", "themselves"}
)
"""Chunks that stand for several things, or for one that is spoken of in the plural."""
_NESTED = re.compile(
    r"\s+(?:that(?:'s|\s+is)\s+|which\s+is\s+|standing\s+|sitting\s+|lying\s+|right\s+|just\s+|directly\s+)?"
    r"(?:beside|besides|by|near|nearby|next\s+to|close\s+to|behind|(?:in\s+|at\s+the\s+)?(?:front|back)\s+of|beyond|"
    r"under|underneath|below|beneath|above|on|on\s+top\s+of|atop|upon|in|inside|within|at|with|without|off|of|from|"
    r"against|opposite|across\s+from|among|amongst|alongside|adjacent\s+to|"
    r"(?:to|on|at)\s+(?:the|its)\s+(?:far\s+|immediate\s+)?(?:left|right|side|top|back|front|foot|end|edge)(?:\s+side)?\s+of)\s+",
    re.IGNORECASE,
)
"""What stands between a noun and one that only says where it is."""
_TOGETHER = re.compile(r"\s*(?:,|,?\s*(?:and|&|\+|n|or))\s+", re.IGNORECASE)
_LEAVES = re.compile(
    r"\b(?:go|going|fly|flying|head|heading|move|moving|start|come|coming|away)\s+from\s+$", re.IGNORECASE
)
_SINGULAR_ENDS = ("ss", "us", "is", "os")
_PLURAL_WORDS = frozenset({"men", "women", "people", "children", "feet", "teeth", "geese", "mice", "dice"})
_HEAD = re.compile(r"\s+(?:of|with|in|on|at|from|for|to|that|which)\s+", re.IGNORECASE)


def is_pronoun(phrase: str) -> bool:
    """Whether the whole phrase is a pronoun of the rules, in any case and spacing."""
    return _lowered(phrase) in NEAREST | OUTER | PLURAL


def resolve_pronouns(text: str, chunks: Sequence[Chunk], is_reference: Sequence[bool]) -> list[tuple[int, ...]]:
    """For each chunk of an instruction, the numbers of the chunks it stands for; none for those that are no pronoun.

    Args:
        text: the instruction.
        chunks: its chunks, in order.
        is_reference: whether each is an object reference; what it says about pronouns is ignored.
    """
    result: list[tuple[int, ...]] = []
    before: list[int] = []
    for number, (chunk, named) in enumerate(zip(chunks, is_reference, strict=True)):
        word = _lowered(chunk.text)
        if not is_pronoun(word):
            result.append(())
            before += [number] if named else []
        elif not before:
            result.append(())
        elif word in PLURAL:
            result.append(_several(text, chunks, before, chunk.start))
        else:
            result.append((before[-1] if word in NEAREST else _outermost(text, chunks, before),))
    return result


def is_plural(phrase: str) -> bool:
    """Whether a phrase names several things, or a heap of them: "the dishes", "the stack of dishes"."""
    parts = _HEAD.split(phrase.lower())
    nouns = [parts[0], *(parts[1:2] if re.search(r"\sof\s", phrase, re.IGNORECASE) else [])]
    return any(_plural_word(re.split(r"[\s-]+", noun)[-1]) for noun in nouns if noun)


def _plural_word(word: str) -> bool:
    return word in _PLURAL_WORDS or (len(word) > 3 and word.endswith("s") and not word.endswith(_SINGULAR_ENDS))


def _outermost(text: str, chunks: Sequence[Chunk], before: Sequence[int]) -> int:
    """The last reference, or the one that it is said to be beside, behind, on."""
    at = len(before) - 1
    while at > 0 and _is_nested(text, chunks[before[at - 1]], chunks[before[at]]):
        at -= 1
    return before[at]


def _is_nested(text: str, outer: Chunk, inner: Chunk) -> bool:
    between = text[outer.end : inner.start] if inner.start > outer.end else ""
    # "fly from the table beside the clock": whoever leaves a thing is not told to use it.
    return bool(_NESTED.fullmatch(f"{between.rstrip()} ")) and not _LEAVES.search(text[: outer.start])


def _several(text: str, chunks: Sequence[Chunk], before: Sequence[int], place: int) -> tuple[int, ...]:
    """What a plural pronoun at ``place`` stands for."""
    groups: list[list[int]] = []
    for number in before:
        last = groups[-1][-1] if groups else None
        if last is not None and _TOGETHER.fullmatch(text[chunks[last].end : chunks[number].start]):
            groups[-1].append(number)
        else:
            groups.append([number])
    for group in reversed(groups):
        if len(group) > 1 or is_plural(chunks[group[0]].text):
            return tuple(group)
    sentence = max((match.end() for match in re.finditer(r"[.;!?]\s", text[:place])), default=0)
    inside = [number for number in before if chunks[number].start >= sentence] or list(before)
    return tuple(inside[-2:])


def _lowered(phrase: str) -> str:
    return " ".join(phrase.lower().replace("’", "'").split())
