"""Between a vehicle and a flight: passes everything on, looks at all of it, and can cut the line.

For rehearsals: the flight listens where the relay sends, so that its own process is the real one with the real link.
What the relay sees of the vehicle goes on when the flight is cut off, killed or frozen; the pictures are drawn from it.
It asks the vehicle for nothing but poses: a heartbeat more would tell the flight what no autopilot tells by itself.
"""

from __future__ import annotations

import math
import select
import socket
import threading
import time
from typing import Any

from wayword.errors import WaywordError
from wayword.flight.autopilots import BY_NUMBER, Autopilot
from wayword.flight.frames import Site, euler
from wayword.flight.mavlink_link import MavlinkLink, need_pymavlink
from wayword.flight.vehicle import Mode, Pose

_GROUND_STATION = 255
_RATE_HZ = 30.0


class MavlinkRelay:
    """One vehicle, one flight. ``address`` is for the flight."""

    def __init__(self, vehicle: str, connect_s: float = 10.0) -> None:
        self._back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._back.bind(("127.0.0.1", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        self.address = f"udpin://127.0.0.1:{self._port}"
        self.cut = False
        """Nothing is passed on, either way."""
        self.sent: list[tuple[float, str]] = []
        """When the flight sent a setpoint or a command that changes something, and which."""
        self.modes: list[tuple[float, Mode]] = []
        """Every change of the vehicle's mode."""
        self.site = Site()
        self._mav: Any = need_pymavlink().mavlink
        self._codec = self._mav.MAVLink(None)
        self._codec.robust_parsing = True
        self._autopilot: Autopilot | None = None
        self._closed = threading.Event()
        self._front = _Raw(vehicle, self._from_vehicle)
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)
        self._thread.start()
        self._connect(vehicle, connect_s)

    def _connect(self, vehicle: str, connect_s: float) -> None:
        link, mav = self._front, self._mav
        if not link.wait_for(lambda: link.newest("HEARTBEAT") is not None, connect_s):
            self.close()
            raise WaywordError(f"{vehicle}: no heartbeat for {connect_s:g} s; start the autopilot first")
        self._autopilot = BY_NUMBER.get(link.newest("HEARTBEAT")[1].autopilot)  # type: ignore[index]
        if self._autopilot is None:
            self.close()
            raise WaywordError(f"{vehicle}: neither PX4 nor ArduPilot")
        for message in (mav.MAVLINK_MSG_ID_LOCAL_POSITION_NED, mav.MAVLINK_MSG_ID_ATTITUDE_QUATERNION):
            link.tell(mav.MAV_CMD_SET_MESSAGE_INTERVAL, message, 1e6 / _RATE_HZ)
        poses = ("LOCAL_POSITION_NED", "ATTITUDE_QUATERNION")
        if not link.wait_for(lambda: all(link.newest(kind) is not None for kind in poses), connect_s):
            self.close()
            raise WaywordError(f"{vehicle}: no position; wait until its estimator has settled, then try again")

    def stand_at(self, start: tuple[float, float, float]) -> None:
        """Where the vehicle is now is ``start`` on the map."""
        position, q = self._position(), self._quaternion()
        self.site = Site.of_start(start, position, euler(q)[2])

    @property
    def pose(self) -> Pose:
        """Where the vehicle is on the map."""
        return self.site.pose(self._position(), self._quaternion())

    @property
    def autopilot(self) -> Autopilot:
        """Which of the two it is."""
        assert self._autopilot is not None
        return self._autopilot

    @property
    def armed(self) -> bool:
        """Whether its motors turn."""
        beat = self._front.newest("HEARTBEAT")
        return beat is not None and bool(beat[1].base_mode & self._mav.MAV_MODE_FLAG_SAFETY_ARMED)

    @property
    def mode(self) -> Mode:
        """Its mode; ground while the motors stand."""
        beat = self._front.newest("HEARTBEAT")
        return Mode.GROUND if beat is None or not self.armed else self.autopilot.mode(beat[1].custom_mode)

    def switch(self, mode: Mode) -> None:
        """Choose a mode as a pilot does, from a ground station."""
        main, sub = self.autopilot.modes[mode]
        flag = self._mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
        self._front.tell(self._mav.MAV_CMD_DO_SET_MODE, flag, main, sub)

    def close(self) -> None:
        """Let go of both sides."""
        self._closed.set()
        self._thread.join(1.0)
        self._front.close()
        self._back.close()

    def _position(self) -> tuple[float, float, float]:
        p = self._front.newest("LOCAL_POSITION_NED")
        assert p is not None
        return p[1].x, p[1].y, p[1].z

    def _quaternion(self) -> tuple[float, float, float, float]:
        q = self._front.newest("ATTITUDE_QUATERNION")
        assert q is not None
        return q[1].q1, q[1].q2, q[1].q3, q[1].q4

    def _from_vehicle(self, message: Any, now_s: float, sent_s: float) -> None:
        if not self.cut:
            self._back.sendto(bytes(message.get_msgbuf()), ("127.0.0.1", self._port))
        kind, mav = message.get_type(), self._mav
        if kind == "HEARTBEAT" and self._autopilot is not None:
            self._changed(now_s, self.mode)
        elif kind == "EXTENDED_SYS_STATE" and message.landed_state == mav.MAV_LANDED_STATE_LANDING:
            self._changed(now_s, Mode.LAND)

    def _changed(self, now_s: float, mode: Mode) -> None:
        if not self.modes or self.modes[-1][1] is not mode:
            self.modes.append((now_s, mode))

    def _run(self) -> None:
        """From the flight to the vehicle."""
        while not self._closed.is_set():
            if not select.select([self._back], [], [], 0.1)[0]:
                continue
            try:
                data, _ = self._back.recvfrom(4096)
            except OSError:  # nobody listens there yet
                time.sleep(0.01)
                continue
            for message in self._codec.parse_buffer(data) or []:
                self._note(message)
            if not self.cut:
                self._front.pass_on(data)

    def _note(self, message: Any) -> None:
        mav, kind = self._mav, message.get_type()
        if kind == "SET_POSITION_TARGET_LOCAL_NED":
            self.sent.append((time.monotonic(), "setpoint"))
        elif kind == "COMMAND_LONG" and message.command == mav.MAV_CMD_DO_SET_MODE:
            self.sent.append((time.monotonic(), "mode"))
        elif kind == "COMMAND_LONG" and message.command == mav.MAV_CMD_COMPONENT_ARM_DISARM:
            self.sent.append((time.monotonic(), "motors"))


class _Raw(MavlinkLink):
    """A link that also passes on bytes of somebody else's; what it says itself, it says as a ground station."""

    def __init__(self, address: str, watch: Any) -> None:
        super().__init__(address, watch)
        self.connection.mav.srcSystem, self.connection.mav.srcComponent = _GROUND_STATION, 190

    def pass_on(self, data: bytes) -> None:
        """As they are."""
        with self._lock:
            self.connection.write(data)


def moved_m(before: Pose, after: Pose) -> float:
    """How far it is from one pose to the other, on the map."""
    return math.dist(before[:2], after[:2])
