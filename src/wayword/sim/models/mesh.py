"""Meshes: what the renderer draws, and the painted solids that builders put together.

Shapes
    V vertices, F faces.
    Solid   positions (V, 3) shared between faces, faces (F, 3), one colour per face (F, 3).
    Mesh    vertices (V, 3), normals (V, 3), colors (V, 3), uv (V, 2) or None, texture (T, T, 3) or None.

Frames and units: metres, z up, front of an object is -y. Faces are counter-clockwise seen from outside.
Builders work with ``Solid`` because hard colour edges and shared corners are easiest to say per face;
``finish`` turns solids into the ``Mesh`` that the rasteriser wants, splitting vertices at creases and
colour edges only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Color: TypeAlias = tuple[int, int, int]
Where: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.bool_]]

MAX_FACES = 1000
"""A catalogue object has at most this many faces: more cannot be told apart at 128 x 72."""


@dataclass(frozen=True)
class Solid:
    """A painted surface under construction; every method returns a new solid."""

    positions: NDArray[np.float64]
    faces: NDArray[np.int64]
    colors: NDArray[np.uint8]
    crease_deg: float = 40.0
    """Faces that meet at a sharper angle than this keep a hard edge when shaded."""

    @staticmethod
    def of(positions: object, faces: object, color: Color = (200, 200, 200), crease_deg: float = 40.0) -> Solid:
        """Make a solid of one colour from anything numpy can read as arrays."""
        face_array = np.asarray(faces, dtype=np.int64).reshape(-1, 3)
        colors = np.tile(np.asarray(color, dtype=np.uint8), (len(face_array), 1))
        return Solid(np.asarray(positions, dtype=np.float64).reshape(-1, 3), face_array, colors, crease_deg)

    def move(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Solid:
        """Translate."""
        return replace(self, positions=self.positions + np.array([x, y, z]))

    def scale(self, x: float, y: float | None = None, z: float | None = None) -> Solid:
        """Scale about the origin, uniformly if only ``x`` is given; mirrors keep faces outward."""
        factors = np.array([x, x if y is None else y, x if z is None else z])
        faces = self.faces[:, ::-1] if float(np.prod(factors)) < 0 else self.faces
        return replace(self, positions=self.positions * factors, faces=faces)

    def turn(self, axis: str, degrees: float) -> Solid:
        """Rotate about the x, y or z axis through the origin, right-handed."""
        return replace(self, positions=self.positions @ rotation(axis, math.radians(degrees)).T)

    def bend(self, displace: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Solid:
        """Move every position by a function of the positions (V, 3) -> (V, 3)."""
        return replace(self, positions=displace(self.positions))

    def paint(self, color: Color, where: Where | None = None) -> Solid:
        """Colour all faces, or those for which ``where(centroids, normals)`` holds."""
        mask = np.ones(len(self.faces), dtype=bool) if where is None else where(self.centroids(), self.face_normals())
        colors = self.colors.copy()
        colors[mask] = np.asarray(color, dtype=np.uint8)
        return replace(self, colors=colors)

    def speckle(self, amount: float, seed: int) -> Solid:
        """Vary the brightness of each face by up to +-``amount`` (0..1): bark, stone, leaves."""
        rng = np.random.default_rng(seed)
        factors = 1.0 + rng.uniform(-amount, amount, size=(len(self.faces), 1))
        return replace(self, colors=np.clip(self.colors * factors, 0, 255).astype(np.uint8))

    def smooth(self, crease_deg: float) -> Solid:
        """Change the crease angle: 180 shades everything round, 0 everything faceted."""
        return replace(self, crease_deg=crease_deg)

    def centroids(self) -> NDArray[np.float64]:
        """Face centres (F, 3)."""
        centres: NDArray[np.float64] = self.positions[self.faces].mean(axis=1)
        return centres

    def face_normals(self) -> NDArray[np.float64]:
        """Unit outward normals (F, 3); zero for degenerate faces."""
        normals = _area_vectors(self.positions, self.faces)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        unit: NDArray[np.float64] = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)
        return unit


@dataclass(frozen=True)
class Mesh:
    """A drawable mesh; see the module docstring for shapes."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    normals: NDArray[np.float32]
    colors: NDArray[np.uint8]
    uv: NDArray[np.float32] | None = None
    texture: NDArray[np.uint8] | None = None
    two_sided: bool = False
    """Draw back faces too: needed where orientation cannot be trusted (imported meshes)."""

    @property
    def longest_edge(self) -> float:
        """Longest edge of the bounding box."""
        return float(np.ptp(self.vertices, axis=0).max())

    @property
    def column_radius(self) -> float:
        """Radius of the upright column with the same ground area as the bounding box: how solid it is to fly past."""
        width, depth, _ = np.ptp(self.vertices, axis=0)
        return math.sqrt(float(width) * float(depth) / math.pi)

    def scaled(self, factor: float) -> Mesh:
        """Scale about the origin."""
        return replace(self, vertices=(self.vertices * np.float32(factor)))


def rotation(axis: str, angle: float) -> NDArray[np.float64]:
    """Right-handed rotation matrix about a coordinate axis, radians."""
    c, s = math.cos(angle), math.sin(angle)
    matrices = {
        "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }
    return np.array(matrices[axis], dtype=np.float64)


def join(*solids: Solid | Sequence[Solid]) -> list[Solid]:
    """Flatten solids and lists of solids into one list, the form in which builders return objects."""
    flat: list[Solid] = []
    for item in solids:
        flat.extend([item] if isinstance(item, Solid) else item)
    return flat


def finish(solids: Sequence[Solid], longest_edge: float | None = None) -> Mesh:
    """Make the drawable mesh: centred on the ground, base at z = 0, scaled to ``longest_edge``."""
    parts = [_shade(solid) for solid in solids]
    offsets = np.cumsum([0] + [len(part.vertices) for part in parts[:-1]])
    vertices = np.concatenate([part.vertices for part in parts])
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    vertices = vertices - np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]], dtype=np.float32)
    if longest_edge is not None:
        vertices = vertices * np.float32(longest_edge / float((high - low).max()))
    return Mesh(
        vertices=np.ascontiguousarray(vertices, dtype=np.float32),
        faces=np.concatenate([part.faces + np.int32(o) for part, o in zip(parts, offsets, strict=True)]).astype(
            np.int32
        ),
        normals=np.concatenate([part.normals for part in parts]),
        colors=np.concatenate([part.colors for part in parts]),
    )


def smooth_normals(positions: NDArray[np.float64], faces: NDArray[np.int64], crease_deg: float) -> NDArray[np.float64]:
    """Corner normals (F, 3, 3): area-weighted mean over faces at the corner within the crease angle."""
    area = _area_vectors(positions, faces)
    length = np.linalg.norm(area, axis=1, keepdims=True)
    unit = np.divide(area, length, out=np.zeros_like(area), where=length > 0)
    _, place = np.unique(np.round(positions, 6), axis=0, return_inverse=True)
    corner_place = place.reshape(-1)[faces.reshape(-1)]  # (3F,): which point in space each corner touches
    order = np.argsort(corner_place, kind="stable")
    counts = np.bincount(corner_place)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    reps = counts[corner_place]
    first = np.repeat(np.arange(len(corner_place)), reps)
    within = np.arange(len(first)) - np.repeat(np.cumsum(reps) - reps, reps)
    second = order[np.repeat(starts[corner_place], reps) + within]
    face_a, face_b = first // 3, second // 3
    near = np.einsum("ij,ij->i", unit[face_a], unit[face_b]) >= math.cos(math.radians(crease_deg)) - 1e-9
    total = np.zeros((len(corner_place), 3))
    np.add.at(total, first[near], area[face_b[near]])
    norm = np.linalg.norm(total, axis=1, keepdims=True)
    corner = np.divide(total, norm, out=np.repeat(unit, 3, axis=0), where=norm > 1e-12)
    normals: NDArray[np.float64] = corner.reshape(-1, 3, 3)
    return normals


def _shade(solid: Solid) -> Mesh:
    """Split vertices where normal or colour differ, and nowhere else."""
    keep = np.linalg.norm(_area_vectors(solid.positions, solid.faces), axis=1) > 1e-12
    faces, colors = solid.faces[keep], solid.colors[keep]
    normals = smooth_normals(solid.positions, faces, solid.crease_deg).reshape(-1, 3)
    corner_color = np.repeat(colors, 3, axis=0)
    keys = np.concatenate([faces.reshape(-1, 1), np.round(normals * 500), corner_color], axis=1)
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Mesh(
        vertices=solid.positions[faces.reshape(-1)[first]].astype(np.float32),
        faces=inverse.reshape(-1, 3).astype(np.int32),
        normals=normals[first].astype(np.float32),
        colors=corner_color[first],
    )


def _area_vectors(positions: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.float64]:
    corners = positions[faces]
    area: NDArray[np.float64] = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return area
