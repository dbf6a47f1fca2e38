from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from wayword.camera import Camera, project
from wayword.errors import WaywordError
from wayword.mapping import footprints
from wayword.mapping.footprint import FAR_M, MIDDLE, RADIUS

CAMERA = Camera()
LEVEL = np.array([1.0, 2.0, 0.7, 0.0, -math.radians(15), 0.0])
"""At (1, 2), 0.7 m up, facing +x, nose up by the mount's pitch: the camera looks exactly ahead."""
FOCAL = 64 / math.tan(math.radians(42))


def rectangle(left: int, top: int, right: int, bottom: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    mask = np.zeros((1, 72, 128), np.float32)
    mask[0, top:bottom, left:right] = 1
    return mask, np.array([[left, top, right, bottom]], float)


def place(*rectangles: tuple[int, int, int, int], pose: NDArray[np.float64] = LEVEL) -> NDArray[np.float32]:
    parts = [rectangle(*sides) for sides in rectangles]
    return footprints(np.concatenate([m for m, _ in parts]), np.concatenate([b for _, b in parts]), pose, CAMERA)


def test_a_rectangle_in_the_middle_worked_by_hand():
    # The lower edge lies at row 61, 25 below the centre: depth 0.7 f / 25 = 1.9903 m. 20 columns are
    # 20 / f x 1.9903 = 0.56 m wide (f cancels: 20 x 0.7 / 25). The middle is 0.46 x 0.56 m behind the front.
    x, y, radius, quality = place((54, 20, 74, 61))[0]
    assert x == pytest.approx(1 + 0.7 * FOCAL / 25 + MIDDLE * 0.56, abs=1e-3)
    assert y == pytest.approx(2.0, abs=1e-6)
    assert radius == pytest.approx(RADIUS * 0.56, abs=1e-4)
    assert quality == 1.0


def test_height_does_not_move_it():
    # The naive projection would: an object twice as tall is no farther away.
    np.testing.assert_allclose(place((54, 40, 74, 61)), place((54, 2, 74, 61)))


def test_a_stem_decides_where_a_tree_stands():
    # A crown 40 columns wide on a stem of 4 at the left: the front is the stem's, and so is the middle.
    crown, boxes = rectangle(44, 10, 84, 40)
    crown[0, 40:61, 50:54] = 1
    boxes[0, 3] = 61
    stem = place((50, 40, 54, 61))[0]
    x, y, radius, quality = footprints(crown, boxes, LEVEL, CAMERA)[0]
    assert (x, y) == pytest.approx((stem[0], stem[1]), abs=0.01)
    assert radius > 3 * stem[2]
    assert quality == 1.0


def test_edges_are_read_to_a_part_of_a_pixel():
    # 0.75 in row 60 and 0.25 in row 61: half is crossed between their centres 60.5 and 61.5, at 61.0 as if cut there.
    mask, box = rectangle(54, 20, 74, 61)
    mask[0, 60], mask[0, 61] = mask[0, 60] * 0.75, mask[0, 60] * 0.25
    np.testing.assert_allclose(footprints(mask, box, LEVEL, CAMERA), place((54, 20, 74, 61)), atol=1e-5)


@given(st.floats(0.9, 3.0), st.floats(-0.5, 0.5), st.floats(-0.15, 0.15), st.floats(-0.1, 0.15), st.floats(-3.1, 3.1))
def test_any_pose_places_a_marker_on_the_ground(ahead: float, bearing: float, roll: float, pitch: float, yaw: float):
    # A mark of one pixel column whose foot is the projection of a ground point comes back to that point, to the
    # size of a pixel: f / (z^2 + r^2) of ground per row.
    pose = np.array([2.0, 2.3, 0.7, roll, pitch, yaw])
    point = pose[:2] + ahead * np.array([math.cos(yaw + bearing), math.sin(yaw + bearing)])
    column, row, _ = project([[*point, 0.0]], pose, CAMERA)[0]
    if not (4 < column < 124 and 6 < row < 70):
        return
    foot = round(row)
    x, y, _, quality = place((int(column), foot - 5, int(column) + 1, foot), pose=pose)[0]
    assert math.hypot(x - point[0], y - point[1]) < 0.03 + (0.49 + ahead**2) / (0.7 * FOCAL)
    assert quality > 0.5


def test_a_nearer_object_hides_the_base():
    # The right half of the farther object ends where the nearer one begins: its own edge, at row 54, decides.
    alone = place((44, 10, 64, 54))[0]
    far, near = rectangle(44, 10, 64, 54), rectangle(54, 40, 74, 66)
    far[0][0, 40:54, 54:64] = 0
    found = footprints(np.concatenate([far[0], near[0]]), np.concatenate([far[1], near[1]]), LEVEL, CAMERA)
    assert found[0, :2] == pytest.approx(alone[:2], abs=0.25)
    assert found[0, 3] == pytest.approx(1 - 0.8 * 0.5)
    assert found[1, 3] == 1.0
    # Taken by itself, the same mask would not be known to be hidden.
    assert footprints(*far, LEVEL, CAMERA)[0, 3] == 1.0


def test_cut_by_the_border():
    below, beside, whole = place((54, 20, 74, 72))[0], place((0, 20, 6, 61))[0], place((20, 20, 40, 61))[0]
    assert whole[3] == 1.0
    assert below[3] == pytest.approx(0.6)
    assert beside[3] == pytest.approx(0.8)
    edge = 0.7 * FOCAL / 36  # the lowest ground in view is this far ahead; the base is nearer than usual behind it
    assert below[0] < 1 + edge + MIDDLE * 20 * 0.7 / 36
    assert beside[1] > 2 + 0.7 / 25 * 61  # its middle lies left of the middle of what is seen, column 3


def test_half_of_the_base_below_the_image_by_hand():
    # Columns 54 to 63 reach the lower border, 64 to 73 end at row 61, 0.61 m farther on: the base is the first ten,
    # 10 x 0.7 / 36 = 0.194 m wide, and half of the columns are cut: the middle is nearer by 0.30 x 0.5^2 = 0.075 m.
    mask, box = rectangle(54, 20, 74, 72)
    mask[0, 61:, 64:] = 0
    x, y, _, quality = footprints(mask, box, LEVEL, CAMERA)[0]
    assert math.hypot(x - 1, y - 2) == pytest.approx(0.7 * FOCAL / 36 + MIDDLE * 0.1944 - 0.075, abs=1e-3)
    assert quality == pytest.approx(1 - 0.4 * 0.5)


def test_what_is_seen_below_an_overhang_hides_nothing():
    # A crown over columns 44 to 83 on a stem that ends at row 61; under it a thing that ends at row 52, farther away.
    crown, boxes = rectangle(44, 10, 84, 40)
    crown[0, 40:61, 50:54] = 1
    boxes[0, 3] = 61
    under, under_box = rectangle(60, 40, 80, 52)
    alone = footprints(crown, boxes, LEVEL, CAMERA)[0]
    both = footprints(np.concatenate([crown, under]), np.concatenate([boxes, under_box]), LEVEL, CAMERA)
    np.testing.assert_array_equal(both[0], alone)
    assert both[0, 3] == 1.0


def test_at_and_above_the_horizon_nothing_is_trusted():
    high = place((54, 5, 74, 30))[0]
    assert np.isfinite(high).all()
    assert high[3] == 0.0
    assert math.hypot(high[0] - 1, high[1] - 2) < FAR_M + 2.0


def test_an_empty_mask_falls_back_to_the_box():
    mask, box = rectangle(54, 20, 74, 61)
    for nothing in (np.zeros_like(mask), np.full_like(mask, np.nan)):
        found = footprints(nothing, box, LEVEL, CAMERA)[0]
        np.testing.assert_allclose(found[:3], footprints(mask, box, LEVEL, CAMERA)[0, :3], atol=1e-5)
        assert found[3] == pytest.approx(0.5)


@given(st.lists(st.lists(st.floats(-300, 300), min_size=4, max_size=4), max_size=3), st.integers(0, 99))
def test_any_boxes_give_finite_numbers(boxes: list[list[float]], seed: int):
    rng = np.random.default_rng(seed)
    masks = rng.random((len(boxes), 72, 128), dtype=np.float32)
    pose = rng.uniform([0, 0, -0.1, -1, -1, -4], [4.7, 4.7, 2, 1, 1, 4])
    found = footprints(masks, np.array(boxes).reshape(-1, 4), pose, CAMERA)
    assert found.shape == (len(boxes), 4)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert ((found[:, 3] >= 0) & (found[:, 3] <= 1)).all()
    np.testing.assert_array_equal(found, footprints(masks, np.array(boxes).reshape(-1, 4), pose, CAMERA))


def test_wrong_input_is_one_clear_line():
    mask, box = rectangle(54, 20, 74, 61)
    with pytest.raises(WaywordError, match="need masks of shape"):
        footprints(mask[:, :36], box, LEVEL, CAMERA)
    with pytest.raises(WaywordError, match="six finite numbers"):
        footprints(mask, box, LEVEL[:3], CAMERA)
    with pytest.raises(WaywordError, match="not finite"):
        footprints(mask, box * np.nan, LEVEL, CAMERA)
