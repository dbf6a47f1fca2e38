"""Spelling: hand-worked costs, words that must stay, and offsets back to the original."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.errors import DataError, WaywordError
from wayword.language import Speller
from wayword.language.edit_distance import are_neighbours, typing_cost
from wayword.language.spelling import load_word_weights
from wayword.learning.language.gold_references import GOLD_FOLDER

TYPOS = GOLD_FOLDER / "typos.jsonl"


@pytest.fixture(scope="module")
def speller() -> Speller:
    return Speller(["the hourglass", "a phone booth"])


@pytest.mark.parametrize(
    ("typed", "meant", "cost"),
    [
        ("barrel", "barrel", 0.0),
        ("trun", "turn", 0.7),  # r and u swapped
        ("barell", "barrel", 1.0),  # one r too few (0.5), one l too many (0.5)
        ("keepin", "keeping", 0.4),  # the g of -ing
        ("betwen", "between", 0.5),  # a double letter halved
        ("towrds", "towards", 0.85),  # a left out
        ("gkobe", "globe", 0.8),  # k lies beside l
        ("glabe", "globe", 0.8),  # a vowel for a vowel
        ("glpbe", "globe", 0.8),  # p lies beside o
        ("glxbe", "globe", 1.2),  # any other letter
        ("xglobe", "globe", 1.5),  # added (0.9), and in front (0.6)
    ],
)
def test_typing_cost(typed: str, meant: str, cost: float) -> None:
    assert typing_cost(typed, meant, 3.0) == pytest.approx(cost)
    assert typing_cost(typed, meant, cost - 0.01) == float("inf")


def test_neighbours_on_the_keyboard() -> None:
    assert are_neighbours("k", "l")
    assert are_neighbours("d", "e")
    assert not are_neighbours("a", "a")
    assert not are_neighbours("q", "p")
    assert not are_neighbours("é", "e")


def test_nearest_word_weighs_cost_and_frequency() -> None:
    small = Speller(vocabulary={"turn": 100.0, "torn": 1.0, "tarn": 1.0, "dark": 5.0})
    assert small.correct_word("trun") == "turn"
    # "tirn": i for u is beside (0.8), i for o and i for a are vowels (0.8): the most frequent wins.
    assert small.correct_word("tirn") == "turn"
    # "tark" is 1.2 + 0.6 from "dark" (another letter, and the first): beyond the 4 x 0.22 a short word may move.
    assert small.correct_word("tark") == "tark"


def test_sentence_and_offsets(speller: Speller) -> None:
    text = "Trun left at teh hourglas, infront of the phonebooth!"
    result = speller.correct(text)
    assert result.text == "Turn left at the hourglass, in front of the phone booth!"
    assert [item.typed for item in result.corrections] == ["Trun", "teh", "hourglas", "infront", "phonebooth"]
    start = result.text.index("the hourglass")
    assert result.to_original(start, start + 13) == (13, 25)
    assert text[13:25] == "teh hourglas"
    start = result.text.index("booth")  # half of a word that was split: the whole word
    assert result.to_original(start, start + 5) == (text.index("phonebooth"), len(text) - 1)


@pytest.mark.parametrize(
    "word",
    [
        "the",
        "ur",
        "90",
        "2nd",
        "strait",
        "telescope",
        "O'Neil",
        "ΩΩΩΩ",
        "glöbe",
        "donut",
        "turreted",
        "HOURGLASS",
    ],
)
def test_words_that_are_never_touched(speller: Speller, word: str) -> None:
    assert speller.correct_word(word) == word


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("teh", "the"),
        ("Hte", "The"),
        ("adn", "and"),
        ("fo", "of"),
        ("lef", "left"),
        ("stp", "stop"),
        ("tge", "the"),
        ("irght", "right"),
        ("trun", "turn"),
        # What may be a word, a name or an abbreviation stays.
        ("fro", "fro"),
        ("on", "on"),
        ("no", "no"),
        ("UFO", "UFO"),
        ("FO", "FO"),
        ("Fo", "Fo"),
        ("xyz", "xyz"),
        ("silver", "silver"),
        ("itll", "it'll"),
    ],
)
def test_short_slips_of_common_words(speller: Speller, typed: str, meant: str) -> None:
    assert speller.correct_word(typed) == meant


def test_a_short_word_of_the_database_is_no_slip() -> None:
    assert Speller(["the teh box"]).correct_word("teh") == "teh"
    assert Speller(["the fort"]).correct("to the fort he built").text == "to the fort he built"


def test_a_space_one_letter_off(speller: Speller) -> None:
    result = speller.correct("Fly tot he duck, fo rthe hourglas. Int he end past he goes")
    assert result.text == "Fly to the duck, for the hourglass. In the end past he goes"
    assert [item.typed for item in result.corrections] == ["tot he", "fo rthe", "hourglas", "Int he"]
    start = result.text.index("the duck")
    # "the" came of "tot he": the way back covers the pair whole.
    assert result.to_original(start, start + 8) == (4, 15)


def test_database_words_become_known_and_reachable() -> None:
    assert Speller().correct_word("florbox") == "florbox"
    speller = Speller(["the florbox"])
    assert speller.correct_word("florbox") == "florbox"
    assert speller.correct_word("Florbax") == "Florbox"
    assert speller.correct_word("FLORBAX") == "FLORBOX"


def test_known_words_stay(speller: Speller) -> None:
    vocabulary = load_word_weights()
    for word in list(vocabulary)[::500]:
        assert speller.correct_word(word) == word


def test_typos_of_the_corpus(speller: Speller) -> None:
    rows = [json.loads(line) for line in TYPOS.read_text(encoding="utf-8").splitlines()]
    for source, floor in (("nav-train", 0.84), ("nav-dev", 0.6), ("ewt-dev-test", 0.75)):
        pairs = [(row["typo"], row["intended"]) for row in rows if row["source"] == source]
        right = sum(speller.correct_word(typo) == intended for typo, intended in pairs)
        assert right / len(pairs) >= floor, source


@given(st.text(max_size=80))
def test_any_text_maps_back(text: str) -> None:
    small = Speller(vocabulary={"turn": 9.0, "front": 20.0, "in": 20.0, "left": 9.0})
    try:
        result = small.correct(text)
    except WaywordError:
        return  # half a character
    cursor, rebuilt = 0, ""
    for item in result.corrections:
        assert text[item.start : item.end] == item.typed
        rebuilt += text[cursor : item.start] + item.meant
        cursor = item.end
    assert rebuilt + text[cursor:] == result.text
    assert result.to_original(0, len(result.text)) == (0, len(text))


def test_damaged_word_list(tmp_path: Path) -> None:
    for content in (b"plain text", b"\x1f\x8b\x08\x00broken"):
        path = tmp_path / "words.gz"
        path.write_bytes(content)
        with pytest.raises(DataError, match="reinstall wayword"):
            load_word_weights(path)
