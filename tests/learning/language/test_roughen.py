"""Rough copies of annotated sentences: each kind of damage alone, and that chunks always fit their text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.learning.language.augment import NOT_THINGS, Roughness, is_thing, misspell, roughen
from wayword.learning.language.treebank import AnnotatedText

NOTHING = Roughness(punctuation=0, join=0, article=0, typo=0, short_form=0, sloppy=0, swap=0)


def annotated(text: str, *phrases: str, imperative: bool = True) -> AnnotatedText:
    spans, cursor = [], 0
    for phrase in phrases:
        start = text.index(phrase, cursor)
        spans.append((start, start + len(phrase)))
        cursor = start + len(phrase)
    return AnnotatedText(text, tuple(spans), imperative)


SENTENCE = annotated("Turn left, pass the red globe, and stop at the duck.", "the red globe", "the duck")


def rough(sentence: AnnotatedText = SENTENCE, seed: int = 0, **damage: float) -> AnnotatedText:
    return roughen(sentence, [], [], np.random.default_rng(seed), replace(NOTHING, **damage))


def chunks(sentence: AnnotatedText) -> list[str]:
    return [sentence.text[start:end] for start, end in sentence.chunks]


def test_without_damage_nothing_changes() -> None:
    assert rough() == SENTENCE


def test_punctuation_goes_but_not_inside_a_chunk() -> None:
    assert rough(punctuation=1.0).text == "Turn left pass the red globe and stop at the duck"
    kept = annotated("Go to St. Mary, then on.", "St. Mary")
    assert rough(kept, punctuation=1.0).text == "Go to St. Mary then on"
    # A decimal point and a hyphen inside a word are no punctuation.
    assert rough(annotated("Fly 1.5 m, half-way."), punctuation=1.0).text == "Fly 1.5 m half-way"


def test_articles_of_chunks_are_dropped() -> None:
    damaged = rough(sloppy=1.0, article=1.0)
    assert chunks(damaged) == ["red globe", "duck"]
    assert damaged.text == "Turn left, pass red globe, and stop at duck."


def test_short_forms_and_contractions() -> None:
    sentence = annotated("Until it's on your left and you stop", "it")
    damaged = rough(sentence, sloppy=1.0, short_form=1.0)
    assert damaged.text == "til its on ur left n u stop"
    assert chunks(damaged) == ["its"]  # one word now, and all of it is the chunk


def test_long_words_are_misspelt_and_short_ones_are_not() -> None:
    damaged = rough(sloppy=1.0, typo=1.0)
    assert damaged.text != SENTENCE.text
    assert {"the", "and", "at"} <= set(damaged.text.split())
    assert chunks(damaged)[1].startswith("the ")


def test_two_sentences_run_on_without_a_mark_between_them() -> None:
    other = annotated("Then circle the cone!", "the cone")
    results = set()
    for seed in range(12):
        joined = roughen(SENTENCE, [other], [], np.random.default_rng(seed), replace(NOTHING, join=1.0))
        assert sorted(chunks(joined)) == sorted(["the red globe", "the duck", "the cone"])
        assert "!" not in joined.text
        results.add(joined.text.index("cone") < joined.text.index("globe"))
    assert results == {True, False}  # either of them may come first


def test_definite_phrases_are_exchanged_but_not_directions() -> None:
    sentence = annotated("Pass the red globe on the left and a cone", "the red globe", "the left", "a cone")
    swapped = roughen(sentence, [], ["the old boat"], np.random.default_rng(0), replace(NOTHING, swap=1.0))
    assert chunks(swapped) == ["the old boat", "the left", "a cone"]


@pytest.mark.parametrize(
    ("phrase", "thing"),
    [
        ("the old boat", True),
        ("the boat", True),
        ("The Boat", True),
        ("a boat", False),
        ("the", False),
        ("boat", False),
        ("the left", False),
        ("the other side", False),
        ("the very big old red wooden boat", False),
    ],
)
def test_what_can_be_exchanged(phrase: str, thing: bool) -> None:
    assert is_thing(phrase) is thing


def test_nothing_that_names_a_direction_is_a_thing() -> None:
    assert not any(is_thing(f"the {word}") for word in NOT_THINGS)


@settings(max_examples=100, deadline=None)
@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=10), st.integers(0, 10_000))
def test_a_misspelt_word_differs_by_one_slip(word: str, seed: int) -> None:
    typed = misspell(word, np.random.default_rng(seed))
    assert abs(len(typed) - len(word)) <= 1
    if len(typed) == len(word):
        assert sum(a != b for a, b in zip(word, typed, strict=True)) <= 2


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_chunks_fit_their_text_whatever_is_done(seed: int, join: float, sloppy: float, swap: float) -> None:
    sentences = [SENTENCE, annotated("it's behind you, the cone.", "it", "you", "the cone", imperative=False)]
    config = Roughness(punctuation=0.5, join=join, article=0.5, typo=0.5, short_form=0.5, sloppy=sloppy, swap=swap)
    for sentence in sentences:
        damaged = roughen(sentence, sentences, ["the old boat"], np.random.default_rng(seed), config)
        edges = [0, *(edge for span in damaged.chunks for edge in span), len(damaged.text)]
        assert edges == sorted(edges)
        assert all(end > start for start, end in damaged.chunks)
        assert damaged.imperative == sentence.imperative
        again = roughen(sentence, sentences, ["the old boat"], np.random.default_rng(seed), config)
        assert damaged == again
