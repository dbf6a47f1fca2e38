"""Shards of training frames that are made in no time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file


def _write_shard(path: Path, seed: int, frames: int = 6) -> None:
    """Frames with two coloured rectangles each, at known places: identity k has its own colour."""
    rng = np.random.default_rng(seed)
    rgb = np.full((frames, 72, 128, 3), 90, np.uint8)
    ids = np.zeros((frames, 72, 128), np.uint8)
    rows = []
    for n in range(frames):
        for k in range(2):
            identity = int(rng.integers(4))
            x, y = int(rng.integers(5, 40)) + 60 * k, int(rng.integers(5, 40))
            rgb[n, y : y + 20, x : x + 16] = (230, 30, 60 * identity)
            ids[n, y : y + 20, x : x + 16] = k + 1
            rows.append((n, k + 1, identity, (x, y, x + 16, y + 20)))
    boxes = np.array([row[3] for row in rows], np.float32)
    tensors = {
        "rgb": rgb, "ids": ids, "boxes": boxes, "amodal": boxes,
        "frame": np.array([row[0] for row in rows], np.int32),
        "instance": np.array([row[1] for row in rows], np.uint8),
        "identity": np.array([row[2] for row in rows], np.int32),
        "pixels": np.full(len(rows), 320, np.int32),
        "pose": np.zeros((frames, 6)),
    }  # fmt: skip
    save_file(tensors, path)


def write_shards(folder: Path) -> Path:
    """Three shards of six frames and their table of objects; returns the folder."""
    folder.mkdir()
    for i in range(3):
        _write_shard(folder / f"shard-{i:05d}.safetensors", i)
    table = [{"number": i, "source": "pack", "noun": f"thing {i}"} for i in range(3)]
    table.append({"number": 3, "source": "random", "noun": "random"})
    (folder / "objects.json").write_text(json.dumps(table))
    return folder
