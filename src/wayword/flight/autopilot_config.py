"""What a simulated autopilot and its aircraft are like; how they fly is ``autopilot_model``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class AutopilotModelConfig:
    """One simulated aircraft."""

    time_constant_s: float = 0.7
    yaw_time_constant_s: float = 0.12
    latency_s: float = 0.05
    silence_s: float = 1.1
    """PX4 with COM_OF_LOSS_T at 0.5 s: 0.6 s more were measured."""
    on_silence: Literal["land", "hold", "stop"] = "land"
    """Leave offboard and land or hold, as PX4 is told to; or stand still in it, as ArduPilot does."""
    comes_back: bool = False
    """Setpoints that return end the action on silence: a failsafe is PX4's only while its cause lasts."""
    speed_share: float = 1.0
    """Of a commanded velocity, what it flies: 0.8 on PX4."""
    overshoot: float = 0.0
    """Share by which a new velocity is overshot; 0: the lag model."""
    ceiling_m: float = math.inf
    """It is pushed down from above this height in every mode: ArduPilot's FENCE_ALT_MAX less FENCE_MARGIN."""
    heartbeat_s: float = math.inf
    """It lands so long after the last heartbeat of ours: ArduPilot's FS_GCS_TIMEOUT; never, if it heard none."""
    wind_m_s: tuple[float, float] = (0.0, 0.0)
    gust_m_s: float = 0.0
    wind_learning_s: float = 1.5
    """Time constant with which the velocity loop's integral takes up the wind's pull."""
    position_noise_m: float = 0.005
    velocity_noise_m_s: float = 0.01
    step_s: float = 0.01
    radius_m: float = 0.08
    """Of the body, against objects."""
