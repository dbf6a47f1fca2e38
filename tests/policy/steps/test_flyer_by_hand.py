"""The flyer of steps, decision by decision: what each phase asks for, when it ends, and what is kept between them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.episodes.commands import Select, Step, Until
from wayword.episodes.format import Pose2
from wayword.language.reader import Thing
from wayword.mapping.landmarks import Landmark, Landmarks
from wayword.policy.steps import BelievedLayout, FlyerConfig, StepFlyer, TrueLayout, flyer, phases
from wayword.policy.steps.follow import FollowConfig, follow
from wayword.policy.steps.look_again import LOOKS, MOST
from wayword.policy.steps.phases import (
    Ahead,
    Face,
    FlyThrough,
    LookBack,
    Peek,
    TurnBy,
    TurnTo,
    left_behind,
    plan,
    thing_passed,
)
from wayword.policy.steps.progress import STILL
from wayword.policy.steps.vias import ViaPoint, arc_around, beside, leaving, through

NOTHING = TrueLayout({})
FOLLOW = FollowConfig()


def pose(x: float, y: float, yaw: float = 0.0) -> np.ndarray:
    return np.array([x, y, yaw])


def begun(steps: list[Step], around: TrueLayout = NOTHING, at: np.ndarray | None = None) -> StepFlyer:
    made = StepFlyer(steps, Camera())
    made.decide(pose(2, 2) if at is None else at, around)
    return made


def test_the_numbers_that_are_documented() -> None:
    assert (flyer.KEPT_AWAY_M, flyer._CLOSE_M, flyer._UNSEEN_M) == (0.78, 0.6, 0.3)
    assert (phases.SOME_WAY_M, phases.PEEK, phases.PEEK_GAIN, phases.LEAD_OUT) == (0.8, 0.35, 1.0, 0.3)


# Turning -----------------------------------------------------------------------------------------------------


def test_a_turn_is_counted_from_where_it_began_across_the_cut_at_pi() -> None:
    made = StepFlyer([Step("turn", degrees=200.0)], Camera())
    yaw, rates = 3.0, []
    for _ in range(30):
        speed, rate, stop = made.decide(pose(2, 2, math.remainder(yaw, 2 * math.pi)), NOTHING)
        if stop:
            break
        assert speed == 0.0
        rates.append(rate)
        yaw += 0.5 * rate
    assert stop
    assert rates[0] == 1.0
    assert yaw - 3.0 == pytest.approx(math.radians(200), abs=0.06)
    left = math.radians(200) - 0.5 * sum(rates[:-1])
    assert rates[-1] == pytest.approx(min(1.8 * left, 1.0))
    assert abs(left) >= 0.06  # else it would have been over before


def test_two_turns_are_counted_one_by_one() -> None:
    made, yaw = StepFlyer([Step("turn", degrees=90.0), Step("turn", degrees=90.0)], Camera()), 0.0
    for _ in range(40):
        _, rate, stop = made.decide(pose(2, 2, math.remainder(yaw, 2 * math.pi)), NOTHING)
        if stop:
            break
        yaw += 0.5 * rate
    assert yaw == pytest.approx(math.pi, abs=0.13)


@pytest.mark.parametrize(("off", "over"), [(0.059, True), (0.061, False)])
def test_a_turn_is_over_within_0_06_rad(off: float, over: bool) -> None:
    made = begun([Step("turn", degrees=90.0)])
    for yaw in (0.5, 1.0):
        made.decide(pose(2, 2, yaw), NOTHING)
    assert made.decide(pose(2, 2, math.pi / 2 - off), NOTHING)[2] == over


def test_a_face_is_turned_to_where_it_was_last_known() -> None:
    around = TrueLayout({"globe": (2.0, 3.0)})
    made = begun([Step("face", object="globe")], around)
    around._places.clear()  # no longer believed in
    made.steps[0] = Step("face", object="globe")
    assert made._fly_phase(Face("globe"), pose(2, 2, 1.2), around) == (0.0, pytest.approx(1.8 * (math.pi / 2 - 1.2)))
    assert made._fly_phase(Face("duck"), pose(2, 2, 1.0), around) is None


def test_a_peek_is_slow_and_over_once_the_thing_is_known() -> None:
    made = begun([Step("turn", degrees=90.0)])
    here = pose(2, 2, 0.1)
    assert made._fly_phase(Peek(0.45, "globe"), here, NOTHING) == (0.0, pytest.approx(0.35))
    assert made._fly_phase(Peek(0.45, "globe"), here, TrueLayout({"globe": (1.0, 1.0)})) is None
    assert made._fly_phase(TurnTo(0.45), here, NOTHING) == (0.0, pytest.approx(0.63))


def test_what_is_right_behind_is_turned_to_the_way_the_last_motion_went() -> None:
    for turning, rate in ((0.3, 1.0), (-0.3, -1.0)):
        made = begun([Step("turn", degrees=90.0)])
        made._turning = turning
        assert made._fly_phase(TurnTo(math.pi - 0.05), pose(2, 2, 0.0), NOTHING) == (0.0, rate)
        assert made._fly_phase(TurnTo(math.pi + 0.05), pose(2, 2, 0.0), NOTHING) == (0.0, rate)


def test_it_stands_still_for_as_many_decisions_as_it_is_to_look() -> None:
    made = begun([Step("turn", degrees=90.0)])
    made._phases = [LookBack(LOOKS), TurnTo(1.0)]
    motions = [made.decide(pose(2, 2, 0.0), NOTHING)[:2] for _ in range(LOOKS + 1)]
    assert motions == [(0.0, 0.0)] * LOOKS + [(0.0, 1.0)]


# Ahead -------------------------------------------------------------------------------------------------------


def test_ahead_is_followed_to_an_end_that_is_fixed_when_it_begins() -> None:
    made = StepFlyer([Step("forward", metres=1.0)], Camera())
    asked = (0.0, 0.0)
    for x, y in ((2.0, 2.0), (2.3, 2.05), (2.8, 1.96)):
        here = pose(x, y, 0.02)
        found = made.decide(here, NOTHING)
        assert made.way is not None
        assert made.way[-1] == pytest.approx((2 + math.cos(0.02), 2 + math.sin(0.02)))
        wanted = follow(here, made.way, True, FOLLOW, NOTHING.discs(), made._speed_m_s, asked[1])
        assert found[:2] == pytest.approx(wanted)
        asked = found[:2]


@pytest.mark.parametrize(
    ("place", "over"), [((2.92, 2.0), False), ((2.94, 2.0), True), ((2.96, 2.2), False), ((2.98, 2.2), True)]
)
def test_ahead_is_over_7_cm_before_its_end_or_3_cm_before_a_line_across_it(place: tuple, over: bool) -> None:
    made = begun([Step("forward", metres=1.0)])
    assert made.decide(pose(*place), NOTHING)[2] == over


def test_ahead_ends_before_the_edge() -> None:
    made = begun([Step("forward", metres=9.0)])
    assert made.way is not None
    assert made.way[-1] == pytest.approx((4.55, 2.0))


def test_ahead_goes_around_what_is_in_the_way_only() -> None:
    beside_it = begun([Step("forward", metres=2.0)], TrueLayout({"globe": (3.0, 2.35)}))
    assert beside_it.way is not None
    assert len(beside_it.way) == 2
    in_it = begun([Step("forward", metres=2.0)], TrueLayout({"globe": (3.0, 2.2)}))
    assert in_it.way is not None
    assert len(in_it.way) > 2


def test_until_is_flown_slowly_and_over_when_it_is_so() -> None:
    around = TrueLayout({"globe": (3.0, 3.0)})
    made = StepFlyer([Step("forward", until=Until("globe", "left"))], Camera())
    assert made.decide(pose(2, 2), around) == (0.45, 0.0, False)
    assert not made.decide(pose(2.5, 2), around)[2]  # 63 degrees to the left
    assert made.decide(pose(2.7, 2), around)[2]  # 73


@pytest.mark.parametrize(("is_", "x", "over"), [
    ("left", 2.29, False), ("left", 2.31, True), ("right", 2.31, True), ("behind", 2.31, True), ("ahead", 2.9, False),
    ("close", 2.9, False),
])  # fmt: skip
def test_what_waits_beside_and_was_never_seen_is_there_after_30_cm(is_: str, x: float, over: bool) -> None:
    made = begun([Step("turn", degrees=10.0)])
    phase = Ahead(0.0, 2.0, Until("globe", is_))
    assert made._ahead(phase, pose(2, 2), NOTHING) is not None
    assert (made._ahead(phase, pose(x, 2), NOTHING) is None) == over


# Through points ----------------------------------------------------------------------------------------------


def test_what_is_to_be_avoided_is_wider_and_what_is_not_known_is_not() -> None:
    around = TrueLayout({"globe": (3.0, 3.0)}, {"globe": 0.1})
    made = StepFlyer([Step("avoid", "globe"), Step("avoid", "duck"), Step("goto", "globe")], Camera())
    np.testing.assert_allclose(made._discs(around), [[3, 3, 0.18], [3, 3, 0.78]])
    assert [step.do for step in made.steps] == ["goto"]


def test_points_move_with_their_things_and_stay_where_these_were_last_known() -> None:
    around = TrueLayout({"globe": (2.0, 3.0), "duck": (3.0, 3.0)})
    made, via = begun([Step("turn", degrees=10.0)]), ViaPoint(("globe", "duck"), (0.1, -0.2))
    assert made._point(via, around) == pytest.approx((2.6, 2.8))
    assert made._point(ViaPoint((), (1.0, 0.5)), around) == (1.0, 0.5)
    assert made._point(ViaPoint(("duck",), (0.1, 0.0)), around) == pytest.approx((3.1, 3.0))
    around._places["globe"] = (2.4, 3.2)
    del around._places["duck"]
    assert made._point(via, around) == pytest.approx((2.8, 2.9))


def test_the_way_leads_to_the_first_point_and_then_straight_through_the_others() -> None:
    made = begun([Step("return")])
    points = tuple(ViaPoint((), place) for place in ((3.0, 2.0), (3.0, 3.0), (2.0, 3.0)))
    made._phases = [FlyThrough(points, False)]
    found = made._fly(FlyThrough(points, False), pose(2, 2), NOTHING)
    assert made.way is not None
    np.testing.assert_allclose(made.way, [[2, 2], [3, 2], [3, 3], [2, 3]])
    assert found == pytest.approx(follow(pose(2, 2), made.way, False, FOLLOW, None, 0.0))
    made._fly(FlyThrough(points, False), pose(2.85, 2), NOTHING)  # within 20 cm of the first
    assert made._phases == [FlyThrough(points[1:], False)]
    assert made._fly(FlyThrough(points[2:], True), pose(2.05, 3.05), NOTHING) is None
    assert made._fly(FlyThrough(points[2:], True), pose(1.88, 3.0, math.pi), NOTHING) is None  # behind it, 12 cm
    assert made._fly(FlyThrough(points[2:], True), pose(2.12, 3.0, math.pi), NOTHING) is not None


@pytest.mark.parametrize(("x", "straight"), [(2.45, True), (2.35, False)])
def test_to_a_point_within_60_cm_it_flies_straight_where_nothing_stands(x: float, straight: bool) -> None:
    # A thing 2 cm beside the way: from farther off the drone keeps more room.
    around = TrueLayout({"globe": (2.7, 2.32)})
    made = begun([Step("return")])
    made._phases = [FlyThrough((ViaPoint((), (3.0, 2.0)),), True)]
    made._fly(made._phases[0], pose(x, 2), around)
    assert made.way is not None
    assert (len(made.way) == 2) == straight


def test_how_fast_it_is_is_told_from_how_far_it_came_and_what_it_was_asked_for() -> None:
    made = StepFlyer([Step("forward", metres=2.0)], Camera())
    assert made.decide(pose(1, 2), NOTHING)[0] == 0.7
    assert made._speed_m_s == 0.0
    made.decide(pose(1.35, 2), NOTHING)  # 0.35 m in half a second: it flew 0.7 m/s all the time
    assert made._speed_m_s == pytest.approx(0.7)


# Steps -------------------------------------------------------------------------------------------------------


def test_a_last_search_goes_there_and_one_before_something_else_does_not() -> None:
    assert [s.do for s in StepFlyer([Step("search", "globe")], Camera()).steps] == ["search", "goto"]
    assert StepFlyer([Step("search", "globe")], Camera()).steps[-1].object == "globe"
    assert [s.do for s in StepFlyer([Step("search", "globe"), Step("return")], Camera()).steps] == ["search", "return"]
    assert [s.do for s in StepFlyer([Step("search", "globe"), Step("stay")], Camera()).steps] == ["search", "goto"]


def test_back_to_where_the_first_decision_was_made() -> None:
    made = StepFlyer([Step("forward", metres=0.5), Step("return")], Camera())
    start = pose(2, 2)
    made.decide(start, NOTHING)
    start += 1.0  # the drone's array moves on
    made.decide(pose(2.47, 2), NOTHING)
    assert made.way is not None
    assert made.way[-1] == pytest.approx((2.0, 2.0))
    assert made.index == 1


def test_what_follows_is_the_middle_of_its_things_or_home() -> None:
    around = TrueLayout({"globe": (1.0, 1.0), "duck": (2.0, 3.0)})
    made = StepFlyer([Step("return")], Camera())
    assert made._middle(("globe", "duck"), around) == (1.5, 2.0)
    assert made._middle(("globe",), around) == (1.0, 1.0)
    assert made._middle(("globe", "cone"), around) is None
    assert made._middle((), around) is None


def test_what_is_chosen_by_its_place_is_chosen_as_seen_from_the_start_after_a_look_round() -> None:
    class Chosen(TrueLayout):
        start: Pose2 | None = None

        def begin_select(self, start: Pose2) -> None:
            assert self.start is None
            self.start = start

    around, made = Chosen({"1": (3.0, 3.0)}), StepFlyer([Step("goto", "1")], Camera(), selects=True)
    yaw = 0.4
    for _ in range(30):
        forward, rate, _ = made.decide(pose(2, 2, math.remainder(yaw, 2 * math.pi)), around)
        if forward or around.start is not None:
            break
        assert rate == pytest.approx(0.6)
        yaw += 0.3
    assert around.start == Pose2(2.0, 2.0, 0.4)
    assert yaw - 0.4 == pytest.approx(2 * math.pi - 0.6, abs=0.3)


def test_a_turn_after_a_look_round_is_counted_from_there() -> None:
    made, yaw = StepFlyer([Step("turn", degrees=90.0), Step("goto", "1")], Camera(), selects=True), 0.0
    around, rates = TrueLayout({"1": (3.0, 3.0)}), []
    for _ in range(40):
        _, rate, _ = made.decide(pose(2, 2, math.remainder(yaw, 2 * math.pi)), around)
        rates.append(rate)
        yaw += 0.5 * rate
        if made.index == 1:
            break
    looked = rates.count(0.6)
    assert set(rates[:looked]) == {0.6}
    assert 0.5 * sum(rates[looked:-1]) == pytest.approx(math.pi / 2, abs=0.06)


def stuck(steps: list[Step], around: TrueLayout, decisions: int) -> list[list[str]]:
    """The kinds of phases that are left after each decision of a drone that nothing moves."""
    made, seen = StepFlyer(steps, Camera()), []
    for _ in range(decisions):
        made.decide(pose(2.5, 2.0), around)
        seen.append([type(phase).__name__ for phase in made._phases or []])
    return seen


def test_a_drone_that_is_stuck_on_its_way_looks_again_twice_in_a_step() -> None:
    around = TrueLayout({"globe": (4.0, 2.0)})
    seen = stuck([Step("goto", "globe")], around, STILL + 1)
    assert seen[STILL - 1] == ["FlyThrough"]
    assert seen[STILL] == ["FlyThrough", "TurnTo", "LookBack", "FlyThrough"]
    made = StepFlyer([Step("goto", "globe"), Step("return")], Camera())
    looks = []
    for _ in range(80):
        made.decide(pose(2.5, 2.0), around)
        looks.append(made._looks)
    assert max(looks) == MOST
    assert looks[-1] == 0  # of the step after it


def test_circles_and_turns_are_not_looked_at_again() -> None:
    around = TrueLayout({"globe": (3.0, 2.0)})
    before, after = stuck([Step("circle", "globe"), Step("return")], around, STILL + 1)[-2:]
    assert before == after == ["FlyThrough"]
    made = begun([Step("turn", degrees=90.0), Step("forward", metres=1.0)])
    for _ in range(STILL):
        made.decide(pose(2, 2), NOTHING)
    assert made.index == 1  # given up: the next step


# Plans -------------------------------------------------------------------------------------------------------

AROUND = TrueLayout({"globe": (3.0, 2.0), "duck": (3.0, 3.2), "cone": (1.6, 3.4)})


def planned(step: Step, at: np.ndarray, following: tuple[float, float] | None = None, last: bool = False) -> list:
    return plan(step, at, AROUND, AROUND.discs(), following, last, (0.5, 0.6))


@pytest.mark.parametrize(("metres", "stays"), [(0.59, True), (0.61, False)])
def test_who_is_within_60_cm_of_a_thing_is_at_it(metres: float, stays: bool) -> None:
    at = pose(3.0 - metres, 2.0)
    assert (planned(Step("goto", "globe"), at) == []) == stays
    assert len(planned(Step("goto", "globe", stop="facing"), at)) == (1 if stays else 2)
    assert planned(Step("goto", "globe", stop="front"), at) != []
    assert planned(Step("goto", "globe", distance_m=0.5), at) != []


def test_unless_another_thing_is_nearer() -> None:
    for gap, stays in ((0.54, True), (0.52, False)):
        around = TrueLayout({"globe": (3.0, 2.0), "duck": (2.42, 2.0 + gap)})
        found = plan(Step("goto", "globe"), pose(2.42, 2.0), around, around.discs(), None, True, (0.5, 0.6))
        assert (found == []) == stays


def test_a_goal_without_a_side_may_be_anywhere_and_a_side_is_kept_within_40_degrees() -> None:
    # The west side of the globe, where the drone comes from, is taken.
    around = TrueLayout({"globe": (3.0, 2.0), "duck": (2.3, 2.0), "cone": (2.5, 2.5), "mug": (2.5, 1.5)})
    at, discs = pose(1.0, 2.0), around.discs()
    sides = {"near": 0.0, "front": 0.0, "left": -90.0, "right": 90.0, "behind": 180.0}
    for stop, side in sides.items():
        reach = 180.0 if stop == "near" else 40.0
        (phase,) = plan(Step("goto", "globe", stop=stop), at, around, discs, None, True, (0.5, 0.6))  # type: ignore[arg-type]
        angle = math.pi + math.radians(side)
        assert phase == FlyThrough((beside("globe", (3.0, 2.0), angle, 0.5, discs, math.radians(reach)),), True)


def test_passes_alternate_and_the_first_side_is_the_one_of_the_shorter_way() -> None:
    for at, following in ((pose(1.0, 1.0), (4.2, 2.6)), (pose(4.0, 1.0), (0.8, 4.0)), (pose(1.0, 2.2), None)):
        lengths = {}
        for first in (1.0, -1.0):
            before, total, sides = (float(at[0]), float(at[1])), 0.0, []
            for k, (key, after) in enumerate((("globe", (3.0, 3.2)), ("duck", following))):
                side = first if k == 0 else -first
                centre = AROUND.where(key)
                assert centre is not None
                vias = phases.ways_past(key, centre, before, after, side, AROUND.discs())
                for via in vias:
                    place = (centre[0] + via.offset[0], centre[1] + via.offset[1])
                    total += math.dist(before, place)
                    before = place
                sides.append(side)
            lengths[first] = total + (0.0 if following is None else math.dist(before, following))
        (phase,) = planned(Step("weave", objects=("globe", "duck")), at, following)
        wanted = min(lengths, key=lambda side: lengths[side])
        vias = [via for via in phase.vias if via.keys == ("globe",)]
        assert phases.side_of_pass(vias) == wanted
        assert thing_passed(Step("weave", objects=("globe", "duck")), [phase]) == ("duck", -wanted)


def test_only_passes_leave_something_behind() -> None:
    (phase,) = planned(Step("circle", "globe"), pose(1, 2))
    assert thing_passed(Step("circle", "globe"), [phase]) is None
    assert thing_passed(Step("pass", "globe"), []) is None
    assert thing_passed(Step("pass", "globe"), [phase, TurnBy(1.0)]) is None
    assert thing_passed(Step("pass", "globe"), [FlyThrough((ViaPoint(("globe",), (0.5, 0.0)),), True)]) is None


def test_a_thing_is_left_behind_before_points_that_would_undo_its_pass() -> None:
    discs = np.array([[3.0, 2.0, 0.3]])
    here, back = pose(3.0, 2.6), ViaPoint((), (4.4, 1.6))
    wanted = leaving("globe", (3.0, 2.0), (3.0, 2.6), (4.4, 1.6), 1.0, discs)
    assert wanted
    phase = FlyThrough((back,), True)
    found = left_behind([phase, TurnBy(1.0)], ("globe", 1.0), (3.0, 2.0), here, lambda via: via.offset, discs)
    assert found == [FlyThrough(tuple(wanted), False), phase, TurnBy(1.0)]
    assert left_behind([TurnBy(1.0)], ("globe", 1.0), (3.0, 2.0), here, lambda via: via.offset, discs) == [TurnBy(1.0)]
    assert left_behind([], ("globe", 1.0), (3.0, 2.0), here, lambda via: via.offset, discs) == []


def test_gaps_and_circles_are_planned_from_where_the_drone_is() -> None:
    at = pose(1.5, 2.6, 0.3)
    (gap,) = planned(Step("between", objects=("globe", "duck")), at)
    wanted = through(("globe", "duck"), (3.0, 2.0), (3.0, 3.2), (1.5, 2.6), AROUND.discs())
    assert gap == FlyThrough(tuple(wanted), False)
    (inside,) = planned(Step("between", objects=("globe", "duck"), end="in"), at)
    assert inside.halt
    (circle,) = planned(Step("circle", "globe", turns=0.75, direction="cw"), at, last=True)
    first = math.atan2(0.6, -1.5)
    assert circle == FlyThrough(
        tuple(arc_around("globe", (3.0, 2.0), first, -(1.5 * math.pi + 0.3), AROUND.discs())), True
    )


# What is believed --------------------------------------------------------------------------------------------


def believed(*shares: float, rule: Select | None = None) -> BelievedLayout:
    """Landmarks in a row, each the globe with so much, of a phrase that means the globe."""
    marks = Landmarks(("globe", "duck"), Camera())
    for number, share in enumerate(shares):
        evidence = np.log([share, 1e-9, 1 - share])
        marks._all.append(Landmark(number, 1.0 + number, 2.0, 0.1, evidence, 100.0, weight=9.0))
    return BelievedLayout(marks, {"0": Thing("the globe", {"globe": 1.0}, select=rule)})


@pytest.mark.parametrize(("share", "known", "sure"), [
    (0.34, False, False), (0.36, True, False), (0.49, True, False), (0.51, True, True)
])  # fmt: skip
def test_a_landmark_is_what_is_meant_from_0_35_on_and_surely_from_a_half_on(
    share: float, known: bool, sure: bool
) -> None:
    layout = believed(share)
    assert (layout.where("0") is not None, layout.sure("0")) == (known, sure)


@pytest.mark.parametrize(("share", "place"), [(0.49, (2.0, 2.0)), (0.51, (1.0, 2.0))])
def test_what_may_be_chosen_by_its_place_looks_like_something_that_was_taught(share: float, place: tuple) -> None:
    # The nearest: the first, if it is one of "the things".
    layout = believed(share, 0.9, rule=Select("nearest", None, 1))
    layout.begin_select(Pose2(0.5, 2.0, 0.0))
    assert layout.where("0") == place
    # Where nothing does, everything that is there may be meant.
    layout = believed(0.4, 0.4, rule=Select("nearest", None, 2))
    layout.begin_select(Pose2(0.5, 2.0, 0.0))
    assert layout.where("0") == (2.0, 2.0)


def test_the_numbers_of_reaching() -> None:
    assert FlyerConfig().turned_rad == 0.06
