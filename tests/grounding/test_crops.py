from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.grounding.crops import CROP, crop_and_resize, expand, letterbox, paste, square
from wayword.grounding.refine import Refiner


def ramp(height: int = 40, width: int = 60) -> np.ndarray:
    """Red rises by 4 per column, green by 6 per row: bilinear sampling is exact on it."""
    image = np.zeros((1, height, width, 3), np.uint8)
    image[0, :, :, 0] = 4 * np.arange(width)
    image[0, :, :, 1] = 6 * np.arange(height)[:, None]
    return image


def test_crop_of_a_ramp_is_the_ramp() -> None:
    # The box 8..24 x 10..20 at 32 x 32: output pixel j is centred on x = 8 + (j + 0.5) / 2, whose colour is
    # 4 (x - 0.5), since pixel c has its centre at c + 0.5.
    crop = crop_and_resize(ramp(), [0], [[8, 10, 24, 20]])
    x = 8 + (np.arange(32) + 0.5) / 2
    y = 10 + (np.arange(32) + 0.5) * 10 / 32
    np.testing.assert_allclose(crop[0, 0, 5], 4 * (x - 0.5) / 127.5 - 1, atol=1e-5)
    np.testing.assert_allclose(crop[0, 1, :, 7], 6 * (y - 0.5) / 127.5 - 1, atol=1e-5)


def test_large_boxes_are_averaged() -> None:
    # A 64 x 64 checkerboard of single black and white pixels at 32 x 32 is grey everywhere; point sampling
    # between four pixels would be too, so the box is shifted by half a pixel, where it would give stripes.
    board = np.zeros((1, 66, 66, 3), np.uint8)
    board[0, ::2, ::2] = board[0, 1::2, 1::2] = 255
    np.testing.assert_allclose(crop_and_resize(board, [0], [[0.5, 0.5, 64.5, 64.5]]), 0.0, atol=1e-5)


def test_beyond_the_frame_the_border_continues() -> None:
    image = np.full((1, 10, 10, 3), 100, np.uint8)
    image[0, :, 0] = 200
    crop = crop_and_resize(image, [0], [[-8, 0, 0, 8]])
    np.testing.assert_allclose(crop, 200 / 127.5 - 1, atol=1e-6)


def test_boxes_find_their_frames() -> None:
    images = np.stack([np.full((8, 8, 3), v, np.uint8) for v in (0, 255)])
    crops = crop_and_resize(images, [1, 0, 1], [[0, 0, 8, 8]] * 3)
    np.testing.assert_allclose(crops.mean(axis=(1, 2, 3)), [1, -1, 1], atol=1e-6)
    with pytest.raises(ValueError, match="not among"):
        crop_and_resize(images, [2], [[0, 0, 8, 8]])


def test_square_and_expand_by_hand() -> None:
    # 10 wide, 4 high around (15, 12): the square's half side is 10 x (0.5 + 0.05) = 5.5.
    np.testing.assert_allclose(square([[10, 10, 20, 14]], 0.05), [[9.5, 6.5, 20.5, 17.5]])
    np.testing.assert_allclose(expand([[10, 10, 20, 14]], 0.1), [[9, 9.6, 21, 14.4]], rtol=1e-6)


def test_paste_of_a_full_mask_fills_the_box() -> None:
    # Pixel centres 2.5, 3.5, ... inside 2.2..6.4: columns 2 to 5; rows 1.5 and 2.5 inside 1..3.
    out = paste(np.ones((1, 32, 32), np.float32), [[2.2, 1.0, 6.4, 3.0]], 5, 9)
    expected = np.zeros((5, 9))
    expected[1:3, 2:6] = 1
    np.testing.assert_allclose(out[0], expected, atol=1e-6)


def test_paste_of_a_ramp_is_a_ramp() -> None:
    mask = np.tile((np.arange(32) + 0.5) / 32, (1, 32, 1)).astype(np.float32)
    out = paste(mask, [[10, 10, 26, 26]], 40, 40)
    np.testing.assert_allclose(out[0, 15, 12:24], (np.arange(12, 24) + 0.5 - 10) / 16, atol=1e-5)


@given(st.integers(0, 1000))
def test_paste_stays_inside_frame_and_range(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-40, 160, (3, 2, 2))
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    out = paste(rng.random((3, 32, 32)).astype(np.float32), boxes, 72, 128)
    assert out.min() >= 0
    assert out.max() <= 1


def test_an_empty_box_pastes_nothing() -> None:
    assert paste(np.ones((2, 32, 32), np.float32), [[5, 5, 5, 9], [9, 9, 4, 12]], 20, 20).max() == 0


def test_letterbox_keeps_proportions() -> None:
    # A 300 x 300 photo in a 72 x 128 frame: scale 0.24, so 72 columns in the middle, 28 on either side.
    photo = np.zeros((300, 300, 3), np.uint8)
    photo[100:200, 100:200] = 255
    frame, scale, dx, dy = letterbox(photo, 72, 128)
    assert (scale, dx, dy) == (0.24, 28.0, 0.0)
    rows, columns = np.nonzero(frame[..., 0] > 128)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (24, 47, 52, 75)


@pytest.mark.parametrize(("shape", "axis", "half"), [((72, 256), 0, 36), ((144, 64), 1, 64)])
def test_the_middle_of_a_picture_is_the_middle_of_its_letterbox(shape: tuple[int, int], axis: int, half: int) -> None:
    # Half the size, with bars of 18 lines above and below; or of 48 columns on both sides, for the upright one.
    photo = np.zeros((*shape, 3), np.uint8)
    np.moveaxis(photo, axis, 0)[shape[axis] // 2 :] = 255
    frame, scale, dx, dy = letterbox(photo, 72, 128)
    assert (scale, dx, dy) == ((0.5, 0, 18) if axis == 0 else (0.5, 48, 0))
    turned = np.moveaxis(frame, axis, 0)
    np.testing.assert_array_equal(turned[:half], 0)
    np.testing.assert_array_equal(turned[half:], 255)


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (2000, 3), (5, 5)])
def test_letterbox_of_odd_pictures(shape: tuple[int, int]) -> None:
    frame, *_ = letterbox(np.full((*shape, 3), 77, np.uint8), 72, 128)
    np.testing.assert_array_equal(frame, 77)


def test_masks_are_looked_for_a_tenth_around_their_box() -> None:
    # A box of 20 x 30 pixels: the mask reaches 2 pixels further to the sides, 3 further up and down, and no further.
    regions: list[np.ndarray] = []

    def everything(crops: np.ndarray) -> tuple[np.ndarray]:
        regions.append(crops)
        return (np.full((len(crops), CROP, CROP), 20.0, np.float32),)

    images = np.zeros((1, 72, 128, 3), np.uint8)
    images[0, :, 37:63] = 255
    (mask,) = Refiner(everything)(images, [0], [[40.0, 20.0, 60.0, 50.0]])
    rows, columns = np.nonzero(mask > 0.5)
    assert (columns.min(), columns.max() + 1, rows.min(), rows.max() + 1) == (38, 62, 17, 53)
    assert regions[0][0, :, :, [0, -1]] == pytest.approx(1.0)  # it is shown all of that
