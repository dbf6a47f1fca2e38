"""The words of a thought: an instruction with its references in colour, and their probabilities as bars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw

from wayword.language.phrases_db import load_phrases
from wayword.language.pipeline import LanguageModel, Parsed
from wayword.pictures.colours import MUTED_TEXT, PALETTE, UNKNOWN_OBJECT, reference_colours
from wayword.pictures.flight_card import Rectangle
from wayword.pictures.lettering import plain_text, text_font
from wayword.pictures.thought_words import distinct_references, draw_bars, draw_instruction, split_words, wrap_words

INSTRUCTION = (
    "Go past the globe, then past the unicorn; circle the globe and stop with it on your left, by the fire truck."
)


@pytest.fixture(scope="module")
def read() -> Callable[[str], Parsed]:
    language, phrases = LanguageModel.load(), load_phrases("test")
    return lambda text: language.parse(text, phrases)


@pytest.fixture(scope="module")
def parsed(read: Callable[[str], Parsed]) -> Parsed:
    return read(INSTRUCTION)


def test_one_colour_for_one_object_and_grey_for_none(parsed: Parsed) -> None:
    said = [reference.text.lower() for reference in parsed.references]
    assert said == ["the globe", "the unicorn", "the globe", "it", "the fire truck"]
    assert reference_colours(parsed.references) == [PALETTE[0], UNKNOWN_OBJECT, PALETTE[0], PALETTE[0], PALETTE[1]]
    assert distinct_references(parsed.references) == [0, 1, 4]
    assert distinct_references([parsed.references[4], replace(parsed.references[4], text="fire truck")]) == [0]


def test_words_are_those_that_were_typed(parsed: Parsed) -> None:
    words = split_words(parsed)
    assert ["".join(piece.text for piece in word) for word in words] == INSTRUCTION.split()
    # "globe," is cut where the reference ends.
    assert [(piece.text, piece.reference) for piece in words[3]] == [("globe", 0), (",", None)]
    coloured = [piece.text for word in words for piece in word if piece.reference is not None]
    assert coloured == ["the", "globe", "the", "unicorn", "the", "globe", "it", "the", "fire", "truck"]


def test_noun_chunks_that_are_no_references(read: Callable[[str], Parsed]) -> None:
    words = split_words(read("fly to the left side, then stop at the globe"))
    pieces = [piece for word in words for piece in word]
    chunks = [piece.text for piece in pieces if piece.in_chunk and piece.reference is None]
    assert chunks == ["the", "left", "side"]
    assert [piece.text for piece in pieces if piece.reference is not None] == ["the", "globe"]


def test_lines_fit_and_lose_no_word(parsed: Parsed) -> None:
    words = split_words(parsed)
    lines = wrap_words(words, 300, 20)
    assert [word for line in lines for word in line] == words
    for line in lines:
        text = " ".join("".join(piece.text for piece in word) for word in line)
        assert text_font(20).getlength(text) <= 305
    assert len(lines) > 2


@pytest.mark.parametrize("text", [INSTRUCTION, "go to the globe " * 120, "x" * 9000, "", "🚁 à la globe 停"])
def test_any_instruction_stays_in_its_box(text: str, read: Callable[[str], Parsed]) -> None:
    page = Image.new("RGB", (1000, 200))
    draw_instruction(ImageDraw.Draw(page), Rectangle(100, 60, 800, 80), read(text))
    rows, columns = np.nonzero(np.asarray(page).any(axis=2))
    if plain_text(text):
        assert 58 <= rows.min() <= rows.max() <= 142
        assert 98 <= columns.min() <= columns.max() <= 902
    else:
        assert not len(rows)


def test_bars_are_as_long_as_their_probabilities(parsed: Parsed) -> None:
    page = Image.new("RGB", (700, 200))
    cells = draw_bars(ImageDraw.Draw(page), Rectangle(20, 20, 640, 120), parsed.references)
    assert [number for number, _ in cells] == [0, 1, 4]
    number, cell = cells[0]
    reference = parsed.references[number]
    pixels = np.asarray(page)[cell.top + 26 : cell.top + cell.height, cell.left + 100 : cell.left + cell.width]
    longest = (pixels == PALETTE[0]).all(axis=2).sum(axis=1).max()
    room = cell.width - min(round(cell.width * 0.53), 118) - 36
    assert longest == pytest.approx(room * max(reference.probabilities.values()), abs=3)
    for _, box in cells:
        assert 20 <= box.left <= box.left + box.width <= 660


def test_bars_of_none_and_of_many(read: Callable[[str], Parsed]) -> None:
    page = Image.new("RGB", (700, 200))
    assert draw_bars(ImageDraw.Draw(page), Rectangle(20, 20, 640, 120), ()) == []
    assert (np.asarray(page) == MUTED_TEXT).all(axis=2).any()  # it says so
    names = ("globe", "planter", "fire truck", "red brick", "plates", "strawberry", "melon", "yellow brick")
    many = read("go past " + " and ".join(f"the {name}" for name in names))
    assert len(draw_bars(ImageDraw.Draw(page), Rectangle(20, 20, 640, 120), many.references)) == 6
