"""What holds a drone up is looked at again from further away.

Under the governor a drone also keeps clear of what it has seen badly: of a thing whose foot was below the image, which
may stand anywhere from half a metre ahead on, and of what was taken for a thing from nearby. From a metre and more both
are seen for what they are, but a drone that stands before them never gets there: it has to turn round, fly off and look
back. What holds it up a second time is left out, as before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.policy.steps.phases import FlyThrough, LookBack, Phase, TurnTo
from wayword.policy.steps.route import clearance, is_way_free
from wayword.policy.steps.surroundings import Point
from wayword.policy.steps.vias import ViaPoint, bearing_from, inside, unit

LOOKS = 4
"""Decisions for which it looks: what is not there is forgotten after as many."""
MOST = 2
"""So often in one step."""
_AHEAD_M = 0.35
"""What holds it up is about this far ahead: the governor's room, the drone's and half of a thing."""
_FROM_M = (1.3, 1.1)
"""From here it is looked at, best first; what is nearer than 0.95 m is not seen to be empty."""
_ROOM_M = 0.05
_ASIDE = (0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5)
"""Angles beside the way straight back, best first."""


@dataclass(frozen=True)
class LookAgain:
    """Where to look from, and where to."""

    place: Point
    heading: float

    @property
    def phases(self) -> list[Phase]:
        """What to do for it."""
        return [FlyThrough((ViaPoint((), self.place),), True), TurnTo(self.heading), LookBack(LOOKS)]


def look_again(pose: ArrayLike, towards: ArrayLike, discs: NDArray[np.float64]) -> LookAgain | None:
    """How to look again at what stands between a drone and the next point of its way; None where there is no room."""
    here, point = (_point(value) for value in (pose, towards))
    ahead = bearing_from(here, point)
    blocked = _away(here, ahead, _AHEAD_M)
    others = discs[np.hypot(discs[:, 0] - here[0], discs[:, 1] - here[1]) > discs[:, 2]]  # what it is in, it leaves
    for aside in _ASIDE:
        for metres in _FROM_M:
            place = _away(blocked, ahead + math.pi + aside, metres)
            if inside(place) and clearance(place, discs) > _ROOM_M and is_way_free(here, place, others):
                return LookAgain(place, bearing_from(place, blocked))
    return None


def _point(values: ArrayLike) -> Point:
    x, y = np.asarray(values, np.float64)[:2].tolist()
    return x, y


def _away(point: Point, angle: float, metres: float) -> Point:
    u = unit(angle)
    return point[0] + metres * u[0], point[1] + metres * u[1]


def given_up(phases: Sequence[Phase]) -> list[Phase]:
    """What is left when the drone is stuck: the next point of a way is left out, any other phase is over."""
    first = phases[0]
    if isinstance(first, FlyThrough) and len(first.vias) > 1:
        return [FlyThrough(first.vias[1:], first.halt), *phases[1:]]
    return list(phases[1:])
