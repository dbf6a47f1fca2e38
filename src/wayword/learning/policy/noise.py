"""How a first stage is wrong: teacher distributions made to look like predictions.

Each episode draws its own errors, which then drift slowly, as those of a network that looks at almost the same
map at every step:
- the path is turned about the start and shifted, the goal shifted further
- both are blurred, sharpened or flattened (temperature), and a little mass lies anywhere in the arena
- a ghost: the path and the goal of another demonstration, with a share of the mass, as if the wrong object or the
  wrong side of it had been understood
- P(not yet observed) is off by a factor of its odds
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.compiled import compiled
from wayword.learning.policy.gold import write_distributions
from wayword.mapping.grid import UNOBSERVED, to_frame, to_world, world_to_prediction
from wayword.task import ARENA_M

Floats = NDArray[np.float32]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class NoiseConfig:
    """Sizes of the errors: standard deviations unless said otherwise."""

    turn_rad: float = 0.08
    shift_m: float = 0.12
    goal_shift_m: float = 0.10
    sigma_cells: tuple[float, float] = (0.8, 2.2)
    """Range of the blur."""
    log_temperature: float = 0.3
    anywhere: float = 0.05
    """Most of the mass that lies anywhere."""
    ghosts: float = 0.5
    """Share of episodes that have one."""
    ghost_share: tuple[float, float] = (0.05, 0.45)
    """Range of a ghost's share of the mass at the start."""
    unobserved_logit: float = 0.7
    drift: float = 0.12
    """Change per decision, relative to the sizes above; errors stay of their size."""


class Noise:
    """The errors of one episode."""

    def __init__(self, path: Array, ghost: Array, start: Array, config: NoiseConfig, rng: np.random.Generator) -> None:
        """``ghost`` is the path of another demonstration in the frame of its own start (u, v)."""
        self.config, self._rng, self._start = config, rng, start
        self._path = to_frame(path, start)
        self._ghost = _within(to_world(ghost, start))
        self._has_ghost = rng.random() < config.ghosts
        low, high = config.ghost_share
        share = rng.uniform(low, high)
        # turn; shift of path; shift of goal; odds of unobserved (path, goal); odds of the ghost
        self._errors = rng.standard_normal(8)
        self._ghost_logit = math.log(share / (1 - share))
        self._sigma, self._goal_sigma = rng.uniform(*config.sigma_cells, 2)
        self._power = math.exp(-config.log_temperature * rng.standard_normal())
        self._anywhere = rng.uniform(0, config.anywhere)
        self._arena = world_to_prediction(np.ones((1, 32, 32), np.float32), start)[0].ravel()
        self._arena /= self._arena.sum()
        x, y, yaw = (float(value) for value in start)
        self._frame = (x, y, math.cos(yaw), math.sin(yaw))
        self._own = np.empty((2, UNOBSERVED + 1), np.float32)
        self._other = np.empty((2, UNOBSERVED + 1), np.float32)

    def write(self, coverage: Floats, result: Floats) -> None:
        """What this first stage would say now, into ``result`` (2, 4097); the errors then drift."""
        config, e = self.config, self._errors
        turn, shift = config.turn_rad * e[0], config.shift_m * e[1:3]
        c, s = math.cos(turn), math.sin(turn)
        points = to_world(self._path @ np.array([[c, s], [-s, c]]) + shift, self._start)
        goal = _within(points[-1:] + config.goal_shift_m * e[3:5])[0]
        points = _within(points)
        write_distributions(points, goal, self._frame, coverage, self._sigma, self._goal_sigma, self._own)
        share = 0.0
        if self._has_ghost:
            share = 1 / (1 + math.exp(-self._ghost_logit - 0.5 * e[7]))
            ghost = self._ghost
            write_distributions(ghost, ghost[-1], self._frame, coverage, self._sigma, self._goal_sigma, self._other)
        odds = config.unobserved_logit * e[5:7]
        _mix(self._own, self._other, share, self._power, self._anywhere, self._arena, odds, result)
        keep = math.sqrt(1 - config.drift**2)
        self._errors = keep * e + config.drift * self._rng.standard_normal(8)


def _within(points: Array) -> Array:
    return np.ascontiguousarray(np.clip(points, 0.1, ARENA_M - 0.1))


@compiled()
def _mix(  # type: ignore[no-untyped-def]
    own, ghost, share, power, anywhere, arena, odds, result
):  # pragma: no cover - compiled
    """Mix the ghost in, flatten or sharpen, spread a little, and get P(not yet observed) wrong."""
    for row in range(2):
        total = 0.0
        for cell in range(UNOBSERVED):
            p = own[row, cell]
            if share > 0:
                p = (1 - share) * p + share * ghost[row, cell]
            if p > 1e-7:
                p = p**power
                total += p
            else:
                p = 0.0
            result[row, cell] = p
        unobserved = own[row, UNOBSERVED]
        if share > 0:
            unobserved = (1 - share) * unobserved + share * ghost[row, UNOBSERVED]
        unobserved = min(max(unobserved, 0.003), 0.997)
        unobserved = 1 / (1 + (1 / unobserved - 1) * math.exp(-odds[row]))
        spread = anywhere if total > 0 else 1.0
        scale = (1 - unobserved) * (1 - spread) / total if total > 0 else 0.0
        sum_all = 0.0
        for cell in range(UNOBSERVED):
            result[row, cell] = scale * result[row, cell] + (1 - unobserved) * spread * arena[cell]
            sum_all += result[row, cell]
        result[row, UNOBSERVED] = max(0.0, 1 - sum_all)
