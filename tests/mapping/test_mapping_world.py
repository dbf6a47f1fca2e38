from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.camera import Camera, project
from wayword.errors import WaywordError
from wayword.mapping import CELL_M, MapConfig, WorldMap, add_coverage, boundary_masks, project_masks, splat_max
from wayword.mapping.grid import world_centres
from wayword.mapping.observability import ground_borders

CAMERA = Camera()
POSE = np.array([1.0, 2.35, 0.7, 0.0, 0.0, 0.0])


def prints(*rows: tuple[float, float, float, float]) -> np.ndarray:
    """Footprints from x, y and radius in cells, and quality."""
    return np.array(rows, np.float32) * np.array([CELL_M, CELL_M, CELL_M, 1], np.float32)


def test_a_disc_worked_by_hand():
    # Radius 1 cell at the centre of cell [10, 20]: 1 there; 1.5 - 1 = 0.5 one cell away; 1.5 - 1.414 = 0.086 two away.
    world = np.zeros((1, 32, 32), np.float32)
    splat_max(world, prints((20.5, 10.5, 1.0, 1.0)), np.array([[0.8]]))
    patch = [[0.0858, 0.5, 0.0858], [0.5, 1, 0.5], [0.0858, 0.5, 0.0858]]
    np.testing.assert_allclose(world[0, 9:12, 19:22], 0.8 * np.array(patch), atol=1e-3)
    assert world.sum() == pytest.approx(0.8 * np.sum(patch), abs=1e-3)


def test_sums_within_a_frame_and_keeps_the_largest_over_frames():
    two = prints((20.5, 10.5, 1.0, 1.0), (20.5, 10.5, 1.0, 1.0))
    world = np.zeros((3, 32, 32), np.float32)
    weights = np.array([[0.3, 0.2], [0.9, 0.8], [0.0, 0.0]])
    splat_max(world, two, weights)
    np.testing.assert_allclose(world[:, 10, 20], [0.5, 1.0, 0.0], atol=1e-6)  # 0.3 + 0.2; 1.7 cut at 1
    splat_max(world, two, np.array([[0.4, 0.0], [0.1, 0.1], [0.0, 0.25]]))
    np.testing.assert_allclose(world[:, 10, 20], [0.5, 1.0, 0.25], atol=1e-6)
    largest = np.zeros((1, 32, 32), np.float32)
    splat_max(largest, two, weights[:1], True, False)
    assert largest[0, 10, 20] == pytest.approx(0.3)


def test_quality_weighs_if_asked_to():
    world = np.zeros((1, 32, 32), np.float32)
    splat_max(world, prints((20.5, 10.5, 1.0, 0.5)), np.array([[0.8]]))
    assert world[0, 10, 20] == pytest.approx(0.4)
    splat_max(world, prints((20.5, 10.5, 1.0, 0.5)), np.array([[0.8]]), False)
    assert world[0, 10, 20] == pytest.approx(0.8)


@given(st.floats(0, 4.7), st.floats(0, 4.7))
def test_even_a_point_marks_a_cell_and_its_place_can_be_read_off(x: float, y: float):
    world = np.zeros((1, 32, 32), np.float32)
    splat_max(world, np.array([[x, y, 0, 1]], np.float32), np.ones((1, 1)))
    assert world.max() > 0.29  # at a corner of four cells: 1 - 0.707
    row, column = np.unravel_index(world[0].argmax(), (32, 32))
    assert np.hypot(*(world_centres()[row, column] - (x, y))) < 0.72 * CELL_M


def test_outside_and_unusable_footprints_mark_nothing():
    world = np.zeros((1, 32, 32), np.float32)
    bad = np.array([[-3, 1, 0.1, 1], [np.nan, 1, 0.1, 1], [1, 1, np.inf, 1], [1, 1, 0.1, np.nan]], np.float32)
    splat_max(world, bad, np.ones((1, 4)))
    assert not world.any()
    with pytest.raises(ValueError, match="weights"):
        splat_max(world, bad, np.ones((1, 3)))


def test_a_world_map_over_two_frames():
    found = WorldMap(2, CAMERA)
    found.update(prints((20.5, 10.5, 1, 1)), [0.9], [[0.7], [0.1]], POSE)
    found.update(prints((20.5, 10.5, 1, 1), (5.5, 30.5, 1, 1)), [0.5, 0.6], [[0.2, 0.0], [0.3, 0.4]], POSE)
    np.testing.assert_allclose(found.references[:, 10, 20], [0.7, 0.3], atol=1e-6)
    np.testing.assert_allclose(found.references[:, 30, 5], [0.0, 0.4], atol=1e-6)
    np.testing.assert_allclose(found.all_objects[[10, 30], [20, 5]], [0.9, 0.6], atol=1e-6)
    seen = np.zeros((32, 32), np.float32)
    add_coverage(seen, POSE, CAMERA)
    np.testing.assert_array_equal(found.coverage, seen)


def test_two_boxes_on_one_thing_make_it_no_surer_that_something_stands_there():
    # A reference's mask is their sum, 0.4 + 0.3; the mask of all objects the surer of the two.
    found = WorldMap(1, CAMERA)
    found.update(prints((20.5, 10.5, 1, 1), (20.5, 10.5, 1, 1)), [0.6, 0.5], [[0.4, 0.3]], POSE)
    assert found.references[0, 10, 20] == pytest.approx(0.7, abs=1e-6)
    assert found.all_objects[10, 20] == pytest.approx(0.6, abs=1e-6)


def test_no_boxes_and_no_references_only_add_coverage():
    found = WorldMap(0, CAMERA)
    found.update(np.zeros((0, 4), np.float32), [], np.zeros((0, 0)), POSE)
    assert found.references.shape == (0, 32, 32)
    assert found.coverage.any()
    assert not found.all_objects.any()


def test_the_papers_projection_can_be_chosen():
    masks = np.zeros((2, 72, 128), np.float32)
    masks[0, 40:60, 50:70] = masks[1, 45:60, 60:80] = 1
    found = WorldMap(1, CAMERA, MapConfig(projection="pinhole"))
    found.update(masks, [0.9, 0.8], [[0.7, 0.6]], POSE)
    ground = project_masks(masks, POSE, CAMERA)
    np.testing.assert_allclose(found.references[0], np.minimum(0.7 * ground[0] + 0.6 * ground[1], 1), atol=1e-6)
    np.testing.assert_allclose(found.all_objects, np.maximum(0.9 * ground[0], 0.8 * ground[1]), atol=1e-6)


def test_wrong_shapes_are_one_clear_line():
    with pytest.raises(WaywordError, match="projection"):
        MapConfig(projection="magic")  # type: ignore[arg-type]
    found = WorldMap(2, CAMERA)
    with pytest.raises(WaywordError, match="alignment"):
        found.update(prints((1, 1, 1, 1)), [0.9], [[0.7]], POSE)
    with pytest.raises(WaywordError, match="footprints"):
        found.update(np.zeros((1, 72, 128), np.float32), [0.9], [[0.7], [0.1]], POSE)
    with pytest.raises(WaywordError, match="coverage"):
        add_coverage(np.zeros((16, 16), np.float32), POSE, CAMERA)
    with pytest.raises(WaywordError, match="pose"):
        add_coverage(np.zeros((32, 32), np.float32), POSE[:3], CAMERA)
    assert not found.coverage.any()


def test_where_the_view_begins():
    # The lowest ray points 15 + atan(36 / 71.08) = 41.86 degrees down: it meets the ground 0.7 / tan = 0.781 m ahead.
    left, right, top, bottom = ground_borders(POSE, CAMERA)
    begin = 0.7 / math.tan(math.radians(15) + math.atan(36 / CAMERA.focal_px))
    assert begin == pytest.approx(0.781, abs=1e-3)
    assert bottom @ [1 + begin + 0.2, 2.35, 1] == pytest.approx(0.2)
    assert left @ [2.5, 2.35, 1] == pytest.approx(right @ [2.5, 2.35, 1])
    assert top @ [4.7, 2.35, 1] > 0  # the upper border is above the horizon


@given(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2), st.floats(-3.2, 3.2), st.floats(0.3, 1.5))
def test_borders_agree_with_the_camera(roll: float, pitch: float, yaw: float, z: float):
    pose = np.array([2.0, 2.0, z, roll, pitch, yaw])
    points = np.random.default_rng(0).uniform(-1, 5, (200, 2))
    column, row, depth = project(np.column_stack([points, np.zeros(200)]), pose, CAMERA).T
    in_view = (depth > 0) & (column > 0) & (column < 128) & (row > 0) & (row < 72)
    inside = (ground_borders(pose, CAMERA) @ np.column_stack([points, np.ones(200)]).T).min(axis=0)
    clear = abs(inside) > 1e-6
    np.testing.assert_array_equal((inside > 0)[clear], in_view[clear])


def test_coverage_worked_by_hand():
    # Facing +x from (1, 2.35) = cells (6.81, 16). Far ahead is in view, behind by 4 cells is not. 0.15 m beside the
    # drone is within the disc of 2 cells; 5 cells ahead is within the wedge, before the view begins; the same distance
    # to the side is neither.
    seen = np.zeros((32, 32), np.float32)
    add_coverage(seen, POSE, CAMERA)
    assert seen[15, 31] == seen[15, 6] == seen[16, 11] == seen[16, 20] == 1
    assert seen[16, 2] == seen[21, 6] == seen[0, 6] == seen[31, 8] == 0
    np.testing.assert_allclose(seen, seen[::-1], atol=1e-6)  # left and right alike
    assert ((seen > 0) & (seen < 1)).any()  # soft at the edge


def test_coverage_only_grows():
    seen, turned = np.zeros((32, 32), np.float32), POSE + np.array([0, 0, 0, 0, 0, math.pi])
    add_coverage(seen, POSE, CAMERA)
    before = seen.copy()
    add_coverage(seen, turned, CAMERA)
    assert (seen >= before).all()
    assert seen[16, 1] == 1
    again = seen.copy()
    add_coverage(seen, POSE, CAMERA)
    np.testing.assert_array_equal(seen, again)


def test_boundaries_are_lines_one_cell_wide():
    left, right, bottom, top = boundary_masks()
    assert [line.sum() for line in (left, right, bottom, top)] == [32] * 4
    assert left[:, 0].all()
    assert right[:, 31].all()
    assert bottom[0].all()
    assert top[31].all()
