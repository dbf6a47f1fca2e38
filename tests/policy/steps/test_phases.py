"""What a step becomes: the phases of each kind of step, from a drone at (1, 1) that looks east."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from wayword.episodes.commands import Step, Until
from wayword.policy.steps.phases import (
    LEAD_OUT,
    PEEK,
    SOME_WAY_M,
    Ahead,
    Face,
    FlyThrough,
    Peek,
    Phase,
    TurnBy,
    TurnTo,
    needed,
    plan,
)
from wayword.policy.steps.surroundings import TrueLayout
from wayword.policy.steps.vias import AT_M, LEAST_M
from wayword.task import ARENA_M

POSE = np.array([1.0, 1.0, 0.0])
LAYOUT = TrueLayout({"globe": (3.0, 1.0), "duck": (3.0, 3.0), "cone": (1.0, 3.2)})
HOME = (0.5, 0.6)


def phases(step: Step, following: tuple[float, float] | None = None, last: bool = True) -> list[Phase]:
    return plan(step, POSE, LAYOUT, LAYOUT.discs(), following, last, HOME)


def only(step: Step, last: bool = True) -> FlyThrough:
    (phase,) = phases(step, last=last)
    assert isinstance(phase, FlyThrough)
    return phase


def test_moves_without_things() -> None:
    assert phases(Step("turn", degrees=90.0)) == [TurnBy(pytest.approx(math.pi / 2))]
    assert phases(Step("forward", metres=1.5)) == [Ahead(0.0, 1.5)]
    assert phases(Step("forward")) == [Ahead(0.0, SOME_WAY_M)]
    assert only(Step("return")).vias[0].offset == HOME
    assert phases(Step("stay")) == []


def test_back_and_sideways_are_flown_forward_and_looked_back_from() -> None:
    assert phases(Step("back", metres=0.7)) == [TurnTo(math.pi), Ahead(math.pi, 0.7), TurnTo(0.0)]
    left = phases(Step("sideways", metres=0.6))
    assert left == [TurnTo(math.pi / 2), Ahead(math.pi / 2, 0.6), TurnTo(0.0)]
    right = phases(Step("sideways", metres=-0.6))
    assert right == [TurnTo(-math.pi / 2), Ahead(-math.pi / 2, 0.6), TurnTo(0.0)]


def test_until_peeks_at_what_is_not_known_and_flies_straight_at_what_is() -> None:
    until = Until("globe", "left")
    assert phases(Step("forward", until=until)) == [Ahead(0.0, 2 * ARENA_M, until)]
    unknown = Until("rocket", "left")
    assert phases(Step("forward", until=unknown)) == [
        Peek(PEEK, "rocket"), TurnTo(0.0), Ahead(0.0, 2 * ARENA_M, unknown),
    ]  # fmt: skip
    both = phases(Step("forward", until=Until("rocket", "close")))
    assert both[:2] == [Peek(PEEK, "rocket"), Peek(-PEEK, "rocket")]
    # "Until you see it": to look aside would be to see it.
    assert len(phases(Step("forward", until=Until("rocket", "seen")))) == 1


def test_what_must_be_found_first() -> None:
    assert needed(Step("goto", object="globe")) == ("globe",)
    assert needed(Step("avoid", object="globe")) == ()
    assert needed(Step("forward", until=Until("globe", "close"))) == ()
    assert set(needed(Step("between", objects=("globe", "duck")))) == {"globe", "duck"}


def test_nothing_is_planned_about_what_is_nowhere() -> None:
    assert phases(Step("goto", object="rocket")) == []
    assert phases(Step("between", objects=("globe", "rocket"))) == []


def test_goto_ends_in_front_of_it_and_beside_it_on_the_side_that_was_told() -> None:
    # The drone comes from the west, so the front of the globe is its west side.
    front = only(Step("goto", object="globe"))
    assert front.halt
    assert front.vias[0].offset == pytest.approx((-AT_M, 0.0), abs=1e-9)
    # To the left of it, as it is seen: its left is to the north of it.
    left = only(Step("goto", object="globe", stop="left"))
    assert left.vias[0].offset == pytest.approx((0.0, AT_M), abs=1e-9)
    right = only(Step("goto", object="globe", stop="right"))
    assert right.vias[0].offset == pytest.approx((0.0, -AT_M), abs=1e-9)
    behind = only(Step("goto", object="globe", stop="behind"))
    assert behind.vias[0].offset == pytest.approx((AT_M, 0.0), abs=1e-9)


def test_a_distance_is_kept_but_never_below_what_is_safe() -> None:
    assert only(Step("goto", object="globe", distance_m=0.9)).vias[0].offset == pytest.approx((-0.9, 0.0), abs=1e-9)
    assert math.hypot(*only(Step("goto", object="globe", distance_m=0.1)).vias[0].offset) == pytest.approx(LEAST_M)


def test_facing_it_ends_with_a_look_and_from_nearby_with_nothing_else() -> None:
    assert phases(Step("goto", object="globe", stop="facing"))[-1] == Face("globe")
    close = np.array([2.5, 1.0, 0.0])
    step = Step("goto", object="globe", stop="facing")
    assert plan(step, close, LAYOUT, LAYOUT.discs(), None, True, HOME) == [Face("globe")]
    assert plan(replace(step, stop="near"), close, LAYOUT, LAYOUT.discs(), None, True, HOME) == []


def test_face_and_search_end_when_it_is_ahead() -> None:
    assert phases(Step("face", object="duck")) == [Face("duck")]
    assert phases(Step("search", object="duck")) == [Face("duck")]


@pytest.mark.parametrize(("direction", "sign"), [("ccw", 1.0), ("cw", -1.0)])
def test_a_circle_winds_as_often_and_as_it_was_told(direction: str, sign: float) -> None:
    circle = only(Step("circle", object="globe", direction=direction, turns=1.5))
    angles = np.unwrap([math.atan2(via.offset[1], via.offset[0]) for via in circle.vias])
    assert sign * (angles[-1] - angles[0]) == pytest.approx(3 * math.pi + LEAD_OUT)


def test_a_circle_without_a_direction_goes_where_the_nose_points() -> None:
    for yaw, sign in ((math.radians(30), -1.0), (math.radians(-30), 1.0)):
        pose = np.array([1.0, 1.0, yaw])  # west of the globe: with the nose to the north it flies clockwise
        (phase,) = plan(Step("circle", object="globe"), pose, LAYOUT, LAYOUT.discs(), None, True, HOME)
        assert isinstance(phase, FlyThrough)
        angles = np.unwrap([math.atan2(via.offset[1], via.offset[0]) for via in phase.vias])
        assert np.sign(angles[-1] - angles[0]) == sign


def test_between_is_through_or_in() -> None:
    assert len(only(Step("between", objects=("globe", "duck"))).vias) == 3
    inside = only(Step("between", objects=("globe", "duck"), end="in"))
    assert inside.halt
    assert inside.vias[0].offset == pytest.approx((0.0, 0.0), abs=1e-9)


def test_only_the_last_step_halts_behind_what_it_passes() -> None:
    step = Step("pass", object="globe", on="left")
    assert only(step, last=True).halt
    assert not only(step, last=False).halt


def test_a_pass_without_a_side_takes_the_shorter_way() -> None:
    # On to the north of the globe: with it on the left the way is an arc below it, on the right one above it.
    (phase,) = phases(Step("pass", object="globe"), following=(3.0, 2.2), last=False)
    assert isinstance(phase, FlyThrough)
    lengths = {}
    for on in ("left", "right"):
        (told,) = phases(Step("pass", object="globe", on=on), following=(3.0, 2.2), last=False)
        assert isinstance(told, FlyThrough)
        lengths[on] = told
    assert phase in lengths.values()
    assert phase == lengths["right"]


def test_a_pass_that_leads_back_goes_by_on_the_side_of_what_comes_next() -> None:
    # From the south past a thing and back to the south, a little to the west: either way round it is as long, and the
    # drone leaves it 1.35 m away, to the east or to the west. From there 1.97 or 1.41 m are left.
    around, pose = TrueLayout({"globe": (2.35, 2.35)}), np.array([2.35, 0.9, math.pi / 2])
    free, right = (
        plan(Step("pass", object="globe", on=on), pose, around, around.discs(), (2.0, 1.25), False, HOME)
        for on in ("any", "right")
    )  # fmt: skip
    assert free == right


def test_a_slalom_alternates() -> None:
    slalom = only(Step("weave", objects=("globe", "duck")))
    by_key = {key: [via for via in slalom.vias if via.keys == (key,)] for key in ("globe", "duck")}
    signs = []
    for vias in by_key.values():
        angles = np.unwrap([math.atan2(via.offset[1], via.offset[0]) for via in vias])
        signs.append(np.sign(angles[-1] - angles[0]))
    assert signs[0] == -signs[1]
