"""The shipped encoder: close to the float32 original, exact offsets, one clear error for bad input."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from wayword.errors import DataError, WaywordError
from wayword.language import CachedPhrases, MiniLM, MiniLMConfig, PhraseConfig
from wayword.language.encoder import MAX_CHARACTERS
from wayword.language.minilm import DATA, _windows

# Computed with torch from the published float32 weights, independently of the conversion.
REFERENCE = Path(__file__).parents[1] / "data" / "minilm_reference.safetensors"
PHRASES = [
    "a photo of a red mushroom",
    "a photo of a globe",
    "the stack of plates",
    "go past the planter on its left then stop in front of the globe",
    "a photo of a barell",
]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_vectors_equal_the_float32_reference(minilm: MiniLM) -> None:
    vectors = minilm.embed(PHRASES)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    cosines = (vectors * load_file(REFERENCE)["vectors"]).sum(axis=1)
    assert cosines.min() > 0.999


def test_a_phrase_does_not_depend_on_its_batch(minilm: MiniLM) -> None:
    together = minilm.embed(PHRASES)
    np.testing.assert_allclose(together[0], minilm.embed(PHRASES[:1])[0], atol=2e-5)


def test_tokens_stand_where_their_text_is(minilm: MiniLM) -> None:
    text = "Über the  globe’s 🎈 left\x00side"
    tokens = minilm.tokens([text])[0]
    pieces = [text[start:end] for start, end in tokens.offsets]
    # NUL is dropped by the tokenizer, so "leftside" is one word of two pieces.
    assert pieces == ["Über", "the", "globe", "’", "s", "🎈", "left", "side"]
    assert tokens.words.tolist() == [0, 1, 2, 3, 4, 5, 6, 6]
    assert tokens.features.shape == (8, 3 * 384)


def test_no_tokens_for_empty_text(minilm: MiniLM) -> None:
    for tokens in minilm.tokens(["", " \t\n", "\x00"]):
        assert tokens.features.shape == (0, 1152)
        assert tokens.offsets.shape == (0, 2)


def test_windows_cover_each_piece_once_with_context() -> None:
    # 300 pieces, windows of 80 with a margin of 10: keep 70, then 60 of each following window.
    assert list(_windows(300, 80)) == [(0, 0, 70), (60, 70, 130), (120, 130, 190), (180, 190, 250), (240, 250, 300)]
    assert list(_windows(80, 80)) == [(0, 0, 80)]
    assert list(_windows(0, 80)) == []


def test_long_text_is_encoded_in_windows(minilm: MiniLM) -> None:
    text = "go past the red barrel " * 100
    tokens = minilm.tokens([text])[0]
    assert len(tokens.features) == 500
    # The same word in the same company, in two windows: nearly the same features.
    one, other = tokens.features[53], tokens.features[303]
    assert one @ other / np.linalg.norm(one) / np.linalg.norm(other) > 0.8


def test_cache_prompt_and_determiner() -> None:
    class Counting:
        dimension = 2
        seen: list[str] = []  # noqa: RUF012

        def embed(self, phrases: Sequence[str]) -> NDArray[np.float32]:
            self.seen += phrases
            return np.array([[len(phrase), 1.0] for phrase in phrases], np.float32)

    inner = Counting()
    phrases = CachedPhrases(inner, PhraseConfig(cache_size=2))
    first = phrases.embed(["the Globe", "a  globe", "your left"])
    assert inner.seen == ["a photo of a globe", "a photo of a left"]
    np.testing.assert_array_equal(first[0], first[1])
    phrases.embed(["globe", "boat", "globe"])  # only the new one; "left" falls out of the cache of two
    assert inner.seen[2:] == ["a photo of a boat"]
    phrases.embed(["left"])
    assert inner.seen[3:] == ["a photo of a left"]
    assert phrases.present("the") == "a photo of a the"
    bare = CachedPhrases(inner, PhraseConfig(prompt="{}", strip_determiner=False))
    assert bare.present(" the  Globe ") == "the globe"
    assert phrases.embed([]).shape == (0, 2)


def test_bad_input_gives_one_clear_line(minilm: MiniLM) -> None:
    phrases = CachedPhrases(minilm)
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: phrases.embed(["  "]), "empty"),
        (lambda: phrases.embed("globe"), "a list of phrases"),
        (lambda: phrases.embed([3]), "must be a string"),  # type: ignore[list-item]
        (lambda: phrases.embed(["a\ud800b"]), "U\\+D800"),
        (lambda: minilm.tokens(["x" * (MAX_CHARACTERS + 1)]), "at most 20000"),
        (lambda: CachedPhrases(minilm, PhraseConfig(prompt="a photo")), "must hold '{}' once"),
        (lambda: MiniLM(MiniLMConfig(layers=(7,))), "layers must be"),
        (lambda: MiniLM(MiniLMConfig(window=1000)), "window"),
    ]
    for call, message in cases:
        with pytest.raises(WaywordError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_damaged_files_give_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="missing; reinstall"):
        MiniLM(weights=tmp_path)
    (tmp_path / "minilm.onnx").write_bytes(b"not a model")
    with pytest.raises(DataError, match="damaged; reinstall"):
        MiniLM(weights=tmp_path)
    shutil.copy(DATA / "minilm.onnx", tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match="tokenizer"):
        MiniLM(weights=tmp_path)
