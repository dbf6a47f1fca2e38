"""Videos: sizes, counts, colours and rates survive, and a failed write leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from wayword.errors import WaywordError
from wayword.pictures.video import read_video_info, write_video

COLORS = ((200, 40, 30), (20, 160, 240), (120, 120, 120))


def frames(count: int = 12, height: int = 48, width: int = 64) -> Iterator[NDArray[np.uint8]]:
    """Three flat bands and a white square that moves."""
    for i in range(count):
        frame = np.zeros((height, width, 3), dtype=np.uint8)
        for k, color in enumerate(COLORS):
            frame[k * height // 3 : (k + 1) * height // 3] = color
        frame[:8, 2 * i : 2 * i + 8] = 255
        yield frame


@pytest.mark.parametrize("ending", [".mp4", ".gif", ".MP4"])
@pytest.mark.parametrize("fps", [5.0, 12.5])
def test_count_size_and_rate(tmp_path: Path, ending: str, fps: float) -> None:
    path = tmp_path / f"flight{ending}"
    write_video(path, frames(), fps)
    info = read_video_info(path)
    assert (info.frames, info.width, info.height) == (12, 64, 48)
    assert info.fps == pytest.approx(fps)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_odd_sizes_are_made_even_for_h264(tmp_path: Path) -> None:
    write_video(tmp_path / "odd.mp4", frames(3, 47, 63), 10)
    assert read_video_info(tmp_path / "odd.mp4")[1:3] == (64, 48)
    write_video(tmp_path / "odd.gif", frames(3, 47, 63), 10)
    assert read_video_info(tmp_path / "odd.gif")[1:3] == (63, 47)


def test_mp4_plays_in_browsers(tmp_path: Path) -> None:
    path = tmp_path / "flight.mp4"
    write_video(path, frames(), 10)
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")  # the index first: playback starts before all is loaded
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.pix_fmt) == ("h264", "yuv420p")


@pytest.mark.parametrize("ending", [".mp4", ".gif"])
def test_colours_survive(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"flight{ending}"
    write_video(path, frames(), 10)
    with av.open(str(path)) as container:
        last = list(container.decode(video=0))[-1].to_ndarray(format="rgb24").astype(int)
    for k, color in enumerate(COLORS):
        assert np.abs(last[16 * k + 10, 50] - color).max() <= 4


def test_gif_keeps_the_time_even_when_hundredths_do_not_divide(tmp_path: Path) -> None:
    # 30 frames at 15 per second are 2 s, though one frame is 6.67 hundredths.
    write_video(tmp_path / "a.gif", frames(30), 15)
    with Image.open(tmp_path / "a.gif") as image:
        total = 0
        for i in range(image.n_frames):  # type: ignore[attr-defined]
            image.seek(i)
            total += int(image.info["duration"])
    assert total == 2000


def test_png_is_the_last_frame(tmp_path: Path) -> None:
    write_video(tmp_path / "end.png", frames(), 10)
    with Image.open(tmp_path / "end.png") as image:
        np.testing.assert_array_equal(np.asarray(image), list(frames())[-1])
    assert read_video_info(tmp_path / "end.png").frames == 1


def test_bad_input_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match=r"\.mp4, \.gif, \.png"):
        write_video(tmp_path / "flight.avi", frames(), 10)
    for fps in (0.0, -1.0, float("nan")):
        with pytest.raises(WaywordError, match="frames per second"):
            write_video(tmp_path / "flight.mp4", frames(), fps)
    with pytest.raises(WaywordError, match="at most 50"):
        write_video(tmp_path / "flight.gif", frames(), 60)
    for ending in (".mp4", ".gif", ".png"):
        with pytest.raises(WaywordError, match="no frames"):
            write_video(tmp_path / f"flight{ending}", [], 10)
        with pytest.raises(WaywordError, match="frame 2"):
            write_video(tmp_path / f"flight{ending}", [*frames(2), *frames(1, 24, 24)], 10)
        with pytest.raises(WaywordError, match="uint8"):
            write_video(tmp_path / f"flight{ending}", [np.zeros((8, 8, 3))], 10)  # type: ignore[list-item]
    assert list(tmp_path.iterdir()) == []


def test_an_old_video_survives_a_failed_write(tmp_path: Path) -> None:
    path = tmp_path / "flight.mp4"
    write_video(path, frames(4), 10)

    def broken() -> Iterator[NDArray[np.uint8]]:
        yield from frames(2)
        raise RuntimeError("the simulator stopped")

    with pytest.raises(RuntimeError):
        write_video(path, broken(), 10)
    assert read_video_info(path).frames == 4


def test_what_is_not_a_video_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("not a video")
    for name in ("text.mp4", "missing.mp4"):
        with pytest.raises(WaywordError, match=name):
            read_video_info(tmp_path / name)
