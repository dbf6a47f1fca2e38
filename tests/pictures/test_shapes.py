"""Shapes: as large as they should be, where they should be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PIL import Image

from wayword.pictures.shapes import dashes, disc, polygon, stroke


def test_dashes_have_their_lengths() -> None:
    # 10 long in dashes of 3 with gaps of 2: 0-3 and 5-8; the corner at 4 lies in a gap, the one at 6 in a dash.
    line = np.array([[0, 0], [4, 0], [4, 2], [8, 2]], dtype=float)
    first, second = dashes(line, 3, 2)
    np.testing.assert_allclose(first, [[0, 0], [3, 0]])
    np.testing.assert_allclose(second, [[4, 1], [4, 2], [6, 2]])


def painted(image: Image.Image) -> np.ndarray:
    """How much of each pixel is covered, 0 to 1, of shapes in white on black."""
    return np.asarray(image)[..., 0] / 255


def test_shapes_cover_their_area() -> None:
    # A disc of radius 9: pi 81 = 254.5; a square of 10; a line of 30 x 6 with half a disc of radius 3 at each end.
    for draw, area in (
        (lambda image: disc(image, (20, 30), 9, (255, 255, 255)), math.pi * 81),
        (lambda image: polygon(image, np.array([[5.0, 5], [15, 5], [15, 15], [5, 15]]), (255, 255, 255)), 100),
        (lambda image: stroke(image, [np.array([[15.0, 20], [45, 20]])], 6, (255, 255, 255)), 180 + math.pi * 9),
    ):
        image = Image.new("RGB", (60, 60))
        draw(image)
        assert painted(image).sum() == pytest.approx(area, rel=0.08)


def test_opacity_is_the_share_of_the_colour() -> None:
    image = Image.new("RGB", (20, 20))
    disc(image, (10, 10), 6, (200, 100, 0), 0.5)
    assert image.getpixel((10, 10)) == (100, 50, 0)
    before = image.copy()
    disc(image, (100, 100), 6, (255, 255, 255))  # outside
    assert image.tobytes() == before.tobytes()
