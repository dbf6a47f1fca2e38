"""What the segmentation saw: each thing in its colour, at its place."""

from __future__ import annotations

import numpy as np

from wayword.grounding.grounder import Grounding
from wayword.pictures.colours import PALETTE, instance_colour
from wayword.pictures.segmentation import ZOOM, answer_tile, draw_found, truth_tile


def answer(alignment: list[list[float]]) -> Grounding:
    """Two boxes in a frame of 72 x 128; the mask of each reference is that of its best box."""
    boxes = np.array([[10, 10, 30, 40], [80, 20, 120, 60]], np.float32)
    masks = np.zeros((2, 72, 128), np.float32)
    for mask, (x0, y0, x1, y1) in zip(masks, boxes.astype(int), strict=True):
        mask[y0:y1, x0:x1] = 1
    rows = np.array(alignment)
    return Grounding(
        boxes=boxes, p_box=np.ones(2), p_object_of_box=np.eye(2, 3), p_object_of_reference=np.eye(len(rows), 3),
        alignment=rows, box_masks=masks, masks=masks[rows.argmax(axis=1)] * rows.max(axis=1)[:, None, None],
        all_objects=masks.max(axis=0), embeddings=np.zeros((2, 4), np.float32),
    )  # fmt: skip


def test_what_was_found_is_drawn_in_a_photo_that_can_be_read() -> None:
    # A photo of 320 x 160 is enlarged twice. What was asked for is in colour, what else is known in white.
    photo = np.zeros((160, 320, 3), np.uint8)
    boxes, others = np.array([[104, 40, 184, 120]], np.float32), np.array([[220, 60, 300, 140]], np.float32)
    mask = np.zeros((1, 160, 320), np.float32)
    mask[0, 50:110, 110:180] = 0.9
    picture = np.asarray(draw_found(photo, boxes, ["it 0.90"], mask, others, ["the other"]))
    assert picture.shape == (320, 640, 3)
    assert picture[80, 300].tolist() == list(PALETTE[0])  # the box's upper edge
    assert picture[200, 440].tolist() == [255, 255, 255]  # the other's left edge
    inside = np.array(PALETTE[0]) * 0.62 * 0.9
    np.testing.assert_allclose(picture[160, 280], inside, atol=3)
    letters = picture[90:118, 440:600]  # above the other box
    assert (letters == 255).all(axis=2).any(axis=1).sum() >= 10  # at least ten rows high
    assert not picture[:60, :200].any()


def test_a_photo_in_which_nothing_was_found_is_left_alone() -> None:
    photo = np.full((480, 640, 3), 90, np.uint8)
    none = np.zeros((0, 4), np.float32)
    picture = np.asarray(draw_found(photo, none, [], np.zeros((0, 480, 640), np.float32), none, []))
    np.testing.assert_array_equal(picture, photo)


def test_tiles_have_the_frame_beside_what_was_seen_in_it() -> None:
    frame = np.zeros((72, 128, 3), np.uint8)
    right = np.asarray(answer_tile(frame, answer([[0.9, 0.1]]), "globe", "right"))
    wrong = np.asarray(answer_tile(frame, answer([[0.9, 0.1]]), "globe", "WRONG"))
    assert right.shape == (72 * ZOOM + 24, 2 * 128 * ZOOM + 2, 3)
    assert right[25 * ZOOM, 128 * ZOOM + 2 + 20 * ZOOM].tolist() == [255, 255, 255]  # S(I)
    assert right[25 * ZOOM, 20 * ZOOM, 0] > 100 > right[25 * ZOOM, 60 * ZOOM, 0]  # the mask
    np.testing.assert_array_equal(right[: 72 * ZOOM], wrong[: 72 * ZOOM])
    assert (right != wrong).any()  # the verdict


def test_true_masks_keep_their_pixels() -> None:
    rgb, ids = np.zeros((72, 128, 3), np.uint8), np.zeros((72, 128), np.uint8)
    ids[30:32, 50:53] = 4
    boxes = np.array([[50, 30, 53, 32]], np.float32)
    pixels = np.asarray(truth_tile(rgb, ids, np.zeros((0, 4), np.float32), np.zeros(0, np.uint8), []))
    assert not pixels[: 72 * ZOOM].any()
    assert pixels[72 * ZOOM :].any(axis=2).sum() == 6 * ZOOM**2
    tile = np.asarray(truth_tile(rgb, ids, boxes, np.array([4], np.uint8), ["12 ball"]))
    assert tile[(72 + 30) * ZOOM, 50 * ZOOM].tolist() == list(instance_colour(4))
    nothing = truth_tile(rgb, np.zeros_like(ids), np.zeros((0, 4), np.float32), np.zeros(0, np.uint8), [])
    assert not np.asarray(nothing).any()
