"""Vectors of photos and phrases beside a large database, so that a network runs once per photo and not once per start.

    DIR/.vectors/photos-3f2a90c1d2e4.safetensors     keys (N, 32) uint8, vectors (N, D) float32, check (32,) uint8

A key is the SHA-256 of what a vector was made of; the file's name is that of its ``maker``: network, its runtime and
the recipe. ``check`` is the SHA-256 of maker, keys and vectors. A file that is missing, made by something else or
damaged in any way counts as empty: its vectors are made anew, never believed. It is written atomically, and where it
cannot be written all goes on without it. Nothing depends on the folder: it can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.guarded import read_bytes
from wayword.io import atomic_path

Vectors = NDArray[np.float32]

SMALL = 100
"""Objects. The vectors of a database of up to so many are made together and not cached: that takes a second or two,
and the last bits of a network's sums depend on what is computed together."""
FOLDER = ".vectors"
SCHEMA = 1
MOST_FILES = 4
"""Per kind: so many sets of weights can take turns; the file that was written longest ago goes."""
SAVED_EVERY = 4096
"""Vectors after which what was made so far is written, so that a start that is interrupted was not in vain."""
_LARGEST = 2**30
_ABANDONED_S = 3600.0
"""A temporary file of this age belongs to a process that was killed."""


def cached_vectors(
    database: Path | None,
    kind: str,
    maker: str | None,
    keys: Sequence[bytes | None],
    make: Callable[[Sequence[int]], Vectors],
    dimension: int,
) -> Vectors:
    """(N, D) vectors of N things: those that are known, and those that ``make`` computes for the numbers it is given.

    Without a ``database`` folder, or with a ``maker`` nobody can name, all are made; so are those whose key is None.
    """
    path = None if database is None or maker is None else _file(database, kind, maker)
    known, table = _read(path, maker or "", dimension) if path is not None else ({}, np.zeros((0, dimension)))
    result = np.empty((len(keys), dimension), np.float32)
    missing = []
    for row, key in enumerate(keys):
        place = None if key is None else known.get(key)
        if place is None:
            missing.append(row)
        else:
            result[row] = table[place]
    for first in range(0, len(missing), SAVED_EVERY):
        part = missing[first : first + SAVED_EVERY]
        result[part] = make(part)
        if path is not None:
            later = set(missing[first + SAVED_EVERY :])
            done = {key: row for row, key in enumerate(keys) if key is not None and row not in later}
            if done.keys() - known.keys():
                _write(path, maker or "", list(done), result[list(done.values())])
    return result


def key_of(*parts: bytes) -> bytes:
    """The key of what these parts say; how long each is counts."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little") + part)
    return total.digest()


def _file(database: Path, kind: str, maker: str) -> Path:
    return database / FOLDER / f"{kind}-{hashlib.sha256(maker.encode()).hexdigest()[:12]}.safetensors"


def _check(maker: str, keys: NDArray[np.uint8], vectors: Vectors) -> bytes:
    total = hashlib.sha256(f"{SCHEMA} {maker} {keys.shape} {vectors.shape}".encode())
    total.update(np.ascontiguousarray(keys).data)
    total.update(np.ascontiguousarray(vectors).data)
    return total.digest()


def _read(path: Path, maker: str, dimension: int) -> tuple[dict[bytes, int], Vectors]:
    """Where each known key's vector stands; nothing if anything is wrong with the file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    nothing = dict[bytes, int](), np.zeros((0, dimension), np.float32)
    try:
        content = load(read_bytes(path, _LARGEST, follow_links=False))
        keys, vectors, check = content["keys"], content["vectors"], content["check"]
        right = keys.dtype == np.uint8 and vectors.dtype == np.float32 and vectors.shape == (len(keys), dimension)
        if not right or keys.shape[1:] != (32,) or _check(maker, keys, vectors) != check.tobytes():
            return nothing
    except (WaywordError, SafetensorError, KeyError, ValueError, TypeError):
        return nothing
    return {key.tobytes(): row for row, key in enumerate(keys)}, vectors


def _write(path: Path, maker: str, keys: Sequence[bytes], vectors: Vectors) -> None:
    """Replace the file by one that knows these; a place that cannot be written stays as it is."""
    from safetensors.numpy import save_file

    table = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), 32)
    check = np.frombuffer(_check(maker, table, vectors), np.uint8)
    with suppress(WaywordError, OSError):
        if path.is_symlink() or path.parent.is_symlink():  # it may lead out of the database
            return
        with atomic_path(path) as temporary:
            save_file({"keys": table, "vectors": np.ascontiguousarray(vectors), "check": check}, temporary)
        _tidy(path)


def _tidy(path: Path) -> None:
    """Take away what other weights left long ago, and what killed processes did."""
    kind = path.name.partition("-")[0]
    others = sorted(path.parent.glob(f"{kind}-*.safetensors"), key=lambda each: -each.stat().st_mtime_ns)
    old = [each for each in path.parent.glob(f".{kind}-*") if each.stat().st_mtime < time.time() - _ABANDONED_S]
    for each in (*others[MOST_FILES:], *old):
        each.unlink(missing_ok=True)
