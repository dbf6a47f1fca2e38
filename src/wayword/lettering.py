"""Text in pictures: one font, and the characters it can draw."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from PIL import ImageFont

from wayword.errors import WaywordError

_LONGEST = 400
"""No line of a picture has room for more characters."""


@lru_cache(maxsize=32)
def text_font(size: int) -> ImageFont.FreeTypeFont:
    """Pillow's built-in font: there on every machine."""
    font = ImageFont.load_default(size=size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise WaywordError("this Pillow was built without FreeType and cannot write text; install it from a wheel")
    return font


def plain(text: str) -> str:
    """The text in characters the built-in font has: accents off, dashes short, the rest as '?'."""
    text = text.translate({0x2013: "-", 0x2014: "-", 0x2212: "-", 0xDF: "ss", 0xA0: " "})
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return "".join(c if " " <= c <= "~" or c in "“”‘’°·" else "?" for c in " ".join(bare.split()))


def fitting(text: str, room: float, size: int) -> str:
    """As much of the text, made plain, as fits into ``room`` pixels; "..." stands for what does not."""
    shown, font = plain(text), text_font(size)
    if len(shown) <= _LONGEST and font.getlength(shown) <= room:
        return shown
    shown = shown[:_LONGEST]
    while shown and font.getlength(shown + "...") > room:
        shown = shown[:-1]
    return shown.rstrip() + "..."
