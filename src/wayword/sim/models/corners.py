"""Meshes from face corners: what textures need, because a point may have another uv on every face it touches.

Shapes: V points, F faces; per corner normals (F, 3, 3), colours (F, 3, 3) or uv (F, 3, 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.sim.models.mesh import Mesh, smooth_normals

MAX_CORNER_PAIRS = 2_000_000
"""Beyond this, smoothing would need gigabytes: a mesh with thousands of faces about one point is shaded flat."""


def mesh_of_corners(
    positions: NDArray[np.float64],
    faces: NDArray[np.int64],
    normals: NDArray[np.float64],
    colors: NDArray[np.uint8] | None = None,
    uv: NDArray[np.float64] | None = None,
    texture: NDArray[np.uint8] | None = None,
    two_sided: bool = False,
) -> Mesh:
    """Share the vertices of corners that agree in point, normal, colour and uv, and split all others."""
    flat = faces.reshape(-1)
    corner_colors = np.full((len(flat), 3), 200, np.uint8) if colors is None else colors.reshape(-1, 3)
    columns: list[NDArray[Any]] = [flat[:, None], np.round(normals.reshape(-1, 3) * 500), corner_colors]
    if uv is not None:
        columns.append(np.round(uv.reshape(-1, 2) * 4096))
    keys = np.ascontiguousarray(np.concatenate(columns, axis=1, dtype=np.float64)) + 0.0  # no minus zero
    # Comparing whole rows as bytes is several times faster than np.unique(axis=0).
    rows = keys.view(np.dtype((np.void, keys.shape[1] * 8))).reshape(-1)
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    return Mesh(
        vertices=positions[flat[first]].astype(np.float32),
        faces=inverse.reshape(-1, 3).astype(np.int32),
        normals=normals.reshape(-1, 3)[first].astype(np.float32),
        colors=np.ascontiguousarray(corner_colors[first]),
        uv=None if uv is None else uv.reshape(-1, 2)[first].astype(np.float32),
        texture=texture,
        two_sided=two_sided,
    )


def corner_normals(positions: NDArray[np.float64], faces: NDArray[np.int64], crease_deg: float) -> NDArray[np.float64]:
    """``smooth_normals``, or plain face normals where too many faces meet in one point; no two points coincide."""
    counts = np.bincount(faces.reshape(-1))
    if int((counts.astype(np.int64) ** 2).sum()) <= MAX_CORNER_PAIRS:
        return smooth_normals(positions, faces, crease_deg)
    a, b, c = (positions[faces[:, i]] for i in range(3))
    area = np.cross(b - a, c - a)
    length = np.linalg.norm(area, axis=1, keepdims=True)
    unit = np.divide(area, length, out=np.zeros_like(area), where=length > 0)
    return np.repeat(unit[:, None, :], 3, axis=1)
