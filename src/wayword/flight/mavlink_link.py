"""A MAVLink connection: a thread that keeps the newest message of each kind, and a lock around sending.

Nothing is opened but what the address names; the address that is used by default is on loopback.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from wayword.errors import WaywordError

os.environ.setdefault("MAVLINK20", "1")

SYSTEM, COMPONENT = 245, 191
"""We are an onboard computer, never a ground station (255): posing as one would mask the autopilot's loss of the real
one. An ArduPilot is told by its owner to watch for number 245 (SYSID_MYGCS), so that it lands when we fall silent."""
_TEXTS, _AT_ONCE = 50, 10
"""Texts that are kept; parameters that are asked for before their answers are waited for."""
_WAIT_S = 0.05
_ADDRESS = re.compile(r"(udpin|udpout|tcp|tcpin)://([^:/]+|\[[0-9a-fA-F:]+\]):(\d{1,5})$|serial://(/[^:]+)(?::(\d+))?$")


def need_pymavlink() -> Any:
    """The library, or what to install."""
    try:
        from pymavlink import mavutil
    except ImportError as error:
        raise WaywordError('flying a vehicle needs pymavlink: pip install -e ".[flight]"') from error
    return mavutil


def parse_address(address: str) -> tuple[str, int | None]:
    """pymavlink's name of an address such as udpin://127.0.0.1:14540, and the baud rate of a serial line."""
    match = _ADDRESS.match(address)
    if match is None:
        raise WaywordError(
            f"{address!r} is no vehicle address; for example udpin://127.0.0.1:14540, tcp://127.0.0.1:5760 "
            "or serial:///dev/ttyACM0:921600"
        )
    kind, host, port, device, baud = match.groups()
    if kind is None:
        return device, int(baud or 57600)
    if not 0 < int(port) < 65536:
        raise WaywordError(f"{address!r}: a port is between 1 and 65535")
    return f"{kind}:{host.strip('[]')}:{port}", None


def _claim(name: str) -> None:
    """Refuse a UDP port that somebody listens on: of two listeners the later one would get everything."""
    if not name.startswith("udpin:"):
        return
    _, host, port = name.split(":", 2)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((host, int(port)))


class MavlinkLink:
    """One connection to one vehicle; ``watch`` is told of every message, as (message, read at, on its way since)."""

    def __init__(self, address: str, watch: Callable[[Any, float, float], None] | None = None) -> None:
        mavutil = need_pymavlink()
        name, baud = parse_address(address)
        self.address, self._watch = address, watch
        try:
            _claim(name)
            self.connection = mavutil.mavlink_connection(
                name, source_system=SYSTEM, source_component=COMPONENT, **({} if baud is None else {"baud": baud})
            )
        except (OSError, Exception) as error:  # pyserial and sockets raise kinds of their own
            raise WaywordError(
                f"{address}: cannot be opened ({error}); is a flight or a check using it, or is it the wrong address?"
            ) from error
        if name.startswith("udpin:"):  # pymavlink lets others listen on the same port
            self.connection.port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        self.mavlink = mavutil.mavlink
        self.target: tuple[int, int] | None = None
        self._newest: dict[str, tuple[float, Any]] = {}
        self._parameters: dict[str, float] = {}
        self._acks: dict[int, tuple[float, int]] = {}
        self._texts: deque[tuple[float, int, str]] = deque(maxlen=_TEXTS)
        self._lock, self._changed = threading.RLock(), threading.Condition()  # signal handlers send too
        self._closed = False
        self.heard_s = -float("inf")
        self._thread = threading.Thread(target=self._read, name="mavlink", daemon=True)
        self._thread.start()

    def newest(self, kind: str) -> tuple[float, Any] | None:
        """The newest message of a kind and when it arrived."""
        return self._newest.get(kind)

    def send(self, message: Any) -> None:
        """One message. A link that is down swallows it: what counts is what comes back."""
        with self._lock, contextlib.suppress(OSError):
            self.connection.mav.send(message)

    def wait_for(self, holds: Any, seconds: float) -> bool:
        """Until ``holds()``, at most this long."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not holds():
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(min(left, 0.1))
        return True

    def read_parameters(self, names: list[str], tries: int = 4, wait_s: float = 0.7) -> dict[str, float]:
        """Read parameters back from the vehicle; those it does not have are left out."""
        assert self.target is not None
        for _ in range(tries):
            missing = [name for name in names if name not in self._parameters]
            for begin in range(0, len(missing), _AT_ONCE):
                batch = missing[begin : begin + _AT_ONCE]
                for name in batch:
                    self.send(self.mavlink.MAVLink_param_request_read_message(*self.target, name.encode(), -1))
                self.wait_for(lambda: all(name in self._parameters for name in batch), wait_s)  # noqa: B023
        return {name: self._parameters[name] for name in names if name in self._parameters}

    def texts(self, since_s: float) -> list[str]:
        """What the vehicle has said in words since a time, long texts put together."""
        parts: list[tuple[int, str]] = []
        for heard_s, number, text in list(self._texts):
            if heard_s < since_s:
                continue
            if number and parts and parts[-1][0] == number:
                parts[-1] = (number, parts[-1][1] + text)
            else:
                parts.append((number, text))
        return list(dict.fromkeys(text for _, text in parts))

    def command(self, number: int, *values: float, tries: int = 3, wait_s: float = 1.0) -> int | None:
        """COMMAND_LONG, again until it is answered: the result (0: accepted), or None."""
        for attempt in range(tries):
            begun_s = time.monotonic()
            self.tell(number, *values, confirmation=attempt)
            if self.wait_for(lambda: self.answer(number, begun_s) is not None, wait_s):  # noqa: B023
                return self.answer(number, begun_s)
        return None

    def answer(self, number: int, since_s: float) -> int | None:
        """What the vehicle answered to a command since a time (0: accepted), or None."""
        heard_s, result = self._acks.get(number, (-float("inf"), 0))
        return result if heard_s >= since_s else None

    def tell(self, number: int, *values: float, confirmation: int = 0) -> None:
        """COMMAND_LONG without waiting for an answer."""
        assert self.target is not None
        padded = [*map(float, values), *[0.0] * (7 - len(values))]
        self.send(self.mavlink.MAVLink_command_long_message(*self.target, number, confirmation, *padded))

    def close(self) -> None:
        """Let go of the line."""
        self._closed = True
        self._thread.join(1.0)
        self.connection.close()

    def _read(self) -> None:
        empty_s = time.monotonic()
        while not self._closed:
            try:
                # What is read was sent after the line was last seen empty: if this process stood still, long ago.
                looked_s = time.monotonic()
                if not self.connection.select(0.0):
                    empty_s = looked_s
                    if not self.connection.select(_WAIT_S):
                        continue
                while (message := self.connection.recv_msg()) is not None:
                    if message.get_type() != "BAD_DATA":
                        self._take(message, empty_s)
            except (OSError, TypeError, ValueError):  # a socket that was closed under us, a torn message
                time.sleep(0.02)

    def _take(self, message: Any, sent_s: float) -> None:
        source, kind, now = message.get_srcSystem(), message.get_type(), time.monotonic()
        if kind == "HEARTBEAT":
            if message.autopilot == self.mavlink.MAV_AUTOPILOT_INVALID:  # a ground station, a gimbal
                return
            if self.target is None:
                self.target = (source, message.get_srcComponent())
        if self.target is None or source != self.target[0]:
            return
        self.heard_s = now
        self._newest[kind] = (now, message)
        if kind == "PARAM_VALUE":
            self._parameters[_text(message.param_id)] = _value(message, self.mavlink)
        elif kind == "COMMAND_ACK":
            self._acks[message.command] = (now, message.result)
        elif kind == "STATUSTEXT":
            self._texts.append((now, int(getattr(message, "id", 0)), _text(message.text)))
        if self._watch is not None:
            self._watch(message, now, sent_s)
        with self._changed:
            self._changed.notify_all()


def _text(name: str | bytes) -> str:
    return (name.decode(errors="replace") if isinstance(name, bytes) else name).rstrip("\0")


def _value(message: Any, mavlink: Any) -> float:
    """PX4 sends integers as the bits of a float, ArduPilot as their value; tiny floats give the former away."""
    import struct

    value = float(message.param_value)
    whole = message.param_type != mavlink.MAV_PARAM_TYPE_REAL32
    if whole and value != 0 and (abs(value) < 1e-30 or value != value):
        return float(struct.unpack("<i", struct.pack("<f", value))[0])
    return value
