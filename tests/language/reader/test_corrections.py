"""What a text takes back is not flown to."""

from __future__ import annotations

import pytest

from wayword.episodes.commands import Step
from wayword.language.reader.corrections import taken_back, without_taken_back
from wayword.language.reader.mentions import Mentions, TextMention


def mentions_of(text: str) -> Mentions:
    """Every X, Y, Z of a text is a thing."""
    places = [(place, "XYZ".index(letter)) for place, letter in enumerate(text) if letter in "XYZ"]
    return Mentions(text, tuple(TextMention(at, at + 1, "exact", entity) for at, entity in places), (), ())


@pytest.mark.parametrize(
    "text",
    [
        "go to the X, uh, make that the Y",
        "go to the X, no wait, go to the Y",
        "visit the X. Actually, the Y.",
        "to the X no sorry to the Y",
        "the X, scratch that, the Y",
        "the X or rather the Y",
    ],
)
def test_words_that_take_back(text: str) -> None:
    assert taken_back(mentions_of(text)) == {0: 1}


@pytest.mark.parametrize(
    "text",
    [
        "go to the X, wait, go to the Y",  # a stop on the way
        "the X, then the Y",
        "not the X, the Y",
        "the X, no, the Y, then the X",  # spoken of again
        "see the X and, sorry to ask, circle the Y",
    ],
)
def test_words_that_do_not(text: str) -> None:
    assert taken_back(mentions_of(text)) == {}


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ([Step("goto", "e0"), Step("goto", "e1")], [Step("goto", "e1")]),
        ([Step("circle", "e0", turns=2.0), Step("return")], [Step("circle", "e1", turns=2.0), Step("return")]),
        ([Step("between", objects=("e0", "e2"))], [Step("between", objects=("e1", "e2"))]),
        ([Step("between", objects=("e0", "e1"))], [Step("between", objects=("e0", "e1"))]),
        ([Step("goto", "e1")], [Step("goto", "e1")]),
    ],
)
def test_steps_are_about_what_is_said_last(steps: list[Step], kept: list[Step]) -> None:
    assert list(without_taken_back(steps, mentions_of("the X, no, the Y"))) == kept
