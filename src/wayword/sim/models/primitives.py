"""The shared primitives of all object builders: box, lathe, ball, extrude, sweep, sheet, torus, blob, copies.

Unless said otherwise a primitive stands on z = 0, centred on x = y = 0; z is up and the front is -y.
All are closed and oriented outwards (a ``sheet`` has both its sides), so back faces need no drawing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.sim.models.mesh import Color, Solid

GREY: Color = (200, 200, 200)


def box(x: float, y: float, z: float, color: Color = GREY, taper: float = 1.0) -> Solid:
    """A box (12 faces); ``taper`` scales the top face, 0 makes a pyramid."""
    half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array([x, y]) / 2
    bottom = np.column_stack([half, np.zeros(4)])
    top = np.column_stack([half * taper, np.full(4, z)])
    quads = [(3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    return Solid.of(np.concatenate([bottom, top]), _triangles(quads), color, crease_deg=20.0)


def lathe(profile: ArrayLike, sides: int = 16, color: Color = GREY, crease_deg: float = 40.0) -> Solid:
    """Revolve (radius, z) points, listed from bottom to top, about the z axis; open ends are capped."""
    points = np.asarray(profile, dtype=np.float64).reshape(-1, 2)
    if points[0, 0] > 0:
        points = np.concatenate([[[0.0, points[0, 1]]], points])
    if points[-1, 0] > 0:
        points = np.concatenate([points, [[0.0, points[-1, 1]]]])
    angles = np.arange(sides) * 2 * math.pi / sides
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    rings = [
        np.column_stack([circle * r, np.full(sides, z)]) if r > 0 else np.array([[0.0, 0.0, z]]) for r, z in points
    ]
    starts = np.cumsum([0] + [len(ring) for ring in rings])
    faces: list[tuple[int, int, int]] = []
    for low, high, a, b in zip(rings[:-1], rings[1:], starts[:-2], starts[1:-1], strict=True):
        for i in range(sides):
            j = (i + 1) % sides
            if len(low) > 1:
                faces.append((a + i, a + j, b + (j if len(high) > 1 else 0)))
            if len(high) > 1:
                faces.append((a + (i if len(low) > 1 else 0), b + j, b + i))
    return Solid.of(np.concatenate(rings), faces, color, crease_deg)


def cylinder(radius: float, height: float, sides: int = 16, color: Color = GREY, top: float | None = None) -> Solid:
    """An upright cylinder; with another ``top`` radius a cone (0) or a frustum."""
    return lathe([(radius, 0.0), (radius if top is None else top, height)], sides, color)


def ball(radius: float, sides: int = 16, rings: int = 10, color: Color = GREY) -> Solid:
    """A sphere about the origin by latitude and longitude: stripes and poles are easy to paint on it."""
    angles = np.linspace(-math.pi / 2, math.pi / 2, rings + 1)
    profile = np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])
    profile[[0, -1], 0] = 0.0
    return lathe(profile, sides, color, crease_deg=80.0)


def icoball(radius: float, subdivisions: int = 2, color: Color = GREY) -> Solid:
    """A sphere about the origin of 20 * 4^subdivisions even triangles."""
    golden = (1 + math.sqrt(5)) / 2
    points = [
        (-1, golden, 0), (1, golden, 0), (-1, -golden, 0), (1, -golden, 0),
        (0, -1, golden), (0, 1, golden), (0, -1, -golden), (0, 1, -golden),
        (golden, 0, -1), (golden, 0, 1), (-golden, 0, -1), (-golden, 0, 1),
    ]  # fmt: skip
    faces = np.array([
        (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11),
        (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
        (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9),
        (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1),
    ])  # fmt: skip
    positions = np.array(points, dtype=np.float64)
    for _ in range(subdivisions):
        edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        unique, index = np.unique(edges, axis=0, return_inverse=True)
        ab, bc, ca = np.split(index.reshape(-1) + len(positions), 3)
        positions = np.concatenate([positions, positions[unique].mean(axis=1)])
        a, b, c = faces.T
        faces = np.concatenate([np.column_stack(t) for t in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))])
    positions *= radius / np.linalg.norm(positions, axis=1, keepdims=True)
    return Solid.of(positions, faces, color, crease_deg=80.0)


def blob(radius: float, seed: int, roughness: float = 0.25, subdivisions: int = 2, color: Color = GREY) -> Solid:
    """An irregular lump about the origin: a sphere displaced by a few random waves."""
    rng = np.random.default_rng(seed)
    solid = icoball(1.0, subdivisions, color)
    waves, phases = rng.normal(size=(6, 3)) * 2.0, rng.uniform(0, 2 * math.pi, 6)
    weights = rng.uniform(0.4, 1.0, 6)
    height = np.sin(solid.positions @ waves.T + phases) @ weights / weights.sum()
    return Solid.of(solid.positions * (radius * (1 + roughness * height))[:, None], solid.faces, color, crease_deg=50.0)


def extrude(outline: ArrayLike, depth: float, color: Color = GREY, crease_deg: float = 40.0) -> Solid:
    """Give an outline (x, z), drawn as seen from the front, a thickness along y, centred on y = 0.

    The outline may be concave but must not cross itself; either winding is accepted.
    """
    points = np.asarray(outline, dtype=np.float64).reshape(-1, 2)
    x, z = points.T
    if float(np.sum(x * np.roll(z, -1) - np.roll(x, -1) * z)) < 0:
        points = points[::-1]
    n = len(points)
    front = np.column_stack([points[:, 0], np.full(n, -depth / 2), points[:, 1]])
    back = front + np.array([0.0, depth, 0.0])
    caps = np.array(_ear_clip(points), dtype=np.int64)
    ring = np.arange(n)
    after = (ring + 1) % n
    walls = np.concatenate([np.column_stack([ring, ring + n, after + n]), np.column_stack([ring, after + n, after])])
    return Solid.of(np.concatenate([front, back]), np.concatenate([caps, caps[:, ::-1] + n, walls]), color, crease_deg)


def sweep(points: ArrayLike, radius: ArrayLike, sides: int = 6, color: Color = GREY) -> Solid:
    """A tube along 3-D points, with one radius or one per point; ends are capped."""
    path = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (len(path),))
    tangents = np.gradient(path, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    helper = np.eye(3)[int(np.argmin(np.abs(tangents[0])))]
    normal = np.cross(tangents[0], helper)
    normal /= np.linalg.norm(normal)
    angles = np.arange(sides) * 2 * math.pi / sides
    rings = []
    for point, tangent, r in zip(path, tangents, radii, strict=True):
        normal = normal - tangent * float(normal @ tangent)  # carry the frame along without twist
        normal /= np.linalg.norm(normal)
        binormal = np.cross(tangent, normal)
        rings.append(point + r * (np.outer(np.cos(angles), normal) + np.outer(np.sin(angles), binormal)))
    positions = np.concatenate([*rings, path[:1], path[-1:]])
    n, first, last = len(path), len(path) * sides, len(path) * sides + 1
    faces: list[tuple[int, int, int]] = []
    for i in range(sides):
        j = (i + 1) % sides
        for k in range(n - 1):
            a, b = k * sides, (k + 1) * sides
            faces += [(a + i, a + j, b + j), (a + i, b + j, b + i)]
        faces += [(first, j, i), (last, (n - 1) * sides + i, (n - 1) * sides + j)]
    return Solid.of(positions, faces, color, crease_deg=60.0)


def torus(ring: float, tube: float, sides: int = 20, tube_sides: int = 8, color: Color = GREY) -> Solid:
    """A ring lying flat about the origin: ``ring`` to the middle of a tube of radius ``tube``."""
    u, v = np.meshgrid(np.arange(sides), np.arange(tube_sides), indexing="ij")
    a, b = u * 2 * math.pi / sides, v * 2 * math.pi / tube_sides
    reach = ring + tube * np.cos(b)
    positions = np.stack([reach * np.cos(a), reach * np.sin(a), tube * np.sin(b)], axis=-1).reshape(-1, 3)
    here = (u * tube_sides + v).reshape(-1)
    right = (((u + 1) % sides) * tube_sides + v).reshape(-1)
    up = (u * tube_sides + (v + 1) % tube_sides).reshape(-1)
    both = (((u + 1) % sides) * tube_sides + (v + 1) % tube_sides).reshape(-1)
    faces = np.concatenate([np.column_stack([here, right, both]), np.column_stack([here, both, up])])
    return Solid.of(positions, faces, color, crease_deg=80.0)


def sheet(centre_line: ArrayLike, widths: ArrayLike, color: Color = GREY, across: ArrayLike = (0.0, 1.0, 0.0)) -> Solid:
    """A thin strip with two sides along 3-D points, ``widths`` wide in direction ``across``: leaves, petals."""
    line = np.asarray(centre_line, dtype=np.float64).reshape(-1, 3)
    half = np.broadcast_to(np.asarray(widths, dtype=np.float64), (len(line),))[:, None] / 2
    side = np.asarray(across, dtype=np.float64)
    side = side / np.linalg.norm(side)
    positions = np.concatenate([line - half * side, line + half * side])
    n = len(line)
    quads = [(i, i + 1, i + 1 + n, i + n) for i in range(n - 1)]
    faces = np.array(_triangles(quads))
    return Solid.of(positions, np.concatenate([faces, faces[:, ::-1]]), color, crease_deg=60.0)


def around(solid: Solid, count: int, start_deg: float = 0.0) -> list[Solid]:
    """Copies turned evenly about the z axis: legs, petals, battlements."""
    return [solid.turn("z", start_deg + 360.0 * i / count) for i in range(count)]


def row(solid: Solid, offsets: Sequence[tuple[float, float, float]]) -> list[Solid]:
    """Copies moved to each offset."""
    return [solid.move(*offset) for offset in offsets]


def arc(radius: float, start_deg: float, stop_deg: float, count: int) -> NDArray[np.float64]:
    """Points (count, 2) on a circle about the origin, for outlines and sweeps."""
    angles = np.radians(np.linspace(start_deg, stop_deg, count))
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])


def _triangles(quads: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int, int]]:
    return [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]


def _ear_clip(points: NDArray[np.float64]) -> list[tuple[int, int, int]]:
    """Triangulate a simple counter-clockwise polygon by cutting ears."""
    left = list(range(len(points)))
    triangles: list[tuple[int, int, int]] = []

    def cross(a: int, b: int, c: int) -> float:
        (ax, ay), (bx, by), (cx, cy) = points[a], points[b], points[c]
        return float((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))

    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            if cross(a, b, c) <= 1e-14:
                continue
            rest = (p for p in left if p not in (a, b, c))
            if not any(cross(a, b, p) >= 0 and cross(b, c, p) >= 0 and cross(c, a, p) >= 0 for p in rest):
                break
        else:
            k = 0  # only degenerate corners are left: cutting any keeps the outline whole
            a, b, c = left[-1], left[0], left[1]
        triangles.append((a, b, c))
        del left[k]
    triangles.append((left[0], left[1], left[2]))
    return triangles
