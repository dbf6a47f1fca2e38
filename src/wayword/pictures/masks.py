"""The one way masks are painted: by how sure they are, in their colour, with a brighter rim at half their height.

opacity at a pixel of value v in [0, 1], of a mask whose largest value is p:

    max(0.62 v,  p max(0, 1 - |v - p / 2| / (0.3 p)))

The first term is the inside; the second, the rim, shows where a soft mask ends and vanishes where v = p, so a hard
mask at the picture's own size has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.pictures.colours import Rgb

Mask = NDArray[np.float32]
"""(h, w) values in [0, 1]."""
LEAST_MASK = 0.02
"""A mask that is nowhere more than this is not painted."""
_INSIDE = 0.62
_RIM = 0.3


def paint_masks(
    picture: Image.Image, masks: Mapping[Rgb, Mask], part: tuple[float, float, float, float] | None = None
) -> None:
    """Paint masks of any size over the whole picture, each in its colour, in place.

    ``part`` is what the picture shows of the masks: left, top, right, bottom in their pixels; all of them if not given.
    """
    for colour, mask in masks.items():
        peak = float(mask.max(initial=0.0))
        if peak < LEAST_MASK:
            continue
        levels = Image.fromarray(np.clip(np.rint(mask * 255), 0, 255).astype(np.uint8))
        levels = levels.resize(picture.size, Image.Resampling.BILINEAR, box=part)
        picture.paste(colour, mask=levels.point([_opacity(value, peak) for value in range(256)]))


def _opacity(value: int, peak: float) -> int:
    rim = round(255 * peak * max(0.0, 1 - abs(value / 255 - peak / 2) / (_RIM * peak)))
    return min(255, max(round(_INSIDE * value), rim))


def masks_by_colour(masks: NDArray[np.float32], colours: Sequence[Rgb]) -> dict[Rgb, Mask]:
    """One mask per colour, the largest of those (R, h, w) that share it: references to one object do."""
    result: dict[Rgb, Mask] = {}
    for mask, colour in zip(masks, colours, strict=False):
        result[colour] = np.maximum(result[colour], mask) if colour in result else mask
    return result


def instance_masks(ids: NDArray[np.uint8], colours: Mapping[int, Rgb]) -> dict[Rgb, Mask]:
    """The hard masks of instances ``ids`` (h, w), which are numbered from 1."""
    return {colour: (ids == number).astype(np.float32) for number, colour in colours.items()}
