"""PX4 and ArduPilot: modes, setpoint masks and the failsafe parameters that must be on.

Measured against real ones: PX4 leaves offboard COM_OF_LOSS_T + 0.6 s after the last setpoint (1.6 s by default) and
refuses it without a running stream; ArduPilot stops GUID_TIMEOUT + 0.9 s after (3.9 s by default). PX4 turns a body
velocity into a world velocity once, on receipt, so local velocities are sent anew while yawing. PX4 holds its height
with a mask that mixes z position with vx, vy and the yaw rate; ArduPilot wants all three velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wayword.flight.vehicle import Check, Mode

VELOCITY_HEIGHT_MASK = 0b010111100011
"""Use z, vx, vy, yaw rate."""
VELOCITY_MASK = 0b010111000111
"""Use vx, vy, vz, yaw rate."""
PLACE_MASK = 0b100111111000
"""Use x, y, z, yaw."""


@dataclass(frozen=True)
class Rule:
    """One parameter that must be as wanted."""

    name: str
    wanted: str
    remedy: str
    holds: Callable[[float], bool]
    others: tuple[str, ...] = ()
    """Older or newer names of the same parameter."""


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
    rules: tuple[Rule, ...]

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


def _at_most(most: float) -> Callable[[float], bool]:
    return lambda value: 0 < value <= most + 1e-6


def _above(least: float) -> Callable[[float], bool]:
    return lambda value: value > least


def _without(bit: int) -> Callable[[float], bool]:
    return lambda value: not round(value) & (1 << bit)


PX4 = Autopilot(
    "PX4",
    mixes_height=True,
    modes={Mode.OFFBOARD: (6, 0), Mode.TAKEOFF: (4, 2), Mode.HOLD: (4, 3), Mode.LAND: (4, 6)},
    timeout="COM_OF_LOSS_T",
    timeout_default_s=1.0,
    timeout_extra_s=0.6,
    rules=(
        Rule("COM_OF_LOSS_T", "0.1 to 1 s", "set COM_OF_LOSS_T to 0.5", _at_most(1.0)),
        Rule("COM_OBL_RC_ACT", "4 (land) or 5 (hold)", "set COM_OBL_RC_ACT to 4", _one_of(4, 5)),
        Rule("NAV_RCL_ACT", "1 (hold), 2 (return) or 3 (land)", "set NAV_RCL_ACT to 3", _one_of(1, 2, 3)),
        Rule("COM_RCL_EXCEPT", "without 4 (offboard)", "set COM_RCL_EXCEPT to 0", _without(2)),
        Rule("COM_LOW_BAT_ACT", "2 (land) or 3 (return, then land)", "set COM_LOW_BAT_ACT to 2", _one_of(2, 3)),
        Rule("GF_ACTION", "2 (hold), 3 (return) or 5 (land)", "set GF_ACTION to 5", _one_of(2, 3, 5)),
        Rule("GF_MAX_HOR_DIST", "more than 0 m", "set GF_MAX_HOR_DIST to the fence's radius", _above(0)),
        Rule("GF_MAX_VER_DIST", "more than 0 m", "set GF_MAX_VER_DIST a little above the fence", _above(0)),
    ),
)
ARDUPILOT = Autopilot(
    "ArduPilot",
    mixes_height=False,
    modes={Mode.OFFBOARD: (4, 0), Mode.HOLD: (5, 0), Mode.LAND: (9, 0)},
    timeout="GUID_TIMEOUT",
    timeout_default_s=3.0,
    timeout_extra_s=0.9,
    rules=(
        Rule("GUID_TIMEOUT", "0.1 to 3 s", "set GUID_TIMEOUT to 1", _at_most(3.0)),
        Rule("FS_THR_ENABLE", "1 to 7", "set FS_THR_ENABLE to 3 (land)", _one_of(1, 2, 3, 4, 5, 6, 7)),
        Rule("FS_OPTIONS", "without 4 (continue in guided without RC)", "set FS_OPTIONS to 0", _without(2)),
        Rule("FS_EKF_ACTION", "1 to 3", "set FS_EKF_ACTION to 1 (land)", _one_of(1, 2, 3)),
        Rule("BATT_FS_LOW_ACT", "1 (land) or more", "set BATT_FS_LOW_ACT to 1", _above(0)),
        Rule("FENCE_ENABLE", "1", "set FENCE_ENABLE to 1", _one_of(1)),
        Rule("FENCE_ACTION", "1 or more", "set FENCE_ACTION to 2 (land)", _above(0)),
    ),
)
BY_NUMBER = {12: PX4, 3: ARDUPILOT}
"""By HEARTBEAT.autopilot."""


def parameter_checks(autopilot: Autopilot, parameters: Mapping[str, float]) -> list[Check]:
    """The autopilot's own failsafes, as they were read back."""
    checks = []
    for rule in autopilot.rules:
        name = next((name for name in (rule.name, *rule.others) if name in parameters), rule.name)
        value = parameters.get(name)
        if value is None:
            checks.append(Check(name, False, "not answered", rule.wanted, "check the link and the firmware's version"))
        else:
            checks.append(Check(name, rule.holds(value), f"{value:g}", rule.wanted, rule.remedy))
    return checks
