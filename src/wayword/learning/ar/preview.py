"""A sheet of training frames as they are, and again with masks, boxes and identities drawn over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from wayword.learning.ar.generate import Generator, ShardArrays
from wayword.learning.ar.shards import read_objects, read_shard, shards
from wayword.pictures.segmentation import truth_tile
from wayword.pictures.sheet import tile_sheet

COLUMNS = 4
_GAP = 6


def stored_sheet(folder: Path, count: int, seed: int) -> Image.Image:
    """Random frames of a folder of shards."""
    rng = np.random.default_rng(seed)
    paths, names = shards(folder), read_objects(folder)
    order = rng.permutation(len(paths))[: min(count, len(paths))]
    tiles: list[Image.Image] = []
    for turn, place in enumerate(order):
        portion = len(range(turn, count, len(order)))
        arrays = read_shard(paths[place])
        tiles += _tiles(arrays, sorted(rng.permutation(len(arrays.rgb))[:portion].tolist()), names)
    return _sheet(tiles)


def fresh_sheet(generator: Generator, count: int) -> Image.Image:
    """The first frames of the run, a layout's frames beside each other."""
    generator = Generator(
        generator.pool, generator.backgrounds, replace(generator.config, shard_frames=count), generator.seed
    )
    table = {entry.number: entry.as_json() for entry in generator.pool.entries}
    return _sheet(_tiles(generator.shard(0), range(count), table))


def _tiles(arrays: ShardArrays, frames: Sequence[int], names: Mapping[int, Mapping[str, Any]]) -> list[Image.Image]:
    tiles = []
    for i in frames:
        rows = arrays.frame == i
        labels = [f"{number} {names.get(int(number), {}).get('noun', '')}" for number in arrays.identity[rows]]
        tiles.append(truth_tile(arrays.rgb[i], arrays.ids[i], arrays.boxes[rows], arrays.instance[rows], labels))
    return tiles


def _sheet(tiles: Sequence[Image.Image]) -> Image.Image:
    return tile_sheet(tiles, COLUMNS, gap=_GAP, margin=_GAP)
