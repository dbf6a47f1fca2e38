"""The geofence: a polygon on the map and a band of heights.

``reach`` answers the one question the governor asks: how much of this straight way stays inside? It marches along the
way in steps as long as the distance to the nearest edge, so it holds for any simple polygon, hollow ones included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from wayword.errors import DataError, WaywordError
from wayword.guarded import read_json

Point = tuple[float, float]
_STEPS = 40
_CLOSE_M = 0.002
_PEEK_M = 0.02
MAX_CORNERS = 200
"""Every corner is looked at several times per tick."""


@dataclass(frozen=True)
class Fence:
    """Corners in metres on the map, in order; lowest and highest flight in metres above the ground."""

    corners: tuple[Point, ...] = ((-1.0, -1.0), (5.7, -1.0), (5.7, 5.7), (-1.0, 5.7))
    """By default the map of 4.7 x 4.7 m and a metre around it: where the simulator has its net."""
    low_m: float = 0.3
    high_m: float = 1.5

    def __post_init__(self) -> None:
        if len(self.corners) < 3 or not all(math.isfinite(v) for corner in self.corners for v in corner):
            raise WaywordError("a fence needs at least three corners, each two finite numbers x, y in metres")
        if not 0 <= self.low_m < self.high_m or not math.isfinite(self.high_m):
            raise WaywordError(f"a fence needs 0 <= low < high, not {self.low_m:g} to {self.high_m:g} m")
        if abs(self._area()) < 0.5:
            raise WaywordError("the fence encloses less than half a square metre; give its corners in order")
        if len(self.corners) > MAX_CORNERS:
            raise WaywordError(f"the fence has {len(self.corners)} corners; at most {MAX_CORNERS} are flown in")
        edges = self.edges
        for i, first in enumerate(edges):
            if any(_cross(first, other) for other in edges[i + 2 : len(edges) - (i == 0)]):
                raise WaywordError("the fence crosses itself; give its corners in order around the area")

    @staticmethod
    def load(path: Path | str) -> Fence:
        """From JSON: {"corners": [[x, y], ...], "low_m": 0.3, "high_m": 1.5}."""
        try:
            raw = read_json(path, 2**20, "--fence wants a JSON file")
            corners = tuple((float(x), float(y)) for x, y in raw["corners"])
            return Fence(corners, float(raw.get("low_m", 0.3)), float(raw.get("high_m", 1.5)))
        except DataError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            example = '{"corners": [[x, y], ...], "low_m": 0.3, "high_m": 1.5}'
            raise DataError(path, f"is no fence; wanted {example}") from error
        except WaywordError as error:
            raise DataError(path, str(error)) from error

    @property
    def edges(self) -> list[tuple[Point, Point]]:
        """From each corner to the next."""
        return list(zip(self.corners, (*self.corners[1:], self.corners[0]), strict=True))

    def distance(self, x: float, y: float) -> float:
        """To the nearest edge in metres; negative outside."""
        nearest, inside = math.inf, False
        ax, ay = self.corners[-1]
        for bx, by in self.corners:
            ex, ey, px, py = bx - ax, by - ay, x - ax, y - ay
            along = min(1.0, max(0.0, (px * ex + py * ey) / (ex * ex + ey * ey or 1.0)))
            dx, dy = px - along * ex, py - along * ey
            nearest = min(nearest, dx * dx + dy * dy)
            if (ay > y) != (by > y) and px < ex * (y - ay) / (by - ay):
                inside = not inside
            ax, ay = bx, by
        return math.sqrt(nearest) if inside else -math.sqrt(nearest)

    def inwards(self, x: float, y: float) -> Point:
        """The direction, of length 1, in which the nearest edge is left behind fastest; into the fence from outside."""
        dx = self.distance(x + _PEEK_M, y) - self.distance(x - _PEEK_M, y)
        dy = self.distance(x, y + _PEEK_M) - self.distance(x, y - _PEEK_M)
        size = math.hypot(dx, dy)
        return (dx / size, dy / size) if size > 1e-12 else (0.0, 0.0)

    def reach(self, x: float, y: float, dx: float, dy: float, margin_m: float) -> float:
        """The share (0 to 1) of the way from x, y by dx, dy that keeps ``margin_m`` from every edge.

        From inside the margin a way that leads further in is free as far as it does not come nearer to an edge than
        it began; any other is 0.
        """
        length = math.hypot(dx, dy)
        here = self.distance(x, y)
        if length < 1e-9:
            return 1.0 if here >= margin_m else 0.0
        if here < margin_m:
            peek = _PEEK_M / length
            if here < 0 or self.distance(x + dx * peek, y + dy * peek) < here + _PEEK_M / 4:
                return 0.0
            margin_m = max(here - _CLOSE_M, 0.0)
        gone = 0.0
        for _ in range(_STEPS):
            room = self.distance(x + dx * gone / length, y + dy * gone / length) - margin_m
            if room < _CLOSE_M and gone > 0:
                break
            gone += max(room, _CLOSE_M)
            if gone >= length:
                return 1.0
        return min(gone / length, 1.0)

    def _area(self) -> float:
        return 0.5 * sum(ax * by - bx * ay for (ax, ay), (bx, by) in self.edges)


def _cross(first: tuple[Point, Point], second: tuple[Point, Point]) -> bool:
    def side(a: Point, b: Point, c: Point) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    (a, b), (c, d) = first, second
    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
