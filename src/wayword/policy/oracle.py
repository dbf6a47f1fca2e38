"""Oracle: a carrot follower that is shown the demonstration. The upper bound of every table.

The carrot is the point of the demonstration a fixed way ahead of the drone's progress on it. The drone turns
towards the carrot, slows down while it is not facing it and while it nears the end, and stops there. Differs
from the paper's Oracle in that it brakes to the end instead of stopping up to 0.25 m short of it, and may
turn on the spot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.policy.interface import Observations
from wayword.task import MAX_SPEED_M_S


@dataclass(frozen=True)
class OracleConfig:
    """How the carrot is followed."""

    look_ahead_m: float = 0.55
    """From the drone's progress on the path to the carrot."""
    search_m: float = 0.6
    """Progress is searched only this far ahead, so that a path that crosses itself is not cut short."""
    speed_m_s: float = MAX_SPEED_M_S
    """Fastest forward speed."""
    turn_gain: float = 1.9
    """Yaw rate per radian of heading error."""
    slow_turn: float = 3.0
    """Speed falls as exp(-slow_turn * |heading error|)."""
    brake_s: float = 0.9
    """Speed is at most the way left divided by this time: the vehicle's lag plus half a decision."""
    stop_m: float = 0.1
    """Stop when the way left is shorter than this."""
    overshoot_m: float = 0.2
    """Stop at once when the end is less than this far behind."""
    creep_m_s: float = 0.06
    """Slowest speed while the drone faces its carrot."""


class Oracle:
    """Follows the demonstrations it is briefed with."""

    name = "oracle"
    needs_objects = False

    def __init__(self, config: OracleConfig | None = None) -> None:
        self.config = config or OracleConfig()
        self._paths: list[NDArray[np.float64]] = []
        self._arcs: list[NDArray[np.float64]] = []
        self._progress: NDArray[np.float64] = np.zeros(0)

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Forget the demonstrations; they must be given anew with ``brief``."""
        self._paths, self._arcs = [], []
        self._progress = np.zeros(len(instructions))

    def brief(self, demonstrations: Sequence[NDArray[np.float64]]) -> None:
        """Take the gold paths, one per instruction."""
        if len(demonstrations) != len(self._progress):
            raise ValueError(f"{len(demonstrations)} demonstrations for {len(self._progress)} instructions")
        self._paths = [_dense(np.asarray(path, dtype=np.float64)) for path in demonstrations]
        self._arcs = [
            np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]) for path in self._paths
        ]

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """One step of carrot following for every slot."""
        if len(self._paths) != len(self._progress):
            raise ValueError("the oracle flies from demonstrations: call brief() after reset()")
        actions = [
            self._follow(int(slot), pose) for slot, pose in zip(observations.slots, observations.poses, strict=True)
        ]
        return np.array(actions, dtype=np.float64).reshape(-1, 3)

    def _follow(self, slot: int, pose: NDArray[np.float64]) -> tuple[float, float, float]:
        config, path, arc = self.config, self._paths[slot], self._arcs[slot]
        here, yaw = pose[:2], float(pose[5])
        progress = self._advance(slot, here)
        left = float(arc[-1]) - progress
        to_end = float(np.linalg.norm(path[-1] - here))
        if left < config.look_ahead_m and to_end < config.stop_m:
            return 0.0, 0.0, 1.0
        carrot = _along(path, arc, progress + config.look_ahead_m)
        error = _wrap(math.atan2(carrot[1] - here[1], carrot[0] - here[0]) - yaw)
        way = max(left, to_end)
        if left < config.look_ahead_m and to_end < config.overshoot_m and abs(error) > math.pi / 2:
            return 0.0, 0.0, 1.0  # the end is just behind: turning back would only make the path longer
        speed = min(config.speed_m_s, max(way / config.brake_s, config.creep_m_s))
        speed *= math.exp(-config.slow_turn * abs(error))
        return speed, max(-1.0, min(1.0, config.turn_gain * error)), 0.0

    def _advance(self, slot: int, here: NDArray[np.float64]) -> float:
        """Arc length of the nearest point of the path a little ahead of the progress so far."""
        path, arc, done = self._paths[slot], self._arcs[slot], self._progress[slot]
        window = (arc >= done - 1e-9) & (arc <= done + self.config.search_m)
        if window.any():
            nearest = int(np.argmin(np.linalg.norm(path[window] - here, axis=1)))
            self._progress[slot] = arc[window][nearest]
        return float(self._progress[slot])


def _dense(path: NDArray[np.float64], spacing_m: float = 0.05) -> NDArray[np.float64]:
    """Points no further apart than the spacing: progress is looked for among points."""
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    between = np.linspace(0.0, arc[-1], int(arc[-1] / spacing_m) + 2)
    every = np.unique(np.concatenate([arc, between]))
    return np.column_stack([np.interp(every, arc, path[:, 0]), np.interp(every, arc, path[:, 1])])


def _along(path: NDArray[np.float64], arc: NDArray[np.float64], distance: float) -> NDArray[np.float64]:
    """The point at an arc length, the last one beyond the end."""
    return np.array([np.interp(distance, arc, path[:, 0]), np.interp(distance, arc, path[:, 1])])


def _wrap(angle: float) -> float:
    """Into [-pi, pi)."""
    return (angle + math.pi) % (2 * math.pi) - math.pi
