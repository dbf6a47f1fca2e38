"""What a vehicle is: the few things the governor and the policy need of a simulator, an autopilot or a recording.

Frames and units are those of the arena: x, y on the map and z up in metres; roll, pitch, yaw in radians, yaw
counter-clockwise from +x, positive pitch nose down (``wayword.sim.vehicle.fleet``). Times are seconds of the vehicle's
own clock, ``now()``: the monotonic clock of this computer, or simulated time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from wayword.flight.fence import Fence

Pose = tuple[float, float, float, float, float, float]
"""x, y, z, roll, pitch, yaw."""
Vector = tuple[float, float, float]


class Mode(StrEnum):
    """Who flies, as the autopilot reports it."""

    GROUND = "ground"
    TAKEOFF = "takeoff"
    OFFBOARD = "offboard"
    """Our setpoints are flown: PX4's offboard, ArduPilot's guided."""
    HOLD = "hold"
    LAND = "land"
    OTHER = "other"
    """A person at the sticks, or a failsafe of the autopilot's own."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Telemetry:
    """The newest of everything the vehicle said, each with the time at which it arrived (-inf: never)."""

    pose: Pose = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    velocity: Vector = (0.0, 0.0, 0.0)
    """World frame."""
    pose_s: float = -np.inf
    link_s: float = -np.inf
    """Last time anything was heard."""
    mode: Mode = Mode.UNKNOWN
    mode_s: float = -np.inf
    armed: bool = False
    landed: bool = True
    battery: float | None = None
    """Share that is left, 0 to 1; None if the vehicle does not say."""
    astray_m: float = 0.0
    """How far the poses of the last seconds are from the way that the velocities say (``pose_watch.py``)."""


@dataclass(frozen=True, eq=False)
class Shot:
    """One image of the camera, as the policy takes it, and when its light was caught."""

    pixels: NDArray[np.uint8]
    taken_s: float
    pose: Pose | None = None
    """Where the vehicle was then, if the camera knows."""


@dataclass(frozen=True)
class PreflightCheck:
    """One line of the pre-flight list."""

    name: str
    ok: bool
    value: str
    demand: str
    remedy: str = ""

    def line(self) -> str:
        """For people."""
        verdict = "ok  " if self.ok else "STOP"
        tail = "" if self.ok else f" (wanted {self.demand}{'; ' + self.remedy if self.remedy else ''})"
        return f"{verdict} {self.name}: {self.value}{tail}"


@dataclass(frozen=True)
class VehicleFacts:
    """What the governor must know of a vehicle before it flies."""

    name: str
    silence_s: float
    """How long the autopilot goes on with the last setpoint when none follows, before its own failsafe stops it."""
    details: Mapping[str, Any] = field(default_factory=dict)


class Vehicle(Protocol):
    """A quadcopter under some autopilot. Calls other than ``take_off`` return at once."""

    def now(self) -> float:
        """The vehicle's clock in seconds."""
        ...

    def wait(self, seconds: float) -> None:
        """Let time pass; a simulator flies on."""
        ...

    def connect(self) -> VehicleFacts:
        """Find the vehicle; raises WaywordError if there is none."""
        ...

    def checks(self) -> list[PreflightCheck]:
        """The vehicle's part of the pre-flight list: its own failsafes, read back."""
        ...

    def take_off(self, height_m: float) -> None:
        """Arm, climb, and be ready for setpoints; raises WaywordError if the vehicle refuses."""
        ...

    def telemetry(self) -> Telemetry:
        """The newest of everything."""
        ...

    def shot(self) -> Shot | None:
        """The newest image."""
        ...

    def set_velocity(self, forward_m_s: float, yaw_rate_rad_s: float, left_m_s: float = 0.0) -> None:
        """Fly forward and to the left and turn, at the height of the take-off, until the next setpoint."""
        ...

    def hold(self, anchor: tuple[float, float, float] | None) -> None:
        """Stay at x, y, yaw; None: just stop (the place is not known)."""
        ...

    def land(self) -> bool | None:
        """Land here, if the vehicle is still ours. May be called again and again; False: it could not be asked yet."""
        ...

    def emergency_stop(self) -> None:
        """Stop the motors now: the vehicle falls."""
        ...

    def close(self) -> None:
        """Let go of the vehicle."""
        ...


@runtime_checkable
class HasOwnFence(Protocol):
    """A vehicle whose autopilot has a fence of its own, which must leave room for the flight."""

    def fence_checks(self, height_m: float, fence: Fence) -> list[PreflightCheck]:
        """More lines of the pre-flight list."""
        ...
