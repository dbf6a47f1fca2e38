"""Runs of moves that the reader is trained on: repeated as a text says, or one behind the other."""

from __future__ import annotations

import re

import numpy as np
import pytest

from wayword.episodes.commands import Command, Step, Until
from wayword.learning.language.reader_augment import repeat
from wayword.learning.language.reader_grammar import Speaker


def test_moves_said_once_are_flown_as_often_as_is_said() -> None:
    rng = np.random.default_rng(0)
    moves = Command("fwd 1 m and turn left", (Step("forward", metres=1.0), Step("turn", degrees=90.0)), "moves")
    counts = {
        "twice": 2,
        "two times": 2,
        "2 times": 2,
        "2x": 2,
        "thrice": 3,
        "three times": 3,
        "3x": 3,
        "four times": 4,
    }
    counted = set()
    for _ in range(60):
        more = repeat(moves, rng)
        assert more is not None
        assert more.steps == moves.steps * (len(more.steps) // 2)
        assert 4 <= len(more.steps) <= 8
        assert "fwd 1 m and turn left" in more.text.lower()
        said = more.text.lower().replace("fwd 1 m and turn left", "")
        for words, count in counts.items():
            if re.search(rf"\b{words}\b", said):
                assert len(more.steps) == 2 * count
                counted.add(count)
    assert counted == {2, 3, 4}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("turn left twice", (Step("turn", degrees=90.0),) * 2),
        ("spin round", (Step("turn", degrees=360.0),)),
        ("go to {A}", (Step("goto", "A"),)),
        ("forward until {A} is close", (Step("forward", until=Until("A", "close")),)),
        ("forward. Turn left", (Step("forward"), Step("turn", degrees=90.0))),
    ],
)
def test_what_has_a_number_or_a_thing_is_not_repeated(text: str, steps: tuple[Step, ...]) -> None:
    assert all(repeat(Command(text, steps, "moves"), np.random.default_rng(seed)) is None for seed in range(5))


def test_a_run_of_moves_has_a_step_for_every_part() -> None:
    speaker, rng = Speaker(), np.random.default_rng(1)
    lengths = {len(speaker.run(rng).steps) for _ in range(60)}
    assert {3, 5, 7, 9} <= lengths
    for _ in range(20):
        assert {step.do for step in speaker.run(rng).steps[:-2]} <= {"forward", "back", "sideways", "turn"}
