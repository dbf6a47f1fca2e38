"""Along a way: the carrot follower of the Oracle, for ways that are made anew at every decision."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.policy.steps.vias import heading_error
from wayword.task import DECISION_S, MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S

BEHIND_RAD = 1.0
"""What is this near to right behind may be turned to either way; the fastest turn is half of it per decision."""


@dataclass(frozen=True)
class FollowConfig:
    """How a way is followed."""

    look_ahead_m: float = 0.4
    """From the drone to the carrot, along the way."""
    turn_gain: float = 1.8
    """Yaw rate per radian of heading error."""
    slow_turn: float = 3.0
    """Speed falls as exp(-slow_turn * |heading error|)."""
    brake_s: float = 0.95
    """Towards a disc right ahead, speed is at most the way left divided by this time; the way leads around it."""
    lag_s: float = 0.65
    """Time constant of the vehicle's speed: real ones take 0.3 to 1.0 s."""
    creep_m_s: float = 0.07
    """Slowest speed while the drone faces its carrot."""


def along(way: NDArray[np.float64], distance: float) -> tuple[float, float]:
    """The point of a way (P, 2) at a distance from its first."""
    pieces = np.hypot(*np.diff(way, axis=0).T)
    arc = np.concatenate([[0.0], np.cumsum(pieces)])
    return float(np.interp(distance, arc, way[:, 0])), float(np.interp(distance, arc, way[:, 1]))


def length_of(way: NDArray[np.float64]) -> float:
    """Metres."""
    return float(np.hypot(*np.diff(way, axis=0).T).sum())


def follow(
    pose: NDArray[np.float64],
    way: NDArray[np.float64],
    brakes: bool,
    config: FollowConfig,
    discs: NDArray[np.float64] | None = None,
    speed_m_s: float = 0.0,
    turning: float = 0.0,
) -> tuple[float, float]:
    """Forward speed and yaw rate along a way that begins at the drone; ``brakes`` if it is to halt at its end.

    Slower before one of the ``discs`` that stands right ahead: to halt before it, as at the end of a way, would stop
    the drone again and again on a circle (3 of 144 were lost on dev). ``speed_m_s`` is how fast the drone is,
    ``turning`` the yaw rate it was asked for last.
    """
    carrot = along(way, config.look_ahead_m)
    error = same_way_round(heading_error(pose, carrot), turning)
    left = length_of(way)
    speed = max(speed_to_rest(left, speed_m_s, config.lag_s), config.creep_m_s) if brakes else MAX_SPEED_M_S
    speed *= math.exp(-config.slow_turn * abs(error))
    if discs is not None:
        speed = min(speed, free_ahead(pose, discs) / config.brake_s)
    return speed, turn_rate(error, config.turn_gain)


def speed_to_rest(way_m: float, speed_m_s: float, lag_s: float) -> float:
    """The fastest speed u to ask for, so that a halt asked for at the next decision comes within ``way_m``.

    A vehicle with lag tau that flies v and is asked for u during T and then for 0 comes to rest after u T + v tau,
    whatever u is.
    """
    return min(MAX_SPEED_M_S, max(0.0, (way_m - speed_m_s * lag_s) / DECISION_S))


def present_speed(gone_m: float, asked_m_s: float, lag_s: float = FollowConfig.lag_s) -> float:
    """How fast a vehicle with lag tau is that has gone this far since the last decision, when it was asked for u.

    From v0 it goes u T + (v0 - u) tau (1 - k) and is then u + (v0 - u) k fast, with k = exp(-T / tau).
    """
    keep = math.exp(-DECISION_S / lag_s)
    return max(0.0, asked_m_s + (gone_m - asked_m_s * DECISION_S) * keep / (lag_s * (1 - keep)))


def free_ahead(pose: NDArray[np.float64], discs: NDArray[np.float64]) -> float:
    """Metres straight ahead until a disc is touched; discs that the drone is in, and leaves, do not count."""
    if not len(discs):
        return math.inf
    c, s = math.cos(float(pose[2])), math.sin(float(pose[2]))
    dx, dy = discs[:, 0] - pose[0], discs[:, 1] - pose[1]
    ahead, aside = dx * c + dy * s, dy * c - dx * s
    room = discs[:, 2] ** 2 - aside**2
    hits = (room > 0) & (ahead > 0)
    if not hits.any():
        return math.inf
    return max(0.0, float((ahead[hits] - np.sqrt(room[hits])).min()))


def same_way_round(error: float, turning: float) -> float:
    """An error of heading of about half a turn, to the side to which the drone is ``turning`` already.

    What is right behind is on the left now and on the right after a noisy pose: a drone that took the shorter way at
    every decision would turn to and fro in front of it.
    """
    if abs(error) > math.pi - BEHIND_RAD and error * turning < 0:
        return error - math.copysign(2 * math.pi, error)
    return error


def turn_rate(error: float, gain: float = 1.8) -> float:
    """Yaw rate that takes away an error of heading."""
    return max(-MAX_YAW_RATE_RAD_S, min(MAX_YAW_RATE_RAD_S, gain * error))
