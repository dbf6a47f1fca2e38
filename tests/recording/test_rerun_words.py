"""The words of a recording: the instruction as it was understood, and the table of boxes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.grounding.grounder import Grounding
from wayword.language.anonymise import anonymise
from wayword.language.pipeline import Parsed, ParsedChunk
from wayword.pictures.thought_words import NONE_OF_THESE
from wayword.recording.rerun_words import boxes_page, escape_markdown, instruction_page, likeliest_object

TEXT = "pass the red ball, then stop at the duck"


def parsed() -> Parsed:
    def chunk(phrase: str, is_reference: bool, probabilities: dict[str, float], none: float) -> ParsedChunk:
        start = TEXT.index(phrase)
        end = start + len(phrase)
        return ParsedChunk(start, end, phrase, (start, end), 0.9, is_reference, None, probabilities, none)

    chunks = (
        chunk("the red ball", True, {"globe": 0.7, "duck": 0.1}, 0.2),
        chunk("the duck", True, {"globe": 0.05, "duck": 0.15}, 0.8),
    )
    return Parsed(TEXT, TEXT, (), chunks, anonymise(TEXT, [(c.start, c.end) for c in chunks]))


def grounding(p_box: list[float], of_box: list[list[float]], alignment: list[list[float]]) -> Grounding:
    count = len(p_box)
    blank = np.zeros((count, 2, 2), np.float32)
    return Grounding(
        np.zeros((count, 4), np.float32), np.array(p_box), np.array(of_box).reshape(count, 3), np.zeros((0, 0)),
        np.array(alignment).reshape(len(alignment), count), blank, blank, np.zeros((2, 2), np.float32), blank,
    )  # fmt: skip


def rows(page: str) -> list[list[str]]:
    """The cells of a Markdown table, without its head."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def test_references_are_marked_with_their_numbers() -> None:
    page = instruction_page("flight 1", TEXT, parsed(), "stopped")
    assert page.startswith("### pass `r0 the red ball`, then stop at `r1 the duck`\n")
    assert "flight 1: **stopped**" in page


def test_the_table_says_what_each_reference_means_the_likeliest_first() -> None:
    first, second = rows(instruction_page("t", TEXT, parsed(), "o"))
    assert first[:3] == ["r0", "**the red ball**", "globe"]
    assert first[3] == f"globe 0.70, {escape_markdown(NONE_OF_THESE)} 0.20, duck 0.10"
    assert second[2] == escape_markdown(NONE_OF_THESE)  # 0.8 for none of them


def test_an_instruction_that_nobody_read_is_only_said() -> None:
    page = instruction_page("t", "turn *left*", None, "time is up")
    assert page == "### turn \\*left\\*\n\nt\n\n**time is up**\n"


def test_an_instruction_without_references_says_so() -> None:
    nothing = Parsed("turn left", "turn left", (), (), anonymise("turn left", []))
    assert "It refers to no object." in instruction_page("t", "turn left", nothing, "o")


def test_boxes_are_listed_the_surest_first() -> None:
    seen = grounding([0.3, 0.9], [[0.1, 0.8, 0.1], [0.2, 0.2, 0.6]], [[0.5, 0.25], [0.0, 1.0]])
    first, second = rows(boxes_page(seen, ("globe", "duck")))
    assert first == ["1", "0.90", escape_markdown(NONE_OF_THESE), "0.60", "0.25", "1.00"]
    assert second == ["0", "0.30", "duck", "0.80", "0.50", "0.00"]


def test_without_boxes_there_is_a_sentence() -> None:
    assert boxes_page(grounding([], [], []), ("globe",)) == "No box in view.\n"


def test_the_likeliest_object_of_a_box() -> None:
    seen = grounding([0.9, 0.9], [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]], [])
    assert likeliest_object(seen, 0, ("globe", "duck")) == ("globe", 0.6)
    assert likeliest_object(seen, 1, ("globe", "duck")) == (NONE_OF_THESE, 0.7)


@pytest.mark.parametrize("sign", list("\\`*_{}[]()<>#+-.!|~&$"))
def test_every_sign_of_markdown_is_escaped(sign: str) -> None:
    assert escape_markdown(f"a{sign}b") == f"a\\{sign}b"


@given(st.text(max_size=40))
def test_whatever_people_write_stays_on_one_line(text: str) -> None:
    escaped = escape_markdown(text)
    assert "\n" not in escaped
    assert escaped == escaped.strip()
    assert all(character.isprintable() for character in escaped)
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_|<>#]", escaped)
