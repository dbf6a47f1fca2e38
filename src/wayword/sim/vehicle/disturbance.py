"""What comes between command and flight: each vehicle's own chance, wind, latency and pose noise.

Every vehicle owns three generators, one each for its response, its wind and its pose noise. They do not
share a stream, so switching pose noise on leaves the flight as it was, byte for byte.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from wayword.sim.vehicle.arrays import FloatArray, IntArray
from wayword.sim.vehicle.config import VehicleConfig


def vehicle_seeds(count: int, rng_or_seeds: np.random.Generator | Sequence[int] | IntArray) -> list[int]:
    """One seed per vehicle: drawn from a generator, or as given."""
    if isinstance(rng_or_seeds, np.random.Generator):
        return [int(seed) for seed in rng_or_seeds.integers(0, 2**63, size=count)]
    seeds = [int(seed) for seed in rng_or_seeds]
    if len(seeds) != count:
        raise ValueError(f"{count} vehicles need {count} seeds, not {len(seeds)}")
    return seeds


class Disturbances:
    """Random state of N vehicles, drawn per vehicle so that the batch does not matter."""

    def __init__(self, count: int, config: VehicleConfig) -> None:
        self._config = config
        self._wind_rng: list[np.random.Generator | None] = [None] * count
        self._noise_rng: list[np.random.Generator | None] = [None] * count
        self._mean_wind = np.zeros((count, 2))
        self._gust = np.zeros((count, 2))
        # Setpoints on their way, one per sub-step of the longest latency, oldest first.
        self._pending = np.zeros((count, config.longest_latency_sub_steps, 2))
        self._latency = np.full(count, config.in_sub_steps(config.latency_s))

    def reset(self, index: int, seed: int | None) -> float:
        """Start an episode for one vehicle and return its time constant; None if nothing is random."""
        config, wind = self._config, self._config.wind
        self._pending[index] = 0.0
        time_constant, direction = config.time_constant_s, wind.direction_rad or 0.0
        if seed is not None:
            streams = np.random.SeedSequence(seed).spawn(3)
            response, weather, noise = (np.random.default_rng(stream) for stream in streams)
            if config.randomise is not None:
                time_constant = float(response.uniform(*config.randomise))
            if config.randomise_latency is not None:
                self._latency[index] = config.in_sub_steps(float(response.uniform(*config.randomise_latency)))
            if wind.direction_rad is None:
                direction = float(weather.uniform(-math.pi, math.pi))
            self._gust[index] = wind.gust_m_s * weather.standard_normal(2)
            self._wind_rng[index], self._noise_rng[index] = weather, noise
        self._mean_wind[index, 0] = wind.speed_m_s * math.cos(direction)
        self._mean_wind[index, 1] = wind.speed_m_s * math.sin(direction)
        return time_constant

    def delay(self, setpoints: FloatArray, sub_steps: int) -> FloatArray:
        """Setpoints (N, 2) as they take effect over the coming sub-steps (N, S, 2)."""
        arriving = np.repeat(setpoints[:, None, :], sub_steps, axis=1)
        if self._pending.shape[1] == 0:
            return arriving
        line = np.concatenate([self._pending, arriving], axis=1)
        longest = self._pending.shape[1]
        self._pending = line[:, sub_steps:].copy()
        now = (longest - self._latency)[:, None] + np.arange(sub_steps)
        return np.ascontiguousarray(np.take_along_axis(line, now[:, :, None], axis=1))

    def wind(self, sub_steps: int) -> FloatArray:
        """Wind (N, S, 2) over the coming sub-steps in m/s, or (N, 0, 2) if there is none."""
        wind, count = self._config.wind, len(self._mean_wind)
        if wind.speed_m_s == 0.0 and wind.gust_m_s == 0.0:
            return np.zeros((count, 0, 2))
        blowing = np.repeat(self._mean_wind[:, None, :], sub_steps, axis=1)
        if wind.gust_m_s > 0.0:
            shocks = _normals(self._wind_rng, (sub_steps, 2))
            # Exact transition of the Ornstein-Uhlenbeck process over one sub-step.
            keep = math.exp(-self._config.sub_step_s / wind.gust_time_s)
            spread = wind.gust_m_s * math.sqrt(1.0 - keep * keep)
            for s in range(sub_steps):
                self._gust = keep * self._gust + spread * shocks[:, s]
                blowing[:, s] += self._gust
        return blowing

    def report(self, pose: FloatArray, indices: IntArray) -> FloatArray:
        """The poses (M, 6) of these vehicles as their own estimators report them."""
        config = self._config
        reported = pose[indices]
        if config.position_noise_m > 0.0 or config.angle_noise_rad > 0.0:
            error = _normals([self._noise_rng[i] for i in indices], (6,))
            reported[:, :3] += config.position_noise_m * error[:, :3]
            reported[:, 3:] += config.angle_noise_rad * error[:, 3:]
            yaw = reported[:, 5]
            yaw[yaw > math.pi] -= 2.0 * math.pi
            yaw[yaw <= -math.pi] += 2.0 * math.pi
        return reported


def _normals(generators: Sequence[np.random.Generator | None], shape: tuple[int, ...]) -> FloatArray:
    """Standard normal samples (N, *shape), row i from generator i."""
    samples = np.empty((len(generators), *shape))
    for row, generator in zip(samples, generators, strict=True):
        assert generator is not None, "a random configuration seeds every vehicle at reset"
        generator.standard_normal(out=row)
    return samples
