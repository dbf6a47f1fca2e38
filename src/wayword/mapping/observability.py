"""What the drone has seen of the ground: the observability mask M^W, and the lines of the boundary.

    M^W          (32, 32)      1 where a cell has been in view, 0 where not yet; world grid
    boundaries   (4, 32, 32)   one-cell lines: x = 0 (left), x = 4.7 (right), y = 0 (bottom), y = 4.7 (top)

The ground in view is cut out by four planes through the camera and the borders of its image, so a frame's
coverage needs no picture: a cell counts by its distance to the nearest border, softly over one cell. The camera
looks over the ground just below the drone; as in the release, a disc of 0.29 m around the drone and a wedge ahead of
it, with its point two cells behind, count as seen. With the paper's camera the wedge is 86 degrees wide, two more than
the view, and eight cells long: to the whole cell in which the view begins. A camera that looks further down gets a
shorter one, and none gets a longer one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.camera import Camera, camera_axes
from wayword.compiled import compiled
from wayword.errors import WaywordError
from wayword.mapping.grid import CELL_M, WORLD_CELLS
from wayword.mapping.projection import check_full_pose
from wayword.task import ALTITUDE_M

DISC_CELLS = 2.0
WEDGE_CELLS = 8.0
"""The wedge is at most this long."""
WEDGE_BEHIND_CELLS = 2.0
WEDGE_WIDER_DEG = 2.0
SIDES = ("left", "right", "bottom", "top")
"""The boundary lines in the order of ``boundary_masks``."""


def add_coverage(coverage: NDArray[np.float32], pose: ArrayLike, camera: Camera) -> None:
    """Mark in ``coverage`` (32, 32), in place, what is in view from ``pose`` (6,)."""
    if coverage.shape != (WORLD_CELLS, WORLD_CELLS) or coverage.dtype != np.float32:
        raise WaywordError(f"coverage must be (32, 32) float32, not {coverage.shape} {coverage.dtype}")
    body = check_full_pose(pose)
    _cover(coverage, body, ground_borders(body, camera), *wedge_of(camera))


def wedge_of(camera: Camera) -> tuple[float, float]:
    """Half the angle of the wedge in radians, and its length in cells: to where the view begins at flying height."""
    half_angle = math.radians(camera.hfov_deg + WEDGE_WIDER_DEG) / 2
    lowest = math.radians(camera.mount_pitch_deg) + math.atan(camera.height / 2 / camera.focal_px)
    if lowest <= 0:  # no ground in view
        return half_angle, WEDGE_CELLS
    begin = ALTITUDE_M / math.tan(lowest) if lowest < math.pi / 2 else 0.0
    return half_angle, min(WEDGE_CELLS, math.ceil(begin / CELL_M) + WEDGE_BEHIND_CELLS)


def ground_borders(pose: NDArray[np.float64], camera: Camera) -> NDArray[np.float64]:
    """The borders of the image as lines on the ground: (4, 3) a, b, c for left, right, top, bottom.

    a x + b y + c is the distance of a ground point (x, y) to the border in metres, positive inside.
    """
    f, w, h = camera.focal_px, camera.width / 2, camera.height / 2
    normals = np.array([[f, 0, w], [-f, 0, w], [0, f, h], [0, -f, h]]) @ camera_axes(pose, camera.mount_pitch_deg)
    lengths = np.maximum(np.hypot(normals[:, 0], normals[:, 1]), 1e-9)
    offsets = -(normals @ pose[:3])
    return np.column_stack([normals[:, :2], offsets]) / lengths[:, None]


def boundary_masks() -> NDArray[np.float32]:
    """The four edges of the arena as lines one cell wide, (4, 32, 32) in the order of ``SIDES``."""
    lines = np.zeros((4, WORLD_CELLS, WORLD_CELLS), np.float32)
    lines[0, :, 0] = lines[1, :, -1] = lines[2, 0, :] = lines[3, -1, :] = 1
    return lines


@compiled()
def _cover(coverage: Any, pose: Any, borders: Any, half_angle: Any, length: Any) -> None:
    x, y = pose[0] / CELL_M, pose[1] / CELL_M
    c, s = math.cos(pose[5]), math.sin(pose[5])
    across, along = math.cos(half_angle), math.sin(half_angle)
    for i in range(coverage.shape[0]):
        for j in range(coverage.shape[1]):
            margin = 1e9
            for k in range(4):
                margin = min(margin, borders[k, 0] * (j + 0.5) + borders[k, 1] * (i + 0.5) + borders[k, 2] / CELL_M)
            dx, dy = j + 0.5 - x, i + 0.5 - y
            near = DISC_CELLS - math.sqrt(dx * dx + dy * dy)
            u, v = dx * c + dy * s + WEDGE_BEHIND_CELLS, abs(dy * c - dx * s)
            wedge = min(length - math.sqrt(u * u + v * v), u * along - v * across)
            inside = max(margin, near, wedge) + 0.5  # distances to the edge, in cells
            coverage[i, j] = max(coverage[i, j], min(max(inside, 0.0), 1.0))
