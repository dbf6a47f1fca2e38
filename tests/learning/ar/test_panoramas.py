"""Real panoramas as backgrounds: read, looked into, exposed, bent, and made into frames."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.errors import DataError, WaywordError
from wayword.learning.ar.config import ARConfig, ARLayoutConfig, PhotoConfig, PoolConfig, ViewConfig
from wayword.learning.ar.generate import Generator
from wayword.learning.ar.objects import ObjectPool
from wayword.learning.ar.panoramas import PanoramaViews, bend, panorama_view
from wayword.learning.ar.radiance import read_radiance

HEAD = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n"


def write_radiance(path: Path, coded: np.ndarray) -> Path:
    """Mantissas and exponents (rows, columns, 4), each line as runs of bytes as they are."""
    rows, columns, _ = coded.shape
    content = HEAD + b"-Y %d +X %d\n" % (rows, columns)
    for line in coded:
        content += b"\x02\x02" + columns.to_bytes(2, "big")
        for part in line.T:
            for start in range(0, columns, 128):
                piece = part[start : start + 128].astype(np.uint8).tobytes()
                content += bytes([len(piece)]) + piece
    path.write_bytes(content)
    return path


def quarters(path: Path) -> Path:
    """A panorama of four vertical stripes, red in the middle half, and a dark lower half."""
    coded = np.zeros((64, 128, 4), np.uint8)
    coded[..., 3] = 128
    coded[:, :, 2] = 128  # blue behind
    coded[:, 32:96, 0], coded[:, 32:96, 2] = 128, 0  # red ahead
    coded[32:, :, :3] //= 4
    return write_radiance(path, coded)


def test_mantissas_and_exponents_are_light(tmp_path: Path) -> None:
    coded = np.zeros((1, 8, 4), np.uint8)
    coded[0, 0] = (128, 64, 0, 129)  # 128/256 x 2^1 = 1, 64/256 x 2 = 1/2
    coded[0, 1] = (128, 64, 32, 127)  # a quarter of what 129 gives: 1/4, 1/8, 1/16
    coded[0, 2] = (255, 255, 255, 0)  # exponent 0 is black
    light = read_radiance(write_radiance(tmp_path / "a.hdr", coded))
    assert light.shape == (1, 8, 3)
    assert light[0, :3].tolist() == [[1.0, 0.5, 0.0], [0.25, 0.125, 0.0625], [0.0, 0.0, 0.0]]


def test_repeated_bytes_are_unfolded(tmp_path: Path) -> None:
    # Eight pixels: red, green and blue are one run of 8 x 128 each, the exponents one run of 8 x 128 (2^0).
    run = bytes([128 + 8, 128])
    path = tmp_path / "runs.hdr"
    path.write_bytes(HEAD + b"-Y 1 +X 8\n" + b"\x02\x02\x00\x08" + 4 * run)
    assert (read_radiance(path) == 0.5).all()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 8\n", "not a Radiance picture"),
        (HEAD + b"-Y 1 +X 8\n" + b"\x01\x02\x00\x08", "not run-length coded"),
        (HEAD + b"-Y 1 +X 8\n" + b"\x02\x02\x00\x08\x88", "cut short"),
        (HEAD + b"-Y 1 +X 8\n" + b"\x02\x02\x00\x08" + bytes([128 + 9, 1]) * 4, "damaged"),
        (HEAD + b"-Y 99999 +X 30000\n", "pixels"),
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.hdr"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said) as caught:
        read_radiance(path)
    assert "\n" not in str(caught.value)


def test_a_camera_sees_the_panoramas_middle_ahead_and_its_rim_behind(tmp_path: Path) -> None:
    panorama = read_radiance(quarters(tmp_path / "q.hdr"))
    camera = Camera(32, 18, 60.0, 0.0)
    ahead = panorama_view(panorama, np.array([0, 0, 1.0, 0, 0, 0]), camera, 0.0, 0.5)
    behind = panorama_view(panorama, np.array([0, 0, 1.0, 0, 0, math.pi]), camera, 0.0, 0.5)
    assert ahead[4, 16, 0] > 100
    assert ahead[4, 16, 2] == 0
    assert behind[4, 16, 2] > 100
    assert behind[4, 16, 0] == 0
    turned = panorama_view(panorama, np.array([0, 0, 1.0, 0, 0, 0]), camera, math.pi, 0.5)
    assert np.abs(turned.astype(int) - behind).max() <= 1  # turning the panorama is turning the camera


def test_the_horizon_is_in_the_middle_and_looking_down_moves_it_up(tmp_path: Path) -> None:
    panorama = read_radiance(quarters(tmp_path / "q.hdr"))
    camera = Camera(32, 18, 60.0, 0.0)
    level = panorama_view(panorama, np.array([0, 0, 1.0, 0, 0, 0]), camera, 0.0, 0.5)[:, 16, 0].astype(int)
    down = panorama_view(panorama, np.array([0, 0, 1.0, 0, math.radians(10), 0]), camera, 0.0, 0.5)[:, 16, 0].astype(
        int
    )
    assert abs(int(np.diff(level).argmin()) - 8) <= 1  # bright rows 0 to 8, dark below
    # 10 degrees are tan(10) x focal = 0.176 x 27.7 = 4.9 pixels.
    assert abs(int(np.diff(level).argmin()) - int(np.diff(down).argmin()) - 4.9) <= 1


def test_the_exposure_puts_the_upper_quarter_where_it_is_told(tmp_path: Path) -> None:
    panorama = read_radiance(quarters(tmp_path / "q.hdr"))
    pose = np.array([0, 0, 1.0, 0, -0.6, 0])  # up, where all is of one light
    seen = panorama_view(panorama, pose, Camera(16, 9, 40.0, 0.0), 0.0, 0.3)
    # Red alone: mean light 1/3 of it. Exposed to 0.3, red becomes 0.9, and 0.9^(1/2.2) x 255 = 243.
    assert abs(int(seen[..., 0].max()) - 243) <= 1


def test_barrel_distortion_keeps_the_corners_and_enlarges_the_middle() -> None:
    ids = np.zeros((1, 72, 128), np.uint8)
    ids[0, 30:42, 56:72] = 1
    ids[0, 0, 0] = 2
    rgb = np.repeat(ids[..., None] * 100, 3, axis=3).astype(np.uint8)
    bent, owners = bend(rgb, ids, 0.15)
    assert owners[0, 0, 0] == 2
    assert (owners == 1).sum() > 1.2 * (ids == 1).sum()  # (1 + k)^2 = 1.32 times the area at the middle
    assert bent[0, 36, 64, 0] == 100


def test_frames_over_panoramas_have_boxes_that_fit_their_objects(tmp_path: Path) -> None:
    config = ARConfig(
        shard_frames=12,
        objects=PoolConfig(random_objects=12),
        layout=ARLayoutConfig(min_objects=4, max_objects=6),
        views=ViewConfig(frames_per_layout=3, flights=3),
        photo=PhotoConfig(simulated_share=0.5, shadow_blur_px=2.0),
    )
    source = PanoramaViews([quarters(tmp_path / "q.hdr")])
    generator = Generator(ObjectPool.build((), config.objects, "train"), source, config, seed=5)
    shard = generator.shard(0)
    assert set(shard.photo) == {0, 1}  # both kinds are among twelve
    for n, instance, box in zip(shard.frame, shard.instance, shard.boxes, strict=True):
        rows, columns = np.nonzero(shard.ids[n] == instance)
        assert box.tolist() == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    assert np.array_equal(generator.shard(0).rgb, shard.rgb)


def test_no_panorama_is_refused() -> None:
    with pytest.raises(WaywordError, match="at least one panorama"):
        PanoramaViews([])
