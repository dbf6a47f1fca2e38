"""Masks are painted by how sure they are, in their colour, where they are."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from wayword.pictures.colours import PALETTE, UNKNOWN_OBJECT, instance_colour
from wayword.pictures.masks import instance_masks, masks_by_colour, paint_masks

COLOUR = (200, 100, 0)


def painted(mask: np.ndarray, part: tuple[float, float, float, float] | None = None) -> np.ndarray:
    """A black picture of the mask's size under it."""
    picture = Image.new("RGB", mask.shape[::-1])
    paint_masks(picture, {COLOUR: mask.astype(np.float32)}, part)
    return np.asarray(picture).astype(int)


def test_opacity_follows_the_formula() -> None:
    # peak 1: at v = 1 the inside has 0.62; at v = 0.5 the rim is full; at v = 0.8 both: inside 0.62 * 0.8 = 0.496,
    # rim 1 - |0.8 - 0.5| / 0.3 = 0; at v = 0.1 the inside alone, 0.062.
    pixels = painted(np.array([[1.0, 0.5, 0.8, 0.1, 0.0]]))
    np.testing.assert_allclose(pixels[0, :, 0] / COLOUR[0], [0.62, 1.0, 0.496, 0.062, 0.0], atol=0.015)
    np.testing.assert_allclose(pixels[0, :, 1] / COLOUR[1], [0.62, 1.0, 0.496, 0.062, 0.0], atol=0.015)
    assert not pixels[..., 2].any()
    # peak 0.4: the rim lies at v = 0.2 and is as strong as the peak; inside 0.62 * 0.4 = 0.248.
    pixels = painted(np.array([[0.4, 0.2]]))
    np.testing.assert_allclose(pixels[0, :, 0] / COLOUR[0], [0.248, 0.4], atol=0.015)


def test_a_hard_mask_has_no_rim_and_a_faint_one_is_left_out() -> None:
    mask = np.zeros((4, 4))
    mask[1:3, 1:3] = 1
    pixels = painted(mask)
    assert set(np.unique(pixels[..., 0])) == {0, 124}  # 0.62 * 200
    assert (pixels[..., 0] > 0).sum() == 4
    assert not painted(0.019 * np.ones((4, 4))).any()


def test_a_part_of_the_masks_fills_the_picture() -> None:
    # A 4 x 4 picture in a 2 x 4 frame: scale 0.5, a column of bars on each side, which the picture does not show.
    mask = np.array([[1, 1, 0, 0], [1, 1, 0, 0]], np.float32)
    picture = Image.new("RGB", (4, 4))
    paint_masks(picture, {COLOUR: mask}, part=(1, 0, 3, 2))
    levels = np.asarray(picture)[..., 0]
    assert (levels[:, 0] == 124).all()
    assert (levels[:, 3] == 0).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.floats(0.03, 1.0))
def test_any_picture_can_be_painted_on(width: int, height: int, peak: float) -> None:
    picture = Image.new("RGB", (width, height))
    paint_masks(picture, {COLOUR: np.full((9, 16), peak, np.float32)})
    levels = np.asarray(picture)[..., 0] / COLOUR[0]
    np.testing.assert_allclose(levels, 0.62 * peak, atol=0.015)  # a flat mask has no rim


def test_masks_of_one_colour_are_painted_as_one() -> None:
    masks = np.zeros((3, 9, 16), np.float32)
    masks[0, :4], masks[1, 4:], masks[2, :, :2] = 0.9, 0.8, 0.7
    both = masks_by_colour(masks, [PALETTE[0], PALETTE[0], PALETTE[1]])
    assert list(both) == [PALETTE[0], PALETTE[1]]
    np.testing.assert_array_equal(both[PALETTE[0]], np.maximum(masks[0], masks[1]))
    view = Image.new("RGB", (160, 90), (10, 10, 10))
    paint_masks(view, {PALETTE[1]: masks[2], UNKNOWN_OBJECT: np.full((9, 16), 0.01, np.float32)})
    pixels = np.asarray(view).astype(int)
    assert (pixels[:, 100:] == 10).all()  # a faint mask is not painted
    assert np.abs(pixels[45, 5] - PALETTE[1]).sum() < np.abs(np.array([10, 10, 10]) - PALETTE[1]).sum()


def test_instances_have_colours_of_their_own() -> None:
    ids = np.array([[0, 1, 7]], np.uint8)
    masks = instance_masks(ids, {number: instance_colour(number) for number in (1, 7)})
    assert [mask.tolist() for mask in masks.values()] == [[[0, 1, 0]], [[0, 0, 1]]]
    colours = np.array([instance_colour(number) for number in range(1, 17)])
    gaps = np.abs(colours[:, None] - colours).sum(axis=2)[~np.eye(16, dtype=bool)]
    assert gaps.min() > 30
