"""Baked packs: thousands of small meshes end to end in one .npz file, with an index .json beside it.

Index: a list of objects in order, each with ``name``, ``noun``, ``license`` and the counts ``vertices``,
``faces`` and ``texture_bytes``. Arrays: ``v`` (sum of vertices, 3) and ``uv`` (sum of vertices, 2) float16,
``f`` (sum of faces, 3) uint16 with indices within the object, ``tex`` uint8 with one JPEG after the other.
Object i starts where the counts of the objects before it end. z is up; v of uv grows downwards.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.errors import DataError, WaywordError
from wayword.guarded import read_json
from wayword.sim.models.file_guard import MAX_FACES, UnusableError, open_image
from wayword.sim.models.mesh import Mesh
from wayword.sim.models.surfaces import TEXTURE, assemble_surfaces

DEFAULT_EDGE_M = 0.4
"""Longest edge of an object of which no size is known, in metres."""
MAX_BAKED_BYTES = 2**30
"""All arrays of a baked pack together, unpacked."""
MAX_INDEX_BYTES = 64 * 2**20
_COUNTS = ("vertices", "faces", "texture_bytes")
_MOST = {"vertices": 2**16, "faces": MAX_FACES, "texture_bytes": 2**22}
"""Of one object; a larger one is skipped, and the others are taken."""
_ARRAYS = {"v": ("f", 3), "uv": ("f", 2), "f": ("u", 3), "tex": ("u", None)}


class BakedPack:
    """A baked pack whose objects are made when they are asked for, each in a few milliseconds."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        index = _read_index(self.path.with_suffix(".json"))
        arrays = _read_arrays(self.path)
        self.names: tuple[str, ...] = tuple(entry["name"] for entry in index)
        self.nouns: tuple[str, ...] = tuple(entry["noun"] for entry in index)
        self.licenses: tuple[str, ...] = tuple(entry["license"] for entry in index)
        counts = np.array([[entry[key] for key in _COUNTS] for entry in index], dtype=np.int64).reshape(-1, 3)
        self._starts = np.concatenate([np.zeros((1, 3), np.int64), np.cumsum(counts, axis=0)])
        lengths = (len(arrays["v"]), len(arrays["f"]), len(arrays["tex"]))
        if tuple(self._starts[-1]) != lengths or len(arrays["uv"]) != lengths[0]:
            raise DataError(
                self.path, "the counts in the index do not fit the arrays; get both files again from one place"
            )
        self._v, self._uv, self._f, self._tex = (arrays[key] for key in ("v", "uv", "f", "tex"))

    def __len__(self) -> int:
        return len(self.names)

    def mesh(self, i: int, longest_edge_m: float = DEFAULT_EDGE_M) -> Mesh:
        """Object ``i`` at its size; a damaged one raises ``DataError``."""
        if not 0 <= i < len(self):
            raise WaywordError(f"{self.path}: no object {i}; the pack holds {len(self)}")
        try:
            return self.mesh_or_reason(i, longest_edge_m)
        except UnusableError as error:
            raise DataError(self.path, f"object {i} ({self.names[i]}) {error}") from error

    def mesh_or_reason(self, i: int, longest_edge_m: float = DEFAULT_EDGE_M) -> Mesh:
        """Like ``mesh``, but raises ``UnusableError`` with the bare reason, for lists of what was skipped."""
        (v0, f0, t0), (v1, f1, t1) = self._starts[i], self._starts[i + 1]
        for (what, most), count in zip(_MOST.items(), (v1 - v0, f1 - f0, t1 - t0), strict=True):
            if count > most:
                raise UnusableError(f"has {count:,} {what.replace('_', ' ')}; at most {most:,} are taken")
        image = open_image(self._tex[t0:t1].tobytes())
        try:
            texture = np.asarray(image.convert("RGB").resize((TEXTURE, TEXTURE), Image.Resampling.BOX))
        except Exception as error:  # decoders of foreign input may raise anything
            raise UnusableError("has a texture that is damaged") from error
        faces = self._f[f0:f1].astype(np.int64)
        uv = self._uv[v0:v1].astype(np.float64)
        if len(faces) and faces.max() >= len(uv):
            raise UnusableError("has faces that refer to points it does not have")
        positions = self._v[v0:v1].astype(np.float64)
        return assemble_surfaces(positions, faces, None, uv[faces], texture, longest_edge_m)


def _read_index(path: Path) -> list[dict[str, Any]]:
    index = read_json(path, MAX_INDEX_BYTES, "it should be the index of a baked pack")
    if not isinstance(index, list) or not index:
        raise DataError(path, "the index of a baked pack must be a list of objects, and not empty")
    entries = []
    for number, entry in enumerate(index):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"].strip():
            raise DataError(path, f"object {number} has no name")
        for key in _COUNTS:
            count = entry.get(key)
            if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MAX_BAKED_BYTES:
                raise DataError(path, f"object {number}: {key} must be a whole number from 0 to {MAX_BAKED_BYTES:,}")
        texts = {key: str(entry.get(key) or "") for key in ("noun", "license")}
        entries.append({**texts, "name": entry["name"], **{key: entry[key] for key in _COUNTS}})
    return entries


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        if not path.is_file():  # a pipe is not waited for
            raise DataError(path, "is not a regular file")
        with zipfile.ZipFile(path) as archive:
            # A zip states the unpacked sizes and never gives more: a bomb is seen before it goes off.
            if sum(entry.file_size for entry in archive.infolist()) > MAX_BAKED_BYTES:
                raise DataError(path, f"unpacks to more than {MAX_BAKED_BYTES // 2**20} MB")
        with np.load(path, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in _ARRAYS}
    except KeyError as error:
        raise DataError(path, f"is not a baked pack: it must hold {', '.join(_ARRAYS)}") from error
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror or error})") from error
    except (ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        raise DataError(path, "is damaged or not a baked pack; get it again") from error
    for key, (kind, columns) in _ARRAYS.items():
        array = arrays[key]
        if not isinstance(array, np.ndarray):  # a member that is no .npy file comes as its bytes
            raise DataError(path, f"array {key} is no array")
        shape = array.ndim == (2 if columns else 1) and array.shape[1:] == ((columns,) if columns else ())
        if array.dtype.kind != kind or not shape or (key == "tex" and array.dtype != np.uint8):
            raise DataError(path, f"array {key} has the wrong shape or type")
    return arrays
