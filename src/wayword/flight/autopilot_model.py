"""A simulated autopilot and its quadcopter: modes, setpoints, failsafe timer, take-off and landing, in simulated time.

Moves like the simulator's lag model (``wayword.sim.vehicle.lag``) in three dimensions:

    dv/dt = (u - v) / tau + k w - b        b: what the autopilot has learned of the wind, so that it does not drift
    dr/dt = (omega - r) / tau_yaw

Setpoints are world velocities with a yaw rate, or a place. The rules are those measured on real autopilots: offboard is
refused without a running stream of setpoints, and left ``silence_s`` after the last one, with ``on_silence`` as action.
PX4 takes that action back as soon as setpoints return (``comes_back``) and flies 0.8 of a commanded speed
(``speed_share``); ArduPilot keeps below the ceiling of its own fence (``ceiling_m``), however low that is.

Objects are the arena's solid columns (``wayword.sim.vehicle.contact``): it may touch them but not enter them.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wayword.flight.air import Wind, swing
from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.vehicle import Mode, Pose, Telemetry, Vector
from wayword.sim.vehicle.config import GRAVITY_M_S2
from wayword.sim.vehicle.contact import push_out
from wayword.task import ALTITUDE_M

_CLIMB_M_S, _DESCEND_M_S = 0.5, 0.4
_PLACE_GAIN, _HEIGHT_GAIN = 0.6, 1.5
_HOLD_SPEED_M_S = 0.5
_STREAM_S, _STREAM_GAP_S = 0.4, 0.5
"""A stream this long, without a larger gap, lets an autopilot enter offboard."""


@dataclass
class Setpoint:
    """What was asked for last: a velocity with a yaw rate, or a place."""

    velocity: Vector | None = (0.0, 0.0, 0.0)
    yaw_rate: float = 0.0
    place: tuple[float, float] | None = None
    yaw: float | None = None
    height: float | None = None


@dataclass
class AutopilotModel:
    """One aircraft; ``advance`` lets time pass."""

    config: AutopilotModelConfig = field(default_factory=AutopilotModelConfig)
    x: float = 0.6
    y: float = 0.6
    yaw: float = 0.0
    seed: int = 0
    columns: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    """Solid objects (K, 3): x, y and radius in metres."""

    def __post_init__(self) -> None:
        self.time_s = 0.0
        self.z, self.roll, self.pitch, self.yaw_rate = 0.0, 0.0, 0.0, 0.0
        self.vx = self.vy = self.vz = 0.0
        self.mode, self.armed = Mode.GROUND, False
        self.height = ALTITUDE_M
        self.battery = 0.9
        self.contacts = 0
        """Touches of objects so far."""
        self._touching = np.zeros(len(self.columns), bool)
        self.offset: Vector = (0.0, 0.0, 0.0)
        """A jump of the estimator: what it reports, and steers by, is the truth plus this."""
        self._rng = np.random.default_rng(self.seed)
        self._wind = Wind(self._rng)
        self._acceleration = (0.0, 0.0)
        self._setpoint, self._place, self._place_yaw = Setpoint(), (self.x, self.y), self.yaw
        self._queue: deque[tuple[float, Setpoint]] = deque()
        self._stream_began, self._stream_last, self._beat_last = -math.inf, -math.inf, math.inf
        self._offboard_chosen = False
        self._failsafe = False
        """In a mode that its silence timer chose, and nobody else."""

    # What it is told.

    def receive(self, setpoint: Setpoint) -> None:
        """A setpoint arrives; it takes effect after the latency."""
        if self.time_s - self._stream_last > _STREAM_GAP_S:
            self._stream_began = self.time_s
        self._stream_last = self.time_s
        if self._failsafe and self.config.comes_back and self.mode in (Mode.HOLD, Mode.LAND):
            self.mode, self._failsafe = Mode.OFFBOARD, False
        self._queue.append((self.time_s + self.config.latency_s, setpoint))

    def hear(self) -> None:
        """A heartbeat arrives from whom it watches."""
        self._beat_last = self.time_s

    def arm(self) -> bool:
        """Start the motors; with offboard chosen before, setpoints are flown from here on."""
        self.armed = True
        if self._offboard_chosen and self.time_s - self._stream_last < _STREAM_GAP_S:
            self.mode = Mode.OFFBOARD
        return True

    def take_off(self, height_m: float) -> bool:
        """Climb, then hold."""
        if not self.armed or self.mode is not Mode.GROUND:
            return False
        self.height, self.mode = height_m, Mode.TAKEOFF
        self._stay()
        return True

    def offboard(self) -> bool:
        """Fly setpoints from now on; refused without a running stream."""
        running = self.time_s - self._stream_last < _STREAM_GAP_S
        if not running or self._stream_last - self._stream_began < _STREAM_S:
            return False
        if not self.armed:  # granted for when the motors start
            self._offboard_chosen = True
            return True
        if self.mode in (Mode.TAKEOFF, Mode.HOLD, Mode.OFFBOARD):
            self.mode = Mode.OFFBOARD
            return True
        return False

    def land(self) -> bool:
        """Land here."""
        self._failsafe = False
        if self.armed and self.mode is not Mode.GROUND:
            if self.mode is not Mode.LAND:
                self._stay()
            self.mode = Mode.LAND
        return True

    def hold(self) -> bool:
        """The autopilot's own position hold."""
        self._failsafe = False
        if self.mode in (Mode.OFFBOARD, Mode.TAKEOFF):
            self.mode = Mode.HOLD
            self._stay()
        return True

    def kill(self) -> None:
        """Motors off: it falls."""
        self.armed, self.mode, self.z, self._offboard_chosen = False, Mode.GROUND, 0.0, False
        self.vx = self.vy = self.vz = 0.0

    def jump(self, dx: float, dy: float) -> None:
        """The position estimate jumps. In modes of its own an autopilot takes its target along."""
        self.offset = (self.offset[0] + dx, self.offset[1] + dy, self.offset[2])
        if self.mode is not Mode.OFFBOARD:
            self._place = (self._place[0] + dx, self._place[1] + dy)

    # What it does.

    def advance(self, seconds: float) -> None:
        """Fly for this long."""
        for _ in range(max(round(seconds / self.config.step_s), 1)):
            self._step(self.config.step_s)

    def telemetry(self) -> Telemetry:
        """What it would report now."""
        c, noise = self.config, self._rng.standard_normal(6)
        place = [
            value + shift + c.position_noise_m * float(error)
            for value, shift, error in zip((self.x, self.y, self.z), self.offset, noise[:3], strict=True)
        ]
        pose: Pose = (place[0], place[1], place[2], self.roll, self.pitch, math.remainder(self.yaw, 2 * math.pi))
        velocity = [
            v + c.velocity_noise_m_s * float(error)
            for v, error in zip((self.vx, self.vy, self.vz), noise[3:], strict=True)
        ]
        return Telemetry(
            pose, (velocity[0], velocity[1], velocity[2]), self.time_s, self.time_s, self.mode, self.time_s,
            self.armed, self.mode is Mode.GROUND, self.battery,
        )  # fmt: skip

    @property
    def true_pose(self) -> Pose:
        """Where it really is."""
        return self.x, self.y, self.z, self.roll, self.pitch, self.yaw

    @property
    def gap_m(self) -> float:
        """From the body to the nearest object; infinite without one."""
        gaps = np.hypot(self.columns[:, 0] - self.x, self.columns[:, 1] - self.y) - self.columns[:, 2]
        return float(gaps.min(initial=math.inf)) - self.config.radius_m

    def _stay(self) -> None:
        """Hold where it comes to rest, as it believes."""
        tau = self.config.time_constant_s
        self._place = (self.x + self.offset[0] + self.vx * tau, self.y + self.offset[1] + self.vy * tau)
        self._place_yaw = self.yaw

    def _step(self, dt: float) -> None:
        self.time_s += dt
        while self._queue and self._queue[0][0] <= self.time_s:
            self._setpoint = self._queue.popleft()[1]
        if self.mode is Mode.OFFBOARD and self.time_s - self._stream_last > self.config.silence_s:
            self._fall_silent()
        if self.mode is Mode.OFFBOARD and self.time_s - self._beat_last > self.config.heartbeat_s:
            self.land()
        if self.mode is Mode.GROUND:
            return
        ux, uy, uz, omega = self._demand()
        if self.z > self.config.ceiling_m:
            uz = min(uz, -_DESCEND_M_S)
        self._move(ux, uy, uz, omega, dt)
        if self.mode is Mode.TAKEOFF and self.z > self.height - 0.05:
            self.mode = Mode.HOLD
            self._stay()
        if self.mode is Mode.LAND and self.z <= 0.0:
            self.mode, self.armed = Mode.GROUND, False
            self.vx = self.vy = self.vz = 0.0

    def _fall_silent(self) -> None:
        if self.config.on_silence == "stop":
            if self._setpoint.place is None:  # a place is held for good
                self._setpoint = Setpoint((0.0, 0.0, 0.0), 0.0, height=self.height)
            return
        self.hold()
        if self.config.on_silence == "land":
            self.land()
        self._failsafe = True

    def _demand(self) -> tuple[float, float, float, float]:
        """Velocity and yaw rate that the position loop, or the setpoint, asks for."""
        climb = _HEIGHT_GAIN * (self.height - self.z - self.offset[2])
        if self.mode is Mode.LAND:
            return (*self._towards(self._place), -_DESCEND_M_S, self._turn(self._place_yaw))
        if self.mode is not Mode.OFFBOARD:
            return (*self._towards(self._place), min(climb, _CLIMB_M_S), self._turn(self._place_yaw))
        latest = self._setpoint
        if latest.height is not None:
            climb = _HEIGHT_GAIN * (latest.height - self.z - self.offset[2])
        if latest.place is not None:
            return (*self._towards(latest.place), climb, self._turn(latest.yaw if latest.yaw is not None else self.yaw))
        (vx, vy, vz), share = latest.velocity or (0.0, 0.0, 0.0), self.config.speed_share
        return share * vx, share * vy, climb if latest.height is not None else vz, latest.yaw_rate

    def _towards(self, place: tuple[float, float]) -> tuple[float, float]:
        dx = _PLACE_GAIN * (place[0] - self.x - self.offset[0])
        dy = _PLACE_GAIN * (place[1] - self.y - self.offset[1])
        size = math.hypot(dx, dy)
        share = min(1.0, _HOLD_SPEED_M_S / size) if size > 0 else 1.0
        return dx * share, dy * share

    def _turn(self, yaw: float) -> float:
        return min(1.0, max(-1.0, 1.5 * math.remainder(yaw - self.yaw, 2 * math.pi)))

    def _move(self, ux: float, uy: float, uz: float, omega: float, dt: float) -> None:
        c = self.config
        tau, keep = c.time_constant_s, math.exp(-dt / c.time_constant_s)
        pull_x, pull_y = self._wind.pull(c.wind_m_s, c.gust_m_s, c.wind_learning_s, dt)
        end_x, end_y = ux + tau * pull_x, uy + tau * pull_y
        free_x, free_y = self.x, self.y
        if c.overshoot > 0:
            (self.vx, ax), (self.vy, ay) = (
                swing(c.overshoot, tau, end, v, a, dt)
                for end, v, a in zip((end_x, end_y), (self.vx, self.vy), self._acceleration, strict=True)
            )
            self._acceleration = (ax, ay)
            self.x, self.y = self.x + self.vx * dt, self.y + self.vy * dt
        else:
            self.x += end_x * dt + (self.vx - end_x) * tau * (1 - keep)
            self.y += end_y * dt + (self.vy - end_y) * tau * (1 - keep)
            self.vx, self.vy = end_x + (self.vx - end_x) * keep, end_y + (self.vy - end_y) * keep
        if len(self.columns):
            self.x, self.y, self.vx, self.vy, began = push_out(
                self.x, self.y, self.vx, self.vy, free_x, free_y, c.radius_m, self.columns, self._touching
            )  # fmt: skip
            self.contacts += began
        lift = math.exp(-dt / 0.2)
        self.vz = uz + (self.vz - uz) * lift
        self.z = max(self.z + self.vz * dt, 0.0)
        self.yaw_rate = omega + (self.yaw_rate - omega) * math.exp(-dt / c.yaw_time_constant_s)
        self.yaw += self.yaw_rate * dt
        # It leans into its acceleration: forward pitches the nose down, to the left rolls negative.
        ax, ay = (ux - self.vx) / tau, (uy - self.vy) / tau
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        smooth = math.exp(-dt / 0.05)
        pitch, roll = math.atan((ax * cos + ay * sin) / GRAVITY_M_S2), -math.atan((ay * cos - ax * sin) / GRAVITY_M_S2)
        self.pitch, self.roll = pitch + (self.pitch - pitch) * smooth, roll + (self.roll - roll) * smooth
