"""Text in pictures: one font, the characters it can draw, and how much of them fits."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from PIL import ImageDraw, ImageFont

from wayword.errors import WaywordError
from wayword.pictures.colours import Rgb

SMALLEST = 11
"""Pixels; smaller letters are not read."""
_LONGEST = 400
"""No line of a picture has room for more characters."""


@lru_cache(maxsize=32)
def text_font(size: int) -> ImageFont.FreeTypeFont:
    """Pillow's built-in font: there on every machine."""
    font = ImageFont.load_default(size=size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise WaywordError("this Pillow was built without FreeType and cannot write text; install it from a wheel")
    return font


def line_height(size: int) -> int:
    """Distance between lines of text, in pixels."""
    return round(size * 1.32)


def plain_text(text: str) -> str:
    """The text in characters the built-in font has: accents off, dashes short, the rest as '?'."""
    text = text.translate({0x2013: "-", 0x2014: "-", 0x2212: "-", 0xDF: "ss", 0xA0: " "})
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return "".join(c if " " <= c <= "~" or c in "“”‘’°·" else "?" for c in " ".join(bare.split()))


def cut_text(text: str, room: float, size: int) -> str:
    """As much of the text, made plain, as fits into ``room`` pixels; "..." stands for what does not."""
    line, font = plain_text(text), text_font(size)
    if len(line) <= _LONGEST and font.getlength(line) <= room:
        return line
    line = line[:_LONGEST]
    while line and font.getlength(line + "...") > room:
        line = line[:-1]
    return line.rstrip() + "..."


def line_size(text: str, room: float, largest: int, smallest: int = SMALLEST) -> int:
    """The largest size in which a line of text fits, or the smallest."""
    sizes = range(largest, smallest, -1)
    return next((size for size in sizes if text_font(size).getlength(text) <= room), smallest)


def fit_text(text: str, width: int, height: int, largest: int, smallest: int = SMALLEST) -> tuple[list[str], int]:
    """Wrap text into a box in the largest size that fits; what does not fit even in the smallest is cut."""
    for size in range(largest, smallest - 1, -1):
        lines = wrap_text(text, width, text_font(size))
        if len(lines) * line_height(size) <= height:
            return lines, size
    fitting = max(1, height // line_height(smallest))
    return [*lines[: fitting - 1], lines[fitting - 1][:-3] + "..."], smallest


def wrap_text(text: str, width: float, font: ImageFont.FreeTypeFont) -> list[str]:
    """Break text into lines at most ``width`` wide; a word that is too long is broken where it must."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if font.getlength(longer) <= width:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for character in word:
            if lines[-1] and font.getlength(lines[-1] + character) > width:
                lines.append("")
            lines[-1] += character
    return lines


def draw_text(
    pen: ImageDraw.ImageDraw,
    at: tuple[float, float],
    text: str,
    size: int,
    colour: Rgb,
    anchor: str = "lm",
    bold: float = 0.0,
) -> None:
    """Text in characters the built-in font has; ``bold`` pixels are added around each letter."""
    pen.text(at, plain_text(text), colour, text_font(size), anchor=anchor, stroke_width=bold)
