"""Proof that nothing crosses the splits: no object, no layout, no path, no instruction."""

from __future__ import annotations

import json
from importlib.resources import files
from itertools import combinations

import pytest

from wayword.episodes import (
    SPLITS,
    Episode,
    generate_episodes,
    held_out_seen,
    load_natural,
    load_reworded,
    measure_manoeuvre,
)
from wayword.episodes.commands import COMMAND_SPLITS, load_commands

PAIRS = list(combinations(SPLITS, 2))


@pytest.fixture(scope="module")
def catalogue() -> dict[str, set[str]]:
    """Names of the objects of each catalogue split."""
    file = files("wayword") / "sim" / "models" / "catalogue" / "objects.json"
    records = json.loads(file.read_text(encoding="utf-8"))
    return {split: {r["name"] for r in records if r["split"] == split} for split in SPLITS.values()}


def names(split: str) -> set[str]:
    return {o.name for e in load_natural(split) for o in e.objects}


def plain(instruction: str) -> str:
    return " ".join(instruction.casefold().split())


def instructions(split: str) -> set[str]:
    return {plain(s.instruction) for e in load_natural(split) for s in e.segments}


def places(episode: Episode) -> frozenset[tuple[float, float]]:
    return frozenset((o.x, o.y) for o in episode.objects)


def test_sizes() -> None:
    counts = {s: (len(load_natural(s)), sum(len(e.segments) for e in load_natural(s))) for s in SPLITS}
    assert counts == {"train": (568, 2550), "dev": (56, 251), "test": (64, 281)}
    assert all(e.split == split and e.id.startswith(split) for split in SPLITS for e in load_natural(split))


def test_catalogue_splits_are_disjoint(catalogue: dict[str, set[str]]) -> None:
    assert {split: len(members) for split, members in catalogue.items()} == {"seen": 64, "dev": 8, "test": 8}
    assert len(set.union(*catalogue.values())) == 80


@pytest.mark.parametrize("split", SPLITS)
def test_objects_are_those_of_the_split(split: str, catalogue: dict[str, set[str]]) -> None:
    assert names(split) == catalogue[SPLITS[split]]  # none foreign, and none unused


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_object_crosses(one: str, other: str) -> None:
    assert not names(one) & names(other)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_layout_crosses(one: str, other: str) -> None:
    # Layouts are compared by where things stand, whatever stands there. Two objects out of six to eleven at
    # the same millimetre would already be no accident.
    layouts = {places(e) for e in load_natural(other)}
    shared = [len(places(e) & layout) for e in load_natural(one) for layout in layouts]
    assert max(shared) <= 1


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_path_crosses(one: str, other: str) -> None:
    # Two paths are the same if they begin alike, so comparing their first three points is the stricter test.
    heads = [{tuple(map(tuple, e.path[:3].tolist())) for e in load_natural(s)} for s in (one, other)]
    assert not heads[0] & heads[1]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_instruction_crosses(one: str, other: str) -> None:
    assert not instructions(one) & instructions(other)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_annotator_crosses(one: str, other: str) -> None:
    assert not {e.annotator for e in load_natural(one)} & {e.annotator for e in load_natural(other)}


def test_what_is_reworded_is_for_training(catalogue: dict[str, set[str]]) -> None:
    reworded = load_reworded()
    assert {episode.split for episode in reworded} == {"train"}
    assert {o.name for e in reworded for o in e.objects} <= catalogue["seen"]
    texts = {plain(segment.instruction) for episode in reworded for segment in episode.segments}
    for split in ("dev", "test"):
        layouts = {places(episode) for episode in load_natural(split)}
        assert not texts & instructions(split)
        assert not layouts & {places(episode) for episode in reworded}
        assert not {e.annotator for e in reworded} & {e.annotator for e in load_natural(split)}


def test_what_is_reworded_is_the_same_flight_in_other_words() -> None:
    originals = {episode.id: episode for episode in load_natural("train")}
    again = {e.id.removesuffix("-reworded"): e for e in load_reworded() if e.id.endswith("-reworded")}
    assert set(again) == {name for name in originals if not held_out_seen(name)}
    same = 0
    for name, episode in again.items():
        original = originals[name]
        assert (places(episode), episode.start) == (places(original), original.start)
        assert episode.path.tolist() == original.path.tolist()
        pairs = list(zip(episode.segments, original.segments, strict=True))
        assert all(new.end == old.end for new, old in pairs)
        same += sum(plain(new.instruction) == plain(old.instruction) for new, old in pairs)
    assert same == 0


def test_comparison_ignores_case_and_spacing() -> None:
    assert plain("Turn  left,\tthen STOP. ") == plain("turn left, then stop.")


def test_generated_splits_do_not_share_layouts(catalogue: dict[str, set[str]]) -> None:
    made = {s: [e for e, _ in generate_episodes(s, 5, 0, catalogue[SPLITS[s]])] for s in SPLITS}
    for one, other in PAIRS:
        assert not {places(e) for e in made[one]} & {places(e) for e in made[other]}
        assert not {o.name for e in made[one] for o in e.objects} & {o.name for e in made[other] for o in e.objects}


@pytest.mark.parametrize(
    ("id", "segment", "end", "kind", "name", "side", "relation"),
    [
        # "Turn right and hug the left side of the treasure chest ..., stopping just beyond it."
        ("train-222", 3, 89, "pass", "treasure chest", "right", "just past"),
        # "... a straight line back to the wooden crate, stopping short of it on its right."
        ("train-230", 3, 88, "approach", "wooden crate", None, "in front of"),
        # "left, pass the pawn on your right, stop facing the guitar"
        ("train-309", 4, 123, "pass", "chess pawn", "right", "just past"),
        # "Straight leg; hold with the sandstone pyramid on your right." It is ahead before the corner is
        # rounded and to the right after it.
        ("train-521", 4, 96, "approach", "pyramid", None, "in front of"),
    ],
)
def test_repaired_segments_do_what_they_say(
    id: str, segment: int, end: int, kind: str, name: str, side: str | None, relation: str
) -> None:
    (episode,) = (e for e in load_natural("train") if e.id == id)
    assert episode.segments[segment - 1].end == end
    facts = measure_manoeuvre(episode, segment - 1, kind, [name])  # type: ignore[arg-type]
    assert facts is not None
    assert (facts.side, facts.end_object, facts.end_relation) == (side, name, relation)


def test_no_command_crosses() -> None:
    train, more, dev = ({plain(command.text) for command in load_commands(split)} for split in COMMAND_SPLITS)
    assert (len(train), len(more), len(dev)) == (12977, 8385, 825)
    assert not (train | more) & dev
    assert not train & more
