"""Readings of training instructions: their databases, their tables, and the file they are kept in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.episodes import Example
from wayword.errors import DataError
from wayword.language.anonymise import anonymise
from wayword.language.pipeline import Parsed, ParsedChunk
from wayword.learning.policy.readings import (
    ReadingConfig,
    ReadingPair,
    ReadInstruction,
    draw_database,
    load_readings,
    phrase_pool,
    reading_of,
    write_readings,
)
from wayword.sim.models.catalogue import names

SEEN = sorted(names("seen"))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def parsed(text: str, *phrases: tuple[str, dict[str, float], float]) -> Parsed:
    """A text whose references are read as told."""
    chunks, cursor = [], 0
    for phrase, probabilities, none in phrases:
        start = text.index(phrase, cursor)
        cursor = start + len(phrase)
        chunks.append(ParsedChunk(start, cursor, phrase, (start, cursor), 0.9, True, None, probabilities, none))
    anonymised = anonymise(text, [(chunk.start, chunk.end) for chunk in chunks])
    return Parsed(text, text, (), tuple(chunks), anonymised)


def test_a_reading_is_the_table_of_its_references_in_the_order_of_the_database() -> None:
    understood = parsed(
        "pass the ball and the duck",
        ("the ball", {"duck": 0.1, "globe": 0.7}, 0.2),
        ("the duck", {"duck": 0.9999999, "globe": 0.0}, 0.0000001),
    )
    reading = reading_of(understood, ["globe", "duck"])
    assert reading.names == ("globe", "duck")
    assert reading.table == ((0.7, 0.1, 0.2), (0.0, 1.0, 0.0))  # five decimals are kept
    assert len([token for token in reading.tokens if token.startswith("OBJ") or "obj" in token.lower()]) == 2
    np.testing.assert_allclose(reading.probabilities(), [[0.7, 0.1, 0.2], [0, 1, 0]], atol=1e-6)
    assert reading.probabilities().dtype == np.float32


def test_an_instruction_without_references_has_an_empty_table() -> None:
    reading = reading_of(parsed("turn left and stop"), ["globe", "duck"])
    assert reading.table == ()
    assert reading.probabilities().shape == (0, 3)


def test_every_seen_object_has_phrases_and_none_twice() -> None:
    pool = phrase_pool(SEEN)
    assert list(pool) == SEEN
    for name, phrases in pool.items():
        assert len(phrases) >= 5, name
        assert len(phrases) == len(set(phrases)), name


def test_a_database_has_the_layout_and_some_others(train_example: Example) -> None:
    pool = phrase_pool(SEEN)
    present = {item.name for item in train_example.objects}
    sizes = set()
    for seed in range(40):
        entries = draw_database(train_example, SEEN, pool, ReadingConfig(), rng(seed))
        drawn = [entry.name for entry in entries]
        assert present <= set(drawn)
        assert len(drawn) == len(set(drawn))
        assert all(len(entry.phrases) == 5 for entry in entries)
        assert all(set(entry.phrases) <= set(pool[entry.name]) for entry in entries)
        sizes.add(len(drawn) - len(present))
    assert sizes == {0, 1, 2, 3, 4}  # all numbers of others between the bounds occur


def test_the_order_of_a_database_does_not_betray_the_layout(train_example: Example) -> None:
    pool = phrase_pool(SEEN)
    config = ReadingConfig(least_others=4)
    present = {item.name for item in train_example.objects}
    firsts = [draw_database(train_example, SEEN, pool, config, rng(seed))[0].name in present for seed in range(120)]
    expected = len(present) / (len(present) + 4)
    assert abs(np.mean(firsts) - expected) < 0.15


def test_the_same_seed_draws_the_same_database(train_example: Example) -> None:
    pool = phrase_pool(SEEN)
    one, other = (draw_database(train_example, SEEN, pool, ReadingConfig(), rng(3)) for _ in range(2))
    assert one == other


@pytest.fixture(scope="module")
def train_example() -> Example:
    from wayword.episodes import examples, load_natural

    return examples(load_natural("train")[0], 2)[0]


words = st.lists(st.text("abcdef", min_size=1, max_size=5), max_size=6)


@st.composite
def readings(draw: st.DrawFn) -> ReadInstruction:
    objects = draw(st.lists(st.sampled_from(SEEN), min_size=1, max_size=4, unique=True))
    row = st.tuples(*[st.floats(0, 1).map(lambda p: round(p, 5))] * (len(objects) + 1))
    return ReadInstruction(tuple(draw(words)), tuple(objects), tuple(draw(st.lists(row, max_size=3))))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(readings(), st.none() | readings()), max_size=4))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[ReadInstruction, ReadInstruction | None]]
) -> None:
    path = tmp_path_factory.mktemp("readings") / "readings.jsonl"
    written = [ReadingPair(whole, prefix) for whole, prefix in pairs]
    write_readings(path, written)
    assert load_readings(path) == written


@pytest.mark.parametrize("content", ["not json", '{"whole": 1}', json.dumps({"whole": {"tokens": []}}), "[]"])
def test_damaged_files_are_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "readings.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match="is not a file of readings; make it anew"):
        load_readings(path)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make it anew"):
        load_readings(tmp_path / "missing.jsonl")
