"""Where the object is in a photo, and the square that is cut out around it.

    I     (H, W, 3)   uint8 RGB
    box   x0, y0, x1, y1 in pixels of I; x to the right, y down, x1 and y1 just outside
    Q     (S, S, 3)   the exemplar, S <= 256; the networks make it 32 x 32

A ``Cropper`` finds the box. The squares of a database are cut here and nowhere else, so that all look alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.errors import WaywordError

Pixels = NDArray[np.uint8]

MIN_BOX = 8.0
"""Pixels; less of an object cannot be recognised."""


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels of an image."""

    x0: float
    y0: float
    x1: float
    y1: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) for value in self.values):
            raise WaywordError("a box must be four finite numbers: x0 y0 x1 y1")
        if self.x1 <= self.x0 or self.y1 <= self.y0:
            raise WaywordError(
                f"the box {self} is empty; give its left, upper, right and lower edge in pixels: x0 y0 x1 y1"
            )

    @property
    def values(self) -> tuple[float, float, float, float]:
        """The four edges."""
        return self.x0, self.y0, self.x1, self.y1

    @property
    def width(self) -> float:
        """In pixels."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """In pixels."""
        return self.y1 - self.y0

    @classmethod
    def middle(cls, width: float, height: float) -> Box:
        """The middle of an image, three quarters of each side: the answer of a cropper that found nothing."""
        return cls(width / 8, height / 8, width * 7 / 8, height * 7 / 8)

    def scaled(self, x: float, y: float) -> Box:
        """The same place in an image that is ``x`` times as wide and ``y`` times as high."""
        return Box(self.x0 * x, self.y0 * y, self.x1 * x, self.y1 * y)

    def inside(self, width: float, height: float) -> Box:
        """The part of it that is inside an image; an error if too little remains."""
        x0, y0, x1, y1 = max(self.x0, 0.0), max(self.y0, 0.0), min(self.x1, width), min(self.y1, height)
        if x1 - x0 < MIN_BOX or y1 - y0 < MIN_BOX:
            raise WaywordError(
                f"less than {MIN_BOX:g} x {MIN_BOX:g} pixels of the box {self} are inside the photo, "
                f"which has {width:g} x {height:g}"
            )
        return Box(x0, y0, x1, y1)

    def __str__(self) -> str:
        return " ".join(f"{value:g}" for value in self.values)


class Cropper(Protocol):
    """Finds the object that a photo shows: the largest confident one near the middle."""

    @property
    def name(self) -> str:
        """A word that is written beside each crop."""

    def crop_box(self, image: Pixels) -> tuple[Box, float]:
        """The tight box around the object in ``image``, and the probability that it is right."""


class JointCropper(Cropper, Protocol):
    """A cropper that makes use of several photos showing the same object."""

    def crop_boxes(self, images: Sequence[Pixels]) -> list[tuple[Box, float]]:
        """The box of the one object in each of ``images``, and the probability that it is right."""


@dataclass(frozen=True)
class CropConfig:
    """How the square is cut.

    Attributes:
        side: pixels of its side at most; smaller objects are not enlarged.
        margin: added around the box on each side, as a fraction of its longer side.
    """

    side: int = 256
    margin: float = 0.05


def square_crop(image: Pixels, box: Box, config: CropConfig | None = None) -> Pixels:
    """(S, S, 3): the square around ``box`` with its margin.

    The square is as large as the box's longer side and is moved, not cut, at the edge of the image. Where the
    image is too small for it, the pixels of its edge are repeated.
    """
    config = config or CropConfig()
    height, width = image.shape[:2]
    side = max(box.width, box.height) * (1 + 2 * config.margin)
    x0, x1, left, right = _span((box.x0 + box.x1) / 2, side, width)
    y0, y1, above, below = _span((box.y0 + box.y1) / 2, side, height)
    target = max(1, min(config.side, round(side)))
    scale = target / side
    # Scaled first and filled up afterwards: a square around a long strip would be very large.
    columns, rows = max(1, round((x1 - x0) * scale)), max(1, round((y1 - y0) * scale))
    # Only the pixels of the square are handed over, not the whole photo.
    part = image[(top := int(y0)) : math.ceil(y1), (west := int(x0)) : math.ceil(x1)]
    frame = (x0 - west, y0 - top, x1 - west, y1 - top)
    picture = Image.fromarray(part).resize((columns, rows), Image.Resampling.LANCZOS, box=frame, reducing_gap=3.0)
    before_x = min(round(left * scale), target - columns) if left or right else 0
    before_y = min(round(above * scale), target - rows) if above or below else 0
    fill = ((before_y, target - rows - before_y), (before_x, target - columns - before_x), (0, 0))
    return np.pad(np.asarray(picture), fill, mode="edge")


def _span(centre: float, side: float, limit: float) -> tuple[float, float, float, float]:
    """One axis of the square: from, to inside the image, and how much is missing before and after."""
    if side >= limit:
        missing = side - limit
        before = min(max(side / 2 - centre, 0.0), missing)
        return 0.0, limit, before, missing - before
    start = min(max(centre - side / 2, 0.0), limit - side)
    return start, start + side, 0.0, 0.0
