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

from wayword.pictures.colours import BAR_GROUND, MUTED_TEXT, TEXT, Rgb, reference_colours
from wayword.pictures.flight_card import Rectangle
from wayword.pictures.lettering import cut_text, line_height, plain_text, text_font

if TYPE_CHECKING:
    from wayword.language.pipeline import Parsed, ParsedChunk

NONE_OF_THESE = "none of these"
_LIKELIEST = 3
"""Objects per reference."""
_MOST_CELLS = 6
_GAP = 26
_HEADING_ROOM = 64
"""Pixels kept free at the right of a column's heading: how surely the thing is in view is written there."""


class WordPiece(NamedTuple):
    """A word of the instruction or a part of one; its reference's number, if it belongs to one."""

    text: str
    reference: int | None
    in_chunk: bool = False
    """Part of a noun chunk, a reference or not."""


Word = tuple[WordPiece, ...]


def distinct_references(references: Sequence[ParsedChunk]) -> list[int]:
    """Numbers of the references that say something new: pronouns and phrases said before are left out."""
    phrases: set[str] = set()
    numbers = []
    for number, reference in enumerate(references):
        phrase = reference.text.lower().removeprefix("the ").removeprefix("a ")
        if reference.antecedent is None and phrase not in phrases:
            phrases.add(phrase)
            numbers.append(number)
    return numbers


def split_words(parsed: Parsed) -> list[Word]:
    """The instruction as typed, word by word; a word that is partly inside a noun chunk is cut at its ends."""
    owner: list[tuple[int | None, bool]] = [(None, False)] * len(parsed.original)
    spans = [(chunk.original, None) for chunk in parsed.chunks if not chunk.is_reference]
    for (start, end), number in (*spans, *((each.original, k) for k, each in enumerate(parsed.references))):
        owner[start:end] = [(number, True)] * (end - start)
    words, position = [], 0
    for word in parsed.original.split():
        start = parsed.original.index(word, position)
        position = start + len(word)
        runs = itertools.groupby(range(start, position), key=lambda i: owner[i])
        words.append(tuple(WordPiece("".join(parsed.original[i] for i in run), *which) for which, run in runs))
    return words


def draw_instruction(pen: ImageDraw.ImageDraw, box: Rectangle, parsed: Parsed, largest: int = 28) -> None:
    """Write the instruction into the box, as large as it fits, references in colour and underlined."""
    colours, words = reference_colours(parsed.references), split_words(parsed)
    for size in range(largest, 10, -1):
        lines = wrap_words(words, box.width, size)
        if len(lines) * line_height(size) <= box.height:
            break
    else:
        lines = lines[: max(1, box.height // line_height(size))]
        lines[-1] = [*lines[-1][:-1], (WordPiece("...", None),)]
    font, step = text_font(size), line_height(size)
    space = font.getlength(" ")
    top = box.top + (box.height - step * len(lines)) / 2
    for number, line in enumerate(lines):
        x, y, under = float(box.left), top + (number + 0.5) * step, None
        for word in line:
            for piece in word:
                text = plain_text(piece.text)
                end = x + font.getlength(text)
                colour = TEXT if piece.reference is None else colours[piece.reference]
                pen.text((x, y), text, colour, font, anchor="lm", stroke_width=0.0 if piece.reference is None else 0.5)
                if piece.reference is not None:  # the line goes on below the space within a reference
                    left = under[1] if under is not None and under[0] == piece.reference else x
                    pen.line((left, y + size * 0.56, end, y + size * 0.56), colour, 2)
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
        need = sum(font.getlength(plain_text(piece.text)) for piece in word)
        if need > width:
            word, need = (WordPiece(cut_text("".join(p.text for p in word), width, size), word[0].reference),), width
        if lines[-1] and used + space + need > width:
            lines.append([])
        used = need if not lines[-1] else used + space + need
        lines[-1].append(word)
    return lines


def draw_bars(
    pen: ImageDraw.ImageDraw, box: Rectangle, references: Sequence[ParsedChunk]
) -> list[tuple[int, Rectangle]]:
    """P(o | r) of each distinct reference with its likeliest objects; returns the cells drawn, by reference.

    Up to three references stand side by side with three objects each, more of them in two rows with one each.
    """
    colours, numbers = reference_colours(references), distinct_references(references)
    if not numbers:
        note = "The instruction refers to no object."
        pen.text((box.left, box.top + box.height / 2), note, MUTED_TEXT, text_font(17), anchor="lm")
        return []
    first = numbers[:_MOST_CELLS]
    rows = 1 if len(first) <= _LIKELIEST else 2
    columns = math.ceil(len(first) / rows)
    width = min((box.width - _GAP * (columns - 1)) // columns, 300)
    cells = []
    for k, number in enumerate(first):
        row, column = divmod(k, columns)
        height = box.height // rows
        cell = Rectangle(
            box.left + column * (width + _GAP), box.top + row * (height + 4), width, height - (rows - 1) * 4
        )
        _draw_cell(pen, cell, references[number], colours[number], _LIKELIEST if rows == 1 else 1)
        cells.append((number, cell))
    if len(numbers) > len(first):
        more = f"and {len(numbers) - len(first)} more"
        pen.text((box.left + box.width, box.top + box.height + 5), more, MUTED_TEXT, text_font(12), anchor="rm")
    return cells


def _draw_cell(pen: ImageDraw.ImageDraw, box: Rectangle, reference: ParsedChunk, colour: Rgb, count: int) -> None:
    size, row = 15, (box.height - 26) / count
    heading = cut_text(reference.text, box.width - _HEADING_ROOM, 17)
    pen.text((box.left, box.top + 9), heading, colour, text_font(17), anchor="lm", stroke_width=0.5)
    outcomes = [*reference.probabilities.items(), (NONE_OF_THESE, reference.none)]
    outcomes.sort(key=lambda item: -item[1])
    names, value = min(round(box.width * 0.53), 118), 36
    for k, (name, p) in enumerate(outcomes[:count]):
        y = box.top + 26 + (k + 0.5) * row
        ink = TEXT if k == 0 else MUTED_TEXT
        pen.text((box.left, y), cut_text(name, names - 6, size), ink, text_font(size), anchor="lm")
        draw_bar(pen, box.left + names, box.left + box.width - value, y, p, colour)
        pen.text((box.left + box.width, y), f"{p:.2f}", ink, text_font(14), anchor="rm")


def draw_bar(pen: ImageDraw.ImageDraw, left: float, right: float, y: float, p: float, colour: Rgb) -> None:
    """A probability as a bar ten pixels high about ``y``."""
    pen.rounded_rectangle((left, y - 5, right, y + 5), 3, BAR_GROUND)
    filled = (right - left) * min(max(p, 0.0), 1.0)
    if filled >= 2:
        pen.rounded_rectangle((left, y - 5, left + filled, y + 5), min(3, filled / 2), colour)
