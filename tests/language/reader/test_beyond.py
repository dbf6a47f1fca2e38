"""What no step can say is answered in one line; the same words about something else still fly."""

from __future__ import annotations

from collections import Counter

import pytest

from wayword.episodes.commands import Step, Until, load_commands
from wayword.language.edit_distance import typing_cost
from wayword.language.phrases_db import load_phrases
from wayword.language.pipeline import LanguageModel
from wayword.language.reader import Reader
from wayword.language.reader.beyond import beyond_steps, choice_among_some
from wayword.language.reader.likely_names import _cost, likely_name

DATABASE = load_phrases("test")
GOAL = (Step("goto", "e0"),)


@pytest.mark.parametrize(
    ("text", "words", "answer"),
    [
        ("head north", "head north", "no compass"),
        ("fly two metres south-west, then wait", "metres south-west", "no compass"),
        ("stop to the east of the globe", "to the east of", "no compass"),
        ("go to the biggest thing here", "to the biggest", "no sizes"),
        ("circle the smallest one", "circle the smallest", "no sizes"),
        ("visit everything and come back", "visit everything", "one thing after the other"),
        ("fly past all the objects", "fly past all the objects", "one thing after the other"),
        ("take off, go up to 2 metres and go to the globe", "go up to 2 metres", "one height"),
        ("go to the globe, climb 1 metre, then to the planter", "climb 1 metre", "one height"),
        ("descend to 30 cm and go to the globe", "descend to 30 cm", "one height"),
        ("go to the planter unless the globe is closer", "unless the globe is closer", "without a condition"),
        (
            "if the lamp is red, turn left, otherwise stop",
            "if the lamp is red, turn left, otherwise",
            "without a condition",
        ),
    ],
)
def test_what_no_step_says_is_quoted(text: str, words: str, answer: str) -> None:
    said = beyond_steps(text, GOAL)
    assert said is not None
    assert answer in said
    assert f'"{words}' in said


@pytest.mark.parametrize(
    "text",
    [
        "when you have found it, go up to a metre from it and stay",
        "go to the globe, if you please",
        "go around the globe, obviously, unless you fancy the wall",
        "the farthest thing is always the biggest surprise: the globe",
        "everything is fine, so go to the globe",
        "visit everything except the globe",
        "greet the globe, then the planter: go to each one",
        "tell me the wind is from the north, then go to the globe",
        "the nearest thing, please",
    ],
)
def test_the_same_words_about_something_else_fly(text: str) -> None:
    assert beyond_steps(text, GOAL) is None


def test_a_condition_that_a_step_says_is_flown() -> None:
    until = (Step("forward", until=Until("e0", "behind")),)
    assert beyond_steps("do not stop unless the globe is behind you", until) is None
    assert beyond_steps("do not stop unless the globe is behind you", GOAL) is not None


@pytest.mark.parametrize("split", ["train", "more", "dev"])
def test_no_command_that_can_be_flown_is_answered(split: str) -> None:
    fills = {"A": "the globe", "B": "the planter", "C": "the fire truck", "D": "the strawberry", "E": "the plates"}
    for command in load_commands(split):
        if command.steps:
            text = command.text
            for slot, phrase in fills.items():
                text = text.replace(f"{{{slot}}}", phrase)
            assert beyond_steps(text, command.steps) is None, text


def test_the_reader_says_it_and_flies_nothing(reader: Reader, language: LanguageModel) -> None:
    for text in ("head north", "go to the biggest thing here", "visit everything"):
        reading = reader.read(language.parse(text, DATABASE), DATABASE)
        assert reading.kind == "refusal"
        assert not reading.steps
        assert "I know fire truck" in str(reading.refusal)


@pytest.mark.parametrize(
    ("typed", "meant"), [("glob", "globe"), ("strawbery", "strawberry"), ("moon", None), ("car", None), ("brick", None)]
)
def test_a_slip_of_a_name_is_asked_about(typed: str, meant: str | None) -> None:
    assert likely_name(typed, DATABASE) == meant


def test_a_slip_is_asked_about_and_not_flown(reader: Reader, language: LanguageModel) -> None:
    reading = reader.read(language.parse("go to the glob", DATABASE), DATABASE)
    assert reading.kind == "refusal"
    assert "Do you mean the globe?" in str(reading.refusal)


def test_names_left_out_for_their_letters_are_too_far_away() -> None:
    phrases = [phrase for entry in load_phrases("seen") for phrase in (entry.name, *entry.phrases)]
    for typed in ("lantern", "barell", "windmil", "snow man", "gitar"):
        limit = 0.25 * len(typed)
        for phrase in phrases:
            cost = typing_cost(typed, phrase.lower(), limit)
            if _cost(typed, Counter(typed), phrase.lower(), limit) != cost:
                assert cost > limit


def test_the_nearest_of_some_is_not_the_nearest_of_all() -> None:
    kinds = {"brick", "red", "on", "a"}
    assert choice_among_some("fly to the closest brick", kinds) is not None
    said = choice_among_some("circle the nearest red thing, then wait", kinds)
    assert said is not None
    assert '"the nearest red thing"' in said
    assert choice_among_some("go to the nearest thing on your left", kinds) is None
    assert choice_among_some("the nearest exhibit, please", kinds) is None
