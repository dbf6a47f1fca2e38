"""Pronouns: "it" means the object that was named last.

The paper's classifier drops "it", and with it what is said about the object there ("keep it on your left"). The
rule, an extension that can be switched off: a chunk that is nothing but one of the words below refers to what
the nearest object reference before it refers to. Without one before it, it refers to nothing. A possessive
("its left side") is not a mention of its own.

Left alone, on purpose: "they", "them", "both" (two objects) and "one" (may be a new one).
"""

from __future__ import annotations

from collections.abc import Sequence

SINGULAR = frozenset(
    {"it", "its", "it's", "that", "this", "that one", "this one", "which", "him", "he", "itself", "the latter"}
)
"""Chunks that stand for one thing. "its" alone is a carelessly written "it's"."""


def is_pronoun(phrase: str) -> bool:
    """Whether the whole phrase is a pronoun of the rule, in any case and spacing."""
    return " ".join(phrase.lower().split()) in SINGULAR


def resolve_pronouns(phrases: Sequence[str], is_reference: Sequence[bool]) -> list[int | None]:
    """For each chunk of an instruction, the number of the chunk it stands for, or None.

    Args:
        phrases: the chunks, in order.
        is_reference: whether each is an object reference; what it says about pronouns is ignored.
    """
    result: list[int | None] = []
    last: int | None = None
    for number, (phrase, named) in enumerate(zip(phrases, is_reference, strict=True)):
        if is_pronoun(phrase):
            result.append(last)
        else:
            result.append(None)
            last = number if named else last
    return result
