"""A small RTSP camera for tests: MJPEG in RTP (RFC 2435), interleaved in the RTSP connection, on loopback.

    with RtspServer(lambda: pixels) as camera:
        av.open(camera.address, options={"rtsp_transport": "tcp"})

The picture is made anew for every frame by the function it is given; ``paused`` stops the stream without closing it,
``frozen`` repeats its last picture.
"""

from __future__ import annotations

import io
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_CLOCK_HZ = 90_000
_PAYLOAD = 1400


class RtspServer:
    """Serves one picture source to every client."""

    def __init__(self, see: Callable[[], NDArray[np.uint8]], frames_per_s: float = 15.0) -> None:
        self._see, self.frames_per_s = see, frames_per_s
        self.paused = self.frozen = False
        """No frames any more; one frame again and again."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.address = f"rtsp://127.0.0.1:{self.port}/cam"
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> RtspServer:
        self._spawn(self._accept)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._closed.set()
        self._listener.close()
        for thread in self._threads:
            thread.join(2.0)

    def _spawn(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, name="rtsp test camera", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        self._listener.settimeout(0.2)
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            self._spawn(self._talk, client)

    def _talk(self, client: socket.socket) -> None:
        """RTSP requests, one after the other; PLAY starts the stream on the same connection."""
        lock, buffer = threading.Lock(), b""
        client.settimeout(0.2)
        with client:
            while not self._closed.is_set():
                try:
                    data = client.recv(4096)
                except TimeoutError:
                    continue
                except OSError:
                    return
                if not data:
                    return
                buffer += data
                while b"\r\n\r\n" in buffer:
                    if buffer.startswith(b"$"):  # an RTCP report of the client
                        size = 4 + struct.unpack(">H", buffer[2:4])[0]
                        buffer = buffer[size:]
                        continue
                    head, buffer = buffer.split(b"\r\n\r\n", 1)
                    method, answer = self._reply(head.decode(errors="replace"))
                    try:
                        with lock:
                            client.sendall(answer)
                    except OSError:  # the client went away
                        return
                    if method == "PLAY":
                        self._spawn(self._stream, client, lock)
                    if method == "TEARDOWN":
                        return

    def _reply(self, request: str) -> tuple[str, bytes]:
        lines = request.split("\r\n")
        method = lines[0].split(" ")[0]
        fields = {k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:] if ":" in line)}
        more, body = "", ""
        if method == "OPTIONS":
            more = "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n"
        elif method == "DESCRIBE":
            body = (
                "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=wayword\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
                "m=video 0 RTP/AVP 26\r\na=control:track\r\n"
            )
            more = f"Content-Type: application/sdp\r\nContent-Base: {self.address}/\r\nContent-Length: {len(body)}\r\n"
        elif method == "SETUP":
            if "TCP" not in fields.get("transport", ""):
                return method, f"RTSP/1.0 461 Unsupported Transport\r\nCSeq: {fields.get('cseq', '0')}\r\n\r\n".encode()
            more = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n"
        elif method in ("PLAY", "TEARDOWN"):
            more = "Session: 1\r\n"
        return method, f"RTSP/1.0 200 OK\r\nCSeq: {fields.get('cseq', '0')}\r\n{more}\r\n{body}".encode()

    def _stream(self, client: socket.socket, lock: threading.Lock) -> None:
        sequence, began = 0, time.monotonic()
        pixels = self._see()
        while not self._closed.is_set():
            if not self.paused:
                pixels = pixels if self.frozen else self._see()
                stamp = int((time.monotonic() - began) * _CLOCK_HZ) & 0xFFFFFFFF
                for last, payload in packets(pixels):
                    head = struct.pack(">BBHII", 0x80, 26 | (0x80 if last else 0), sequence & 0xFFFF, stamp, 7)
                    sequence += 1
                    packet = head + payload
                    try:
                        with lock:
                            client.sendall(b"$\0" + struct.pack(">H", len(packet)) + packet)
                    except OSError:
                        return
            time.sleep(1 / self.frames_per_s)


def packets(pixels: NDArray[np.uint8]) -> Iterator[tuple[bool, bytes]]:
    """One frame as RTP/JPEG payloads, each with whether it is the last."""
    height, width = pixels.shape[:2]
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=92, subsampling=2)  # 4:2:0, the standard Huffman tables
    tables, scan = _cut(buffer.getvalue())
    offset = 0
    while offset < len(scan):
        part = scan[offset : offset + _PAYLOAD]
        head = struct.pack(">I", offset) + bytes([1, 255, width // 8, height // 8])  # type 1: 4:2:0; tables in band
        if offset == 0:
            head += struct.pack(">BBH", 0, 0, len(tables)) + tables
        offset += len(part)
        yield offset >= len(scan), head + part


def _cut(jpeg: bytes) -> tuple[bytes, bytes]:
    """Quantisation tables and entropy-coded data of a baseline JPEG."""
    at, tables = 2, b""
    while True:
        marker, size = jpeg[at + 1], struct.unpack(">H", jpeg[at + 2 : at + 4])[0]
        segment = jpeg[at + 4 : at + 2 + size]
        at += 2 + size
        if marker == 0xDB:
            while segment:
                tables += segment[1:65]
                segment = segment[65:]
        elif marker == 0xDA:
            return tables, jpeg[at:-2]
