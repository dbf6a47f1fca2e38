"""The one reader of files that a user names: everything is judged before it is parsed.

    read_bytes   a regular file of at most so many bytes; pipes and devices are not waited for
    read_json    JSON in UTF-8 of bounded depth, with numbers of bounded length and a bounded number of values
    listing      the names in a folder, at most so many
    check_finite that weights, after they are loaded, hold finite numbers only

Whatever is wrong is one ``DataError`` that names the file: exit code 2, in bounded time and memory.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from wayword.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pairs: TypeAlias = Callable[[list[tuple[str, Any]]], Any]
JSON_BYTES = 64 * 2**20
"""No JSON file that a user names may be larger."""
DEPTH = 64
"""Brackets within brackets: the deepest of our own files has nine."""
DIGITS = 300
"""Of one whole number: what fits into a float, written out."""
VALUES = 4_000_000
"""Commas and brackets of one file: a bound on what it becomes in memory (about 100 bytes each)."""


_NO_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[^\[\]{}"]+|"', re.DOTALL)
"""Texts, and what is neither a text nor a bracket."""
ENTRIES = 20_000
"""Names in one folder."""


def read_bytes(path: Path | str, limit: int, follow_links: bool = True, remedy: str = "") -> bytes:
    """The content of a regular file of 1 to ``limit`` bytes; ``remedy`` says what to give instead."""
    tail = f"; {remedy}" if remedy else ""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    name = os.fspath(path)  # a database has ten thousands of files: paths are built once
    try:
        if not follow_links:
            if os.path.islink(name):  # said beforehand as well: not every system knows O_NOFOLLOW
                raise DataError(path, "is a link; put the file itself there")
            flags |= getattr(os, "O_NOFOLLOW", 0)
        mode = os.stat(name).st_mode
        if stat.S_ISDIR(mode):
            raise DataError(path, f"is a folder; {remedy or 'name a file'}")
        if not stat.S_ISREG(mode):  # a device may do something when it is opened
            raise DataError(path, f"is not a regular file{tail}")
        with open(os.open(name, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise DataError(path, f"is not a regular file{tail}")
            data = file.read(status.st_size + 1) if status.st_size <= limit else b""
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte in it
        raise DataError(path, f"cannot be read ({getattr(error, 'strerror', None) or error}){tail}") from error
    if status.st_size > limit or len(data) > limit:
        size = f"{status.st_size / 2**20:.1f} MB; at most {limit / 2**20:g} MB are taken"
        raise DataError(path, f"has {size}{tail}")
    if not data:
        raise DataError(path, f"is empty{tail}")
    return data


def read_text(path: Path | str, limit: int = JSON_BYTES, remedy: str = "") -> str:
    """The text of a file in UTF-8; a byte-order mark is left out."""
    try:
        return read_bytes(path, limit, remedy=remedy).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(path, f"is not UTF-8 text{f'; {remedy}' if remedy else ''}") from error


def read_json(path: Path | str, limit: int = JSON_BYTES, remedy: str = "") -> Any:
    """What a JSON file says; NaN and infinity are refused, as JSON does not know them."""
    text = read_text(path, limit, remedy)
    tail = f"; {remedy}" if remedy else ""
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        raise DataError(path, f"is not valid JSON ({error.msg}){tail}", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise DataError(path, f"is not valid JSON ({error}){tail}") from error


def parse_json(text: str | bytes, constants: bool = False, pairs: Pairs | None = None) -> Any:
    """A JSON value whose size was judged before it was built; raises ValueError. NaN and infinity if ``constants``.

    ``pairs`` makes an object of its keys and values, where a dictionary of them is not enough.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    _judge(raw)
    return json.loads(raw, parse_constant=None if constants else _refuse, parse_int=_whole, object_pairs_hook=pairs)


def listing(folder: Path | str, most: int = ENTRIES) -> list[str]:
    """The names in a folder, sorted."""
    names = list[str]()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) > most:
                    raise DataError(folder, f"holds more than {most:,} files; name a smaller folder")
    except (OSError, ValueError) as error:
        raise DataError(folder, f"cannot be read ({getattr(error, 'strerror', None) or error})") from error
    return sorted(names)


def _judge(raw: bytes) -> None:
    """Brackets and commas, those within texts too: an upper bound, without a parser."""
    if raw.count(b",") + raw.count(b"[") + raw.count(b"{") > VALUES:
        raise ValueError(f"more than {VALUES:,} values")
    if raw.count(b"[") + raw.count(b"{") <= DEPTH:
        return
    depth = 0
    for byte in _NO_BRACKETS.sub(b"", raw):
        depth += 1 if byte in b"[{" else -1
        if depth > DEPTH:
            raise ValueError(f"more than {DEPTH} brackets within each other")


def _refuse(name: str) -> None:
    raise ValueError(f"{name} found where a finite number is needed")


def _whole(digits: str) -> int:
    if len(digits) > DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def check_finite(path: Path | str, arrays: Mapping[str, NDArray[np.generic]], remedy: str) -> None:
    """Refuse weights that hold something other than finite numbers: a network of NaN flies like one that is blind."""
    import numpy as np

    for name, array in arrays.items():
        if array.dtype.kind not in "fiub":
            raise DataError(path, f"{name} holds no numbers; {remedy}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise DataError(path, f"{name} holds numbers that are not finite; {remedy}")
