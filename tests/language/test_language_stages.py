"""The stages of `wayword train language` after the chunker: counts, pools, fits, the run itself and its resume."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import support.extra_torch  # noqa: F401 - what follows needs it
from wayword.errors import DataError, WaywordError
from wayword.language.alignment import NULL, Aligned
from wayword.language.bio import INSIDE, OUTSIDE, best_tags, chunks_from_tags, tags_from_chunks
from wayword.language.edit_distance import typing_cost
from wayword.language.objref import load_objref
from wayword.language.phrases_db import load_phrases
from wayword.language.reference_model import load_reference_model
from wayword.learning.common.train_config import read_options
from wayword.learning.language import train_language
from wayword.learning.language.fit_references import ReferenceFit
from wayword.learning.language.gold_references import GoldChunk, GoldText
from wayword.learning.language.grounded import Grounded
from wayword.learning.language.language_run import LanguageSettings, LanguageSources
from wayword.learning.language.language_run import train_language as train_whole_language
from wayword.learning.language.measure_references import draw_phrases, mentions, unlisted
from wayword.learning.language.phrase_lm import PhraseVocabulary, pad_words, words_of
from wayword.learning.language.phrase_pool import PhrasePool, PhrasePoolConfig, pool_phrases, without_determiner
from wayword.learning.language.score_alignment import (
    Association,
    best_null_threshold,
    score_chunks,
    target_accuracy,
)
from wayword.learning.language.train_alignment import AlignmentTraining
from wayword.learning.language.train_language import LanguageTraining, chunk_cache, train_references
from wayword.learning.language.train_objref import ObjRefTraining
from wayword.learning.language.unigram_alignment import expect, mention_rates, unigram_alignment

# Tags, words, counts ----------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-5, 5)] * 3), min_size=1, max_size=6))
def test_decoding_is_the_best_of_all_allowed_sequences(rows: list[tuple[int, int, int]]) -> None:
    scores = np.array(rows, np.float32)

    def allowed(tags: Sequence[int]) -> bool:
        return all(tag != INSIDE or before != OUTSIDE for before, tag in itertools.pairwise((OUTSIDE, *tags)))

    def value(tags: Sequence[int]) -> float:
        return float(sum(scores[row, tag] for row, tag in enumerate(tags)))

    best = max(value(tags) for tags in itertools.product(range(3), repeat=len(rows)) if allowed(tags))
    found = best_tags(scores).tolist()
    assert allowed(found)
    assert value(found) == best


@given(st.lists(st.integers(0, 2), max_size=12))
def test_tags_and_chunks_say_the_same(tags: list[int]) -> None:
    chunks = chunks_from_tags(tags)
    words = np.array([[3 * i, 3 * i + 2] for i in range(len(tags))], np.int64).reshape(-1, 2)
    again = tags_from_chunks(words, [(3 * first, 3 * end - 1) for first, end in chunks])
    assert chunks_from_tags(again) == chunks


@given(st.text("abcde", max_size=7), st.text("abcde", max_size=7))
def test_typing_cost_is_zero_for_the_same_word_only_and_respects_its_limit(typed: str, meant: str) -> None:
    cost = typing_cost(typed, meant, 100.0)
    assert (cost == 0.0) == (typed == meant)
    assert typing_cost(typed, meant, cost) == cost
    if cost:
        assert typing_cost(typed, meant, cost - 1e-6) == math.inf


def test_words_of_phrases_and_their_numbers() -> None:
    assert words_of("The fox's den, 2nd") == ["the", "fox's", "den", ",", "2nd"]
    vocabulary = PhraseVocabulary.of(["the duck", "the tub", "a duck"])
    assert vocabulary.words == ("duck", "the")  # "a" and "tub" occur once
    assert len(vocabulary) == 5  # padding, end and unknown besides
    assert vocabulary.encode("the big duck") == [4, 2, 3, 1]
    assert vocabulary.encode(" ".join(["duck"] * 40)) == [3] * 12 + [1]
    assert pad_words([[4, 1], [1]]).tolist() == [[4, 1], [1, 0]]


# Alignment --------------------------------------------------------------------------------------------------


def test_mention_rates_by_hand() -> None:
    # Three chunks might mean the duck (2 expected), three NULL (1): with two objects, (2 + 1) / (3 + 2), (1 + 1) / 5.
    groups = {("the duck", ("duck", NULL)): 2, ("it", ("duck", NULL)): 1}
    expected = {("the duck", "duck"): 1.8, ("the duck", NULL): 0.2, ("it", "duck"): 0.2, ("it", NULL): 0.8}
    assert mention_rates(expected, groups) == pytest.approx({"duck": 3 / 5, NULL: 2 / 5})


def test_expectation_by_hand() -> None:
    # p = 3 : 1 for the duck; the phrase stands there twice.
    table = {("the duck", "duck"): math.log(0.3), ("the duck", NULL): math.log(0.1)}
    expected = expect(table, {("the duck", ("duck", NULL)): 2})
    assert dict(expected) == pytest.approx({("the duck", "duck"): 1.5, ("the duck", NULL): 0.5})


def test_a_chunk_with_one_candidate_goes_there() -> None:
    expected = unigram_alignment({("the left", (NULL,)): 3})
    assert dict(expected) == pytest.approx({("the left", NULL): 3.0})


def test_word_counts_learn_who_is_called_what() -> None:
    groups = {}
    for _ in range(4):
        groups |= {("the duck", ("duck", "tub", NULL)): 6, ("the duck", ("duck", NULL)): 6}
        groups |= {("the tub", ("duck", "tub", NULL)): 6, ("the tub", ("tub", NULL)): 6}
        groups |= {("your left", (*names, NULL)): 5 for names in (("duck",), ("tub",), ("duck", "tub"))}
    expected = unigram_alignment(groups)
    for phrase, name in (("the duck", "duck"), ("the tub", "tub"), ("your left", NULL)):
        total = sum(value for (said, _), value in expected.items() if said == phrase)
        assert expected[phrase, name] / total > 0.9


def test_target_accuracy_takes_the_best_chunk_of_all() -> None:
    texts = [
        Grounded("a b", ((0, 1), (2, 3)), ("bed", "sink", NULL), target="sink"),
        Grounded("a", ((0, 1),), ("bed", NULL), target="bed"),
        Grounded("a", ((0, 1),), ("bed", NULL), target="bed"),
    ]
    scores = [
        [{"bed": 0.6, "sink": 0.1, NULL: 0.9}, {"bed": 0.1, "sink": 0.7}],  # the sink, by the second chunk
        [{"bed": 0.1, NULL: 0.9}],  # NULL is never the target
        [{NULL: 1.0}],  # nothing to choose: wrong
    ]
    assert target_accuracy(scores, texts) == pytest.approx(2 / 3)
    assert target_accuracy([], []) == 0.0


def test_baselines_get_the_null_threshold_that_suits_them_best() -> None:
    texts = [
        Grounded("the duck", ((0, 8),), ("duck", NULL), ("duck",)),
        Grounded("the left", ((0, 8),), ("duck", NULL), (NULL,)),
    ]
    values = {"the duck": 0.8, "the left": 0.3}
    threshold = best_null_threshold(lambda phrase, _: values[phrase], texts)
    assert 0.3 <= threshold < 0.8
    counts = Association(texts)
    assert counts.most_frequent("x", "duck") == 2.0
    assert counts.pmi("never heard", "duck") == 0.0
    score = score_chunks(texts, [["duck"], ["duck"]])
    assert (score.accuracy, score.accuracy_with_null) == (1.0, 0.5)


# The phrase pool --------------------------------------------------------------------------------------------


def test_pool_is_saved_and_damage_is_said(tmp_path: Path) -> None:
    pool = PhrasePool({"duck": {"the duck": 2}}, {"it": 5})
    pool.save(tmp_path / "pool" / "phrases.json")
    assert PhrasePool.load(tmp_path / "pool" / "phrases.json") == pool
    for text in ("[]", "{", '{"objects": {}}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(DataError, match="not a phrase pool"):
            PhrasePool.load(tmp_path / "bad.json")


def test_pool_thresholds_by_hand() -> None:
    # Spread evenly over four objects, a phrase has an effective number of 4: between doubt (3.2) and spread (4.5).
    everywhere = [[Aligned("the side", name, 0.9, 0.0)] for name in "abcd"]
    pool = pool_phrases(everywhere, PhrasePoolConfig())
    assert pool.objects == {}
    assert pool.null == {}
    # On both sides, a phrase goes where it was seen more often.
    rows = [[Aligned("the top", "a", 0.9, 0.1)]] * 3 + [[Aligned("the top", None, 0.9, 0.9)]] * 2
    assert pool_phrases(rows, PhrasePoolConfig()) == PhrasePool({"a": {"the top": 3}}, {})
    rows += [[Aligned("the top", None, 0.9, 0.9)]] * 2
    assert pool_phrases(rows, PhrasePoolConfig()) == PhrasePool({}, {"the top": 4})
    assert without_determiner("teh  duck") == "duck"
    assert without_determiner("theatre") == "theatre"


# Measurements -----------------------------------------------------------------------------------------------


def test_mentions_and_what_the_database_lists() -> None:
    chunks = (
        GoldChunk(0, 8, "the duck", "object", "rubber duck"),
        GoldChunk(9, 11, "it", "pronoun", "rubber duck"),
        GoldChunk(12, 20, "its bill", "part", None),
        GoldChunk(21, 34, "That old bird", "object", "rubber duck"),
    )
    said = mentions([GoldText("x", "", chunks)])
    assert said == [("the duck", "rubber duck"), ("That old bird", "rubber duck")]
    database = draw_phrases({"rubber duck": ["Duck", "old bird", "toy"]}, np.random.default_rng(0), 3)
    # "the duck" is "duck" in the list; "That old bird" is "old bird": both listed, whatever the case.
    assert unlisted(said, database).tolist() == [False, False]
    assert unlisted([("the ducky", "rubber duck")], database).tolist() == [True]
    drawn = draw_phrases({"a": list("pqrstuvw")}, np.random.default_rng(1))
    assert len(set(drawn[0].phrases)) == 5
    assert drawn == draw_phrases({"a": list("pqrstuvw")}, np.random.default_rng(1))


# The whole run ----------------------------------------------------------------------------------------------

QUICK = LanguageTraining(
    generated=2,
    alfred_steps=4,
    alignment=AlignmentTraining(rounds=1, first_steps=60, batch=64),
    pool=PhrasePoolConfig(sure=0.4),
    references=ReferenceFit(databases=4, variances=(0.05, 0.1), backgrounds=(0.001, 0.01)),
    objref=ObjRefTraining(epochs=30, folds=2, hidden=4, batch=16, dropout=0.0, learning_rate=0.05),
)


class Hashed:
    """A ``PhraseEncoder`` for tests: every word has a direction of its own, those of places share one besides."""

    dimension = 24

    def embed(self, phrases: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(phrases), self.dimension), np.float32)
        for row, phrase in enumerate(phrases):
            for word in words_of(phrase):
                if word not in ("the", "a"):
                    rows[row] += np.random.default_rng(list(word.encode())).normal(size=self.dimension)
                    rows[row, 0] += 9.0 if word in ("left", "right", "side", "way", "end", "gap", "front") else -9.0
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6).astype(np.float32)


@pytest.fixture
def few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred natural episodes are enough for a test, and words for vectors."""
    natural = train_language.load_natural("train")[:100]
    monkeypatch.setattr(train_language, "load_natural", lambda split: natural)
    monkeypatch.setattr(train_language, "MiniLM", lambda: None)
    monkeypatch.setattr(train_language, "CachedPhrases", lambda _: Hashed())


class Nouns:
    """Chunks for tests: "the" and the word after it, "your" and the word after it."""

    def chunk(self, text: str) -> list[object]:
        from wayword.language.chunker import Chunk

        found, at, words = [], 0, text.split(" ")
        for number, word in enumerate(words):
            if word.lower() in ("the", "your") and number + 1 < len(words):
                end = at + len(word) + 1 + len(words[number + 1].rstrip(".,!"))
                found.append(Chunk(at, end, text[at:end]))
            at += len(word) + 1
        return [chunk for chunk in found if chunk.end - chunk.start > 4]


def test_a_run_leaves_its_stages_and_resumes(tmp_path: Path, few_texts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_language, "load_chunker", lambda weights: Nouns())
    told: list[str] = []
    trained = train_references(QUICK, tmp_path, None, None, lambda stage, done, total: told.append(stage))
    assert {"chunking", "alignment", "P(o | r)", "ObjRef"} <= set(told)
    assert trained.navigation > 60
    assert trained.pool_phrases > 10
    assert load_objref(tmp_path / "objref").config.width == Hashed.dimension
    assert load_reference_model(tmp_path / "references").config.variance == trained.variance
    settings_of_run = json.loads((tmp_path / "alignment" / "training.json").read_text())
    assert settings_of_run["generated"] == 2
    assert settings_of_run["alfred"] is False
    assert not list(tmp_path.rglob("*.tmp"))
    # The same command again: no alignment is trained, nothing is chunked, the result is the same.
    told.clear()
    with monkeypatch.context() as patch:
        patch.setattr(train_language, "train_alignment", lambda *_: pytest.fail("trained again"))
        patch.setattr(Nouns, "chunk", lambda *_: pytest.fail("chunked again"))
        again = train_references(QUICK, tmp_path, None, None, lambda stage, done, total: told.append(stage))
    assert again == trained
    assert "alignment" not in told
    # With other settings the alignment is trained anew, and what was there does not count as done meanwhile.
    with monkeypatch.context() as patch:
        patch.setattr(train_language, "train_alignment", stopped)
        with pytest.raises(KeyboardInterrupt):
            train_references(replace(QUICK, generated=3), tmp_path, None, None)
    assert not (tmp_path / "alignment" / "training.json").exists()


def stopped(*_: object) -> None:
    raise KeyboardInterrupt


def test_held_out_instructions_are_not_learned_from(
    tmp_path: Path, few_texts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_language, "load_chunker", lambda weights: Nouns())
    chunk = chunk_cache(tmp_path)
    everything = train_language.navigation_texts(QUICK, chunk)
    held = everything[0].text
    kept = train_language.navigation_texts(replace(QUICK, held_out=(held,)), chunk)
    assert held not in {text.text for text in kept}
    assert len(kept) < len(everything)
    seen = {entry.name for entry in load_phrases("seen")}
    assert all(set(text.candidates) <= {*seen, NULL} for text in everything)


def test_a_missing_chunker_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="train it first"):
        chunk_cache(tmp_path, tmp_path / "nowhere")


def test_too_small_a_pool_is_refused() -> None:
    from wayword.learning.language.fit_references import fit_references

    database = {entry.name: entry for entry in load_phrases("seen")}
    with pytest.raises(WaywordError, match="knows 1 objects; at least 9"):
        fit_references(PhrasePool({"anvil": {"anvil": 1}}, {}), database, Hashed(), ReferenceFit())


def test_a_whole_run_says_how_it_was_made(tmp_path: Path, few_texts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_language, "load_chunker", lambda weights: Nouns())
    config = LanguageSettings(None, QUICK).with_seed(7)
    for name in ("first", "second"):
        lines, made = train_whole_language(config, LanguageSources(), tmp_path / name)
        assert lines["pool_phrases"] > 10  # type: ignore[operator]
        assert (made.seed, made.repeatable) == (7, True)
    for name in ("objref/model.safetensors", "references/config.json"):
        assert len({(tmp_path / run / name).read_bytes() for run in ("first", "second")}) == 1
    for part in ("", "objref", "references"):
        assert read_options(tmp_path / "first" / part / "train_config.json", "language", LanguageSettings) == config
    other = replace(config, rest=replace(config.rest, generated=3))
    with pytest.raises(WaywordError, match=r"other settings \(rest.generated 2, now 3\)"):
        train_whole_language(other, LanguageSources(), tmp_path / "first")
