"""The surfaces of an imported object, made into one drawable mesh.

A file may hold many surfaces with many materials; the renderer draws one texture of 128 x 128, or colours.
One image for everything becomes the texture; a few materials share it as an atlas; more are sampled to
colours. Arrays come from foreign files, so everything is checked, and ``UnusableError`` says what is wrong.

Shapes: F faces; per corner colours (F, 3, 3) and uv (F, 3, 2) with v down, as in images.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.sim.models.corners import corner_normals, mesh_of_corners
from wayword.sim.models.file_guard import IMAGE_FORMATS, MAX_PIXELS, UnusableError
from wayword.sim.models.mesh import Mesh

TEXTURE = 128
ATLAS_CELLS = 16
"""Materials that can share one texture; more are sampled to colours."""
CREASE_DEG = 40.0

Floats: TypeAlias = NDArray[np.float64]
Bytes: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True)
class Surface:
    """A part of a file with one material."""

    positions: Floats
    faces: NDArray[np.int64]
    colors: Bytes
    uv: Floats | None = None
    tile: Bytes | None = None
    """The material's image at (128, 128, 3), already tinted."""


def assemble_surfaces(
    positions: Floats,
    faces: NDArray[np.int64],
    colors: Bytes | None,
    uv: Floats | None,
    texture: Bytes | None,
    longest_edge: float,
    up: str = "z",
) -> Mesh:
    """Check raw arrays and make the drawable mesh: upright, on the ground, centred, two-sided."""
    if len(faces) == 0:
        raise UnusableError("holds no faces")
    if faces.min() < 0 or faces.max() >= len(positions):
        raise UnusableError("has faces that refer to points it does not have")
    used = np.unique(faces)
    if not np.isfinite(positions[used]).all() or np.abs(positions[used]).max() > 1e30:
        raise UnusableError("has coordinates that are not finite numbers")
    if uv is not None and not np.abs(uv).max() < 1e6:  # NaN is not less either
        raise UnusableError("has texture coordinates that are not sensible numbers")
    if up == "y":
        positions = np.column_stack([positions[:, 0], -positions[:, 2], positions[:, 1]])
    low, high = positions[used].min(axis=0), positions[used].max(axis=0)
    extent = float((high - low).max())
    if not extent > 1e-12:
        raise UnusableError("has no extent: all its points are one")
    unit = np.zeros_like(positions)
    unit[used] = (positions[used] - [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]]) / extent
    _, first, place = np.unique(np.round(unit, 6), axis=0, return_index=True, return_inverse=True)
    faces = place.reshape(-1)[faces]  # points at the same place become one: STL shares none
    points = unit[first]
    a, b, c = (points[faces[:, i]] for i in range(3))
    solid = np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-12
    if not solid.any():
        raise UnusableError("has no area: its faces are lines or points")
    faces = faces[solid]
    return mesh_of_corners(
        points * longest_edge,
        faces,
        corner_normals(points, faces, CREASE_DEG),
        None if colors is None else colors[solid],
        None if uv is None else uv[solid],
        texture,
        two_sided=True,
    )


def combined(
    surfaces: list[Surface],
) -> tuple[Floats, NDArray[np.int64], Bytes | None, Floats | None, Bytes | None]:
    """All surfaces as one: with the one texture, with an atlas, or with colours."""
    starts = np.cumsum([0] + [len(part.positions) for part in surfaces[:-1]])
    positions = np.concatenate([part.positions for part in surfaces])
    faces = np.concatenate([part.faces + start for part, start in zip(surfaces, starts, strict=True)])
    flat = {color: np.tile(np.array(color, np.uint8), (TEXTURE, TEXTURE, 1)) for color in map(_mean, surfaces)}
    images = [part.tile if part.tile is not None else flat[_mean(part)] for part in surfaces]
    distinct = {image.tobytes(): image for image in images}
    cell = {key: number for number, key in enumerate(distinct)}
    if all(part.tile is None for part in surfaces) or len(distinct) > ATLAS_CELLS:
        colors = np.concatenate([_sampled(part) for part in surfaces])
        return positions, faces, colors, None, None
    side = math.ceil(math.sqrt(len(distinct)))
    texture = _atlas(list(distinct.values()), side)
    uvs = []
    for part, image in zip(surfaces, images, strict=True):
        uv = np.full((len(part.faces), 3, 2), 0.5) if part.uv is None else _near_origin(part.uv)
        if side > 1:
            # Inside a cell nothing can repeat: what spans more than one repeat is stretched over the cell.
            span = np.maximum(uv.max(axis=1, keepdims=True), 1.0)
            number, margin = cell[image.tobytes()], side / TEXTURE
            origin = np.array([number % side, number // side])
            uv = (origin + np.clip(uv / span, margin, 1 - margin)) / side
        uvs.append(uv)
    return positions, faces, None, np.concatenate(uvs), texture


def _atlas(images: list[Bytes], side: int) -> Bytes:
    if side == 1:
        return images[0]
    edges = [round(TEXTURE * i / side) for i in range(side + 1)]
    atlas = np.zeros((TEXTURE, TEXTURE, 3), np.uint8)
    for number, image in enumerate(images):
        left, top = edges[number % side], edges[number // side]
        size = (edges[number % side + 1] - left, edges[number // side + 1] - top)
        small = Image.fromarray(image).resize(size, Image.Resampling.BOX)
        atlas[top : top + size[1], left : left + size[0]] = np.asarray(small)
    return atlas


def _near_origin(uv: Floats) -> Floats:
    """Move each face by whole repeats of the texture, so that its uv start in [0, 1)."""
    if not np.isfinite(uv).all():
        raise UnusableError("has texture coordinates that are not finite numbers")
    near: Floats = uv - np.floor(uv.min(axis=1, keepdims=True) + 1e-6)
    return near


def _sampled(part: Surface) -> Bytes:
    """Corner colours of a surface, taken from its image if it has one."""
    if part.tile is None or part.uv is None:
        return part.colors
    column, row = np.moveaxis(np.floor(_near_origin(part.uv) % 1.0 * TEXTURE).astype(int) % TEXTURE, -1, 0)
    colors: Bytes = part.tile[row, column]
    return colors


def _mean(part: Surface) -> tuple[int, int, int]:
    red, green, blue = np.round(part.colors.reshape(-1, 3).mean(axis=0)).astype(int)
    return int(red), int(green), int(blue)


def texture_tile(image: Image.Image) -> Floats:
    """A material's image at 128 x 128; what is transparent takes the mean colour of what is not."""
    if image.format not in IMAGE_FORMATS or image.width * image.height > MAX_PIXELS:
        raise UnusableError("has a texture that is too large or of an unknown kind")
    try:
        image.draft("RGB", (2 * TEXTURE, 2 * TEXTURE))  # JPEG only: decode at a fraction of the size
        rgba = image.convert("RGBA").resize((TEXTURE, TEXTURE), Image.Resampling.BOX)
    except Exception as error:  # decoders of foreign input may raise anything
        raise UnusableError("has a texture that is damaged") from error
    pixels = np.asarray(rgba, dtype=np.float64)
    alpha = pixels[..., 3:] / 255
    mean = (pixels[..., :3] * alpha).sum(axis=(0, 1)) / max(float(alpha.sum()), 1e-9)
    opaque: Floats = pixels[..., :3] * alpha + mean * (1 - alpha)
    return opaque
