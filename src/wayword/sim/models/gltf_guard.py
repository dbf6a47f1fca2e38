"""Vetting of glTF files before they are parsed: a few bytes of JSON can ask for any amount of memory.

``vet_gltf`` judges sizes, takes out everything that objects do not need (animations, cameras, extensions)
and gives back a file that holds the same surface.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from typing import Any, TypeAlias

from wayword.guarded import parse_json
from wayword.sim.models.file_guard import (
    MAX_FILE_BYTES,
    MAX_GROUPS,
    FolderResolver,
    UnusableError,
    check_faces,
    open_image,
)

Json: TypeAlias = dict[str, Any]
_COMPONENT_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_TABLES = ("buffers", "bufferViews", "accessors", "meshes", "nodes", "scenes", "materials", "textures", "images")
MAX_DEPTH = 100
_SPECULAR = "KHR_materials_pbrSpecularGlossiness"


def vet_gltf(data: bytes, suffix: str, resolver: FolderResolver) -> bytes:
    """Check a .gltf or .glb file and give back a cleaned one of the same kind."""
    header, chunk = (_split_glb(data)) if suffix == ".glb" else (data, b"")
    if sum(header.count(mark) for mark in (b"{", b"[", b",")) > 2_000_000:
        raise UnusableError("has a header that is too large")
    try:
        tree = parse_json(header)
    except (ValueError, RecursionError) as error:
        raise UnusableError("is not a glTF file: its header is no JSON") from error
    try:
        tree = _cleaned(tree)
        _check_sizes(tree)
        _check_nodes(tree)
        _check_images(tree, chunk, resolver)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise UnusableError(f"is a broken glTF file ({type(error).__name__}: {str(error)[:60]})") from error
    except FileNotFoundError as error:
        raise UnusableError(f"refers to {str(error)[:80]!r}, which is not in the pack folder") from error
    cleaned = json.dumps(tree).encode()
    if suffix == ".gltf":
        return cleaned
    cleaned += b" " * (-len(cleaned) % 4)
    body = struct.pack("<II", len(cleaned), 0x4E4F534A) + cleaned
    if chunk:
        body += struct.pack("<II", len(chunk), 0x004E4942) + chunk
    return struct.pack("<III", 0x46546C67, 2, 12 + len(body)) + body


def _split_glb(data: bytes) -> tuple[bytes, bytes]:
    """The JSON and the binary chunk of a GLB file."""
    if len(data) < 20 or data[:4] != b"glTF":
        raise UnusableError("is not a GLB file")
    version, length, size, kind = struct.unpack("<IIII", data[4:20])
    if version != 2:
        raise UnusableError(f"is glTF version {version}; only version 2 is read")
    if kind != 0x4E4F534A or length > len(data) or 20 + size > len(data):
        raise UnusableError("is truncated")
    header, rest = data[20 : 20 + size], data[20 + size :]
    if len(rest) < 8:
        return header, b""
    size, kind = struct.unpack("<II", rest[:8])
    if 8 + size > len(rest):
        raise UnusableError("is truncated")
    return header, rest[8 : 8 + size] if kind == 0x004E4942 else b""


def _cleaned(tree: Json) -> Json:
    """Keep the surface only; raises on tables of the wrong type."""
    required = [name for name in tree.get("extensionsRequired", []) if not str(name).startswith("KHR_materials")]
    if required:
        raise UnusableError(f"needs the glTF extension {str(required[0])[:60]}, which is not supported")
    clean: Json = {"asset": {"version": "2.0"}}
    for table in _TABLES:
        entries = tree.get(table, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise UnusableError(f"is a broken glTF file ({table} is not a list)")
        if entries:
            clean[table] = [{k: v for k, v in e.items() if k not in ("extras", "camera", "skin")} for e in entries]
    if isinstance(tree.get("scene"), int):
        clean["scene"] = tree["scene"]
    for number, material in enumerate(clean.get("materials", [])):
        gloss = material.pop("extensions", {}).get(_SPECULAR, {})
        base = dict(material.get("pbrMetallicRoughness", {}))
        colours = {
            "baseColorTexture": base.get("baseColorTexture", gloss.get("diffuseTexture")),
            "baseColorFactor": base.get("baseColorFactor", gloss.get("diffuseFactor")),
        }
        colours = {key: value for key, value in colours.items() if value is not None}
        clean["materials"][number] = {"pbrMetallicRoughness": colours}
    for texture in clean.get("textures", []):
        webp = texture.pop("extensions", {}).get("EXT_texture_webp", {})
        texture.setdefault("source", webp.get("source"))
    for mesh in clean.get("meshes", []):
        for primitive in mesh["primitives"]:
            primitive.pop("extensions", None)
            primitive.pop("targets", None)
            attributes = ("POSITION", "TEXCOORD_0", "COLOR_0")
            primitive["attributes"] = {k: v for k, v in primitive["attributes"].items() if k in attributes}
    for table in ("nodes", "buffers", "bufferViews", "accessors", "images", "meshes"):
        for entry in clean.get(table, []):
            entry.pop("extensions", None)
    return clean


def _check_sizes(tree: Json) -> None:
    views = sum(_whole(view["byteLength"]) for view in tree.get("bufferViews", []))
    accessors = 0
    for entry in tree.get("accessors", []):
        item = _COMPONENT_BYTES[entry["componentType"]] * _COMPONENTS[entry["type"]]
        accessors += _whole(entry["count"]) * item
    if max(views, accessors) > 2 * MAX_FILE_BYTES:
        raise UnusableError("states more data than one object may have")


def _check_nodes(tree: Json) -> None:
    """Nodes must form trees of bounded size, and all instances together must not have too many faces."""
    nodes, meshes = tree.get("nodes", []), tree.get("meshes", [])
    if max(len(nodes), sum(len(mesh["primitives"]) for mesh in meshes)) > MAX_GROUPS:
        raise UnusableError(f"has more than {MAX_GROUPS:,} nodes or parts")
    parents = [0] * len(nodes)
    for node in nodes:
        for child in node.get("children", []):
            parents[_whole(child)] += 1
    roots = [_whole(root) for scene in tree.get("scenes", []) for root in scene.get("nodes", [])]
    if any(count > 1 for count in parents) or any(parents[root] for root in roots):
        raise UnusableError("is a broken glTF file (its nodes do not form a tree)")
    level, depth = set(roots), 0
    while level:
        level, depth = {child for node in level for child in nodes[node].get("children", [])}, depth + 1
        if depth > MAX_DEPTH:  # the parser walks from each node to the root: a long chain takes minutes
            raise UnusableError(f"has nodes nested deeper than {MAX_DEPTH}")
    faces = [sum(_primitive_faces(tree, primitive) for primitive in mesh["primitives"]) for mesh in meshes]
    check_faces(sum(faces[_whole(node["mesh"])] for node in nodes if "mesh" in node))
    check_faces(max(faces, default=0))


def _primitive_faces(tree: Json, primitive: Json) -> int:
    source = primitive.get("indices", primitive["attributes"].get("POSITION"))
    count = _whole(tree["accessors"][_whole(source)]["count"])
    return {4: count // 3, 5: count}.get(primitive.get("mode", 4), 0)


def _check_images(tree: Json, chunk: bytes, resolver: FolderResolver) -> None:
    """Open every image that colours a surface; the parser would pass over a bad one in silence."""
    for material in tree.get("materials", []):
        texture = material["pbrMetallicRoughness"].get("baseColorTexture")
        if texture is None:
            continue
        image = tree["images"][_whole(tree["textures"][_whole(texture["index"])]["source"])]
        if "bufferView" in image:
            view = tree["bufferViews"][_whole(image["bufferView"])]
            data = _buffer(tree["buffers"][_whole(view["buffer"])], chunk, resolver)
            start = _whole(view.get("byteOffset", 0))
            open_image(data[start : start + view["byteLength"]])
        else:
            open_image(_fetch(image["uri"], resolver))


def _buffer(entry: Json, chunk: bytes, resolver: FolderResolver) -> bytes:
    return _fetch(entry["uri"], resolver) if "uri" in entry else chunk


def _fetch(uri: str, resolver: FolderResolver) -> bytes:
    if uri.startswith("data:") and "base64," in uri:
        try:
            return base64.b64decode(uri.split("base64,", 1)[1])
        except binascii.Error as error:
            raise UnusableError("has damaged embedded data") from error
    return resolver[uri]


def _whole(value: object) -> int:
    """A count or an index: a JSON integer that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{str(value)[:20]} is not a count")
    return value
