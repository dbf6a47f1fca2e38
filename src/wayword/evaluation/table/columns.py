"""What the table is flown on: columns of two-segment examples, and the databases a policy is taught for them.

test, dev natural      all of the natural split: unseen objects
test, dev generated    grammar-written instructions for generated demonstrations of the same objects
seen natural           layouts of seen objects that were held out when the policy was trained (``held_out_seen``)

A policy is taught the shipped database of the split, five photos and five phrases of each of its eight objects. For
``seen`` it is taught the objects of the layout and two others. The large database of FsPVN-BigO has every
object of the catalogue; except in the ``test`` columns, every one but the test objects.

Generated episodes and photos of seen objects are made on first use and kept in the evaluation's folder.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

import numpy as np

from wayword.compute import Workers
from wayword.episodes import SPLITS, Episode, Example, examples, held_out_seen, load_episodes, load_natural
from wayword.episodes.instructions.bulk import Recipe, grammar_digest, write_dataset
from wayword.errors import DataError
from wayword.evaluation.table.attribution import KnownMention
from wayword.objects import ObjectDatabase
from wayword.sim.models.catalogue import names

ColumnSplit = Literal["test", "dev", "seen"]
CorpusKind = Literal["natural", "generated"]
GENERATED_EPISODES = 300
"""With four or five segments each: 1,025 two-segment examples on ``test`` and 1,050 on ``dev``."""
SEEN_PHOTOS_SEED = 5
"""Not the seed of the photos that training draws from."""
OTHERS = 2
"""Objects in the database of a ``seen`` layout that are not in the layout, as there are on ``test``."""
CountProgress = Callable[[int], None]


@dataclass(frozen=True)
class Column:
    """One column of the table."""

    split: ColumnSplit
    kind: CorpusKind

    @property
    def key(self) -> str:
        """As in the keys of the results."""
        return f"{self.split}.{self.kind}"


@dataclass(frozen=True, eq=False)
class TableCase:
    """An example and, where somebody wrote it down, what its words refer to."""

    example: Example
    mentions: tuple[KnownMention, ...] | None = None


def load_cases(
    column: Column, folder: Path, seed: int = 0, limit: int | None = None, workers: Workers = 2
) -> list[TableCase]:
    """The examples of a column; ``limit`` takes at most so many, evenly spread."""
    if column.kind == "generated":
        cases = _generated(column.split, folder, seed, workers)
    elif column.split == "seen":
        held = [episode for episode in load_natural("train") if held_out_seen(episode.id)]
        cases = [TableCase(cut) for episode in held for cut in examples(episode, 2)]
    else:
        cases = [TableCase(cut) for episode in load_natural(column.split) for cut in examples(episode, 2)]
    if limit is None or limit >= len(cases):
        return cases
    return [cases[i * len(cases) // limit] for i in range(limit)]


def _generated(split: str, folder: Path, seed: int, workers: Workers) -> list[TableCase]:
    stem = folder / "episodes" / f"{split}-{GENERATED_EPISODES}-seed{seed}-{grammar_digest()}"
    out, references = stem.with_suffix(".jsonl"), stem.with_suffix(".references.jsonl")
    if not (out.is_file() and references.is_file()):
        write_dataset(Recipe(split, GENERATED_EPISODES, seed, names(SPLITS[split])), out, references, workers)
    try:
        lines = [json.loads(line) for line in references.read_text(encoding="utf-8").splitlines()]
        records = {line["id"]: line["instructions"] for line in lines}
        episodes = load_episodes(out)
        return [
            TableCase(cut, mentions_of(cut, records[episode.id]))
            for episode in episodes
            for cut in examples(episode, 2)
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(references, f"does not go with {out.name}; delete both") from error


def mentions_of(cut: Example, instructions: list[dict]) -> tuple[KnownMention, ...]:
    """The references of an example's segments, counted in its joined instruction."""
    mentions, offset = [], 0
    for number in range(cut.first, cut.first + cut.count):
        for r in instructions[number]["references"]:
            mentions.append(KnownMention(r["name"], offset + r["start"], offset + r["end"], r["form"] == "phrase"))
        offset += len(instructions[number]["text"]) + 1
    return tuple(mentions)


def examples_digest(cases: list[TableCase]) -> str:
    """Changes whenever any of the examples does."""
    episodes: dict[str, Episode] = {case.example.episode.id: case.example.episode for case in cases}
    parts = [json.dumps(episode.to_json()) for episode in episodes.values()] + [case.example.id for case in cases]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


# Databases ------------------------------------------------------------------------------------------------


@cache
def shipped_database(split: str) -> ObjectDatabase:
    """The database of ``dev`` or ``test`` objects that comes with the package."""
    with as_file(files("wayword.objects") / "data" / split) as folder:
        return ObjectDatabase.load(folder)


def seen_photos(folder: Path) -> Path:
    """Where the database of the 64 seen objects is kept."""
    return folder / "databases" / f"seen-seed{SEEN_PHOTOS_SEED}"


def seen_database(folder: Path, progress: CountProgress = lambda done: None) -> ObjectDatabase:
    """The 64 seen objects, photographed on simulated flights; made on first use, about a minute."""
    place = seen_photos(folder)
    if not place.exists():
        from wayword.learning.ar.databases import BuildConfig, build_database

        place.parent.mkdir(parents=True, exist_ok=True)
        build_database(place, "seen", BuildConfig(seed=SEEN_PHOTOS_SEED), progress)
    return _read_once(place)


@cache
def _read_once(place: Path) -> ObjectDatabase:
    return ObjectDatabase.load(place)


def large_database(column: Column, folder: Path) -> ObjectDatabase:
    """Every object of the catalogue, without the test objects unless they are what the column is about."""
    return _large(column.split == "test", seen_database(folder))


@cache
def _large(with_test: bool, base: ObjectDatabase) -> ObjectDatabase:
    splits = ("test", "dev") if with_test else ("dev",)
    return ObjectDatabase((*base.objects, *(item for split in splits for item in shipped_database(split).objects)))


def own_database(column: Column, example: Example, folder: Path) -> ObjectDatabase:
    """What a policy is taught for one example."""
    if column.split != "seen":
        return shipped_database(column.split)
    return layout_database(example, seen_database(folder))


def layout_database(example: Example, everything: ObjectDatabase, others: int = OTHERS) -> ObjectDatabase:
    """The objects of a layout and a few others, always the same ones for one episode."""
    present = tuple(sorted({item.name for item in example.objects}))
    return _layout_database(example.episode.id, present, everything, others)


@cache
def _layout_database(episode: str, present: tuple[str, ...], everything: ObjectDatabase, count: int) -> ObjectDatabase:
    absent = [name for name in sorted(everything.names) if name not in present]
    rng = np.random.default_rng(zlib.crc32(episode.encode()))
    others = [absent[i] for i in rng.permutation(len(absent))[:count]]
    return everything.subset(sorted([*present, *others]))


def database_digest(database: ObjectDatabase) -> str:
    """Changes whenever a photo, a phrase or a name does."""
    total = hashlib.sha256()
    for item in database.objects:
        total.update(json.dumps([item.name, *item.phrases]).encode())
        for photo in item.photos:
            total.update(str(photo.shape).encode() + np.ascontiguousarray(photo).tobytes())
    return total.hexdigest()
