"""Several things at once, and all but one: hand-worked readings, and the whole way with the shipped reader."""

from __future__ import annotations

import pytest

from wayword.episodes.commands import Step
from wayword.language.phrases_db import ObjectPhrases, load_phrases
from wayword.language.pipeline import LanguageModel
from wayword.language.reader import Reader
from wayword.language.reader.groups import with_groups, without_taken_out
from wayword.language.reader.mentions import Mentions, find_mentions

DATABASE = load_phrases("test")  # a yellow and a red brick, "dishes" that are one stack, a globe, ...


def _mentions(language: LanguageModel, text: str) -> Mentions:
    return find_mentions(language.parse(text, DATABASE), DATABASE)


def _names(reader: Reader, language: LanguageModel, text: str) -> list[tuple[str, list[str | None]]]:
    reading = reader.read(language.parse(text, DATABASE), DATABASE)
    return [(step.do, [reading.things[key].name for key in step.mentioned]) for step in reading.steps]


def test_a_step_about_a_group_is_one_step_for_each_member(language: LanguageModel) -> None:
    mentions = _mentions(language, "circle both bricks twice")
    steps, entities = with_groups((Step("circle", "e0", turns=2.0),), mentions, DATABASE)
    # One entity was mentioned, so that the members are e1 and e2, in the order of the database.
    assert steps == (Step("circle", "e1", turns=2.0), Step("circle", "e2", turns=2.0))
    assert [entity.phrase for entity in entities[1:]] == ["yellow brick", "red brick"]
    assert entities[1].probabilities["yellow brick"] == 1.0


def test_a_gap_and_a_slalom_take_the_members_in_their_place(language: LanguageModel) -> None:
    mentions = _mentions(language, "weave around the bricks and the globe")
    steps, _ = with_groups((Step("weave", objects=("e0", "e1")),), mentions, DATABASE)
    assert steps[0].objects == ("e2", "e3", "e1")
    gap, _ = with_groups((Step("between", objects=("e0", "Z")),), mentions, DATABASE)
    assert gap[0].objects == ("e2", "e3")


@pytest.mark.parametrize(
    "text",
    [
        "go to the dishes",  # a phrase of one object
        "go to all the plates",
        "go to the brick",  # one of them, whichever
        "go to both globes",  # only one was taught
        "go to the red bricks",  # only one is red
    ],
)
def test_what_names_one_thing_is_no_group(language: LanguageModel, text: str) -> None:
    mentions = _mentions(language, text)
    step = Step("goto", "e0")
    assert with_groups((step,), mentions, DATABASE) == ((step,), mentions.entities)


def test_plurals_in_es_and_ies(language: LanguageModel) -> None:
    database = [ObjectPhrases(name, (name,)) for name in ("red box", "blue box", "straw berry", "black berry")]
    for text, members in (("go to the boxes", 2), ("go to all of the berries", 2)):
        mentions = find_mentions(language.parse(text, database), database)
        assert len(with_groups((Step("goto", "e0"),), mentions, database)[0]) == members


def test_words_that_hold_all_or_each_are_no_group_words(language: LanguageModel) -> None:
    # "small bricks" lost its "all", "peach crates" its "each": what was left named nothing.
    database = [
        ObjectPhrases(f"{look} {noun}", (f"{look} {noun}",))
        for look in ("small red", "small blue")
        for noun in ("brick",)
    ]
    database += [ObjectPhrases(f"{look} crate", (f"{look} crate",)) for look in ("old peach", "new peach")]
    for text in ("circle the small bricks", "circle both peach crates"):
        mentions = find_mentions(language.parse(text, database), database)
        assert len(with_groups((Step("circle", "e0"),), mentions, database)[0]) == 2


@pytest.mark.parametrize(
    ("text", "flown"),
    [
        ("visit everything except the globe", False),
        ("go to all of them but not the globe", False),
        ("any object other than the globe", False),
        ("not the globe!", False),
        ("ignore everything except the globe", True),
        ("not the planter, the globe", True),
        ("visit everything except the globe, then go to the globe", True),  # it is spoken of again
    ],
)
def test_what_is_taken_out_of_everything_is_not_flown_to(language: LanguageModel, text: str, flown: bool) -> None:
    mentions = _mentions(language, text)
    number = next(k for k, each in enumerate(mentions.entities) if each.phrase == "globe")
    steps = (Step("goto", f"e{number}"),)
    assert without_taken_out(steps, mentions) == (steps if flown else ())


def test_groups_are_read_as_typed(reader: Reader, language: LanguageModel) -> None:
    both = [("goto", ["yellow brick"]), ("goto", ["red brick"])]
    assert _names(reader, language, "go to both bricks") == both
    assert _names(reader, language, "fly between the bricks") == [("between", ["yellow brick", "red brick"])]


def test_all_but_one_is_asked_about(reader: Reader, language: LanguageModel) -> None:
    reading = reader.read(language.parse("visit everything except the globe", DATABASE), DATABASE)
    assert reading.kind == "refusal"
    assert "I do not see which thing is meant" in (reading.refusal or "")
