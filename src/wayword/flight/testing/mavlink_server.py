"""A MAVLink vehicle for tests: the autopilot model behind a UDP socket on loopback, in real time.

Speaks what a PX4 or ArduPilot speaks to an onboard computer: heartbeats, modes, parameters, commands with answers,
setpoints, local position, attitude, battery and landed state. It obeys their offboard rules and has their timer.

    with MavlinkServer("PX4") as drone:
        MavlinkVehicle(drone.address)
"""

from __future__ import annotations

import contextlib
import math
import socket
import struct
import threading
import time
from types import TracebackType
from typing import Any

from wayword.flight.autopilot_model import AutopilotModel, AutopilotModelConfig, Setpoint
from wayword.flight.autopilots import (
    ARDUPILOT,
    FORCE_DISARM,
    PLACE_MASK,
    PX4,
    VELOCITY_HEIGHT_MASK,
    VELOCITY_MASK,
    Autopilot,
)
from wayword.flight.frames import Site, quaternion_of
from wayword.flight.mavlink_link import need_pymavlink
from wayword.flight.vehicle import Mode

GOOD_PARAMETERS = {
    "PX4": {"COM_OF_LOSS_T": 0.5, "COM_OBL_RC_ACT": 4, "NAV_RCL_ACT": 3, "COM_RC_IN_MODE": 0, "COM_RCL_EXCEPT": 0,
            "NAV_DLL_ACT": 0, "COM_LOW_BAT_ACT": 2, "GF_ACTION": 5, "GF_MAX_HOR_DIST": 6.0, "GF_MAX_VER_DIST": 2.0},
    "ArduPilot": {"GUID_TIMEOUT": 1.0, "FS_GCS_ENABLE": 5, "SYSID_MYGCS": 245, "FS_GCS_TIMEOUT": 5.0,
                  "FS_THR_ENABLE": 3, "FS_OPTIONS": 16, "FS_EKF_ACTION": 1, "BATT_FS_LOW_ACT": 1,
                  "BATT_LOW_VOLT": 14.0, "BATT_FS_CRT_ACT": 1, "FENCE_ENABLE": 1, "FENCE_TYPE": 7, "FENCE_ACTION": 2,
                  "FENCE_RADIUS": 8.0, "FENCE_ALT_MAX": 3.0},
}  # fmt: skip
_FLOATS = {"COM_OF_LOSS_T", "GF_MAX_HOR_DIST", "GF_MAX_VER_DIST", "GUID_TIMEOUT", "FS_GCS_TIMEOUT", "BATT_LOW_VOLT",
           "FENCE_RADIUS", "FENCE_ALT_MAX"}  # fmt: skip
_TICK_S = 0.02
_SITE = Site(north_m=12.0, east_m=-7.0, ground_m=0.4, heading_rad=0.9)
"""Where the map lies in the vehicle's own frame: nowhere handy."""


class MavlinkServer:
    """Runs in a thread until it is closed."""

    def __init__(
        self,
        kind: str = "PX4",
        start: tuple[float, float, float] = (0.6, 0.6, 0.0),
        parameters: dict[str, float] | None = None,
        **model: Any,
    ) -> None:
        self.autopilot: Autopilot = {"PX4": PX4, "ArduPilot": ARDUPILOT}[kind]
        self.parameters: dict[str, float] = {**GOOD_PARAMETERS[kind], **(parameters or {})}
        model.setdefault("silence_s", self.autopilot.silence_s(self.parameters))
        if kind == "ArduPilot":  # it stands still in guided, and lands only if it misses a heartbeat
            model.setdefault("on_silence", "stop")
            model.setdefault("heartbeat_s", self.parameters["FS_GCS_TIMEOUT"])
        self.body = AutopilotModel(AutopilotModelConfig(**model), *start)
        self.mute = False
        """The link is down: nothing is sent, nothing is heard."""
        self.port = _free_port()
        self.address = f"udpin://127.0.0.1:{self.port}"
        self.path: list[tuple[float, float, float]] = []
        """True x, y, z at every tick."""
        self.masks: set[int] = set()
        self.setpoints = 0
        self.beats = 0
        """Heartbeats heard."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self._mav: Any = need_pymavlink().mavlink
        self._codec = self._mav.MAVLink(None, srcSystem=1, srcComponent=1)
        self._codec.robust_parsing = True
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
                self.body.advance(_TICK_S)
                self._ticks += 1
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
            if self.mute:
                continue
            for message in self._codec.parse_buffer(data) or []:
                self._answer(message)

    def _answer(self, message: Any) -> None:
        kind = message.get_type()
        if kind == "PARAM_REQUEST_READ":
            name = message.param_id.rstrip("\0")
            if name in self.parameters:
                self._send(self._parameter(name))
        elif kind == "COMMAND_LONG":
            self._send(self._mav.MAVLink_command_ack_message(message.command, self._obey(message)))
        elif kind == "SET_POSITION_TARGET_LOCAL_NED":
            self._setpoint(message)
        elif kind == "HEARTBEAT":
            self.beats += 1
            if message.get_srcSystem() == self.parameters.get("SYSID_MYGCS"):
                self.body.hear()

    def _obey(self, message: Any) -> int:
        mav, body = self._mav, self.body
        if message.command == mav.MAV_CMD_COMPONENT_ARM_DISARM:
            if message.param1 < 0.5:
                if body.mode is not Mode.GROUND and message.param2 != FORCE_DISARM:
                    return 1  # temporarily rejected: it is flying
                body.kill()
            else:
                body.arm()
        elif message.command == mav.MAV_CMD_NAV_TAKEOFF:
            height = message.param7 if math.isfinite(message.param7) else 0.8
            return 0 if body.take_off(height) else 1
        elif message.command == mav.MAV_CMD_DO_SET_MODE:
            return 0 if self._switch((round(message.param2), round(message.param3))) else 4
        elif message.command != mav.MAV_CMD_SET_MESSAGE_INTERVAL:
            return 3
        return 0

    def _switch(self, wanted: tuple[int, int]) -> bool:
        mode = next((mode for mode, value in self.autopilot.modes.items() if value == wanted), None)
        if mode is Mode.LAND:
            return self.body.land()
        if mode is Mode.HOLD:
            return self.body.hold()
        if mode is Mode.OFFBOARD:
            if self.autopilot.name == "ArduPilot":  # guided is also the mode in which it arms and takes off
                return True
            return self.body.offboard()
        return False

    def _setpoint(self, message: Any) -> None:
        self.setpoints += 1
        self.masks.add(message.type_mask)
        x, y = _SITE._turn(message.x - _SITE.north_m, message.y - _SITE.east_m)
        vx, vy, vz = _SITE.velocity((message.vx, message.vy, message.vz))
        height = _SITE.ground_m - message.z
        if message.type_mask == PLACE_MASK:
            self.body.receive(Setpoint(None, 0.0, (x, y), _SITE.ned_yaw(message.yaw), height))
        elif message.type_mask == VELOCITY_HEIGHT_MASK and self.autopilot.mixes_height:
            self.body.receive(Setpoint((vx, vy, 0.0), -message.yaw_rate, height=height))
        elif message.type_mask == VELOCITY_MASK:
            self.body.receive(Setpoint((vx, vy, vz), -message.yaw_rate))
        if self.autopilot.name == "ArduPilot" and self.body.mode is Mode.HOLD:
            self.body.mode = Mode.OFFBOARD  # guided all along; it listens once it is up

    def _speak(self) -> None:
        if self.mute:
            return
        said = self.body.telemetry()
        ms = int(self.body.time_s * 1000)
        n, e, d = _SITE.ned(*said.pose[:3])
        vn, ve = _SITE.ned_direction(said.velocity[0], said.velocity[1])
        self._send(self._mav.MAVLink_local_position_ned_message(ms, n, e, d, vn, ve, -said.velocity[2]))
        roll, pitch, yaw = said.pose[3:]
        q = quaternion_of(roll, -pitch, _SITE.ned_yaw(yaw))
        self._send(self._mav.MAVLink_attitude_quaternion_message(ms, *q, 0.0, 0.0, 0.0))
        if self._ticks % 10 == 0 or len(self.path) % 10 == 0:
            self._send(self._heartbeat())
            ground = self.body.mode is Mode.GROUND
            self._send(self._mav.MAVLink_extended_sys_state_message(0, 1 if ground else 2))
            self._send(self._status())

    def _heartbeat(self) -> Any:
        mav, mode = self._mav, self.body.mode
        if self.autopilot.name == "ArduPilot" and mode in (Mode.GROUND, Mode.TAKEOFF, Mode.HOLD):
            mode = Mode.OFFBOARD
        custom = self.autopilot.custom(mode) if mode in self.autopilot.modes else 0
        base = mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | (mav.MAV_MODE_FLAG_SAFETY_ARMED if self.body.armed else 0)
        number = 12 if self.autopilot.name == "PX4" else 3
        return mav.MAVLink_heartbeat_message(mav.MAV_TYPE_QUADROTOR, number, base, custom, mav.MAV_STATE_ACTIVE, 3)

    def _status(self) -> Any:
        left = round(100 * self.body.battery)
        return self._mav.MAVLink_sys_status_message(0, 0, 0, 0, 15000, -1, left, 0, 0, 0, 0, 0, 0)

    def _parameter(self, name: str) -> Any:
        mav, value = self._mav, float(self.parameters[name])
        kind = mav.MAV_PARAM_TYPE_REAL32
        if name not in _FLOATS:
            kind = mav.MAV_PARAM_TYPE_INT32
            if self.autopilot.name == "PX4":  # the bits of the integer, as PX4 does
                value = struct.unpack("<f", struct.pack("<i", int(value)))[0]
        return mav.MAVLink_param_value_message(name.encode(), value, kind, len(self.parameters), 0)

    def _send(self, message: Any) -> None:
        with contextlib.suppress(OSError):  # nobody listens
            self._socket.sendto(message.pack(self._codec), ("127.0.0.1", self.port))
        self._codec.seq = (self._codec.seq + 1) % 256


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
