"""Faults: what in the inputs of one tick means that the policy must not go on flying."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wayword.flight.reasons import Reason
from wayword.flight.vehicle import Telemetry, Vector

if TYPE_CHECKING:
    from wayword.flight.fence import Fence
    from wayword.flight.governor import Decision, GovernorConfig, GovernorInputs, State

UNSURE_M_S, _UNSURE_RAD_S = 1.0, 2.0
"""Between two poses that are far apart in time the vehicle may have changed its mind by this much."""
SMOOTH_S = 0.1
"""Poses nearer in time than this leave no room for doubt."""


def faults(config: GovernorConfig, fence: Fence, state: State, inputs: GovernorInputs) -> tuple[Reason, ...]:
    """Every fault of this tick."""
    now, telemetry, present = inputs.now_s, inputs.telemetry, list[Reason]()
    if inputs.land_asked:
        present.append(Reason.PILOT_LAND)
    if telemetry.battery is not None and not telemetry.battery >= config.battery_low:  # NaN is no charge either
        present.append(Reason.BATTERY_LOW if telemetry.battery >= config.battery_empty else Reason.BATTERY_EMPTY)
    if now - telemetry.link_s > config.link_s:
        present.append(Reason.LINK_LOST)
    if not has_pose(telemetry) or now - telemetry.pose_s > config.pose_s:
        present.append(Reason.NO_POSE)
    else:
        present += _pose_faults(config, fence, state, telemetry)
    if not now - inputs.image_s <= config.image_s:
        present.append(Reason.NO_IMAGE)
    present += _policy_faults(config, state, inputs)
    if now - state.started_s - state.held_s > config.max_flight_s:
        present.append(Reason.TIME_UP)
    return tuple(present)


def has_pose(telemetry: Telemetry) -> bool:
    """Whether there is a pose of finite numbers."""
    return math.isfinite(telemetry.pose_s) and all(map(math.isfinite, (*telemetry.pose, *telemetry.velocity)))


def jumped(config: GovernorConfig, before: Telemetry, after: Telemetry) -> bool:
    """Whether a pose is not where the one before it and the velocity say."""
    dt = max(after.pose_s - before.pose_s, 0.0)
    unsure = max(dt - SMOOTH_S, 0.0)
    turn = abs(math.remainder(after.pose[5] - before.pose[5], 2 * math.pi))
    most_turn = config.jump_rad + config.max_yaw_rate_rad_s * dt + _UNSURE_RAD_S * unsure
    return math.hypot(*miss(before, after)) > config.jump_m + UNSURE_M_S * unsure or turn > most_turn


def miss(before: Telemetry, after: Telemetry) -> Vector:
    """How far a pose is from where the one before it and both velocities say; a clock that was set back is no time."""
    dt = max(after.pose_s - before.pose_s, 0.0)
    x, y, z = (
        after.pose[i] - before.pose[i] - 0.5 * dt * (before.velocity[i] + after.velocity[i]) for i in range(3)
    )  # fmt: skip
    return x, y, z


def _pose_faults(config: GovernorConfig, fence: Fence, state: State, telemetry: Telemetry) -> list[Reason]:
    present = []
    astray = telemetry.astray_m > config.jump_m  # in steps, each below what counts as a jump
    if astray or (state.last_pose is not None and jumped(config, state.last_pose, telemetry)):
        present.append(Reason.POSE_JUMP)
    if fence.distance(telemetry.pose[0], telemetry.pose[1]) < 0:
        present.append(Reason.OUTSIDE)
    if not state.landing and not fence.low_m <= telemetry.pose[2] <= fence.high_m:
        present.append(Reason.ALTITUDE)
    return present


def _policy_faults(config: GovernorConfig, state: State, inputs: GovernorInputs) -> list[Reason]:
    present = []
    if not inputs.policy_alive:
        present.append(Reason.POLICY_FAILED)
    decision = inputs.decision
    since_s = state.started_s if decision is None else max(decision.made_s, state.started_s)
    late = not inputs.now_s - since_s <= config.decision_intervals * config.interval_s
    if late and not state.lasting:  # a flight that is over needs no more decisions
        present.append(Reason.NO_DECISION)
    if decision is None:
        return present
    if not _sane(config, decision):
        present.append(Reason.BAD_OUTPUT)
    elif decision.stop:
        present.append(Reason.ARRIVED)
    if not decision.made_s - decision.image_s <= 2 * config.image_s and Reason.NO_IMAGE not in present:
        present.append(Reason.NO_IMAGE)  # decided on something long gone
    return present


def _sane(config: GovernorConfig, decision: Decision) -> bool:
    forward, turn = decision.forward_m_s, decision.yaw_rate_rad_s
    if not (math.isfinite(forward) and math.isfinite(turn)):
        return False
    most = config.max_speed_m_s * config.wild
    return -0.1 * most <= forward <= most and abs(turn) <= config.max_yaw_rate_rad_s * config.wild
