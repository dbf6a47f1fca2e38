"""What the stand-in autopilot says: each message as a PX4 or an ArduCopter would fill it in."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from wayword.flight.autopilot_model import AutopilotModel
from wayword.flight.autopilots import Autopilot
from wayword.flight.frames import Site, quaternion_of
from wayword.flight.vehicle import Mode

GOOD_PARAMETERS = {
    "PX4": {"COM_OF_LOSS_T": 0.5, "COM_OBL_RC_ACT": 4, "NAV_RCL_ACT": 3, "COM_RC_IN_MODE": 0, "COM_RCL_EXCEPT": 0,
            "NAV_DLL_ACT": 0, "COM_LOW_BAT_ACT": 2, "GF_ACTION": 5, "GF_MAX_HOR_DIST": 8.0, "GF_MAX_VER_DIST": 2.0},
    "ArduPilot": {"GUID_TIMEOUT": 1.0, "FS_GCS_ENABLE": 5, "SYSID_MYGCS": 245, "FS_GCS_TIMEOUT": 5.0,
                  "FS_THR_ENABLE": 3, "FS_OPTIONS": 16, "FS_EKF_ACTION": 1, "BATT_FS_LOW_ACT": 1,
                  "BATT_LOW_VOLT": 14.0, "BATT_FS_CRT_ACT": 1, "FENCE_ENABLE": 1, "FENCE_TYPE": 7, "FENCE_ACTION": 2,
                  "FENCE_RADIUS": 10.0, "FENCE_ALT_MAX": 3.0, "FENCE_MARGIN": 2.0, "FENCE_TOTAL": 0},
}  # fmt: skip
_FLOATS = {"COM_OF_LOSS_T", "GF_MAX_HOR_DIST", "GF_MAX_VER_DIST", "GUID_TIMEOUT", "FS_GCS_TIMEOUT", "BATT_LOW_VOLT",
           "FENCE_RADIUS", "FENCE_ALT_MAX", "FENCE_MARGIN"}  # fmt: skip
SITE = Site(north_m=12.0, east_m=-7.0, ground_m=0.4, heading_rad=0.9)
"""Where the map lies in the vehicle's own frame: nowhere handy."""
VERSIONS = {"PX4": (1, 15, 4), "ArduPilot": (4, 6, 0)}
_CHUNK = 50
_SENSORS = 0b101111  # gyro, accelerometer, magnetometer, absolute pressure, GPS
_PREARM = 0x10000000


class AutopilotVoice:
    """Messages about one body."""

    def __init__(self, autopilot: Autopilot, body: AutopilotModel, mav: Any, parameters: Mapping[str, float]) -> None:
        self.autopilot, self.body, self.parameters, self._mav = autopilot, body, parameters, mav
        self.version = VERSIONS[autopilot.name]
        self.unhealthy = 0
        """Bits of MAV_SYS_STATUS_SENSOR that are not well."""

    def pose(self) -> Iterator[Any]:
        """Where it believes it is."""
        report, ms = self.body.telemetry(), int(self.body.time_s * 1000)
        n, e, d = SITE.ned(*report.pose[:3])
        vn, ve = SITE.ned_direction(report.velocity[0], report.velocity[1])
        yield self._mav.MAVLink_local_position_ned_message(ms, n, e, d, vn, ve, -report.velocity[2])
        roll, pitch, yaw = report.pose[3:]
        q = quaternion_of(roll, -pitch, SITE.ned_yaw(yaw))
        yield self._mav.MAVLink_attitude_quaternion_message(ms, *q, 0.0, 0.0, 0.0)

    def state(self) -> Iterator[Any]:
        """On the ground, in the air or landing; battery and health."""
        mav, mode = self._mav, self.body.mode
        landed = {Mode.GROUND: mav.MAV_LANDED_STATE_ON_GROUND, Mode.LAND: mav.MAV_LANDED_STATE_LANDING,
                  Mode.TAKEOFF: mav.MAV_LANDED_STATE_TAKEOFF}  # fmt: skip
        yield mav.MAVLink_extended_sys_state_message(0, landed.get(mode, mav.MAV_LANDED_STATE_IN_AIR))
        sensors, left = _SENSORS | _PREARM, round(100 * self.body.battery)
        well = sensors & ~self.unhealthy & ~(_PREARM if self.unhealthy else 0)
        yield mav.MAVLink_sys_status_message(sensors, sensors, well, 0, 15000, -1, left, 0, 0, 0, 0, 0, 0)

    def heartbeat(self) -> Any:
        """Who flies; on ArduPilot the take-off happens in guided."""
        mav, mode = self._mav, self.body.mode
        if self.autopilot.name == "ArduPilot" and mode in (Mode.GROUND, Mode.TAKEOFF):
            mode = Mode.OFFBOARD
        custom = self.autopilot.custom(mode) if mode in self.autopilot.modes else 0
        base = mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | (mav.MAV_MODE_FLAG_SAFETY_ARMED if self.body.armed else 0)
        number = 12 if self.autopilot.name == "PX4" else 3
        return mav.MAVLink_heartbeat_message(mav.MAV_TYPE_QUADROTOR, number, base, custom, mav.MAV_STATE_ACTIVE, 3)

    def requested(self, number: int) -> Any:
        """What MAV_CMD_REQUEST_MESSAGE asks for, or None."""
        mav = self._mav
        if number == mav.MAVLINK_MSG_ID_HEARTBEAT:
            return self.heartbeat()
        if number == mav.MAVLINK_MSG_ID_AUTOPILOT_VERSION:
            major, minor, patch = self.version
            software = major << 24 | minor << 16 | patch << 8 | 255
            return mav.MAVLink_autopilot_version_message(0, software, 0, 0, 0, [0] * 8, [0] * 8, [0] * 8, 0, 0, 0)
        return None

    def texts(self, text: str) -> Iterator[Any]:
        """STATUSTEXT, in pieces of 50 characters."""
        for number, begin in enumerate(range(0, len(text), _CHUNK)):
            piece = text[begin : begin + _CHUNK].encode()
            whole = len(text) <= _CHUNK
            yield self._mav.MAVLink_statustext_message(4, piece, 0 if whole else 7, 0 if whole else number)

    def parameter(self, name: str) -> Any:
        """PARAM_VALUE."""
        mav, value = self._mav, float(self.parameters[name])
        kind = mav.MAV_PARAM_TYPE_REAL32
        if name not in _FLOATS:
            kind = mav.MAV_PARAM_TYPE_INT32
            if self.autopilot.name == "PX4":  # the bits of the integer, as PX4 does
                value = struct.unpack("<f", struct.pack("<i", int(value)))[0]
        return mav.MAVLink_param_value_message(name.encode(), value, kind, len(self.parameters), 0)
