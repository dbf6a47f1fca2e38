"""Reads Radiance pictures (.hdr): light as three mantissas and one exponent per pixel, run-length coded by line.

    red, green, blue = mantissa / 256 * 2^(exponent - 128)

A line begins with the bytes 2, 2 and its length; then red, green, blue and exponents follow one after the other, each
in runs: a byte n > 128 repeats the next byte n - 128 times, any other is followed by n bytes as they are.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.errors import DataError
from wayword.guarded import read_bytes

MOST_BYTES = 512 * 2**20
MOST_PIXELS = 64 * 10**6
_SIZE = re.compile(rb"\n-Y (\d{1,6}) \+X (\d{1,6})\n")


def read_radiance(path: Path | str) -> NDArray[np.float32]:
    """The picture as linear light (rows, columns, 3)."""
    content = read_bytes(path, MOST_BYTES)
    size = _SIZE.search(content[:4096])
    if not content.startswith(b"#?") or size is None or b"FORMAT=32-bit_rle_rgbe" not in content[: size.start()]:
        raise DataError(path, "is not a Radiance picture (.hdr) that begins at the upper left")
    rows, columns = int(size[1]), int(size[2])
    if not (8 <= columns < 2**15 and rows >= 1 and rows * columns <= MOST_PIXELS):
        raise DataError(path, f"is {columns} x {rows} pixels; 8 to 32767 across and at most {MOST_PIXELS:,} are read")
    coded = np.empty((rows, 4, columns), np.uint8)
    at = size.end()
    try:
        for line in coded:
            if content[at : at + 2] != b"\x02\x02" or int.from_bytes(content[at + 2 : at + 4], "big") != columns:
                raise DataError(path, "is not run-length coded by line, as Radiance writes it")
            at = _line(content, at + 4, line)
    except (IndexError, ValueError) as error:
        raise DataError(path, "is damaged or cut short") from error
    light = coded[:, :3].astype(np.float32).transpose(0, 2, 1)
    scale = np.where(coded[:, 3] > 0, np.ldexp(np.float32(1 / 256), coded[:, 3].astype(np.int32) - 128), 0)
    return np.ascontiguousarray(light * scale[..., None].astype(np.float32))


def _line(content: bytes, at: int, line: NDArray[np.uint8]) -> int:
    """Fill the four parts (4, columns) of a line; returns where the next one begins."""
    for part in line:
        filled = 0
        while filled < len(part):
            count = content[at]
            if count > 128:
                count -= 128
                part[filled : filled + count] = content[at + 1]
                at += 2
            else:
                if count == 0:
                    raise ValueError("an empty run")
                part[filled : filled + count] = np.frombuffer(content, np.uint8, count, at + 1)
                at += 1 + count
            filled += count
        if filled != len(part):
            raise ValueError("a run beyond the line")
    return at
