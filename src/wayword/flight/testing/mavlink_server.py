"""A MAVLink vehicle for tests: the autopilot model behind a UDP socket on loopback, in real time.

Speaks what a PX4 or ArduPilot speaks to an onboard computer: heartbeats, modes, parameters, commands with answers,
setpoints, local position, attitude, battery and landed state. It obeys their offboard rules and has their timer.
What was measured on the real ones, and what a stand-in must not hide:

    PX4          a heartbeat a second, and another within milliseconds for whoever asks (REQUEST_MESSAGE); 0.8 of a
                 commanded speed; a failsafe that ends as soon as setpoints return
    ArduCopter   heartbeats as often as they are asked for (SET_MESSAGE_INTERVAL); a ceiling FENCE_MARGIN below
                 FENCE_ALT_MAX; lands if nobody between MAV_GCS_SYSID and MAV_GCS_SYSID_HI is heard

    with MavlinkServer("PX4") as drone:
        MavlinkVehicle(drone.address)
"""

from __future__ import annotations

import contextlib
import math
import socket
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.autopilot_model import AutopilotModel, Setpoint
from wayword.flight.autopilots import (
    ARDUPILOT,
    FORCE_DISARM,
    PLACE_MASK,
    PX4,
    VELOCITY_HEIGHT_MASK,
    VELOCITY_MASK,
    Autopilot,
)
from wayword.flight.mavlink_link import need_pymavlink
from wayword.flight.testing.autopilot_voice import GOOD_PARAMETERS, SITE, AutopilotVoice
from wayword.flight.vehicle import Mode

_TICK_S = 0.02
_BEAT_S = 1.0
_REQUEST_MESSAGE = 512


class MavlinkServer:
    """Runs in a thread until it is closed."""

    def __init__(
        self,
        kind: str = "PX4",
        start: tuple[float, float, float] = (0.6, 0.6, 0.0),
        parameters: Mapping[str, float | None] | None = None,
        ports: tuple[int, ...] = (),
        **model: Any,
    ) -> None:
        self.autopilot: Autopilot = {"PX4": PX4, "ArduPilot": ARDUPILOT}[kind]
        known = {**GOOD_PARAMETERS[kind], **(parameters or {})}
        self.parameters = {name: value for name, value in known.items() if value is not None}
        model.setdefault("silence_s", self.autopilot.silence_s(self.parameters))
        if kind == "ArduPilot":  # it stands still in guided, and lands only if it misses a heartbeat
            model.setdefault("on_silence", "stop")
            model.setdefault("heartbeat_s", self.parameters["FS_GCS_TIMEOUT"])
            model.setdefault("ceiling_m", self.parameters["FENCE_ALT_MAX"] - self.parameters.get("FENCE_MARGIN", 2.0))
        else:
            model.setdefault("comes_back", True)
            model.setdefault("speed_share", 0.8)
        self.body = AutopilotModel(AutopilotModelConfig(**model), *start)
        self.mute = False
        """The link is down: nothing is sent, nothing is heard."""
        self.deaf = False
        """Half of it is down: nothing is heard."""
        self.speechless = False
        """The other half: nothing is said."""
        self.refusal = ""
        """Said instead of arming."""
        self.answers_requests = True
        """Whether REQUEST_MESSAGE is understood."""
        self.ground_station: int | None = None
        """Another station whose heartbeats it hears all the time."""
        self.port = _free_port()
        self.address = f"udpin://127.0.0.1:{self.port}"
        self._ports = (self.port, *ports)
        self.path: list[tuple[float, float, float]] = []
        """True x, y, z at every tick."""
        self.masks: set[int] = set()
        self.setpoints = 0
        self.beats = 0
        """Heartbeats heard."""
        self.mode_commands: list[tuple[float, Mode | None, Mode]] = []
        """When, which mode was asked for, and which it was in."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self._mav: Any = need_pymavlink().mavlink
        self._codec = self._mav.MAVLink(None, srcSystem=1, srcComponent=1)
        self._codec.robust_parsing = True
        self.voice = AutopilotVoice(self.autopilot, self.body, self._mav, self.parameters)
        self._beat_due, self._beat_s = -math.inf, _BEAT_S
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mavlink test vehicle", daemon=True)
        self._ticks = 0

    def __enter__(self) -> MavlinkServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._closed.set()
        self._thread.join(2.0)
        self._socket.close()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._closed.is_set():
            self._hear()
            # In real time, also on a machine that stalls: the aircraft does not wait for the computer.
            late = time.monotonic() - due
            steps = max(int(late / _TICK_S), 0)
            for _ in range(steps):
                climbing = self.body.mode is Mode.TAKEOFF
                self.body.advance(_TICK_S)
                self._ticks += 1
                if climbing and self.body.mode is Mode.HOLD and self.autopilot.name == "ArduPilot":
                    self.body.mode = Mode.OFFBOARD  # guided all along; it listens once it is up
            due += steps * _TICK_S
            if steps:
                self.path.append((self.body.x, self.body.y, self.body.z))
                self._speak()
            time.sleep(0.005)

    def _hear(self) -> None:
        while True:
            try:
                data, _ = self._socket.recvfrom(4096)
            except (BlockingIOError, ConnectionRefusedError):
                return
            if self.mute or self.deaf:
                continue
            for message in self._codec.parse_buffer(data) or []:
                self._answer(message)

    def _answer(self, message: Any) -> None:
        kind = message.get_type()
        if kind == "PARAM_REQUEST_READ":
            name = message.param_id.rstrip("\0")
            if name in self.parameters:
                self._send(self.voice.parameter(name))
        elif kind == "COMMAND_LONG":
            self._send(self._mav.MAVLink_command_ack_message(message.command, self._obey(message)))
        elif kind == "SET_POSITION_TARGET_LOCAL_NED":
            self._setpoint(message)
        elif kind == "HEARTBEAT":
            self.beats += 1
            self._hear_station(message.get_srcSystem())

    def _hear_station(self, system: int | None) -> None:
        """ArduPilot watches one station, or from 4.7 on a range of them."""
        low = self.parameters.get("MAV_GCS_SYSID", self.parameters.get("SYSID_MYGCS"))
        if system is None or low is None:
            return
        if low <= system <= max(low, self.parameters.get("MAV_GCS_SYSID_HI", 0)):
            self.body.hear()

    def _obey(self, message: Any) -> int:
        mav, body = self._mav, self.body
        if message.command == mav.MAV_CMD_COMPONENT_ARM_DISARM:
            if message.param1 < 0.5:
                if body.mode is not Mode.GROUND and message.param2 != FORCE_DISARM:
                    return 1  # temporarily rejected: it is flying
                body.kill()
            elif self.refusal:
                for text in self.voice.texts(self.refusal):
                    self._send(text)
                return 1
            else:
                body.arm()
        elif message.command == mav.MAV_CMD_NAV_TAKEOFF:
            height = message.param7 if math.isfinite(message.param7) else 0.8
            return 0 if body.take_off(height) else 1
        elif message.command == mav.MAV_CMD_DO_SET_MODE:
            return 0 if self._switch((round(message.param2), round(message.param3))) else 4
        elif message.command == mav.MAV_CMD_SET_MESSAGE_INTERVAL:
            if round(message.param1) == mav.MAVLINK_MSG_ID_HEARTBEAT and self.autopilot.name == "ArduPilot":
                self._beat_s = message.param2 / 1e6
        elif message.command == _REQUEST_MESSAGE and self.answers_requests:
            answer = self.voice.requested(round(message.param1))
            if answer is None:
                return 4
            self._send(answer)
        else:
            return 3
        return 0

    def _switch(self, mode_code: tuple[int, int]) -> bool:
        mode = next((mode for mode, value in self.autopilot.modes.items() if value == mode_code), None)
        self.mode_commands.append((self.body.time_s, mode, self.body.mode))
        if mode is Mode.LAND:
            return self.body.land()
        if mode is Mode.HOLD:
            return self.body.hold()
        if mode is Mode.OFFBOARD:
            if self.autopilot.name == "ArduPilot":  # guided is also the mode in which it arms and takes off
                if self.body.mode in (Mode.HOLD, Mode.LAND):
                    self.body.mode = Mode.OFFBOARD
                return True
            return self.body.offboard()
        return False

    def _setpoint(self, message: Any) -> None:
        self.setpoints += 1
        self.masks.add(message.type_mask)
        x, y = SITE._turn(message.x - SITE.north_m, message.y - SITE.east_m)
        vx, vy, vz = SITE.velocity((message.vx, message.vy, message.vz))
        height = SITE.ground_m - message.z
        if message.type_mask == PLACE_MASK:
            self.body.receive(Setpoint(None, 0.0, (x, y), SITE.ned_yaw(message.yaw), height))
        elif message.type_mask == VELOCITY_HEIGHT_MASK and self.autopilot.mixes_height:
            self.body.receive(Setpoint((vx, vy, 0.0), -message.yaw_rate, height=height))
        elif message.type_mask == VELOCITY_MASK:
            self.body.receive(Setpoint((vx, vy, vz), -message.yaw_rate))

    def _speak(self) -> None:
        self._hear_station(self.ground_station)
        for message in self.voice.pose():
            self._send(message)
        if self._ticks % 10 == 0 or len(self.path) % 10 == 0:
            for message in self.voice.state():
                self._send(message)
        if self.body.time_s >= self._beat_due:
            self._beat_due = self.body.time_s + self._beat_s
            self._send(self.voice.heartbeat())

    def _send(self, message: Any) -> None:
        packed = message.pack(self._codec)
        for port in () if self.mute or self.speechless else self._ports:
            with contextlib.suppress(OSError):  # nobody listens
                self._socket.sendto(packed, ("127.0.0.1", port))
        self._codec.seq = (self._codec.seq + 1) % 256


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
