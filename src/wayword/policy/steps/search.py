"""Looking for things: round on the spot, then from other places of the arena."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wayword.episodes.geometry import wrap
from wayword.policy.steps.follow import FollowConfig, follow
from wayword.policy.steps.route import clearance, route
from wayword.policy.steps.surroundings import Point, Surroundings
from wayword.task import ARENA_M, MAX_YAW_RATE_RAD_S

_VIEWPOINTS = [
    (x * ARENA_M, y * ARENA_M) for x, y in ((0.5, 0.5), (0.27, 0.27), (0.73, 0.73), (0.27, 0.73), (0.73, 0.27))
]
_SEEN_FROM_M = 1.1
"""A viewpoint this near to one that was used shows nothing new."""
_MOST_VIEWPOINTS = 3
_SLOWLY = 0.6
"""Share of the fastest turn at which the drone looks when it must know everything that stands around."""


class Search:
    """One search; ``over`` when there is nothing more to try."""

    def __init__(self, keys: tuple[str, ...], whole: bool = False) -> None:
        """With ``whole`` the drone looks all round, whatever it finds, and from one place only."""
        self.keys, self.over = keys, False
        self._whole = whole
        self._swept = 0.0
        self._yaw: float | None = None
        self._used: list[Point] = []
        self._towards: Point | None = None

    def decide(
        self, here: NDArray[np.float64], around: Surroundings, discs: NDArray[np.float64], speed_m_s: float = 0.0
    ) -> tuple[float, float] | None:
        """Forward speed and yaw rate of a drone that flies ``speed_m_s``, or None when the search is over."""
        if self._towards is not None:
            if math.dist(self._towards, (here[0], here[1])) > 0.15:
                way = route(here[:2], self._towards, discs)
                return follow(here, way, True, FollowConfig(), discs, speed_m_s)
            self._towards, self._swept, self._yaw = None, 0.0, None
        if self._yaw is not None:
            self._swept += abs(wrap(float(here[2]) - self._yaw))
        self._yaw = float(here[2])
        if self._swept < 2 * math.pi - 0.6:  # the view is wider than what is left
            return 0.0, _SLOWLY * MAX_YAW_RATE_RAD_S if self._whole else MAX_YAW_RATE_RAD_S
        known = all(around.where(key) is not None for key in self.keys)
        self._used.append((float(here[0]), float(here[1])))
        if self._whole or known or not self._next_viewpoint(here, discs):
            self.over = True
            return None
        return 0.0, 0.0

    def _next_viewpoint(self, here: NDArray[np.float64], discs: NDArray[np.float64]) -> bool:
        fresh = [p for p in _VIEWPOINTS if all(math.dist(p, used) > _SEEN_FROM_M for used in self._used)]
        free = [p for p in fresh if clearance(p, discs) > 0.1]
        if not free or len(self._used) > _MOST_VIEWPOINTS:
            return False
        self._towards = min(free, key=lambda p: math.dist(p, (here[0], here[1])))
        return True
