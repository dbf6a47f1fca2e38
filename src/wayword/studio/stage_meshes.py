"""Shapes of the 3D view: our meshes for viser, the drone, and the arrow that its heading is dragged by."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import trimesh

from wayword.pictures.colours import FLIGHT, Rgb
from wayword.sim.models.mesh import Mesh

ARROW_M = 0.62
"""From the drone to the tip of the arrow."""


def to_trimesh(mesh: Mesh) -> Any:
    """A mesh of ours for viser."""
    result: Any = trimesh.Trimesh(mesh.vertices, mesh.faces, vertex_normals=mesh.normals, process=False)
    if mesh.texture is not None and mesh.uv is not None:
        from PIL import Image

        uv = np.column_stack([mesh.uv[:, 0], 1 - mesh.uv[:, 1]])
        image = Image.fromarray(mesh.texture)
        visual: Any = trimesh.visual
        material = visual.material.PBRMaterial(baseColorTexture=image, metallicFactor=0.0, roughnessFactor=0.9)
        result.visual = visual.TextureVisuals(uv=uv, material=material)
    else:
        result.visual.vertex_colors = np.column_stack([mesh.colors, np.full(len(mesh.colors), 255, np.uint8)])
    return result


@lru_cache(maxsize=4)
def drone_mesh(rotors: Rgb = FLIGHT) -> Any:
    """A small quadcopter with its nose along +x."""
    parts: list[Any] = []

    def add(part: Any, colour: tuple[int, int, int]) -> None:
        part.visual.vertex_colors = np.tile([*colour, 255], (len(part.vertices), 1))
        parts.append(part)

    add(trimesh.creation.box((0.16, 0.09, 0.045)), (40, 46, 58))
    nose = trimesh.creation.box((0.04, 0.05, 0.03))
    add(nose.apply_translation((0.09, 0, -0.005)), (250, 250, 250))
    for angle in np.radians([45, 135, 225, 315]):
        reach = 0.15 * np.array([math.cos(angle), math.sin(angle), 0])
        arm = trimesh.creation.cylinder(0.011, segment=[np.zeros(3), reach], sections=8)
        add(arm, (60, 66, 78))
        rotor = trimesh.creation.cylinder(0.075, height=0.01, sections=24)
        add(rotor.apply_translation(reach + np.array([0, 0, 0.025])), rotors)
    return trimesh.util.concatenate(parts)


@lru_cache(maxsize=1)
def arrow_mesh() -> Any:
    """A flat arrow along +x, from beside the drone to ``ARROW_M``: easy to hit, easy to tell from the trail."""
    shaft: Any = trimesh.creation.box((0.2, 0.05, 0.02))
    shaft.apply_translation((0.32, 0, 0))
    outline = np.array([(0.42, 0.13), (0.42, -0.13), (ARROW_M, 0.0)])
    base = np.column_stack([outline, np.full(3, -0.01)])
    tip: Any = trimesh.Trimesh(
        np.vstack([base, base + np.array([0, 0, 0.02])]),
        [(0, 2, 1), (3, 4, 5), (0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4), (2, 0, 3), (2, 3, 5)],
        process=False,
    )
    for part in (shaft, tip):
        part.visual.vertex_colors = np.tile([*FLIGHT, 255], (len(part.vertices), 1))
    return trimesh.util.concatenate([shaft, tip])
