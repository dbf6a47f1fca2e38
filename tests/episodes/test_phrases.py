"""What objects are called: enough phrases, from the looks alone, and never one that fits a neighbour."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.episodes import SPLITS, corpus
from wayword.episodes.instructions import generate_written, may_denote, phrases, telling_phrases
from wayword.episodes.instructions.phrases import inventory, parts, vocabulary
from wayword.sim.models.catalogue import names


def test_every_object_has_at_least_twelve_phrases() -> None:
    assert set(inventory()) == set(names())
    for name in names():
        texts = [p.text.lower() for p in phrases(name)]
        assert len(set(texts)) == len(texts) >= 12, name
        assert {p.kind for p in phrases(name)} == {"name", "noun", "look", "vague"}
        assert parts(name)
        assert all(p.weight > 0 for p in phrases(name))


def test_plurals_and_persons_are_among_the_phrases() -> None:
    for name, entry in inventory().items():
        known = {p.text for p in phrases(name)}
        assert set(entry.get("plural", ())) <= known, name
        assert set(entry.get("he", ())) <= known, name
    pronouns = {p.text: p.pronoun for p in (*phrases("pile of stones"), *phrases("snowman"))}
    assert (pronouns["stones"], pronouns["pile of stones"], pronouns["snowman"]) == ("they", "it", "he")


def test_the_noun_ends_the_base() -> None:
    bases = {p.text: p.base for name in ("windmill", "pile of stones") for p in phrases(name)}
    assert bases["white tower with the blades"] == "white tower"
    assert bases["pile of stones"] == "pile"
    assert bases["old windmill"] == "old windmill"


def test_what_a_phrase_may_also_denote() -> None:
    # "barrel" fits both barrels, "rusty barrel" only one; "tower" fits three towers, "grey tower" one.
    assert may_denote("barrel", "silver barrel")
    assert not may_denote("rusty barrel", "silver barrel")
    assert {n for n in names("seen") if may_denote("tower", n)} == {"lighthouse", "windmill", "castle tower"}
    assert {n for n in names("seen") if may_denote("grey tower", n)} == {"castle tower"}
    # The vaguest phrases fit whatever has the colour.
    assert may_denote("orange thing", "pumpkin")
    assert may_denote("orange thing", "basketball")
    assert not may_denote("orange thing", "cactus")


def test_phrases_that_fit_a_neighbour_are_left_out() -> None:
    alone = {p.text for p in telling_phrases("round tree", ["round tree", "sofa"])}
    with_palm = {p.text for p in telling_phrases("round tree", ["round tree", "palm tree"])}
    assert "tree" in alone - with_palm
    assert "round tree" in with_palm
    assert telling_phrases("round tree", ["round tree"]) == phrases("round tree")


@pytest.mark.parametrize("split", ["seen", "dev", "test"])
def test_something_tells_each_object_from_all_others(split: str) -> None:
    for name in names(split):
        kept = telling_phrases(name, names(split))
        assert len(kept) >= 8, name
        assert any(p.kind == "name" for p in kept), name


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_telling_phrases_tell(seed: int) -> None:
    layout = np.random.default_rng(seed).permutation(names("seen"))[:10].tolist()
    for name in layout:
        for phrase in telling_phrases(name, layout):
            assert [o for o in layout if may_denote(phrase.text, o)] == [name]


def test_objects_outside_the_inventory_are_called_by_name() -> None:
    assert [p.text for p in phrases("gold teapot")] == ["gold teapot"]
    # "car" fits the red car as well; with nothing else to say, the name is said.
    assert [p.text for p in telling_phrases("car", ["car", "red car"])] == ["car"]


def test_phrases_do_not_come_from_held_out_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the natural corpus was opened")

    monkeypatch.setattr(corpus, "load_episodes", refuse)
    monkeypatch.setattr(corpus, "load_natural", refuse)
    for split in ("dev", "test"):
        for _, written in generate_written(split, 3, 0, names(SPLITS[split])):
            for instruction in written:
                assert all(r.name in names(SPLITS[split]) for r in instruction.references)


def test_the_vocabulary_holds_every_word() -> None:
    assert {"barrel", "toadstool", "rusty", "capped"} <= vocabulary()
    assert json.dumps(sorted(vocabulary())).islower()
