"""Masks of references over the drone's view, painted also between two decisions.

A policy segments what it sees when it decides, twice a second; the video has ten pictures a second. Between
decisions each pixel of the view is looked up where it was in the picture that was segmented, so that a mask
stays on its object while the drone moves. A mask spills a little over its object's rim; what is so close to an
object is carried along as a part of it, or it would stay behind on the ground.

depth   (h, w) metres along the optical axis; inf beyond the ground
pose    (6,) of the drone
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.camera import Camera, camera_axes, project
from wayword.pictures.colours import Rgb
from wayword.pictures.masks import LEAST_MASK, Mask, masks_by_colour, paint_masks

Floats = NDArray[np.float32]
_HIDDEN = 0.12
"""A point that was this much (as a share) farther than the nearest thing seen there was hidden, and has no mask."""
_SPILL_PX = 2
"""How far masks spill, in pixels of the picture that was segmented."""
_COARSE_PX = 256
"""Masks are carried along on a view of at least this width, if it has it: they are smooth."""


class View(NamedTuple):
    """Where a picture was taken from, and how far everything in it is."""

    pose: NDArray[np.float64]
    depth: Floats


class ThoughtMasks:
    """The masks of a policy's last thought, painted where their objects are now."""

    def __init__(self, camera: Camera, colours: Sequence[Rgb]) -> None:
        self.camera, self.colours = camera, colours
        self._masks: dict[Rgb, Mask] = {}
        self._view: View | None = None

    def think(self, masks: Floats, view: View) -> None:
        """A new decision: masks (R, H, W) of its references, and from where the picture was taken it is about."""
        merged = masks_by_colour(masks, self.colours)
        self._masks = {colour: mask for colour, mask in merged.items() if mask.max() >= LEAST_MASK}
        self._view = view

    def paint(self, picture: Image.Image, pose: NDArray[np.float64], depth: Floats | None) -> None:
        """Paint them onto a view from ``pose``, in place; without its ``depth`` (h, w), as they were segmented."""
        if not self._masks:
            return
        masks = np.stack(list(self._masks.values()))
        if self._view is not None and depth is not None:
            step = max(1, depth.shape[1] // _COARSE_PX)
            masks = carry_masks(masks, self._view, View(pose, depth[::step, ::step]), self.camera)
        paint_masks(picture, dict(zip(self._masks, masks, strict=True)))


def carry_masks(masks: Floats, then: View, now: View, camera: Camera) -> Floats:
    """Masks (R, H, W) of the picture taken ``then`` as masks (R, h, w) of the one taken ``now``.

    Only the field of view and the mount of ``camera`` count, not its size: masks and depth images have their own.
    """
    camera = replace(camera, width=masks.shape[2], height=masks.shape[1])
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


def carry_boxes(boxes: Floats, then: View, pose: NDArray[np.float64], camera: Camera) -> NDArray[np.float64]:
    """Boxes (B, 4) of the picture taken ``then`` where their middles are in one of ``camera`` taken from ``pose``.

    They grow as what is in their middle comes nearer; one whose middle is behind the camera is NaN.
    """
    height, width = then.depth.shape
    small = replace(camera, width=width, height=height)
    rows = np.asarray(boxes, np.float64).reshape(-1, 4)
    column, row = (rows[:, 0] + rows[:, 2]) / 2, (rows[:, 1] + rows[:, 3]) / 2
    at = np.clip(row.astype(int), 0, height - 1), np.clip(column.astype(int), 0, width - 1)
    depth = np.minimum(then.depth[at].astype(np.float64), 1e3)
    aside, below = (column - width / 2) / small.focal_px * depth, (row - height / 2) / small.focal_px * depth
    right, down, forward = camera_axes(then.pose, camera.mount_pitch_deg)
    points = then.pose[:3] + aside[:, None] * right + below[:, None] * down + depth[:, None] * forward
    places = project(points, pose, camera)
    ahead = places[:, 2] > camera.near_m
    grown = camera.width / width * depth / np.where(ahead, places[:, 2], 1.0)
    half = np.column_stack([rows[:, 2] - rows[:, 0], rows[:, 3] - rows[:, 1]]) / 2 * grown[:, None]
    carried = np.column_stack([places[:, :2] - half, places[:, :2] + half])
    carried[~ahead] = np.nan
    return carried


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
