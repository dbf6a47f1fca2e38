"""The camera: files, sizes, and images that fit it; its geometry is in ``mapping/test_mapping_cameras.py``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.camera import Camera, fit_image, open_camera
from wayword.errors import WaywordError
from wayword.flight.calibration import Calibration


@given(st.builds(Camera, st.integers(8, 4096), st.integers(8, 4096), st.floats(1, 170), st.floats(-90, 90)))
def test_a_camera_reads_back_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, camera: Camera) -> None:
    path = tmp_path_factory.getbasetemp() / "camera.json"
    camera.to_file(path)
    assert Camera.from_file(path) == open_camera(path) == open_camera(str(path)) == camera


def test_a_calibrated_camera_is_its_view(tmp_path: Path) -> None:
    lens = Calibration(640, 360, 330.0, 332.0, 322.0, 178.0, k1=-0.12, mount_pitch_deg=38.0)
    path = tmp_path / "camera.json"
    lens.save(path)
    assert Camera.from_file(path) == Camera()
    own = replace(lens, view=Camera(hfov_deg=60.0, mount_pitch_deg=38.0))
    own.save(path)
    assert Camera.from_file(path) == own.view
    assert Calibration.load(path) == own
    # A file that says nothing of a view means the paper's.
    record = json.loads(path.read_text())
    del record["view"]
    path.write_text(json.dumps(record))
    assert Camera.from_file(path) == Camera()


def test_a_plain_camera_is_a_lens_without_distortion(tmp_path: Path) -> None:
    path = tmp_path / "camera.json"
    path.write_text('{"width": 640, "height": 360, "hfov_deg": 90, "mount_pitch_deg": 40}')
    lens = Calibration.load(path)
    assert (lens.fx, lens.cx, lens.k1, lens.mount_pitch_deg) == (pytest.approx(320.0), 320.0, 0.0, 40)
    assert lens.view == Camera(hfov_deg=90, mount_pitch_deg=40)
    assert open_camera(None) == Camera()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("[1, 2]", "is not one JSON object"),
        ("{}", "at least hfov_deg and mount_pitch_deg"),
        ('{"hfov": 60}', "no 'hfov'; it has width, height, hfov_deg"),
        ('{"hfov_deg": "60", "mount_pitch_deg": 15}', "hfov_deg must be a number, not '60'"),
        ('{"hfov_deg": NaN, "mount_pitch_deg": 15}', "NaN found"),
        ('{"hfov_deg": 60, "mount_pitch_deg": 120}', "within 90 degrees"),
        ('{"hfov_deg": 60, "mount_pitch_deg": 15, "width": 128.5}', "width must be a whole number"),
        ('{"fx": 300, "view": 3}', "a camera is a JSON object"),
        ('{"fx": 300, "view": {"tilt": 3}}', "no 'tilt'"),
    ],
)
def test_bad_files_are_one_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "camera.json"
    path.write_text(text)
    for read in (Camera.from_file, Calibration.load):
        with pytest.raises(WaywordError) as caught:
            read(path)
        assert message in str(caught.value)
        assert str(caught.value).startswith(f"{path}: ")
        assert "\n" not in str(caught.value)


def test_the_networks_have_a_size_of_their_own() -> None:
    # The same field of view: 128 of 640 pixels is a fifth of the focal length.
    large = Camera(640, 360, hfov_deg=60.0, mount_pitch_deg=40.0)
    small = large.at_model_size()
    assert (small.width, small.height, small.hfov_deg, small.mount_pitch_deg) == (128, 72, 60.0, 40.0)
    assert small.focal_px == pytest.approx(large.focal_px / 5)
    assert Camera().at_model_size() is not None
    assert Camera(854, 480).at_model_size() == Camera()
    with pytest.raises(WaywordError, match=r"640 x 480 but the networks take 16:9; crop its pictures to 640 x 360"):
        Camera(640, 480).at_model_size()


def test_a_larger_image_is_averaged_by_areas() -> None:
    # 4 x 2 pixels become 2 x 1: each is the mean of four.
    blocks = np.array([[0, 10, 100, 100], [20, 30, 200, 200]], np.uint8)
    image = np.repeat(blocks[..., None], 3, axis=2)
    np.testing.assert_array_equal(fit_image(image, 2, 1)[..., 0], [[15, 150]])
    same = np.zeros((72, 128, 3), np.uint8)
    assert fit_image(same, 128, 72).shape == (72, 128, 3)
    assert fit_image(np.zeros((480, 854, 3), np.uint8), 128, 72).shape == (72, 128, 3)
    assert fit_image(np.zeros((36, 64, 3), np.uint8), 128, 72).shape == (72, 128, 3)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((480, 640, 3), np.uint8), r"640 x 480 but the camera is 128:72; crop it to 640 x 360"),
        (np.zeros((72, 128), np.uint8), r"\(72, 128\) uint8"),
        (np.zeros((72, 128, 4), np.uint8), "uint8"),
        (np.zeros((0, 128, 3), np.uint8), "uint8"),
        (np.zeros((72, 128, 3)), "float64"),
        (None, "uint8"),
    ],
)
def test_bad_images(image: Any, message: str) -> None:
    with pytest.raises(WaywordError, match=message):
        fit_image(image, 128, 72)
