"""PX4 and ArduPilot: modes, setpoint masks and the failsafe parameters that must be on.

Measured against real ones: PX4 leaves offboard COM_OF_LOSS_T + 0.6 s after the last setpoint (1.6 s by default) and
refuses it without a running stream; ArduPilot stops GUID_TIMEOUT + 0.9 s after (3.9 s by default). PX4 turns a body
velocity into a world velocity once, on receipt, so local velocities are sent anew while yawing. PX4 holds its height
with a mask that mixes z position with vx, vy and the yaw rate; ArduPilot wants all three velocities.

After the last setpoint PX4 changes its mode, ArduPilot does not: it stands still in guided mode until somebody flies it
or its battery is low. It lands by itself only if it watches our heartbeat (FS_GCS_ENABLE, SYSID_MYGCS).

No rule accepts a way home: PX4's return climbs to RTL_RETURN_ALT (60 m by default) or RTL_DESCEND_ALT (30 m),
ArduPilot's to RTL_ALT, never below 2 m: through the ceiling of any fence for a map of 4.7 m. Nor does any rule accept
what stops the motors in the air (terminate, disarm): that is for a person to choose, by a second Ctrl-C.

Where each parameter is from:

    PX4         the parameters' own source: commander_params.c and geofence_params.c of release 1.15, and their yaml
                successors on the main branch of 2026; failsafe/failsafe.cpp for what the values do
    ArduPilot   Copter 4.6: ArduCopter/Parameters.cpp, AC_Fence.cpp, AP_BattMonitor_Params.cpp; ArduCopter/events.cpp
                and mode_guided.cpp for what they do
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wayword.flight.firmware import Version
from wayword.flight.mavlink_link import SYSTEM
from wayword.flight.vehicle import Mode

VELOCITY_HEIGHT_MASK = 0b010111100011
"""Use z, vx, vy, yaw rate."""
VELOCITY_MASK = 0b010111000111
"""Use vx, vy, vz, yaw rate."""
PLACE_MASK = 0b100111111000
"""Use x, y, z, yaw."""
FORCE_DISARM = 21196
"""Param 2 of MAV_CMD_COMPONENT_ARM_DISARM that stops the motors in the air on both (MAVLink's common.xml; PX4's
Commander.cpp; ArduPilot's page "Arming and Disarming"). MAV_CMD_DO_FLIGHTTERMINATION is not the same on both: PX4
enters a termination state of its own, and what ArduPilot does is a setting of its advanced failsafe."""


@dataclass(frozen=True)
class Rule:
    """One parameter that must be as wanted."""

    name: str
    demand: str
    remedy: str
    """{name} stands for the parameter's name in this firmware."""
    holds: Callable[[float], bool]
    others: tuple[str, ...] = ()
    """Older or newer names of the same parameter."""
    only_with: str = ""
    """The rule is for vehicles that have this parameter."""
    newer: tuple[tuple[int, ...], Version] = ((), (0, 0, 0))
    """Values that mean what they say from a version on only; before it, and on an unknown one, they are refused."""
    lacks: Callable[[float, Mapping[str, float]], str] = lambda value, parameters: ""
    """What other parameters lack for a value to mean what it says."""


@dataclass(frozen=True)
class Autopilot:
    """What differs between the two."""

    name: str
    mixes_height: bool
    """Whether ``VELOCITY_HEIGHT_MASK`` is understood."""
    modes: Mapping[Mode, tuple[int, int]]
    """Custom main and sub mode (ArduPilot: the number and 0)."""
    timeout: str
    timeout_default_s: float
    timeout_extra_s: float
    walls: tuple[str, str]
    """The parameters that say how high and how far from home its own fence lets it fly."""
    rules: tuple[Rule, ...]
    more: tuple[str, ...] = ()
    """Parameters that are read because others need them."""

    @property
    def names(self) -> list[str]:
        """Every parameter that is read, by all of its names."""
        return [*(name for rule in self.rules for name in (rule.name, *rule.others)), *self.more]

    def mode(self, custom: int) -> Mode:
        """The mode behind HEARTBEAT.custom_mode."""
        key = ((custom >> 16) & 0xFF, (custom >> 24) & 0xFF) if self.name == "PX4" else (custom, 0)
        return next((mode for mode, value in self.modes.items() if value == key), Mode.OTHER)

    def custom(self, mode: Mode) -> int:
        """The HEARTBEAT.custom_mode of a mode."""
        main, sub = self.modes[mode]
        return (main << 16) | (sub << 24) if self.name == "PX4" else main

    def silence_s(self, parameters: Mapping[str, float]) -> float:
        """How long the vehicle goes on with its last setpoint."""
        return parameters.get(self.timeout, self.timeout_default_s) + self.timeout_extra_s


def _one_of(*values: int) -> Callable[[float], bool]:
    return lambda value: round(value) in values


def _within(least: float, most: float) -> Callable[[float], bool]:
    return lambda value: least - 1e-6 <= value <= most + 1e-6


def _above_to(least: float, most: float) -> Callable[[float], bool]:
    return lambda value: least < value <= most + 1e-6


def _no_polygon(value: float, parameters: Mapping[str, float]) -> str:
    """A fence of polygons alone is none while none is loaded (FENCE_TOTAL counts their points)."""
    circle, points = round(value) & 2, parameters.get("FENCE_TOTAL", 0)
    return "" if circle or points >= _POLYGON else "without a circle, and no polygon is loaded (FENCE_TOTAL)"


def _without(bit: int) -> Callable[[float], bool]:
    return lambda value: not round(value) & (1 << bit)


_POLYGON = 3
_FAR_M, _HIGH_M = 30.0, 10.0
"""An autopilot's own fence beyond this is no second wall; ArduPilot's documentation begins at 30 m and 10 m."""

PX4 = Autopilot(
    "PX4",
    mixes_height=True,
    # px4_custom_mode.h: main modes MANUAL 1, ALTCTL, POSCTL, AUTO 4, ACRO, OFFBOARD 6; sub modes of AUTO READY 1,
    # TAKEOFF 2, LOITER 3, MISSION, RTL, LAND 6.
    modes={Mode.OFFBOARD: (6, 0), Mode.TAKEOFF: (4, 2), Mode.HOLD: (4, 3), Mode.LAND: (4, 6)},
    timeout="COM_OF_LOSS_T",
    timeout_default_s=1.0,
    timeout_extra_s=0.6,
    walls=("GF_MAX_VER_DIST", "GF_MAX_HOR_DIST"),
    rules=(
        # commander_params: 0 to 60 s, default 1. It must be longer than the gap between two setpoints.
        Rule("COM_OF_LOSS_T", "0.1 to 1 s", "set COM_OF_LOSS_T to 0.5", _within(0.1, 1.0)),
        # commander_params: 0 position (default: needs a pilot), 1 altitude, 2 manual, 3 return, 4 land, 5 hold,
        # 6 terminate, 7 disarm.
        Rule("COM_OBL_RC_ACT", "4 (land) or 5 (hold)", "set COM_OBL_RC_ACT to 4", _one_of(4, 5)),
        # commander_params: 1 hold, 2 return (default), 3 land, 5 terminate, 6 disarm. A transmitter that was off when
        # the motors started is not missed until it has been heard (failsafe.cpp).
        Rule("NAV_RCL_ACT", "1 (hold) or 3 (land)", "set NAV_RCL_ACT to 3", _one_of(1, 3)),
        # commander_params: 0 transmitter, 1 MAVLink joystick, 2 and 3 either, 4 nobody: then NAV_RCL_ACT never acts;
        # 5 to 8 since 1.17, orders of preference.
        Rule("COM_RC_IN_MODE", "anything but 4 (nobody)", "set COM_RC_IN_MODE to 0", _one_of(0, 1, 2, 3, 5, 6, 7, 8),
             newer=((5, 6, 7, 8), (1, 17, 0))),
        # commander_params: bits 0 mission, 1 hold (later: all automatic modes), 2 offboard.
        Rule("COM_RCL_EXCEPT", "without 4 (offboard)", "set COM_RCL_EXCEPT to 0", _without(2)),
        # commander_params: 0 disabled (default), 1 hold, 2 return, 3 land, 5 terminate, 6 disarm, after COM_DL_LOSS_T
        # without a ground station. Off is right where there is none: with any other value PX4 does not arm without one.
        Rule("NAV_DLL_ACT", "0 (off), 1 (hold) or 3 (land)", "set NAV_DLL_ACT to 3, or 0 without a ground station",
             _one_of(0, 1, 3)),
        # commander_params: 0 warning (default), 2 land, 3 return at critical and land at emergency level.
        Rule("COM_LOW_BAT_ACT", "2 (land)", "set COM_LOW_BAT_ACT to 2", _one_of(2)),
        # geofence_params: 0 none, 1 warning, 2 hold (default), 3 return, 4 terminate, 5 land.
        Rule("GF_ACTION", "2 (hold) or 5 (land)", "set GF_ACTION to 5", _one_of(2, 5)),
        # geofence_params: metres from home, 0 (default) disables. Both need a global position and a home.
        Rule("GF_MAX_HOR_DIST", f"more than 0, at most {_FAR_M:g} m", "set GF_MAX_HOR_DIST to the fence's radius",
             _above_to(0, _FAR_M)),
        Rule("GF_MAX_VER_DIST", f"more than 0, at most {_HIGH_M:g} m", "set GF_MAX_VER_DIST a little above the fence",
             _above_to(0, _HIGH_M)),
    ),
)  # fmt: skip
ARDUPILOT = Autopilot(
    "ArduPilot",
    mixes_height=False,
    # FLTMODE1's values in Parameters.cpp: 4 guided, 5 loiter, 9 land. Its take-off happens in guided.
    modes={Mode.OFFBOARD: (4, 0), Mode.HOLD: (5, 0), Mode.LAND: (9, 0)},
    timeout="GUID_TIMEOUT",
    timeout_default_s=3.0,
    timeout_extra_s=0.9,
    walls=("FENCE_ALT_MAX", "FENCE_RADIUS"),
    more=("FENCE_MARGIN", "FENCE_TOTAL"),
    rules=(
        # Parameters.cpp: 0.1 to 5 s, default 3. For velocities only: a place is held for good (mode_guided.cpp).
        Rule("GUID_TIMEOUT", "0.1 to 3 s", "set GUID_TIMEOUT to 1", _within(0.1, 3.0)),
        # Parameters.cpp: 0 disabled (default), 1 RTL, 2 RTL or go on (until 4.0), 3 SmartRTL or RTL, 4 SmartRTL or
        # land, 5 land, 6 DO_LAND_START or RTL, 7 brake or land; 4.3 and 4.4 do not know 7 and return home.
        Rule("FS_GCS_ENABLE", "5 (land), or from 4.5 on 7 (brake or land)",
             "set FS_GCS_ENABLE to 5: it lands when we fall silent", _one_of(5, 7), newer=((7,), (4, 5, 0))),
        # Parameters.cpp: whose heartbeat that is, default 255. From 4.7 on MAV_GCS_SYSID.
        Rule("SYSID_MYGCS", f"{SYSTEM} (ours)", f"set {{name}} to {SYSTEM}: it lands when we fall silent",
             _one_of(SYSTEM), ("MAV_GCS_SYSID",)),
        # From 4.7 on: everybody from MAV_GCS_SYSID up to this is heard, 0 (default) for the one alone. At 255 a ground
        # station's heartbeat keeps a vehicle hovering that has lost us.
        Rule("MAV_GCS_SYSID_HI", f"0 to {SYSTEM} (nobody but us)", "set MAV_GCS_SYSID_HI to 0",
             _within(0, SYSTEM), only_with="MAV_GCS_SYSID"),
        # Parameters.cpp: 2 to 120 s, default 5.
        Rule("FS_GCS_TIMEOUT", "2 to 5 s", "set FS_GCS_TIMEOUT to 5", _within(2.0, 5.0)),
        # Parameters.cpp: 0 disabled, 1 RTL (default), 2 RTL or go on (until 4.0), 3 land, 4 SmartRTL or RTL, 5 SmartRTL
        # or land, 6 DO_LAND_START or RTL, 7 brake or land.
        Rule("FS_THR_ENABLE", "3 (land) or 7 (brake or land)", "set FS_THR_ENABLE to 3", _one_of(3, 7)),
        # Parameters.cpp: bits 0 and 1 go on in auto without RC, GCS; 2 go on in guided without RC; 3 go on landing;
        # 4 (default) go on in pilots' modes without GCS; 5 release the gripper.
        Rule("FS_OPTIONS", "without 4 (continue in guided without RC)", "set FS_OPTIONS to 16", _without(2)),
        # Parameters.cpp: 1 land (default), 2 altitude hold, which drifts, 3 land even in stabilise.
        Rule("FS_EKF_ACTION", "1 or 3 (land)", "set FS_EKF_ACTION to 1", _one_of(1, 3)),
        # AP_BattMonitor_Params.cpp: 0 none (default), 1 land, 2 RTL, 3 SmartRTL or RTL, 4 SmartRTL or land,
        # 5 terminate, 6 DO_LAND_START or RTL; below BATT_LOW_VOLT (default 10.5 V, 0 disables) for BATT_LOW_TIMER.
        Rule("BATT_FS_LOW_ACT", "1 (land)", "set BATT_FS_LOW_ACT to 1", _one_of(1)),
        Rule("BATT_LOW_VOLT", "more than 0 V", "set BATT_LOW_VOLT for your battery", _above_to(0, 1000)),
        Rule("BATT_FS_CRT_ACT", "1 (land)", "set BATT_FS_CRT_ACT to 1", _one_of(1)),
        # AC_Fence.cpp: 0 disabled (default), 1 enabled.
        Rule("FENCE_ENABLE", "1", "set FENCE_ENABLE to 1", _one_of(1)),
        # AC_Fence.cpp: bits 0 highest altitude, 1 circle around home, 2 polygons, 3 lowest altitude; default 7.
        Rule("FENCE_TYPE", "1 (altitude) with 2 (circle) or 4 (polygon)", "set FENCE_TYPE to 3",
             lambda value: bool(round(value) & 1 and round(value) & 6), lacks=_no_polygon),
        # AC_Fence.cpp: 0 report, 1 RTL or land (default), 2 land, 3 SmartRTL or RTL or land, 4 brake or land,
        # 5 SmartRTL or land.
        Rule("FENCE_ACTION", "2 (land) or 4 (brake or land)", "set FENCE_ACTION to 2", _one_of(2, 4)),
        # AC_Fence.cpp: default 300 m and 100 m. It keeps FENCE_MARGIN (default 2 m) inside of both: ``room_checks``.
        Rule("FENCE_RADIUS", f"more than 0, at most {_FAR_M:g} m", "set FENCE_RADIUS FENCE_MARGIN beyond the fence",
             _above_to(0, _FAR_M)),
        Rule("FENCE_ALT_MAX", f"more than 0, at most {_HIGH_M:g} m", "set FENCE_ALT_MAX FENCE_MARGIN above the fence",
             _above_to(0, _HIGH_M)),
    ),
)  # fmt: skip
BY_NUMBER = {12: PX4, 3: ARDUPILOT}
"""By HEARTBEAT.autopilot (MAV_AUTOPILOT_PX4, MAV_AUTOPILOT_ARDUPILOTMEGA)."""
