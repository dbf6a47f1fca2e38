"""The anonymised instruction: exact offsets, whatever repeats, nests or looks like a placeholder."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.errors import WaywordError
from wayword.language.anonymise import PLACEHOLDER, anonymise, outermost


def test_repeated_phrases_are_replaced_where_they_stand():
    # "the globe" stands at [5, 14) and at [18, 27). Replaced: "past " is 5 characters, so the first placeholder
    # is [5, 10); " to " is 4, so the second is [14, 19).
    made = anonymise("past the globe to the globe", [(5, 14), (18, 27)])
    assert made.text == "past <obj> to <obj>"
    assert made.placeholders == ((5, 10), (14, 19))
    assert made.phrases == ("the globe", "the globe")


def test_only_the_second_of_two_equal_phrases():
    made = anonymise("the rock, the rock", [(10, 18)])
    assert made.text == "the rock, <obj>"


def test_a_word_inside_another_is_left_alone():
    # "it" is also in "with" and "city"; only the pronoun at [5, 7) is a reference.
    assert anonymise("with it city", [(5, 7)]).text == "with <obj> city"


def test_nested_spans_become_one_placeholder():
    # "the tower with the blades" holds "the blades".
    text = "near the tower with the blades, stop"
    made = anonymise(text, [(20, 30), (5, 30)])
    assert made.text == "near <obj>, stop"
    assert made.spans == ((5, 30),)


def test_placeholder_in_the_instruction_itself_survives():
    text = "fly to <obj> past the <obj>"
    made = anonymise(text, [(18, 27)])
    assert made.text == "fly to <obj> past <obj>"
    assert made.restore() == text


def test_no_references():
    assert anonymise("turn left", []).text == "turn left"
    assert anonymise("", []).restore() == ""


@pytest.mark.parametrize("spans", [[(3, 3)], [(4, 2)], [(0, 99)], [(-1, 2)]])
def test_impossible_spans_are_refused(spans: list[tuple[int, int]]):
    with pytest.raises(WaywordError):
        anonymise("turn left", spans)


@st.composite
def text_and_spans(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    text = draw(st.text(min_size=1, max_size=60) | st.sampled_from(["<obj><obj>", "it it with it", "é 🙂 的"]))
    count = draw(st.integers(0, 6))
    edges = [sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text))))) for _ in range(count)]
    return text, [(a, b) for a, b in edges if a < b]


@given(text_and_spans())
def test_the_original_is_rebuilt_from_the_parts(case: tuple[str, list[tuple[int, int]]]):
    text, spans = case
    made = anonymise(text, spans)
    assert made.restore() == text
    assert len(made.spans) == len(made.placeholders) == len(made.phrases)
    for (start, end), (a, b), phrase in zip(made.spans, made.placeholders, made.phrases, strict=True):
        assert text[start:end] == phrase
        assert made.text[a:b] == PLACEHOLDER
    # Every character that no span covers is still there, in order.
    covered = {i for start, end in spans for i in range(start, end)}
    begins, ends = [0, *(end for _, end in made.spans)], [*(start for start, _ in made.spans), len(text)]
    gaps = [text[a:b] for a, b in zip(begins, ends, strict=True)]
    assert all(set(range(s, e)) <= covered for s, e in made.spans)
    assert made.text == PLACEHOLDER.join(gaps)


@given(text_and_spans())
def test_outermost_spans_are_disjoint_and_input_spans(case: tuple[str, list[tuple[int, int]]]):
    kept = outermost(case[1])
    assert set(kept) <= set(case[1])
    assert all(a[1] <= b[0] for a, b in pairwise(kept))
    assert outermost(list(reversed(case[1]))) == kept
