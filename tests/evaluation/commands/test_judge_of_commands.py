"""Every kind of step on flights drawn by hand. The drone starts at (0, 0) looking along x."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.flown_by_hand import Drawn, moved, things, verdict
from wayword.episodes import Pose2
from wayword.episodes.commands import Step, Until
from wayword.errors import WaywordError
from wayword.evaluation.commands import Judgement, Trace, judge

LAYOUT = things(a=(2.0, 0.0), b=(2.0, 2.0), c=(4.0, 0.0))


def goto(name: str, stop: str = "near", distance_m: float | None = None) -> Step:
    return Step("goto", object=name, stop=stop, distance_m=distance_m)  # type: ignore[arg-type]


def past(name: str, on: str = "any") -> Step:
    return Step("pass", object=name, on=on)  # type: ignore[arg-type]


def round_(name: str, turns: float = 1.0, direction: str = "any") -> Step:
    return Step("circle", object=name, turns=turns, direction=direction)  # type: ignore[arg-type]


def until(name: str, is_: str) -> Step:
    return Step("forward", until=Until(name, is_))  # type: ignore[arg-type]


# At something --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("metres", "done"), [(1.2, False), (1.3, True), (1.6, True)])
def test_at_a_thing_is_within_75_centimetres(metres: float, done: bool) -> None:
    assert verdict(Drawn().ahead(metres), LAYOUT, goto("a")).done is done


def test_words_say_how_far() -> None:
    assert verdict(Drawn().ahead(1.59), LAYOUT, goto("a")).steps[0].words == "stopped at the a: yes, 0.41 m"
    assert verdict(Drawn().ahead(0.2), LAYOUT, goto("a")).words == "stopped at the a: no, 1.80 m away"


def test_another_thing_must_not_be_clearly_nearer() -> None:
    # At (1.4, 0): a is 0.6 m away. A rival at 0.45 m is 0.15 m nearer, one at 0.55 m only 0.05 m.
    for rival, done in ((0.45, False), (0.55, True)):
        layout = things(a=(2.0, 0.0), d=(1.4, rival))
        assert verdict(Drawn().ahead(1.4), layout, goto("a")).done is done


@pytest.mark.parametrize(
    ("end", "stop"),
    [((1.5, 0.0), "front"), ((2.0, 0.5), "left"), ((2.0, -0.5), "right"), ((2.5, 0.0), "behind")],
)
def test_sides_are_those_seen_from_the_start(end: tuple[float, float], stop: str) -> None:
    way = [(1.0, end[1] * 1.2), end] if stop != "behind" else [(1.5, 0.6), (2.5, 0.6), end]
    flight = Drawn().to(*way)
    for side in ("front", "left", "right", "behind"):
        assert verdict(flight, LAYOUT, goto("a", side)).done is (side == stop), side


def test_sides_may_be_seen_on_arrival() -> None:
    # It comes down from (2, 1.9) and stops west of a: on its right hand; from the start that is in front.
    flight = Drawn().to((0.0, 1.9), (2.0, 1.9), (1.6, 0.6), (1.5, 0.0))
    assert verdict(flight, LAYOUT, goto("a", "right")).done
    assert verdict(flight, LAYOUT, goto("a", "front")).done
    assert not verdict(flight, LAYOUT, goto("a", "left")).done


def test_sides_are_within_60_degrees() -> None:
    for degrees, done in ((55, True), (65, False)):  # off the left of a, towards its front
        at = math.radians(90 + degrees)
        flight = Drawn().to((2 + 0.6 * math.cos(at), 0.6 * math.sin(at)))
        assert verdict(flight, LAYOUT, goto("a", "left")).done is done


@pytest.mark.parametrize(("said", "ends_at", "done"), [(1.0, 1.0, True), (1.0, 0.7, False), (0.3, 0.45, True)])
def test_a_said_distance(said: float, ends_at: float, done: bool) -> None:
    assert verdict(Drawn().ahead(2.0 - ends_at), LAYOUT, goto("a", distance_m=said)).done is done


def test_farther_out_than_at_a_thing_it_does_not_matter_what_else_is_near() -> None:
    # A metre before a, with d half a metre beside the drone; then 0.45 m before a, with d at 0.3 m.
    assert verdict(Drawn().ahead(1.0), things(a=(2.0, 0.0), d=(1.0, 0.5)), goto("a", distance_m=1.0)).done
    assert not verdict(Drawn().ahead(1.55), things(a=(2.0, 0.0), d=(1.55, 0.3)), goto("a", distance_m=0.45)).done


def test_facing_is_close_and_within_30_degrees() -> None:
    assert verdict(Drawn().ahead(1.5).turn(25), LAYOUT, goto("a", "facing")).done
    assert not verdict(Drawn().ahead(1.5).turn(35), LAYOUT, goto("a", "facing")).done
    assert not verdict(Drawn().ahead(0.5), LAYOUT, goto("a", "facing")).done


# Going by and round --------------------------------------------------------------------------------------


def test_passing_with_the_thing_on_the_right() -> None:
    flight = Drawn().to((1.5, 0.6), (2.5, 0.6), (3.5, 0.2))  # north of a, so that a is on the right
    assert verdict(flight, LAYOUT, past("a", "right")).done
    assert verdict(flight, LAYOUT, past("a")).done
    assert (
        verdict(flight, LAYOUT, past("a", "left")).words == "passed the a with it on the left: no, it was on the right"
    )


def test_passing_is_within_a_metre_and_goes_round_it() -> None:
    for beside, done in ((0.95, True), (1.05, False)):
        assert verdict(Drawn(0.0, beside).ahead(4.0), LAYOUT, past("a", "right")).done is done
    assert not verdict(Drawn().ahead(1.5), LAYOUT, past("a")).done  # went up to it, not by
    assert verdict(Drawn(0, 1.8).ahead(1), things(a=(0.5, 0.0)), past("a")).words == "passed the a: no, 1.80 m away"


def test_a_drone_that_turns_back_has_passed_nothing() -> None:
    out = Drawn().to((1.5, 0.6), (2.5, 0.6))
    assert verdict(out, LAYOUT, past("a", "right")).done
    back = Drawn().to((1.5, 0.6), (2.5, 0.6), (1.5, 0.6), (0.0, 0.6))
    for side in ("left", "right", "any"):
        assert not verdict(back, LAYOUT, past("a", side)).done
    # Back past it from the next goal is another matter, also if that stands close by.
    near = things(a=(2.0, 0.0), d=(3.0, 0.3))
    home = Drawn().to((1.5, 0.6), (2.4, 0.5), (2.45, 0.4), (1.5, 0.6), (0.0, 0.0))
    assert verdict(home, near, past("a", "right"), goto("d"), Step("return")).done


def test_a_flight_across_the_centre_has_no_side() -> None:
    for side in ("left", "right", "any"):
        assert not verdict(Drawn().ahead(4.0), LAYOUT, past("a", side)).done


def test_metres_are_flown_directly() -> None:
    astray = Drawn().turn(180).ahead(1.0).turn(180).ahead(2.0)
    assert not verdict(astray, LAYOUT, Step("forward", metres=1.0)).done


def circling(degrees: float, radius: float = 0.6) -> Drawn:
    """Round a, from its near side."""
    return Drawn().ahead(2.0 - radius).turn(-90).around((2.0, 0.0), degrees)


@pytest.mark.parametrize(
    ("degrees", "turns", "direction", "done"),
    [
        (360, 1, "ccw", True), (-360, 1, "cw", True), (360, 1, "any", True), (360, 1, "cw", False),
        (280, 1, "any", False), (295, 1, "any", True), (720, 2, "any", True), (720, 1, "any", False),
        (180, 0.5, "ccw", True), (90, 0.25, "ccw", True), (90, 0.5, "ccw", False), (1080, 3, "any", True),
    ],
)  # fmt: skip
def test_circles(degrees: float, turns: float, direction: str, done: bool) -> None:
    assert verdict(circling(degrees), LAYOUT, round_("a", turns, direction)).done is done


def test_circles_are_within_a_metre() -> None:
    assert verdict(circling(360, 0.95), LAYOUT, round_("a")).done
    assert not verdict(circling(360, 1.05), LAYOUT, round_("a")).done


def test_the_way_on_is_no_part_of_a_circle() -> None:
    # One turn, then another half turn on the way to c: too much for a last step, not for one before a goal.
    flight = circling(360 + 180).to((3.5, 0.0))
    assert not verdict(flight, LAYOUT, round_("a")).done
    assert verdict(flight, LAYOUT, round_("a"), goto("c")).done
    assert not verdict(circling(720 + 180).to((3.5, 0.0)), LAYOUT, round_("a"), goto("c")).done


def test_what_is_unwound_again_is_taken_off() -> None:
    # Two turns and one back are one, whether or not another step follows.
    assert verdict(circling(720).around((2.0, 0.0), -360), LAYOUT, round_("a", 1, "ccw")).done
    assert verdict(circling(720).around((2.0, 0.0), -320).to((3.5, 0.0)), LAYOUT, round_("a", 1, "ccw"), goto("c")).done
    assert not verdict(circling(720), LAYOUT, round_("a", 1, "ccw")).done


def test_a_circle_and_back_the_other_way() -> None:
    flight = circling(360).around((2.0, 0.0), -360)
    assert verdict(flight, LAYOUT, round_("a", 1, "ccw"), round_("a", 1, "cw")).done
    assert not verdict(flight, LAYOUT, round_("a", 1, "cw"), round_("a", 1, "ccw")).done


def test_a_slalom_alternates() -> None:
    row = things(a=(1.0, 0.0), b=(2.2, 0.0), c=(3.4, 0.0))
    slalom = Drawn().to((1.0, 0.5), (2.2, -0.5), (3.4, 0.5), (4.2, 0.2))
    steps = Step("weave", objects=("a", "b", "c"))
    assert verdict(slalom, row, steps).done
    assert not verdict(Drawn(0.0, 0.5).ahead(4.2), row, steps).done  # all on one side
    assert not verdict(slalom, row, Step("weave", objects=("c", "b", "a"))).done
    assert verdict(slalom, row, steps, goto("c")).steps[1].words.startswith("stopped at the c")


# Gaps ----------------------------------------------------------------------------------------------------


def test_gaps() -> None:
    through = Step("between", objects=("a", "b"), end="through")
    inside = Step("between", objects=("a", "b"), end="in")
    gate = LAYOUT  # a and b stand at x = 2, two metres apart
    assert verdict(Drawn(0, 1).ahead(2.5), gate, through).done
    assert not verdict(Drawn(0, 1).ahead(1.9), gate, through).done
    assert not verdict(Drawn(0, 0.3).ahead(2.5), gate, through).done  # 0.15 along the line
    assert verdict(Drawn(0, 1).ahead(1.7), gate, inside).done
    assert not verdict(Drawn(0, 1).ahead(1.5), gate, inside).done
    assert not verdict(Drawn(0, 1).ahead(2.5), gate, inside).done  # flew on
    assert verdict(Drawn(0, 1).ahead(2.5), gate, inside, Step("forward")).done


def test_a_gap_is_crossed_where_the_way_crosses_its_line() -> None:
    # Two samples, 0.5 m before the line and behind it: across at y = 0.5, a quarter of the way from a to b; or at 0.35.
    through = Step("between", objects=("a", "b"), end="through")
    for first, last, done in ((0.0, 1.0, True), (1.0, 0.0, True), (0.7, 0.0, False), (0.0, 0.7, False)):
        trace = Trace([0.0, 0.1], [(1.5, first, 0.0), (2.5, last, 0.0)])  # type: ignore[arg-type]
        assert judge([through], LAYOUT, trace).done is done


# The drone itself ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turned", "said", "done"),
    [(90, 90, True), (65, 90, True), (55, 90, False), (-90, 90, False), (-270, 90, False),
     (180, 180, True), (-180, 180, True), (360, 360, True), (0, 360, False), (-40, -45, True)],
)  # fmt: skip
def test_turns(turned: float, said: float, done: bool) -> None:
    assert verdict(Drawn().turn(turned), LAYOUT, Step("turn", degrees=said)).done is done


def test_a_turn_stays_on_the_spot() -> None:
    assert not verdict(Drawn().turn(90).ahead(0.6), LAYOUT, Step("turn", degrees=90)).done


@pytest.mark.parametrize(
    ("flown", "said", "done"),
    [(1.0, 1.0, True), (1.24, 1.0, True), (1.3, 1.0, False), (0.35, 0.5, True), (0.25, 0.5, False), (2.5, 2.0, True),
     (0.4, None, True), (0.3, None, False), (2.0, None, True)],
)  # fmt: skip
def test_metres_ahead(flown: float, said: float | None, done: bool) -> None:
    assert verdict(Drawn().ahead(flown), LAYOUT, Step("forward", metres=said)).done is done


def test_back_and_sideways_are_along_the_heading_it_had() -> None:
    back = Drawn().turn(180).ahead(1.0)
    assert verdict(back, LAYOUT, Step("back", metres=1.0)).done
    assert not verdict(back, LAYOUT, Step("forward", metres=1.0)).done
    left = Drawn().turn(90).ahead(0.5).turn(-90)
    assert verdict(left, LAYOUT, Step("sideways", metres=0.5)).done
    assert not verdict(left, LAYOUT, Step("sideways", metres=-0.5)).done
    assert not verdict(Drawn().to((1.0, 0.9)), LAYOUT, Step("forward", metres=1.0)).done  # ahead, and as far aside


@pytest.mark.parametrize(
    ("metres", "is_", "done"),
    [(2.0, "left", True), (0.5, "left", False), (2.0, "right", False), (3.8, "behind", True), (2.0, "behind", False),
     (0.5, "seen", True), (1.0, "seen", False), (0.5, "ahead", False), (2.0, "close", False)],
)  # fmt: skip
def test_ahead_until_something_holds(metres: float, is_: str, done: bool) -> None:
    # A thing 1 m to the left of the way, 2 m on: bearings 26.6 at the start, 33.7 at 0.5, 45 at 1, 90 at 2, 151 at 3.8.
    assert verdict(Drawn().ahead(metres), things(a=(2.0, 1.0)), until("a", is_)).done is done


def test_until_close_and_straight() -> None:
    assert verdict(Drawn().ahead(1.2), LAYOUT, until("a", "close")).done
    assert not verdict(Drawn().ahead(1.0), LAYOUT, until("a", "close")).done
    swerving = Drawn().turn(40).ahead(0.6).turn(-80).ahead(0.6).turn(40).ahead(0.4)
    assert verdict(swerving, LAYOUT, until("a", "close")).words.endswith("it did not fly straight ahead")
    assert verdict(Drawn(), LAYOUT, until("a", "ahead")).done  # held from the start


def test_facing_searching_returning_staying() -> None:
    north = things(a=(0.0, 2.0))
    assert verdict(Drawn().turn(70), north, Step("face", object="a")).done
    assert not verdict(Drawn().turn(55), north, Step("face", object="a")).done
    assert not verdict(Drawn().turn(90).ahead(1.0), north, Step("face", object="a")).done
    assert verdict(Drawn().turn(90).turn(-90), north, Step("search", object="a"), Step("turn", degrees=-90)).done
    assert not verdict(Drawn().turn(45), north, Step("search", object="a"), Step("stay")).done
    away = Drawn().ahead(1.5).turn(180)
    assert verdict(away.ahead(1.1), LAYOUT, goto("a"), Step("return")).done
    assert not verdict(Drawn().ahead(1.5).turn(180).ahead(0.9), LAYOUT, goto("a"), Step("return")).done
    assert verdict(Drawn().turn(90).ahead(0.2), LAYOUT, Step("stay")).done
    assert not verdict(Drawn().ahead(0.5).turn(180).ahead(0.5), LAYOUT, Step("stay")).done


def test_avoiding_holds_during_the_whole_flight() -> None:
    steps = (goto("c"), Step("avoid", object="a"))
    assert verdict(Drawn().to((2.0, -0.7), (3.5, 0.0)), LAYOUT, *steps).done
    assert verdict(Drawn().to((2.0, -0.5), (3.5, 0.0)), LAYOUT, *steps).words == "kept away from the a: no, 0.47 m"


# Order and equal forms -----------------------------------------------------------------------------------


def test_order_counts() -> None:
    flight = Drawn().to((1.5, 0.0), (1.5, 2.0))
    assert verdict(flight, LAYOUT, goto("a"), goto("b")).done
    assert not verdict(flight, LAYOUT, goto("b"), goto("a")).done
    assert not verdict(Drawn().to((1.5, 2.0)), LAYOUT, goto("a"), goto("b")).done


def test_a_step_that_was_not_done_is_left_out_for_those_behind_it() -> None:
    # By b, then to a, never to c: what follows c must still come after a.
    flight, command = Drawn().to((1.4, 1.4), (1.4, 2.6), (3.4, 2.4), (2.5, 0.3)), (goto("a"), goto("c"), past("b"))
    assert verdict(flight, LAYOUT, past("b"), goto("a")).done
    assert [step.done for step in verdict(flight, LAYOUT, *command).steps] == [True, False, False]
    again = flight.to((1.4, 1.4), (1.4, 2.6), (3.4, 2.4))
    assert [step.done for step in verdict(again, LAYOUT, *command).steps] == [True, False, True]


def test_the_last_goal_must_hold_at_the_end() -> None:
    flight = Drawn().to((1.5, 0.0), (1.5, 2.0), (0.0, 2.0))
    assert not verdict(flight, LAYOUT, goto("a"), goto("b")).done
    assert verdict(flight, LAYOUT, goto("a"), goto("b"), Step("forward")).done


def test_steps_may_overlap() -> None:
    # Passing a and b, 1.2 m apart, at one go: round the first while the second is already near.
    layout = things(a=(1.0, 0.5), b=(2.2, -0.5), c=(3.2, 0.0))
    assert verdict(Drawn().to((2.8, 0.0)), layout, past("a", "left"), past("b", "right"), goto("c")).done
    assert not verdict(Drawn().to((2.8, 0.0)), layout, past("b", "right"), past("a", "left"), goto("c")).done


def test_a_turn_is_relative_to_the_heading_on_arrival() -> None:
    flight = Drawn().to((0.0, 0.5), (1.5, 0.2)).turn(90).ahead(1.0)
    assert verdict(flight, LAYOUT, goto("a"), Step("turn", degrees=90), Step("forward", metres=1.0)).done
    assert not verdict(flight, LAYOUT, goto("a"), Step("turn", degrees=-90), Step("forward", metres=1.0)).done


FORMS: list[tuple[tuple[Step, ...], tuple[Step, ...]]] = [
    ((goto("a"), round_("a")), (round_("a"),)),
    ((Step("turn", degrees=180), goto("a")), (Step("search", object="a"), goto("a"))),
    ((goto("a"), Step("stay")), (goto("a"),)),
    ((goto("a", "facing"),), (goto("a"), Step("face", object="a"))),
    ((Step("search", object="a"),), (Step("search", object="a"), goto("a"))),
]
FLIGHTS = [
    Drawn().ahead(1.5), Drawn().ahead(1.5).turn(60), circling(360, 0.9), circling(360), Drawn(), Drawn().turn(180),
    Drawn().turn(180).turn(180).ahead(1.6), Drawn(4, 1, 180).ahead(1.6), Drawn().ahead(1.5).turn(180).ahead(1.5),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), FORMS)
def test_equal_forms_score_the_same(one: tuple[Step, ...], other: tuple[Step, ...]) -> None:
    scores = [(verdict(flight, LAYOUT, *one).done, verdict(flight, LAYOUT, *other).done) for flight in FLIGHTS]
    assert all(a == b for a, b in scores)
    assert {a for a, _ in scores} == {True, False}


ROW = things(a=(1.0, 0.0), b=(2.2, 0.0), c=(3.4, 0.0))
SLALOM = Drawn().to((1.0, 0.5), (2.2, -0.5), (3.4, 0.5), (4.2, 0.2))
WORDS: list[tuple[Drawn, tuple[Step, ...], str]] = [
    (Drawn().ahead(1.5), (goto("a", "front"),), "stopped before the a: yes, 0.50 m"),
    (Drawn().ahead(1.5), (goto("a", "left"),), "stopped left of the a: no, not left of it"),
    (Drawn().ahead(1.5), (goto("a", "right"),), "stopped right of the a: no, not right of it"),
    (Drawn().ahead(1.5), (goto("a", "behind"),), "stopped behind the a: no, not behind it"),
    (Drawn().ahead(1.5), (goto("a", "facing"),), "stopped at the a, facing it: yes, 0.50 m"),
    (Drawn().ahead(1.5).turn(60), (goto("a", "facing"),), "stopped at the a, facing it: no, not facing it"),
    (Drawn().ahead(1.0), (goto("a", distance_m=0.5),), "stopped at the a: no, 1.00 m away, not 0.5"),
    (Drawn().to((1.5, 0.0), (1.5, 2.0)), (goto("a"), goto("b")), "was at the a: yes, 0.50 m"),
    (Drawn().to((1.5, 2.0)), (goto("a"), goto("b")), "was at the a: no, 1.60 m away"),
    (Drawn().ahead(1.5), (past("a"),), "passed the a: no, not gone by"),
    (Drawn().to((1.5, 0.6), (2.5, 0.6), (1.5, 0.6), (0.0, 0.6)), (past("a"),), "passed the a: no, it turned back"),
    (Drawn(0.0, 0.6).ahead(4.0), (past("a", "right"),), "passed the a with it on the right: yes, 0.60 m"),
    (circling(360), (round_("a"),), "circled the a once: yes, 1.00 turns"),
    (circling(-720), (round_("a", 2, "cw"),), "circled the a clockwise twice: yes, 2.00 turns"),
    (circling(180), (round_("a", 1.5, "ccw"),), "circled the a counter-clockwise 1.5 times: no, 0.50 turns"),
    (circling(-360), (round_("a", 1, "ccw"),), "circled the a counter-clockwise once: no, 0.00 turns"),
    (Drawn(0, 1).ahead(2.5), (Step("between", objects=("a", "b")),), "flew between the a and the b: yes"),
    (
        Drawn(0, 1).ahead(1.5), (Step("between", objects=("a", "b")),),
        "flew between the a and the b: no, 0.50 m from its middle at best",
    ),
    (
        Drawn(0, 1).ahead(1.5), (Step("between", objects=("a", "b"), end="in"),),
        "stopped between the a and the b: no, 0.50 m off the gap",
    ),
    (Drawn().turn(90), (Step("turn", degrees=90),), "turned 90 degrees left: yes, +90 degrees"),
    (Drawn().turn(-40), (Step("turn", degrees=-90),), "turned 90 degrees right: no, -40 degrees"),
    (Drawn().turn(-180), (Step("turn", degrees=180),), "turned 180 degrees: yes, -180 degrees"),
    (Drawn().turn(90).ahead(2.0), (Step("turn", degrees=90),), "turned 90 degrees left: no, it flew away"),
    (Drawn().ahead(1.0), (Step("forward"),), "flew ahead: yes, 1.00 m"),
    (Drawn().ahead(0.2), (Step("forward", metres=1.0),), "flew ahead 1 m: no, 0.20 m"),
    (Drawn().to((1.0, 0.9)), (Step("forward", metres=1.0),), "flew ahead 1 m: no, 1.00 m and aside"),
    (Drawn().turn(180).ahead(1.5), (Step("back", metres=1.5),), "flew back 1.5 m: yes, 1.50 m"),
    (Drawn().turn(90).ahead(1.0), (Step("sideways", metres=1.0),), "flew 1 m to the left: yes, 1.00 m"),
    (Drawn().turn(90).ahead(1.0), (Step("sideways", metres=-1.0),), "flew 1 m to the right: no, -1.00 m"),
    (Drawn().turn(90).ahead(1.0), (Step("sideways"),), "flew sideways: yes, 1.00 m"),
    (Drawn().turn(25), (Step("face", object="a"),), "faced the a: yes, 25 degrees off"),
    (Drawn().turn(60), (Step("face", object="a"),), "faced the a: no, 60 degrees off"),
    (Drawn().ahead(1.2), (Step("face", object="a"),), "faced the a: no, after flying away"),
    (Drawn(yaw_deg=180).turn(80), (Step("search", object="a"), Step("turn", degrees=80)),
     "looked for the a: no, 100 degrees off the nose at best"),
    (Drawn(), (Step("search", object="a"), Step("turn", degrees=90)), "looked for the a: yes, seen"),
    (Drawn().ahead(0.4), (Step("return"),), "returned to the start: yes, 0.40 m"),
    (Drawn().ahead(0.6), (Step("return"),), "returned to the start: no, 0.60 m away"),
    (Drawn().ahead(1.2), (until("a", "close"),), "flew ahead until the a was close: yes, 0.80 m away"),
    (Drawn().ahead(1.0), (until("a", "left"),),
     "flew ahead until the a was on the left: no, it was 0 degrees off the nose"),
    (Drawn().ahead(1.0), (until("a", "seen"),),
     "flew ahead until the a was in view: yes, it was 0 degrees off the nose"),
    (Drawn().ahead(0.26), (Step("stay"),), "stayed where it was: no, 0.26 m"),
    (Drawn().ahead(0.2), (Step("stay"),), "stayed where it was: yes, 0.20 m"),
]  # fmt: skip


@pytest.mark.parametrize(("flight", "steps", "words"), WORDS, ids=[words for _, _, words in WORDS])
def test_every_verdict_says_what_was_done_and_how_far_off(flight: Drawn, steps: tuple[Step, ...], words: str) -> None:
    assert verdict(flight, LAYOUT, *steps).steps[0].words == words


def test_what_was_wrong_is_told_of_the_time_in_which_the_step_could_be_done() -> None:
    # It was at a before it was told to; when it comes back something else is nearer.
    layout = things(a=(2.0, 0.0), b=(2.0, 2.5), c=(4.0, 0.0), e=(2.0, 0.5))
    flight = Drawn().to((1.5, 0.0), (1.5, 2.2), (2.0, 1.4), (2.0, 0.6), (2.0, 1.4), (3.6, 1.2), (3.6, 0.2))
    steps = verdict(flight, layout, goto("b"), goto("a"), goto("c")).steps
    assert [step.done for step in steps] == [True, False, True]
    assert steps[1].words == "was at the a: no, 0.60 m away and nearer to another object"


def test_a_slalom_says_how_many_were_passed_in_turn() -> None:
    steps = Step("weave", objects=("a", "b", "c"))
    assert verdict(SLALOM, ROW, steps).steps[0].words == "wove through the a, the b, the c: yes"
    two = Drawn().to((1.0, 0.5), (2.2, -0.5), (3.2, -1.4))
    assert verdict(two, ROW, steps).steps[0].words == "wove through the a, the b, the c: no, 2 of 3 in turn"


def test_a_verdict_is_written_with_three_digits() -> None:
    record = verdict(Drawn().ahead(1.54321), LAYOUT, goto("a")).steps[0].to_json()
    assert record == {
        "step": {"do": "goto", "object": "a", "stop": "near"}, "done": True, "value": 0.457, "unit": "m",
        "words": "stopped at the a: yes, 0.46 m",
    }  # fmt: skip


def test_what_is_missing_is_listed_and_what_is_done_is_not() -> None:
    judgement = verdict(Drawn().ahead(1.5), LAYOUT, goto("b"), goto("a"), Step("avoid", object="a"))
    assert judgement.words == "kept away from the a: no, 0.50 m; was at the b: no, 2.06 m away"
    assert [one.done for one in judgement.steps] == [False, False, True]
    assert verdict(Drawn().ahead(1.5), LAYOUT, goto("a")).words == "done"
    assert judged("contact", None, 1.5, goto("a")).words == "it ended by itself: no, it hit something"
    late = judged("horizon", None, 1.5, goto("a")).steps[-1]
    assert (late.step, late.value, late.unit) == (None, pytest.approx(3.0), "s")  # 30 samples a tenth of a second apart


@pytest.mark.parametrize(("beside", "done"), [(0.601, True), (0.599, False)])
def test_keeping_away_is_by_60_centimetres(beside: float, done: bool) -> None:
    assert verdict(Drawn(0.0, beside).ahead(4.0), LAYOUT, Step("avoid", object="a")).steps[0].done is done


# The end -------------------------------------------------------------------------------------------------


def judged(ending: str, said: str | None, metres: float, *steps: Step) -> Judgement:
    flight = Drawn().ahead(metres) if metres else Drawn()
    return judge(steps, LAYOUT, flight.trace, ending, said)  # type: ignore[arg-type]


def test_a_flight_ends_by_itself() -> None:
    assert judged("policy", None, 1.5, goto("a")).done
    assert judged("horizon", None, 1.5, goto("a")).words == "it ended by itself: no, it ran out of time"
    assert not judged("refused", "I know no a", 0.0, goto("a")).done
    # Not even where it has come to its goal: who refuses does not fly.
    assert judged("refused", "I know no a", 1.5, goto("a")).words == "it flew: no, it refused"


def test_nothing_to_do_is_refused_with_a_reason() -> None:
    assert judged("refused", "that is a question", 0.0).done
    assert judged("policy", "that is a question", 0.2).done
    assert not judged("refused", None, 0.0).done
    assert not judged("policy", "that is a question", 0.3).done
    assert judged("refused", "nothing to do", 0.0, Step("stay")).done


def test_traces_are_checked_and_read_back() -> None:
    trace = Drawn().ahead(1.5).trace
    again = Trace.from_json(trace.to_json())
    assert again.poses.tolist() == trace.poses.tolist()
    with pytest.raises(WaywordError, match="increase"):
        Trace.from_json([[0, 0, 0, 0], [0, 1, 0, 0]])
    with pytest.raises(WaywordError, match="list of"):
        Trace.from_json([[0, 0, 0]])
    with pytest.raises(WaywordError, match="does not hold"):
        judge([goto("z")], LAYOUT, trace)


STEPS = st.one_of(
    st.builds(goto, st.sampled_from("abc"), st.sampled_from(["near", "front", "left", "right", "behind", "facing"])),
    st.builds(past, st.sampled_from("abc"), st.sampled_from(["left", "right", "any"])),
    st.builds(round_, st.sampled_from("abc"), st.sampled_from([0.5, 1.0]), st.sampled_from(["cw", "ccw", "any"])),
    st.builds(until, st.sampled_from("abc"), st.sampled_from(["left", "right", "ahead", "behind", "close", "seen"])),
    st.builds(lambda d: Step("turn", degrees=d), st.sampled_from([90.0, -90.0, 180.0])),
    st.builds(lambda m: Step("forward", metres=m), st.sampled_from([0.5, 1.0, None])),
    st.builds(lambda do, m: Step(do, metres=m), st.sampled_from(["back", "sideways"]), st.sampled_from([0.5, 1.0])),
    st.builds(lambda do, o: Step(do, object=o), st.sampled_from(["face", "search", "avoid"]), st.sampled_from("abc")),
    st.builds(lambda end: Step("between", objects=("a", "b"), end=end), st.sampled_from(["in", "through"])),
    st.just(Step("weave", objects=("a", "b"))),
    st.just(Step("return")),
    st.just(Step("stay")),
)
WAYS = st.lists(st.tuples(st.floats(0.0, 4.0), st.floats(-1.0, 3.0)), max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=4), WAYS, st.floats(-5, 5), st.floats(-5, 5), st.floats(-3.2, 3.2))
def test_turning_and_shifting_the_world_changes_no_verdict(
    steps: list[Step], way: list[tuple[float, float]], x: float, y: float, yaw: float
) -> None:
    # Odd places: a flight that lies on a bound to the last bit may fall to either side of it.
    odd = things(a=(2.0137, 0.0271), b=(1.9713, 2.0319), c=(4.0173, -0.0193))
    trace = Drawn(0.0031, 0.0043, 0.77).to(*way).trace
    layout, elsewhere = moved(odd, trace, Pose2(x, y, yaw))
    here, there = judge(steps, odd, trace), judge(steps, layout, elsewhere)
    assert [v.done for v in here.steps] == [v.done for v in there.steps]
    assert [v.value for v in here.steps] == pytest.approx([v.value for v in there.steps], abs=1e-3)


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=3), WAYS)
def test_a_stay_at_the_end_changes_no_verdict(steps: list[Step], way: list[tuple[float, float]]) -> None:
    trace = Drawn().to(*way).trace
    assert judge([*steps, Step("stay")], LAYOUT, trace).done is judge(steps, LAYOUT, trace).done or not any(
        step.do not in ("avoid", "stay") for step in steps
    )
