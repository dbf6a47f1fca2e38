"""Masks of references over the drone's view, also between two decisions.

A policy segments what it sees when it decides, twice a second; the video has ten pictures a second. Between
decisions each pixel of the view is looked up where it was in the picture that was segmented, so that a mask
stays on its object while the drone moves. A mask spills a little over its object's rim; what is so close to an
object is carried along as a part of it, or it would stay behind on the ground.

depth   (h, w) metres along the optical axis; inf beyond the ground
pose    (6,) of the drone
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.sim.pictures.topdown import Color
from wayword.sim.render.camera import CameraConfig, camera_axes

Floats = NDArray[np.float32]
LEAST_MASK = 0.02
"""A mask that is nowhere more than this is not drawn."""
_STRENGTH = 0.62
_HIDDEN = 0.12
"""A point that was this much (as a share) farther than the nearest thing seen there was hidden, and has no mask."""
_SPILL_PX = 2
"""How far masks spill, in pixels of the picture that was segmented."""


class View(NamedTuple):
    """Where a picture was taken from, and how far everything in it is."""

    pose: NDArray[np.float64]
    depth: Floats


def carry_masks(masks: Floats, then: View, now: View, camera: CameraConfig) -> Floats:
    """Masks (R, H, W) of the picture taken ``then`` as masks (R, h, w) of the one taken ``now``.

    ``camera`` is the one of the masks. Only its field of view counts, and the proportions of the depth images.
    """
    height, width = now.depth.shape
    focal = width * camera.focal_px / camera.width
    x, y = np.meshgrid((np.arange(width) + 0.5 - width / 2) / focal, (np.arange(height) + 0.5 - height / 2) / focal)
    depth = np.minimum(_nearest(now.depth, round(_SPILL_PX * width / camera.width)), 1e4)
    local = np.stack([x * depth, y * depth, depth], axis=-1, dtype=np.float32)
    turn = camera_axes(then.pose, camera.mount_pitch_deg) @ camera_axes(now.pose, camera.mount_pitch_deg).T
    shift = camera_axes(then.pose, camera.mount_pitch_deg) @ (now.pose[:3] - then.pose[:3])
    before = local @ turn.T.astype(np.float32) + shift.astype(np.float32)
    ahead = before[..., 2] > camera.near_m
    z = np.where(ahead, before[..., 2], 1)
    column, row = (before[..., k] / z * camera.focal_px for k in (0, 1))
    column, row = column + camera.width / 2, row + camera.height / 2
    inside = ahead & (column >= 0) & (column < camera.width) & (row >= 0) & (row < camera.height)
    seen_row, seen_column = (
        np.clip(place * scale, 0, limit - 1).astype(np.int64)
        for place, scale, limit in (
            (row, then.depth.shape[0] / camera.height, then.depth.shape[0]),
            (column, then.depth.shape[1] / camera.width, then.depth.shape[1]),
        )
    )
    reach = round(_SPILL_PX * then.depth.shape[1] / camera.width)
    inside &= z < _nearest(then.depth, reach)[seen_row, seen_column] * (1 + _HIDDEN)
    result: Floats = _bilinear(masks, row, column) * inside
    return result


def _nearest(depth: Floats, reach: int) -> Floats:
    """The smallest depth within ``reach`` pixels of each, in a square."""
    height, width = depth.shape
    padded = np.pad(depth, reach, mode="edge")
    across = np.minimum.reduce([padded[:, k : k + width] for k in range(2 * reach + 1)])
    result: Floats = np.minimum.reduce([across[k : k + height] for k in range(2 * reach + 1)])
    return result


def _bilinear(masks: Floats, row: NDArray, column: NDArray) -> Floats:
    height, width = masks.shape[1:]
    r, c = np.clip(row - 0.5, 0, height - 1), np.clip(column - 0.5, 0, width - 1)
    r0, c0 = np.minimum(r.astype(np.int64), height - 2), np.minimum(c.astype(np.int64), width - 2)
    fr, fc = (r - r0).astype(np.float32), (c - c0).astype(np.float32)
    flat, at = masks.reshape(len(masks), -1), r0 * width + c0
    top = flat[:, at] * (1 - fc) + flat[:, at + 1] * fc
    bottom = flat[:, at + width] * (1 - fc) + flat[:, at + width + 1] * fc
    result: Floats = top * (1 - fr) + bottom * fr
    return result


def merged(masks: Floats, colours: Sequence[Color]) -> dict[Color, Floats]:
    """One mask per colour, the largest of those that share it: references to one object do."""
    result: dict[Color, Floats] = {}
    for mask, color in zip(masks, colours, strict=False):
        result[color] = np.maximum(result[color], mask) if color in result else mask
    return result


def paint_references(view: Image.Image, masks: Mapping[Color, Floats]) -> None:
    """Paint masks (h, w) onto the view, each in its colour and with a brighter rim, in place."""
    inner = [round(_STRENGTH * value) for value in range(256)]
    for color, mask in masks.items():
        peak = float(mask.max(initial=0.0))
        if peak < LEAST_MASK:
            continue
        levels = Image.fromarray(np.clip(np.rint(mask * 255), 0, 255).astype(np.uint8))
        levels = levels.resize(view.size, Image.Resampling.BILINEAR)
        rim = [round(255 * peak * max(0.0, 1 - abs(v / 255 - peak / 2) / (0.3 * peak))) for v in range(256)]
        both = [min(255, max(inside, edge)) for inside, edge in zip(inner, rim, strict=True)]
        view.paste(color, mask=levels.point(both))
