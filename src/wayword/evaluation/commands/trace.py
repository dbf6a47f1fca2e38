"""What a flight left behind: where the drone was, which way it looked, and how that lies to the things around.

Shorthand
    T samples, at most 0.1 s apart; a place is (x, y); metres, seconds, radians unless a name says degrees
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.episodes import PlacedObject
from wayword.errors import WaywordError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Point = tuple[float, float]
PERIOD_S = 0.1
"""Spacing of a kept trace: 7 cm at full speed, far below every bound of the judge."""
_DIGITS = 4
_ACROSS_M = 0.01


@dataclass(frozen=True, eq=False)
class Trace:
    """The drone's true poses over time; the first is where the flight began."""

    times: Floats
    """(T,) seconds, increasing."""
    poses: Floats
    """(T, 3) x, y, yaw in the world frame."""

    def __post_init__(self) -> None:
        times, poses = np.asarray(self.times, np.float64), np.asarray(self.poses, np.float64)
        if times.ndim != 1 or poses.shape != (len(times), 3) or not len(times):
            raise WaywordError(f"a trace needs a time for each pose x, y, yaw, not {times.shape} and {poses.shape}")
        if not (np.isfinite(times).all() and np.isfinite(poses).all()) or (np.diff(times) <= 0).any():
            raise WaywordError("a trace must be finite, and its times must increase")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "poses", poses)

    @classmethod
    def every(cls, poses: ArrayLike, step_s: float, period_s: float = PERIOD_S) -> Trace:
        """From poses (P, 3) ``step_s`` apart, thinned to one in ``period_s``; the last is always kept.

        Rounded as files hold it, so that a flight that is read back is judged as it was when it was flown.
        """
        rows = np.asarray(poses, np.float64)
        keep = np.unique(np.append(np.arange(0, len(rows), max(1, round(period_s / step_s))), len(rows) - 1))
        return cls((keep * step_s).round(_DIGITS), rows[keep].round(_DIGITS))

    def to_json(self) -> list[list[float]]:
        """Rows of t, x, y, yaw."""
        return np.column_stack([self.times, self.poses]).round(_DIGITS).tolist()  # type: ignore[no-any-return]

    @classmethod
    def from_json(cls, rows: Any) -> Trace:
        """Read what ``to_json`` wrote."""
        try:
            values = np.array(rows, np.float64).reshape(-1, 4)
        except (TypeError, ValueError):
            raise WaywordError("a trace must be a list of [t, x, y, yaw]") from None
        return cls(values[:, 0], values[:, 1:])


class Flown:
    """A trace among objects, and what can be measured of it."""

    def __init__(self, trace: Trace, layout: Sequence[PlacedObject]) -> None:
        self.trace = trace
        self.places: Mapping[str, Point] = {item.name: (item.x, item.y) for item in layout}
        self.points: Floats = trace.poses[:, :2]

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def yaw(self) -> Floats:
        """(T,) heading without jumps: two turns to the left are 4 pi."""
        return np.unwrap(self.trace.poses[:, 2])

    @cached_property
    def way(self) -> Floats:
        """(T,) metres from the start, as the crow flies."""
        return np.asarray(np.hypot(*(self.points - self.points[0]).T))

    @cached_property
    def length(self) -> Floats:
        """(T,) metres flown so far."""
        return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(self.points, axis=0).T))])

    def distance(self, name: str) -> Floats:
        """(T,) metres to an object's centre."""
        return np.asarray(np.hypot(*(self.points - self.places[name]).T))

    def nearest_other(self, name: str) -> Floats:
        """(T,) metres to the nearest of all other objects; infinite if there is none."""
        others = [self.distance(other) for other in self.places if other != name]
        return np.min(others, axis=0) if others else np.full(len(self), np.inf)

    def bearing_deg(self, name: str) -> Floats:
        """(T,) where an object is as seen from the drone: 0 ahead, 90 to its left, within 180."""
        to = np.asarray(self.places[name]) - self.points
        return np.degrees(wrapped(np.arctan2(to[:, 1], to[:, 0]) - self.trace.poses[:, 2]))

    def winding(self, name: str, within_m: float = math.inf) -> Floats:
        """(T,) radians flown around an object so far, counter-clockwise positive (it is on the drone's left then).

        Only what is flown within ``within_m`` of it counts. Right across its centre is round it on neither side.
        """
        offsets = (self.points - self.places[name]) @ np.array([1.0, 1j])
        steps = np.angle(offsets[1:] * offsets[:-1].conj())
        area, length = np.abs((offsets[1:] * offsets[:-1].conj()).imag), np.abs(np.diff(offsets))
        across = (area <= _ACROSS_M * length) & (np.abs(steps) > np.pi / 2)
        steps = np.where(across | (np.abs(offsets[1:]) < _ACROSS_M) | (np.abs(offsets[:-1]) < _ACROSS_M), 0.0, steps)
        inside = np.abs(offsets) <= within_m
        return np.concatenate([[0.0], np.cumsum(np.where(inside[1:] & inside[:-1], steps, 0.0))])

    def visits(self, name: str, within_m: float) -> list[tuple[int, int]]:
        """First and last sample of every stay within ``within_m`` of an object."""
        inside = np.concatenate([[False], self.distance(name) <= within_m, [False]])
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        return [(int(a), int(b) - 1) for a, b in pairwise(edges) if inside[a + 1]]


def wrapped(angles: Floats) -> Floats:
    """The same angles in [-pi, pi)."""
    return np.asarray((angles + np.pi) % (2 * np.pi) - np.pi)
