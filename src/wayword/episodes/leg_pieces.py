"""What legs are made of: straight lines and circular arcs that meet at tangents.

Headings are in radians, counter-clockwise from x, and ``sign`` is 1 where a drone turns left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wayword.episodes.geometry import Array, wrap

Point = tuple[float, float]
SKETCH_STEP_M = 0.02


@dataclass(frozen=True)
class Line:
    """A straight piece."""

    start: Point
    end: Point

    @property
    def length(self) -> float:
        """Metres."""
        return math.dist(self.start, self.end)


@dataclass(frozen=True)
class Arc:
    """The piece flown from ``heading`` by ``angle`` around ``centre``; counter-clockwise if ``sign`` is 1."""

    centre: Point
    radius: float
    heading: float
    sign: int
    angle: float

    @property
    def length(self) -> float:
        """Metres."""
        return self.radius * self.angle

    @property
    def end(self) -> Point:
        """Where the arc leaves the circle."""
        return ahead(self.centre, self.heading + self.sign * (self.angle - math.pi / 2), self.radius)


def tangent(at: Point, centre: Point, radius: float, sign: int) -> tuple[float, float] | None:
    """Heading and length of the line from ``at`` that touches the circle, on its left if ``sign`` is 1."""
    away = math.dist(at, centre)
    if away < radius + 0.02:
        return None
    return heading_to(at, centre) - sign * math.asin(radius / away), math.sqrt(away**2 - radius**2)


def sampled(piece: Line | Arc, bow: float) -> Array:
    """(n, 2) points about every 2 cm; a line bows by ``bow`` of its length."""
    steps = max(1, math.ceil(piece.length / SKETCH_STEP_M))
    share = np.arange(steps + 1) / steps
    points = np.empty((steps + 1, 2))
    if isinstance(piece, Line):
        (x, y), (dx, dy) = piece.start, (piece.end[0] - piece.start[0], piece.end[1] - piece.start[1])
        across = bow * np.sin(math.pi * share)
        points[:, 0] = x + share * dx - across * dy
        points[:, 1] = y + share * dy + across * dx
    else:
        polar = piece.heading + piece.sign * (piece.angle * share - math.pi / 2)
        points[:, 0] = piece.centre[0] + piece.radius * np.cos(polar)
        points[:, 1] = piece.centre[1] + piece.radius * np.sin(polar)
    return points


def rounded(start: Point, corner: Point, end: Point, min_radius: float) -> tuple[Line | Arc, ...] | None:
    """Two lines whose corner is replaced by the widest arc that fits; None if that is too narrow."""
    into, out = heading_to(start, corner), heading_to(corner, end)
    bend = wrap(out - into)
    room = min(math.dist(start, corner), math.dist(corner, end))
    radius = min(room / max(math.tan(abs(bend) / 2), 1e-6), 2.0)
    if radius < min_radius:
        return None
    trim, sign = radius * math.tan(abs(bend) / 2), (1 if bend > 0 else -1)
    begin = ahead(corner, into + math.pi, trim)
    arc = Arc(ahead(begin, into + sign * math.pi / 2, radius), radius, into, sign, abs(bend))
    return Line(start, begin), arc, Line(arc.end, end)


def heading_to(start: Point, end: Point) -> float:
    """Direction from one point to another in radians."""
    return math.atan2(end[1] - start[1], end[0] - start[0])


def ahead(start: Point, heading: float, metres: float) -> Point:
    """The point so many metres on."""
    return start[0] + metres * math.cos(heading), start[1] + metres * math.sin(heading)
