"""How the simulated autopilot's aircraft moves in the air: the wind's pull on it, and a response that overshoots."""

from __future__ import annotations

import math

import numpy as np

from wayword.sim.vehicle.config import DRAG_PER_S

_RISE = 1.5
"""An oscillator of this many radians per time constant has 63 % of a new speed after about one."""


def swing(overshoot: float, tau: float, target: float, v: float, a: float, dt: float) -> tuple[float, float]:
    """Velocity and acceleration after ``dt`` of a second-order response.

    v'' = w^2 (u - v) - 2 d w v', with the damping d of overshoot = exp(-pi d / sqrt(1 - d^2)).
    """
    size = -math.log(overshoot)
    damping, rate = size / math.hypot(math.pi, size), _RISE / tau
    a += (rate * rate * (target - v) - 2 * damping * rate * a) * dt
    return v + a * dt, a


class Wind:
    """The pull of the air on one aircraft, from its own generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._gust, self._learned = np.zeros(2), np.zeros(2)

    def pull(
        self, steady_m_s: tuple[float, float], gust_m_s: float, learning_s: float, dt: float
    ) -> tuple[float, float]:
        """What is left of the wind's pull (m/s^2) after what the autopilot has learned of it in ``learning_s``."""
        if gust_m_s == 0 and steady_m_s == (0.0, 0.0):
            return 0.0, 0.0
        if gust_m_s > 0:
            keep = math.exp(-dt)
            spread = gust_m_s * math.sqrt(1 - keep * keep)
            self._gust = keep * self._gust + spread * self._rng.standard_normal(2)
        pull = DRAG_PER_S * (self._gust + steady_m_s)
        if learning_s > 0:
            self._learned += (pull - self._learned) * (dt / learning_s)
        left = pull - self._learned
        return float(left[0]), float(left[1])
