"""Baselines that neither look nor listen: Average and Stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.policy.interface import Observations


@dataclass(frozen=True)
class AverageConfig:
    """Means over the Oracle's flights of all 1,982 two-segment examples of the natural ``train`` split.

    Measured by ``wayword eval --policy oracle --split train --out FILE``, which writes them as "commands".
    """

    speed_m_s: float = 0.386
    """Mean commanded forward speed."""
    yaw_rate_rad_s: float = -0.011
    """Mean commanded yaw rate."""
    steps: int = 17
    """Mean number of decisions before the stop."""


class Average:
    """Flies the mean command of the training demonstrations for their mean number of decisions."""

    name = "average"
    needs_objects = False

    def __init__(self, config: AverageConfig | None = None) -> None:
        self.config = config or AverageConfig()
        self._steps: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Start counting decisions."""
        self._steps = np.zeros(len(instructions), dtype=np.int64)

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """The constants, then stop."""
        stop = self._steps[observations.slots] >= self.config.steps
        self._steps[observations.slots] += 1
        actions = np.zeros((len(stop), 3))
        actions[~stop] = (self.config.speed_m_s, self.config.yaw_rate_rad_s, 0.0)
        actions[stop, 2] = 1.0
        return actions


class Stop:
    """Stops at once: what doing nothing is worth."""

    name = "stop"
    needs_objects = False

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Nothing to remember."""

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """Stop."""
        return np.tile([0.0, 0.0, 1.0], (len(observations.slots), 1))
