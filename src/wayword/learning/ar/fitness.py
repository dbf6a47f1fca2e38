"""Which meshes are fit for training: whole, not too dark, no ring, and not a second copy of another one.

Everything is measured on outlines and small pictures, because that is all a drone ever sees of an object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_fill_holes

from wayword.camera import Camera
from wayword.learning.ar.config import PoolConfig
from wayword.sim.models.mesh import Mesh, rotation
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Light, Look
from wayword.sim.render.rasteriser import WORK_SHAPE, cast_shadows
from wayword.sim.render.renderer import RenderConfig, Renderer

if TYPE_CHECKING:
    from wayword.learning.ar.objects import ObjectEntry

RANDOM = "random"
"""Source of procedural objects."""
_SIDES = 4
_GRID = 64
_PICTURE = 20


def misshapen(mesh: Mesh, config: PoolConfig) -> bool:
    """Whether a mesh is flat or a rod (paper: longest edge at most five times the shortest)."""
    extent = np.ptp(mesh.vertices, axis=0)
    return bool(extent.min() < config.min_ratio * extent.max())


def fit_for_drawing(
    entries: Sequence[ObjectEntry], meshes: Sequence[Mesh], config: PoolConfig
) -> list[tuple[int, Mesh]]:
    """The objects to keep, as (place, mesh): no rings, nothing thin, black or twice; dim ones come back lightened.

    ``entries`` are unpainted. Procedural objects are only checked for being rings.
    """
    if not entries:
        return []
    bank = MeshBank({str(place): mesh for place, mesh in enumerate(meshes)})
    cover, hole = outlines(bank)
    _, light = pictures(bank)
    whole = []
    for place, (entry, mesh) in enumerate(zip(entries, meshes, strict=True)):
        if hole[place] > config.max_hole or (entry.source != RANDOM and cover[place] < config.min_cover):
            continue
        dim = entry.source != RANDOM and light[place] < config.dim_light
        whole.append((place, lightened(mesh) if dim else mesh))
    looks, light = pictures(MeshBank({str(place): mesh for place, mesh in whole}))
    known: dict[str, list[NDArray[np.float32]]] = {}
    survivors = []
    for row, (place, mesh) in enumerate(whole):
        if entries[place].source != RANDOM:
            # Twins are looked for under the same noun only: elsewhere they are rare, and there are too many pairs.
            same = known.setdefault(entries[place].noun, [])
            twin = any(float(np.abs(looks[row] - other).mean()) < config.twin_distance for other in same)
            if twin or light[row] < config.min_light:
                continue
            same.append(looks[row])
        survivors.append((place, mesh))
    return survivors


def lightened(mesh: Mesh) -> Mesh:
    """The mesh with the gamma of screens applied to its colours."""
    curve = np.round(255 * (np.arange(256) / 255) ** (1 / 2.2)).astype(np.uint8)
    texture = None if mesh.texture is None else curve[mesh.texture]
    return replace(mesh, colors=curve[mesh.colors], texture=texture)


def outlines(bank: MeshBank) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per object: least share of its outline's box that is filled, from the sides; share of holes, from above."""
    cover, hole = np.ones(len(bank.index)), np.zeros(len(bank.index))
    outline, nearness = np.empty((_GRID, _GRID), np.uint8), np.empty((_GRID, _GRID), np.float32)
    face, work = np.empty((_GRID, _GRID), np.int32), np.empty(WORK_SHAPE, np.float32)
    above, origin, texel = np.array([0, 0, 1], np.float32), np.float32(-0.75), np.float32(1.5 / _GRID)
    # Laid on its side, an object's shadow under a light from above is its outline from that side.
    sides = [rotation("x", np.pi / 2) @ rotation("z", np.pi * side / _SIDES) for side in range(_SIDES)]
    for turn in (np.eye(3), *sides):
        transform = np.zeros((1, 3, 4), np.float32)
        transform[0, :, :3] = turn
        from_side = turn[2, 2] < 0.5
        transform[0, 1, 3] = 0.5 if from_side else 0.0  # laid down, objects reach from y = -1 to 0: to the middle
        for place in range(len(cover)):
            numbers = np.array([place])
            cast_shadows(bank.arrays, numbers, transform, above, origin, texel, outline, nearness, face, work)
            rows, columns = np.flatnonzero(outline.any(axis=1)), np.flatnonzero(outline.any(axis=0))
            if len(rows) == 0:
                cover[place] = 0.0
                continue
            box = outline[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] > 0
            if from_side:
                cover[place] = min(cover[place], float(box.mean()))
            else:
                whole = binary_fill_holes(box)
                hole[place] = float((whole & ~box).sum() / whole.sum())
    return cover, hole


def pictures(bank: MeshBank) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Small pictures of every object from four sides (N, 4 * pixels) on one plain ground; mean light of each (N,)."""
    camera = Camera(_PICTURE, _PICTURE, hfov_deg=36.0, mount_pitch_deg=18.0)
    renderer = Renderer(bank, camera, RenderConfig(supersample=True, threads=1))
    grey = (168, 166, 160)
    look = Look("concrete", "concrete", "hall", 30.0, (grey, grey), Light(ambient=0.7, diffuse=0.4, shadows=0.0))
    poses = np.tile([2.35, 0.45, 1.05, 0.0, 0.0, np.pi / 2], (_SIDES, 1))
    transforms = np.zeros((_SIDES, 1, 3, 4), np.float32)
    for side in range(_SIDES):
        transforms[side, 0, :, :3] = rotation("z", np.pi * (2 * side / _SIDES + 0.15))
        transforms[side, 0, :2, 3] = 2.35
    pictures = np.empty((len(bank.index), _SIDES * _PICTURE * _PICTURE * 3), np.float32)
    light = np.zeros(len(bank.index))
    for row, name in enumerate(bank.index):
        scenes = [renderer.scene_of([name], transform, look) for transform in transforms]
        frames = renderer.render(scenes, poses)
        pictures[row] = frames.rgb.reshape(-1)
        light[row] = frames.rgb[frames.ids > 0].mean() if frames.ids.any() else 0.0
    return pictures, light
