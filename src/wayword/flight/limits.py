"""Limits: what is left of the policy's wish so that the vehicle can always stop in time.

    t_near = response + latency + period + age of the pose   stopping distance per speed while the vehicle hears us
    t_far  = t_near + silence                                 the same if the link breaks right now: the autopilot
                                                              goes on with the last setpoint until its own failsafe

From where the vehicle is, both the way it is moving (v t) and the way it is asked to (u t) must end inside the fence,
a margin before the edge. Beyond t_far it is slowed and braked, beyond t_near it holds. So even a cable that is pulled
at full speed does not carry it over the fence. Things are kept clear of in ``clearance.py``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from wayword.flight.clearance import CREEP_M_S, MIDDLE_M, STILL_M_S, Around, cleared, joined_discs, squeezed_discs
from wayword.flight.reasons import Reason
from wayword.mapping.standing import Disc

if TYPE_CHECKING:
    from wayword.flight.fence import Fence
    from wayword.flight.governor import Decision, GovernorConfig, GovernorInputs, State

_STUCK, _AROUND_S, _WAITS_S = 0.7, 1.0, 3.0
"""A vehicle that has lost this share of its wish to things is stuck. Until then, and a little longer, it rather slows
down, for the policy mostly turns away by itself; the longer it is stuck, the rather it goes around, up to the second
number of seconds; then it takes things without a way between them for one, and from the third on it squeezes."""
_DRIFTED = 0.8
"""Nearer to the fence than this share of the margin it was carried there: it is brought back before it may turn."""


def limited(
    config: GovernorConfig, fence: Fence, state: State, inputs: GovernorInputs, decision: Decision
) -> tuple[float, float, float, tuple[Reason, ...], bool]:
    """Forward and sideways speed, yaw rate, why they are not the policy's, and whether to hold instead."""
    reasons: list[Reason] = []
    forward, turn = _clipped(config, decision, reasons)
    fade = _fade(config, inputs.now_s - max(decision.made_s, state.started_s))
    if fade < 1:
        reasons.append(Reason.FADING)
    forward, turn = _braked(config, state, forward * fade, turn * fade, reasons)
    telemetry = inputs.telemetry
    x, y, yaw = telemetry.pose[0], telemetry.pose[1], telemetry.pose[5]
    near = config.stopping_s + max(inputs.now_s - telemetry.pose_s, 0.0)
    cos, sin = math.cos(yaw), math.sin(yaw)
    wish = (forward * cos, forward * sin)
    ahead_s = config.ahead_s + min(state.stuck_s / _AROUND_S, 1.0) * max(near - config.ahead_s, 0.0)
    rest = _rest(config, state, inputs)
    around = Around(config.body_m + config.clearance_m, ahead_s, config.side_rad)
    things, groups = decision.obstacles, tuple[Disc, ...]()
    if state.stuck_s >= _AROUND_S:
        least = _room_m(config, state)
        groups = tuple(disc for disc in joined_discs(things, config.body_m + least + MIDDLE_M) if disc not in things)
        things = squeezed_discs(things, config.body_m, config.clearance_m, least)
    ux, uy = cleared((x, y), rest, yaw, wish, things, around, groups)
    if math.hypot(ux - wish[0], uy - wish[1]) > 1e-6:
        reasons.append(Reason.CLEARANCE)
    share, brake = _fenced(fence, x, y, telemetry.velocity, (ux, uy), near, near + config.silence_s, config.margin_m)
    if share < 1 or brake:
        reasons.append(Reason.FENCE)
    # Last, since a safe velocity is safe in any part of it: no quicker start than the limit.
    most = state.speed_m_s + config.max_acceleration_m_s2 * config.period_s
    if (speed := share * math.hypot(ux, uy)) > most + 1e-6:
        share *= most / speed
        reasons.append(Reason.ACCELERATION)
    ahead, left = share * (ux * cos + uy * sin), share * (uy * cos - ux * sin)
    return min(max(ahead, -CREEP_M_S), config.max_speed_m_s), left, turn, tuple(dict.fromkeys(reasons)), brake


def _clipped(config: GovernorConfig, decision: Decision, reasons: list[Reason]) -> tuple[float, float]:
    forward = min(max(decision.forward_m_s, 0.0), config.max_speed_m_s)
    turn = min(max(decision.yaw_rate_rad_s, -config.max_yaw_rate_rad_s), config.max_yaw_rate_rad_s)
    if abs(forward - decision.forward_m_s) > 1e-6:
        reasons.append(Reason.SPEED)
    if abs(turn - decision.yaw_rate_rad_s) > 1e-6:
        reasons.append(Reason.YAW)
    return forward, turn


def held_back(
    config: GovernorConfig, state: State, decision: Decision, speed_m_s: float, reasons: tuple[Reason, ...]
) -> State:
    """The state after a tick in which so much was left of a wish: how long it has been stuck, and held back at all."""
    wished = min(max(decision.forward_m_s, 0.0), config.max_speed_m_s)
    if wished < STILL_M_S:
        return state
    lost = max(1 - speed_m_s / wished, 0.0) if {Reason.CLEARANCE, Reason.FENCE} & set(reasons) else 0.0
    stuck = Reason.CLEARANCE in reasons and lost > _STUCK
    after = state.stuck_s + config.period_s * (1.0 if stuck else -0.5)
    most = _WAITS_S + config.squeeze_s
    return replace(
        state, stuck_s=min(max(after, 0.0), most), held_s=min(state.held_s + lost * config.period_s, config.max_held_s)
    )  # fmt: skip


def _room_m(config: GovernorConfig, state: State) -> float:
    """What is kept beside the hull: less for a vehicle that has long been standing before a gap."""
    waited = max(state.stuck_s - _WAITS_S, 0.0)
    share = min(waited / config.squeeze_s, 1.0) if config.squeeze_s > 0 else 0.0
    return config.clearance_m - share * max(config.clearance_m - config.squeeze_m, 0.0)


def _rest(config: GovernorConfig, state: State, inputs: GovernorInputs) -> tuple[float, float]:
    """Where the slowest vehicle would come to rest if it were told to stop now."""
    telemetry = inputs.telemetry
    coast = config.response_s + max(inputs.now_s - telemetry.pose_s, 0.0)
    x, y = (
        telemetry.pose[i] + coast * telemetry.velocity[i] + config.latency_s * state.velocity[i] for i in range(2)
    )  # fmt: skip
    return x, y


def _fade(config: GovernorConfig, age_s: float) -> float:
    """1 up to one and a half intervals, then down to 0 where a decision is too old: no step, no last command."""
    most = config.decision_intervals * config.interval_s
    begin = 0.75 * most
    return min(max((most - age_s) / (most - begin), 0.0), 1.0)


def _braked(
    config: GovernorConfig, state: State, forward: float, turn: float, reasons: list[Reason]
) -> tuple[float, float]:
    """The wish, slowing down and turning no quicker than the limit."""
    slowest = state.speed_m_s - config.max_braking_m_s2 * config.period_s
    bend = config.max_yaw_acceleration_rad_s2 * config.period_s
    smooth = max(forward, slowest)
    smooth_turn = min(max(turn, state.yaw_rate_rad_s - bend), state.yaw_rate_rad_s + bend)
    if abs(smooth - forward) > 1e-6 or abs(smooth_turn - turn) > 1e-6:
        reasons.append(Reason.ACCELERATION)
    return smooth, smooth_turn


def _fenced(
    fence: Fence,
    x: float,
    y: float,
    velocity: tuple[float, float, float],
    wish: tuple[float, float],
    near_s: float,
    far_s: float,
    margin_m: float,
) -> tuple[float, bool]:
    """The share of the wish that the fence leaves, and whether only a hold will do."""
    vx, vy, speed = velocity[0], velocity[1], math.hypot(velocity[0], velocity[1])
    moving, wants = speed > STILL_M_S, math.hypot(*wish) > 0
    if moving and fence.reach(x, y, vx * near_s, vy * near_s, margin_m) < 1:
        return 0.0, True
    share = fence.reach(x, y, wish[0] * far_s, wish[1] * far_s, margin_m) if wants else 1.0
    if fence.distance(x, y) < _DRIFTED * margin_m and (not wants or share == 0):
        return 0.0, True
    if moving and fence.reach(x, y, vx * far_s, vy * far_s, margin_m) < 1:
        return 0.0, False
    return share, False
