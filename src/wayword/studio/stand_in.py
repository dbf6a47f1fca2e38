"""A stand-in for an object of which there are photos and no model: so that one can fly to it at once.

The simulator draws meshes. Something just taught from photos gets an upright box with the photos around it, which is
enough for the drone to recognise it by: the crops it compares with are the very same photos.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

from wayword.objects import TaughtObject
from wayword.sim.models.mesh import Mesh

STAND_IN_M = 0.42
"""Height, width and depth of the box."""
_PHOTO_PX = 64
"""Of each of the four photos in the texture; the renderer keeps 128 x 128."""


def stand_in(item: TaughtObject, height_m: float = STAND_IN_M) -> Mesh:
    """An upright box with up to four photos of the object around it: what the simulator shows where it has no model."""
    side = _PHOTO_PX
    views = [item.photos[k % len(item.photos)] for k in range(4)]
    small = [np.asarray(Image.fromarray(view).resize((side, side), Image.Resampling.BOX)) for view in views]
    texture = np.concatenate([np.concatenate(small[:2], axis=1), np.concatenate(small[2:], axis=1)])
    half = height_m / 2
    corners = np.array([(-half, -half), (half, -half), (half, half), (-half, half)])
    vertices: list[tuple[float, float, float]] = []
    normals: list[tuple[float, float, float]] = []
    faces: list[tuple[int, int, int]] = []
    uv: list[tuple[float, float]] = []
    for k in range(4):
        (ax, ay), (bx, by) = corners[k], corners[(k + 1) % 4]
        base, left, top = len(vertices), (k % 2) / 2, (k // 2) / 2
        inset = 0.5 / (2 * side)  # clear of the neighbouring photo
        u0, u1, v0, v1 = left + inset, left + 0.5 - inset, top + inset, top + 0.5 - inset
        vertices += [(ax, ay, 0), (bx, by, 0), (bx, by, height_m), (ax, ay, height_m)]
        uv += _upright(u0, u1, v0, v1)
        normals += [((by - ay) / height_m, (ax - bx) / height_m, 0)] * 4
        faces += [(base, base + 1, base + 2), (base, base + 2, base + 3)]
    base = len(vertices)
    vertices += [(x, y, height_m) for x, y in corners.tolist()]
    uv += _upright(0.02, 0.48, 0.02, 0.05)  # the top takes the colours of the first photo's rim
    normals += [(0, 0, 1)] * 4
    faces += [(base, base + 1, base + 2), (base, base + 2, base + 3)]
    return Mesh(
        np.array(vertices, np.float32), np.array(faces, np.int32), np.array(normals, np.float32),
        np.full((len(vertices), 3), 255, np.uint8), np.array(uv, np.float32), np.ascontiguousarray(texture),
    )  # fmt: skip


def _upright(u0: float, u1: float, v0: float, v1: float) -> Sequence[tuple[float, float]]:
    """Texture places of a wall's corners: bottom left, bottom right, top right, top left; v grows downwards."""
    return [(u0, v1), (u1, v1), (u1, v0), (u0, v0)]
