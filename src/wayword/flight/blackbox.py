"""The black box: an append-only file of every input, output and intervention, readable after ``kill -9``.

One record per line, so that a torn last line costs that line only:

    crc32 of the rest, eight hex digits | space | JSON | newline

Every record goes to the operating system in one write before the flight goes on, so nothing is lost when the process
dies; once a second the file is forced to the disk, for when the computer dies. A record whose checksum is wrong is
counted and left out. Numbers are written so that they read back to the same bits; NaN stays NaN.
"""

from __future__ import annotations

import base64
import io
import json
import os
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.errors import DataError, WaywordError
from wayword.guarded import parse_json, read_bytes
from wayword.io import check_target

FORMAT = "wayword black box 1"
MAX_BYTES = 2**29
"""A flight of 90 s is a few MB."""
MAX_IMAGE_PX = 4096 * 4096
_SYNC_S = 1.0


class BlackBox:
    """Writes one flight. Safe to use from several threads."""

    def __init__(self, path: Path | str) -> None:
        self.path = check_target(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # O_EXCL: the record of an earlier flight is never written into.
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except FileExistsError as error:
            raise WaywordError(f"{path}: exists already; black boxes are never overwritten, choose another") from error
        except OSError as error:
            raise WaywordError(f"{path}: cannot be written ({error.strerror}); choose another place") from error
        # Re-entrant: a signal handler may write while the thread it interrupts is writing.
        self._lock, self._synced, self._open = threading.RLock(), time.monotonic(), True
        self.failed: str | None = None
        """Why the last record could not be written, if it could not: a flight goes on without its recorder."""
        self.write("begin", format=FORMAT)

    def write(self, kind: str, **values: Any) -> None:
        """Append one record."""
        body = json.dumps({"kind": kind, **values}, default=_plain, separators=(",", ":")).encode()
        line = b"%08x " % zlib.crc32(body) + body + b"\n"
        with self._lock:
            if not self._open:
                return
            try:
                os.write(self._file, line)
                if time.monotonic() - self._synced > _SYNC_S:
                    os.fdatasync(self._file)
                    self._synced = time.monotonic()
            except OSError as error:  # a full disk must not end a flight; the pilot is told
                self.failed = error.strerror or str(error)

    def close(self) -> None:
        """Force everything to the disk."""
        with self._lock:
            if self._open:
                self._open = False
                try:
                    os.fsync(self._file)
                except OSError as error:
                    self.failed = error.strerror or str(error)
                os.close(self._file)


@dataclass(frozen=True)
class Recorded:
    """What was read of a black box."""

    records: list[dict[str, Any]]
    damaged: int
    """Lines left out because their checksum was wrong: at most the last one after a kill."""

    def of(self, kind: str) -> Iterator[dict[str, Any]]:
        """The records of one kind, in order."""
        return (record for record in self.records if record["kind"] == kind)


def read_box(path: Path | str) -> Recorded:
    """Read what is sound."""
    lines = read_bytes(path, MAX_BYTES, remedy="give the black box of a flight").split(b"\n")
    records, damaged = list[dict[str, Any]](), 0
    for line in lines:
        if not line:
            continue
        record = _record(line)
        if record is None:
            damaged += 1
        else:
            records.append(record)
    if not records or records[0].get("format") != FORMAT:
        raise DataError(path, "is no black box of a flight")
    return Recorded(records, damaged)


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        if len(line) < 10 or int(line[:8], 16) != zlib.crc32(line[9:]):
            return None
        value = parse_json(line[9:], constants=True)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("kind"), str) else None


def encode_image(pixels: NDArray[np.uint8]) -> str:
    """Lossless, as text."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=1)
    return base64.b64encode(buffer.getvalue()).decode()


def decode_image(text: str) -> NDArray[np.uint8]:
    """The very pixels of ``encode_image``."""
    image = Image.open(io.BytesIO(base64.b64decode(text)), formats=("PNG",))
    if image.width * image.height > MAX_IMAGE_PX:
        raise ValueError(f"an image of {image.width} x {image.height} pixels")
    return np.asarray(image.convert("RGB"))


def _plain(value: Any) -> Any:
    """For JSON: dataclasses as objects, arrays as lists, enumerations by their value."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (frozenset, set)):
        return sorted(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"cannot record a {type(value).__name__}")
