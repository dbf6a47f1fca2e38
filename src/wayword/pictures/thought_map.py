"""What a policy believes about the ground, painted onto the map.

M^W       (32, 32)    what has been observed: the rest is darkened
S^W(r)    (32, 32)    where each reference's object is believed to stand: its rim in the reference's colour
d^p, d^g  (64, 64)    where it will fly (blue) and where it will stop (red), in the start frame

Every layer is enlarged from its own grid to the map's pixels in one step, turned into the world frame on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageEnhance

from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED, to_frame
from wayword.pictures.colours import STOPS, VISITS, Rgb
from wayword.pictures.masks import masks_by_colour
from wayword.pictures.topdown import TopDown

if TYPE_CHECKING:
    from wayword.policy.fspvn import Thought

_DARK = 0.52
"""Opacity of the shade over what has not been observed."""
_RIM, _FINE = 2, 4
_LEAST = 0.05
"""References that are believed nowhere more than this have no ring."""
_STEEP = 0.35
"""Slope per cell at the rim of a reference's likeliest place, as a share of its height: a ring of full colour."""
FLANKS = 0.6
"""Exponent of a distribution's opacity: most of it lies in its flanks, and this shows them."""
_FAINT = 0.004
"""A distribution without any cell above this is spread so thin that it is not brought out further."""


def calm_map(picture: Image.Image) -> Image.Image:
    """A map whose own colours leave room for the layers."""
    return ImageEnhance.Brightness(ImageEnhance.Color(picture).enhance(0.55)).enhance(0.86)


def paint_beliefs(picture: Image.Image, topdown: TopDown, thought: Thought, colours: Sequence[Rgb]) -> None:
    """Paint all layers of a thought onto a map, in place; ``colours`` are those of its references."""
    world = _world_affine(topdown)
    size = (topdown.size_px, topdown.size_px)
    dark = _enlarge(1 - thought.coverage, size, world, outside=1.0)
    picture.paste((10, 12, 18), mask=dark.point([round(value * _DARK) for value in range(256)]))
    start = _start_affine(topdown, thought.start)
    for row, colour in enumerate((VISITS, STOPS)):
        p = thought.distributions[row, :UNOBSERVED].reshape(PREDICTION_CELLS, PREDICTION_CELLS)
        observed = 1 - float(thought.distributions[row, UNOBSERVED])
        # What is unobserved fades the whole.
        strength = 0.92 * math.sqrt(max(observed, 0.0))
        table = [round(255 * strength * (value / 255) ** FLANKS) for value in range(256)]
        picture.paste(colour, mask=_enlarge(share_of_peak(p), size, start).point(table))
    for colour, mask in masks_by_colour(thought.references, colours).items():
        peak = float(mask.max())
        if peak > _LEAST:
            level, slope = (_enlarge(mask / peak, size, world, slope=slope) for slope in (False, True))
            ring = [round(255 * min(peak * 1.3, 1.0) * _ring(value / 255)) for value in range(256)]
            # A less likely second place lies flat at the ring's level: its slope makes it hollow, and fainter.
            steep = [round(255 * min(1.0, value / 255 / _STEEP)) for value in range(256)]
            picture.paste(colour, mask=ImageChops.multiply(level.point(ring), slope.point(steep)))


def share_of_peak(p: NDArray[np.float32]) -> NDArray[np.float32]:
    """A distribution (64, 64) on a scale from 0 to 1."""
    result: NDArray[np.float32] = p / max(float(p.max()), _FAINT)
    return result


def _ring(value: float) -> float:
    """Opacity of a mask's ring: most of it where the mask falls through a half."""
    return max(0.0, 1.0 - abs(value - 0.42) / 0.2) ** 0.7 if value < 0.62 else 0.0


def _world_affine(topdown: TopDown) -> tuple[float, ...]:
    """From a pixel of the map to column and row of the world grid."""
    return _affine(topdown, lambda points: points / CELL_M)


def _start_affine(topdown: TopDown, start: NDArray[np.float64]) -> tuple[float, ...]:
    """From a pixel of the map to column and row of the prediction grid."""
    return _affine(topdown, lambda points: to_frame(points, start) / CELL_M + PREDICTION_CELLS / 2)


def _affine(topdown: TopDown, to_cells: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> tuple[float, ...]:
    pixels = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    origin, right, down = to_cells(topdown.to_world(pixels))
    x, y = right - origin, down - origin
    return float(x[0]), float(y[0]), float(origin[0]), float(x[1]), float(y[1]), float(origin[1])


def _enlarge(
    grid: NDArray[np.float32],
    size: tuple[int, int],
    affine: tuple[float, ...],
    outside: float = 0.0,
    slope: bool = False,
) -> Image.Image:
    """A grid of values in [0, 1], or its slope per cell, as a grey picture: cubic to four times the cells."""
    # What lies beyond the grid is empty, or continues its border.
    values = np.pad(grid, _RIM, mode="edge") if outside else np.pad(grid, _RIM)
    rows, columns = values.shape
    picture = Image.fromarray(values.astype(np.float32)).resize(
        (columns * _FINE, rows * _FINE), Image.Resampling.BICUBIC
    )
    fine = np.asarray(picture)
    if slope:
        fine = np.hypot(*np.gradient(fine)) * _FINE
    picture = Image.fromarray(np.clip(np.rint(fine * 255), 0, 255).astype(np.uint8))
    a, b, c, d, e, f = ((value + _RIM * (k % 3 == 2)) * _FINE for k, value in enumerate(affine))
    how, fill = Image.Resampling.BILINEAR, round(outside * 255)
    return picture.transform(size, Image.Transform.AFFINE, (a, b, c, d, e, f), how, fillcolor=fill)
