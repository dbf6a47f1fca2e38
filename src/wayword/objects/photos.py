"""From a photo file of unknown origin to pixels: everything is judged before a decoder sees the file.

What a file is, is read off its first bytes, never off its ending. Its size in bytes and in pixels is known
before it is decoded, since a few kilobytes can ask a decoder for gigabytes. What comes out is upright 8-bit
RGB and nothing else: place, time, camera and every other remark in the file stay behind.
"""

from __future__ import annotations

import io
import re
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.errors import DataError
from wayword.guarded import read_bytes

Pixels = NDArray[np.uint8]
"""(H, W, 3) RGB."""

MAX_FILE_BYTES = 64 * 2**20
MAX_PIXELS = 65_000_000
"""Of one photo; telephones make 12 to 64 million."""
MIN_SIDE = 16
"""Pixels; the networks look at 32 x 32."""
MAX_WORKING_SIDE = 2048
"""Larger photos are made smaller by a whole number; a crop keeps 256 pixels at most anyway."""
BACKDROP = (128, 128, 128)
"""Behind transparent pixels: grey, so that neither white nor black objects vanish."""

_DAMAGED = "is damaged or cut off; copy it again from where it came"
_MAX_SCANS = 32  # of a progressive JPEG, usually about ten; each one passes over the whole picture
_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")  # of a JPEG: a segment begins; others are part of the data
_OTHERS = (
    (4, (b"ftypheic", b"ftypheix", b"ftyphevc", b"ftypmif1", b"ftypmsf1"), "a HEIC photo"),
    (4, (b"ftypavif", b"ftypavis"), "an AVIF picture"),
    (0, (b"GIF8",), "a GIF"),
    (0, (b"BM",), "a BMP picture"),
    (0, (b"II*\0", b"MM\0*"), "a TIFF picture"),
    (0, (b"%PDF", b"%!PS"), "a document"),
    (0, (b"<svg", b"<?xml", b"<!DOC", b"<html"), "text"),
)
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What makes a picture upright, by its EXIF orientation."""
_ORIENTATION = 0x0112
_FAINT, _SOLID = 24, 250  # alpha below counts as nothing there, alpha from here on as solid


@dataclass(frozen=True)
class Photo:
    """A decoded photo.

    Attributes:
        pixels: (H, W, 3), upright; at most 2048 on the longer side.
        source_size: width and height of the file's picture, upright.
        opaque: (x0, y0, x1, y1) around what is not transparent, in ``pixels``; None if nothing is transparent.
    """

    pixels: Pixels
    source_size: tuple[int, int]
    opaque: tuple[int, int, int, int] | None = None


def read_photo(path: Path | str, follow_links: bool = True) -> Photo:
    """Read one JPEG, PNG or WebP file; anything wrong with it is one ``DataError``."""
    return decode_photo(read_bytes(path, MAX_FILE_BYTES, follow_links), path)


def decode_photo(data: bytes, path: Path | str, smallest: int = MIN_SIDE) -> Photo:
    """Decode the bytes of a photo of at least ``smallest`` pixels on each side; ``path`` is only for messages."""
    kind = _kind(data, path)
    if kind == "WEBP":  # its decoder sets memory aside as soon as it is opened
        _check_size(_webp_size(data, path), path, smallest)
    if kind == "PNG" and not _png_intact(data):
        raise DataError(path, _DAMAGED)
    if kind == "JPEG" and _scans(data) > _MAX_SCANS:
        raise DataError(path, "is a JPEG of absurdly many passes; save it again with another program")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about damaged remarks, which are dropped, and sizes, which are judged here
        try:
            image = Image.open(io.BytesIO(data), formats=(kind,))
            _check_size(image.size, path, smallest)
            # A JPEG may hold a second picture (depth, brightness) and is still one photo.
            if kind != "JPEG" and getattr(image, "is_animated", False):
                raise DataError(path, "is animated; save one picture of it as JPEG or PNG")
            width, height = image.size
            turn = _orientation(image)
            image.draft(
                "RGB", (MAX_WORKING_SIDE // 2, MAX_WORKING_SIDE // 2)
            )  # a large JPEG is read at a fraction of its size
            image.load()
            rgb, alpha = _flatten(image)
        except DataError:
            raise
        except Image.DecompressionBombError as error:
            raise DataError(path, f"has more than {MAX_PIXELS / 1e6:g} million pixels; make it smaller") from error
        except MemoryError as error:
            raise DataError(path, "does not fit into memory; make it smaller") from error
        except Exception as error:  # a decoder meets bytes from anywhere and raises whatever they lead to
            raise DataError(path, _DAMAGED) from error
    if turn in _TURNS:
        rgb = rgb.transpose(_TURNS[turn])
        alpha = alpha.transpose(_TURNS[turn]) if alpha is not None else None
        if turn >= 5:
            width, height = height, width
    opaque = None
    if alpha is not None and int(np.asarray(alpha).min()) < _SOLID:
        opaque = Image.fromarray(np.asarray(alpha) >= _FAINT).getbbox()
        if opaque is None:
            raise DataError(path, "is transparent everywhere; there is nothing to see")
    return Photo(np.array(rgb), (width, height), opaque)


def _kind(data: bytes, path: Path | str) -> str:
    """JPEG, PNG or WEBP by the first bytes; other known formats are refused by name."""
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WEBP"
    for at, marks, what in _OTHERS:
        if data[at:].startswith(marks):
            raise DataError(path, f"is {what}; save it as JPEG, PNG or WebP first")
    raise DataError(path, "is no photo; JPEG, PNG and WebP are taken")


def _check_size(size: tuple[int, int], path: Path | str, smallest: int) -> None:
    width, height = size
    if width * height > MAX_PIXELS:
        raise DataError(
            path, f"has {width} x {height} pixels; at most {MAX_PIXELS / 1e6:g} million are taken: make it smaller"
        )
    if min(width, height) < smallest:
        raise DataError(path, f"has {width} x {height} pixels; at least {smallest} x {smallest} are needed")


def _webp_size(data: bytes, path: Path | str) -> tuple[int, int]:
    """Width and height that the first chunk of a WebP file states, for each of its three kinds."""
    head = data[20:30]
    if len(head) == 10 and data[12:16] == b"VP8X":
        return 1 + int.from_bytes(head[4:7], "little"), 1 + int.from_bytes(head[7:10], "little")
    if len(head) == 10 and data[12:16] == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if len(head) == 10 and data[12:16] == b"VP8 ":
        return int.from_bytes(head[6:8], "little") & 0x3FFF, int.from_bytes(head[8:10], "little") & 0x3FFF
    raise DataError(path, _DAMAGED)


def _png_intact(data: bytes) -> bool:
    """Whether the checksums of a PNG's pictures hold; its decoder does not look at them."""
    position = 8
    while position + 12 <= len(data):
        end = position + 8 + int.from_bytes(data[position : position + 4], "big")
        kind = data[position + 4 : position + 8]
        if kind[:1].isupper() and zlib.crc32(data[position + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            return False
        if kind == b"IEND":
            return True
        position = end + 4
    return False


def _scans(data: bytes) -> int:
    """How many scans a JPEG has. Counting their marker in the bytes would count telephones' videos after the end."""
    count, position = 0, 2
    while match := _MARKER.search(data, position):
        marker = match[0][1]
        if marker == 0xD9:  # the end of the picture
            break
        count += marker == 0xDA
        position = match.start() + 2 + int.from_bytes(data[match.start() + 2 : match.start() + 4], "big")
    return count


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation, 1 to 8; damaged remarks count as none."""
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # the same: bytes from anywhere
        return 1


def _flatten(image: Image.Image) -> tuple[Image.Image, Image.Image | None]:
    """8-bit RGB and, if the picture has any, its alpha channel; made smaller until both fit the working size."""
    alpha = None
    if image.mode.startswith("I"):  # 16-bit grey; a plain conversion would cut it off at 255
        rgb = Image.fromarray((np.asarray(image).clip(0, 0xFFFF) >> 8).astype(np.uint8)).convert("RGB")
    elif image.has_transparency_data:
        layered = image.convert("RGBA")
        alpha = layered.getchannel("A")
        rgb = Image.new("RGB", image.size, BACKDROP)
        rgb.paste(layered, mask=alpha)
    else:
        rgb = image.convert("RGB")
    shrink = -(-max(rgb.size) // MAX_WORKING_SIDE)
    if shrink > 1:
        rgb = rgb.reduce(shrink)
        alpha = alpha.reduce(shrink) if alpha is not None else None
    return rgb, alpha
