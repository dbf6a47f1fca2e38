"""Text in pictures: it fits, and nothing of it is lost before it must be."""

from __future__ import annotations

import pytest

from wayword.pictures.flight_card import CardLayout
from wayword.pictures.lettering import cut_text, fit_text, line_height, line_size, plain_text, text_font, wrap_text


def test_plain_text() -> None:
    assert plain_text("Café — the\n “déjà vu” straße 中") == "Cafe - the “deja vu” strasse ?"


@pytest.mark.parametrize("length", [1, 40, 120, 400])
def test_instructions_fit(length: int) -> None:
    caption = CardLayout().caption
    text = ("Go past the telescope, then curl around the rubber duck until you face it. " * 6)[:length]
    lines, size = fit_text(text, caption.width - 40, caption.height - 32, 30)
    assert " ".join(lines) == " ".join(text.split())
    assert len(lines) * line_height(size) <= caption.height - 32
    assert max(text_font(size).getlength(line) for line in lines) <= caption.width - 40
    assert size >= (17 if length == 400 else 24)


def test_words_that_are_too_long_are_broken_and_endless_text_is_cut() -> None:
    assert "".join(wrap_text("x" * 300, 200, text_font(20))) == "x" * 300
    lines, size = fit_text("word " * 500, 300, 100, 30)
    assert lines[-1].endswith("...")
    assert len(lines) * line_height(size) <= 100


def test_text_is_cut_with_dots() -> None:
    assert cut_text("short", 90, 15) == "short"
    for text in ("a very long name of something", "i" * 5000):
        cut = cut_text(text, 90, 15)
        assert cut.endswith("...")
        assert text_font(15).getlength(cut) <= 90


def test_a_line_is_as_large_as_it_fits() -> None:
    size = line_size("stack of plates", 90, 30)
    assert text_font(size).getlength("stack of plates") <= 90 < text_font(size + 1).getlength("stack of plates")
    assert line_size("x", 90, 30) == 30
    assert line_size("x" * 300, 90, 30) == 11
