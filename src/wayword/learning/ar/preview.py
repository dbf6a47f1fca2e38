"""The contact sheet: frames as they are, and again with masks, boxes and identities drawn over them."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from wayword.learning.ar.generate import Generator, ShardArrays
from wayword.learning.ar.shards import read_objects, read_shard, shards
from wayword.lettering import text_font

SCALE = 3
COLUMNS = 4
_GAP = 6


def stored_sheet(folder: Path, count: int, seed: int) -> Image.Image:
    """Random frames of a folder of shards."""
    rng = np.random.default_rng(seed)
    paths, names = shards(folder), read_objects(folder)
    order = rng.permutation(len(paths))[: min(count, len(paths))]
    tiles: list[Image.Image] = []
    for turn, place in enumerate(order):
        wanted = len(range(turn, count, len(order)))
        arrays = read_shard(paths[place])
        tiles += _tiles(arrays, sorted(rng.permutation(len(arrays.rgb))[:wanted].tolist()), names)
    return _page(tiles)


def fresh_sheet(generator: Generator, count: int) -> Image.Image:
    """The first frames of the run, a layout's frames beside each other."""
    generator = Generator(
        generator.pool, generator.backgrounds, replace(generator.config, shard_frames=count), generator.seed
    )
    table = {entry.number: entry.as_json() for entry in generator.pool.entries}
    return _page(_tiles(generator.shard(0), range(count), table))


def overlay(
    rgb: NDArray[np.uint8],
    ids: NDArray[np.uint8],
    boxes: NDArray[np.float32],
    instances: NDArray[np.uint8],
    labels: Sequence[str],
    scale: int = SCALE,
) -> Image.Image:
    """One frame with its masks tinted and its boxes drawn and named."""
    tinted = rgb.astype(np.float32)
    colors = np.array([_color(k) for k in range(256)], dtype=np.float32)
    tinted[ids > 0] = 0.45 * tinted[ids > 0] + 0.55 * colors[ids[ids > 0]]
    size = (rgb.shape[1] * scale, rgb.shape[0] * scale)
    picture = Image.fromarray(tinted.astype(np.uint8)).resize(size, Image.Resampling.NEAREST)
    pen = ImageDraw.Draw(picture)
    for box, instance, label in zip(boxes, instances, labels, strict=True):
        x0, y0, x1, y1 = (float(edge) * scale for edge in box)
        pen.rectangle((x0, y0, x1 - 1, y1 - 1), outline=_color(int(instance)))
        pen.text((x0 + 1, max(y0 - 11, 0)), label, "white", text_font(10), stroke_width=1, stroke_fill="black")
    return picture


def _tiles(arrays: ShardArrays, frames: Sequence[int], names: Mapping[int, Mapping[str, Any]]) -> list[Image.Image]:
    tiles = []
    for i in frames:
        rows = arrays.frame == i
        labels = [f"{number} {names.get(int(number), {}).get('noun', '')}" for number in arrays.identity[rows]]
        drawn = overlay(arrays.rgb[i], arrays.ids[i], arrays.boxes[rows], arrays.instance[rows], labels)
        plain = Image.fromarray(arrays.rgb[i]).resize(drawn.size, Image.Resampling.NEAREST)
        tile = Image.new("RGB", (drawn.width, 2 * drawn.height), "white")
        tile.paste(plain, (0, 0))
        tile.paste(drawn, (0, drawn.height))
        tiles.append(tile)
    return tiles


def _page(tiles: Sequence[Image.Image]) -> Image.Image:
    columns = min(COLUMNS, len(tiles))
    width, height = tiles[0].width + _GAP, tiles[0].height + _GAP
    page = Image.new("RGB", (columns * width + _GAP, -(-len(tiles) // columns) * height + _GAP), "white")
    for i, tile in enumerate(tiles):
        page.paste(tile, (_GAP + i % columns * width, _GAP + i // columns * height))
    return page


def _color(number: int) -> tuple[int, int, int]:
    """Colours far apart for neighbouring numbers."""
    red, green, blue = colorsys.hsv_to_rgb(number * 0.381966 % 1.0, 0.85, 1.0)
    return round(255 * red), round(255 * green), round(255 * blue)
