"""The words of a Rerun recording, as Markdown: the instruction as it was understood, and a table of the boxes in view.

Names of objects and words of instructions are people's own: whatever Markdown would take for a sign is escaped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from wayword.pictures.thought_words import NONE_OF_THESE

if TYPE_CHECKING:
    from wayword.grounding.grounder import Grounding
    from wayword.language.pipeline import Parsed

_SIGNS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&$])")
_LIKELIEST = 3
"""Objects named per reference."""


def escape_markdown(text: str) -> str:
    """The text on one line, with nothing in it that Markdown would read as a sign."""
    return _SIGNS.sub(r"\\\1", " ".join("".join(c if c.isprintable() else " " for c in text).split()))


def instruction_page(title: str, instruction: str, parsed: Parsed | None, outcome: str) -> str:
    """What was said, how it was understood, what came of it."""
    if parsed is None:
        return f"### {escape_markdown(instruction)}\n\n{escape_markdown(title)}\n\n**{escape_markdown(outcome)}**\n"
    rows = ["| | reference | means | P(o \\| r) |", "|---|---|---|---|"]
    for number, reference in enumerate(parsed.references):
        outcomes = sorted([*reference.probabilities.items(), (NONE_OF_THESE, reference.none)], key=lambda one: -one[1])
        likeliest = ", ".join(f"{escape_markdown(name)} {p:.2f}" for name, p in outcomes[:_LIKELIEST])
        means = escape_markdown(reference.best or NONE_OF_THESE)
        rows.append(f"| r{number} | **{escape_markdown(reference.text)}** | {means} | {likeliest} |")
    table = "\n".join(rows) if parsed.references else "It refers to no object."
    names = [*parsed.references[0].probabilities, NONE_OF_THESE] if parsed.references else []
    numbered = ", ".join(f"{number} {escape_markdown(name)}" for number, name in enumerate(names))
    return (
        f"### {_marked(parsed)}\n\n{escape_markdown(parsed.anonymised.text)}\n\n{table}\n\n"
        f"{escape_markdown(title)}: **{escape_markdown(outcome)}**\n\n{numbered}\n"
    )


def _marked(parsed: Parsed) -> str:
    """The corrected instruction: references as marked words with their numbers, other noun chunks in italics."""
    parts, done, number = [], 0, 0
    for chunk in sorted(parsed.chunks, key=lambda one: one.start):
        own = number
        number += chunk.is_reference
        if chunk.start < done:  # within another
            continue
        words = parsed.text[chunk.start : chunk.end]
        words = _chip(f"r{own} {words}") if chunk.is_reference else f"*{escape_markdown(words)}*"
        parts += [_spaced(parsed.text[done : chunk.start]), words]
        done = chunk.end
    return "".join([*parts, _spaced(parsed.text[done:])]).strip()


def _spaced(text: str) -> str:
    """Plain words with a space where the text has one at its ends."""
    words = escape_markdown(text)
    before, after = text[:1].isspace(), text[-1:].isspace()
    return f"{' ' * before}{words}{' ' * after}" if words else " " * (before or after)


def _chip(text: str) -> str:
    """Words on a grey ground: Markdown's inline code, in which nothing but the backtick is a sign."""
    return "`" + " ".join("".join(c if c.isprintable() and c != "`" else " " for c in text).split()) + "`"


def boxes_page(grounding: Grounding, names: tuple[str, ...]) -> str:
    """P(b), the likeliest object with its P(o | b), and ALIGN(b, r) of every box in view, the surest first."""
    if not len(grounding.boxes):
        return "No box in view.\n"
    heads = ["box", "P(b)", "object", "P(o \\| b)", *(f"ALIGN r{k}" for k in range(len(grounding.alignment)))]
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for b in np.argsort(-grounding.p_box, kind="stable"):
        name, p = likeliest_object(grounding, int(b), names)
        aligned = [f"{value:.2f}" for value in grounding.alignment[:, b]]
        rows.append(
            f"| {' | '.join([str(b), f'{grounding.p_box[b]:.2f}', escape_markdown(name), f'{p:.2f}', *aligned])} |"
        )
    return "\n".join(rows) + "\n"


def likeliest_object(grounding: Grounding, box: int, names: tuple[str, ...]) -> tuple[str, float]:
    """The object a box most likely shows, and its P(o | b)."""
    row = grounding.p_object_of_box[box]
    best = int(row.argmax())
    return (*names, NONE_OF_THESE)[best], float(row[best])
