"""Lists of steps that mean the same flight have one form, and rules over places mean one object."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.episodes.commands import Select, Step
from wayword.episodes.commands.equal import canonical_steps
from wayword.episodes.commands.select import choose, margin, ranked
from wayword.episodes.format import Pose2

GOTO, FACE, CIRCLE = Step("goto", object="A"), Step("face", object="A"), Step("circle", object="A", turns=1.0)
STAY, AVOID, TURN = Step("stay"), Step("avoid", object="B"), Step("turn", degrees=180.0)


@pytest.mark.parametrize(
    ("steps", "form"),
    [
        # What is avoided is avoided all the time, so it comes first; waiting is no flight.
        ([GOTO, AVOID], [AVOID, GOTO]),
        ([GOTO, STAY], [GOTO]),
        ([STAY, GOTO, STAY], [GOTO]),
        # Without any flight one wait is left.
        ([STAY, STAY], [STAY]),
        ([STAY, AVOID], [AVOID, STAY]),
        ([], []),
        # To fly to something and circle it is to circle it; to look at it there is to face it.
        ([GOTO, CIRCLE], [CIRCLE]),
        ([GOTO, FACE], [Step("goto", object="A", stop="facing")]),
        ([GOTO, Step("circle", object="B")], [GOTO, Step("circle", object="B")]),
        ([Step("goto", object="A", stop="left"), FACE], [Step("goto", object="A", stop="left"), FACE]),
        ([Step("goto", object="A", distance_m=1.0), CIRCLE], [Step("goto", object="A", distance_m=1.0), CIRCLE]),
        # Once round and once round again is twice round, in one direction only.
        ([CIRCLE, CIRCLE], [Step("circle", object="A", turns=2.0)]),
        ([CIRCLE, CIRCLE, CIRCLE], [Step("circle", object="A", turns=3.0)]),
        (
            [Step("circle", object="A", direction="cw"), Step("circle", object="A", direction="ccw")],
            [Step("circle", object="A", direction="cw"), Step("circle", object="A", direction="ccw")],
        ),
        # "Turn around and go to A" looks for what is behind; "find A" goes there.
        ([TURN, GOTO], [Step("search", object="A"), GOTO]),
        ([Step("turn", degrees=90.0), GOTO], [Step("turn", degrees=90.0), GOTO]),
        ([Step("search", object="A")], [Step("search", object="A"), GOTO]),
    ],
)
def test_one_form(steps: list[Step], form: list[Step]) -> None:
    assert canonical_steps(steps) == tuple(form)


kinds = st.sampled_from([GOTO, FACE, CIRCLE, STAY, AVOID, TURN, Step("goto", object="B"), Step("search", object="B")])


@settings(max_examples=200)
@given(st.lists(kinds, max_size=6))
def test_the_form_is_stable_and_keeps_what_is_avoided(steps: list[Step]) -> None:
    form = canonical_steps(steps)
    assert canonical_steps(form) == form
    assert [step for step in form if step.do == "avoid"] == [step for step in steps if step.do == "avoid"]
    avoided = [step.do == "avoid" for step in form]
    assert avoided == sorted(avoided, reverse=True)
    assert sum(step.do == "stay" for step in form) <= 1


# From the origin, nose along x: left is +y.
HERE = Pose2(0.0, 0.0, 0.0)
PLACES = {"far": (4.0, 0.2), "left": (1.0, 1.0), "right": (1.5, -1.5), "behind": (-1.0, 0.1)}


@pytest.mark.parametrize(
    ("rule", "order"),
    [
        ("nearest", ["behind", "left", "right", "far"]),
        ("farthest", ["far", "right", "left", "behind"]),
        ("leftmost", ["left", "far", "right"]),
        ("rightmost", ["right", "far", "left"]),
        ("nearest-left", ["left"]),
        ("nearest-right", ["right"]),
        ("behind-me", ["behind"]),
        ("straight-ahead", ["far", "left", "right"]),
    ],
)
def test_rules_order_what_fits_them(rule: str, order: list[str]) -> None:
    assert [name for name, _ in ranked(rule, PLACES, HERE)] == order  # type: ignore[arg-type]
    for rank, name in enumerate(order, start=1):
        assert choose(Select(rule, None, rank), PLACES, HERE) == name  # type: ignore[arg-type]
    assert choose(Select(rule, None, len(order) + 1), PLACES, HERE) is None  # type: ignore[arg-type]


def test_beside_something_leaves_it_out() -> None:
    assert choose(Select("beside", "left", 1), PLACES, HERE) == "behind"
    assert choose(Select("beside", "nowhere", 1), PLACES, HERE) is None


def test_two_at_the_same_distance_are_ordered_by_name() -> None:
    assert [name for name, _ in ranked("nearest", {"b": (1.0, 0.0), "a": (0.0, 1.0)}, HERE)] == ["a", "b"]


def test_how_plainly_a_rule_means_one() -> None:
    # Nearest is at 1.005 m, the next at 1.414 m.
    assert margin(Select("nearest", None, 1), PLACES, HERE) == pytest.approx(math.sqrt(2) - math.hypot(1, 0.1))
    # One in the middle may be taken for either neighbour, the last (4.005 m) for the one before it (2.121 m).
    assert margin(Select("nearest", None, 2), PLACES, HERE) == pytest.approx(math.sqrt(2) - math.hypot(1, 0.1))
    assert margin(Select("nearest", None, 4), PLACES, HERE) == pytest.approx(math.hypot(4, 0.2) - math.hypot(1.5, 1.5))
    assert margin(Select("nearest-left", None, 1), PLACES, HERE) == math.inf
    assert margin(Select("nearest-left", None, 2), PLACES, HERE) == 0.0


@given(st.floats(-math.pi, math.pi), st.floats(-2, 2), st.floats(-2, 2), st.sampled_from(["nearest", "leftmost"]))
def test_turning_the_world_changes_no_choice(turn: float, x: float, y: float, rule: str) -> None:
    cos, sin = math.cos(turn), math.sin(turn)
    moved = {name: (x + cos * a - sin * b, y + sin * a + cos * b) for name, (a, b) in PLACES.items()}
    select = Select(rule, None, 1)  # type: ignore[arg-type]
    assert choose(select, moved, Pose2(x, y, turn)) == choose(select, PLACES, HERE)
