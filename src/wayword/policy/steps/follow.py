"""Along a way: the carrot follower of the Oracle, for ways that are made anew at every decision."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.policy.steps.vias import heading_error
from wayword.task import MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S


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
    """Speed is at most the way left divided by this time."""
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
) -> tuple[float, float]:
    """Forward speed and yaw rate along a way that begins at the drone; ``brakes`` if it is to halt at its end.

    Never faster than it can halt before one of the ``discs`` that stands right ahead.
    """
    carrot = along(way, config.look_ahead_m)
    error = heading_error(pose, carrot)
    left = length_of(way)
    speed = min(MAX_SPEED_M_S, max(left / config.brake_s, config.creep_m_s)) if brakes else MAX_SPEED_M_S
    speed *= math.exp(-config.slow_turn * abs(error))
    if discs is not None:
        speed = min(speed, free_ahead(pose, discs) / config.brake_s)
    return speed, turn_rate(error, config.turn_gain)


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


def turn_rate(error: float, gain: float = 1.8) -> float:
    """Yaw rate that takes away an error of heading."""
    return max(-MAX_YAW_RATE_RAD_S, min(MAX_YAW_RATE_RAD_S, gain * error))
