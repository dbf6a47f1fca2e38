"""VideoStream: calibration from a rendered board, resampling to the model's view, times of capture, a real stream."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from wayword.camera import Camera, open_camera, project
from wayword.errors import WaywordError
from wayword.flight.calibration import Calibration
from wayword.flight.resample import Resampler, choose_view
from wayword.flight.testing.rtsp_server import RtspServer
from wayword.flight.video_stream import StampClock, VideoStream, frames
from wayword.pictures.video import write_video
from wayword.sim.render.renderer import RenderConfig, Renderer

WIDE = Calibration(640, 360, 330.0, 332.0, 322.0, 178.0, -0.12, 0.03, 0.001, -0.0005, 0.0)


def test_a_perfect_camera_is_averaged_only(rng):
    resampler = Resampler(Calibration.pinhole(640, 360))
    assert resampler.cover == pytest.approx(1.0, abs=1e-5)
    picture = rng.integers(0, 256, (360, 640, 3), dtype=np.uint8)
    means = picture.reshape(72, 5, 128, 5, 3).mean(axis=(1, 3))
    assert np.abs(resampler(picture) - means).max() <= 1.0
    with pytest.raises(WaywordError, match="delivers 320 x 180 pixels but was calibrated at 640 x 360"):
        resampler(picture[::2, ::2])


def test_points_of_the_world_land_where_the_model_expects_them(rng):
    """A mark seen by a distorted camera, mounted 12 degrees down and rolled, is where the model's camera has it."""
    tilted = Calibration(*list(WIDE.__dict__.values())[:11], mount_pitch_deg=12.0, mount_roll_deg=4.0)
    resampler, model = Resampler(tilted), Camera()
    pose = np.array([0.0, 0.0, 0.7, 0.0, 0.0, 0.0])
    for _ in range(20):
        mark = np.array([rng.uniform(0.9, 3.0), rng.uniform(-0.5, 0.5), rng.uniform(0.0, 0.6)])
        right, down, ahead = _in_camera(mark - pose[:3], 12.0, 4.0)
        column, row = tilted.project(np.array([right / ahead]), np.array([down / ahead]))
        picture = np.zeros((360, 640, 3), np.float64)
        rows, columns = np.mgrid[0:360, 0:640] + 0.5
        picture += 255 * np.exp(-((columns - column) ** 2 + (rows - row) ** 2) / 18)[..., None]
        small = resampler(picture.astype(np.uint8))[..., 0].astype(np.float64)
        centre = (small.sum(axis=0) @ (np.arange(128) + 0.5), small.sum(axis=1) @ (np.arange(72) + 0.5))
        wanted = project([mark], pose, model)[0, :2]
        assert np.abs(np.array(centre) / small.sum() - wanted).max() < 0.25


def _in_camera(offset: np.ndarray, pitch_deg: float, roll_deg: float) -> tuple[float, float, float]:
    """Body frame (forward, left, up) to a camera that looks down and is rolled, right side down."""
    a, b = math.radians(pitch_deg), math.radians(roll_deg)
    ahead = math.cos(a) * offset[0] - math.sin(a) * offset[2]
    right, down = -offset[1], -(math.sin(a) * offset[0] + math.cos(a) * offset[2])
    return math.cos(b) * right + math.sin(b) * down, math.cos(b) * down - math.sin(b) * right, ahead


def test_a_lens_that_is_too_narrow_is_refused():
    with pytest.raises(WaywordError, match=r"sees only .* of its view .* wider lens"):
        Resampler(Calibration.pinhole(640, 360, hfov_deg=60))


@pytest.mark.parametrize(("degrees", "enough"), [(83.0, True), (81.4, True), (80.4, False)])
def test_a_camera_must_see_nine_tenths_of_its_view(degrees: float, enough: bool):
    """Of a lens that is as high in proportion, the share across counts twice: at 81 degrees 0.9485 of 84, squared."""
    lens = Calibration.pinhole(640, 360, hfov_deg=degrees)
    across = math.tan(math.radians(degrees / 2)) / math.tan(math.radians(42.0))
    if not enough:
        with pytest.raises(WaywordError, match=f"only {100 * across**2:.0f} % of its view"):
            Resampler(lens)
        return
    resampler = Resampler(lens)
    assert resampler.cover == pytest.approx(across**2, abs=0.012)
    # What is seen of a white wall is white, up to the lens's last pixel; beside it is black.
    small = resampler(np.full((360, 640, 3), 200, np.uint8))
    beside = round(64 * (1 - across)) + 1
    assert (small[beside:-beside, beside:-beside] == 200).all()
    assert set(np.unique(small[36])) <= set(range(201))
    assert (small[36, 0] == 0).all() == (64 * (1 - across) > 1)


def test_what_a_lens_folds_back_into_the_picture_is_not_seen():
    """Rays further out than where r (1 - 0.4 r^2) turns, at r^2 = 1 / 1.2, would come to lie on nearer ones."""
    lens = replace(Calibration.pinhole(640, 360), fx=400.0, fy=330.0, k1=-0.4)
    across, down = math.tan(math.radians(42.0)), math.tan(math.radians(42.0)) * 9 / 16
    x, y = np.meshgrid(np.linspace(-across, across, 801), np.linspace(-down, down, 451))
    inside = float((x * x + y * y < 1 / 1.2).mean())
    assert 0.9 < inside < 0.98
    resampler = Resampler(lens)
    assert resampler.cover == pytest.approx(inside, abs=0.003)
    small = resampler(np.full((360, 640, 3), 255, np.uint8))
    assert small[0, 0].sum() == small[-1, -1].sum() == 0


def test_every_pixel_is_the_mean_of_four_samples_at_least():
    """Of a camera with the view's own pixels: samples a quarter of a pixel beside the middle, 0.75 of each its own."""
    resampler, picture = Resampler(Calibration.pinhole(128, 72)), np.zeros((72, 128, 3), np.uint8)
    picture[30, 50] = 255
    small = resampler(picture)[28:33, 48:53, 0]
    weights = np.array([0, 0.125, 0.75, 0.125, 0])
    assert np.abs(small - 255 * weights[:, None] * weights).max() <= 0.51


def test_a_picture_is_neither_mirrored_nor_turned():
    """The left of a picture is at the left of the view, its top at the top; red stays red."""
    resampler, picture = Resampler(Calibration.pinhole(640, 360)), np.zeros((360, 640, 3), np.uint8)
    picture[:100, :200, 0], picture[-100:, -200:, 2] = 255, 255
    small = resampler(picture)
    assert (small[:19, :39] == (255, 0, 0)).all()
    assert (small[-19:, -39:] == (0, 0, 255)).all()
    assert small[30:40].sum() == 0


def test_a_lens_has_the_papers_view_or_else_its_own():
    """Wide enough, frames are turned and cut to what the policy was trained with; else all of the lens is used."""
    assert choose_view(WIDE) == choose_view(replace(WIDE, mount_pitch_deg=12.0, mount_roll_deg=4.0)) == Camera()
    narrow, down = Calibration.pinhole(640, 360, hfov_deg=60.0), Calibration.pinhole(640, 360, mount_pitch_deg=40.0)
    assert choose_view(narrow) == Camera(hfov_deg=60.0)
    assert choose_view(down) == Camera(mount_pitch_deg=40.0)
    for lens in (narrow, down, replace(WIDE, mount_pitch_deg=40.0, mount_roll_deg=5.0)):
        view = choose_view(lens)
        assert Resampler(replace(lens, view=view)).cover > 0.99
        wider = replace(view, hfov_deg=view.hfov_deg + 2)
        assert Resampler(replace(lens, view=wider)).cover < 1


def test_points_land_where_a_view_of_the_lenss_own_expects_them():
    """The same as above with a lens that looks 40 degrees down, rolled and distorting, resampled to its own view."""
    lens = replace(WIDE, mount_pitch_deg=40.0, mount_roll_deg=4.0)
    lens = replace(lens, view=choose_view(lens))
    assert lens.view.mount_pitch_deg == 40.0
    resampler, pose = Resampler(lens), np.array([0.0, 0.0, 0.7, 0.0, 0.0, 0.0])
    rows, columns = np.mgrid[0:360, 0:640] + 0.5
    for mark in ([0.6, 0.1, 0.0], [1.2, -0.3, 0.1], [0.8, 0.4, 0.2]):
        right, down, ahead = _in_camera(np.array(mark) - pose[:3], 40.0, 4.0)
        column, row = lens.project(np.array([right / ahead]), np.array([down / ahead]))
        picture = 255 * np.exp(-((columns - column) ** 2 + (rows - row) ** 2) / 18)[..., None] * np.ones(3)
        small = resampler(picture.astype(np.uint8))[..., 0].astype(np.float64)
        centre = (small.sum(axis=0) @ (np.arange(128) + 0.5), small.sum(axis=1) @ (np.arange(72) + 0.5))
        assert np.abs(np.array(centre) / small.sum() - project([mark], pose, lens.view)[0, :2]).max() < 0.25


def board_views(calibration: Calibration, inner: tuple[int, int], count: int, rng: np.random.Generator):
    """Pictures of a checkerboard of 3 cm squares as the camera would take them, by ray casting.

    Sixteen rays per pixel: with four, edges come in steps that alone cost 0.1 pixels.
    """
    sides = [(np.arange(4 * n) + 0.5) / 4 for n in (calibration.width, calibration.height)]
    columns, rows = np.meshgrid(*sides)
    x, y = (columns - calibration.cx) / calibration.fx, (rows - calibration.cy) / calibration.fy
    xd, yd = x.copy(), y.copy()
    for _ in range(30):  # undistort by fixed-point iteration
        px, py = calibration.project(x, y)
        x = x + (xd - (px - calibration.cx) / calibration.fx)
        y = y + (yd - (py - calibration.cy) / calibration.fy)
    rays = np.stack([x, y, np.ones_like(x)], axis=-1)
    while count:
        angles = rng.uniform(-0.45, 0.45, 3)
        turn = _rotation(*angles)
        size = 0.03 * (np.array(inner) + 1)
        depth = rng.uniform(0.2, 0.4)
        middle = np.array([rng.uniform(-0.85, 0.85) * depth, rng.uniform(-0.45, 0.45) * depth, depth])
        corner = middle - turn @ np.array([size[0] / 2, size[1] / 2, 0])
        normal = turn[:, 2]
        scale = (corner @ normal) / (rays @ normal)
        local = (rays * scale[..., None] - corner) @ turn
        u, v = local[..., 0] / 0.03, local[..., 1] / 0.03
        on = (u > 0) & (v > 0) & (u < inner[0] + 1) & (v < inner[1] + 1)
        dark = on & ((np.floor(u) + np.floor(v)) % 2 == 0)
        grey = np.where(dark, 20.0, 230.0)
        picture = grey.reshape(calibration.height, 4, calibration.width, 4).mean(axis=(1, 3))
        picture += rng.normal(0, 2, picture.shape)
        yield np.repeat(np.clip(np.rint(picture), 0, 255).astype(np.uint8)[..., None], 3, axis=2)
        count -= 1


def _rotation(a: float, b: float, c: float) -> np.ndarray:
    turn = np.eye(3)
    for i, j, angle in ((1, 2, a), (0, 2, b), (0, 1, c)):
        part = np.eye(3)
        part[i, i] = part[j, j] = math.cos(angle)
        part[i, j], part[j, i] = -math.sin(angle), math.sin(angle)
        turn = turn @ part
    return turn


@pytest.mark.needs_flight
def test_calibration_from_a_checkerboard_finds_the_true_camera(tmp_path):
    from wayword.flight.checkerboard import calibrate, find_views

    true = Calibration(320, 180, 165.0, 166.0, 161.0, 89.0, -0.12, 0.03, 0.001, -0.0005, 0.0)
    views = find_views(board_views(true, (7, 5), 36, np.random.default_rng(4)), (7, 5))
    found = calibrate(views, (7, 5), 0.03, mount_pitch_deg=12.0)
    assert found.error_px < 0.12  # 0.4 with the corners as the detector leaves them
    # What counts is where rays land, up to the corners of the view. A shift of all of them is a turn of the camera,
    # which a board can hardly tell from its mount: one pixel is 0.35 degrees.
    x, y = np.meshgrid(np.linspace(-0.85, 0.85, 9), np.linspace(-0.48, 0.48, 7))
    off = np.stack([a - b for a, b in zip(found.project(x, y), true.project(x, y), strict=True)])
    shift = off.mean(axis=(1, 2), keepdims=True)
    assert np.abs(shift).max() < 1.0
    assert np.hypot(*(off - shift)).max() < 0.4
    found.save(tmp_path / "camera.json")
    assert Calibration.load(tmp_path / "camera.json") == found


@pytest.mark.needs_flight
def test_the_command_writes_a_camera_that_everything_reads(tmp_path, capsys):
    from wayword.cli.launch import main

    true = Calibration(320, 180, 165.0, 166.0, 161.0, 89.0, -0.12, 0.03, 0.001, -0.0005, 0.0)
    files = [str(tmp_path / f"{number:02}.png") for number in range(24)]
    for file, picture in zip(files, board_views(true, (7, 5), 24, np.random.default_rng(4)), strict=True):
        Image.fromarray(picture).save(file)
    out = tmp_path / "camera.json"
    for pitch, line in ((12, "trained with"), (40, "the camera's own")):
        main(["flight", "calibrate", *files, "--corners", "7", "5", "--mount-pitch", str(pitch), "--out", str(out)])
        assert line in capsys.readouterr().out
    # 40 degrees down, all that the lens sees: 2 atan(160 / 165) = 88 degrees if it were straight; it bends inwards.
    view = open_camera(out)
    assert view.mount_pitch_deg == 40.0
    assert 84 < view.hfov_deg < 100
    assert Resampler(Calibration.load(out)).cover > 0.99


@pytest.mark.needs_flight
def test_a_picture_with_a_false_corner_is_left_out():
    from wayword.flight.checkerboard import BoardViews, calibrate

    true = Calibration(320, 180, 165.0, 166.0, 161.0, 89.0, -0.12, 0.03, 0.001, -0.0005, 0.0)
    rng = np.random.default_rng(2)
    views = BoardViews([corners_of(true, (7, 5), rng) for _ in range(14)], (320, 180), 14)
    clean = calibrate(views, (7, 5), 0.03)
    assert clean.fx == pytest.approx(165.0, abs=0.5)
    spoilt = [corners.copy() for corners in views.corners]
    spoilt[3][0] += (9.0, -6.0)
    found = calibrate(replace(views, corners=spoilt), (7, 5), 0.03)
    assert found.error_px < 0.1
    assert found.fx == pytest.approx(165.0, abs=0.5)


def corners_of(calibration: Calibration, inner: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Where the corners of a board are in a picture, with an error of 0.05 pixels."""
    turn, depth = _rotation(*rng.uniform(-0.45, 0.45, 3)), rng.uniform(0.2, 0.4)
    middle = np.array([rng.uniform(-0.6, 0.6) * depth, rng.uniform(-0.3, 0.3) * depth, depth])
    across, down = np.meshgrid(np.arange(inner[0]) - inner[0] / 2, np.arange(inner[1]) - inner[1] / 2)
    board = 0.03 * np.stack([across.ravel(), down.ravel(), np.zeros(across.size)], axis=1)
    x, y, z = (middle + board @ turn.T).T
    places = np.stack(calibration.project(x / z, y / z), axis=1)
    return (places + rng.normal(0, 0.05, places.shape)).astype(np.float32)


@pytest.mark.needs_flight
def test_too_few_views_and_bad_files(tmp_path):
    from wayword.flight.checkerboard import calibrate, find_views

    views = find_views(iter([np.zeros((360, 640, 3), np.uint8)] * 3), (7, 5))
    with pytest.raises(WaywordError, match="in 0 different pictures of 3"):
        calibrate(views, (7, 5))
    (tmp_path / "c.json").write_text('{"width": 640}')
    with pytest.raises(WaywordError, match=r"c\.json: a camera file says at least"):
        Calibration.load(tmp_path / "c.json")
    with pytest.raises(WaywordError, match="focal"):
        Calibration(640, 360, -1.0, 300.0, 320.0, 180.0)


def test_frames_that_pile_up_grow_old():
    clock = StampClock()
    assert clock.taken_s(100.0, 5.0) == 100.0
    assert clock.taken_s(100.1, 5.1) == pytest.approx(100.1)
    # The stream stalls for a second: what arrives then was taken long before.
    assert clock.taken_s(101.2, 5.2) == pytest.approx(100.2)
    # A frame that came quicker than any before shows that the others were late too.
    assert clock.taken_s(101.25, 6.3) == pytest.approx(101.25)
    assert StampClock(0.1).taken_s(100.0, None) == pytest.approx(99.9)


def test_a_file_is_a_camera_and_frozen_frames_are_none(tmp_path):
    pictures = [np.full((72, 128, 3), 40 * i, np.uint8) for i in range(6)]
    write_video(tmp_path / "v.mp4", [*pictures, *[pictures[-1]] * 30], 30)
    stamps = [stamp for _, stamp in frames(str(tmp_path / "v.mp4"))]
    assert len(stamps) == 36
    assert stamps[1] == pytest.approx(1 / 30, abs=1e-3)
    with pytest.raises(WaywordError, match="no such file; a camera is"):
        list(frames(str(tmp_path / "w.mp4")))
    (tmp_path / "x.mp4").write_bytes(b"no video")
    with pytest.raises(WaywordError, match="cannot be opened as a camera"):
        list(frames(str(tmp_path / "x.mp4")))


def test_a_v4l2_device_is_opened_as_one(tmp_path, monkeypatch):
    """Without a device: what PyAV is asked for, with a video in its place."""
    import av

    from wayword.flight import video_stream as module

    write_video(tmp_path / "v.mp4", [np.full((72, 128, 3), 60, np.uint8)] * 3, 30)
    asked, real_open = [], av.open

    def open_device(name, **how):
        asked.append((name, how["format"], how["options"]))
        return real_open(str(tmp_path / "v.mp4"), timeout=how["timeout"])

    monkeypatch.setattr(av, "open", open_device)
    monkeypatch.setattr(module.Path, "exists", lambda self: True)
    assert len(list(frames("/dev/video0?video_size=640x480&framerate=30"))) == 3
    assert asked == [
        ("/dev/video0", "v4l2", {"fflags": "nobuffer", "video_size": "640x480", "framerate": "30"})
    ]  # fmt: skip
    assert av.ContainerFormat("v4l2", "r").is_input  # this build of PyAV can read such devices
    with pytest.raises(WaywordError, match="'size=2' is no option of a V4L2 camera; there are video_size"):
        list(frames("/dev/video0?size=2"))


def test_no_device_is_said_in_one_line():
    with pytest.raises(WaywordError, match=r"^/dev/video9: no such device; `ls /dev/video\*` shows those"):
        list(frames("/dev/video9"))
    with pytest.raises(WaywordError, match=r"^/dev/video9: no image within 0.5 s \(/dev/video9: no such device"):
        VideoStream("/dev/video9", open_s=0.5)


def test_a_pipe_stands_in_for_a_device(tmp_path, rng):
    """Frames come as they are written, and only the newest is kept."""
    pipe = tmp_path / "camera.mjpeg"
    os.mkfifo(pipe)
    pictures = [np.full((72, 128, 3), 20 * i, np.uint8) + rng.integers(0, 9, (72, 128, 1), np.uint8) for i in range(9)]

    def write() -> None:
        with pipe.open("wb") as end, contextlib.suppress(BrokenPipeError):
            for picture in pictures:
                Image.fromarray(picture).save(end, "JPEG", quality=95)
                end.flush()

    threading.Thread(target=write, daemon=True).start()
    camera = VideoStream(str(pipe), open_s=60.0, real_time=False)
    try:
        wait_for(lambda: camera.shot().pixels.mean() > 155)
        assert camera.size == (128, 72)
        assert camera.shot().pixels.mean() == pytest.approx(pictures[-1].mean(), abs=3)
    finally:
        camera.close()


def wait_for(holds, seconds: float = 60.0) -> None:
    """Until it holds; the time is only for a test that is going to fail."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_rtsp_on_loopback(bank, rng):
    """The simulator's picture through RTSP, RTP, JPEG, decoder, calibration and resampling."""
    renderer = Renderer(bank, Camera(width=256, height=144), RenderConfig(supersample=True))
    name = next(iter(bank.index))
    from wayword.episodes import PlacedObject
    from wayword.sim.render.look import Look

    scene = renderer.scene((PlacedObject(name, 2.0, 1.0, 0.0),), Look(), 4.7)
    sharp = renderer.render([scene], np.array([[0.8, 1.0, 0.7, 0.0, 0.0, 0.0]])).rgb[0]

    def see() -> np.ndarray:
        noise = rng.integers(0, 3, sharp.shape, dtype=np.uint8)
        return np.clip(sharp.astype(np.int64) + noise, 0, 255).astype(np.uint8)

    with RtspServer(see, frames_per_s=10) as server:
        camera = VideoStream(server.address, Resampler(Calibration.pinhole(256, 144)), open_s=60.0)
        first = camera.shot()
        assert first is not None
        wanted = sharp.reshape(72, 2, 128, 2, 3).mean(axis=(1, 3))
        assert np.abs(first.pixels - wanted).mean() < 6
        wait_for(lambda: camera.shot().taken_s > first.taken_s)
        server.paused = True
        seen = [-1, camera.received]
        while seen[-1] != seen[-2]:  # what is on its way arrives, however slowly
            time.sleep(0.5)
            seen.append(camera.received)
        held = camera.shot().taken_s
        time.sleep(0.3)
        assert camera.shot().taken_s == held
        camera.close()


def test_no_camera_is_said_in_one_line():
    with pytest.raises(WaywordError, match=r"rtsp://127.0.0.1:1/cam: no image within 1 s"):
        VideoStream("rtsp://127.0.0.1:1/cam", open_s=1.0)
