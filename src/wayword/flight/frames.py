"""Between an autopilot's frames and the map's.

    NED   local north, east, down in metres; body x forward, y right, z down; yaw clockwise from north, pitch nose up
    map   x, y, z up; body x forward, y left, z up; yaw counter-clockwise from +x, pitch nose down

``Site`` says where the map lies: the user puts the drone on a known spot and says which; the first pose does the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from wayword.flight.vehicle import Pose, Vector


@dataclass(frozen=True)
class Site:
    """The map's origin and direction in local NED."""

    north_m: float = 0.0
    east_m: float = 0.0
    ground_m: float = 0.0
    """Down coordinate of the ground."""
    heading_rad: float = 0.0
    """Where the map's +x points, clockwise from north."""

    @staticmethod
    def of_start(start: tuple[float, float, float], position: Vector, yaw_ned_rad: float) -> Site:
        """The site on which a drone at ``position`` (NED) with this yaw stands at ``start`` (x, y, yaw on the map)."""
        x, y, yaw = start
        heading = yaw_ned_rad + yaw
        c, s = math.cos(heading), math.sin(heading)
        # north = n0 + c x + s y, east = e0 + s x - c y
        return Site(position[0] - c * x - s * y, position[1] - s * x + c * y, position[2], heading)

    def pose(self, position: Vector, quaternion: tuple[float, float, float, float]) -> Pose:
        """Map pose from LOCAL_POSITION_NED and ATTITUDE_QUATERNION (w, x, y, z)."""
        x, y = self._turn(position[0] - self.north_m, position[1] - self.east_m)
        roll, pitch, yaw = euler(quaternion)
        return x, y, self.ground_m - position[2], roll, -pitch, math.remainder(self.heading_rad - yaw, 2 * math.pi)

    def velocity(self, velocity: Vector) -> Vector:
        """NED velocity on the map."""
        x, y = self._turn(velocity[0], velocity[1])
        return x, y, -velocity[2]

    def ned(self, x: float, y: float, z: float) -> Vector:
        """A place of the map in NED."""
        north, east = self.ned_direction(x, y)
        return self.north_m + north, self.east_m + east, self.ground_m - z

    def ned_direction(self, x: float, y: float) -> tuple[float, float]:
        """A direction of the map as north, east."""
        c, s = math.cos(self.heading_rad), math.sin(self.heading_rad)
        return c * x + s * y, s * x - c * y

    def ned_yaw(self, yaw: float) -> float:
        """A yaw of the map, clockwise from north."""
        return math.remainder(self.heading_rad - yaw, 2 * math.pi)

    def _turn(self, north: float, east: float) -> tuple[float, float]:
        c, s = math.cos(self.heading_rad), math.sin(self.heading_rad)
        return c * north + s * east, s * north - c * east


def euler(quaternion: tuple[float, float, float, float]) -> Vector:
    """Roll, pitch, yaw of Rz(yaw) Ry(pitch) Rx(roll)."""
    w, x, y, z = quaternion
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = math.asin(min(1.0, max(-1.0, 2 * (w * y - x * z))))
    return roll, pitch, math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def quaternion_of(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """The inverse of ``euler``."""
    cr, sr, cp, sp, cy, sy = (fn(a / 2) for a in (roll, pitch, yaw) for fn in (math.cos, math.sin))
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )
