"""The words of a thought: an instruction with its references in colour, and P(o | r) as bars.

One colour stands for one thing in the instruction, in the view and on the map. References that mean the same
object share it; a reference the database does not know is grey.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from PIL import ImageDraw

from wayword.lettering import fitting, plain, text_font
from wayword.sim.pictures.flight_card import MUTED, TEXT, Box, line_height
from wayword.sim.pictures.topdown import Color

if TYPE_CHECKING:
    from wayword.language.pipeline import Parsed, ParsedChunk

PALETTE: tuple[Color, ...] = (
    (255, 94, 206), (74, 222, 232), (255, 160, 60), (178, 140, 255), (206, 238, 84), (255, 140, 130),
)  # fmt: skip
"""Clear of grass, of the two distributions (blue and red) and of the flown path (yellow)."""
UNKNOWN: Color = (150, 156, 166)
TRACK: Color = (44, 51, 63)
_SHOWN = 3
"""Objects per reference."""
_MOST_CELLS = 6
_GAP = 26
_HEADING_ROOM = 64
"""Pixels kept free at the right of a column's heading: how surely the thing is in view is written there."""


class Piece(NamedTuple):
    """A word of the instruction or a part of one; its reference's number, if it belongs to one."""

    text: str
    reference: int | None


Word = tuple[Piece, ...]


def reference_colours(references: Sequence[ParsedChunk]) -> list[Color]:
    """A colour for each reference."""
    known: dict[str, Color] = {}
    for reference in references:
        if reference.best is not None and reference.best not in known:
            known[reference.best] = PALETTE[len(known) % len(PALETTE)]
    return [UNKNOWN if r.best is None else known[r.best] for r in references]


def distinct(references: Sequence[ParsedChunk]) -> list[int]:
    """Numbers of the references that say something new: pronouns and phrases said before are left out."""
    seen: set[str] = set()
    numbers = []
    for number, reference in enumerate(references):
        phrase = reference.text.lower().removeprefix("the ").removeprefix("a ")
        if reference.antecedent is None and phrase not in seen:
            seen.add(phrase)
            numbers.append(number)
    return numbers


def split_words(parsed: Parsed) -> list[Word]:
    """The instruction as typed, word by word; a word that is partly inside a reference is cut at its ends."""
    owner: list[int | None] = [None] * len(parsed.original)
    for number, reference in enumerate(parsed.references):
        start, end = reference.original
        owner[start:end] = [number] * (end - start)
    words, position = [], 0
    for word in parsed.original.split():
        start = parsed.original.index(word, position)
        position = start + len(word)
        runs = itertools.groupby(range(start, position), key=lambda i: owner[i])
        words.append(tuple(Piece("".join(parsed.original[i] for i in run), number) for number, run in runs))
    return words


def draw_instruction(pen: ImageDraw.ImageDraw, box: Box, parsed: Parsed, largest: int = 28) -> None:
    """Write the instruction into the box, as large as it fits, references in colour and underlined."""
    colours, words = reference_colours(parsed.references), split_words(parsed)
    for size in range(largest, 10, -1):
        lines = wrap_words(words, box.width, size)
        if len(lines) * line_height(size) <= box.height:
            break
    else:
        lines = lines[: max(1, box.height // line_height(size))]
        lines[-1] = [*lines[-1][:-1], (Piece("...", None),)]
    font, step = text_font(size), line_height(size)
    space = font.getlength(" ")
    top = box.top + (box.height - step * len(lines)) / 2
    for number, line in enumerate(lines):
        x, y, under = float(box.left), top + (number + 0.5) * step, None
        for word in line:
            for piece in word:
                text = plain(piece.text)
                end = x + font.getlength(text)
                color = TEXT if piece.reference is None else colours[piece.reference]
                pen.text((x, y), text, color, font, anchor="lm", stroke_width=0.0 if piece.reference is None else 0.5)
                if piece.reference is not None:  # the line goes on below the space within a reference
                    left = under[1] if under is not None and under[0] == piece.reference else x
                    pen.line((left, y + size * 0.56, end, y + size * 0.56), color, 2)
                under = None if piece.reference is None else (piece.reference, end)
                x = end
            x += space


def wrap_words(words: Sequence[Word], width: float, size: int) -> list[list[Word]]:
    """Words in lines at most ``width`` wide; one that is wider than a line is cut short."""
    font = text_font(size)
    space = font.getlength(" ")
    lines: list[list[Word]] = [[]]
    used = 0.0
    for word in words:
        need = sum(font.getlength(plain(piece.text)) for piece in word)
        if need > width:
            word, need = (Piece(fitting("".join(p.text for p in word), width, size), word[0].reference),), width
        if lines[-1] and used + space + need > width:
            lines.append([])
        used = need if not lines[-1] else used + space + need
        lines[-1].append(word)
    return lines


def draw_bars(pen: ImageDraw.ImageDraw, box: Box, references: Sequence[ParsedChunk]) -> list[tuple[int, Box]]:
    """P(o | r) of each distinct reference with its likeliest objects; returns the cells drawn, by reference.

    Up to three references stand side by side with three objects each, more of them in two rows with one each.
    """
    colours, numbers = reference_colours(references), distinct(references)
    if not numbers:
        note = "The instruction refers to no object."
        pen.text((box.left, box.top + box.height / 2), note, MUTED, text_font(17), anchor="lm")
        return []
    shown = numbers[:_MOST_CELLS]
    rows = 1 if len(shown) <= _SHOWN else 2
    columns = math.ceil(len(shown) / rows)
    width = min((box.width - _GAP * (columns - 1)) // columns, 300)
    cells = []
    for k, number in enumerate(shown):
        row, column = divmod(k, columns)
        height = box.height // rows
        cell = Box(box.left + column * (width + _GAP), box.top + row * (height + 4), width, height - (rows - 1) * 4)
        _draw_cell(pen, cell, references[number], colours[number], _SHOWN if rows == 1 else 1)
        cells.append((number, cell))
    if len(numbers) > len(shown):
        more = f"and {len(numbers) - len(shown)} more"
        pen.text((box.left + box.width, box.top + box.height + 5), more, MUTED, text_font(12), anchor="rm")
    return cells


def _draw_cell(pen: ImageDraw.ImageDraw, box: Box, reference: ParsedChunk, color: Color, shown: int) -> None:
    size, row = 15, (box.height - 26) / shown
    heading = fitting(reference.text, box.width - _HEADING_ROOM, 17)
    pen.text((box.left, box.top + 9), heading, color, text_font(17), anchor="lm", stroke_width=0.5)
    outcomes = [*reference.probabilities.items(), ("none of these", reference.none)]
    outcomes.sort(key=lambda item: -item[1])
    names, value = min(round(box.width * 0.53), 118), 36
    for k, (name, p) in enumerate(outcomes[:shown]):
        y = box.top + 26 + (k + 0.5) * row
        color_of_text = TEXT if k == 0 else MUTED
        pen.text((box.left, y), fitting(name, names - 6, size), color_of_text, text_font(size), anchor="lm")
        draw_bar(pen, box.left + names, box.left + box.width - value, y, p, color)
        pen.text((box.left + box.width, y), f"{p:.2f}", color_of_text, text_font(14), anchor="rm")


def draw_bar(pen: ImageDraw.ImageDraw, left: float, right: float, y: float, p: float, color: Color) -> None:
    """A probability as a bar ten pixels high about ``y``."""
    pen.rounded_rectangle((left, y - 5, right, y + 5), 3, TRACK)
    filled = (right - left) * min(max(p, 0.0), 1.0)
    if filled >= 2:
        pen.rounded_rectangle((left, y - 5, left + filled, y + 5), min(3, filled / 2), color)
