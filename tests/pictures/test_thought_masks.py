"""Masks stay on their objects while the drone moves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PIL import Image

from wayword.camera import Camera
from wayword.episodes import PlacedObject
from wayword.pictures.colours import PALETTE
from wayword.pictures.thought_masks import ThoughtMasks, View, carry_boxes, carry_masks
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import Renderer

OBJECTS = [PlacedObject("globe", 2.4, 2.0, 0.0), PlacedObject("strawberry", 1.6, 3.4, 0.0)]
START = np.array([1.0, 2.0, 0.7, 0.0, 0.0, 0.0])


def look_from(pose: np.ndarray, camera: Camera | None = None) -> tuple[View, np.ndarray]:
    """A view of the globe, and which pixels are the globe."""
    renderer = Renderer(MeshBank.of_catalogue(["globe", "strawberry"]), camera)
    frames = renderer.render([renderer.scene(OBJECTS, Look())], [pose])
    return View(pose, frames.depth[0]), (frames.ids[0] == 1).astype(np.float32)


@pytest.mark.parametrize("camera", [Camera(), Camera(mount_pitch_deg=40.0), Camera(hfov_deg=60.0), Camera(320, 180)])
@pytest.mark.parametrize("step", [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.15, 0.1, -0.2), (0.0, 0.0, 0.3)])
def test_a_mask_stays_on_its_object_while_the_drone_moves(step: tuple[float, float, float], camera: Camera) -> None:
    # A camera's size does not matter to the masks, which are 128 x 72: here the last one's.
    then, mask = look_from(START, camera.at_model_size())
    now, truth = look_from(START + np.array([step[0], step[1], 0, 0, 0, step[2]]), camera.at_model_size())
    carried = carry_masks(mask[None], then, now, camera)[0] > 0.5
    common, either = (carried & (truth > 0.5)).sum(), (carried | (truth > 0.5)).sum()
    assert truth.sum() > 50
    assert common / either > 0.8


def test_what_was_hidden_has_no_mask() -> None:
    # A mask over the whole picture: the ground behind the globe was not seen, so a step aside shows it unmasked.
    then, mask = look_from(START)
    now, truth = look_from(START + np.array([0, 0.5, 0, 0, 0, -0.3]))
    carried = carry_masks(np.ones((1, *mask.shape), np.float32), then, now, Camera())[0]
    assert carried[truth > 0.5].mean() > 0.9
    rows, columns = np.nonzero(truth)
    beside = carried[rows.min() : rows.max(), columns.max() + 2 : columns.max() + 8]
    other = carried[rows.min() : rows.max(), columns.min() - 8 : columns.min() - 2]
    assert min(beside.min(), other.min()) == 0
    behind = START + np.array([0, 0, 0, 0, 0, math.pi])
    assert carry_masks(mask[None], then, look_from(behind)[0], Camera()).max() == 0


def test_the_masks_of_a_thought_are_painted_where_they_are_now() -> None:
    then, mask = look_from(START)
    pose = START + np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.3])
    now, truth = look_from(pose)
    masks = ThoughtMasks(Camera(), [PALETTE[0], PALETTE[1]])
    picture = Image.new("RGB", (128, 72))
    masks.paint(picture, pose, now.depth)
    assert not np.asarray(picture).any()  # no thought yet
    masks.think(np.stack([mask, 0.01 * mask]), then)  # the second is too faint
    masks.paint(picture, pose, now.depth)
    pixels = np.asarray(picture).any(axis=2)
    assert pixels[truth > 0.5].mean() > 0.9
    assert pixels[truth < 0.5].mean() < 0.05
    still = Image.new("RGB", (128, 72))
    masks.paint(still, pose, None)  # without depth, where they were segmented
    np.testing.assert_array_equal(np.asarray(still).any(axis=2), mask > 0.5)


def test_boxes_stay_on_what_is_in_their_middle() -> None:
    # Flat wall 2 m ahead; from the same place boxes only grow with the picture, 1 m nearer they are twice as large.
    camera, large = Camera(mount_pitch_deg=0.0), Camera(256, 144, mount_pitch_deg=0.0)
    then = View(np.array([0.0, 0.0, 0.7, 0.0, 0.0, 0.0]), np.full((72, 128), 2.0, np.float32))
    boxes = np.array([[54.0, 26.0, 74.0, 46.0]], np.float32)  # 20 pixels about the middle
    np.testing.assert_allclose(carry_boxes(boxes, then, then.pose, camera), boxes, atol=1e-6)
    np.testing.assert_allclose(carry_boxes(boxes, then, then.pose, large), 2 * boxes, atol=1e-6)
    nearer = np.array([1.0, 0.0, 0.7, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(carry_boxes(boxes, then, nearer, camera), [[44, 16, 84, 56]], atol=1e-6)
    past = np.array([3.0, 0.0, 0.7, 0.0, 0.0, 0.0])
    assert np.isnan(carry_boxes(boxes, then, past, camera)).all()
