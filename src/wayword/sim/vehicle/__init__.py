"""The quadcopter: two flight models, disturbances and contacts, batched and reproducible to the byte."""

from wayword.sim.vehicle.config import VehicleConfig, WindConfig
from wayword.sim.vehicle.fleet import Fleet

__all__ = ["Fleet", "VehicleConfig", "WindConfig"]
