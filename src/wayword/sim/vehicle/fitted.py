"""Vehicles fitted to real autopilots: how PX4 and ArduCopter answered velocity setpoints when they flew as software.

measured      63 % of a new velocity after 0.6 to 1.0 s; PX4 then flies 0.8 of it; both slip sideways by about 0.2 m/s
              in arcs and pitch by 6 to 9 degrees when they set off
model         a delay, then a first-order lag to a share of the setpoint: the delay and the lag together are the time
              to 63 %, the lag alone the pitch (speed / (lag g)), both together the slip (speed x yaw rate x time)

A lag alone that is as slow would pitch by 3 to 4 degrees only, so the camera would look elsewhere.
"""

from __future__ import annotations

from wayword.sim.vehicle.config import VehicleConfig

PX4 = VehicleConfig(time_constant_s=0.38, latency_s=0.25, speed_share=0.8)
"""63 % after 0.63 s, pitch 6.3 degrees, slip 0.17 m/s at 0.5 rad/s."""
ARDUCOPTER = VehicleConfig(time_constant_s=0.45, latency_s=0.25)
"""63 % after 0.7 s, pitch 6.9 degrees, slip 0.23 m/s at 0.5 rad/s."""
