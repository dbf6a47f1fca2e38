"""Where a point of the world is in the picture: axes, projection and focal length, worked by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.camera import Camera, camera_axes, camera_of, open_camera, project, read_camera_record
from wayword.errors import WaywordError

LEVEL = Camera(mount_pitch_deg=0.0)
angle = st.floats(-math.pi, math.pi)


def test_the_focal_length_of_the_papers_camera() -> None:
    # 64 px to the side at 42 degrees: 64 / tan 42.
    assert Camera().focal_px == pytest.approx(71.08, abs=0.005)
    assert Camera(hfov_deg=90.0).focal_px == pytest.approx(64.0)
    np.testing.assert_allclose(Camera(hfov_deg=90.0).intrinsics, [[64, 0, 64], [0, 64, 36], [0, 0, 1]])


def test_axes_of_a_level_camera_that_looks_east_and_north() -> None:
    # Looking east (world x): right is south, down is down.
    np.testing.assert_allclose(camera_axes(np.zeros(6), 0.0), [[0, -1, 0], [0, 0, -1], [1, 0, 0]], atol=1e-12)
    north = [0, 0, 0, 0, 0, math.pi / 2]
    np.testing.assert_allclose(camera_axes(north, 0.0), [[1, 0, 0], [0, 0, -1], [0, 1, 0]], atol=1e-12)


def test_the_mount_and_the_pitch_add_up() -> None:
    # 15 degrees down on the body, and the nose 10 degrees down: 25 degrees in all.
    tilted = camera_axes([0, 0, 0, 0, math.radians(10), 0.4], 15.0)
    np.testing.assert_allclose(tilted, camera_axes([0, 0, 0, 0, 0, 0.4], 25.0), atol=1e-12)
    forward = camera_axes(np.zeros(6), 30.0)[2]
    np.testing.assert_allclose(forward, [math.cos(math.pi / 6), 0, -0.5], atol=1e-12)


def test_a_roll_to_the_right_turns_the_picture_to_the_left() -> None:
    # Positive roll lowers the right side (y is left): a point far to the right then appears higher.
    point = [[5.0, -2.0, 0.0]]
    level, rolled = (project(point, [0, 0, 0, roll, 0, 0], LEVEL)[0] for roll in (0.0, 0.2))
    assert rolled[1] < level[1]


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ((2.0, 0.0, 1.0), (64.0, 36.0, 2.0)),  # straight ahead: the middle
        ((2.0, 1.0, 1.0), (32.0, 36.0, 2.0)),  # 1 m to the left in 2 m: half of 64 px
        ((2.0, 0.0, 0.5), (64.0, 52.0, 2.0)),  # half a metre below: 16 px down
        ((-2.0, 0.0, 1.0), (64.0, 36.0, -2.0)),  # behind: its depth says so
    ],
)
def test_projection_by_hand(point: tuple[float, float, float], expected: tuple[float, float, float]) -> None:
    camera = Camera(hfov_deg=90.0, mount_pitch_deg=0.0)
    np.testing.assert_allclose(project([point], [0, 0, 1, 0, 0, 0], camera)[0], expected, atol=1e-9)


def test_the_edge_of_the_picture_is_half_the_field_of_view_away() -> None:
    for hfov in (40.0, 84.0, 120.0):
        camera = Camera(hfov_deg=hfov, mount_pitch_deg=0.0)
        half = math.radians(hfov) / 2
        left = project([[math.cos(half), math.sin(half), 0.0]], np.zeros(6), camera)[0]
        assert left[0] == pytest.approx(0.0, abs=1e-9)


@given(angle, angle, angle, st.floats(-90, 90))
def test_axes_are_right_handed_and_of_length_one(roll: float, pitch: float, yaw: float, mount: float) -> None:
    axes = camera_axes([1.0, 2.0, 3.0, roll, pitch, yaw], mount)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-9)
    assert np.linalg.det(axes) == pytest.approx(1.0)


@given(angle, st.floats(0.5, 5.0), st.floats(-0.6, 0.6), st.floats(-0.4, 0.4))
def test_a_point_on_a_ray_stays_in_its_pixel(yaw: float, far: float, right: float, down: float) -> None:
    camera = Camera()
    pose = np.array([1.0, 2.0, 0.7, 0.02, -0.03, yaw])
    axes = camera_axes(pose, camera.mount_pitch_deg)
    ray = right * axes[0] + down * axes[1] + axes[2]
    near, distant = project([pose[:3] + 0.3 * ray, pose[:3] + far * ray], pose, camera)
    np.testing.assert_allclose(near[:2], distant[:2], atol=1e-6)
    assert distant[2] == pytest.approx(far)
    assert near[0] == pytest.approx(64 + right * camera.focal_px)


def test_a_larger_picture_of_the_same_view_has_the_same_proportions() -> None:
    small, large = Camera(), Camera(width=1280, height=720)
    point, pose = [[2.0, 0.4, 0.2]], [0.0, 0.1, 0.7, 0.0, 0.05, 0.1]
    a, b = project(point, pose, small)[0], project(point, pose, large)[0]
    np.testing.assert_allclose(b[:2], 10 * a[:2])
    assert large.at_model_size() == small


@pytest.mark.parametrize(
    "settings",
    [
        {"width": 7},
        {"height": 5000},
        {"hfov_deg": 0.5},
        {"hfov_deg": 171.0},
        {"mount_pitch_deg": 91.0},
        {"near_m": 0.0},
        {"hfov_deg": math.nan},
        {"mount_pitch_deg": math.nan},
    ],
)
def test_cameras_that_cannot_be_built(settings: dict[str, float]) -> None:
    with pytest.raises(WaywordError) as error:
        Camera(**settings)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "a camera is a JSON object"),
        ({"zoom": 2}, "a camera has no 'zoom'"),
        ({"width": 12.5}, "width must be a whole number"),
        ({"hfov_deg": "84"}, "hfov_deg must be a number"),
        ({"hfov_deg": True}, "hfov_deg must be a number"),
    ],
)
def test_records_that_are_no_camera(record: object, message: str) -> None:
    with pytest.raises(WaywordError, match=message):
        camera_of(record)


def test_what_is_missing_is_as_in_the_paper() -> None:
    assert camera_of({}) == Camera()
    assert camera_of({"hfov_deg": 60}).width == Camera().width


def test_a_camera_is_opened_from_whatever_says_it(tmp_path: Path) -> None:
    camera = Camera(hfov_deg=70.0)
    camera.to_file(tmp_path / "camera.json")
    assert open_camera(None) == Camera()
    assert open_camera(camera) is camera
    assert open_camera(tmp_path / "camera.json") == open_camera(str(tmp_path / "camera.json")) == camera
    with pytest.raises(WaywordError, match="a Camera or its file is needed, not int"):
        open_camera(84)  # type: ignore[arg-type]
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(WaywordError, match="is not one JSON object"):
        read_camera_record(tmp_path / "list.json")
