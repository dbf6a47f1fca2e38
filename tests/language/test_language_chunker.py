"""The chunker: hand-worked BIO decoding, exact offsets on any text, and the shipped weights' quality."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.errors import DataError, WaywordError
from wayword.language import BioChunker, MiniLM, MiniLMConfig, load_chunker
from wayword.language.bio import best_tags, chunks_from_tags, tags_from_chunks
from wayword.language.chunker import WEIGHTS, BioHead, HeadConfig, head_shapes
from wayword.learning.language.chunk_data import read_chunks
from wayword.learning.language.gold_references import GOLD_FOLDER
from wayword.learning.language.score_chunks import score_chunker

GOLD = GOLD_FOLDER / "nav_chunks.jsonl"


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="module")
def chunker(minilm: MiniLM) -> BioChunker:
    return load_chunker(minilm)


def texts(chunker: BioChunker, text: str) -> list[str]:
    return [chunk.text for chunk in chunker.chunk(text)]


def test_tags_and_back() -> None:
    # "go" "past" "the" "red" "box" "the" "cone": two chunks that touch need a second B.
    words = np.array([[0, 2], [3, 7], [8, 11], [12, 15], [16, 19], [20, 23], [24, 28]])
    tags = tags_from_chunks(words, [(8, 19), (20, 28)])
    assert tags.tolist() == [0, 0, 1, 2, 2, 1, 2]
    assert chunks_from_tags(tags) == [(2, 5), (5, 7)]
    # A chunk that covers part of a word takes the whole word; one between words takes none.
    assert tags_from_chunks(words, [(9, 10), (15, 16)]).tolist() == [0, 0, 1, 0, 0, 0, 0]
    assert chunks_from_tags([2, 2, 0, 2]) == [(0, 2), (3, 4)]
    assert chunks_from_tags([]) == []


def test_decoding_forbids_inside_after_outside() -> None:
    # Greedy reading is O I I. Allowed: O B I = 2 + 1 + 3 = 6; B I I = 1 + 2 + 3 = 6.5 with the extra half.
    scores = np.array([[2.0, 1.5, 9.0], [0.0, 1.0, 2.0], [0.0, 0.0, 3.0]], np.float32)
    assert best_tags(scores).tolist() == [1, 2, 2]
    scores[0] = [2.0, 0.5, 9.0]  # now O B I = 6 beats B I I = 5.5
    assert best_tags(scores).tolist() == [0, 1, 2]
    assert best_tags(np.zeros((0, 3), np.float32)).tolist() == []


def test_run_on_sentence_of_the_paper_example(chunker: BioChunker) -> None:
    text = "before reaching the planter turn left towards the globe go round it and stop"
    assert texts(chunker, text) == ["the planter", "the globe", "it"]


def test_rough_spelling_and_missing_articles(chunker: BioChunker) -> None:
    assert texts(chunker, "TURN LEFT AT THE RED BARREL") == ["THE RED BARREL"]
    assert texts(chunker, "pass umbrella on ur left n stop befor anvil") == ["umbrella", "ur left", "anvil"]
    assert texts(chunker, "hug teh roket, its on your right") == ["teh roket", "its", "your right"]


def test_gold_navigation_sentences(chunker: BioChunker) -> None:
    gold = read_chunks(GOLD)
    assert len(gold) >= 160
    assert score_chunker(chunker, gold).f1 > 0.97


def test_spans_equal_text_on_long_and_odd_input(chunker: BioChunker) -> None:
    for text in ["", "   ", "🎈🎈 ❤️", "\x00\x01\x02", "иди к красному дому", "去红色的房子", "x" * 10_000, "!?" * 99]:
        for chunk in chunker.chunk(text):
            assert chunk.text == text[chunk.start : chunk.end]
    long = "Fly past the tall lighthouse on your left and stop by the barrel. " * 150  # 9,900 characters
    chunks = chunker.chunk(long)
    assert len(chunks) >= 445  # 3 a sentence, give or take a window's edge
    assert all(chunk.text == long[chunk.start : chunk.end] for chunk in chunks)


@settings(max_examples=40, deadline=None)
@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["the", "red", "box", "left", ",", "it", "go", "é", "🎈"])).map(" ".join)
)
def test_chunks_are_exact_sorted_and_disjoint(chunker: BioChunker, text: str) -> None:
    try:
        chunks = chunker.chunk(text)
    except WaywordError:
        return  # half a character
    edges = [edge for chunk in chunks for edge in (chunk.start, chunk.end)]
    assert edges == sorted(edges)
    for chunk in chunks:
        assert chunk.start < chunk.end
        assert chunk.text == text[chunk.start : chunk.end]


def test_bad_text_and_wrong_encoder(chunker: BioChunker, minilm: MiniLM) -> None:
    with pytest.raises(WaywordError, match="must be a string"):
        chunker.chunk(None)  # type: ignore[arg-type]
    with pytest.raises(WaywordError, match="at most 20000"):
        chunker.chunk("a " * 15_000)
    with pytest.raises(WaywordError, match="reads encoder layers"):
        load_chunker(MiniLM(MiniLMConfig(layers=(6,))))


def test_damaged_weights_give_one_clear_line(tmp_path: Path, minilm: MiniLM) -> None:
    folder = tmp_path / "chunker"
    with pytest.raises(DataError, match="missing or damaged"):
        load_chunker(minilm, folder)
    shutil.copytree(WEIGHTS, folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(DataError, match="missing or damaged"):
        load_chunker(minilm, folder)
    shutil.copy(WEIGHTS / "model.safetensors", folder)
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**values, "hidden": 128}))
    with pytest.raises(DataError, match="do not fit") as caught:
        load_chunker(minilm, folder)
    assert "\n" not in str(caught.value)


def test_head_refuses_weights_that_are_not_finite() -> None:
    config = HeadConfig(width=8, hidden=4)
    weights = {name: np.zeros(shape, np.float32) for name, shape in head_shapes(config).items()}
    assert BioHead(config, weights).scores(np.ones((3, 8), np.float32)).tolist() == [[0, 0, 0]] * 3
    weights["input.bias"][0] = np.nan
    with pytest.raises(WaywordError, match="not finite"):
        BioHead(config, weights)
