"""A described way on which the drone is held up: from then on it flies to where the goal is believed to be.

    d^g      (4097,)   where FsPVN will stop, on the prediction grid, then "not yet observed"
    goal               mean of the 3 x 3 cells around the likeliest, in the world; put out of what stands there

The way FsPVN's control network wants may lead through a thing that ``keep_clear`` does not let it touch: it then stands
before it until its time is over. That was the end of 11 of 150 natural dev flights with weights whose control saw
nothing of what stands around, and of 2 with this. A leg that does not come to an end is treated alike. An extension of
the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.episodes.geometry import wrap
from wayword.mapping.grid import PREDICTION_CELLS, UNOBSERVED, prediction_centres, to_world
from wayword.policy.steps.follow import FollowConfig, follow, present_speed
from wayword.policy.steps.route import route
from wayword.task import ARENA_M

HeldUpMotion = tuple[float, float, float]


@dataclass(frozen=True)
class HeldUpConfig:
    """When a drone counts as held up."""

    still: int = 2
    """Decisions without motion."""
    still_m: float = 0.03
    still_rad: float = 0.05
    patience: int = 36
    """Decisions on one leg; no demonstration takes more than 32."""
    unobserved: float = 0.5
    """P(not yet observed) of the goal from which on nobody knows where to fly."""
    at_m: float = 0.12
    """A goal this near is reached."""
    room_m: float = 0.03
    """From what stands there to where the drone stops."""
    give_up: int = 8
    """Decisions without motion on the way to the goal, after which it stops where it is."""


class HeldUp:
    """Watches one drone on one leg."""

    def __init__(self, config: HeldUpConfig | None = None) -> None:
        self.config = config or HeldUpConfig()
        self.direct = False
        """Whether it flies to the goal by itself now."""
        self._decisions = self._still = 0
        self._last: NDArray[np.float64] | None = None
        self._asked_m_s = 0.0

    def decide(
        self,
        here: NDArray[np.float64],
        goal_distribution: NDArray[np.float32],
        start: NDArray[np.float64],
        discs: NDArray[np.float64],
    ) -> HeldUpMotion | None:
        """Speed, yaw rate and stop at ``here`` (x, y, yaw), or None while FsPVN gets on; ``start`` is its leg's."""
        config = self.config
        self._decisions += 1
        speed_m_s = 0.0
        if self._last is not None:
            speed_m_s = present_speed(math.dist(here[:2], self._last[:2]), self._asked_m_s)
            turned = abs(wrap(float(here[2] - self._last[2])))
            moved = math.dist(here[:2], self._last[:2]) > config.still_m or turned > config.still_rad
            self._still = 0 if moved else self._still + 1
        self._last = here.copy()
        if self.direct and self._still >= config.give_up:
            return 0.0, 0.0, 1.0
        self.direct = self.direct or self._still >= config.still or self._decisions > config.patience
        if not self.direct or goal_distribution[UNOBSERVED] > config.unobserved:
            return None
        goal = out_of(believed_goal(goal_distribution, start), discs, config.room_m)
        if math.dist(goal, here[:2]) < config.at_m:
            return 0.0, 0.0, 1.0
        speed, rate = follow(here, route(here[:2], goal, discs), True, FollowConfig(), discs, speed_m_s)
        self._asked_m_s = speed
        return speed, rate, 0.0


def believed_goal(distribution: NDArray[np.float32], start: NDArray[np.float64]) -> tuple[float, float]:
    """Where d^g (4097,) is largest, in the world."""
    grid = distribution[:UNOBSERVED].reshape(PREDICTION_CELLS, PREDICTION_CELLS).astype(np.float64)
    row, column = np.unravel_index(int(grid.argmax()), grid.shape)
    around = np.s_[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
    weights = grid[around] + 1e-12
    u, v = (prediction_centres()[around] * weights[..., None]).sum(axis=(0, 1)) / weights.sum()
    x, y = to_world((u, v), start)
    return float(np.clip(x, 0.0, ARENA_M)), float(np.clip(y, 0.0, ARENA_M))


def out_of(point: tuple[float, float], discs: NDArray[np.float64], room_m: float) -> tuple[float, float]:
    """The point, or where it is pushed out of the disc it lies deepest in, straight away from its centre."""
    if not len(discs):
        return point
    depth = discs[:, 2] + room_m - np.hypot(discs[:, 0] - point[0], discs[:, 1] - point[1])
    deepest = int(depth.argmax())
    if depth[deepest] <= 0:
        return point
    x, y, radius = discs[deepest]
    dx, dy = point[0] - x, point[1] - y
    length = math.hypot(dx, dy) or 1.0
    if dx == dy == 0.0:
        dx = 1.0
    return float(x + dx / length * (radius + room_m)), float(y + dy / length * (radius + room_m))
