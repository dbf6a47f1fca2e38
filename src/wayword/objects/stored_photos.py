"""The photos of a taught object that stay on the disk until somebody looks at them.

A database of thousands of objects has gigabytes of pixels, of which a flight needs none: vectors are made of each photo
once (``wayword.vector_cache``). A photo is read again whenever it is asked for and must then be the one whose digest
was taken when the database was loaded, so that a database in memory does not change under the hands of its user.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np

from wayword.errors import DataError
from wayword.guarded import read_bytes
from wayword.objects.cropping import Box, Pixels, square_crop
from wayword.objects.photos import MAX_FILE_BYTES, decode_photo


@dataclass(frozen=True)
class StoredPhoto:
    """A crop in the folder of an object, and the SHA-256 of its file."""

    path: Path
    digest: bytes

    def pixels(self) -> Pixels:
        """(S, S, 3) uint8, not to be changed."""
        data = read_bytes(self.path, MAX_FILE_BYTES, follow_links=False)
        if hashlib.sha256(data).digest() != self.digest:
            raise DataError(self.path, "was changed since the database was loaded; load it again")
        pixels = decode_photo(data, self.path, smallest=1).pixels
        height, width = pixels.shape[:2]
        if height != width:  # changed by hand
            pixels = square_crop(pixels, Box(0, 0, width, height))
        pixels.setflags(write=False)
        return pixels


class StoredPhotos(Sequence[Pixels]):
    """Photos of one object: those on the disk are read whenever they are asked for, others are in memory."""

    def __init__(self, items: Sequence[StoredPhoto | Pixels]) -> None:
        self._items = tuple(items)

    @property
    def digests(self) -> tuple[bytes | None, ...]:
        """Of their files; None for a photo in memory."""
        return tuple(item.digest if isinstance(item, StoredPhoto) else None for item in self._items)

    def only(self, numbers: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.int64]]) -> StoredPhotos:
        """Those of the given numbers, unread."""
        return StoredPhotos([self._items[int(number)] for number in numbers])

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Pixels: ...
    @overload
    def __getitem__(self, index: slice) -> StoredPhotos: ...
    def __getitem__(self, index: int | slice) -> Pixels | StoredPhotos:
        if isinstance(index, slice):
            return StoredPhotos(self._items[index])
        item = self._items[index]
        return item.pixels() if isinstance(item, StoredPhoto) else item

    def __iter__(self) -> Iterator[Pixels]:
        return (self[number] for number in range(len(self)))
