"""Random single shapes: the parts of which random objects are put together.

A ``Part`` is a solid with a uv for each face corner and the number of the material it is made of. Parts
stand on z = 0, centred on x = y = 0, until they are moved. All are closed and oriented outwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.sim.models.mesh import Solid
from wayword.sim.models.primitives import arc, ball, blob, box, cylinder, extrude, lathe, sweep, torus

Extent: TypeAlias = tuple[float, float, float]
ROUND = frozenset({"cylinder", "cone", "ball", "superquadric", "lathe", "bowl", "dome", "torus", "blob"})
"""Shapes around which a texture is wrapped; on all others it is projected along the axes."""


@dataclass(frozen=True)
class Part:
    """A solid with texture coordinates (F, 3, 2) and the number of its material."""

    solid: Solid
    uv: NDArray[np.float64]
    material: int = 0

    @property
    def size(self) -> Extent:
        """Extent along x, y and z."""
        x, y, z = np.ptp(self.solid.positions, axis=0)
        return float(x), float(y), float(z)

    def reach(self, z: float) -> float:
        """Largest x of the cross-section at height ``z``: where something must start that sticks to the side."""
        ends = self.solid.positions[self.solid.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)]
        rise = ends[:, 1, 2] - ends[:, 0, 2]
        crossing = (ends[:, :, 2].min(axis=1) <= z) & (ends[:, :, 2].max(axis=1) >= z) & (np.abs(rise) > 1e-12)
        if not crossing.any():
            return float(self.solid.positions[:, 0].max())
        ends, rise = ends[crossing], rise[crossing]
        share = (z - ends[:, 0, 2]) / rise
        return float((ends[:, 0, 0] + share * (ends[:, 1, 0] - ends[:, 0, 0])).max())

    def move(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Part:
        """Translate."""
        return replace(self, solid=self.solid.move(x, y, z))

    def turn(self, axis: str, degrees: float) -> Part:
        """Rotate about a coordinate axis through the origin."""
        return replace(self, solid=self.solid.turn(axis, degrees))

    def mirror(self) -> Part:
        """The mirror image in the plane x = 0; corners are listed backwards, and so are their uv."""
        return replace(self, solid=self.solid.scale(-1.0, 1.0, 1.0), uv=self.uv[:, ::-1])

    def grounded(self) -> Part:
        """Centred on x = y = 0 with the base at z = 0."""
        low, high = self.solid.positions.min(axis=0), self.solid.positions.max(axis=0)
        return self.move(-(low[0] + high[0]) / 2, -(low[1] + high[1]) / 2, -low[2])


def random_part(
    rng: np.random.Generator, kinds: Sequence[str], size: Extent, material: int = 0, fine: bool = False
) -> Part:
    """A shape of one of ``kinds``, stretched to ``size``; ``fine`` ones have about 300 faces, others 100."""
    kind = str(rng.choice(list(kinds)))
    return fitted(SHAPES[kind](rng, fine), size, kind in ROUND, material)


def fitted(solid: Solid, size: Extent, wrapped: bool, material: int = 0) -> Part:
    """Stretch a solid to ``size``, stand it on the ground, and give it texture coordinates."""
    low, high = solid.positions.min(axis=0), solid.positions.max(axis=0)
    extent = np.array(size, dtype=np.float64)
    positions = (solid.positions - (low + high) / 2) * (extent / (high - low))
    positions[:, 2] += extent[2] / 2
    standing = replace(solid, positions=positions)
    uv = _wrapped_uv(standing, extent) if wrapped else _projected_uv(standing, extent)
    return Part(standing, uv, material)


def _wrapped_uv(solid: Solid, extent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Once around the z axis, from the top down; flat lids are projected from above."""
    corners = solid.positions[solid.faces]
    u = np.arctan2(corners[..., 1] / extent[1], corners[..., 0] / extent[0]) / (2 * math.pi) % 1.0
    u[u > 1 - 1e-9] = 0.0
    on_axis = np.hypot(corners[..., 0], corners[..., 1]) < 1e-9 * extent.max()
    seam = (np.where(on_axis, 0.5, u).max(axis=1) - np.where(on_axis, 0.5, u).min(axis=1)) > 0.5
    u = np.where(seam[:, None] & (u < 0.5), u + 1.0, u)  # a face across the seam reads on, not back
    others = np.where(on_axis, 0.0, u).sum(axis=1) / np.maximum((~on_axis).sum(axis=1), 1)
    u = np.where(on_axis, others[:, None], u)  # a pole belongs to the middle of its face
    uv = np.stack([u, 1.0 - corners[..., 2] / extent[2]], axis=-1)
    lid = np.ptp(corners[..., 2], axis=1) < 1e-9 * extent.max()
    return np.where(lid[:, None, None], corners[..., :2] / extent.max() + 0.5, uv)


def _projected_uv(solid: Solid, extent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Along the axis that each face looks to, in the same scale on all sides."""
    corners = solid.positions[solid.faces] / extent.max() + np.array([0.5, 0.5, 0.0])
    axis = np.argmax(np.abs(solid.face_normals()) * (1.0, 1.0, 0.9), axis=1)
    along = np.array([[1, 2], [0, 2], [0, 1]])[axis]
    uv = np.take_along_axis(corners, along[:, None, :].repeat(3, axis=1), axis=2)
    return np.stack([uv[..., 0], 1.0 - uv[..., 1]], axis=-1)


def _box(rng: np.random.Generator, fine: bool) -> Solid:
    return box(1, 1, 1, taper=float(rng.choice([1.0, 1.0, 1.0, rng.uniform(0.4, 0.9), 0.0])))


def _cylinder(rng: np.random.Generator, fine: bool) -> Solid:
    sides = int(rng.choice([16 if fine else 12, 3, 5, 6, 8], p=[0.6, 0.1, 0.1, 0.1, 0.1]))
    return cylinder(0.5, 1.0, sides)


def _cone(rng: np.random.Generator, fine: bool) -> Solid:
    bottom, top = 0.5, float(rng.choice([0.0, rng.uniform(0.1, 0.35)]))
    solid = cylinder(bottom, 1.0, 16 if fine else 12, top=top)
    return solid if rng.random() < 0.8 or top == 0 else solid.turn("x", 180)


def _ball(rng: np.random.Generator, fine: bool) -> Solid:
    return ball(0.5, 16, 10) if fine else ball(0.5, 10, 7)


def _superquadric(rng: np.random.Generator, fine: bool) -> Solid:
    """Between box, ball, cylinder and spindle: |x|^(2/b) + |y|^(2/b), to the power b/a, plus |z|^(2/a), is 1."""
    a, b = rng.choice([0.25, 0.4, 0.6, 1.0, 1.6, 2.2], size=2)
    solid = _ball(rng, fine)
    direction = np.abs(solid.positions) + 1e-12
    flat = (direction[:, 0] ** (2 / b) + direction[:, 1] ** (2 / b)) ** (b / a)
    reach = (flat + direction[:, 2] ** (2 / a)) ** (-a / 2)
    return replace(solid, positions=solid.positions * reach[:, None], crease_deg=50.0)


def _profile(rng: np.random.Generator, fine: bool) -> NDArray[np.float64]:
    """Radii and heights of a vase, bottle, skittle, spool, ...; smooth or with edges."""
    count = int(rng.integers(3, 6))
    radii, heights = rng.uniform(0.25, 1.0, count), np.cumsum(np.r_[0.0, rng.uniform(0.5, 1.5, count - 1)])
    if rng.random() < 0.5:
        return np.column_stack([radii, heights])
    at = np.linspace(0, count - 1, 9 if fine else 6)
    low = np.minimum(at.astype(int), count - 2)
    ease = (1 - np.cos(math.pi * (at - low))) / 2
    return np.column_stack(
        [radii[low] + (radii[low + 1] - radii[low]) * ease, np.interp(at, np.arange(count), heights)]
    )


def _lathe(rng: np.random.Generator, fine: bool) -> Solid:
    profile = _profile(rng, fine)
    if rng.random() < 0.25:  # a tip instead of a lid
        profile = np.concatenate([profile, [[0.0, profile[-1, 1] * rng.uniform(1.05, 1.4)]]])
    return lathe(profile, 16 if fine else 10)


def _bowl(rng: np.random.Generator, fine: bool) -> Solid:
    """Open at the top: up the outside, over the rim, down the inside."""
    foot, belly, rim, wall = rng.uniform(0.3, 0.8), rng.uniform(0.6, 1.1), 1.0, rng.uniform(0.12, 0.2)
    middle = rng.uniform(0.35, 0.65)
    floor = rng.uniform(0.1, 0.2)
    outside = [(foot, 0.0), (belly, middle), (rim, 1.0)]
    inside = [(rim - wall, 1.0), (belly - wall, middle), (max(foot - wall, 0.1), floor), (0.0, floor)]
    return lathe(outside + inside, 16 if fine else 10)


def _dome(rng: np.random.Generator, fine: bool) -> Solid:
    angles = np.radians(np.linspace(0, 90, 7 if fine else 5))
    profile = np.column_stack([np.cos(angles), np.sin(angles)])
    profile[-1, 0] = 0.0
    return lathe(profile, 16 if fine else 10, crease_deg=50.0)


def _torus(rng: np.random.Generator, fine: bool) -> Solid:
    tube = float(rng.uniform(0.25, 0.45))
    solid = torus(1.0, tube, 18 if fine else 14, 8 if fine else 6)
    return solid if rng.random() < 0.5 else solid.turn("x", 90)


def _blob(rng: np.random.Generator, fine: bool) -> Solid:
    return blob(0.5, int(rng.integers(2**31)), float(rng.uniform(0.2, 0.5)), 2 if fine else 1)


def _outline(rng: np.random.Generator) -> NDArray[np.float64]:
    """A figure as one would cut it from card."""
    t, low, high = float(rng.uniform(0.3, 0.5)), 0.32, 0.68
    count, dent = int(rng.integers(4, 8)), float(rng.uniform(0.45, 0.65))
    lobes = 1 + 0.3 * np.sin(np.radians(20 * np.arange(18)) * rng.integers(2, 5) + rng.uniform(0, 6))
    star = arc(1.0, 90, 450 - 180 / count, 2 * count) * np.tile([[1.0], [dent]], (count, 1))
    moon = np.concatenate([arc(1.0, 60, 300, 9), arc(0.75, 285, 75, 8) + np.array([0.25, 0.0])])
    right, left = arc(0.5, -25, 180, 6) + np.array([0.5, 0.2]), arc(0.5, 0, 205, 6) - np.array([0.5, -0.2])
    figures: tuple[ArrayLike, ...] = (
        arc(1.0, 90, 450 - 360 / count, count),
        star,
        moon,
        np.concatenate([[(0.0, -1.0)], right, left[1:]]),  # heart
        arc(1.0, 0, 340, 18) * lobes[:, None],
        [(0, 0), (1, 0), (1, t), (t, t), (t, 1), (0, 1)],  # L
        [(low, 0), (high, 0), (high, 1 - t), (1, 1 - t), (1, 1), (0, 1), (0, 1 - t), (low, 1 - t)],  # T
        [(-t, -1), (t, -1), (t, -t), (1, -t), (1, t), (t, t), (t, 1), (-t, 1), (-t, t), (-1, t), (-1, -t), (-t, -t)],
        [(-t, -1), (t, -1), (t, 0), (1, 0), (0, 1), (-1, 0), (-t, 0)],  # arrow
        [(-1, 0), (1, 0), (1, 1), (0, 1 + 2 * t), (-1, 1)],  # house
        [(0, 0), (3, 0), (3, 1), (2, 1), (2, 2), (1, 2), (1, 3), (0, 3)],  # stairs
        [(-1, 0), (1, 0), (rng.uniform(-1, 1), 1.2)],
    )  # fmt: skip
    return np.array(figures[int(rng.integers(len(figures)))], dtype=np.float64)


def _extrusion(rng: np.random.Generator, fine: bool) -> Solid:
    solid = extrude(_outline(rng), 1.0)
    return solid if rng.random() < 0.65 else solid.turn("x", -90)


def _sweep(rng: np.random.Generator, fine: bool) -> Solid:
    count, sides = (16, 8) if fine else (10, 6)
    t = np.linspace(0, 1, count)
    kind = int(rng.integers(4))
    if kind == 0:  # arch
        path = np.column_stack([np.cos(math.pi * t), 0 * t, np.sin(math.pi * t) * rng.uniform(0.8, 1.4)])
    elif kind == 1:  # snake
        path = np.column_stack([np.sin(2 * math.pi * t) * 0.5, 0.3 * np.cos(4 * t), 2.2 * t])
    elif kind == 2:  # walking stick
        bend = np.clip(t - 0.45, 0, 1) / 0.55 * rng.uniform(2.4, 4.0)
        path = np.column_stack([0.5 - 0.5 * np.cos(bend), 0 * t, 2.8 * np.minimum(t, 0.45) + 0.5 * np.sin(bend)])
    else:  # spring
        angle = 2 * math.pi * t * 1.6
        path = np.column_stack([np.cos(angle) * 0.7, np.sin(angle) * 0.7, 1.6 * t])
    thick = float(rng.uniform(0.22, 0.34))
    return sweep(path, thick * (1.0 - rng.uniform(0, 0.5) * t), sides)


SHAPES: dict[str, Callable[[np.random.Generator, bool], Solid]] = {
    "box": _box, "cylinder": _cylinder, "cone": _cone, "ball": _ball, "superquadric": _superquadric, "lathe": _lathe,
    "bowl": _bowl, "dome": _dome, "torus": _torus, "blob": _blob, "extrusion": _extrusion, "sweep": _sweep,
}  # fmt: skip
"""All shapes by name."""
