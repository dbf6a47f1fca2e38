"""What stands between a mesh file from anywhere and the parser: limits, and no way out of the pack's folder.

All sizes are judged before a file is parsed, from what it says about itself, because a few bytes can ask a
parser for terabytes. ``UnusableError`` carries the one-line reason that a pack reports for the file.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

from PIL import Image

from wayword.errors import DataError
from wayword.guarded import read_bytes

MAX_FILE_BYTES = 64 * 2**20
"""No file of a pack may be larger."""
MAX_FACES = 20_000
"""More faces cannot be seen, only waited for."""
MAX_PIXELS = 4096 * 4096
"""Of one texture."""
MAX_TEXT_BYTES, MAX_LINES, MAX_LINE = 24 * 2**20, 2_000_000, 60_000
"""Of formats written as text: size of the file, number of lines, length of a line."""
MAX_GROUPS = 2_000
"""Materials of an OBJ file, nodes of a glTF file."""
IMAGE_FORMATS = ("PNG", "JPEG", "BMP", "TGA", "WEBP", "GIF", "TIFF")
"""Plain pixel formats only: some others start an interpreter when they are opened."""


class UnusableError(Exception):
    """This file cannot become an object; the text says why."""


def read_inside(path: Path, folder: Path) -> bytes:
    """The bytes of a regular file of sane size that really lies inside ``folder``."""
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(folder.resolve()):
            raise UnusableError("is a link to a place outside the pack folder")
        return read_bytes(real, MAX_FILE_BYTES, remedy="make it smaller or leave it out")
    except DataError as error:
        raise UnusableError(error.reason) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise UnusableError(f"cannot be read ({getattr(error, 'strerror', None) or error})") from error


def open_image(data: bytes) -> Image.Image:
    """Open, but do not decode, an image of a plain format and of sane size."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=IMAGE_FORMATS)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UnusableError("has a texture of far too many pixels") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise UnusableError("has a texture that is damaged or no image") from error
    if image.width * image.height > MAX_PIXELS:
        raise UnusableError(
            f"has a texture of {image.width} x {image.height} pixels; the limit is {MAX_PIXELS // 2**20} million"
        )
    return image


class FolderResolver(Mapping[str, bytes]):
    """Gives a mesh parser the files that a mesh names, if they lie inside the folder; anything else is refused.

    Parsers swallow errors about materials, so what was refused or missing is also kept for asking afterwards.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.problems: list[str] = []
        self.missing: list[str] = []
        self.served: dict[Path, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        text = str(name).strip().replace("\\", "/")
        try:
            for candidate in (text, unquote(text)):
                path = self._inside(candidate)
                if path is not None:
                    return self._serve(path)
        except UnusableError as error:
            self.problems.append(str(error))
            raise
        self.missing.append(text[:80])
        raise FileNotFoundError(text[:80])

    def _inside(self, name: str) -> Path | None:
        """The existing file of that name; refuses addresses, drives and everything that leads out."""
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", name):
            raise UnusableError(f"refers to {name[:80]!r}: only files inside the pack folder are read")
        try:
            path = (self.folder / name).resolve()
            exists = path.is_file()
        except (OSError, RuntimeError, ValueError):  # a name too long, a ring of links, a zero byte
            return None
        if not path.is_relative_to(self.folder):
            raise UnusableError(f"refers to {name[:80]!r}, which is outside the pack folder")
        return path if exists else None

    def _serve(self, path: Path) -> bytes:
        if path not in self.served:
            data = read_inside(path, self.folder)
            if sum(map(len, self.served.values())) + len(data) > MAX_FILE_BYTES:
                raise UnusableError("refers to more data than one object may have")
            if path.suffix.lower() == ".mtl":
                data = as_utf8(data)
            elif path.suffix.lower() != ".bin":
                open_image(data)
            self.served[path] = data
        return self.served[path]

    def __iter__(self) -> Iterator[str]:
        return iter(())  # nothing is advertised: a mesh must name what it needs

    def __len__(self) -> int:
        return 0


def vet_plain(data: bytes, suffix: str) -> bytes:
    """Judge an OBJ, OFF, PLY or STL file by the counts that it states or shows; gives text back as UTF-8."""
    text, faces = True, 0
    if suffix == ".obj":
        lines = re.findall(rb"^[ \t]*f[ \t][^\n]*", data, re.MULTILINE)
        check_faces(len(lines))
        faces = sum(max(len(line.split()) - 3, 0) for line in lines)  # a face of n corners is n - 2 triangles
        groups = data.count(b"usemtl")
        if groups > MAX_GROUPS:
            raise UnusableError(f"changes its material {groups:,} times; at most {MAX_GROUPS:,} are taken")
    elif suffix == ".off":
        counts = re.search(rb"OFF\s+(?:#[^\n]*\n\s*)*(\d{1,12})\s+(\d{1,12})", data[:10_000])
        if counts is None:
            raise UnusableError("is not an OFF file: its counts are missing")
        faces = int(counts[2])
    elif suffix == ".ply":
        header, end, _ = data[:100_000].partition(b"end_header")
        if not header.startswith(b"ply") or not end:
            raise UnusableError("is not a PLY file: its header is missing or cut off")
        text = b"format ascii" in header
        sizes = [(name, int(count)) for name, count in re.findall(rb"element\s+(\w+)\s+(\d{1,18})", header)]
        faces = sum(count for name, count in sizes if name == b"face")
        check_faces(faces)
        if sum(count for _, count in sizes) > len(data):
            raise UnusableError("states more elements than it has bytes: it is truncated or made up")
    else:
        faces = int.from_bytes(data[80:84], "little")
        text = len(data) != 84 + 50 * faces
        if text:
            faces = len(re.findall(rb"facet\s+normal", data))
            if not faces or b"endsolid" not in data:
                raise UnusableError("is not an STL file, or it is truncated")
    check_faces(faces)
    return as_utf8(data) if text else data


def as_utf8(data: bytes) -> bytes:
    """Text of sane size as UTF-8; parsers make an object of every line and word, so both are bounded."""
    if b"\0" in data:
        raise UnusableError("is not text, as its format should be")
    if len(data) > MAX_TEXT_BYTES:
        raise UnusableError(
            f"is larger than {MAX_TEXT_BYTES // 2**20} MB of text; save it in a binary format such as GLB"
        )
    lines = sum(data.count(mark) for mark in (b"\n", b"\r", b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e"))
    if lines > MAX_LINES or re.search(rb"[^\n]{%d}" % MAX_LINE, data):
        raise UnusableError("has absurdly many or absurdly long lines")
    try:
        data.decode("utf-8")
        return data
    except UnicodeDecodeError:  # older programs write names and comments in Latin-1
        return data.decode("latin-1").encode("utf-8")


def check_faces(count: int) -> None:
    """Refuse an object with more faces than are worth drawing."""
    if count > MAX_FACES:
        raise UnusableError(f"has {count:,} faces; at most {MAX_FACES:,} are taken: decimate it first")
