"""Grounds and a surround of the second place, the lab: kept apart, so that no random look ever shows them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wayword.sim.render.shading import TILE, WALL_HEIGHT, WALL_WIDTH
from wayword.sim.render.surroundings import FloatImage, Texture, noise, tint


def _bytes(image: FloatImage) -> Texture:
    return np.clip(np.round(image), 0, 255).astype(np.uint8)


def _flecks(image: FloatImage, colours: tuple[tuple[int, int, int], ...], count: int, rng: np.random.Generator) -> None:
    """Small specks of colour, as in recycled rubber."""
    height, width, _ = image.shape
    for colour in colours:
        y, x = rng.integers(0, height, count), rng.integers(0, width, count)
        wide = rng.integers(1, 3, count)
        for i in range(count):
            image[y[i] : y[i] + 1 + i % 2, x[i] : x[i] + wide[i]] = colour


def puzzle_mats() -> Texture:
    """Interlocking rubber mats, charcoal and dark blue in turn, flecked, four to a tile."""
    rng = np.random.default_rng(60)
    side = TILE // 4
    y, x = np.mgrid[0:TILE, 0:TILE]
    # The seams wave like the teeth of a puzzle.
    teeth = np.round(3.0 * np.sign(np.sin(2 * np.pi * 8 * np.stack([y, x]) / TILE)))
    column, row = (x + teeth[0]) // side, (y + teeth[1]) // side
    blue = ((column + row) % 2 == 1)[..., None]
    rough = noise((TILE, TILE), 1.0, rng)
    image = np.where(blue, tint((44, 62, 104), (rough, 0.16)), tint((58, 58, 62), (rough, 0.16)))
    _flecks(image, ((150, 148, 60), (150, 90, 84), (170, 172, 176)), 260, rng)
    seam = ((x + teeth[0]) % side < 1) | ((y + teeth[1]) % side < 1)
    image[seam] = (26, 26, 30)
    return _bytes(image)


def linoleum() -> Texture:
    """Dull green linoleum, marbled, with scuffs."""
    rng = np.random.default_rng(61)
    marble = np.sin(8 * noise((TILE, TILE), 36, rng) + 3 * noise((TILE, TILE), 9, rng))
    image = tint((104, 122, 104), (marble, 0.10), (noise((TILE, TILE), 1.2, rng), 0.06))
    _flecks(image, ((70, 80, 72), (150, 160, 146)), 200, rng)
    return _bytes(image)


def workshop() -> Texture:
    """A cluttered lab: shelves of coloured boxes and instruments, posters, a whiteboard, racks with lamps."""
    rng = np.random.default_rng(62)
    image = tint((168, 150, 122), (noise((WALL_HEIGHT, WALL_WIDTH), 30, rng), 0.05))
    image[116:] = (60, 52, 46)
    x = 0
    while x < WALL_WIDTH - 30:
        width = int(rng.integers(52, 110))
        right = min(x + width, WALL_WIDTH)
        kind = int(rng.integers(0, 4))
        if kind <= 1:
            _shelf(image, x, right, rng)
        elif kind == 2:
            _posters(image, x, right, rng)
        else:
            _rack(image, x, right, rng)
        x = right + int(rng.integers(4, 18))
    return _bytes(image)


def _vivid(rng: np.random.Generator) -> FloatImage:
    """A strong colour."""
    low, middle, high = rng.integers(20, 60), rng.integers(40, 190), rng.integers(150, 235)
    return np.asarray(rng.permutation([low, middle, high]), np.float64)


def _shelf(image: FloatImage, left: int, right: int, rng: np.random.Generator) -> None:
    """Boards with boxes of all colours and heights."""
    image[36:118, left:right] = (64, 56, 50)
    for foot in (62, 89, 117):
        at = left + 2
        while at < right - 5:
            wide, high = int(rng.integers(5, 17)), int(rng.integers(8, 23))
            image[foot - high : foot, at : min(at + wide, right - 2)] = _vivid(rng)
            if rng.random() < 0.4:  # a label
                image[foot - high // 2 : foot - high // 2 + 3, at + 1 : min(at + wide - 1, right - 2)] = (226, 224, 214)
            at += wide + int(rng.integers(0, 4))
        image[foot : foot + 2, left:right] = (136, 110, 76)


def _posters(image: FloatImage, left: int, right: int, rng: np.random.Generator) -> None:
    """Posters with a headline and a figure, above a bench with things on it."""
    at = left + 3
    while at < right - 16:
        wide = min(int(rng.integers(18, 34)), right - at)
        image[24:70, at : at + wide] = _vivid(rng) * 0.5 + 110
        image[28:32, at + 2 : at + wide - 2] = _vivid(rng) * 0.6
        image[38:62, at + 4 : at + wide - 4] = _vivid(rng)
        at += wide + int(rng.integers(3, 9))
    image[92:96, left:right] = (92, 80, 66)
    image[96:118, left:right] *= 0.45
    for _ in range(4):
        at = int(rng.integers(left, right - 8))
        high = int(rng.integers(6, 20))
        image[92 - high : 92, at : at + int(rng.integers(6, 14))] = _vivid(rng)


def _rack(image: FloatImage, left: int, right: int, rng: np.random.Generator) -> None:
    """A dark rack of instruments with rows of lamps and a screen, cables below."""
    image[30:118, left:right] = (38, 40, 44)
    for top in range(34, 112, 13):
        image[top : top + 10, left + 2 : right - 2] = np.array([70, 74, 80]) * rng.uniform(0.6, 1.5)
        for at in range(left + 5, right - 5, 6):
            if rng.random() < 0.5:
                image[top + 4 : top + 6, at : at + 2] = _vivid(rng)
    middle = (left + right) // 2
    image[40:58, middle - 10 : middle + 12] = (60, 150, 190)
    image[44:46, middle - 7 : middle + 8] = (214, 230, 236)


LAB_GROUNDS: dict[str, Callable[[], Texture]] = {fn.__name__: fn for fn in (puzzle_mats, linoleum)}
LAB_SURROUNDS: dict[str, Callable[[], Texture]] = {fn.__name__: fn for fn in (workshop,)}
