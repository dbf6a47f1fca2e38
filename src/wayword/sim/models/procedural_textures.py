"""Procedural textures: a family and a few colours in, an image (S, S, 3) uint8 out.

All families tile: the right edge continues at the left and the bottom at the top, so that a texture can
be wrapped around a turned body without a visible seam. Row 0 is the top of the image (v = 0).
"""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wayword.sim.models.mesh import Color

FloatImage: TypeAlias = NDArray[np.float64]
Family: TypeAlias = Callable[[np.random.Generator, int, NDArray[np.float64]], FloatImage]


def random_color(rng: np.random.Generator) -> Color:
    """A surface colour as things have them: mostly coloured, some grey, white, black or brown."""
    kind = rng.random()
    if kind < 0.12:  # greys from near black to white
        hue, saturation, value = rng.random(), rng.uniform(0.0, 0.08), rng.choice([0.15, 0.35, 0.6, 0.9])
    elif kind < 0.24:  # browns and beiges
        hue, saturation, value = rng.uniform(0.05, 0.12), rng.uniform(0.25, 0.7), rng.uniform(0.35, 0.9)
    elif kind < 0.40:  # pastels
        hue, saturation, value = rng.random(), rng.uniform(0.15, 0.4), rng.uniform(0.8, 1.0)
    else:
        hue, saturation, value = rng.random(), rng.uniform(0.5, 1.0), rng.uniform(0.4, 1.0)
    r, g, b = colorsys.hsv_to_rgb(float(hue), float(saturation), float(value))
    return round(r * 255), round(g * 255), round(b * 255)


def palette(rng: np.random.Generator, count: int) -> list[Color]:
    """``count`` colours of which each differs visibly from the ones before it."""
    colors = [random_color(rng)]
    while len(colors) < count:
        candidates = [random_color(rng) for _ in range(4)]
        colors.append(max(candidates, key=lambda c: min(color_distance(c, other) for other in colors)))
    return colors


def color_distance(a: Color, b: Color) -> float:
    """How far apart two colours look, roughly: green counts most, blue least."""
    return float(np.abs((np.array(a, float) - np.array(b, float)) * (0.9, 1.2, 0.7)).sum())


def smooth_noise(rng: np.random.Generator, size: int, cells: int, octaves: int = 3) -> NDArray[np.float64]:
    """Tiling value noise (size, size) in [0, 1]: random grids of ``cells``, 2 ``cells``, ... interpolated."""
    total = np.zeros((size, size))
    for octave in range(octaves):
        n = cells * 2**octave
        grid = rng.random((n, n))
        at = np.arange(size) * n / size
        low = at.astype(int)
        part = at - low
        part = part * part * (3 - 2 * part)
        high = (low + 1) % n
        rows = grid[low] * (1 - part)[:, None] + grid[high] * part[:, None]
        total += (rows[:, low] * (1 - part) + rows[:, high] * part) / 2**octave
    total -= total.min()
    total /= total.max()
    return total


def _mix(a: NDArray[np.float64], b: NDArray[np.float64], weight: NDArray[np.float64]) -> FloatImage:
    return a + (b - a) * weight[..., None]


def _axes(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates u (along a row) and v (down) of the texel centres, in [0, 1)."""
    at = (np.arange(size) + 0.5) / size
    u, v = np.meshgrid(at, at)
    return u, v


def _flat(rng: np.random.Generator, size: int, colors: NDArray[np.float64]) -> FloatImage:
    return np.tile(colors[0], (size, size, 1))


def _stripes(rng: np.random.Generator, size: int, colors: NDArray[np.float64]) -> FloatImage:
    u, v = _axes(size)
    count = int(rng.integers(2, 6))
    du, dv = [(count, 0), (0, count), (count, count), (count, -count)][int(rng.integers(4))]
    phase = (u * du + v * dv) % 1.0
    edges = np.sort(rng.uniform(0.3, 0.8, size=len(colors) - 1))
    image: FloatImage = colors[np.searchsorted(edges, phase.reshape(-1))].reshape(size, size, 3)
    return image


def _checks(rng: np.random.Generator, size: int, colors: NDArray[np.float64]) -> FloatImage:
    u, v = _axes(size)
    across, down = 2 * rng.integers(1, 5), 2 * rng.integers(1, 5)
    image: FloatImage = colors[(np.floor(u * across) + np.floor(v * down)).astype(int) % 2]
    return image


def _dots(rng: np.random.Generator, size: int, colors: NDArray[np.float64]) -> FloatImage:
    u, v = _axes(size)
    count = int(rng.integers(2, 6))
    row = np.floor(v * 2 * count)
    shifted = u * count + np.where(row % 2 == 0, 0.0, 0.5)  # every second row moved by half: as on cloth
    x, y = shifted % 1.0 - 0.5, (v * 2 * count % 1.0 - 0.5) / 2
    radius = rng.uniform(0.14, 0.24)
    kind = (np.floor(shifted) + row).astype(int) % (len(colors) - 1) + 1
    image: FloatImage = np.where((np.hypot(x, y) < radius)[..., None], colors[kind], colors[0])
    return image


def _noise(rng: np.random.Generator, size: int, colors: NDArray[np.float64]) -> FloatImage:
    return _mix(colors[0], colors[1], smooth_noise(rng, size, int(rng.choice([4, 8, 16]))))


def _marble(rng: np.random.Generator, size: int, colors: NDArray[np.float64]) -> FloatImage:
    u, v = _axes(size)
    warp = smooth_noise(rng, size, 4, 4) * rng.uniform(1.0, 2.0)
    vein = np.abs(np.sin(np.pi * (u * rng.integers(1, 4) + v * rng.integers(1, 4) + 2 * warp)))
    return _mix(colors[0], colors[1], vein ** rng.uniform(0.4, 3.0))


def _gradient(rng: np.random.Generator, size: int, colors: NDArray[np.float64]) -> FloatImage:
    u, v = _axes(size)
    weight = (1 - np.cos(2 * np.pi * u)) / 2 if rng.random() < 0.3 else v
    middle = rng.uniform(0.3, 0.7)
    return _mix(colors[0], colors[1], np.clip((weight - middle) / rng.uniform(0.3, 1.0) + 0.5, 0, 1))


def _wood(rng: np.random.Generator, size: int, colors: NDArray[np.float64]) -> FloatImage:
    u, _ = _axes(size)
    light = np.array(colorsys.hsv_to_rgb(rng.uniform(0.05, 0.12), rng.uniform(0.35, 0.7), rng.uniform(0.5, 0.9)))
    if rng.random() < 0.3:  # painted wood
        light = colors[0] / 255
    bend = smooth_noise(rng, size, 2, 2)
    grain = np.sin(2 * np.pi * (u * rng.integers(4, 9) + 1.5 * bend)) * 0.5 + 0.5
    fibre = smooth_noise(rng, size, 32, 1)
    fibre = fibre[(np.arange(size) // 8)[:, None], np.arange(size)[None]]  # drawn out along the grain
    image = light * 255 * (0.62 + 0.28 * grain + 0.14 * fibre)[..., None]
    boards = int(rng.integers(1, 5))
    gap = (u * boards % 1.0) < 2.0 * boards / size if boards > 1 else np.zeros_like(u, dtype=bool)
    image[gap] *= 0.4
    return image


def _brick(rng: np.random.Generator, size: int, colors: NDArray[np.float64]) -> FloatImage:
    u, v = _axes(size)
    rows, columns = 2 * int(rng.integers(2, 5)), int(rng.integers(2, 5))
    row = np.floor(v * rows).astype(int)
    shifted = u * columns + 0.5 * (row % 2)
    column = np.floor(shifted).astype(int) % columns
    tone = rng.uniform(0.75, 1.15, size=(rows, columns))[row, column]
    joint = 0.06 * columns / 3
    mortar = (shifted % 1.0 < joint) | (v * rows % 1.0 < joint * rows / columns)
    image: FloatImage = colors[0] * tone[..., None]
    image[mortar] = colors[1]
    return image


def _patches(rng: np.random.Generator, size: int, colors: NDArray[np.float64]) -> FloatImage:
    count = int(rng.integers(8, 24))
    at = (np.arange(size) + 0.5) / size
    du, dv = (np.abs(at[:, None] - centre) for centre in rng.random((2, count)))
    du, dv = np.minimum(du, 1 - du) ** 2, np.minimum(dv, 1 - dv) ** 2  # around the edge if that is shorter
    nearest = np.argmin(du[None] + dv[:, None], axis=-1)
    image: FloatImage = colors[(np.arange(count) % len(colors))[nearest]]
    return image


FAMILIES: dict[str, Family] = {
    "flat": _flat, "stripes": _stripes, "checks": _checks, "dots": _dots, "noise": _noise, "marble": _marble,
    "gradient": _gradient, "wood": _wood, "brick": _brick, "patches": _patches,
}  # fmt: skip
"""All texture families by name."""


def procedural_texture(
    rng: np.random.Generator, family: str, colors: Sequence[Color], size: int = 128
) -> NDArray[np.uint8]:
    """Draw one texture (size, size, 3) of a family; two to four colours, of which the first is the ground."""
    image = FAMILIES[family](rng, size, np.array(colors, dtype=np.float64))
    return np.clip(np.round(image), 0, 255).astype(np.uint8)
