"""Floors and walls that nobody has seen: random patterns, full of edges that belong to no object.

A floor of checked mats, planks, flecks or papers lying about has as many corners as things have, and a shelf on a wall
as many boxes. A network that has met smooth floors only takes each of them for a thing.

    floor   (256, 256, 3)    uint8 tile that repeats seamlessly
    wall    (128, 1024, 3)   uint8 band around the four walls of a room, top row first
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wayword.sim.render.shading import TILE, WALL_HEIGHT, WALL_WIDTH
from wayword.sim.render.surroundings import noise

Texture = NDArray[np.uint8]
_Image = NDArray[np.float64]
_FLECKS = 400
"""Most flecks of one colour on a floor."""
_MOST_BOXES = 260
"""Most boxes on the shelves of a wall."""


def random_floor(rng: np.random.Generator) -> Texture:
    """A floor of one family, with flat things, flecks and grain on it as it comes."""
    colours = random_colours(4, rng)
    image = FAMILIES[int(rng.integers(len(FAMILIES)))](colours, rng)
    if rng.random() < 0.4:
        _lay_flat_things(image, int(rng.integers(1, 13)), rng)
    if rng.random() < 0.5:
        _strew_flecks(image, random_colours(int(rng.integers(1, 4)), rng), rng)
    return _finished(image, rng)


def random_wall(rng: np.random.Generator) -> Texture:
    """A wall with a skirting, shelves of boxes, pictures and windows, from bare to crammed."""
    colours = random_colours(3, rng)
    image = np.tile(colours[0], (WALL_HEIGHT, WALL_WIDTH, 1))
    foot = WALL_HEIGHT - int(rng.integers(0, 24))
    image[foot:] = colours[1]
    shelves = np.sort(rng.integers(20, WALL_HEIGHT, int(rng.integers(1, 7))))
    if rng.random() < 0.6:
        for y in shelves:
            image[y : y + int(rng.integers(1, 4))] = colours[2]
    for _ in range(int(_MOST_BOXES * rng.random() ** 2)):
        width, height = np.exp(rng.uniform(np.log(3), np.log(60), 2)).astype(int)
        x = int(rng.integers(0, WALL_WIDTH))
        bottom = int(rng.choice(shelves)) if rng.random() < 0.6 else int(rng.integers(5, WALL_HEIGHT + 1))
        columns = np.arange(x, x + width) % WALL_WIDTH
        image[max(bottom - height, 0) : bottom, columns] = random_colours(1, rng)[0]
    return _finished(image, rng)


def random_colours(count: int, rng: np.random.Generator) -> _Image:
    """Colours (count, 3) about one of any brightness: greys more often than anything bright."""
    first = rng.uniform(20, 225)
    spread = rng.uniform(5, 90)
    grey = np.clip(first + spread * rng.standard_normal((count, 1)), 8, 245)
    tone = rng.standard_normal((count, 3)) * rng.uniform(0, 60) * rng.random((count, 1))
    colours: _Image = np.clip(grey + tone, 0, 255)
    return colours


def _plain(colours: _Image, rng: np.random.Generator) -> _Image:
    return np.tile(colours[0], (TILE, TILE, 1))


def _checks(colours: _Image, rng: np.random.Generator) -> _Image:
    """Squares in turn or as they come, with joints; their edges may wave as those of puzzle pieces do."""
    count = 2 ** int(rng.integers(1, 5))
    side = TILE // count
    y, x = np.mgrid[0:TILE, 0:TILE]
    wave = rng.uniform(0, side / 8) * (rng.random() < 0.5)
    turns = 2 * np.pi * count * int(rng.integers(1, 5)) / TILE
    row = (y + np.rint(wave * np.sin(turns * x)).astype(int)) % TILE
    column = (x + np.rint(wave * np.sin(turns * y)).astype(int)) % TILE
    kinds = int(rng.integers(2, 5))
    which = rng.integers(kinds, size=(count, count))
    if rng.random() < 0.5:
        which = np.add.outer(np.arange(count), np.arange(count)) % 2
    image: _Image = colours[which[row // side, column // side]]
    joint = int(rng.integers(0, 4))
    image[(row % side < joint) | (column % side < joint)] = colours[-1]
    return image


def _planks(colours: _Image, rng: np.random.Generator) -> _Image:
    """Boards or bricks, row by row, each of its own shade."""
    rows, across = 2 ** int(rng.integers(2, 5)), 2 ** int(rng.integers(0, 4))
    y, x = np.mgrid[0:TILE, 0:TILE]
    row = y // (TILE // rows)
    long = TILE // across
    shift = rng.integers(TILE, size=rows)
    along = (x + shift[row]) % TILE
    shade = 1 + rng.uniform(0.02, 0.25) * rng.standard_normal((rows, across))
    image: _Image = colours[0] * shade[row, along // long][..., None]
    joint = int(rng.integers(0, 3))
    image[(y % (TILE // rows) < joint) | (along % long < joint)] = colours[1]
    return image if rng.random() < 0.5 else image.transpose(1, 0, 2).copy()


def _stripes(colours: _Image, rng: np.random.Generator) -> _Image:
    """Bands of two to four colours along one side, or across both."""
    y, x = np.mgrid[0:TILE, 0:TILE]
    m, n = (int(k) for k in rng.integers(0, 9, 2))
    phase = ((m * x + n * y) / TILE if m + n else x * 4 / TILE) % 1.0
    bounds = np.sort(rng.random(int(rng.integers(1, 4))))
    image: _Image = colours[np.searchsorted(bounds, phase)]
    return image


def _blotches(colours: _Image, rng: np.random.Generator) -> _Image:
    """Stains, leaves, stones: smooth noise cut at levels."""
    field = noise((TILE, TILE), float(np.exp(rng.uniform(np.log(4), np.log(50)))), rng)
    bounds = np.sort(rng.uniform(-0.6, 0.6, int(rng.integers(1, 4))))
    image: _Image = colours[np.searchsorted(bounds, field)]
    return image


PatternFamily = Callable[[_Image, np.random.Generator], _Image]
FAMILIES: Sequence[PatternFamily] = (_plain, _checks, _checks, _planks, _stripes, _blotches)
"""What a floor may be; checks are twice as likely, being what is most often taken for things."""


def _lay_flat_things(image: _Image, count: int, rng: np.random.Generator) -> None:
    """Papers, mats and painted marks: turned rectangles and ellipses of one colour."""
    y, x = np.mgrid[0:TILE, 0:TILE].astype(np.float64)
    for _ in range(count):
        cx, cy = rng.uniform(0, TILE, 2)
        a, b = np.exp(rng.uniform(np.log(4), np.log(45), 2))
        turn = rng.uniform(0, np.pi)
        dx, dy = ((v - c + TILE / 2) % TILE - TILE / 2 for v, c in ((x, cx), (y, cy)))
        u, v = dx * np.cos(turn) + dy * np.sin(turn), dy * np.cos(turn) - dx * np.sin(turn)
        inside = (np.abs(u) < a) & (np.abs(v) < b) if rng.random() < 0.6 else (u / a) ** 2 + (v / b) ** 2 < 1
        image[inside] = random_colours(1, rng)[0]


def _strew_flecks(image: _Image, colours: _Image, rng: np.random.Generator) -> None:
    """Specks of one to three texels, as in terrazzo and recycled rubber."""
    for colour in colours:
        count = int(rng.integers(20, _FLECKS))
        y, x = rng.integers(0, TILE, (2, count))
        high, wide = rng.integers(1, 4, (2, count))
        for k in range(count):
            image[y[k] : y[k] + high[k], x[k] : x[k] + wide[k]] = colour


def _finished(image: _Image, rng: np.random.Generator) -> Texture:
    """With grain and slow changes of brightness, as bytes."""
    shape = image.shape[:2]
    fine = rng.uniform(0, 0.2) * rng.random() * noise(shape, 1.2, rng)
    slow = rng.uniform(0, 0.2) * noise(shape, 40.0, rng)
    return np.clip(np.rint(image * (1 + fine + slow)[..., None]), 0, 255).astype(np.uint8)
