"""Projection with gradients, for learning through the map. Needs PyTorch (``wayword[train]``).

    M       (K, H, W)       masks in the image
    pose    (6,)            x, y, z, roll, pitch, yaw of the drone
    M^W     (K, 32, 32)     differentiable in both

The same numbers as ``wayword.mapping.projection``; ``wayword.mapping.context_map`` has gradients as it is.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.mapping.grid import world_centres


def _camera_axes(pose: Tensor, mount_pitch_deg: float) -> Tensor:
    """Rows right, down, forward of the camera in world coordinates: world -> camera rotation (3, 3)."""
    roll, pitch, yaw = pose[3], pose[4], pose[5]
    cr, sr, cp, sp, cy, sy = (fn(a) for a in (roll, pitch, yaw) for fn in (torch.cos, torch.sin))
    ahead = torch.stack([cy * cp, sy * cp, -sp])
    left = torch.stack([cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr])
    up = torch.stack([cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr])
    c, s = math.cos(math.radians(mount_pitch_deg)), math.sin(math.radians(mount_pitch_deg))
    return torch.stack([-left, -(s * ahead + c * up), c * ahead - s * up])


def project_features(masks: Tensor, pose: Tensor, camera: Camera) -> Tensor:
    """Masks or features (K, H, W) of an image taken from ``pose`` (6,), on the world grid: (K, 32, 32)."""
    if masks.ndim != 3 or tuple(masks.shape[1:]) != (camera.height, camera.width) or tuple(pose.shape) != (6,):
        raise WaywordError(
            f"masks must be (K, {camera.height}, {camera.width}) and the pose (6,), "
            f"not {tuple(masks.shape)} and {tuple(pose.shape)}"
        )
    cells = torch.as_tensor(world_centres(), dtype=pose.dtype, device=pose.device)
    points = torch.cat([cells, torch.zeros_like(cells[..., :1])], dim=-1) - pose[:3]
    local = points @ _camera_axes(pose, camera.mount_pitch_deg).T
    in_front = local[..., 2:] > camera.near_m
    # Behind the camera, a depth of 1 keeps the unused branch and its gradient finite.
    plane = local[..., :2] / torch.where(in_front, local[..., 2:], torch.ones_like(local[..., 2:]))
    scale = pose.new_tensor([2 * camera.focal_px / camera.width, 2 * camera.focal_px / camera.height])
    # In [-1, 1] from border to border of the image; 2 lies outside.
    where = torch.where(in_front, plane * scale, torch.full_like(plane, 2.0)).to(masks.dtype)
    return grid_sample(masks[None], where[None], mode="bilinear", padding_mode="zeros", align_corners=False)[0]
