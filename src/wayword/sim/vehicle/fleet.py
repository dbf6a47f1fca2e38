"""N quadcopters in one set of arrays.

Conventions, right-handed throughout:
- World frame: x right and y up on the ground plan, z up, metres. Body frame: x forward, y left, z up.
- A pose is [x, y, z, roll, pitch, yaw] with rotation Rz(yaw) Ry(pitch) Rx(roll), radians, body to world.
- Yaw is counter-clockwise seen from above, in (-pi, pi], 0 along +x.
- Positive pitch turns about +y (left) and puts the nose DOWN: accelerating forward pitches positive,
  braking negative.
- Positive roll turns about +x (forward) and puts the right side DOWN. Accelerating to the LEFT therefore
  rolls NEGATIVE, and so does a left turn (positive yaw rate) at speed; accelerating right rolls positive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from wayword.sim.vehicle.arrays import FloatArray, IntArray
from wayword.sim.vehicle.config import GRAVITY_M_S2, VehicleConfig
from wayword.sim.vehicle.disturbance import Disturbances, vehicle_seeds
from wayword.sim.vehicle.lag import fly_lag
from wayword.sim.vehicle.rigid import MASS_KG, fly_rigid, outer_loop

_PLANE = [0, 1, 5]
"""Of a pose: x, y and yaw, which is what a track keeps."""


class Fleet:
    """N vehicles that share a configuration and fly side by side without affecting one another.

    A vehicle's flight is the same, to the byte, whether it flies alone or in a batch. The arrays that
    the properties return are copies: they keep their values when the fleet moves on.
    """

    def __init__(self, count: int, config: VehicleConfig | None = None) -> None:
        if count < 1:
            raise ValueError(f"a fleet needs at least one vehicle, not {count}")
        self.config = config or VehicleConfig()
        self.count = count
        self._ready = np.zeros(count, dtype=np.bool_)
        self._pose = np.zeros((count, 6))
        self._reported = np.zeros((count, 6))
        self._velocity = np.zeros((count, 3))
        self._rates = np.zeros((count, 3))
        self._time_constants = np.zeros(count)
        self._contacts = np.zeros(count, dtype=np.int64)
        self._touching = np.zeros((count, 0), dtype=np.bool_)
        self._track = np.zeros((count, 0, 3))
        self._disturbances = Disturbances(count, self.config)
        # State of the rigid body only.
        self._attitude = np.zeros((count, 4))
        self._motors = np.zeros((count, 4))
        self._acceleration = np.zeros((count, 2))
        self._outer = np.zeros((count, 2))

    @property
    def pose(self) -> FloatArray:
        """True poses (N, 6): x, y, z, roll, pitch, yaw."""
        return self._pose.copy()

    @property
    def reported_pose(self) -> FloatArray:
        """Poses (N, 6) with the estimator's noise, drawn once per reset and step."""
        return self._reported.copy()

    @property
    def velocity(self) -> FloatArray:
        """True velocities (N, 3), world frame, m/s."""
        return self._velocity.copy()

    @property
    def rates(self) -> FloatArray:
        """Body rates (N, 3) about x, y, z in rad/s; the lag model knows the yaw rate only."""
        return self._rates.copy()

    @property
    def contacts(self) -> IntArray:
        """Touches (N,) counted since each vehicle's reset."""
        return self._contacts.copy()

    @property
    def track(self) -> FloatArray:
        """Positions (N, S, 2) after each sub-step of the last step; S = 0 before the first.

        After a reset, the row of a vehicle holds its start position.
        """
        return self._track[:, :, :2].copy()

    @property
    def headings(self) -> FloatArray:
        """Yaws (N, S) in radians at the places of ``track``."""
        return self._track[:, :, 2].copy()

    @property
    def time_constants(self) -> FloatArray:
        """Time constants (N,) of this episode in seconds, as configured or as drawn."""
        return self._time_constants.copy()

    def reset(
        self,
        indices: ArrayLike,
        x: ArrayLike,
        y: ArrayLike,
        yaw: ArrayLike,
        rng_or_seeds: np.random.Generator | Sequence[int] | IntArray | None = None,
    ) -> None:
        """Put the vehicles ``indices`` (M,) into hover at flight height.

        x, y (m) and yaw (rad) are scalars or (M,). ``rng_or_seeds`` is a generator, from which one seed
        per vehicle is drawn, or M seeds; it may be left out only if the configuration is not random.
        """
        index = np.atleast_1d(np.asarray(indices, dtype=np.int64))
        if index.ndim != 1 or np.any((index < 0) | (index >= self.count)):
            raise ValueError(f"indices must be a list of numbers from 0 to {self.count - 1}")
        if len(set(index.tolist())) != len(index):
            raise ValueError("indices must not repeat a vehicle")
        start = np.stack([np.broadcast_to(np.asarray(v, dtype=np.float64), index.shape) for v in (x, y, yaw)])
        if not np.isfinite(start).all():
            raise ValueError("x, y and yaw must be finite")
        seeds: list[int] | None = None
        if rng_or_seeds is not None:
            seeds = vehicle_seeds(len(index), rng_or_seeds)
        elif self.config.is_random:
            raise ValueError("this configuration is random: pass a generator or one seed per vehicle")

        for m, i in enumerate(index.tolist()):
            seed = seeds[m] if seeds is not None and self.config.is_random else None
            time_constant = self._disturbances.reset(i, seed)
            heading = math.remainder(start[2, m], 2.0 * math.pi)
            if heading <= -math.pi:
                heading = math.pi
            self._pose[i] = (start[0, m], start[1, m], self.config.altitude_m, 0.0, 0.0, heading)
            self._time_constants[i] = time_constant
            if self.config.model == "rigid":
                self._attitude[i] = (math.cos(0.5 * heading), 0.0, 0.0, math.sin(0.5 * heading))
                self._outer[i] = outer_loop(time_constant)
        self._velocity[index] = 0.0
        self._rates[index] = 0.0
        self._motors[index] = 0.25 * MASS_KG * GRAVITY_M_S2
        self._acceleration[index] = 0.0
        self._contacts[index] = 0
        self._touching[index] = False
        self._track[index] = self._pose[index][:, None, _PLANE]
        self._reported[index] = self._disturbances.report(self._pose, index)
        self._ready[index] = True

    def step(
        self,
        setpoints: ArrayLike,
        duration_s: float = 0.5,
        obstacles: ArrayLike | None = None,
        active: ArrayLike | None = None,
        report: bool = True,
    ) -> None:
        """Fly all vehicles for ``duration_s`` with the setpoints held, or only those numbered in ``active``.

        setpoints (N, 2): forward speed (m/s) and yaw rate (rad/s), clipped to the limits; NaN raises
        ValueError. obstacles (N, K, 3): centre x, y and radius (m) of the solid columns around each
        vehicle, padded with radius 0; a column keeps its place in the array from step to step. Without
        ``report`` the estimators do not speak: for steps that only divide a decision.
        """
        if not self._ready.all():
            raise ValueError(f"vehicles {np.flatnonzero(~self._ready).tolist()} were never reset")
        config = self.config
        commands_in = np.asarray(setpoints, dtype=np.float64)
        if commands_in.shape != (self.count, 2):
            raise ValueError(f"setpoints must have shape ({self.count}, 2), not {commands_in.shape}")
        if np.isnan(commands_in).any():
            raise ValueError("setpoints must not be NaN")
        sub_steps = config.sub_steps(duration_s)
        columns = self._columns(obstacles)
        turn = config.max_yaw_rate_rad_s
        held = np.clip(commands_in, [0.0, -turn], [config.max_speed_m_s, turn]) * [config.speed_share, 1.0]

        commands = self._disturbances.delay(held, sub_steps)
        wind = self._disturbances.wind(sub_steps)
        still = np.setdiff1d(np.arange(self.count), np.arange(self.count) if active is None else active)
        state = (self._pose, self._velocity, self._rates, self._contacts, self._touching,
                 self._attitude, self._motors, self._acceleration)  # fmt: skip
        frozen = [values[still] for values in state]
        reported = self._reported[still]
        self._track = np.empty((self.count, sub_steps, 3))
        if config.model == "lag":
            fly_lag(
                self._pose,
                self._velocity,
                self._rates,
                self._contacts,
                self._touching,
                self._track,
                self._time_constants,
                commands,
                wind,
                columns,
                config.sub_step_s,
                config.yaw_time_constant_s,
                config.tilt_time_constant_s,
                config.radius_m,
            )
        else:
            fly_rigid(
                self._pose,
                self._velocity,
                self._rates,
                self._attitude,
                self._motors,
                self._acceleration,
                self._contacts,
                self._touching,
                self._track,
                self._outer,
                commands,
                wind,
                columns,
                config.sub_step_s,
                config.yaw_time_constant_s,
                config.altitude_m,
                config.radius_m,
            )
        for values, before in zip(state, frozen, strict=True):
            values[still] = before
        self._track[still] = self._pose[still][:, None, _PLANE]
        if report:
            self._reported = self._disturbances.report(self._pose, np.arange(self.count))
            self._reported[still] = reported

    def confine(self, low: ArrayLike, high: ArrayLike) -> None:
        """Stop every vehicle at a net: x and y are kept within [low, high] (each a scalar or (N,)), metres."""
        lowest, highest = (np.broadcast_to(np.asarray(v, dtype=np.float64), (self.count,)) for v in (low, high))
        for axis in (0, 1):
            inside = np.clip(self._pose[:, axis], lowest, highest)
            caught = inside != self._pose[:, axis]
            self._velocity[caught, axis] = 0.0
            self._reported[:, axis] += inside - self._pose[:, axis]
            self._pose[:, axis] = inside
            self._track[:, :, axis] = np.clip(self._track[:, :, axis], lowest[:, None], highest[:, None])

    def _columns(self, obstacles: ArrayLike | None) -> FloatArray:
        """Check the obstacles and make room to remember which of them are being touched."""
        columns = np.zeros((self.count, 0, 3))
        if obstacles is not None:
            columns = np.ascontiguousarray(obstacles, dtype=np.float64)
        if columns.ndim != 3 or columns.shape[0] != self.count or columns.shape[2] != 3:
            raise ValueError(f"obstacles must have shape ({self.count}, K, 3), not {columns.shape}")
        if not np.isfinite(columns).all():
            raise ValueError("obstacles must be finite; pad with radius 0")
        slots = columns.shape[1]
        if slots != self._touching.shape[1]:
            touching = np.zeros((self.count, slots), dtype=np.bool_)
            common = min(slots, self._touching.shape[1])
            touching[:, :common] = self._touching[:, :common]
            self._touching = touching
        return columns
