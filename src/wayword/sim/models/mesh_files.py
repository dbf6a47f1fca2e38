"""One mesh file in, one drawable mesh out: OBJ, GLB, GLTF, PLY, STL, OFF, read through trimesh.

Files come from anywhere: ``file_guard`` and ``gltf_guard`` judge them before trimesh sees them, ``surfaces``
checks what comes out. Whatever is wrong ends as ``UnusableError`` with the reason, never as another exception.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.sim.models.file_guard import MAX_PIXELS, FolderResolver, UnusableError, check_faces, read_inside, vet_plain
from wayword.sim.models.gltf_guard import vet_gltf
from wayword.sim.models.mesh import MAX_FACES as FAST_FACES
from wayword.sim.models.mesh import Mesh
from wayword.sim.models.surfaces import Bytes, Floats, Surface, assemble_surfaces, combined, texture_tile

FORMATS = (".obj", ".glb", ".gltf", ".ply", ".stl", ".off")
UP = {".obj": "y", ".glb": "y", ".gltf": "y", ".ply": "z", ".stl": "z", ".off": "z"}
"""Which axis points up unless the pack says otherwise: what each format prescribes or is mostly used with."""


def read_mesh_file(path: Path, folder: Path, longest_edge: float, up: str | None = None) -> tuple[Mesh, list[str]]:
    """The mesh of a file at its size, with notes about what was left out; raises ``UnusableError``."""
    suffix = path.suffix.lower()
    resolver = FolderResolver(folder)
    data = read_inside(path, folder)
    data = vet_gltf(data, suffix, resolver) if suffix in (".glb", ".gltf") else vet_plain(data, suffix)
    scene = _parse(data, suffix, resolver)
    try:
        surfaces = list(_surfaces(scene, linear=suffix in (".glb", ".gltf")))
    except UnusableError:
        raise
    except Exception as error:  # the parser's own objects may fail on first use
        raise UnusableError(f"cannot be read ({_short(error)})") from error
    if not surfaces:
        raise UnusableError("holds no faces")
    mesh = assemble_surfaces(*combined(surfaces), longest_edge, up or UP[suffix])
    notes = [f"{name} is missing: drawn without it" for name in resolver.missing]
    if len(mesh.faces) > FAST_FACES:
        notes.append(f"has {len(mesh.faces):,} faces; above {FAST_FACES:,} drawing is slower")
    return mesh, notes


def _parse(data: bytes, suffix: str, resolver: FolderResolver) -> Any:
    import trimesh  # takes a third of a second, and most runs use no packs

    try:
        with _quiet():
            scene = trimesh.load(
                io.BytesIO(data), file_type=suffix[1:], resolver=resolver, force="scene", process=False
            )
    except UnusableError:
        raise
    except Exception as error:  # a parser of foreign input may raise anything; all of it means the same
        missing = f"; {resolver.missing[0]} is missing" if resolver.missing else ""
        raise UnusableError(f"cannot be read as {suffix[1:].upper()} ({_short(error)}{missing})") from error
    if resolver.problems:
        raise UnusableError(resolver.problems[0])
    return scene


def _surfaces(scene: Any, linear: bool) -> Iterator[Surface]:
    """The triangle meshes of a scene in world coordinates; ``linear`` says how colours are stored."""
    import trimesh

    geometries = [(str(scene.graph[node][1]), node) for node in scene.graph.nodes_geometry]
    placed = [(name, node) for name, node in geometries if isinstance(scene.geometry[name], trimesh.Trimesh)]
    check_faces(sum(len(scene.geometry[name].faces) for name, _ in placed))
    tiles: dict[tuple[int, tuple[int, ...]], Bytes] = {}
    pixels = 0
    for name, node in sorted(placed, key=lambda pair: pair[0]):  # node names may be drawn at random
        geometry = scene.geometry[name]
        transform = np.asarray(scene.graph[node][0], dtype=np.float64)
        faces = np.asarray(geometry.faces, dtype=np.int64).reshape(-1, 3)
        positions = np.asarray(geometry.vertices, dtype=np.float64).reshape(-1, 3)
        if len(faces) == 0 or faces.min() < 0 or faces.max() >= len(positions):
            raise UnusableError("has faces that refer to points it does not have")
        with np.errstate(all="ignore"):
            positions = positions @ transform[:3, :3].T + transform[:3, 3]
        visual = geometry.visual
        if visual.kind != "texture":
            yield Surface(positions, faces, _plain_colors(visual, faces, linear))
            continue
        image, factor = _material(visual.material)
        tint = _srgb(factor[:3]) if linear else factor[:3]
        colors = np.broadcast_to(np.round(tint * 255).astype(np.uint8), (len(faces), 3, 3))
        painted = (visual.vertex_attributes or {}).get("color") if image is None else None
        if painted is not None and len(painted) == len(positions):
            rgb = _fractions(np.asarray(painted))[:, :3]
            colors = np.round((_srgb(rgb) if linear else rgb) * tint * 255).astype(np.uint8)[faces]
        uv = visual.uv
        if image is None or uv is None or np.shape(uv) != (len(positions), 2):
            yield Surface(positions, faces, colors)
            continue
        key = (id(image), tuple(np.round(tint * 255).astype(int)))
        if key not in tiles:
            pixels += image.width * image.height
            if pixels > 4 * MAX_PIXELS:
                raise UnusableError("has textures of too many pixels in total")
            tiles[key] = np.round(texture_tile(image) * tint).astype(np.uint8)
        flipped = np.column_stack([uv[:, 0], 1.0 - uv[:, 1]]).astype(np.float64)
        yield Surface(positions, faces, colors, flipped[faces], tiles[key])


def _material(material: Any) -> tuple[Image.Image | None, Floats]:
    """Image and colour factor of whatever material trimesh has made."""
    image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
    if image is not None and image.format is None:  # not from the file: trimesh fills in a pixel of dark grey
        return None, np.full(4, 200 / 255)
    factor = getattr(material, "baseColorFactor", None)
    if factor is None and image is None:
        factor = getattr(material, "diffuse", None)
    tint = np.ones(4) if factor is None else _fractions(np.atleast_1d(np.asarray(factor)))
    return image, tint if tint.shape in ((3,), (4,)) else np.ones(4)


def _plain_colors(visual: Any, faces: NDArray[np.int64], linear: bool) -> Bytes:
    """Corner colours from vertex or face colours, or grey."""
    if visual.kind == "vertex":
        colors = np.asarray(visual.vertex_colors)[:, :3][faces]
    elif visual.kind == "face":
        colors = np.repeat(np.asarray(visual.face_colors)[:, None, :3], 3, axis=1)
    else:
        return np.full((len(faces), 3, 3), 200, np.uint8)
    return np.round(_srgb(colors / 255) * 255).astype(np.uint8) if linear else colors.astype(np.uint8)


def _fractions(values: NDArray[Any]) -> Floats:
    """Colours as numbers from 0 to 1, whether they came as bytes, words or fractions."""
    top = float(np.iinfo(values.dtype).max) if values.dtype.kind in "iu" else 1.0
    return np.clip(np.nan_to_num(values.astype(np.float64)) / top, 0.0, 1.0)


def _srgb(linear: Floats) -> Floats:
    """Linear light, in which glTF states colours, as screen values."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())[:80]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the parser's own warnings: what matters reaches the user as one line per file."""
    logger = logging.getLogger("trimesh")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
