"""Ground and surround textures, all made here: what the arena looks like without objects.

A ground is a square tile (256 texels) that repeats seamlessly; a surround is one band (1024 x 128) around
the four walls of the room or, far away, around the horizon.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wayword.sim.render.shading import TILE, WALL_HEIGHT, WALL_WIDTH

Texture = NDArray[np.uint8]
FloatImage = NDArray[np.float64]


def noise(shape: tuple[int, int], size: float, rng: np.random.Generator) -> FloatImage:
    """Smooth noise in [-1, 1] that wraps around; ``size`` is the typical blob in texels."""
    fy, fx = np.fft.fftfreq(shape[0])[:, None], np.fft.rfftfreq(shape[1])[None]
    spectrum = np.fft.rfft2(rng.normal(size=shape)) * np.exp(-2 * (np.pi * size / 2) ** 2 * (fx**2 + fy**2))
    field = np.fft.irfft2(spectrum, s=shape)
    scaled: FloatImage = np.clip(field / (2.5 * field.std() + 1e-12), -1, 1)
    return scaled


def tint(base: tuple[int, int, int], *layers: tuple[FloatImage, float]) -> FloatImage:
    """A colour whose brightness each (field, amount) layer varies."""
    factor = 1.0 + sum((field * amount for field, amount in layers), np.zeros(layers[0][0].shape))
    return np.asarray(base, dtype=np.float64) * factor[..., None]


def _bytes(image: FloatImage) -> Texture:
    return np.clip(np.round(image), 0, 255).astype(np.uint8)


def _ground(base: tuple[int, int, int], seed: int, *layers: tuple[float, float]) -> FloatImage:
    rng = np.random.default_rng(seed)
    return tint(base, *((noise((TILE, TILE), size, rng), amount) for size, amount in layers))


def concrete() -> Texture:
    """Pale grey screed."""
    return _bytes(_ground((168, 166, 160), 1, (60, 0.05), (8, 0.04), (1.2, 0.05)))


def grass() -> Texture:
    """Short lawn."""
    green = _ground((98, 140, 66), 2, (50, 0.10), (5, 0.14), (1.2, 0.20))
    return _bytes(green + noise((TILE, TILE), 20, np.random.default_rng(3))[..., None] * np.array([14, 4, 0]))


def sand() -> Texture:
    """Fine sand with faint ripples."""
    y = np.arange(TILE)[:, None]
    bend = noise((TILE, TILE), 60, np.random.default_rng(4)) * 2.0
    ripple = np.sin(2 * np.pi * y * 10 / TILE + bend)
    return _bytes(_ground((206, 184, 140), 5, (40, 0.04), (1.5, 0.06)) * (1 + 0.03 * ripple[..., None]))


def planks() -> Texture:
    """Wooden floor boards."""
    rng = np.random.default_rng(6)
    boards = 8
    y, x = np.mgrid[0:TILE, 0:TILE]
    board = y * boards // TILE
    shade = rng.uniform(0.86, 1.08, boards)[board]
    grain = noise((TILE, TILE), 2.5, rng)
    grain = np.stack([np.roll(grain[i], int(7 * i)) for i in range(TILE)])
    along = np.cumsum(grain, axis=1)
    along = (along - along.mean()) / (3 * along.std())
    joint = (y % (TILE // boards) < 2) | ((x + board * 97) % TILE < 2)
    return _bytes(
        np.array([172, 122, 76])
        * (shade + 0.05 * grain + 0.04 * along)[..., None]
        * np.where(joint, 0.62, 1.0)[..., None]
    )


def tiles() -> Texture:
    """Stone tiles with darker joints."""
    rng = np.random.default_rng(7)
    count = 4
    y, x = np.mgrid[0:TILE, 0:TILE]
    shade = rng.uniform(0.92, 1.06, (count, count))[y * count // TILE, x * count // TILE]
    joint = (y % (TILE // count) < 3) | (x % (TILE // count) < 3)
    base = _ground((186, 176, 162), 8, (20, 0.05), (2, 0.04))
    return _bytes(base * (shade * np.where(joint, 0.72, 1.0))[..., None])


def carpet() -> Texture:
    """Blue-grey short-pile carpet."""
    return _bytes(_ground((96, 108, 128), 9, (40, 0.05), (1.0, 0.16)))


def asphalt() -> Texture:
    """Dark asphalt with grit."""
    return _bytes(_ground((92, 92, 96), 10, (50, 0.06), (3, 0.06), (1.0, 0.18)))


def _band(base: tuple[int, int, int], seed: int, size: float, amount: float) -> FloatImage:
    return tint(base, (noise((WALL_HEIGHT, WALL_WIDTH), size, np.random.default_rng(seed)), amount))


def hall() -> Texture:
    """A bright hall: panelled wall, tall windows, a dark skirting."""
    image = _band((206, 202, 192), 20, 30, 0.03)
    for i in range(16):
        left = i * 64
        image[:, left : left + 2] *= 0.8
        if i % 2:
            image[10:88, left + 14 : left + 50] = (178, 204, 224)
            image[10:88, left + 31 : left + 33] = image[48:50, left + 14 : left + 50].mean(axis=(0, 1)) * 0.6
            image[47:50, left + 14 : left + 50] = (118, 112, 104)
    image[118:] = (96, 84, 74)
    return _bytes(image)


def laboratory() -> Texture:
    """A laboratory: white walls, cupboards, doors and a few screens."""
    rng = np.random.default_rng(21)
    image = _band((226, 228, 228), 22, 40, 0.02)
    x = 0
    while x < WALL_WIDTH - 40:
        width = int(rng.integers(34, 80))
        kind = rng.integers(0, 4)
        if kind == 0:
            image[64:124, x : x + width - 4] = np.array([150, 158, 168]) * rng.uniform(0.8, 1.1)
            image[92:94, x : x + width - 4] *= 0.6
        elif kind == 1:
            image[28:124, x : x + 30] = np.array([128, 92, 62]) * rng.uniform(0.85, 1.15)
        elif kind == 2:
            image[40:66, x : x + 40] = (38, 44, 56)
        x += width
    image[122:] = (112, 114, 118)
    return _bytes(image)


def garden() -> Texture:
    """Outdoors: a hedge in front of trees, sky above."""
    rng = np.random.default_rng(23)
    rows = np.linspace(0, 1, WALL_HEIGHT)[:, None, None]
    image = (1 - rows) * np.array([138, 180, 226]) + rows * np.array([214, 228, 238]) + np.zeros((1, WALL_WIDTH, 1))
    height = np.arange(WALL_HEIGHT)[:, None]
    crowns = 56 + 16 * noise((1, WALL_WIDTH), 60, rng) + 5 * noise((1, WALL_WIDTH), 9, rng)
    leaves = noise((WALL_HEIGHT, WALL_WIDTH), 5, rng)[..., None]
    image = np.where((height > crowns)[..., None], np.array([84, 118, 78]) * (1 + 0.22 * leaves), image)
    hedge = 92 + 3 * noise((1, WALL_WIDTH), 12, rng)
    return _bytes(np.where((height > hedge)[..., None], np.array([58, 96, 50]) * (1 + 0.28 * leaves), image))


def cage() -> Texture:
    """A netted flight cage in front of a dark hall, posts between the nets."""
    image = _band((70, 76, 84), 24, 50, 0.12)
    y, x = np.mgrid[0:WALL_HEIGHT, 0:WALL_WIDTH]
    image[((x + y) % 12 < 2) | ((x - y) % 12 < 2)] = (128, 132, 136)
    image[:, (np.arange(WALL_WIDTH) % 128) < 7] = (206, 172, 62)
    image[120:] = (48, 48, 52)
    return _bytes(image)


def dusk() -> Texture:
    """Outdoors in the evening: hills under an orange sky."""
    rng = np.random.default_rng(25)
    rows = np.linspace(0, 1, WALL_HEIGHT)[:, None, None]
    image = (1 - rows) * np.array([96, 110, 158]) + rows * np.array([246, 190, 136]) + np.zeros((1, WALL_WIDTH, 1))
    height = np.arange(WALL_HEIGHT)[:, None]
    for base, color in ((62, (132, 112, 128)), (82, (100, 88, 98)), (102, (84, 76, 72))):
        ridge = base + 10 * noise((1, WALL_WIDTH), 110, rng) + 3 * noise((1, WALL_WIDTH), 14, rng)
        image = np.where((height > ridge)[..., None], np.array(color), image)
    return _bytes(image)


GROUNDS: dict[str, Callable[[], Texture]] = {
    fn.__name__: fn for fn in (concrete, grass, sand, planks, tiles, carpet, asphalt)
}
SURROUNDS: dict[str, Callable[[], Texture]] = {fn.__name__: fn for fn in (hall, laboratory, garden, cage, dusk)}
