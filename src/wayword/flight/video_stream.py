"""The camera: RTSP, a file or V4L2 through PyAV, in a thread that keeps only the newest frame.

A frame's time is when its light was caught, as far as that can be known: its own time stamp plus the smallest delay
between stamp and arrival so far. So frames that pile up in a buffer grow old, however punctually they arrive. A frame
that equals the one before it bit by bit is no new frame: a live sensor has noise, an encoder that hangs has none.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.flight.vehicle import Shot

ImageFit = Callable[[NDArray[np.uint8]], NDArray[np.uint8]]
"""From the camera's own pixels to the model's (``resample.Resampler``)."""
_RETRY_S = 0.5
_DEVICE_OPTIONS = ("video_size", "framerate", "input_format", "pixel_format")
"""As FFmpeg's V4L2 input has them."""


class StampClock:
    """Arrival times and time stamps of one stream, turned into times of capture."""

    def __init__(self, fixed_delay_s: float = 0.0) -> None:
        self.fixed_delay_s = fixed_delay_s
        self._least: float | None = None

    def taken_s(self, arrived_s: float, stamp_s: float | None) -> float:
        """When a frame was taken, on the clock of the arrivals."""
        if stamp_s is None:
            return arrived_s - self.fixed_delay_s
        delay = arrived_s - stamp_s
        if self._least is None or delay < self._least or abs(delay - self._least) > 30:  # 30 s: the stream began anew
            self._least = delay
        return stamp_s + self._least - self.fixed_delay_s


class VideoStream:
    """Reads until it is closed; a stream that breaks is opened again."""

    def __init__(
        self,
        source: str,
        fit: ImageFit | None = None,
        delay_s: float = 0.0,
        open_s: float = 10.0,
        real_time: bool = True,
    ) -> None:
        self.source, self._fit = source, fit
        self._clock, self._delay_s, self._real_time = StampClock(delay_s), delay_s, real_time
        self._shot: Shot | None = None
        self._last: NDArray[np.uint8] | None = None
        self._closed, self._first = threading.Event(), threading.Event()
        self.problem = ""
        self.received = 0
        """Frames of the stream so far."""
        self.size: tuple[int, int] | None = None
        """Width and height of the stream."""
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)
        self._thread.start()
        if not self._first.wait(open_s):
            self.close()
            raise WaywordError(f"{source}: no image within {open_s:g} s{self.problem and f' ({self.problem})'}")

    def shot(self) -> Shot | None:
        """The newest frame."""
        return self._shot

    def close(self) -> None:
        """Stop reading; a read that hangs in the network is left behind."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                for pixels, stamp in frames(self.source):
                    if self._closed.is_set():
                        return
                    self._take(pixels, stamp, time.monotonic())
                self.problem = "the stream ended"
            except WaywordError as error:
                self.problem = str(error)
            except Exception as error:  # whatever a decoder does, the flight is not to end by it
                self.problem = f"{type(error).__name__}: {error}"
            self._closed.wait(_RETRY_S)
            self._clock = StampClock(self._delay_s)

    def _take(self, pixels: NDArray[np.uint8], stamp_s: float | None, arrived_s: float) -> None:
        self.received += 1
        if self._last is not None and np.array_equal(self._last, pixels):
            return
        at_s = self._clock.taken_s(arrived_s, stamp_s if self._real_time else None)
        self._last, self.size = pixels, (pixels.shape[1], pixels.shape[0])
        self._shot = Shot(pixels if self._fit is None else self._fit(pixels), at_s)
        self._first.set()


def frames(source: str, timeout_s: float = 5.0) -> Iterator[tuple[NDArray[np.uint8], float | None]]:
    """Every frame of a source as RGB, with its own time stamp in seconds if it has one."""
    import av

    name, options, kind = _options(source)
    try:
        container: Any = av.open(name, format=kind, options=options, timeout=timeout_s)
    except (av.error.FFmpegError, ValueError, OSError) as error:
        raise WaywordError(f"{source}: cannot be opened as a camera ({error})") from error
    with container:
        if not container.streams.video:
            raise WaywordError(f"{source}: holds no video")
        stream = container.streams.video[0]
        stream.thread_type = "NONE"  # frame threads would hold back as many frames as there are threads
        for frame in container.decode(stream):
            yield frame.to_ndarray(format="rgb24"), frame.time


def _options(source: str) -> tuple[str, dict[str, str], str | None]:
    """What PyAV is to open, with which options, as which format."""
    if source.startswith("rtsp://"):
        # Over TCP no part of a frame is lost; without a buffer no frame is old.
        live = {"rtsp_transport": "tcp", "fflags": "nobuffer", "flags": "low_delay", "analyzeduration": "200000"}
        return source, live, None
    if source.startswith("/dev/video"):
        return _device(source)
    if "://" not in source and not Path(source).exists():
        raise WaywordError(f"{source}: no such file; a camera is rtsp://host/path, /dev/video0 or a video file")
    return source, {}, None


def _device(source: str) -> tuple[str, dict[str, str], str]:
    """A V4L2 device, which delivers what it likes unless it is asked: /dev/video0?video_size=640x480&framerate=30."""
    name, _, query = source.partition("?")
    options = {"fflags": "nobuffer"}
    for word in filter(None, query.split("&")):
        key, _, value = word.partition("=")
        if key not in _DEVICE_OPTIONS or not value:
            known = ", ".join(_DEVICE_OPTIONS)
            raise WaywordError(f"{source}: {word!r} is no option of a V4L2 camera; there are {known}, as NAME=VALUE")
        options[key] = value
    if not Path(name).exists():
        raise WaywordError(f"{name}: no such device; `ls /dev/video*` shows those that are there")
    return name, options, "v4l2"
