"""Limits: what is left of the policy's wish so that the vehicle can always stop in time.

    t_near = response + latency + period + age of the pose   stopping distance per speed while the vehicle hears us
    t_far  = t_near + silence                                 the same if the link breaks right now: the autopilot
                                                              goes on with the last setpoint until its own failsafe

From where the vehicle is, both the way it is moving (v t) and the way it is asked to (u t) must end inside the fence,
a margin before the edge. Beyond t_far it is slowed and braked, beyond t_near it holds. So even a cable that is pulled
at full speed does not carry it over the fence. Obstacles are kept clear with t_near.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from wayword.flight.reasons import Reason

if TYPE_CHECKING:
    from wayword.flight.fence import Fence
    from wayword.flight.governor import Decision, Disc, GovernorConfig, Inputs, State

_STILL_M_S = 0.1
"""Slower than this is noise: a vehicle this slow may turn its back to the fence and leave."""


def limited(
    config: GovernorConfig, fence: Fence, state: State, inputs: Inputs, decision: Decision
) -> tuple[float, float, tuple[Reason, ...], bool]:
    """Forward speed, yaw rate, why they are not the policy's, and whether to hold instead."""
    reasons: list[Reason] = []
    forward, turn = _clipped(config, decision, reasons)
    fade = _fade(config, inputs.now_s - max(decision.made_s, state.started_s))
    if fade < 1:
        reasons.append(Reason.FADING)
    forward, turn = _slewed(config, state, forward * fade, turn * fade, reasons)
    telemetry = inputs.telemetry
    x, y, yaw = telemetry.pose[0], telemetry.pose[1], telemetry.pose[5]
    near = config.stopping_s + max(inputs.now_s - telemetry.pose_s, 0.0)
    far = near + config.silence_s
    held_back, brake = _fenced(fence, x, y, yaw, telemetry.velocity, forward, near, far, config.margin_m)
    if held_back < forward or brake:
        reasons.append(Reason.FENCE)
    clear = clear_speed(x, y, yaw, decision.obstacles, config.body_m + config.clearance_m, near)
    if clear < held_back:
        reasons.append(Reason.CLEARANCE)
    return min(held_back, clear), turn, tuple(reasons), brake


def _clipped(config: GovernorConfig, decision: Decision, reasons: list[Reason]) -> tuple[float, float]:
    forward = min(max(decision.forward_m_s, 0.0), config.max_speed_m_s)
    turn = min(max(decision.yaw_rate_rad_s, -config.max_yaw_rate_rad_s), config.max_yaw_rate_rad_s)
    if abs(forward - decision.forward_m_s) > 1e-6:
        reasons.append(Reason.SPEED)
    if abs(turn - decision.yaw_rate_rad_s) > 1e-6:
        reasons.append(Reason.YAW)
    return forward, turn


def _fade(config: GovernorConfig, age_s: float) -> float:
    """1 up to one and a half intervals, then down to 0 where a decision is too old: no step, no last command."""
    most = config.decision_intervals * config.interval_s
    begin = 0.75 * most
    return min(max((most - age_s) / (most - begin), 0.0), 1.0)


def _slewed(
    config: GovernorConfig, state: State, forward: float, turn: float, reasons: list[Reason]
) -> tuple[float, float]:
    dt = config.period_s
    up, down = config.max_acceleration_m_s2 * dt, config.max_braking_m_s2 * dt
    bend = config.max_yaw_acceleration_rad_s2 * dt
    smooth = min(max(forward, state.forward_m_s - down), state.forward_m_s + up)
    smooth_turn = min(max(turn, state.yaw_rate_rad_s - bend), state.yaw_rate_rad_s + bend)
    if abs(smooth - forward) > 1e-6 or abs(smooth_turn - turn) > 1e-6:
        reasons.append(Reason.ACCELERATION)
    return smooth, smooth_turn


def _fenced(
    fence: Fence,
    x: float,
    y: float,
    yaw: float,
    velocity: tuple[float, float, float],
    forward: float,
    near_s: float,
    far_s: float,
    margin_m: float,
) -> tuple[float, bool]:
    """The forward speed that the fence leaves, and whether only a hold will do."""
    vx, vy, speed = velocity[0], velocity[1], math.hypot(velocity[0], velocity[1])
    moving = speed > _STILL_M_S
    if moving and fence.reach(x, y, vx * near_s, vy * near_s, margin_m) < 1:
        return 0.0, True
    ahead = forward * far_s
    share = fence.reach(x, y, math.cos(yaw) * ahead, math.sin(yaw) * ahead, margin_m) if forward > 0 else 1.0
    if moving and fence.reach(x, y, vx * far_s, vy * far_s, margin_m) < 1:
        return 0.0, False
    return forward * share, False


def clear_speed(x: float, y: float, yaw: float, obstacles: Iterable[Disc], keep_m: float, stop_s: float) -> float:
    """The highest speed from which the vehicle stops ``keep_m`` before everything that stands straight ahead."""
    c, s, fastest = math.cos(yaw), math.sin(yaw), math.inf
    for ox, oy, radius in obstacles:
        ahead, beside = c * (ox - x) + s * (oy - y), c * (oy - y) - s * (ox - x)
        wide = radius + keep_m
        if ahead > 0 and abs(beside) < wide:
            free = ahead - math.sqrt(wide * wide - beside * beside)
            fastest = min(fastest, max(free, 0.0) / stop_s)
    return fastest
