"""Executions: what the drone saw on its flights, boiled down to what the policy's map needs.

poses        (T, 6)    reported pose at each kept decision
counts       (T,)      boxes proposed in each frame; the arrays below hold K = counts.sum() rows, frame by frame
footprints   (K, 4)    where each box's object stands: x, y, radius (m), quality
p_box        (K,)      P(b)
embeddings   (K, D)    ImgEmb(I[b]); half precision on disk

Everything before alignment is kept, so that databases and references can be drawn anew without running the
segmentation again: about 1 KB per frame instead of 27 KB of pixels. The Oracle's flights and the policy's
own are stored alike: SuReAL replaces one by the other, instruction by instruction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from wayword.errors import DataError
from wayword.io import atomic_path
from wayword.learning.common.tensor_files import read_arrays

_REMEDY = "delete it and record it anew"
_PER_BOX = ("footprints", "p_box", "embeddings")
FramePart = tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]
"""A frame of an execution: its pose, and of its boxes the footprints, P(b) and embeddings."""


@dataclass(frozen=True, eq=False)
class Execution:
    """One flight; see the head of this module."""

    poses: NDArray[np.float64]
    counts: NDArray[np.int64]
    footprints: NDArray[np.float32]
    p_box: NDArray[np.float32]
    embeddings: NDArray[np.float16]

    def __post_init__(self) -> None:
        boxes = int(self.counts.sum())
        if len(self.poses) != len(self.counts) or any(len(getattr(self, name)) != boxes for name in _PER_BOX):
            raise ValueError(f"{len(self.poses)} poses, {len(self.counts)} counts and {boxes} boxes do not go together")

    def __len__(self) -> int:
        return len(self.poses)

    def first(self, frames: int) -> Execution:
        """The flight up to and without frame number ``frames``."""
        boxes = int(self.counts[:frames].sum())
        parts = (self.poses[:frames], self.counts[:frames], *(getattr(self, name)[:boxes] for name in _PER_BOX))
        return Execution(*parts)


def join_frames(parts: Sequence[FramePart]) -> Execution:
    """An execution from its frames: (pose, footprints, P(b), embeddings) each."""
    return Execution(
        np.array([part[0] for part in parts], np.float64).reshape(-1, 6),
        np.array([len(part[1]) for part in parts], np.int64),
        np.concatenate([part[1] for part in parts]).astype(np.float32),
        np.concatenate([part[2] for part in parts]).astype(np.float32),
        np.concatenate([part[3] for part in parts]).astype(np.float16),
    )


def bare_frame(pose: NDArray[np.float64]) -> FramePart:
    """A frame of which nothing but the pose is kept, as a part for ``join_frames``."""
    nothing = np.zeros(0, np.float32)
    return pose, nothing.reshape(0, 4), nothing, nothing.reshape(0, 0)


def write_executions(path: Path, executions: Sequence[Execution]) -> None:
    """Write executions into one file, atomically."""
    tensors = {
        "frames": np.array([len(execution) for execution in executions], np.int64),
        "poses": np.concatenate([execution.poses for execution in executions]),
        "counts": np.concatenate([execution.counts for execution in executions]),
    }
    for name in _PER_BOX:
        tensors[name] = np.concatenate([getattr(execution, name) for execution in executions])
    with atomic_path(path) as temporary:
        save_file({name: np.ascontiguousarray(value) for name, value in tensors.items()}, temporary)


def read_executions(path: Path) -> Iterator[Execution]:
    """The executions of one file, in order."""
    try:
        # Copies: a map of every file would keep all of them open.
        tensors = {name: np.array(array) for name, array in read_arrays(path, _REMEDY).items()}
        _check_counts(tensors)
        frames = np.concatenate([[0], np.cumsum(tensors["frames"])])
        boxes = np.concatenate([[0], np.cumsum(tensors["counts"])])
        for first, last in itertools.pairwise(frames):
            span = slice(int(boxes[first]), int(boxes[last]))
            yield Execution(
                tensors["poses"][first:last], tensors["counts"][first:last], *(tensors[name][span] for name in _PER_BOX)
            )
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise DataError(path, f"is not a file of executions; {_REMEDY}") from error


def _check_counts(tensors: Mapping[str, NDArray[Any]]) -> None:
    """Counts that lead beyond the arrays would be cut off in silence."""
    frames, counts = tensors["frames"], tensors["counts"]
    whole = all(array.dtype == np.int64 and array.ndim == 1 and (array >= 0).all() for array in (frames, counts))
    if not whole or frames.sum() != len(counts) or tensors["poses"].shape != (len(counts), 6):
        raise ValueError("frames and poses do not go together")
    boxes = int(counts.sum())
    if tensors["footprints"].shape != (boxes, 4) or any(len(tensors[name]) != boxes for name in _PER_BOX):
        raise ValueError("counts and boxes do not go together")


def read_all_executions(folder: Path) -> list[Execution]:
    """All executions below a folder, in the order of their shards."""
    files: Iterable[Path] = sorted(folder.glob("shard-*.safetensors"))
    return [execution for path in files for execution in read_executions(path)]
