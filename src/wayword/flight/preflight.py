"""The pre-flight list: everything that must hold before the motors start. One line each; one STOP and nothing arms."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from wayword.flight.vehicle import HasOwnFence, PreflightCheck, Telemetry, Vehicle
from wayword.flight.watch import has_pose

if TYPE_CHECKING:
    from wayword.flight.decider import Mind
    from wayword.flight.mission import FlightPlan

_BATTERY_TO_START = 0.3
_STANDING_M_S = 0.3
_WATCH_S = 1.0
_SLOWEST_SHARE = 0.8
"""A decision may take this share of an interval, at most."""


def preflight(vehicle: Vehicle, plan: FlightPlan, mind: Mind | None = None) -> list[PreflightCheck]:
    """The whole list, for a vehicle that stands on the ground, connected."""
    waited = 0.0
    while (vehicle.shot() is None or waited < _WATCH_S) and waited < 5 * _WATCH_S:
        vehicle.wait(0.1)
        waited += 0.1
    telemetry = vehicle.telemetry()
    checks = [*_vehicle_checks(vehicle.now(), telemetry, plan), _camera_check(vehicle, plan)]
    checks += vehicle.checks()
    if isinstance(vehicle, HasOwnFence):
        checks += vehicle.fence_checks(plan.height_m, plan.fence)
    if mind is not None and all(check.ok for check in checks):
        checks.append(_rehearse(vehicle, plan, mind))
    return checks


def _vehicle_checks(now: float, telemetry: Telemetry, plan: FlightPlan) -> list[PreflightCheck]:
    governor, fence = plan.governor, plan.fence
    age = now - telemetry.pose_s
    fresh = has_pose(telemetry) and age <= governor.pose_s
    x, y = telemetry.pose[:2]
    room = fence.distance(x, y) if fresh else -math.inf
    speed = math.hypot(*telemetry.velocity) if fresh else math.inf
    battery = telemetry.battery
    return [
        PreflightCheck("link", now - telemetry.link_s <= governor.link_s, f"last heard {_ago(now - telemetry.link_s)}",
              f"within {governor.link_s:g} s"),
        PreflightCheck("pose", fresh, f"{_ago(age)}", f"within {governor.pose_s:g} s, finite",
              "wait for the position estimate (GPS, motion capture or visual odometry)"),
        PreflightCheck("place", room >= governor.margin_m, f"({x:.2f}, {y:.2f}) m, {room:.2f} m inside the fence",
              f"at least {governor.margin_m:g} m inside", "carry it further in, or check --start and --fence"),
        PreflightCheck("standing still", speed <= _STANDING_M_S, f"{speed:.2f} m/s", f"at most {_STANDING_M_S:g} m/s"),
        PreflightCheck("on the ground", telemetry.landed and not telemetry.armed,
              "disarmed on the ground" if telemetry.landed and not telemetry.armed else "armed or in the air",
              "disarmed on the ground", "land and disarm first"),
        PreflightCheck("battery", battery is not None and battery >= _BATTERY_TO_START,
              "not reported" if battery is None else f"{100 * battery:.0f} %",
              f"at least {100 * _BATTERY_TO_START:.0f} %",
              "charge it" if battery is not None else "let the autopilot send SYS_STATUS with a calibrated battery"),
    ]  # fmt: skip


def _camera_check(vehicle: Vehicle, plan: FlightPlan) -> PreflightCheck:
    shot, now = vehicle.shot(), vehicle.now()
    age = math.inf if shot is None else now - shot.taken_s
    state = "no image" if shot is None else f"image {_ago(age)}"
    remedy = "check --video; frames that never change count as one"
    return PreflightCheck("camera", age <= plan.governor.image_s, state, f"within {plan.governor.image_s:g} s", remedy)


def _rehearse(vehicle: Vehicle, plan: FlightPlan, mind: Mind) -> PreflightCheck:
    """One decision on the ground: does the policy answer, in time, with numbers?

    It also fills the caches, so that the first decision in the air is not the slowest. The instruction begins anew.
    """
    shot, pose = vehicle.shot(), vehicle.telemetry().pose
    assert shot is not None
    pose = (*pose[:2], plan.height_m, *pose[3:])  # as if it were in the air already
    demand = f"finite, within {_SLOWEST_SHARE * plan.governor.interval_s:.1f} s"
    took = math.inf
    try:
        for _ in range(2):  # the first one compiles and loads
            began = time.monotonic()
            wish = mind.decide(shot.pixels, pose)
            took = time.monotonic() - began
    except Exception as error:
        return PreflightCheck("policy", False, f"{type(error).__name__}: {error}", demand)
    if wish is None or not (math.isfinite(wish.forward_m_s) and math.isfinite(wish.yaw_rate_rad_s)):
        return PreflightCheck("policy", False, "no finite answer", demand)
    mind.begin_anew()
    fast = plan.lockstep or took <= _SLOWEST_SHARE * plan.governor.interval_s
    return PreflightCheck(
        "policy",
        fast,
        "answers" if plan.lockstep else f"decides in {1000 * took:.0f} ms",
        demand,
        "use a faster computer",
    )


def _ago(seconds: float) -> str:
    return "never" if not math.isfinite(seconds) else f"{seconds:.2f} s ago"
