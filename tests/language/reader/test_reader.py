"""The shipped reader: plain commands become the steps they ask for, whatever else is typed is refused with a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wayword.episodes import load_natural
from wayword.episodes.commands import Step
from wayword.errors import DataError
from wayword.language.minilm import MiniLM
from wayword.language.phrases_db import load_phrases
from wayword.language.pipeline import LanguageModel
from wayword.language.reader import Reader, Reading
from wayword.language.reader.marked import MARK, Marked
from wayword.language.reader.mentions import Entity, Mentions, TextMention, find_mentions
from wayword.language.reader.network import Array, Encoded, ReaderNetwork, load_network
from wayword.language.reader.reader import VIEWS, WEIGHTS
from wayword.language.reader.refusals import not_known, nothing_to_do, what_i_do
from wayword.language.reader.terse import directions_alone, is_height, is_no_move, is_plea
from wayword.language.reader.unfinished import is_unfinished
from wayword.learning.language.reader_report import said_steps

DATABASE = load_phrases("test")


@pytest.fixture(scope="module")
def read(language: LanguageModel, reader: Reader):  # type: ignore[no-untyped-def]
    def once(text: str) -> Reading:
        return reader.read(language.parse(text, DATABASE), DATABASE)

    return once


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (
            "ahead one metre, right ninety, ahead three metres, left ninety, ahead two metres",
            [
                Step("forward", metres=1.0),
                Step("turn", degrees=-90.0),
                Step("forward", metres=3.0),
                Step("turn", degrees=90.0),
                Step("forward", metres=2.0),
            ],
        ),
        ("fwd 2 m, sidestep right 1 m", [Step("forward", metres=2.0), Step("sideways", metres=-1.0)]),
        ("ten o'clock, then the globe", [Step("turn", degrees=60.0), Step("goto", "globe")]),
        ("come to your two o'clock", [Step("turn", degrees=-60.0)]),
    ],
)
def test_every_quantity_goes_to_its_own_step(read, text: str, steps: list[Step]) -> None:  # type: ignore[no-untyped-def]
    assert said_steps(read(text)) == steps


@pytest.mark.parametrize("text", ["flyy", "fly now", "go there!", "circle", "please turn", "start"])
def test_half_a_command_is_asked_about(read, text: str) -> None:  # type: ignore[no-untyped-def]
    reading = read(text)
    assert reading.kind == "refusal"
    assert f'nothing to fly in "{text}". Say where to go' in reading.refusal


@pytest.mark.parametrize(
    "text", ["don't move", "turn left", "fly to the globe", "go 2 metres", "globe", "go to the start"]
)
def test_what_is_no_half_command(text: str) -> None:
    assert not is_unfinished(text)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("fly to the globe", [Step("goto", "globe")]),
        ("stop behind the globe", [Step("goto", "globe", stop="behind")]),
        ("turn around", [Step("turn", degrees=180.0)]),
        ("go forward two metres", [Step("forward", metres=2.0)]),
        ("come back to where you started", [Step("return")]),
        ("don't move", [Step("stay")]),
    ],
)
def test_plain_commands(read, text: str, steps: list[Step]) -> None:  # type: ignore[no-untyped-def]
    reading = read(text)
    assert reading.kind == "steps"
    assert said_steps(reading) == steps


@pytest.mark.parametrize(
    ("text", "degrees"),
    [("left", [90]), ("Right!", [-90]), ("to the right, please", [-90]), ("left then right", [90, -90])],
)
def test_directions_alone_are_turns(read, text: str, degrees: list[float]) -> None:  # type: ignore[no-untyped-def]
    assert list(read(text).steps) == [Step("turn", degrees=each) for each in degrees]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("strafe right", [Step("sideways", metres=-0.5)]),
        ("do a 180", [Step("turn", degrees=180.0)]),
        ("please do a full turn", [Step("turn", degrees=360.0)]),
        ("look around", [Step("turn", degrees=360.0)]),
        ("back off", [Step("back")]),
        ("Side-step left, then right.", [Step("sideways", metres=0.5), Step("sideways", metres=-0.5)]),
        ("please slide a bit to the left", [Step("sideways", metres=0.3)]),
        ("turn a bit left", [Step("turn", degrees=30.0)]),
        ("turn right slightly and then strafe left", [Step("turn", degrees=-30.0), Step("sideways", metres=0.5)]),
        ("turn right", [Step("turn", degrees=-90.0)]),
        ("forward a little", [Step("forward", metres=0.5)]),
        ("backward", [Step("back")]),
    ],
)
def test_aside_is_no_turn_and_a_bit_is_less(read, text: str, steps: list[Step]) -> None:  # type: ignore[no-untyped-def]
    assert list(read(text).steps) == steps


@pytest.mark.parametrize(
    "text", ["land", "Take off!", "take-off now", "please land here", "up", "go up 1 m", "climb two metres", "higher"]
)
def test_height_is_not_flown_and_that_is_said(read, text: str) -> None:  # type: ignore[no-untyped-def]
    """The network, asked, would fly two metres ahead for two metres up."""
    reading = read(text)
    assert (reading.kind, reading.is_answer) == ("refusal", True)
    assert "take off and land by myself" in reading.refusal


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Go to the planter, then hover right above the globe.", "hover right above the globe"),
        ("land on top of the globe", "land on top of the globe"),
        ("fly under the globe, then come back", "fly under the globe"),
        ("crash into the globe", "crash into the globe"),
    ],
)
def test_no_flight_to_a_place_at_another_height(read, text: str, place: str) -> None:  # type: ignore[no-untyped-def]
    reading = read(text)
    assert (reading.kind, reading.steps) == ("refusal", ())
    assert f'I cannot "{place}"' in reading.refusal


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("fly over to the globe", [Step("goto", "globe")]),
        ("under no circumstances go near the globe", [Step("avoid", "globe")]),
        ("go to the planter, but don't fly over the globe", [Step("avoid", "globe"), Step("goto", "flower pot")]),
        ("stop on the globe's left", [Step("goto", "globe", stop="left")]),
    ],
)
def test_what_is_at_its_height_is_flown(read, text: str, steps: list[Step]) -> None:  # type: ignore[no-untyped-def]
    assert said_steps(read(text)) == steps


@pytest.mark.parametrize(
    ("text", "avoided", "goals"),
    [
        ("circle the globe and mind you don't hit the planter", ["flower pot"], ["globe"]),
        ("the fire truck is lava! go to the globe", ["fire truck"], ["globe"]),
        ("No-go area: the globe. Go to the fire truck.", ["globe"], ["fire truck"]),
        ("the globe is off limits, visit the plates", ["globe"], ["stack of plates"]),
        ("go to the globe but don't hit it", [], ["globe"]),
        ("back away from the globe", ["globe"], []),
        ("back off from the globe", ["globe"], []),
        ("stop one step away from the globe", [], ["globe"]),
    ],
)
def test_what_must_not_be_hit_is_kept_clear_of(  # type: ignore[no-untyped-def]
    read, text: str, avoided: list[str], goals: list[str]
) -> None:
    steps = said_steps(read(text))
    assert [step.object for step in steps if step.do == "avoid"] == avoided
    assert [step.object for step in steps if step.do in ("goto", "circle")] == goals


@pytest.mark.parametrize(
    "text",
    ["help", "help me", "?", "what can you do?", "what can you do", "list objects", "how does this work", "menu"],
)
def test_who_asks_is_told_what_can_be_typed(read, text: str) -> None:  # type: ignore[no-untyped-def]
    reading = read(text)
    assert (reading.kind, reading.is_answer) == ("refusal", True)
    assert 'say "pass the fire truck, then stop at the stack of plates"' in reading.refusal


def test_the_example_that_is_told_can_be_flown(read) -> None:  # type: ignore[no-untyped-def]
    for names in ([entry.name for entry in DATABASE], []):
        assert read(what_i_do(names).split('"')[1]).kind == "steps"


@pytest.mark.parametrize("text", ["exit", "reset", "begin", "status", "find", "🚁", "👍!", "open please"])
def test_a_word_that_is_no_move_is_not_guessed_at(read, text: str) -> None:  # type: ignore[no-untyped-def]
    reading = read(text)
    assert (reading.kind, reading.is_answer) == ("refusal", False)
    assert "nothing to fly" in reading.refusal


@pytest.mark.parametrize(
    ("text", "do"),
    [("stop", "stay"), ("home", "return"), ("to the start", "return"), ("do nothing", "stay"), ("globe", "goto")],
)
def test_a_word_that_is_a_move_is_flown(read, text: str, do: str) -> None:  # type: ignore[no-untyped-def]
    assert [step.do for step in read(text).steps] == [do]


@pytest.mark.parametrize(
    "text", ["go up to the globe", "back up 2 metres", "right now", "left 2 metres", "fly home", "turn left"]
)
def test_no_rule_answers_what_says_more(text: str) -> None:
    assert not directions_alone(text)
    assert not is_height(text)
    assert not is_plea(text)
    assert not is_no_move(text)


def test_a_question_is_refused_with_a_reason(read) -> None:  # type: ignore[no-untyped-def]
    reading = read("what is the capital of France?")
    assert reading.kind == "refusal"
    assert reading.steps == ()
    assert reading.refusal is not None
    assert "\n" not in reading.refusal
    assert "globe" in reading.refusal


@pytest.mark.parametrize("text", ["go halfway to the globe", "go through the globe"])
def test_no_thing_is_made_up(read, text: str) -> None:  # type: ignore[no-untyped-def]
    """The network takes them for gaps between the globe and whatever is farthest."""
    reading = read(text)
    assert (reading.kind, reading.steps) == ("refusal", ())
    assert "I do not see which thing is meant" in reading.refusal


def test_nothing_typed_is_refused(read) -> None:  # type: ignore[no-untyped-def]
    assert read("").kind == read("  ").kind == "refusal"


def test_an_unknown_thing_is_named(read) -> None:  # type: ignore[no-untyped-def]
    reading = read("fly to the submarine")
    assert (reading.kind, reading.unknown) == ("refusal", ("submarine",))
    assert '"submarine"' in (reading.refusal or "")


def test_things_carry_their_probabilities(read) -> None:  # type: ignore[no-untyped-def]
    reading = read("fly to the globe")
    (thing,) = reading.things.values()
    assert thing.name == "globe"
    assert thing.probabilities["globe"] > 0.5


@pytest.fixture(scope="module")
def versatile() -> Reader:
    """The shipped weights with eight placeholders, whichever those have that ship."""
    network, encoder = load_network(WEIGHTS), MiniLM()
    config = replace(network.config, placeholders="box lamp vase drum tent statue barrel desk")
    return Reader(ReaderNetwork(config, network._w), encoder)


def views_of(text: str, language: LanguageModel, reader: Reader) -> list[Marked]:
    return reader._views(find_mentions(language.parse(text, DATABASE), DATABASE))


@pytest.mark.parametrize("text", ["fly to the globe", "go past the planter, then stop behind the globe"])
def test_a_text_is_read_with_several_sets_of_placeholders(
    text: str, language: LanguageModel, versatile: Reader
) -> None:
    """The views differ in the placeholders and in nothing else, so that their scores can be averaged by place."""
    views = views_of(text, language, versatile)
    assert len(views) == VIEWS > 1
    exact = views[0].marks == MARK["exact"]
    assert exact.any()
    for view in views:
        assert len(view.ids) == len(view.marks) == len(views[0].ids)
        np.testing.assert_array_equal(view.ids[~exact], views[0].ids[~exact])
        for part in ("marks", "targets", "owners", "is_entity", "starts"):
            np.testing.assert_array_equal(getattr(view, part), getattr(views[0], part))
    objects = [view.ids[exact].tolist() for view in views]
    assert all(len(set(words)) == len(words) for words in objects)  # another word for each object
    assert len({tuple(words) for words in objects}) == VIEWS


@pytest.mark.parametrize("text", ["turn around", "fly to the submarine", ""])
def test_a_text_without_a_listed_object_has_one_view(text: str, language: LanguageModel, versatile: Reader) -> None:
    assert len(views_of(text, language, versatile)) == 1


def test_there_are_no_more_views_than_placeholders(language: LanguageModel, reader: Reader) -> None:
    words = load_network(WEIGHTS).config.placeholders.split()
    assert len(views_of("fly to the globe", language, reader)) == min(VIEWS, len(words))


def test_the_kind_is_the_mean_over_the_views(
    language: LanguageModel, versatile: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One view far on the side of a description outweighs two a little against it, (10 - 1 - 1) / 3 > 0; by
    (1 - 1 - 1) / 3 < 0 it does not."""
    encode, scores = versatile._network.encode, iter([10.0, -1.0, -1.0, 1.0, -1.0, -1.0])

    def lean(states: Array, marks: np.ndarray) -> Encoded:
        encoded = encode(states, marks)
        encoded.kind = np.array([0.0, next(scores)], np.float32)
        return encoded

    monkeypatch.setattr(versatile._network, "encode", lean)
    parsed = language.parse("fly to the globe", DATABASE)
    assert versatile.read(parsed, DATABASE).kind == "description"
    assert versatile.read(parsed, DATABASE).kind != "description"
    assert next(scores, None) is None  # every view counted


@pytest.mark.parametrize("text", ["go past the planter, then stop behind the globe", "fly to the submarine"])
def test_the_same_text_is_read_the_same_again(text: str, language: LanguageModel, versatile: Reader) -> None:
    first, second = (versatile.read(language.parse(text, DATABASE), DATABASE) for _ in range(2))
    assert first == second


def test_a_described_way_stays_a_description(language: LanguageModel, reader: Reader) -> None:
    database = load_phrases("dev")
    for episode in load_natural("dev")[:5]:
        text = " ".join(segment.instruction for segment in episode.segments)
        parsed = language.parse(text, database)
        reading = reader.read(parsed, database)
        assert reading.kind == "description"
        assert reading.legs[0][0] == 0
        assert all(first[1] <= second[0] for first, second in zip(reading.legs, reading.legs[1:], strict=False))


@pytest.mark.parametrize("text", ["globe " * 400, "?!", "🙂", "{A}", "go " * 300])
def test_whatever_is_typed_gives_a_reading(read, text: str) -> None:  # type: ignore[no-untyped-def]
    reading = read(text)
    for step in reading.steps:
        assert Step.from_json(step.to_json()) == step
        assert set(step.mentioned) <= set(reading.things)


def test_lines_of_refusal() -> None:
    names = [f"thing {number}" for number in range(20)]
    line = not_known(("submarine",), names)
    assert line.startswith('I do not know "submarine"; I know thing 0,')
    assert "thing 15 and 4 more" in line
    line = not_known(("scope", "submarine"), ["telescope"], ["telescope"])
    assert line == 'I do not know "scope" and "submarine". Do you mean the telescope? I know telescope.'
    assert "teach me" in nothing_to_do("sing", [])
    assert len(nothing_to_do("la " * 100, [])) < 200


@pytest.mark.parametrize(
    ("probabilities", "guess"),
    [
        ({"globe": 0.38, "planter": 0.07}, "globe"),
        ({"globe": 0.38, "planter": 0.2}, None),  # one of two: not worth a question
        ({"globe": 0.1}, None),
        ({}, None),
    ],
)
def test_what_may_be_meant_is_asked_about(probabilities: dict[str, float], guess: str | None) -> None:
    assert Entity("ball", probabilities, 0.55, "unknown").guess == guess
    assert Entity("ball", probabilities, 0.55, "known").guess is None


def test_missing_weights_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="reader"):
        Reader.load(tmp_path)


@pytest.mark.parametrize(
    "text", ["fly to theglobe", "go to the globe_x and the planter5", "globeglobe planter-ish", "the globes"]
)
def test_letters_that_touch_a_name_do_no_harm(read, text: str) -> None:  # type: ignore[no-untyped-def]
    assert read(text).kind in ("steps", "description", "refusal")


def test_views_can_always_be_added_up(reader: Reader) -> None:
    """A name inside a longer word: with "box" its pieces are "boxes", with other words there are more of them."""
    entity = Entity("globe", {"globe": 1.0}, 0.0, "exact")
    mentions = Mentions("fly to the globes now", (TextMention(11, 16, "exact", 0),), (entity,), ())
    views = reader._views(mentions)
    assert views
    assert len({len(view.ids) for view in views}) == 1


KEPT = [("avoid", "strawberry"), ("goto", "watermelon")]


def test_to_keep_a_distance_is_no_visit(read) -> None:  # type: ignore[no-untyped-def]
    reading = read("keep at least 1 m from the strawberry while you fly to the watermelon")
    assert [(step.do, step.object) for step in said_steps(reading)] == KEPT


def test_the_closest_of_a_kind_is_not_the_closest_thing(read) -> None:  # type: ignore[no-untyped-def]
    assert 'cannot tell "the closest brick"' in read("fly to the closest brick").refusal
    assert said_steps(read("fly to the closest thing"))[0].do == "goto"
