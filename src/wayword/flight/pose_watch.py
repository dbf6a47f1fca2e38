"""Small jumps of the pose, one after the other: each below what counts as one, together as bad.

Over the last seconds the way between the poses must be the way that the velocities say:

    astray = | p(now) - p(then) - integral of v |   less a doubt for gaps between poses

Two jumps of 0.24 m in one direction are 0.48 m astray. A drift slower than ``jump_m`` in ``WINDOW_S`` is not seen, nor
is anything across a gap in the poses: there the sum begins anew.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace

from wayword.flight.vehicle import Telemetry, Vector
from wayword.flight.watch import SMOOTH_S, UNSURE_M_S, has_pose, miss

WINDOW_S = 3.0
_GAP_S = 0.3
"""Poses further apart than this say nothing about the way between them."""


@dataclass(frozen=True)
class _Step:
    at_s: float
    missed: Vector
    doubt_m: float


class PoseWatch:
    """Looks at one pose after the other."""

    def __init__(self) -> None:
        self._last: Telemetry | None = None
        self._steps: deque[_Step] = deque()

    def look(self, telemetry: Telemetry) -> Telemetry:
        """The same, with how far astray the poses are."""
        if not has_pose(telemetry):
            return telemetry
        last, self._last = self._last, telemetry
        if last is None or telemetry.pose_s - last.pose_s > _GAP_S:
            self._steps.clear()
        elif telemetry.pose_s > last.pose_s or telemetry.pose != last.pose:
            dt = max(telemetry.pose_s - last.pose_s, 0.0)
            doubt = UNSURE_M_S * max(dt - SMOOTH_S, 0.0)
            self._steps.append(_Step(telemetry.pose_s, miss(last, telemetry), doubt))
        while self._steps and self._steps[0].at_s < telemetry.pose_s - WINDOW_S:
            self._steps.popleft()
        away = math.hypot(*(sum(step.missed[i] for step in self._steps) for i in range(3)))
        return replace(telemetry, astray_m=max(away - sum(step.doubt_m for step in self._steps), 0.0))
