"""Keep clear of things: the motion nearest to what was asked for that touches nothing for a while.

    wish        (v, omega)      what the control network asks for, m/s and rad/s
    discs       (K, 3)          x, y, radius of what stands around, the drone's own radius included
    candidates  (C, 2)          a grid of motions and the wish itself
    track       (C, T, 2)       where each leads in ``horizon_s``: forward speed follows with a lag, yaw rate at once

Each candidate costs its distance from the wish and what it lacks of ``room_m`` to the nearest disc on its track;
touching costs more than any change. A pure function of what it is given. An extension of the paper, whose control
network does not see what stands around; ours does, so that little room is left to ask for: 0.05 m, where 0.2 m cost
three points of success on natural dev instructions and spared nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.task import MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S


@dataclass(frozen=True)
class ClearConfig:
    """How far ahead is looked, and what a change of motion is worth."""

    horizon_s: float = 1.2
    steps: int = 12
    lag_s: float = 0.5
    """Time constant of the vehicle's speed."""
    room_m: float = 0.05
    """Room that is wanted between the drone and anything solid."""
    speed_weight: float = 1.0
    turn_weight: float = 0.35
    room_weight: float = 6.0
    touch_weight: float = 200.0


def keep_clear(
    pose: NDArray[np.float64],
    speed_m_s: float,
    wish: tuple[float, float],
    discs: NDArray[np.float64],
    config: ClearConfig | None = None,
) -> tuple[float, float]:
    """The motion to fly at ``pose`` (x, y, yaw) and ``speed_m_s``: the ``wish`` itself where that is clear."""
    config = config or ClearConfig()
    near = discs[np.hypot(discs[:, 0] - pose[0], discs[:, 1] - pose[1]) < 1.6] if len(discs) else discs
    if not len(near):
        return wish
    candidates = np.concatenate([np.array([wish]), _grid()])
    track = _tracks(pose, speed_m_s, candidates, config)
    gaps = np.hypot(track[:, :, None, 0] - near[:, 0], track[:, :, None, 1] - near[:, 1]) - near[:, 2]
    # A disc the drone is already in must not freeze it: what counts is not to go deeper.
    here = np.hypot(pose[0] - near[:, 0], pose[1] - near[:, 1]) - near[:, 2]
    room = (gaps - np.minimum(here, 0.0)).min(axis=(1, 2))
    lacking = np.maximum(0.0, config.room_m - room) / config.room_m
    touching = np.maximum(0.0, -room)
    change = config.speed_weight * ((candidates[:, 0] - wish[0]) / MAX_SPEED_M_S) ** 2
    change += config.turn_weight * ((candidates[:, 1] - wish[1]) / MAX_YAW_RATE_RAD_S) ** 2
    cost = change + config.room_weight * lacking**2 + config.touch_weight * touching
    best = int(np.argmin(cost))
    return float(candidates[best, 0]), float(candidates[best, 1])


def _grid() -> NDArray[np.float64]:
    speeds, rates = np.linspace(0, MAX_SPEED_M_S, 8), np.linspace(-MAX_YAW_RATE_RAD_S, MAX_YAW_RATE_RAD_S, 17)
    return np.stack(np.meshgrid(speeds, rates, indexing="ij"), axis=-1).reshape(-1, 2)


def _tracks(
    pose: NDArray[np.float64], speed_m_s: float, candidates: NDArray[np.float64], config: ClearConfig
) -> NDArray[np.float64]:
    """(C, T, 2): where the candidates lead."""
    dt = config.horizon_s / config.steps
    keep = math.exp(-dt / config.lag_s)
    count = len(candidates)
    speed, yaw = np.full(count, speed_m_s), np.full(count, float(pose[2]))
    x, y = np.full(count, float(pose[0])), np.full(count, float(pose[1]))
    track = np.empty((count, config.steps, 2))
    for t in range(config.steps):
        speed = candidates[:, 0] + (speed - candidates[:, 0]) * keep
        yaw = yaw + candidates[:, 1] * dt
        x, y = x + speed * np.cos(yaw) * dt, y + speed * np.sin(yaw) * dt
        track[:, t, 0], track[:, t, 1] = x, y
    return track
