"""One training example of the reader, as whole numbers: a text as the network sees it, and what it is to say.

The steps are written as tokens that point to the text's mentions, as in ``wayword.language.reader.program``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wayword.episodes.commands import Command
from wayword.language.minilm import MiniLM
from wayword.language.reader.marked import mark_text
from wayword.language.reader.mentions import Mentions
from wayword.language.reader.program import NUMBER, Pointer, ProgramToken, Quantity, write

ENTITY, QUANTITY = 1000, 2000
"""Added to the numbers of what is pointed to, so that a line is a list of whole numbers."""

PLACEHOLDERS = ("box", "lamp", "vase", "drum", "tent", "statue", "barrel", "desk")
"""One word for each object of a text, so that the encoder can tell them apart: "not the lamp, the drum"."""


@dataclass(frozen=True)
class ReaderExample:
    """One text as the network sees it and what it is to say; lists of whole numbers only."""

    ids: list[int]
    marks: list[int]
    targets: list[int]
    owners: list[int]
    is_entity: list[int]
    line: list[int]
    """Tokens; empty for a description, whose steps are not learned."""
    cuts: list[int]
    """Pieces at which a leg of a description begins."""
    description: bool


def meaning(command: Command, numbers: Mapping[str, int], mentions: Mentions) -> list[ProgramToken] | None:
    """The command's steps as tokens; None if something that they need is not mentioned."""

    def quantity(value: float, kind: Quantity) -> int | None:
        for number, measure in enumerate(mentions.measures):
            if abs(measure.value - value) < 0.011 and measure.kind in (kind, "bare"):
                return number
        return None

    needed = {key for step in command.steps for key in step.mentioned if key not in command.select}
    needed |= {rule.of for rule in command.select.values() if rule.of is not None}
    if not needed <= set(numbers):
        return None
    return write(command.steps, command.select, lambda key: numbers[key], quantity)


def as_numbers(
    mentions: Mentions,
    line: Sequence[ProgramToken],
    begins: Sequence[int],
    description: bool,
    encoder: MiniLM,
    placeholders: Sequence[str] = PLACEHOLDERS,
) -> ReaderExample | None:
    """Everything as numbers; None if the text is too long for what it points to."""
    marked = mark_text(mentions, encoder, placeholders)
    reachable = {(bool(kind), int(owner)) for kind, owner in zip(marked.is_entity, marked.owners, strict=True)}
    numbers = []
    for token in line:
        if isinstance(token, Pointer):
            if (token.kind == "entity", token.number) not in reachable:
                return None
            numbers.append(token.number + (ENTITY if token.kind == "entity" else QUANTITY))
        else:
            numbers.append(NUMBER[token])
    starts = marked.starts[1:-1].tolist()
    cuts = [1 + next((n for n, start in enumerate(starts) if start >= begin), len(starts) - 1) for begin in begins]
    return ReaderExample(
        marked.ids.tolist(),
        marked.marks.tolist(),
        marked.targets.tolist(),
        marked.owners.tolist(),
        marked.is_entity.astype(int).tolist(),
        numbers,
        cuts,
        description,
    )
