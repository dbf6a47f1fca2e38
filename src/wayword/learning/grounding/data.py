"""Augmented-reality shards as training data: frames, masks, boxes and identities.

    rgb       (N, 72, 128, 3)  uint8 frames I
    ids       (N, 72, 128)     uint8: 0 background, else the object's value ``instance``
    boxes     (M, 4)           float32 boxes b of the visible pixels, x1 and y1 exclusive
    amodal    (M, 4)           boxes of the whole object, cut at the frame
    frame     (M,)             which frame
    identity  (M,)             which object o, a number in the object table of the run

Frames are read through a memory map: nothing is loaded at the start, and several training processes share
one copy in the system's cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import DataError
from wayword.guarded import read_json
from wayword.learning.common.tensor_files import read_arrays

_TABLES = {"boxes": (4,), "amodal": (4,), "frame": (), "instance": (), "identity": (), "pixels": ()}
"""What there is of every visible object, and the shape of one row."""
_REMEDY = "generate it again"


@dataclass(frozen=True)
class Labelled:
    """Frames with everything known about them; ``frame`` counts through all frames."""

    rgb: Sequence[NDArray[np.uint8]]
    """One array per shard."""
    ids: Sequence[NDArray[np.uint8]]
    starts: NDArray[np.int64]
    """Number of the first frame of each shard, and the number of all frames at the end."""
    boxes: NDArray[np.float32]
    amodal: NDArray[np.float32]
    frame: NDArray[np.int64]
    instance: NDArray[np.uint8]
    identity: NDArray[np.int64]
    pixels: NDArray[np.int64]
    photo: NDArray[np.bool_]
    """Per frame: over a user's own picture, else simulated."""

    @property
    def frames(self) -> int:
        """How many frames."""
        return int(self.starts[-1])

    def images(self, frames: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The frames (K, 72, 128, 3)."""
        return self._gather(self.rgb, frames)

    def instances(self, frames: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The instance images (K, 72, 128)."""
        return self._gather(self.ids, frames)

    def rows(self, frame: int) -> slice:
        """The rows of the tables that belong to one frame."""
        return slice(*np.searchsorted(self.frame, [frame, frame + 1]).tolist())

    def visible(self) -> NDArray[np.float32]:
        """Share of each object's whole box that its visible box covers: low if hidden."""
        areas = [np.maximum(b[:, 2:] - b[:, :2], 0).prod(axis=1) for b in (self.boxes, self.amodal)]
        return np.asarray(areas[0] / np.maximum(areas[1], 1.0), dtype=np.float32)

    def _gather(self, arrays: Sequence[NDArray[np.uint8]], frames: NDArray[np.int64]) -> NDArray[np.uint8]:
        shards = np.searchsorted(self.starts, frames, side="right") - 1
        out = np.empty((len(frames), *arrays[0].shape[1:]), np.uint8)
        for k, (shard, frame) in enumerate(zip(shards, frames, strict=True)):
            out[k] = arrays[shard][frame - self.starts[shard]]
        return out


def read_shard_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of one shard as views of a memory map, of shapes that go together."""
    shard = read_arrays(path, _REMEDY)
    try:
        frames, rows = len(shard["rgb"]), len(shard["frame"])
        fits = shard["rgb"].dtype == shard["ids"].dtype == np.uint8 and shard["rgb"].shape == (*shard["ids"].shape, 3)
        fits &= shard["ids"].ndim == 3 and shard.get("photo", np.zeros(frames)).shape == (frames,)
        fits &= all(shard[name].shape == (rows, *row) for name, row in _TABLES.items())
        fits &= not rows or (shard["frame"].min() >= 0 and shard["frame"].max() < frames)
    except (KeyError, TypeError, IndexError) as error:
        raise DataError(path, f"is not a shard of training data; {_REMEDY}") from error
    if not fits:
        raise DataError(path, f"its frames and tables do not go together; {_REMEDY}")
    return shard


def labelled(shards: Sequence[dict[str, NDArray[Any]]]) -> Labelled:
    """Shards one after the other."""
    starts = np.concatenate([[0], np.cumsum([len(shard["rgb"]) for shard in shards])]).astype(np.int64)

    def joined(name: str, dtype: type) -> NDArray[Any]:
        return np.concatenate([np.asarray(shard[name]) for shard in shards]).astype(dtype)

    frame = np.concatenate([np.asarray(s["frame"], np.int64) + first for s, first in zip(shards, starts, strict=False)])
    order = np.argsort(frame, kind="stable")
    return Labelled(
        rgb=[shard["rgb"] for shard in shards],
        ids=[shard["ids"] for shard in shards],
        starts=starts,
        boxes=joined("boxes", np.float32)[order],
        amodal=joined("amodal", np.float32)[order],
        frame=frame[order],
        instance=joined("instance", np.uint8)[order],
        identity=joined("identity", np.int64)[order],
        pixels=joined("pixels", np.int64)[order],
        photo=np.concatenate([np.asarray(shard.get("photo", np.zeros(len(shard["rgb"])))) > 0 for shard in shards]),
    )


def open_shards(folder: Path, held_out: float = 0.05) -> tuple[Labelled, Labelled]:
    """The shards of a folder: those to train on, and the last few to validate on."""
    files = sorted(folder.glob("*.safetensors"))
    if len(files) < 2:
        raise DataError(folder, "holds fewer than two shards; run `wayword ar generate` first")
    count = max(1, round(held_out * len(files)))
    shards = [read_shard_arrays(path) for path in files]
    return labelled(shards[:-count]), labelled(shards[-count:])


def object_groups(folder: Path) -> dict[int, str]:
    """For every object of the run, by its number, the group it is split by: its noun, else itself.

    Public collections are full of near-duplicates with one noun, so a noun is held out as a whole.
    """
    path = folder / "objects.json"
    try:
        table = read_json(path)
        return {
            int(row["number"]): str(row["noun"])
            if row.get("noun") and row.get("source") != "random"
            else f"object {row['number']}"
            for row in table
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(path, "the table of objects is missing or damaged; generate the data again") from error


def is_held_out(group: str, share: float = 0.1) -> bool:
    """Whether a group of objects is kept from training the metric; a fixed choice by its name."""
    digest = hashlib.sha256(group.encode("utf-8")).digest()
    return int.from_bytes(digest[:4], "big") < share * 2**32
