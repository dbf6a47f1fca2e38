"""How many times round: what the text says in words or numbers."""

from __future__ import annotations

import pytest

from wayword.episodes.commands import Step
from wayword.language.reader.turn_counts import with_counts


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("five times around the tub", 5.0),
        ("two and a half laps clockwise round the tub", 2.5),
        ("1.5 orbits of the tub", 1.5),
        ("one and a quarter turns around the tub", 1.25),
        ("4 clockwise circles around the tub, then home", 4.0),
        ("circle the duck twice, sorry, I meant the tub", 2.0),
        ("go round the tub", 1.0),
        ("one lap of the tub", 1.0),
        ("twice, no, three times round the tub", 1.0),  # not for a rule to say
        ("half way round the tub, twice", 1.0),
        ("99 times round the tub", 1.0),
    ],
)
def test_turns_around_a_thing(text: str, turns: float) -> None:
    before = (Step("circle", "tub", direction="cw"), Step("return"))
    assert with_counts(before, text) == (Step("circle", "tub", turns=turns, direction="cw"), Step("return"))


def test_a_count_for_one_of_two_circles_is_not_guessed_at() -> None:
    steps = (Step("circle", "tub"), Step("circle", "duck", turns=2.0))
    assert with_counts(steps, "circle the tub, then the duck twice") == steps


@pytest.mark.parametrize(
    ("text", "read", "degrees"),
    [
        ("spin on the spot twice to the left", 90.0, 720.0),
        ("two full turns to the right", -90.0, -720.0),
        ("a three-quarter turn to the left", 90.0, 270.0),
        ("turn left, then go twice as far", 90.0, 90.0),
        ("spin to the left", 90.0, 90.0),
        ("turn left a little bit, then forward a metre", 90.0, 30.0),
        ("turn slightly right, like 20 degrees", -20.0, -20.0),
        ("turn left, then forward a bit", 90.0, 90.0),
        ("turn left a bit, say ninety degrees", 90.0, 90.0),
    ],
)
def test_turns_on_the_spot(text: str, read: float, degrees: float) -> None:
    assert with_counts((Step("turn", degrees=read),), text) == (Step("turn", degrees=degrees),)


def test_a_number_that_may_be_of_repeated_moves_is_left_to_them() -> None:
    back, circle = Step("back", metres=1.0), Step("circle", "globe")
    steps = (back, back, back, circle)
    assert with_counts(steps, "a metre back three times, then circle the globe") == steps
    assert with_counts((back, circle), "a metre back, then circle the globe three times")[1].turns == 3.0
