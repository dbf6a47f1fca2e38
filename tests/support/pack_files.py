"""Small mesh files for the tests of object packs, made in memory."""

from __future__ import annotations

import base64
import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from wayword.sim.models.mesh import Mesh
from wayword.sim.models.packs import load_pack

# A square pyramid, y up: base 2 x 2 at y = 0, tip at y = 1.
POINTS = [(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1), (0, 1, 0)]
FACES = [(0, 1, 2), (0, 2, 3), (0, 4, 1), (1, 4, 2), (2, 4, 3), (3, 4, 0)]
OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in POINTS) + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES)
OFF = (
    f"OFF\n{len(POINTS)} {len(FACES)} 0\n"
    + "".join(f"{x} {y} {z}\n" for x, y, z in POINTS)
    + "".join(f"3 {a} {b} {c}\n" for a, b, c in FACES)
)
CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0.0, 1.0)])
CUBE_FACES = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
]  # fmt: skip


def ply(vertices: int = len(POINTS), faces: int = len(FACES)) -> str:
    header = f"ply\nformat ascii 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\n"
    header += "property uchar red\nproperty uchar green\nproperty uchar blue\n"
    header += f"element face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
    rows = "".join(f"{x} {y} {z} 10 200 30\n" for x, y, z in POINTS)
    return header + rows + "".join(f"3 {a} {b} {c}\n" for a, b, c in FACES)


def stl() -> bytes:
    triangles = [struct.pack("<12fH", 0, 0, 0, *(c for i in face for c in POINTS[i]), 0) for face in FACES]
    return bytes(80) + struct.pack("<I", len(FACES)) + b"".join(triangles)


def png(size: tuple[int, int] = (4, 4), color: tuple[int, int, int] = (250, 10, 20)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, color).save(stream, "PNG")
    return stream.getvalue()


def gltf(image_uri: str | None = None, **changes: Any) -> dict[str, Any]:
    """The pyramid as a glTF tree with its one buffer inside; ``changes`` replace whole tables."""
    points, faces = np.array(POINTS, "<f4").tobytes(), np.array(FACES, "<u2").tobytes()
    uv = np.tile(np.array([0.5, 0.5], "<f4"), (5, 1)).tobytes()
    blob = points + faces + uv
    tree: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 2}, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1.0, 0.0, 0.0, 1.0]}}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 18, "type": "SCALAR"},
            {"bufferView": 2, "componentType": 5126, "count": 5, "type": "VEC2"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 60},
            {"buffer": 0, "byteOffset": 60, "byteLength": 36},
            {"buffer": 0, "byteOffset": 96, "byteLength": 40},
        ],
        "buffers": [{"byteLength": len(blob), "uri": data_uri(blob)}],
    }
    if image_uri is not None:
        tree["images"] = [{"uri": image_uri}]
        tree["textures"] = [{"source": 0}]
        tree["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    return {**tree, **changes}


def data_uri(data: bytes) -> str:
    return "data:application/octet-stream;base64," + base64.b64encode(data).decode()


def glb(tree: dict[str, Any]) -> bytes:
    header = json.dumps(tree).encode()
    header += b" " * (-len(header) % 4)
    return struct.pack("<IIIII", 0x46546C67, 2, 20 + len(header), len(header), 0x4E4F534A) + header


def pack_folder(path: Path) -> Path:
    """A pack with one good object, so that it loads whatever else is in it."""
    folder = path / "pack"
    folder.mkdir()
    (folder / "good_one.obj").write_text(OBJ)
    return folder


def reason(folder: Path, name: str, content: str | bytes | dict[str, Any]) -> str:
    """Put a file beside the good one, load the pack, and say why the file was skipped."""
    text = json.dumps(content) if isinstance(content, dict) else content
    (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    pack = load_pack(folder)
    assert list(pack.meshes) == ["good one"]
    assert [entry.name for entry in pack.skipped] == [name]
    return pack.skipped[0].reason


def mean_color(mesh: Mesh) -> tuple[int, ...]:
    pixels = mesh.texture if mesh.texture is not None else mesh.colors
    return tuple(np.round(pixels.reshape(-1, 3).mean(axis=0)).astype(int))


def write_pack(path: Path, things: list[tuple[str, str, tuple[float, float, float], tuple[int, int, int]]]) -> Path:
    """A baked pack of boxes: name, noun, extent, colour."""
    index, vertices, uv, faces, texture = [], [], [], [], b""
    for name, noun, extent, color in things:
        stream = io.BytesIO()
        Image.new("RGB", (16, 16), color).save(stream, "JPEG")
        counts = {"vertices": 8, "faces": 12, "texture_bytes": len(stream.getvalue())}
        index.append({"name": name, "noun": noun, "license": "CC0", **counts})
        vertices.append(CUBE * extent)
        uv.append(np.full((8, 2), 0.5))
        faces.append(CUBE_FACES)
        texture += stream.getvalue()
    np.savez(
        path,
        v=np.concatenate(vertices).astype(np.float16),
        uv=np.concatenate(uv).astype(np.float16),
        f=np.concatenate(faces).astype(np.uint16),
        tex=np.frombuffer(texture, np.uint8),
    )
    path.with_suffix(".json").write_text(json.dumps(index), encoding="utf-8")
    return path
