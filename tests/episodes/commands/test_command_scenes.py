from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from wayword.episodes import Pose2
from wayword.episodes.commands import (
    Command,
    CommandScene,
    CommandSceneConfig,
    SceneKind,
    Step,
    Until,
    choose,
    draw_command_scene,
    load_commands,
)
from wayword.episodes.commands.possible import pose_before, why_not
from wayword.episodes.commands.steps import End
from wayword.episodes.geometry import wrap
from wayword.errors import WaywordError

PHRASES = {name: (name, f"big {name}") for name in ("ball", "boot", "bus", "cake", "cup", "drum", "kite", "vase")}


def command(text: str, *steps: dict, **select: dict) -> Command:
    record = {"text": text, "steps": list(steps), "family": "x"} | ({"select": select} if select else {})
    return Command.from_json(record)


def scene(template: Command, kind: SceneKind = "random", seed: int = 0) -> CommandScene:
    return draw_command_scene(template, kind, PHRASES, np.random.default_rng(seed))


def bearing_deg(drawn: CommandScene, name: str | None, pose: Pose2 | None = None) -> float:
    pose = pose or drawn.start
    item = next(item for item in drawn.objects if item.name == name)
    return abs(math.degrees(wrap(math.atan2(item.y - pose.y, item.x - pose.x) - pose.yaw)))


GOTO = command("go to {A}", {"do": "goto", "object": "A"})


def test_the_same_seed_draws_the_same_scene() -> None:
    assert scene(GOTO, seed=3) == scene(GOTO, seed=3)
    assert scene(GOTO, seed=3) != scene(GOTO, seed=4)


@pytest.mark.parametrize("seed", range(8))
def test_first_objects_are_in_view_or_not(seed: int) -> None:
    drawn, hidden = scene(GOTO, "drawn", seed), scene(GOTO, "hidden", seed)
    assert bearing_deg(drawn, drawn.steps[0].object) <= 35.1
    assert bearing_deg(hidden, hidden.steps[0].object) >= 54.9
    for one in (drawn, hidden):
        assert 6 <= len(one.objects) <= 8
        assert min(math.dist((item.x, item.y), (one.start.x, one.start.y)) for item in one.objects) >= 0.55
        assert one.text in {f"go to {article} {phrase}" for article in ("the", "that") for phrase in phrases_of(one)}


def phrases_of(drawn: CommandScene) -> tuple[str, str]:
    return PHRASES[str(drawn.steps[0].object)]


def test_what_is_behind_is_behind_the_start_after_turning_round() -> None:
    around = command("turn round, go to {A}", {"do": "turn", "degrees": 180}, {"do": "goto", "object": "A"})
    drawn = scene(around, "drawn")
    assert bearing_deg(drawn, drawn.steps[1].object) >= 144.9


@pytest.mark.parametrize("rule", ["nearest", "leftmost", "nearest-right", "behind-me", "straight-ahead"])
@pytest.mark.parametrize("kind", ["drawn", "random", "hidden"])
def test_what_a_rule_means_is_in_the_steps(rule: str, kind: SceneKind) -> None:
    template = command("go there", {"do": "goto", "object": "Z"}, Z={"rule": rule})
    drawn = scene(template, kind)
    places = {item.name: (item.x, item.y) for item in drawn.objects}
    assert drawn.steps[0].object == choose(template.select["Z"], places, drawn.start)


def test_every_seventh_shipped_command_has_scenes() -> None:
    for number, template in enumerate(load_commands("dev")[::7]):
        kind: SceneKind = ("drawn", "random", "hidden")[number % 3]  # type: ignore[assignment]
        drawn = scene(template, kind, number)
        places = {item.name: (item.x, item.y) for item in drawn.objects}
        assert {name for step in drawn.steps for name in step.mentioned} <= set(places)
        assert why_not(drawn.steps, places, drawn.start) is None


def test_a_command_that_fits_nowhere_is_an_error_of_one_line() -> None:
    far = command("ten metres", {"do": "forward", "metres": 10})
    with pytest.raises(WaywordError, match="no room to fly forward"):
        draw_command_scene(far, "random", PHRASES, np.random.default_rng(0), config=CommandSceneConfig(layouts=3))
    with pytest.raises(WaywordError, match="at least 6 objects"):
        draw_command_scene(GOTO, "random", {"ball": ("ball",)}, np.random.default_rng(0))


# What is possible, in a 4.7 m arena; the drone stands at (1, 1) and looks along x.
START = Pose2(1.0, 1.0, 0.0)


def until(name: str, is_: str) -> Step:
    return Step("forward", until=Until(name, is_))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("places", "steps", "wrong"),
    [
        ({}, [Step("forward", metres=3.0)], None),
        ({}, [Step("forward", metres=3.5)], "no room"),  # to x = 4.5, less than 0.35 m from the edge
        ({"a": (2.0, 1.3)}, [Step("forward", metres=2.0)], "no room"),  # passes a at 0.3 m
        ({"a": (2.0, 1.4)}, [Step("forward", metres=2.0)], None),
        ({}, [Step("back", metres=1.0)], "no room"),
        ({}, [Step("turn", degrees=90), Step("back", metres=0.6)], None),
        ({}, [Step("sideways", metres=-1.0)], "no room"),
        ({"a": (3.0, 2.0)}, [until("a", "left")], None),
        ({"a": (3.0, 2.0)}, [until("a", "right")], "does not bring"),
        ({"a": (1.5, 2.0)}, [until("a", "left")], "does not bring"),  # 63 degrees: it is on the left already
        ({"a": (3.0, 1.0)}, [until("a", "close")], None),
        ({"a": (1.0, 3.0)}, [until("a", "seen")], "does not bring"),
        ({"a": (2.0, 1.0), "b": (2.0, 3.0)}, [Step("between", objects=("a", "b"))], None),
        ({"a": (2.0, 1.0), "b": (2.0, 3.6)}, [Step("between", objects=("a", "b"))], "too far apart"),
        ({"a": (2, 1), "b": (2, 3), "c": (2.5, 2)}, [Step("between", objects=("a", "b"))], "stands between"),
        ({"a": (4.1, 1.0)}, [Step("goto", object="a", stop="behind")], "no room behind"),  # x = 4.6
        ({"a": (3.0, 1.0)}, [Step("goto", object="a", stop="behind")], None),
        ({"a": (3.0, 1.0), "b": (3.0, 1.95)}, [Step("goto", object="a", stop="left")], "no room left"),
        ({"a": (1.6, 1.0)}, [Step("goto", object="a")], "starts at a"),
        ({"a": (3.0, 1.0), "b": (1.5, 1.5)}, [Step("avoid", object="b"), Step("goto", object="a")], "too near"),
        ({"a": (0.5, 2.0)}, [Step("circle", object="a")], "too near to the edge"),
    ],
)
def test_what_is_possible(places: dict[str, tuple[float, float]], steps: list[Step], wrong: str | None) -> None:
    found = why_not(steps, places, START)
    assert found is None if wrong is None else wrong in (found or "")


def test_the_walk_in_thought() -> None:
    steps = [Step("forward", metres=1.0), Step("turn", degrees=90), Step("goto", object="a"), Step("return")]
    places = {"a": (2.0, 3.0)}
    at_goal = pose_before(steps, 3, places, START)
    assert (at_goal.x, at_goal.y, at_goal.yaw) == pytest.approx((2.0, 2.5, math.pi / 2))
    home = pose_before(steps, 4, places, START)
    assert (home.x, home.y) == (1.0, 1.0)


def test_close_is_on_a_circle_around_the_thing() -> None:
    # a is 2 m ahead and 0.48 m to the left: 0.8 m from it are 0.64 m before it is abeam (0.64^2 + 0.48^2 = 0.8^2).
    pose = pose_before([until("a", "close"), Step("return")], 1, {"a": (3.0, 1.48)}, START)
    assert (pose.x, pose.y) == pytest.approx((1.0 + 2.0 - 0.64, 1.0))


@pytest.mark.parametrize(("end", "x"), [("in", 2.0), ("through", 2.5)])
def test_a_gap_is_thought_to_be_flown_through_away_from_where_the_drone_is(end: End, x: float) -> None:
    # The gap of a at (2, 1) and b at (2, 3) lies to the north-east of (1, 1): across it to the east, not to the west.
    steps, places = [Step("between", objects=("a", "b"), end=end), Step("return")], {"a": (2.0, 1.0), "b": (2.0, 3.0)}
    for objects in (("a", "b"), ("b", "a")):
        pose = pose_before([replace(steps[0], objects=objects), steps[1]], 1, places, START)
        assert (pose.x, pose.y, pose.yaw) == pytest.approx((x, 2.0, 0.0))
