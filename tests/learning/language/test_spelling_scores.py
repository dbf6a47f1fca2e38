"""Scores of the spelling step and of alignments, on a handful of words."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from wayword.errors import DataError
from wayword.language.alignment import NULL
from wayword.language.spelling import Speller
from wayword.learning.language.grounded import Grounded
from wayword.learning.language.matches import Matches
from wayword.learning.language.score_alignment import AlignmentScore, score_chunks
from wayword.learning.language.score_spelling import TypoScore, clean_words, read_typos, score_typos, spoilt_words


@pytest.fixture(scope="module")
def speller() -> Speller:
    return Speller()


def test_typos_are_right_wrong_or_left(speller: Speller) -> None:
    pairs = [("mushrom", "mushroom"), ("barell", "barrel"), ("zqxv", "globe")]
    score, missed = score_typos(speller, pairs)
    assert (score.right, score.total) == (2, 3)
    assert [typo for typo, _, _ in missed] == ["zqxv"]
    assert score.wrong + score.left == 1


def test_a_score_says_itself() -> None:
    score = TypoScore(right=7, wrong=1, total=10)
    assert score.left == 2
    assert str(score) == "7 of 10 right (70.0 %), 1 wrong, 2 left as typed"
    assert "0 of 0 right" in str(TypoScore(0, 0, 0))


def test_words_that_are_right_are_not_spoilt(speller: Speller) -> None:
    assert spoilt_words(speller, Counter({"left": 5, "globe": 1, "between": 2})) == {}


def test_typos_are_read_by_source(tmp_path: Path) -> None:
    path = tmp_path / "typos.jsonl"
    rows = [
        {"typo": "teh", "intended": "the", "source": "dev"},
        {"typo": "lfet", "intended": "left", "source": "train"},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert read_typos(path) == {"dev": [("teh", "the")], "train": [("lfet", "left")]}
    path.write_text(json.dumps(rows[0]) + '\n{"typo": "x"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="2"):
        read_typos(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_typos(tmp_path / "missing.jsonl")


def test_clean_words_are_those_that_are_not_marked(tmp_path: Path) -> None:
    path = tmp_path / "text.conllu.gz"
    lines = [
        "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_",
        "2\tgloeb\t_\tNOUN\t_\tTypo=Yes\t0\troot\t_\t_",
        "3\tGlobe\t_\tNOUN\t_\t_\t2\tx\t_\t_",
        "4\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_",
        "too\tfew",
    ]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert clean_words(path) == Counter({"the": 2})


def grounded(*gold: str) -> Grounded:
    return Grounded("a b c", tuple((k, k + 1) for k in range(0, 2 * len(gold), 2)), ("duck", "globe", NULL), gold)


def test_alignments_are_scored_with_and_without_null() -> None:
    texts = [grounded("duck", NULL), grounded("globe", "duck")]
    score = score_chunks(texts, [["duck", "duck"], ["duck", "duck"]])
    # Of three chunks that mean an object two are right; the one that means none is wrong.
    assert score == AlignmentScore(2, 3, 0, 1)
    assert score.accuracy == pytest.approx(2 / 3)
    assert score.accuracy_with_null == pytest.approx(2 / 4)
    assert AlignmentScore(0, 0, 0, 0).accuracy == AlignmentScore(0, 0, 0, 0).accuracy_with_null == 0.0


def test_an_answer_for_every_chunk_is_needed() -> None:
    with pytest.raises(ValueError, match="zip"):
        score_chunks([grounded("duck", "globe")], [["duck"]])


def test_phrases_are_lower_case_with_single_spaces() -> None:
    text = Grounded("Pass  the  RED Globe now", ((6, 20),), (NULL,))
    assert text.phrases == ("the red globe",)


def test_matches_by_hand() -> None:
    matches = Matches.of([(1, 2, 1), (0, 0, 2), (3, 3, 3)])
    # Right 4, answers 5, gold 6.
    assert (matches.right, matches.answers, matches.gold, matches.sentences) == (4, 5, 6, 3)
    assert matches.precision == pytest.approx(0.8)
    assert matches.recall == pytest.approx(4 / 6)
    assert matches.f1 == pytest.approx(8 / 11)
    interval = matches.f1_interval(np.random.default_rng(0))
    assert interval.low <= matches.f1 <= interval.high
    assert interval.mean == pytest.approx(matches.f1)
    assert str(matches).startswith("precision 80.00, recall 66.67, F1 72.73")


def test_no_sentences_have_perfect_f1_and_no_precision() -> None:
    empty = Matches.of([])
    assert (empty.f1, empty.precision, empty.recall) == (1.0, 0.0, 0.0)
