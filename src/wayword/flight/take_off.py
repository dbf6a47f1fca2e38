"""Taking off the way each autopilot wants it, under our own eyes all the way up.

PX4's own take-off climbs to MIS_TAKEOFF_ALT, 2.5 m by default and above any indoor fence. So PX4 takes off in offboard:
a stream of setpoints at the place where it stands, the mode, the motors, then the height of the setpoint rises slowly.
ArduPilot takes the height with the command.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from wayword.errors import WaywordError
from wayword.flight.health import own_words
from wayword.flight.vehicle import Mode

if TYPE_CHECKING:
    from wayword.flight.mavlink_vehicle import MavlinkVehicle

_CLIMB_M_S = 0.3
_STREAM_S = 1.0
_TRIES, _ANSWER_S = 5, 1.5
_SETTLED_S = 0.5
"""A heartbeat so soon after the arming may know nothing of it yet."""
_WORDS_S, _EARLIER_S = 0.3, 30.0
"""Words come within the former of a refusal; ArduPilot repeats the reasons it has every half minute."""


def take_off_px4(vehicle: MavlinkVehicle, height_m: float) -> None:
    """Stream, offboard, arm, rise."""
    link = vehicle.link
    assert link is not None
    pose = vehicle.telemetry().pose
    anchor = (pose[0], pose[1], pose[5])

    def stream(seconds: float, height: float, until: float = -math.inf) -> None:
        """Setpoints at the start, at a height; shorter if a command is answered after ``until``."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until > 0 and link.answer(arm, until) is not None):
            vehicle.height_m = height
            vehicle.hold(anchor)
            vehicle.wait(0.05)

    arm = link.mavlink.MAV_CMD_COMPONENT_ARM_DISARM
    stream(_STREAM_S, 0.0)
    vehicle.set_mode(Mode.OFFBOARD)
    stream(0.5, 0.0)
    answer = None
    for _ in range(_TRIES):  # the stream must not stop while we wait for the answer
        since_s = time.monotonic()
        vehicle.set_mode(Mode.OFFBOARD)
        link.tell(arm, 1.0)
        stream(_ANSWER_S, 0.0, until=since_s)
        answer = link.answer(arm, since_s)
        if answer == 0:
            break
    if answer != 0:
        raise WaywordError(_refused(vehicle, answer, since_s, "arm in offboard"))
    began = time.monotonic()
    vehicle.helm.take(began + _SETTLED_S)
    deadline = began + 15 + height_m / _CLIMB_M_S
    while vehicle.telemetry().pose[2] < height_m - 0.15:
        gone = time.monotonic() - began
        stream(0.05, min(height_m, _CLIMB_M_S * gone))
        _ours(vehicle)
        if time.monotonic() > deadline:
            vehicle.land()
            raise WaywordError(f"the vehicle did not reach {height_m:g} m in offboard; it was told to land")
    vehicle.height_m = height_m


def take_off_ardupilot(vehicle: MavlinkVehicle, height_m: float) -> None:
    """Guided, arm, take off to the height, then setpoints."""
    link = vehicle.link
    assert link is not None
    mav = link.mavlink
    vehicle.height_m = height_m
    vehicle.set_mode(Mode.OFFBOARD)
    _must(vehicle, mav.MAV_CMD_COMPONENT_ARM_DISARM, 1.0, what="arm")
    nan = math.nan
    _must(vehicle, mav.MAV_CMD_NAV_TAKEOFF, 0.0, 0.0, 0.0, nan, nan, nan, height_m, what="take off")
    began = time.monotonic()
    vehicle.helm.take(began + _SETTLED_S)
    deadline = began + 10 + height_m / 0.2
    while (news := vehicle.telemetry()).pose[2] < height_m - 0.15:
        vehicle.wait(0.05)
        _ours(vehicle)
        disarmed = news.mode_s > began + _SETTLED_S and not news.armed
        if time.monotonic() > deadline or disarmed:
            vehicle.land()
            raise WaywordError(f"the vehicle did not reach {height_m:g} m; it was told to land")
    for _ in range(10):
        vehicle.hold(None)
        vehicle.wait(0.05)


def _must(vehicle: MavlinkVehicle, number: int, *values: float, what: str) -> None:
    assert vehicle.link is not None
    since_s = time.monotonic()
    result = vehicle.link.command(number, *values)
    if result != 0:
        raise WaywordError(_refused(vehicle, result, since_s, what))


def _refused(vehicle: MavlinkVehicle, result: int | None, asked_s: float, what: str) -> str:
    """Why it does not fly, in the vehicle's own words if it has any."""
    link = vehicle.link
    assert link is not None
    link.wait_for(lambda: bool(link.texts(asked_s)), _WORDS_S)
    words = own_words(link, asked_s) or own_words(link, asked_s - _EARLIER_S)
    why = "did not answer" if result is None else f"refused (result {result})"
    return f"the vehicle {why} when asked to {what}{words or '; it did not say why'}"


def _ours(vehicle: MavlinkVehicle) -> None:
    """Stop climbing if somebody else flies, or we have been told to land."""
    if vehicle.helm.lost is not None:
        raise WaywordError(
            f"the vehicle went into mode {vehicle.helm.lost} while it climbed; somebody else flies it now"
        )
    if vehicle.helm.stopping or vehicle.stopped:
        raise WaywordError("told to land while it climbed")
