"""Object packs: your own meshes beside the catalogue's 80 objects.

    pack = load_pack("my-meshes")                      # a folder of OBJ, GLB, GLTF, PLY, STL, OFF files
    bank = MeshBank({**MeshBank.of_catalogue().meshes, **pack.meshes})

A folder's objects are named after their files ("garden_chair.glb" is "garden chair"). An optional
``pack.json`` beside them says more:

    {"longest_edge_m": 0.4,
     "objects": {"garden_chair.glb": {"name": "deck chair", "longest_edge_m": 0.6, "up": "z"}}}

A baked pack (see ``baked``) loads the same way from its .npz file. What cannot be used is listed with
its reason and never stops the others; a pack of which nothing can be used is an error.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wayword.errors import DataError, WaywordError
from wayword.guarded import listing, read_json
from wayword.sim.models.baked import DEFAULT_EDGE_M, BakedPack
from wayword.sim.models.file_guard import MAX_FILE_BYTES, UnusableError
from wayword.sim.models.mesh import Mesh
from wayword.sim.models.mesh_files import FORMATS, read_mesh_file

COMPANIONS = frozenset({
    ".mtl", ".bin", ".json", ".txt", ".md", ".png", ".jpg", ".jpeg", ".bmp", ".tga", ".webp", ".gif", ".tif",
    ".tiff", ".npz", ".html", ".pdf", ".csv",
})  # fmt: skip
"""Files that lie beside meshes and are none: not worth a line in the list of skipped ones."""
MAX_NAME = 80
MAX_EDGE_M = 10.0
MAX_FILES = 2_000
"""In one folder of meshes."""
MAX_PACK_BYTES = 2**30
"""Of all meshes of a folder together."""


@dataclass(frozen=True)
class Skipped:
    """A file or object that was not taken, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Pack:
    """Objects by name, at their size, and what was skipped or is worth knowing."""

    meshes: dict[str, Mesh]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[Skipped, ...] = ()
    """Objects that were taken although something about them is not as it should be."""


@dataclass(frozen=True)
class _Settings:
    """What pack.json says of one object."""

    name: str | None = None
    longest_edge_m: float | None = None
    up: str | None = None


def load_pack(path: Path | str) -> Pack:
    """Load a folder of mesh files, or a baked pack from its .npz file."""
    source = Path(path)
    if source.is_dir():
        pack = _load_folder(source)
    elif source.suffix.lower() == ".npz" and source.is_file():
        pack = _load_baked(source)
    elif source.exists():
        raise WaywordError(f"{source}: an object pack is a folder of mesh files or a baked .npz file")
    else:
        raise WaywordError(f"{source}: there is no such object pack")
    if not pack.meshes:
        first = f"; {pack.skipped[0].name} {pack.skipped[0].reason}" if pack.skipped else ""
        raise WaywordError(f"{source}: no usable mesh in this pack{first}")
    return pack


def select(pack: Pack, names: Iterable[str]) -> Pack:
    """The pack with the named objects only, in the order of ``names``."""
    order = list(dict.fromkeys(names))
    for name in order:
        if name not in pack.meshes:
            near = difflib.get_close_matches(name, pack.meshes, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise WaywordError(f"the pack has no object {name!r}{hint}")
    notes = tuple(note for note in pack.notes if note.name in order)
    return replace(pack, meshes={name: pack.meshes[name] for name in order}, notes=notes)


def object_name(text: str) -> str:
    """A file's stem as an object's name: underscores and hyphens are spaces."""
    return " ".join(text.replace("_", " ").replace("-", " ").split())[:MAX_NAME].strip()


def _load_folder(folder: Path) -> Pack:
    settings, default_edge = _read_settings(folder / "pack.json")
    unseen = set(settings)
    meshes: dict[str, Mesh] = {}
    skipped: list[Skipped] = []
    notes: list[Skipped] = []
    total_bytes = 0
    files = [folder / name for name in listing(folder, MAX_FILES) if not name.startswith(".")]
    for file in files:
        suffix = file.suffix.lower()
        if suffix in COMPANIONS or (file.is_dir() and suffix not in FORMATS):
            continue
        plain = object_name(file.stem)
        key = next((key for key in (file.name, file.stem, plain) if key in settings), None)
        unseen.discard(key or "")
        say = settings[key] if key is not None else _Settings()
        name = say.name or plain
        try:
            if suffix not in FORMATS:
                raise UnusableError("is not of a mesh format that is read: use GLB, GLTF, OBJ, PLY, STL or OFF")
            if not name:
                raise UnusableError("has no name: rename the file")
            if name in meshes:
                raise UnusableError(f"is a second object named {name!r}: rename one of them")
            size = file.stat().st_size if file.is_file() else 0
            total_bytes += size if size <= MAX_FILE_BYTES else 0  # what is larger is not read at all
            if total_bytes > MAX_PACK_BYTES:
                raise WaywordError(
                    f"{folder}: its meshes have more than {MAX_PACK_BYTES // 2**20} MB; name a smaller folder"
                )
            meshes[name], remarks = read_mesh_file(file, folder, say.longest_edge_m or default_edge, say.up)
        except UnusableError as error:
            skipped.append(Skipped(file.name, str(error)))
            continue
        notes += [Skipped(name, remark) for remark in remarks]
    skipped += [Skipped(key, "is named in pack.json, but there is no such file") for key in sorted(unseen)]
    return Pack(meshes, tuple(skipped), tuple(notes))


def _load_baked(path: Path) -> Pack:
    baked = BakedPack(path)
    meshes: dict[str, Mesh] = {}
    skipped: list[Skipped] = []
    for i, raw in enumerate(baked.names):
        name = object_name(raw)
        try:
            if not name:
                raise UnusableError("has no name")
            if name in meshes:
                raise UnusableError(f"is a second object named {name!r}")
            meshes[name] = baked.mesh_or_reason(i)
        except UnusableError as error:
            skipped.append(Skipped(raw, str(error)))
    return Pack(meshes, tuple(skipped))


def _read_settings(path: Path) -> tuple[dict[str, _Settings], float]:
    """What pack.json says of each file, and the default size; raises on anything it cannot mean."""
    if not path.is_file():
        return {}, DEFAULT_EDGE_M
    text = read_json(path, 2**20)
    _expect(path, text, {"objects", "longest_edge_m"}, "pack.json")
    objects = text.get("objects", {})
    if not isinstance(objects, dict):
        raise DataError(path, '"objects" must map file names to settings')
    settings = {}
    for key, entry in objects.items():
        _expect(path, entry, {"name", "longest_edge_m", "up"}, repr(key))
        name, up = entry.get("name"), entry.get("up")
        if name is not None and (not isinstance(name, str) or not 0 < len(name.strip()) <= MAX_NAME):
            raise DataError(path, f"{key!r}: name must be a text of 1 to {MAX_NAME} characters")
        if up not in (None, "y", "z"):
            raise DataError(path, f'{key!r}: up must be "y" or "z"')
        clean = " ".join(name.split()) if name is not None else None
        settings[key] = _Settings(clean, _edge(path, entry, repr(key)), up)
    return settings, _edge(path, text, "pack.json") or DEFAULT_EDGE_M


def _expect(path: Path, value: Any, keys: set[str], where: str) -> None:
    if not isinstance(value, dict):
        raise DataError(path, f"{where} must be an object in braces")
    unknown = sorted(set(value) - keys)
    if unknown:
        raise DataError(path, f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(keys))}")


def _edge(path: Path, entry: dict[str, Any], where: str) -> float | None:
    edge = entry.get("longest_edge_m")
    if edge is None:
        return None
    if isinstance(edge, bool) or not isinstance(edge, int | float) or not math.isfinite(edge):
        raise DataError(path, f"{where}: longest_edge_m must be a number of metres")
    if not 0.0 < edge <= MAX_EDGE_M:
        raise DataError(path, f"{where}: longest_edge_m must be above 0 and at most {MAX_EDGE_M:g} m")
    return float(edge)
