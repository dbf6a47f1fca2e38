"""What MiniLM makes of every word of an anonymised instruction."""

from __future__ import annotations

import numpy as np

from wayword.language.minilm import MiniLM, MiniLMConfig
from wayword.policy.word_states import LAYER, WordStates


def test_a_row_for_every_word_as_the_encoder_has_it() -> None:
    states = WordStates().of(["past", "<obj>", "then", "stop"])
    assert states.shape == (4, 384)
    (plain,) = MiniLM(MiniLMConfig(layers=(LAYER,))).tokens(["past thing then stop"])
    np.testing.assert_allclose(states, plain.features, atol=2e-3)  # kept with half the digits


def test_a_word_of_several_pieces_is_their_mean() -> None:
    said = ["go", "counterclockwisely", "now"]
    (plain,) = MiniLM(MiniLMConfig(layers=(LAYER,))).tokens([" ".join(said)])
    assert len(plain.features) > 3
    states = WordStates().of(said)
    np.testing.assert_allclose(states[1], plain.features[1:-1].mean(axis=0), atol=2e-3)
    np.testing.assert_allclose(states[2], plain.features[-1], atol=2e-3)


def test_a_word_stands_in_its_context() -> None:
    reader = WordStates()
    one, other = reader.of(["turn", "left"]), reader.of(["you", "left"])
    assert np.abs(one[1] - other[1]).max() > 0.1


def test_an_empty_instruction_and_odd_words_have_rows() -> None:
    assert WordStates().of([]).shape == (1, 384)
    odd = WordStates().of(["", "go", "\u00a0", "\U0001f600"])
    assert odd.shape == (4, 384)
    assert np.isfinite(odd).all()


def test_texts_are_read_once_and_the_oldest_is_forgotten() -> None:
    class Counting(MiniLM):
        calls = 0

        def tokens(self, texts):  # type: ignore[no-untyped-def]
            self.calls += 1
            return super().tokens(texts)

    encoder = Counting(MiniLMConfig(layers=(LAYER,)))
    reader = WordStates(encoder, size=2)
    first = reader.of(["go"])
    np.testing.assert_array_equal(reader.of(["go"]), first)
    assert encoder.calls == 1
    for word in ("past", "go", "left", "go"):  # "past" is the oldest when "left" comes
        reader.of([word])
    assert encoder.calls == 3
    reader.of(["past"])
    assert encoder.calls == 4
