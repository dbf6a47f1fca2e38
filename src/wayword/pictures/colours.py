"""The colours of all pictures: one colour stands for one thing wherever it is drawn."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wayword.language.pipeline import ParsedChunk

Rgb = tuple[int, int, int]

WHITE: Rgb = (255, 255, 255)

# On maps and views ---------------------------------------------------------------------------------------

OUTLINE: Rgb = (18, 22, 30)
"""Around lines and letters, so that they are read on any ground."""
FLIGHT: Rgb = (255, 206, 56)
"""The flown path, and the drone."""
DEMONSTRATION: Rgb = WHITE
VISITS: Rgb = (64, 148, 255)
"""d^p: where it will fly."""
STOPS: Rgb = (255, 58, 58)
"""d^g: where it will stop."""
PALETTE: tuple[Rgb, ...] = (
    (255, 94, 206), (74, 222, 232), (255, 160, 60), (178, 140, 255), (206, 238, 84), (255, 140, 130),
)  # fmt: skip
"""Of references, clear of grass, of the two distributions and of the flown path."""
UNKNOWN_OBJECT: Rgb = (150, 156, 166)
"""Of references to nothing the database knows."""

# On cards: dark pages with panels ------------------------------------------------------------------------

DARK_PAGE: Rgb = (15, 18, 24)
PANEL: Rgb = (25, 30, 39)
BAR_GROUND: Rgb = (44, 51, 63)
TEXT: Rgb = (238, 241, 245)
MUTED_TEXT: Rgb = (148, 158, 172)
SUCCESS: Rgb = (92, 214, 138)
FAILURE: Rgb = (255, 122, 104)

# On sheets: light pages ----------------------------------------------------------------------------------

LIGHT_PAGE: Rgb = (250, 250, 248)
INK: Rgb = (38, 42, 50)
FAINT_INK: Rgb = (140, 146, 156)
ACCENT: Rgb = (206, 84, 0)
"""Of what deserves a look: boxes in photos, objects that the check has something to say about, wrong answers."""


def palette_colour(number: int) -> Rgb:
    """The colour of reference ``number``, over again after the last."""
    return PALETTE[number % len(PALETTE)]


def reference_colours(references: Sequence[ParsedChunk]) -> list[Rgb]:
    """A colour for each reference: the same for those that mean the same object, grey for unknown ones."""
    known: dict[str, Rgb] = {}
    for reference in references:
        if reference.best is not None and reference.best not in known:
            known[reference.best] = palette_colour(len(known))
    return [UNKNOWN_OBJECT if r.best is None else known[r.best] for r in references]


def instance_colour(number: int) -> Rgb:
    """Any number of colours, far apart for neighbouring numbers: the hue goes round by the golden section."""
    red, green, blue = colorsys.hsv_to_rgb(number * 0.381966 % 1.0, 0.85, 1.0)
    return round(255 * red), round(255 * green), round(255 * blue)
