"""What can truthfully be said of a segment: paths drawn by hand, facts read off them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from wayword.episodes import Episode, PlacedObject, Pose2, Segment, measure_manoeuvre
from wayword.episodes.instructions.facts import Facts, Via, segment_facts
from wayword.episodes.manoeuvres import ManoeuvreKind

Points = list[tuple[float, float]]


def line(*corners: tuple[float, float], step: float = 0.04) -> Points:
    """Straight from corner to corner."""
    points = [corners[0]]
    for a, b in pairwise(corners):
        count = max(1, round(math.dist(a, b) / step))
        points += [(a[0] + k / count * (b[0] - a[0]), a[1] + k / count * (b[1] - a[1])) for k in range(1, count + 1)]
    return points


def arc(centre: tuple[float, float], radius: float, first: float, last: float) -> Points:
    angles = np.radians(np.linspace(first, last, 40))
    return [(centre[0] + radius * math.cos(a), centre[1] + radius * math.sin(a)) for a in angles]


def facts(points: Points, yaw: float, kind: ManoeuvreKind, *about: str, **centres: tuple[float, float]) -> Facts:
    placed = tuple(PlacedObject(name, x, y, 0.0) for name, (x, y) in centres.items())
    episode = Episode(
        "e", "train", 4.7, placed, Pose2(*points[0], yaw), np.array(points), (Segment(len(points) - 1, "Go."),), "me"
    )
    manoeuvre = measure_manoeuvre(episode, 0, kind, about)
    assert manoeuvre is not None
    return segment_facts(episode, 0, manoeuvre)


def relations(told: Facts) -> dict[str, tuple[str, ...]]:
    return {place.relation: place.objects for place in told.places}


def test_straight_at_a_thing() -> None:
    told = facts(line((1, 2), (2.5, 2)), 0.0, "approach", "cone", cone=(3.0, 2.0))
    assert told.straight
    assert told.direct  # it sets off the way it faces
    assert told.turn is None
    assert told.length == pytest.approx(1.5)
    places = relations(told)
    assert places["front"] == places["ahead"] == places["facing"] == ("cone",)
    assert "beside" not in places
    assert told.via == ()
    assert told.leaving is None


@pytest.mark.parametrize(
    ("yaw", "side", "degrees", "slight", "sharp", "back"),
    [
        (-90, "left", 90, False, True, False),
        (90, "right", 90, False, True, False),
        (-30, "left", 30, True, False, False),
        (-45, "left", 45, False, False, False),
        (-150, "left", 150, False, True, True),
    ],
)
def test_turns_are_named_by_side_and_size(
    yaw: float, side: str, degrees: int, slight: bool, sharp: bool, back: bool
) -> None:
    told = facts(line((1, 2), (2.5, 2)), math.radians(yaw), "approach", "cone", cone=(3.0, 2.0))
    assert told.turn is not None
    assert (told.turn.side, told.turn.degrees) == (side, degrees)
    assert (told.turn.slight, told.turn.sharp, told.turn.back) == (slight, sharp, back)
    assert not told.direct


def test_small_turns_are_none() -> None:
    assert facts(line((1, 2), (2.5, 2)), math.radians(10), "approach", "cone", cone=(3.0, 2.0)).turn is None


def test_what_is_passed_early_late_and_too_close_to_call() -> None:
    # Past the cone in the middle: the mug well before it, the duck well behind it, the hat beside the cone. The tree is
    # where the segment ends, which is told of in another way.
    centres = {"cone": (2.0, 2.45), "mug": (1.3, 1.5), "duck": (2.8, 1.5), "hat": (2.02, 1.4), "tree": (3.75, 2.0)}
    told = facts(line((0.8, 2), (3.3, 2)), 0.0, "pass", "cone", **centres)
    assert told.via == (Via("mug", "right", early=True), Via("duck", "right", early=False))


def test_beside_and_past_at_the_end() -> None:
    abeam = facts(line((1, 2), (2.0, 2)), 0.0, "beside", "cone", cone=(2.0, 2.45))
    places = {place.relation: place for place in abeam.places}
    assert places["beside"].side == "left"
    # The cone is abeam on the left: at nine o'clock.
    assert places["clock"].hour == 9
    past = facts(line((1, 2), (2.4, 2)), 0.0, "pass", "cone", cone=(2.0, 1.6))
    places = {place.relation: place for place in past.places}
    assert places["past"].side == "right"
    assert "beside" not in places


def test_between_two_things_the_left_one_comes_first() -> None:
    told = facts(line((1, 2), (2.0, 2)), 0.0, "beside", "a", a=(2.0, 2.5), b=(2.0, 1.5))
    assert relations(told)["between"] == ("a", "b")


def test_through_a_gap_both_are_behind() -> None:
    """One of the points lies exactly on the line between the two: that must not exchange left and right."""
    told = facts(line((1, 2), (2.6, 2)), 0.0, "between", "a", "b", a=(2.0, 2.5), b=(2.0, 1.5))
    assert relations(told)["through"] == ("a", "b")


def test_round_a_thing_to_its_far_side() -> None:
    told = facts(arc((2.0, 2.0), 0.5, 180, 350), -math.pi / 2, "around", "cone", cone=(2.0, 2.0))
    assert relations(told)["far"] == ("cone",)
    assert told.winding == pytest.approx(170, abs=1)
    assert not told.straight


def test_a_bent_way_is_not_straight() -> None:
    assert not facts(line((1, 1), (2, 1.5), (3, 1)), 0.4, "approach", "cone", cone=(3.5, 0.7)).straight


def test_what_lies_near_the_start_is_left_on_a_side_or_behind() -> None:
    points = line((1, 1), (1, 2.2), (2.4, 2.2))
    placed = tuple(PlacedObject(name, x, y, 0.0) for name, x, y in (("mug", 0.8, 1.9), ("cone", 2.9, 2.2)))
    bend = points.index((1, 2.2))
    segments = (Segment(bend, "Go."), Segment(len(points) - 1, "On."))
    episode = Episode("e", "train", 4.7, placed, Pose2(1.0, 1.0, math.pi / 2), np.array(points), segments, "me")
    manoeuvre = measure_manoeuvre(episode, 1, "approach", ["cone"])
    assert manoeuvre is not None
    told = segment_facts(episode, 1, manoeuvre)
    assert told.leaving is not None
    name, side, behind = told.leaving
    assert name == "mug"
    assert side == "right"  # the second segment sets off to the east, and the mug lies to the south-west
    assert behind
    assert told.turn is not None
    assert told.turn.side == "right"
