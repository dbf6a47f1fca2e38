"""Videos by file ending: .mp4 (H.264, plays in browsers), .gif, or .png for the last frame alone."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import IO, NamedTuple

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.errors import WaywordError
from wayword.io import atomic_path

Frame = NDArray[np.uint8]

GIF_MAX_FPS = 50.0
"""Browsers slow a GIF down whose frames follow faster than this."""
_BT709 = 1


class VideoInfo(NamedTuple):
    """What a video file holds."""

    frames: int
    width: int
    height: int
    fps: float


def write_video(path: Path | str, frames: Iterable[Frame], fps: float) -> None:
    """Write frames (H, W, 3) uint8 to ``path``, which appears only when it is complete.

    Frames are taken one by one, so a generator never has more than one of them in memory. H.264 needs even
    sizes: an odd last row or column is repeated.
    """
    target = Path(path)
    check_ending(target)
    writer = _WRITERS[target.suffix.lower()]
    if not (math.isfinite(fps) and 0 < fps <= 1000):
        raise WaywordError(f"{target}: {fps} frames per second is not within 0 to 1000")
    with atomic_path(target) as temporary:
        writer(temporary, _checked(target, frames), fps)


def check_ending(path: Path | str) -> None:
    """Refuse a name that is no video's, before the work of making one."""
    if Path(path).suffix.lower() not in _WRITERS:
        raise WaywordError(f"{path}: unknown kind of video; the name must end in {', '.join(_WRITERS)}")


def read_video_info(path: Path | str) -> VideoInfo:
    """Count the frames of a video by decoding it; an image counts as one frame at 0 fps."""
    source = Path(path)
    try:
        with av.open(str(source)) as container:
            stream = container.streams.video[0]
            count = sum(1 for _ in container.decode(stream))
            rate = stream.average_rate if source.suffix.lower() != ".png" else None
            return VideoInfo(count, stream.width, stream.height, float(rate or 0))
    except (OSError, IndexError) as error:  # av's own errors are OSErrors or ValueErrors of the same family
        raise WaywordError(f"{source}: cannot be read as a video ({error})") from error
    except av.FFmpegError as error:
        raise WaywordError(f"{source}: cannot be read as a video ({error})") from error


def _checked(path: Path, frames: Iterable[Frame]) -> Iterator[Frame]:
    """Pass frames on; refuse an empty video, wrong types and a change of size."""
    shape: tuple[int, ...] | None = None
    for i, frame in enumerate(frames):
        if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8 or 0 in frame.shape:
            raise WaywordError(f"{path}: frame {i} is {frame.shape} {frame.dtype}, not (H, W, 3) uint8")
        if shape is not None and frame.shape != shape:
            raise WaywordError(f"{path}: frame {i} is {frame.shape} but the first one was {shape}")
        shape = frame.shape
        yield frame
    if shape is None:
        raise WaywordError(f"{path}: no frames to write")


def _write_mp4(path: Path, frames: Iterator[Frame], fps: float) -> None:
    rate = Fraction(fps).limit_denominator(1001)
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "17", "preset": "medium"})
        stream.pix_fmt = "yuv420p"
        # Said aloud, or players guess the colours from the size of the picture.
        context = stream.codec_context
        context.colorspace = context.color_primaries = context.color_trc = context.color_range = _BT709
        for i, frame in enumerate(frames):
            even = np.pad(frame, ((0, frame.shape[0] % 2), (0, frame.shape[1] % 2), (0, 0)), mode="edge")
            if i == 0:
                stream.height, stream.width = even.shape[:2]
            image = av.VideoFrame.from_ndarray(np.ascontiguousarray(even), format="rgb24")
            image = image.reformat(format="yuv420p", dst_colorspace=_BT709)
            image.pts, image.time_base = i, 1 / rate
            container.mux(stream.encode(image))
        container.mux(stream.encode())


def _write_gif(path: Path, frames: Iterator[Frame], fps: float) -> None:
    if fps > GIF_MAX_FPS:
        raise WaywordError(f"a GIF shows at most {GIF_MAX_FPS:.0f} frames per second, not {fps:g}; write an .mp4")
    with tempfile.TemporaryFile() as spool:  # one palette for all frames, so all must have been seen first
        shape, count = _spool(spool, frames)
        stored = np.memmap(spool, np.uint8, "r", shape=(count, *shape))
        sample = stored[np.linspace(0, count - 1, min(count, 12)).astype(int), ::2, ::2]
        palette = Image.fromarray(sample.reshape(-1, sample.shape[2], 3)).quantize(256, Image.Quantize.MEDIANCUT)
        images = (Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in stored)
        ticks = np.round(np.arange(count + 1) * 100 / fps).astype(int)  # a GIF counts hundredths of a second
        next(images).save(
            path, format="GIF", save_all=True, append_images=images, loop=0, optimize=False,
            duration=[int(ms) for ms in np.diff(ticks) * 10],
        )  # fmt: skip


def _spool(spool: IO[bytes], frames: Iterator[Frame]) -> tuple[tuple[int, ...], int]:
    shape: tuple[int, ...] = ()
    count = 0
    for frame in frames:
        spool.write(np.ascontiguousarray(frame).tobytes())
        shape, count = frame.shape, count + 1
    spool.flush()
    return shape, count


def _write_png(path: Path, frames: Iterator[Frame], fps: float) -> None:
    for last in frames:  # noqa: B007
        pass
    Image.fromarray(np.ascontiguousarray(last)).save(path, format="PNG")


_WRITERS: dict[str, Callable[[Path, Iterator[Frame], float], None]] = {
    ".mp4": _write_mp4,
    ".gif": _write_gif,
    ".png": _write_png,
}
