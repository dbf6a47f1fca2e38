"""What counts as seen, around the drone and ahead of it, in cells counted by hand; and how it turns with the drone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.mapping import CELL_M, add_coverage, boundary_masks
from wayword.mapping.observability import SIDES, ground_borders

CAMERA = Camera()
MIDDLE = 16.5 * CELL_M
"""The centre of cell [16, 16]."""
NOSE_UP = -1.2
"""Pitch at which the camera sees sky alone, so that only the disc and the wedge count."""


def cover(x: float, y: float, yaw: float, pitch: float = 0.0, height: float = 0.7) -> np.ndarray:
    coverage = np.zeros((32, 32), np.float32)
    add_coverage(coverage, [x, y, height, 0.0, pitch, yaw], CAMERA)
    return coverage


@pytest.mark.parametrize(
    ("yaw", "ahead", "left"),
    [
        (0.0, (0, 1), (1, 0)),
        (math.pi / 2, (1, 0), (0, -1)),
        (math.pi, (0, -1), (-1, 0)),
        (-math.pi / 2, (-1, 0), (0, 1)),
    ],
)
def test_disc_and_wedge_by_hand(yaw: float, ahead: tuple[int, int], left: tuple[int, int]):
    """Cells are [line, column]: lines grow with y, columns with x; yaw is counter-clockwise from +x."""
    seen = cover(MIDDLE, MIDDLE, yaw, NOSE_UP)

    def at(forward: int, sideways: int) -> float:
        return float(seen[16 + forward * ahead[0] + sideways * left[0], 16 + forward * ahead[1] + sideways * left[1]])

    assert at(0, 0) == 1
    # The disc has a radius of two cells and an edge of one: 1 up to 1.5 cells, half at 2, nothing from 2.5.
    assert (at(-1, 0), at(-2, 0), at(-3, 0)) == pytest.approx((1, 0.5, 0), abs=1e-5)
    # The wedge begins two cells behind and is eight long: to six cells ahead, half there.
    assert (at(5, 0), at(6, 0), at(7, 0)) == pytest.approx((1, 0.5, 0), abs=1e-5)
    for side in (1, -1):
        assert (at(0, 2 * side), at(0, 3 * side)) == pytest.approx((0.5, 0), abs=1e-5)
        # Four ahead and four to the side: u = 6, v = 4; 8 - 7.211 = 0.789 to the end, 6 sin 43 - 4 cos 43 = 1.167 to
        # the side. Five to the side: 8 - 7.810 = 0.190 and 0.435: 0.690. Six: 8 - 8.485 = -0.485: 0.015.
        assert at(4, 4 * side) == 1
        assert at(4, 5 * side) == pytest.approx(0.690, abs=1e-3)
        assert at(4, 6 * side) == pytest.approx(0.015, abs=1e-3)
        # Nothing behind, however wide the wedge is ahead.
        assert at(-3, 2 * side) == 0
        assert at(-4, 4 * side) == 0


def test_the_camera_adds_what_lies_beyond_the_wedge():
    seen = cover(1.0, MIDDLE, 0.0)
    # The lower border looks 15 + 26.9 degrees down: 0.7 / tan 41.9 = 0.78 m ahead; the left one 42 degrees aside.
    column = int((1.0 + 1.5) / CELL_M)
    assert seen[16, column] == 1
    assert seen[16, 31] == 1  # to the end of the arena
    assert seen[16 + int(1.2 / CELL_M), column] == 1
    assert seen[16 + int(1.8 / CELL_M), column] == 0
    assert seen[:, 0].max() == 0
    sky = cover(1.0, MIDDLE, 0.0, NOSE_UP)
    assert (sky <= seen).all()
    assert sky.sum() < 0.4 * seen.sum()


def test_borders_are_distances_in_metres():
    pose = np.array([1.0, 2.0, 0.7, 0.0, 0.0, math.pi / 2])
    left, right, top, bottom = ground_borders(pose, CAMERA)
    # Straight ahead is +y. The bottom border crosses the axis 0.78 m ahead.
    near = 0.7 / math.tan(math.radians(15) + math.atan(math.tan(math.radians(42)) * 72 / 128))
    for distance in (0.3, 1.5):
        assert bottom @ (1.0, 2.0 + distance, 1.0) == pytest.approx(distance - near, abs=1e-9)
    # Left of the drone is -x; on the axis both sides are equally far, and off it one is nearer.
    assert left @ (1.0, 3.5, 1.0) == pytest.approx(right @ (1.0, 3.5, 1.0))
    assert left @ (0.5, 3.5, 1.0) < left @ (1.0, 3.5, 1.0) < left @ (1.5, 3.5, 1.0)
    # The top border looks 11.9 degrees up: all ground ahead is below it.
    assert top @ (1.0, 90.0, 1.0) > 0
    for line in (left, right, top, bottom):
        assert math.hypot(line[0], line[1]) == pytest.approx(1.0)


POSES = st.tuples(st.floats(0.2, 4.5), st.floats(0.2, 4.5), st.floats(-3, 3), st.floats(-0.3, 0.3))


@settings(deadline=None, max_examples=40)
@given(POSES)
def test_coverage_turns_with_the_drone(pose: tuple[float, float, float, float]):
    """The whole scene turned by 90 degrees counter-clockwise about the middle of the arena: (x, y) to (4.7 - y, x)."""
    x, y, yaw, pitch = pose
    turned = cover(4.7 - y, x, yaw + math.pi / 2, pitch)
    np.testing.assert_allclose(turned, cover(x, y, yaw, pitch).T[:, ::-1], atol=1e-4)


@settings(deadline=None, max_examples=40)
@given(POSES)
def test_coverage_is_mirrored_with_the_drone(pose: tuple[float, float, float, float]):
    x, y, yaw, pitch = pose
    np.testing.assert_allclose(cover(x, 4.7 - y, -yaw, pitch), cover(x, y, yaw, pitch)[::-1], atol=1e-4)


@settings(deadline=None, max_examples=20)
@given(POSES, POSES)
def test_what_was_seen_stays_seen(first, second):
    coverage = np.zeros((32, 32), np.float32)
    add_coverage(coverage, [*first[:2], 0.7, 0.0, first[3], first[2]], CAMERA)
    before = coverage.copy()
    add_coverage(coverage, [*second[:2], 0.7, 0.0, second[3], second[2]], CAMERA)
    np.testing.assert_array_equal(coverage, np.maximum(before, cover(*second)))
    assert coverage.min() >= 0
    assert coverage.max() <= 1


def test_higher_up_more_is_in_view_below():
    low, high = cover(1.0, MIDDLE, 0.0, height=0.4), cover(1.0, MIDDLE, 0.0, height=1.4)
    # The ground just ahead is lost from a height, where the lower border begins at 1.56 m; the wedge ends at 0.88 m.
    column = int((1.0 + 1.3) / CELL_M)
    assert low[16, column] == 1
    assert high[16, column] < 1


def test_the_boundary_is_four_lines():
    lines = boundary_masks()
    assert SIDES == ("left", "right", "bottom", "top")
    assert lines.sum(axis=(1, 2)).tolist() == [32, 32, 32, 32]
    left, right, bottom, top = lines
    assert left[:, 0].all()  # x = 0: the first column
    assert right[:, 31].all()
    assert bottom[0].all()  # y = 0: the first line
    assert top[31].all()


@pytest.mark.parametrize(
    "coverage", [np.zeros((32, 31), np.float32), np.zeros((32, 32)), np.zeros((1, 32, 32), np.float32)]
)
def test_coverage_has_one_shape_and_type(coverage: np.ndarray):
    with pytest.raises(WaywordError, match=r"coverage must be \(32, 32\) float32"):
        add_coverage(coverage, [1.0, 1.0, 0.7, 0.0, 0.0, 0.0], CAMERA)


@pytest.mark.parametrize("pose", [[1.0] * 5, [1.0, 1.0, math.nan, 0.0, 0.0, 0.0], [[1.0] * 6]])
def test_a_pose_is_six_numbers(pose: list):
    with pytest.raises(WaywordError, match="pose"):
        add_coverage(np.zeros((32, 32), np.float32), pose, CAMERA)
