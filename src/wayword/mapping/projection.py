"""The paper's way from an image to the map: pinhole projection of whole masks onto the ground.

    M        (K, H, W)     masks in the image
    M^W      (K, 32, 32)   the same on the world grid

An inverse warp: the centre of every cell, at z = 0, is projected into the image, and the mask is sampled there
bilinearly; 0 beyond the border and behind the camera. Everything is taken to lie on the ground, so the upper pixels
of an object land behind it. ``wayword.mapping.footprint`` does better and is the default;
``wayword.mapping.differentiable`` is this one with gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.camera import Camera, camera_axes
from wayword.compiled import compiled
from wayword.errors import WaywordError
from wayword.mapping.grid import CELL_M, WORLD_CELLS


def check_full_pose(pose: ArrayLike) -> NDArray[np.float64]:
    """A full pose as float64 (6,), or one clear line about what is wrong with it."""
    body = np.asarray(pose, np.float64)
    if body.shape != (6,) or not np.isfinite(body).all():
        raise WaywordError(f"a pose is six finite numbers x, y, z, roll, pitch, yaw, not {body.tolist()}")
    return body


def project_masks(masks: NDArray[np.float32], pose: ArrayLike, camera: Camera) -> NDArray[np.float32]:
    """Masks (K, H, W) of an image taken from ``pose`` (6,), on the world grid: (K, 32, 32)."""
    if masks.ndim != 3 or masks.shape[1:] != (camera.height, camera.width):
        raise WaywordError(f"masks must be (K, {camera.height}, {camera.width}), not {masks.shape}")
    body = check_full_pose(pose)
    result = np.zeros((len(masks), WORLD_CELLS, WORLD_CELLS), np.float32)
    matrix = camera.intrinsics @ camera_axes(body, camera.mount_pitch_deg)
    _warp(np.ascontiguousarray(masks, np.float32), matrix, matrix @ body[:3], camera.near_m, result)
    return result


@compiled()
def _warp(masks: Any, matrix: Any, offset: Any, near: Any, result: Any) -> None:
    """``matrix`` K R and ``offset`` K R t: world point p to homogeneous pixel K R p - K R t."""
    count, height, width = masks.shape
    for i in range(result.shape[1]):
        y = (i + 0.5) * CELL_M
        for j in range(result.shape[2]):
            x = (j + 0.5) * CELL_M
            depth = matrix[2, 0] * x + matrix[2, 1] * y - offset[2]
            if depth <= near:
                continue
            column = (matrix[0, 0] * x + matrix[0, 1] * y - offset[0]) / depth - 0.5
            row = (matrix[1, 0] * x + matrix[1, 1] * y - offset[1]) / depth - 0.5
            if not (-1 < column < width and -1 < row < height):
                continue
            left, top = int(np.floor(column)), int(np.floor(row))
            fx, fy = column - left, row - top
            for k in range(count):
                total = 0.0
                for di in range(2):
                    for dj in range(2):
                        if 0 <= top + di < height and 0 <= left + dj < width:
                            weight = (fy if di else 1 - fy) * (fx if dj else 1 - fx)
                            total += weight * masks[k, top + di, left + dj]
                result[k, i, j] = total
