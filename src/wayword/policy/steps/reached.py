"""When a point of a way counts as reached."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wayword.episodes.geometry import wrap
from wayword.policy.steps.follow import FollowConfig
from wayword.policy.steps.surroundings import Point
from wayword.policy.steps.vias import bearing_from, heading_error


@dataclass(frozen=True)
class FlyerConfig:
    """When a point counts as reached."""

    by_m: float = 0.2
    """A point on the way."""
    at_m: float = 0.1
    """The point where the drone halts."""
    beyond_m: float = 0.25
    """A halt that is behind the drone and this near is reached: turning back would only make the way longer."""
    turned_rad: float = 0.06
    follow: FollowConfig = field(default_factory=FollowConfig)


def is_reached(
    pose: NDArray[np.float64], point: Point, following: Point | None, halt: bool, config: FlyerConfig
) -> bool:
    """Whether a drone at ``pose`` (x, y, yaw) need fly no nearer to ``point``; ``following`` is the one after it."""
    position = (float(pose[0]), float(pose[1]))
    gap, behind = math.dist(position, point), abs(heading_error(pose, point)) > math.pi / 2
    if following is not None:
        ahead = abs(wrap(bearing_from(point, following) - bearing_from(point, position))) < math.pi / 2
        return gap < config.by_m or (ahead and gap < 2 * config.by_m)
    if halt:
        return gap < config.at_m or (behind and gap < config.beyond_m)
    return gap < config.by_m
