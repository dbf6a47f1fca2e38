"""Settings of the quadcopter: limits, response, disturbances and body.

The response is stated the way it is measured on an aircraft: ``time_constant_s`` is the time from
hover to 63 % of the full 0.7 m/s. Small drones under common autopilots take 0.7 to 1.0 s, agile ones
0.3 s, so a policy meant for more than one airframe is trained with ``randomise=(0.3, 1.0)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from wayword.errors import WaywordError
from wayword.task import ALTITUDE_M, MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S

GRAVITY_M_S2 = 9.81
# Linear drag of a small quadcopter per unit of mass, in 1/s: the pull of the air on v - wind.
DRAG_PER_S = 0.25
# The rigid body's cascade is tuned and tested for this range of time constants, in seconds.
RIGID_TIME_CONSTANTS_S = (0.3, 1.0)


def _require(holds: bool, name: str, value: float, condition: str) -> None:
    """Raise the one-line error for a setting outside its range or not finite."""
    if not (holds and math.isfinite(value)):
        raise WaywordError(f"vehicle setting {name} is {value:g} but must be {condition}")


@dataclass(frozen=True)
class WindConfig:
    """Wind over the ground, the same at every place of the arena. Off by default."""

    speed_m_s: float = 0.0
    """Mean wind speed."""
    direction_rad: float | None = None
    """Where the mean wind blows towards, world frame; None draws it anew for every episode."""
    gust_m_s: float = 0.0
    """Standard deviation of the gusts along each axis (an Ornstein-Uhlenbeck process)."""
    gust_time_s: float = 1.0
    """Correlation time of the gusts."""

    def __post_init__(self) -> None:
        _require(self.speed_m_s >= 0.0, "wind.speed_m_s", self.speed_m_s, "0 or more")
        _require(self.gust_m_s >= 0.0, "wind.gust_m_s", self.gust_m_s, "0 or more")
        _require(self.gust_time_s > 0.0, "wind.gust_time_s", self.gust_time_s, "more than 0")
        if self.direction_rad is not None:
            _require(True, "wind.direction_rad", self.direction_rad, "an angle in radians")


@dataclass(frozen=True)
class VehicleConfig:
    """One kind of quadcopter and its autopilot."""

    model: Literal["lag", "rigid"] = "lag"
    """First-order lag, or a rigid body under a cascaded controller at 500 Hz."""
    time_constant_s: float = 0.5
    """Time from hover to 63 % of full speed."""
    yaw_time_constant_s: float = 0.12
    """Time to 63 % of a new yaw rate."""
    randomise: tuple[float, float] | None = None
    """If given, every episode draws ``time_constant_s`` uniformly from this range."""
    randomise_latency: tuple[float, float] | None = None
    """If given, every episode draws ``latency_s`` uniformly from this range."""
    tilt_time_constant_s: float = 0.05
    """Lag model only: smoothing of roll and pitch, so that the camera does not jump."""
    max_speed_m_s: float = MAX_SPEED_M_S
    """Forward speed setpoints are clipped to [0, max_speed_m_s]."""
    speed_share: float = 1.0
    """Of a forward setpoint, what it flies: autopilots do not all reach it."""
    max_yaw_rate_rad_s: float = MAX_YAW_RATE_RAD_S
    """Yaw rate setpoints are clipped to +-max_yaw_rate_rad_s."""
    altitude_m: float = ALTITUDE_M
    """Height the autopilot holds."""
    radius_m: float = 0.08
    """Radius of the body disc that collides with objects."""
    sub_step_s: float = 0.02
    """Spacing of the recorded track and of wind samples; a step lasts a whole number of these."""
    latency_s: float = 0.0
    """Delay before a setpoint takes effect, rounded to whole sub-steps."""
    wind: WindConfig = WindConfig()
    """Mean wind and gusts."""
    position_noise_m: float = 0.0
    """Standard deviation of the error in the reported x, y and z."""
    angle_noise_rad: float = 0.0
    """Standard deviation of the error in the reported roll, pitch and yaw."""

    def __post_init__(self) -> None:
        if self.model not in ("lag", "rigid"):
            raise WaywordError(f"vehicle model {self.model!r} is unknown: choose 'lag' or 'rigid'")
        for name in (
            "time_constant_s",
            "yaw_time_constant_s",
            "tilt_time_constant_s",
            "max_speed_m_s",
            "speed_share",
            "max_yaw_rate_rad_s",
            "altitude_m",
            "sub_step_s",
        ):
            _require(getattr(self, name) > 0.0, name, getattr(self, name), "more than 0")
        for name in ("radius_m", "latency_s", "position_noise_m", "angle_noise_rad"):
            _require(getattr(self, name) >= 0.0, name, getattr(self, name), "0 or more")
        # Every setpoint on its way is kept; no radio link is slower than this by orders of magnitude.
        _require(self.latency_s <= 10.0, "latency_s", self.latency_s, "10 or less (it is in seconds)")
        # 20 Hz is the coarsest track on which contacts and flown paths are still measured well.
        _require(self.sub_step_s <= 0.05, "sub_step_s", self.sub_step_s, "0.05 or less")
        if self.randomise is not None:
            low, high = self.randomise
            _require(low > 0.0, "randomise[0]", low, "more than 0")
            _require(high >= low, "randomise[1]", high, f"{low:g} or more")
        if self.randomise_latency is not None:
            low, high = self.randomise_latency
            _require(low >= 0.0, "randomise_latency[0]", low, "0 or more")
            _require(low <= high <= 10.0, "randomise_latency[1]", high, f"between {low:g} and 10 (it is in seconds)")
        if self.model == "rigid":
            low, high = RIGID_TIME_CONSTANTS_S
            for value in self.randomise or (self.time_constant_s,):
                condition = f"between {low:g} and {high:g} for the rigid model"
                _require(low <= value <= high, "time constant", value, condition)
            yaw = self.yaw_time_constant_s
            _require(yaw >= 0.06, "yaw_time_constant_s", yaw, "0.06 or more for the rigid model")

    @property
    def longest_latency_sub_steps(self) -> int:
        """The longest latency that an episode may have, in whole sub-steps."""
        return self.in_sub_steps(self.latency_s if self.randomise_latency is None else self.randomise_latency[1])

    def in_sub_steps(self, latency_s: float) -> int:
        """A latency in whole sub-steps."""
        return round(latency_s / self.sub_step_s)

    @property
    def is_random(self) -> bool:
        """Whether an episode depends on a seed at all."""
        wind = self.wind
        blows_anyhow = wind.speed_m_s > 0.0 and wind.direction_rad is None
        noisy = self.position_noise_m > 0.0 or self.angle_noise_rad > 0.0
        differs = self.randomise is not None or self.randomise_latency is not None
        return differs or blows_anyhow or wind.gust_m_s > 0.0 or noisy

    def sub_steps(self, duration_s: float) -> int:
        """Number of sub-steps in ``duration_s``; ValueError unless it is a whole, positive number."""
        exact = duration_s / self.sub_step_s
        if not math.isfinite(exact) or round(exact) < 1 or abs(exact - round(exact)) > 1e-6:
            raise ValueError(f"duration_s must be a multiple of {self.sub_step_s:g} s, not {duration_s!r}")
        return round(exact)
