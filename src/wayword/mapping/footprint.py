"""Footprints: from the mask of a box to where on the ground its object stands.

    M_b         (K, H, W)      masks of one frame's boxes, probabilities
    b           (K, 4)         boxes x0, y0, x1, y1 in pixels
    pose        (6,)           x, y, z, roll, pitch, yaw of the drone; metres, radians, world frame
    footprint   (K, 4)         x, y (world, metres), radius in metres, quality in [0, 1]

The paper projects every pixel of a mask onto the ground z = 0. Only the lowest pixels of an object are there:
the upper ones of a tall object land metres behind it. Here only the lower edge of a mask is projected. Its
nearest part is the front of the ground area; the columns whose edge lies about as near are the base, and their
width in metres says how far behind the front the middle is. The constants of that last step are fitted on
seen objects (docs/mapping.md, with the errors of both ways).

Quality says how far the place can be trusted: 1 if the whole base is in view, less if it is hidden behind a
nearer object, cut by the border of the image or far away, where one row of pixels is half a metre of ground.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.camera import Camera, camera_axes
from wayword.compiled import compiled
from wayword.errors import WaywordError
from wayword.mapping.projection import check_full_pose

FAR_M = 7.0
"""Nothing is placed farther away than this: the diagonal of the arena is 6.6 m."""

MIDDLE = 0.46
"""The middle of a footprint lies this share of the base's width behind its front."""
RADIUS = 0.5
"""The radius of a footprint is this share of the whole mask's width: what stands up counts, not the stem alone."""
BELOW_M = 0.30
"""If the base is below the image, the middle lies nearer by this times the squared share of columns cut."""
BESIDE_M, BESIDE = 0.135, 0.4
"""If the object is cut at the side, its middle lies outwards by this much less a share of what is seen of the base."""
LOST_HIDDEN, LOST_BELOW, LOST_BESIDE, LOST_EMPTY = 0.8, 0.4, 0.2, 0.5
"""Quality lost if all columns are hidden, all are cut below, the object is cut at a side, the mask is empty: about
the share of such footprints that lie more than a cell off."""
SHARP_M = 3.5
"""Quality falls from here to 0 at FAR_M."""
LARGEST_M = 0.45
"""Nothing has a larger radius: the largest objects of the arena, a little generously."""

EDGE = 0.5
"""A pixel belongs to an object if its mask is more than this."""
OUTLIERS = 0.04
"""This share of the columns may lie in front of the front: single wrong pixels of a mask."""
BAND, BAND_M = 0.5, 0.02
"""The base reaches back by this share of the mask's width, plus a little for the steps of the pixels."""
MOST_HIDDEN = 0.75
"""If more of the columns than this are hidden, the edge is taken as it is."""
BELOW_PX = 2
"""A nearer object hides the base if its mask covers the pixel this far below the edge."""


def footprints(masks: NDArray[np.float32], boxes: ArrayLike, pose: ArrayLike, camera: Camera) -> NDArray[np.float32]:
    """Where the objects of one frame's boxes stand: (K, 4) x, y, radius in metres, and quality."""
    regions = np.ascontiguousarray(boxes, np.float64).reshape(-1, 4)
    size = (camera.height, camera.width)
    if masks.shape != (len(regions), *size):
        raise WaywordError(f"{len(regions)} boxes need masks of shape {(len(regions), *size)}, not {masks.shape}")
    if not np.isfinite(regions).all():
        raise WaywordError("a box holds a number that is not finite")
    body = check_full_pose(pose)
    result = np.empty((len(regions), 4), np.float32)
    axes = camera_axes(body, camera.mount_pitch_deg)
    measured = np.empty((len(regions), len(MEASURES)))
    _measure(np.ascontiguousarray(masks, np.float32), regions, body, axes, camera.focal_px, measured)
    _place(measured, body, axes, camera.focal_px, camera.width, camera.height, result)
    return result


MEASURES = ("column", "row", "front_m", "depth_m", "base_m", "full_m", "hidden", "below", "beside", "empty")
"""What is read off a mask: column and row of the front's middle in pixels; range of the front, its depth along
the optical axis, width of the base and of the whole mask, in metres; shares of the columns hidden by a nearer
object and cut by the lower border; side of the image that cuts it (-1, 0, 1); 1 if the mask is empty."""


@compiled()
def _ray(column: Any, row: Any, axes: Any, focal: Any, width: Any, height: Any) -> Any:
    """Direction of a pixel in the world, of depth 1."""
    a, b = (column - width / 2) / focal, (row - height / 2) / focal
    x = a * axes[0, 0] + b * axes[1, 0] + axes[2, 0]
    y = a * axes[0, 1] + b * axes[1, 1] + axes[2, 1]
    z = a * axes[0, 2] + b * axes[1, 2] + axes[2, 2]
    return x, y, z


@compiled()
def _ground(column: Any, row: Any, camera_z: Any, axes: Any, focal: Any, width: Any, height: Any) -> Any:
    """Range on the ground and depth of a pixel; at and above the horizon, FAR_M."""
    x, y, z = _ray(column, row, axes, focal, width, height)
    across = max(math.hypot(x, y), 1e-9)
    if -z * FAR_M > camera_z * across and camera_z > 0:
        depth = -camera_z / z
        return depth * across, depth
    return FAR_M, FAR_M / across


@compiled()
def _lower_edge(mask: Any, box: Any, edge: Any) -> bool:
    """Row of a mask's lower edge in each column, to a part of a pixel; -1 where there is none. True if it is empty."""
    height, width = mask.shape
    x0, y0, x1, y1 = box
    dx, dy = 0.1 * (x1 - x0) + 1, 0.1 * (y1 - y0) + 1  # masks reach a little beyond their boxes
    edge[:] = -1.0
    empty = True
    for c in range(max(0, int(x0 - dx)), min(width, math.ceil(x1 + dx))):
        for r in range(min(height, math.ceil(y1 + dy)) - 1, max(0, int(y0 - dy)) - 1, -1):
            inside = mask[r, c]
            if inside > EDGE:
                edge[c] = r + 1.0
                if r + 1 < height and mask[r + 1, c] <= EDGE:
                    edge[c] = r + 0.5 + (inside - EDGE) / (inside - mask[r + 1, c])
                empty = False
                break
    if empty:  # the box itself
        first = min(max(int(x0), 0), width - 1)
        edge[first : max(first + 1, min(width, math.ceil(x1)))] = min(max(y1, 1.0), float(height))
    return empty


@compiled()
def _hidden(k: Any, column: Any, edges: Any, lowest: Any, masks: Any) -> bool:
    """Whether a nearer object begins where mask ``k`` ends: then the edge is not the object's own."""
    row = int(edges[k, column] - 0.5) + BELOW_PX
    if row < masks.shape[1]:
        for j in range(len(masks)):
            # What stands nearer reaches farther down; what is seen below an overhang may stand farther away.
            if j != k and lowest[j] > lowest[k] and masks[j, row, column] > EDGE:
                return True
    return False


@compiled()
def _nearest(ranges: Any, columns: Any, skipped: Any) -> Any:
    """The column of the smallest range but ``skipped``; moves those before it to the front of ``columns``.

    A few steps of a selection sort: numba takes seconds to compile its own sort.
    """
    for i in range(skipped + 1):
        for j in range(i + 1, len(columns)):
            if ranges[columns[j]] < ranges[columns[i]]:
                columns[i], columns[j] = columns[j], columns[i]
    return columns[skipped]


@compiled()
def _measure(masks: Any, boxes: Any, pose: Any, axes: Any, focal: Any, measured: Any) -> None:
    """Fill in MEASURES for every mask."""
    count, height, width = masks.shape
    edges, lowest, empty = np.empty((count, width)), np.empty(count), np.empty(count, np.bool_)
    for k in range(count):
        empty[k] = _lower_edge(masks[k], boxes[k], edges[k])
        lowest[k] = edges[k].max()
    columns = np.empty(width, np.int64)  # those in which the mask has an edge; its own ones come first
    ranges, depths = np.empty(width), np.empty(width)
    for k in range(count):
        number = own = cut = 0
        first, last = width, 0
        for c in range(width):
            if edges[k, c] < 0:
                continue
            ranges[c], depths[c] = _ground(c + 0.5, edges[k, c], pose[2], axes, focal, width, height)
            first, last = min(first, c), c
            cut += 1 if edges[k, c] >= height else 0
            columns[number] = c
            number += 1
            if not _hidden(k, c, edges, lowest, masks):
                columns[own], columns[number - 1] = c, columns[own]
                own += 1
        hidden = 1 - own / number
        if hidden > MOST_HIDDEN:
            own = number
        nearest = _nearest(ranges, columns[:own], int(OUTLIERS * own))
        metres = depths[nearest] / focal
        full = (last + 1 - first) * metres
        left, right = width, 0
        for c in columns[:own]:
            if ranges[c] <= ranges[nearest] + BAND * full + BAND_M:
                left, right = min(left, c), max(right, c + 1)
        measured[k, 0] = (left + right) / 2
        measured[k, 1] = edges[k, nearest]
        measured[k, 2] = ranges[nearest]
        measured[k, 3] = depths[nearest]
        measured[k, 4] = (right - left) * metres
        measured[k, 5] = full
        measured[k, 6] = hidden
        measured[k, 7] = cut / number
        measured[k, 8] = (1.0 if last == width - 1 else 0.0) - (1.0 if first == 0 else 0.0)
        measured[k, 9] = 1.0 if empty[k] else 0.0


@compiled()
def _place(measured: Any, pose: Any, axes: Any, focal: Any, width: Any, height: Any, result: Any) -> None:
    """From what was measured to where the middle is."""
    for k in range(len(measured)):
        column, row, front, depth, base, full, hidden, below, beside, empty = measured[k]
        outwards = beside * max(BESIDE_M - BESIDE * base, 0.0)
        x, y, _ = _ray(column + outwards * focal / depth, row, axes, focal, width, height)
        across = max(math.hypot(x, y), 1e-9)
        distance = max(front + MIDDLE * base - BELOW_M * below**2, 0.1)
        quality = (1 - LOST_HIDDEN * hidden) * (1 - LOST_BELOW * below) * (1 - LOST_BESIDE * abs(beside))
        quality *= (1 - LOST_EMPTY * empty) * min(max((FAR_M - front) / (FAR_M - SHARP_M), 0.0), 1.0)
        result[k, 0] = pose[0] + distance * x / across
        result[k, 1] = pose[1] + distance * y / across
        result[k, 2] = min(RADIUS * full, LARGEST_M)
        result[k, 3] = quality
