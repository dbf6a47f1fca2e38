"""The one reader of tensors that a run left behind: checkpoints, weights, shards of data.

    8 bytes    length of the header
    header     JSON: for every tensor its type, shape and place; texts under ``__metadata__``
    tensors    one after the other, without gaps

A run goes on from files that may have been cut off, exchanged or made by somebody else. Everything is judged by the
header, before anything is read: a regular file of bounded size, known types, shapes that fill their places, places that
fill the file. So what is read is never larger than the file. Whatever is wrong is one ``DataError``.
"""

from __future__ import annotations

import math
import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import DataError
from wayword.guarded import check_finite, parse_json

if TYPE_CHECKING:
    from torch import Tensor

FILE_BYTES = 4 * 2**30
"""No file of tensors may be larger: the largest of our own shards has a few hundred megabytes."""
HEADER_BYTES = 10 * 2**20
TENSORS = 100_000
"""So many in one file."""
_TYPES: Mapping[str, type[np.generic]] = {
    "BOOL": np.bool_, "U8": np.uint8, "I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64,
    "F16": np.float16, "F32": np.float32, "F64": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class TensorHeader:
    """What a file says it holds."""

    texts: Mapping[str, str]
    tensors: Mapping[str, tuple[np.dtype[Any], tuple[int, ...], int, int]]
    """By name: type, shape, first and last byte after the header."""
    begin: int
    """Where the tensors begin in the file."""


def read_header(path: Path, remedy: str) -> TensorHeader:
    """The header of a file that is as long as it says; ``remedy`` says what to do about one that is not."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for, a device may never end
            raise DataError(path, f"is not a regular file; {remedy}")
        if status.st_size > FILE_BYTES:
            raise DataError(path, f"has {status.st_size / 2**30:.1f} GB, at most {FILE_BYTES >> 30} are read; {remedy}")
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if not 2 <= length <= min(HEADER_BYTES, status.st_size - 8):
                raise ValueError("no header")
            header = parse_json(file.read(length))
        return _judged(header, 8 + length, status.st_size)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error) as error:
        raise DataError(path, f"is missing or damaged; {remedy}") from error


def read_arrays(path: Path, remedy: str) -> dict[str, NDArray[Any]]:
    """The tensors of a file as views of a memory map; a copy of those that are not aligned in it."""
    header = read_header(path, remedy)
    try:
        raw = np.memmap(path, np.uint8, "r", header.begin) if _bytes(header) else np.zeros(0, np.uint8)
        arrays = {}
        for name, (dtype, shape, first, last) in header.tensors.items():
            flat, aligned = raw[first:last], (header.begin + first) % dtype.itemsize == 0
            values = flat.view(dtype) if aligned else np.frombuffer(flat.tobytes(), dtype)
            arrays[name] = values.reshape(shape)
    except (OSError, ValueError) as error:
        raise DataError(path, f"is missing or damaged; {remedy}") from error
    check_finite(path, arrays, remedy)
    return arrays


def read_torch(path: Path, remedy: str, prefix: str = "") -> dict[str, Tensor]:
    """The torch tensors whose names begin with ``prefix``, without it: finite numbers only."""
    import torch

    arrays = read_arrays(path, remedy)
    return {
        name[len(prefix) :]: torch.from_numpy(np.array(array))  # a copy: the file may be replaced by the next save
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def read_state(path: Path, remedy: str) -> dict[str, Any]:
    """The progress of a run, which its checkpoint keeps as JSON: steps and seconds are numbers of 0 or more."""
    try:
        state = parse_json(read_header(path, remedy).texts["state"])
        numbers = [float(state[name]) for name in ("step", "seconds")]
        if not all(math.isfinite(number) and number >= 0 for number in numbers):
            raise ValueError("no progress")
        return dict(state)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise DataError(path, f"does not say how far its run has come; {remedy}") from error


def check_optimiser(path: Path, state: Mapping[str, Tensor], parameter: Tensor, remedy: str) -> None:
    """Refuse what an optimiser remembers of a parameter if it is of another shape: it would fail far from here."""
    for name, value in state.items():
        if value.ndim and value.shape != parameter.shape:
            raise DataError(path, f"its optimiser's {name} does not fit the network; {remedy}")


def _judged(header: Any, begin: int, size: int) -> TensorHeader:
    texts = header.pop("__metadata__", {})
    if not all(isinstance(text, str) for text in texts.values()) or len(header) > TENSORS:
        raise ValueError("no metadata")
    tensors, places = {}, list[tuple[int, int]]()
    for name, entry in header.items():
        dtype, shape = np.dtype(_TYPES[entry["dtype"]]), tuple(entry["shape"])
        first, last = entry["data_offsets"]
        whole = all(isinstance(number, int) and not isinstance(number, bool) for number in (*shape, first, last))
        if not whole or len(shape) > 8 or not all(0 <= side <= size for side in shape) or not 0 <= first <= last:
            raise ValueError("no shape")
        if math.prod(shape) * dtype.itemsize != last - first:
            raise ValueError("a shape that does not fill its place")
        tensors[name] = (dtype, shape, first, last)
        places.append((first, last))
    end = 0
    for first, last in sorted(places):
        if first != end:
            raise ValueError("tensors that overlap, or leave a gap")
        end = last
    if begin + end != size:
        raise ValueError("not as long as its tensors")
    return TensorHeader(texts, tensors, begin)


def _bytes(header: TensorHeader) -> int:
    return sum(last - first for _, _, first, last in header.tensors.values())
