"""Shapes with smooth edges: each is drawn three times as large and scaled down.

points, pixels (N, 2): column, row with the first pixel's centre at (0.5, 0.5)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from wayword.pictures.colours import Rgb

Points = NDArray[np.float64]
_FINE = 3


def stroke(image: Image.Image, lines: Sequence[Points], width: float, colour: Rgb, opacity: float = 1.0) -> None:
    """Lines through pixels (N, 2), with round ends and corners."""
    radius = width / 2 * _FINE

    def draw(pen: ImageDraw.ImageDraw, fine: Callable[[ArrayLike], list[tuple[float, ...]]]) -> None:
        for line in lines:
            corners = fine(line)
            pen.line(corners, 255, round(2 * radius))
            if radius > 2:
                for x, y in corners:
                    pen.ellipse((x - radius, y - radius, x + radius, y + radius), 255)

    _stamp(image, np.concatenate(lines), width, colour, opacity, draw)


def disc(image: Image.Image, centre: ArrayLike, radius: float, colour: Rgb, opacity: float = 1.0) -> None:
    """A filled circle."""
    middle = np.asarray(centre, dtype=np.float64).reshape(1, 2)
    _stamp(image, middle, radius + 1, colour, opacity,
          lambda pen, fine: pen.ellipse(sum(fine([middle[0] - radius, middle[0] + radius]), ()), 255))  # fmt: skip


def polygon(image: Image.Image, corners: Points, colour: Rgb, opacity: float = 1.0) -> None:
    """A filled polygon."""
    _stamp(image, corners, 1, colour, opacity, lambda pen, fine: pen.polygon(fine(corners), 255))


def dashes(line: Points, on: float, off: float) -> list[Points]:
    """Cut a line into dashes of length ``on`` with gaps ``off``, corners kept."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    arc = np.concatenate([[0.0], np.cumsum(steps)])
    pieces = []
    for start in np.arange(0.0, arc[-1], on + off):
        stop = min(start + on, arc[-1])
        at = np.concatenate([[start], arc[(arc > start) & (arc < stop)], [stop]])
        pieces.append(np.column_stack([np.interp(at, arc, line[:, 0]), np.interp(at, arc, line[:, 1])]))
    return pieces or [line]


def _stamp(
    image: Image.Image,
    points: Points,
    reach: float,
    colour: Rgb,
    opacity: float,
    draw: Callable[[ImageDraw.ImageDraw, Callable[[ArrayLike], list[tuple[float, ...]]]], None],
) -> None:
    """Let ``draw`` fill a mask around the points, ``reach`` wider on all sides, and paint through it."""
    low = np.maximum(np.floor(points.min(axis=0) - reach), 0).astype(int)
    high = np.minimum(np.ceil(points.max(axis=0) + reach), image.size).astype(int)
    width, height = (high - low).tolist()
    if width <= 0 or height <= 0:
        return
    mask = Image.new("L", (width * _FINE, height * _FINE))

    def fine(at: ArrayLike) -> list[tuple[float, ...]]:
        # ImageDraw's integer coordinates are pixel centres, ours are edges: half a (fine) pixel apart.
        return [tuple(p) for p in ((np.asarray(at, dtype=np.float64) - low) * _FINE - 0.5).tolist()]

    draw(ImageDraw.Draw(mask), fine)
    mask = mask.reduce(_FINE)
    if opacity < 1:
        mask = mask.point([round(value * opacity) for value in range(256)])
    image.paste(colour, (int(low[0]), int(low[1])), mask)
