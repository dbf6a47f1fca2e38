"""Lengths and angles as people write them."""

from __future__ import annotations

import pytest

from wayword.language.reader.quantities import find_measures, spoken_number


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("thirty centimetres", 0.3, "m"),
        ("a metre and a half", 1.5, "m"),
        ("one and a half meters", 1.5, "m"),
        ("two steps", 1.0, "m"),
        ("six feet", 1.8, "m"),
        ("a yard", 0.9, "m"),
        ("half a metre", 0.5, "m"),
        ("150cm", 1.5, "m"),
        ("1,5 m", 1.5, "m"),
        ("one decimal two metres", 1.2, "m"),
        ("a couple of steps", 1.0, "m"),
        ("another metre", 1.0, "m"),
        ("3/4 metre", 0.75, "m"),
        ("forty-five degrees", 45.0, "deg"),
        ("niner zero degrees", 90.0, "deg"),
        ("90°", 90.0, "deg"),
        ("one eighty", 180.0, "bare"),
        ("90", 90.0, "bare"),
        ("one point five", 1.5, "bare"),
    ],
)
def test_one_quantity(text: str, value: float, kind: str) -> None:
    (measure,) = find_measures(f"go {text}, please")
    assert (measure.value, measure.kind) == (pytest.approx(value), kind)
    assert f"go {text}, please"[measure.start : measure.end] == text


@pytest.mark.parametrize(
    "text",
    [
        "the second one",
        "step one: go",
        "the one on the left",
        "a mouse",
        "m",
        "go to it twice",
        "left, and not an inch more",
    ],
)
def test_what_is_no_quantity(text: str) -> None:
    assert find_measures(text) == []


def test_several_in_order() -> None:
    found = find_measures("back five zero centimetres, come right four five, then 2 m")
    assert [(each.value, each.kind) for each in found] == [(0.5, "m"), (45.0, "bare"), (2.0, "m")]


@pytest.mark.parametrize(
    ("words", "value"), [("one two zero", 120), ("forty five", 45), ("a hundred and twenty", 120), ("three sixty", 360)]
)
def test_spoken_numbers(words: str, value: float) -> None:
    assert spoken_number(words) == value


@pytest.mark.parametrize(
    ("text", "degrees", "side"),
    [("two o'clock", 60, -1), ("11 o'clock", 30, 1), ("8 oclock", 120, 1), ("1 o’clock", 30, -1)],
)
def test_hours_are_angles_with_a_side(text: str, degrees: float, side: int) -> None:
    (measure,) = find_measures(f"turn to your {text}, then wait")
    assert (measure.value, measure.kind, measure.side) == (degrees, "deg", side)


@pytest.mark.parametrize("text", ["three o'clock", "your six o'clock"])
def test_hours_that_are_sides_stay_words(text: str) -> None:
    assert find_measures(text) == []
