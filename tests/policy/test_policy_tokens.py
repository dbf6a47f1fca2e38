from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.policy.tokens import MOST_TOKENS, OBJECT, UNKNOWN, Vocabulary, mirrored, placeholders, tokenise


def test_tokens_of_an_anonymised_instruction() -> None:
    assert tokenise("Go past <obj>, then it\u2019s LEFT.") == ["go", "past", "<obj>", ",", "then", "it's", "left", "."]


def test_placeholders_are_found_where_they_stand() -> None:
    np.testing.assert_array_equal(placeholders(["past", "<obj>", "to", "<obj>"]), [1, 3])
    assert placeholders([]).shape == (0,)


def test_the_mirror_exchanges_sides_and_turns() -> None:
    said = ["left", "lefthand", "clockwise", "counterclockwise", "stop", "<obj>"]
    assert mirrored(said) == ["right", "righthand", "counterclockwise", "clockwise", "stop", "<obj>"]


def test_numbers_are_read_as_words() -> None:
    assert tokenise("12 oclock") == ["twelve", "o'clock"]
    assert tokenise("55 degrees, 90deg, 180") == [
        "fifty",
        "five",
        "degrees",
        ",",
        "ninety",
        "degrees",
        ",",
        "one",
        "eighty",
    ]
    assert tokenise("0 100 7 20 219") == ["zero", "one", "hundred", "seven", "twenty", "two", "nineteen"]
    assert tokenise("str8 2000 b4") == ["str8", "2000", "b4"]
    assert tokenise("anti-clockwise, counter clockwise") == ["counterclockwise", ",", "counterclockwise"]


def test_the_side_of_a_thing_is_read_as_the_side_of_the_drone() -> None:
    assert tokenise("past <obj> on its left, then stop") == tokenise("past <obj> on your right, then stop")
    assert tokenise("pass <obj> along their right side") == tokenise("pass <obj> on your left side")
    for said in (
        "<obj> on your left",
        "stop on its left",
        "<obj>, on its left",
        "<obj> its left",
        "<obj> on its leftmost",
    ):
        assert "right" not in tokenise(said)


def test_the_mirror_exchanges_port_and_hours() -> None:
    assert mirrored(["port", "starboard", "twelve", "six"]) == ["starboard", "port", "twelve", "six"]
    said = tokenise("at 10 o'clock, keep it at 3; forty-five degrees, pass the one at your 11")
    assert mirrored(said) == tokenise("at 2 o'clock, keep it at 9; forty-five degrees, pass the one at your 1")
    assert mirrored(tokenise("stop at two boxes, the one on the left")) == tokenise(
        "stop at two boxes, the one on the right"
    )


@given(st.text(alphabet="0123456789 'abdegmo", max_size=30))
def test_reading_again_changes_nothing(text: str) -> None:
    tokens = tokenise(text)
    assert tokenise(" ".join(tokens)) == tokens[:MOST_TOKENS]


@given(
    st.lists(
        st.sampled_from(
            ["left", "right", "lefty", "past", "clockwise", "counterclockwise", "<obj>", "at", "ten", "o'clock", "port"]
        )
    )
)
def test_two_mirrors_show_the_original(tokens: list[str]) -> None:
    assert mirrored(mirrored(tokens)) == tokens


def test_rare_words_are_unknown_and_the_frequent_come_first() -> None:
    vocabulary = Vocabulary.build([["stop", "stop", "stop", "past", "past", "past", "stop", "rare"]], least=3)
    assert vocabulary.words[3:] == ("stop", "past")
    np.testing.assert_array_equal(vocabulary.numbers(["past", "rare", "<obj>"]), [4, UNKNOWN, OBJECT])


def test_an_empty_sentence_is_one_unknown_word() -> None:
    np.testing.assert_array_equal(Vocabulary.build([]).numbers([]), [UNKNOWN])


def test_endless_sentences_are_cut() -> None:
    assert len(tokenise("left " * 10_000)) == MOST_TOKENS


def test_a_vocabulary_without_its_special_words_is_refused() -> None:
    with pytest.raises(ValueError, match="starts with"):
        Vocabulary(("stop",))
