"""Rules about chunks that need no network: where they end, names with "of", pronouns, names said again."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from wayword.language.anaphora import head_noun, taken_up
from wayword.language.chunker import Chunk
from wayword.language.compounds import join_compounds
from wayword.language.listed import ListedPhrases, find_listed
from wayword.language.no_objects import no_objects
from wayword.language.parts import find_parts
from wayword.language.phrases_db import from_mapping
from wayword.language.pronouns import is_plural, is_pronoun, resolve_pronouns
from wayword.language.tidying import tidy, without_side

LISTED = ListedPhrases(
    from_mapping(
        {
            "shoe": ["shoe", "brown shoe"],
            "clock": ["clock", "wall clock"],
            "usb hub": ["charging port"],
            "stack of dishes": ["stack of dishes"],
            "robot": ["robot"],
            "flag": ["flag on the pole"],
        }
    )
)


def marked(text: str) -> tuple[str, list[Chunk]]:
    """A text with its chunks in square brackets, as the text and the chunks."""
    chunks, plain = [], ""
    for part in re.split(r"(\[[^]]*\])", text):
        said = part.strip("[]")
        if part.startswith("["):
            chunks.append(Chunk(len(plain), len(plain) + len(said), said))
        plain += said
    return plain, chunks


# Where chunks end -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunk", "parts"),
    [
        ("Flower pot starboard. Melon port", ["Flower pot", "Melon"]),
        ("drum; horse", ["drum", "horse"]),
        ("horse port side", ["horse"]),
        ("wooden table left-hand side", ["wooden table"]),
        ("the drum right", ["the drum"]),
        # These are phrases of their own.
        ("the globe", ["the globe"]),
        ("the 3.5 m pole", ["the 3.5 m pole"]),
        ("the port", ["the port"]),
        ("port", ["port"]),
        ("your far left", ["your far left"]),
        ("the robot's right side", ["the robot's right side"]),
        ("the U.S. flag", ["the U.S. flag"]),
        ("St. Bernard", ["St. Bernard"]),
        ("www.example.org", ["www.example.org"]),
        ("a nice wide left", ["a nice wide left"]),
        ("gentle right", ["gentle right"]),
        ("90 left", ["90 left"]),
        ("Acme Inc.", ["Acme Inc."]),
        ("?! drum", ["drum"]),
    ],
)
def test_no_chunk_crosses_a_sentence_or_ends_in_a_side(chunk: str, parts: list[str]) -> None:
    assert [chunk[start:end] for start, end in tidy(chunk, 0, len(chunk))] == parts


@given(st.lists(st.sampled_from(["drum", "the", "left", "port side", ".", ";", "St.", " ", "right", "ß"]), max_size=9))
def test_parts_of_a_chunk_lie_in_it_in_order_and_stay_as_they_are(words: list[str]) -> None:
    text = "go " + " ".join(words)
    parts = tidy(text, 3, len(text))
    edges = [3, *(edge for part in parts for edge in part), len(text)]
    assert edges == sorted(edges)
    for start, end in parts:
        assert text[start:end].strip() == text[start:end] != ""
        assert without_side(text[start:end]) == text[start:end]


# Phrases that are listed ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("fly to [the left] shoe", ["the left shoe"]),
        ("fly to [the right] [brown shoe] now", ["the right brown shoe"]),
        ("turn to [the left] shoe", ["the left"]),  # whither
        ("keep it on [the left] shoe ahead", ["the left"]),
        ("fly to [the left] drum", ["the left"]),  # not listed
        ("Clock right. Stop at [shoe]", ["Clock", "shoe"]),
        ("then wall clock to port, [shoe] next", ["wall clock", "shoe"]),
        ("clock right of way", []),
        ("[the charging] port", ["the charging port"]),
        ("[a shoe] left", ["a shoe"]),
    ],
)
def test_listed_phrases_make_chunks_whole(text: str, chunks: list[str]) -> None:
    plain, found = marked(text)
    made = find_listed(plain, found, LISTED)
    assert [chunk.text for chunk in made] == chunks
    assert all(plain[chunk.start : chunk.end] == chunk.text for chunk in made)


def test_what_is_listed_and_what_is_looked_up() -> None:
    assert "the Brown shoe" in LISTED
    assert "flag on the pole" in LISTED
    assert "old shoe" not in LISTED
    assert "the" not in LISTED
    assert LISTED.looked_up("the left shoe") == "shoe"
    assert LISTED.looked_up("the nearest brown shoe") == "brown shoe"
    assert LISTED.looked_up("the red shoe") == "the red shoe"
    assert ListedPhrases(from_mapping({"left shoe": ["left shoe"]})).looked_up("the left shoe") == "the left shoe"


# Names with "of" --------------------------------------------------------------------------------------------

DISTANCE = {
    "the pile of stones": 0.1, "the pile": 0.8, "stones": 0.5, "front of chair": 0.6, "front": 1.2, "chair": 0.0,
    "side of it": 0.1, "side": 1.0, "it": 0.9, "the stack of dishes": 0.0, "the stack": 0.0, "dishes": 0.0,
    "the heap of plates": 0.3, "the heap": 0.0, "plates": 0.0, "the cup of tea": 0.3, "the cup": 0.0, "tea": 0.1,
    "the end of street": 0.3, "the end": 0.2, "street": 0.1,
}  # fmt: skip
MEANS = {"the heap": "hay", "plates": "crockery", "the cup": "cup", "tea": "cup", "the end": "end", "street": "road"}


def distances(phrases: Sequence[str]) -> NDArray[np.float64]:
    return np.array([DISTANCE[phrase] for phrase in phrases])


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("past [the pile] of [stones] in [front] of [chair]", ["the pile of stones", "front", "chair"]),
        ("[side] of [it]", ["side", "it"]),  # a pronoun is never half of a name
        ("[the stack] of [dishes]", ["the stack of dishes"]),  # listed, though both halves are as near
        ("[the heap] of [plates]", ["the heap of plates"]),  # a heap is one with what it is made of
        ("[the cup] of [tea]", ["the cup of tea"]),  # both halves mean the cup
        ("[the end] of [street]", ["the end", "street"]),  # two things, and no heap
    ],
)
def test_names_with_of_are_joined_where_the_database_knows_them(text: str, chunks: list[str]) -> None:
    plain, found = marked(text)
    joined = join_compounds(plain, found, distances, lambda phrases: [MEANS.get(each) for each in phrases], LISTED)
    assert [chunk.text for chunk in joined] == chunks
    assert all(plain[chunk.start : chunk.end] == chunk.text for chunk in joined)


# What is no object ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ruled_out"),
    [
        ("follow [the far wall] to [the shoe]", [True, False]),
        ("stay in [the air]", [True]),
        ("[the air conditioner]", [False]),
        ("[the drum] at [your ten o'clock]", [False, True]),
        ("[the clock] at [3 o’clock]", [False, True]),
        ("turn to [2 o clock]", [True]),
        ("[robot], go to [the robot]", [True, False]),
        ("[robot] go to [the shoe]", [True, False]),
        ("[ok robot] [the shoe]", [True, False]),
        ("[Robot], [shoe], [clock].", [False, False, False]),  # a list of goals
        ("[Robot] left, [shoe] right", [False, False]),
        ("go to [robot]", [False]),
        ("go to [the shoe], [drone]!", [False, True]),
        ("[drone]: [shoe]", [True, False]),
        ("hey [drone] stop", [True]),
    ],
)
def test_surroundings_hours_and_who_is_addressed(text: str, ruled_out: list[bool]) -> None:
    assert no_objects(*marked(text), LISTED) == ruled_out


def test_a_wall_that_is_taught_is_an_object() -> None:
    taught = ListedPhrases(from_mapping({"brick wall": ["brick wall"]}))
    assert no_objects(*marked("[the wall] of [the room]"), taught) == [False, True]


# Parts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[the seat] with [the iron legs], then", {1: "the seat with the iron legs"}),
        ("[the box] made of [planks]", {1: "the box made of planks"}),
        ("to [the scoop] on [the waffle cone]", {1: "the scoop on the waffle cone"}),
        ("past [the chair] with [the table] on your left", {}),
        ("past [the chair] with [the table] still in view", {}),
        ("past [the chair] with [your camera] up", {}),
        ("past [the chair] to [the table]", {}),
    ],
)
def test_parts_of_the_thing_before(text: str, parts: dict[int, str]) -> None:
    plain, chunks = marked(text)
    assert {number: chunk.text for number, chunk in find_parts(plain, chunks).items()} == parts


# Pronouns ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "antecedents"),
    [
        ("[it] past [the duck] [It] [the tub] [that one]", [(), (), (1,), (), (3,)]),
        # Where nouns nest, the outer one.
        ("take [the bottle] from [the table] and use [it]", [(), (), (0,)]),
        ("[the cup] on [the shelf] behind [the sofa], circle [it]", [(), (), (), (0,)]),
        ("pass [the drum] on the left of [the horse], then circle [it]", [(), (), (0,)]),
        ("[the shoe] next to [the drum], [which] is red", [(), (), (1,)]),
        # A way is no nest, nor is a second verb, nor what is left behind.
        ("past [the drum] to [the horse], stop at [it]", [(), (), (1,)]),
        ("pass [the drum], stop behind [the horse] near [it]", [(), (), (1,)]),
        ("fly from [the drum] behind [the horse] and face [it]", [(), (), (1,)]),
        # Several things.
        ("between [the drum] and [the horse], leave [them]", [(), (), (0, 1)]),
        ("[the shoe], [the drum] and [the horse]; round [them]", [(), (), (), (0, 1, 2)]),
        ("[the shoe] and [the drum], then [the horse], pass [both]", [(), (), (), (0, 1)]),
        ("go to [the dishes] past [the drum], [they] are far", [(), (), (0,)]),
        ("[the shoe] and [the drum]. To [the dishes], by [them]", [(), (), (), (2,)]),
        ("keep [the shoe] left, [the drum] right, pass [them]", [(), (), (0, 1)]),
        # Of three that are not named together, the last two.
        ("keep [the shoe] left, [the drum] right, stop by [the horse], pass [them]", [(), (), (), (1, 2)]),
        ("past [the shoe]. Go to [the drum]. [They] are red", [(), (), (0, 1)]),
        ("approach [the drum], [they] stay left", [(), (0,)]),
        ("pass [them]", [()]),
    ],
)
def test_pronouns(text: str, antecedents: list[tuple[int, ...]]) -> None:
    plain, chunks = marked(text)
    named = [not is_pronoun(chunk.text) for chunk in chunks]
    assert resolve_pronouns(plain, chunks, named) == antecedents


def test_a_pronoun_skips_what_is_no_reference() -> None:
    plain, chunks = marked("[the duck] on [your left] keep [it]")
    assert resolve_pronouns(plain, chunks, [True, False, True]) == [(), (), (0,)]
    assert not is_pronoun("its left side")


@pytest.mark.parametrize(
    ("phrase", "plural"),
    [
        ("the dishes", True),
        ("the stack of dishes", True),
        ("two old men", True),
        ("the glass", False),
        ("the cactus", False),
        ("the bus", False),
        ("the tower with the blades", False),
        ("the gas", False),
    ],
)
def test_plurals(phrase: str, plural: bool) -> None:
    assert is_plural(phrase) == plural


# Names said again -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrases", "earlier"),
    [
        (["the red brick", "the brick"], [None, 0]),
        (["the red brick", "the yellow brick", "that brick"], [None, None, 1]),
        (["the brick", "the red brick", "the brick"], [None, None, None]),  # as it was said before
        (["the red brick", "the brick", "the brick"], [None, 0, 0]),
        (["the red brick", "a brick", "the other brick"], [None, None, None]),
        (["the stack of dishes", "the stack", "the dishes"], [None, 0, None]),
        (["the brick wall", "the brick"], [None, None]),
    ],
)
def test_a_name_said_again_with_fewer_words(phrases: list[str], earlier: list[int | None]) -> None:
    assert taken_up(phrases, [True] * len(phrases)) == earlier


def test_only_what_is_known_is_taken_up() -> None:
    assert taken_up(["the red brick", "the brick"], [False, True]) == [None, None]
    assert taken_up(["the red brick", "the brick"], [True, False]) == [None, None]
    assert head_noun("  ") == ""
