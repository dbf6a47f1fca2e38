from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.camera import Camera, project
from wayword.errors import WaywordError
from wayword.mapping import CELL_M, project_masks
from wayword.mapping.grid import world_centres

CAMERA = Camera()
SMALL = Camera(width=10, height=8)
POSE = np.array([0.6, 2.2, 0.7, 0.03, -0.05, 0.2])


def test_a_cell_takes_the_value_of_the_pixel_that_shows_it():
    # A mask that is linear in column and row is sampled exactly, wherever a cell is seen away from the border.
    rows, columns = np.mgrid[0:72, 0:128] + 0.5
    mask = (0.002 * columns + 0.004 * rows)[None].astype(np.float32)
    column, row, depth = project(np.column_stack([world_centres().reshape(-1, 2), np.zeros(1024)]), POSE, CAMERA).T
    seen = (depth > 0) & (column > 0.5) & (column < 127.5) & (row > 0.5) & (row < 71.5)
    out = project_masks(mask, POSE, CAMERA).reshape(-1)
    assert seen.sum() > 100
    np.testing.assert_allclose(out[seen], (0.002 * column + 0.004 * row)[seen], atol=1e-5)
    behind = depth < 0
    assert behind.any()
    assert not out[behind].any()


def test_upper_pixels_land_behind():
    # Level camera 0.7 m up at (0, 2.35): row 36 + k shows ground 0.7 f / k ahead. A mask from row 50 to 61 covers the
    # ground from 0.7 f / 25 = 1.99 m to 0.7 f / 14 = 3.55 m, though its object stands at 1.99 m.
    pose = np.array([0.0, 2.35, 0.7, 0.0, -math.radians(15), 0.0])
    mask = np.zeros((1, 72, 128), np.float32)
    mask[0, 50:61, 60:68] = 1
    marked = world_centres()[project_masks(mask, pose, CAMERA)[0] > 0.5]
    assert marked[:, 0].min() == pytest.approx(1.99, abs=CELL_M)
    assert marked[:, 0].max() == pytest.approx(3.55, abs=CELL_M)


def test_wrong_masks_are_one_clear_line():
    with pytest.raises(WaywordError, match="masks must be"):
        project_masks(np.zeros((1, 12, 16), np.float32), POSE, CAMERA)
    with pytest.raises(WaywordError, match="pose"):
        project_masks(np.zeros((1, 72, 128), np.float32), [0, 0, 0], CAMERA)


@pytest.mark.needs_torch
class TestGradients:
    """The same with PyTorch."""

    @pytest.mark.parametrize("turn", [0.0, 1.0, 2.5, -1.7])
    def test_projection_equals_the_compiled_one(self, turn: float, rng: np.random.Generator):
        import torch

        from wayword.mapping import differentiable

        pose = POSE + np.array([1.5, 0, 0, 0, 0, turn])
        masks = rng.random((3, 72, 128), dtype=np.float32)
        out = differentiable.project_features(torch.tensor(masks, dtype=torch.float64), torch.tensor(pose), CAMERA)
        assert (out > 0).any()
        np.testing.assert_allclose(out.numpy(), project_masks(masks, pose, CAMERA), atol=1e-5)

    def test_gradients_of_masks_and_pose(self, rng: np.random.Generator):
        import torch

        from wayword.mapping import differentiable

        masks = torch.tensor(rng.random((1, 8, 10)), requires_grad=True)
        mixed = torch.tensor(rng.normal(size=(32 * 32, 5)))  # five mixtures of all cells: a backward pass each

        def projected(masks: torch.Tensor, pose: torch.Tensor) -> torch.Tensor:
            return differentiable.project_features(masks, pose, SMALL).reshape(-1) @ mixed

        for change in (np.zeros(6), np.array([2, 0, 0.1, 0.1, 0.1, 2.0])):  # the second with cells behind the camera
            pose = torch.tensor(POSE + change, requires_grad=True)
            assert torch.autograd.gradcheck(projected, (masks, pose))

    def test_wrong_shapes_are_one_clear_line(self):
        import torch

        from wayword.mapping import differentiable

        with pytest.raises(WaywordError, match="masks must be"):
            differentiable.project_features(torch.zeros(1, 8, 10), torch.zeros(3), SMALL)
