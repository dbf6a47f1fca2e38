"""A bank of meshes: all objects of a world end to end in flat arrays, as the rasteriser's kernels read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.errors import WaywordError
from wayword.sim.models.catalogue import catalogue, catalogue_mesh
from wayword.sim.models.mesh import Mesh

TEXTURE_SIZE = 128
LEVELS = 8
"""Mip levels of a texture: 128, 64, ..., 1."""


class BankArrays(NamedTuple):
    """The flat arrays; object o owns vertices ``span[o, 0]:span[o, 1]`` and faces ``span[o, 2]:span[o, 3]``."""

    vertices: NDArray[np.float32]
    normals: NDArray[np.float32]
    colors: NDArray[np.float32]
    uv: NDArray[np.float32]
    faces: NDArray[np.int32]
    span: NDArray[np.int64]
    texture: NDArray[np.int64]
    """Offset of the mip pyramid in ``texels``; -1 for vertex colours."""
    texels: NDArray[np.uint8]
    sphere: NDArray[np.float32]
    """Bounding sphere in object coordinates: x, y, z, radius."""
    two_sided: NDArray[np.bool_]


class MeshBank:
    """Named meshes with the flat arrays for drawing them."""

    def __init__(self, meshes: Mapping[str, Mesh]) -> None:
        if not meshes:
            raise WaywordError("no objects to draw: the pack or selection is empty")
        self.meshes = dict(meshes)
        self.index = {name: i for i, name in enumerate(self.meshes)}
        self.column_m = {name: mesh.column_radius for name, mesh in self.meshes.items()}
        self.arrays = _flatten(list(self.meshes.values()))

    @staticmethod
    def of_catalogue(names: Sequence[str] | None = None) -> MeshBank:
        """A bank of catalogue objects, all 80 by default."""
        return MeshBank({name: catalogue_mesh(name) for name in (names or catalogue())})

    def number(self, name: str) -> int:
        """Index of an object in the arrays."""
        if name not in self.index:
            raise WaywordError(f"unknown object {name!r}: it is neither in the catalogue nor in a loaded pack")
        return self.index[name]


def mip_pyramid(texture: NDArray[np.uint8], levels: int) -> NDArray[np.uint8]:
    """A texture (H, W, 3) and its halvings, flattened end to end."""
    current = texture.astype(np.float32)
    parts = [texture.reshape(-1)]
    for _ in range(levels - 1):
        h, w = current.shape[0] // 2, current.shape[1] // 2
        current = current.reshape(h, 2, w, 2, 3).mean(axis=(1, 3))
        parts.append(np.round(current).astype(np.uint8).reshape(-1))
    return np.concatenate(parts)


def _flatten(meshes: Sequence[Mesh]) -> BankArrays:
    span, sphere, offset, pyramids = [], [], [], []
    v = f = texel = 0
    for mesh in meshes:
        span.append((v, v + len(mesh.vertices), f, f + len(mesh.faces)))
        v, f = v + len(mesh.vertices), f + len(mesh.faces)
        centre = (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0)) / 2
        sphere.append((*centre, np.linalg.norm(mesh.vertices - centre, axis=1).max()))
        if mesh.texture is None or mesh.uv is None:
            offset.append(-1)
            continue
        texture = mesh.texture
        if texture.shape[:2] != (TEXTURE_SIZE, TEXTURE_SIZE):
            texture = np.asarray(Image.fromarray(texture).resize((TEXTURE_SIZE, TEXTURE_SIZE), Image.Resampling.BOX))
        pyramids.append(mip_pyramid(texture, LEVELS))
        offset.append(texel)
        texel += len(pyramids[-1])
    return BankArrays(
        vertices=np.concatenate([mesh.vertices for mesh in meshes]).astype(np.float32),
        normals=np.concatenate([mesh.normals for mesh in meshes]).astype(np.float32),
        colors=np.concatenate([mesh.colors for mesh in meshes]).astype(np.float32),
        uv=np.concatenate(
            [mesh.uv if mesh.uv is not None else np.zeros((len(mesh.vertices), 2)) for mesh in meshes]
        ).astype(np.float32),
        faces=np.concatenate([mesh.faces for mesh in meshes]).astype(np.int32),
        span=np.array(span, dtype=np.int64),
        texture=np.array(offset, dtype=np.int64),
        texels=np.concatenate(pyramids) if pyramids else np.zeros(3, dtype=np.uint8),
        sphere=np.array(sphere, dtype=np.float32),
        two_sided=np.array([mesh.two_sided for mesh in meshes]),
    )
