"""Simulated aircraft by name: how each answers, and what its autopilot does when nobody speaks to it.

usual        the model's own numbers: 0.7 s to 63 % of a new velocity
slow         the slowest that the governor is made for: 1.0 s, commands 0.2 s late
px4          fitted to PX4 (``wayword.sim.vehicle.fitted``): 0.8 of a commanded speed; its failsafe ends when
             setpoints return
arducopter   fitted to ArduCopter: stands still when setpoints stop, lands without our heartbeat
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.sim.vehicle.fitted import ARDUCOPTER, PX4

Airframe = Literal["usual", "slow", "px4", "arducopter"]
AIRFRAMES: Mapping[Airframe, AutopilotModelConfig] = MappingProxyType(
    {
        "usual": AutopilotModelConfig(),
        "slow": AutopilotModelConfig(time_constant_s=1.0, latency_s=0.2),
        "px4": AutopilotModelConfig(
            PX4.time_constant_s, latency_s=PX4.latency_s, speed_share=PX4.speed_share, silence_s=1.6, comes_back=True
        ),
        "arducopter": AutopilotModelConfig(
            ARDUCOPTER.time_constant_s, latency_s=ARDUCOPTER.latency_s, silence_s=3.9, on_silence="stop",
            heartbeat_s=5.0,
        ),
    }
)  # fmt: skip
assert set(AIRFRAMES) == set(get_args(Airframe))
