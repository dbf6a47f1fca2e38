"""Boxes in pictures, each with a short text that is read on any ground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageDraw

from wayword.pictures.colours import OUTLINE, WHITE, Rgb
from wayword.pictures.lettering import plain_text, text_font

_LEAST_LETTERS_PX = 12


def draw_boxes(
    picture: Image.Image,
    boxes: ArrayLike,
    texts: Sequence[str] = (),
    colours: Sequence[Rgb] = (WHITE,),
    line_px: int | None = None,
    letters_px: int | None = None,
) -> None:
    """Outline boxes (B, 4), in the picture's own pixels, and write a text above each, in place.

    ``colours`` go round if there are fewer than boxes. Lines and letters grow with the picture, because a photo is
    looked at as a whole; ``line_px`` fixes the lines, ``letters_px`` the letters.
    """
    pen = ImageDraw.Draw(picture)
    line, size = line_px or max(1, picture.width // 800), letters_px or max(_LEAST_LETTERS_PX, picture.width // 80)
    edges = np.asarray(boxes, np.float64).reshape(-1, 4).tolist()
    for k, (x0, y0, x1, y1) in enumerate(edges):
        pen.rectangle((x0, y0, max(x1 - 1, x0), max(y1 - 1, y0)), outline=colours[k % len(colours)], width=line)
    stroke, font = max(1, size // 12), text_font(size)
    places: list[tuple[float, float, float]] = []
    for (x0, y0, _, _), text in zip(edges, texts, strict=False):  # after all boxes: no line goes through a text
        words = plain_text(text)
        y, length = max(y0 - size - 2, 0), pen.textlength(words, font) + 2 * stroke
        x = max(min(x0 + 2, picture.width - length), stroke)  # a text at the right rim begins further left
        for left, right, top in sorted(places):  # nor a text over another: it goes to the right of it
            if x < right and left < x + length and abs(y - top) < size:
                x = right
        pen.text((x, y), words, WHITE, font, stroke_width=stroke, stroke_fill=OUTLINE)
        places.append((x, x + length, y))
