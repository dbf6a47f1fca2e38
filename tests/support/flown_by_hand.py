"""Flights drawn by hand: samples 0.1 s apart, 0.05 m or 5 degrees each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wayword.episodes import PlacedObject, Pose2
from wayword.episodes.commands import Step
from wayword.evaluation.commands import Judgement, Trace, judge


class Drawn:
    """A drone that is led by hand: ahead, turn, to a point, around a thing."""

    def __init__(self, x: float = 0.0, y: float = 0.0, yaw_deg: float = 0.0) -> None:
        self.rows = [(x, y, math.radians(yaw_deg))]

    def ahead(self, metres: float) -> Drawn:
        """Straight on."""
        x, y, yaw = self.rows[-1]
        count = max(1, round(metres / 0.05))
        for k in range(1, count + 1):
            self.rows.append((x + k / count * metres * math.cos(yaw), y + k / count * metres * math.sin(yaw), yaw))
        return self

    def turn(self, degrees: float) -> Drawn:
        """On the spot, positive to the left."""
        x, y, yaw = self.rows[-1]
        count = max(1, round(abs(degrees) / 5))
        self.rows += [(x, y, yaw + math.radians(degrees) * k / count) for k in range(1, count + 1)]
        return self

    def to(self, *points: tuple[float, float]) -> Drawn:
        """Turn towards each point, then fly there."""
        for u, v in points:
            x, y, yaw = self.rows[-1]
            if math.hypot(u - x, v - y) > 1e-6:
                off = math.degrees(math.atan2(v - y, u - x) - yaw)
                self.turn((off + 180) % 360 - 180).ahead(math.hypot(u - x, v - y))
        return self

    def around(self, centre: tuple[float, float], degrees: float) -> Drawn:
        """On a circle round a centre, counter-clockwise positive, looking along it."""
        x, y, _ = self.rows[-1]
        radius, phase = math.hypot(x - centre[0], y - centre[1]), math.atan2(y - centre[1], x - centre[0])
        count = max(1, round(abs(degrees) / 5))
        for k in range(1, count + 1):
            at = phase + math.radians(degrees) * k / count
            looking = at + math.copysign(math.pi / 2, degrees)
            self.rows.append((centre[0] + radius * math.cos(at), centre[1] + radius * math.sin(at), looking))
        return self

    @property
    def trace(self) -> Trace:
        """As the judge takes it."""
        return Trace.every(self.rows, 0.1)


def things(**places: tuple[float, float]) -> tuple[PlacedObject, ...]:
    """A layout of objects that are called a, b, c."""
    return tuple(PlacedObject(name, x, y, 0.0) for name, (x, y) in places.items())


def moved(layout: Sequence[PlacedObject], trace: Trace, by: Pose2) -> tuple[tuple[PlacedObject, ...], Trace]:
    """The same world, turned and shifted."""
    cos, sin = math.cos(by.yaw), math.sin(by.yaw)

    def place(x: float, y: float) -> tuple[float, float]:
        return by.x + cos * x - sin * y, by.y + sin * x + cos * y

    poses = [(*place(x, y), yaw + by.yaw) for x, y, yaw in trace.poses.tolist()]
    return tuple(PlacedObject(o.name, *place(o.x, o.y), o.yaw) for o in layout), Trace(trace.times, poses)  # type: ignore[arg-type]


def verdict(flight: Drawn, layout: Sequence[PlacedObject], *steps: Step) -> Judgement:
    """A flight that ended by itself."""
    return judge(steps, layout, flight.trace)
