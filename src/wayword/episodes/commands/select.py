"""Objects that are meant by where they stand, not by name: "the nearest thing", "the second one on the left".

Places are ordered by how well they fit a rule, as seen from a pose; ``rank`` takes the first, the second, and so on.
The same rules serve the judge (true places) and the drone (places it believes in).

    nearest, farthest            by distance
    leftmost, rightmost          by bearing, of what stands ahead (bearing within 90 degrees)
    nearest-left, nearest-right  by distance, of what stands to that side (10 to 170 degrees)
    behind-me                    by distance, of what stands behind (more than 100 degrees)
    straight-ahead               by bearing off the nose, of what stands ahead (within 45 degrees)
    beside, only-other           by distance from the object ``of``, which is left out
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from wayword.episodes.commands.steps import Select, SelectionRule
from wayword.episodes.format import Pose2
from wayword.episodes.geometry import wrap

Point = tuple[float, float]


def ranked(
    rule: SelectionRule, places: Mapping[str, Point], seen_from: Pose2, of: str | None = None
) -> list[tuple[str, float]]:
    """Objects that fit a rule, the best first, each with the number it was ordered by (metres or radians)."""
    scores = []
    for name, (x, y) in places.items():
        distance = math.dist((x, y), (seen_from.x, seen_from.y))
        bearing = wrap(math.atan2(y - seen_from.y, x - seen_from.x) - seen_from.yaw)
        score = _score(rule, distance, bearing)
        if rule in ("beside", "only-other"):
            anchor = places.get(of or "")
            score = None if anchor is None or name == of else math.dist((x, y), anchor)
        if score is not None:
            scores.append((name, score))
    return sorted(scores, key=lambda item: (item[1], item[0]))


def _score(rule: SelectionRule, distance: float, bearing: float) -> float | None:
    """What an object is ordered by, smallest first; None if it does not fit the rule."""
    ahead, degrees = abs(bearing) <= math.pi / 2, math.degrees(bearing)
    fits: dict[str, tuple[bool, float]] = {
        "nearest": (True, distance),
        "farthest": (True, -distance),
        "leftmost": (ahead, -bearing),
        "rightmost": (ahead, bearing),
        "nearest-left": (10 <= degrees <= 170, distance),
        "nearest-right": (-170 <= degrees <= -10, distance),
        "behind-me": (abs(degrees) > 100, distance),
        "straight-ahead": (abs(degrees) <= 45, abs(bearing)),
    }
    good, score = fits.get(rule, (True, distance))
    return score if good else None


def choose(select: Select, places: Mapping[str, Point], seen_from: Pose2) -> str | None:
    """The object a rule means, or None if there are too few that fit."""
    order = ranked(select.rule, places, seen_from, select.of)
    return order[select.rank - 1][0] if len(order) >= select.rank else None


def margin(select: Select, places: Mapping[str, Point], seen_from: Pose2) -> float:
    """By how much the chosen one differs from its neighbours in the order (metres or radians); 0 if there is none."""
    order = [score for _, score in ranked(select.rule, places, seen_from, select.of)]
    if len(order) < select.rank:
        return 0.0
    at = select.rank - 1
    gaps = [abs(order[k + 1] - order[k]) for k in (at - 1, at) if 0 <= k < len(order) - 1]
    return min(gaps, default=math.inf)
