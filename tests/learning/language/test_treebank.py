"""Base noun phrases out of a treebank: every rule of the module's head, on sentences written out by hand."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from wayword.errors import DataError
from wayword.learning.language.treebank import AnnotatedText, read_treebank


def row(number: object, form: str, upos: str, head: int, relation: str, features: str = "_", misc: str = "_") -> str:
    return "\t".join([str(number), form, "_", upos, "_", features, str(head), relation, "_", misc])


def read(tmp_path: Path, *rows: str) -> AnnotatedText:
    path = tmp_path / "text.conllu"
    path.write_text("# sent_id = 1\n" + "\n".join(rows) + "\n\n", encoding="utf-8")
    (sentence,) = read_treebank(path)
    return sentence


def chunks(sentence: AnnotatedText) -> list[str]:
    return [sentence.text[start:end] for start, end in sentence.chunks]


def test_left_dependents_belong_to_the_head_and_nothing_right_of_it(tmp_path: Path) -> None:
    sentence = read(
        tmp_path,
        row(1, "Pass", "VERB", 0, "root", "Mood=Imp"),
        row(2, "the", "DET", 5, "det"),
        row(3, "two", "NUM", 5, "nummod"),
        row(4, "red", "ADJ", 5, "amod"),
        row(5, "boxes", "NOUN", 1, "obj"),
        row(6, "of", "ADP", 7, "case"),
        row(7, "stones", "NOUN", 5, "nmod", misc="SpaceAfter=No"),
        row(8, ".", "PUNCT", 1, "punct"),
    )
    assert sentence.text == "Pass the two red boxes of stones."
    assert chunks(sentence) == ["the two red boxes", "stones"]
    assert sentence.imperative


def test_a_dependent_brings_its_own_words_along(tmp_path: Path) -> None:
    sentence = read(
        tmp_path,
        row(1, "a", "DET", 4, "det"),
        row(2, "very", "ADV", 3, "advmod"),
        row(3, "tall", "ADJ", 4, "amod"),
        row(4, "tree", "NOUN", 0, "root"),
    )
    assert chunks(sentence) == ["a very tall tree"]
    assert not sentence.imperative


def test_an_owner_is_part_of_what_is_owned(tmp_path: Path) -> None:
    sentence = read(
        tmp_path,
        row(1, "the", "DET", 2, "det"),
        row(2, "teacher", "NOUN", 4, "nmod:poss", misc="SpaceAfter=No"),
        row(3, "'s", "PART", 2, "case"),
        row(4, "house", "NOUN", 0, "root"),
    )
    assert sentence.text == "the teacher's house"
    assert chunks(sentence) == ["the teacher's house"]


def test_names_joined_by_flat_stay_together(tmp_path: Path) -> None:
    sentence = read(
        tmp_path,
        row(1, "meet", "VERB", 0, "root"),
        row(2, "Uncle", "PROPN", 1, "obj"),
        row(3, "Sam", "PROPN", 2, "flat"),
        row(4, "there", "ADV", 1, "advmod"),
    )
    assert chunks(sentence) == ["Uncle Sam"]


@pytest.mark.parametrize(
    ("upos", "relation", "with_article", "expected"),
    [
        ("NUM", "obj", True, ["the latter"]),
        ("DET", "nsubj", False, ["latter"]),
        ("ADJ", "obj", True, ["the latter"]),
        ("ADJ", "obj", False, []),
        ("ADJ", "advcl", True, []),
        ("ADV", "obj", True, []),
        ("PRON", "advcl", False, ["latter"]),
        ("NOUN", "fixed", False, []),
    ],
)
def test_which_words_can_be_heads(
    tmp_path: Path, upos: str, relation: str, with_article: bool, expected: list[str]
) -> None:
    rows = [row(1, "take", "VERB", 0, "root")]
    if with_article:
        rows += [row(2, "the", "DET", 3, "det"), row(3, "latter", upos, 1, relation)]
    else:
        rows += [row(2, "latter", upos, 1, relation)]
    assert chunks(read(tmp_path, *rows)) == expected


def test_a_hyphen_inside_a_phrase_belongs_to_it(tmp_path: Path) -> None:
    sentence = read(
        tmp_path,
        row(1, "red", "ADJ", 3, "amod", misc="SpaceAfter=No"),
        row(2, "-", "PUNCT", 3, "punct", misc="SpaceAfter=No"),
        row(3, "roof", "NOUN", 0, "root"),
    )
    assert chunks(sentence) == ["red-roof"]


def test_what_is_not_contiguous_is_cut_off(tmp_path: Path) -> None:
    # "the" hangs on "globe", with a verb in between that does not: the phrase begins after the gap.
    sentence = read(
        tmp_path,
        row(1, "the", "DET", 3, "det"),
        row(2, "uh", "INTJ", 3, "discourse"),
        row(3, "globe", "NOUN", 0, "root"),
    )
    assert chunks(sentence) == ["globe"]


def test_tokens_of_several_words_stand_in_the_text_once(tmp_path: Path) -> None:
    sentence = read(
        tmp_path,
        row("1-2", "It's", "_", 0, "_"),
        row(1, "It", "PRON", 4, "nsubj"),
        row(2, "'s", "AUX", 4, "cop"),
        row(3, "the", "DET", 4, "det"),
        row(4, "globe", "NOUN", 0, "root"),
    )
    assert sentence.text == "It's the globe"
    assert chunks(sentence) == ["It", "the globe"]


def test_parts_that_are_not_spelt_out_get_the_whole_token(tmp_path: Path) -> None:
    sentence = read(
        tmp_path,
        row("1-2", "gonna", "_", 0, "_"),
        row(1, "going", "VERB", 0, "root"),
        row(2, "to", "PART", 3, "mark"),
        row(3, "win", "VERB", 1, "xcomp"),
    )
    assert sentence.text == "gonna win"
    assert chunks(sentence) == []


def test_words_that_are_only_understood_are_left_out(tmp_path: Path) -> None:
    sentence = read(
        tmp_path,
        row(1, "globe", "NOUN", 0, "root"),
        row("1.1", "seen", "VERB", 0, "_"),
        row(2, "there", "ADV", 1, "advmod"),
    )
    assert sentence.text == "globe there"


def test_compressed_files_and_a_missing_last_blank_line(tmp_path: Path) -> None:
    path = tmp_path / "text.conllu.gz"
    sentences = [row(1, "globe", "NOUN", 0, "root"), "", row(1, "duck", "NOUN", 0, "root")]
    path.write_bytes(gzip.compress("\n".join(sentences).encode()))
    assert [sentence.text for sentence in read_treebank(path)] == ["globe", "duck"]


def test_a_ring_of_heads_ends(tmp_path: Path) -> None:
    """Nobody writes that on purpose, but a file must not hang the training."""
    sentence = read(tmp_path, row(1, "globe", "NOUN", 2, "obj"), row(2, "duck", "NOUN", 1, "obj"))
    assert chunks(sentence) == ["globe", "duck"]


def test_bad_files_are_one_line_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "bad.conllu"
    path.write_text("# a comment\n1\tglobe\tNOUN\n\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"2.*10 columns, not 3"):
        read_treebank(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_treebank(tmp_path / "missing.conllu.gz")
    plain = tmp_path / "plain.conllu.gz"
    plain.write_text("not compressed", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be read"):
        read_treebank(plain)
