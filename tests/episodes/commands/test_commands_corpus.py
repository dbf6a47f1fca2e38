from __future__ import annotations

import json
from pathlib import Path

import pytest

from wayword.episodes import Pose2
from wayword.episodes.commands import (
    COMMAND_SPLITS,
    Command,
    Select,
    Step,
    canonical_steps,
    choose,
    families,
    fill,
    load_commands,
    margin,
    ranked,
)
from wayword.errors import WaywordError

PLACES = {"a": (1.0, 0.0), "b": (2.0, 1.0), "c": (2.0, -1.5), "d": (-1.0, 0.2)}
HERE = Pose2(0.0, 0.0, 0.0)


@pytest.mark.parametrize("split", COMMAND_SPLITS)
def test_the_shipped_commands_read_and_write_alike(split: str) -> None:
    commands = load_commands(split)
    assert len(commands) > 800
    assert {"goto", "compound", "refuse", "moves"} <= set(families(commands))
    assert [Command.from_json(command.to_json()) for command in commands] == commands
    assert all(command.refuses == (command.family == "refuse") for command in commands)


def test_slots_are_filled_with_phrases_whose_places_are_kept() -> None:
    command = Command.from_json(
        {"text": "{A} first. {B} then", "steps": [{"do": "goto", "object": "A"}], "family": "sequence"}
    )
    filled = fill(command, {"A": "globe", "B": "robot"}, {"A": "the globe", "B": "that droid"})
    assert filled.text == "The globe first. That droid then"
    assert [(filled.text[a:b], slot) for a, b, slot in filled.spans] == [("The globe", "A"), ("That droid", "B")]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": "go", "steps": [{"do": "goto", "object": "A"}], "family": "goto"}, "neither a slot"),
        ({"text": "go", "steps": [{"do": "hop"}], "family": "goto"}, "not a step"),
        ({"text": "go", "steps": [{"do": "return", "metres": 1}], "family": "goto"}, "has no 'metres'"),
        ({"text": "{F}", "steps": [], "family": "goto"}, "no braces"),
        ({"text": "go", "steps": []}, "needs text, steps and family"),
        ({"text": "go", "steps": [], "family": "x", "select": {"Z": {"rule": "beside"}}}, 'needs "of"'),
    ],
)
def test_a_mistake_in_a_file_is_one_line_with_its_number(tmp_path: Path, record: object, message: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("\n" + json.dumps(record) + "\n", encoding="utf-8")
    with pytest.raises(WaywordError, match=message) as caught:
        load_commands(path)
    assert "2" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "rank", "meant"),
    [
        ("nearest", 1, "a"), ("nearest", 2, "d"), ("farthest", 1, "c"), ("leftmost", 1, "b"), ("rightmost", 1, "c"),
        ("leftmost", 2, "a"), ("nearest-left", 1, "d"), ("nearest-right", 1, "c"), ("behind-me", 1, "d"),
        ("straight-ahead", 1, "a"), ("behind-me", 2, None),
    ],
)  # fmt: skip
def test_rules_over_places(rule: str, rank: int, meant: str | None) -> None:
    # d lies at 168.7 degrees: to the left by the rule (10 to 170), and behind.
    assert choose(Select(rule, rank=rank), PLACES, HERE) == meant  # type: ignore[arg-type]


def test_beside_leaves_its_object_out_and_margins_say_how_plain_it_is() -> None:
    assert ranked("beside", PLACES, HERE, "a")[0][0] == "b"
    # a is 1.0 m away, d hypot(1, 0.2) = 1.02.
    assert margin(Select("nearest"), PLACES, HERE) == pytest.approx(0.0198, abs=1e-4)
    assert margin(Select("behind-me", rank=2), PLACES, HERE) == 0.0


def test_one_form_for_steps_that_mean_the_same() -> None:
    goto, face, search = Step("goto", object="a"), Step("face", object="a"), Step("search", object="a")
    circle, stay, around = Step("circle", object="a"), Step("stay"), Step("turn", degrees=-180)
    assert canonical_steps([goto, circle]) == canonical_steps([circle, stay]) == (circle,)
    assert (
        canonical_steps([around, goto])
        == canonical_steps([search])
        == canonical_steps([search, goto, stay])
        == (search, goto)
    )
    assert canonical_steps([goto, face]) == (Step("goto", object="a", stop="facing"),)
    assert canonical_steps([circle, circle]) == (Step("circle", object="a", turns=2.0),)
    assert canonical_steps([around, goto, circle]) == (search, circle)
    avoid = Step("avoid", object="b")
    assert canonical_steps([goto, avoid]) == (avoid, goto)
    assert canonical_steps([stay, stay]) == (stay,)
    assert canonical_steps([]) == ()
    assert canonical_steps([Step("turn", degrees=90), goto]) == (Step("turn", degrees=90), goto)
