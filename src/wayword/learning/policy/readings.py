"""Readings: training instructions as the language side understands them, each against a fresh database.

As in Appendix G, every example gets a database of its own: the objects of its layout and a few others, five
phrases each drawn from all that people call them. What the language side makes of the instruction is kept;
photos are drawn anew whenever an example is used.

    write_readings(Path("readings.jsonl"), read_examples(training_examples("train", True), ReadingConfig()))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.episodes.instructions import phrases
from wayword.errors import DataError
from wayword.language.phrases_db import ObjectPhrases, load_phrases
from wayword.language.pipeline import LanguageModel, Parsed
from wayword.policy.tokens import tokenise


@dataclass(frozen=True)
class ReadInstruction:
    """One instruction, read."""

    tokens: tuple[str, ...]
    names: tuple[str, ...]
    """The objects of the database."""
    table: tuple[tuple[float, ...], ...]
    """P(o | r): a row per placeholder, a column per object and one for none of these."""

    def probabilities(self) -> NDArray[np.float32]:
        """The table as (R, M + 1)."""
        return np.array(self.table, np.float32).reshape(len(self.table), len(self.names) + 1)

    @property
    def untold(self) -> ReadInstruction:
        """No instruction at all, about the same objects."""
        return ReadInstruction((), self.names, ())


@dataclass(frozen=True)
class ReadingPair:
    """An example's whole instruction, and that of its first segment alone if it has two."""

    whole: ReadInstruction
    prefix: ReadInstruction | None


@dataclass(frozen=True)
class ReadingConfig:
    """How databases are drawn."""

    phrases: int = 5
    least_others: int = 0
    most_others: int = 4
    prefixes: float = 0.5
    """Share of two-segment examples whose first segment is read as well."""
    database: str | None = None
    """Read against this one database (``dev``, or a file or folder) instead of fresh ones."""
    chunker: str = "shipped"
    """Who finds the noun chunks: a registered name, or module:Class (docs/extending.md)."""
    seed: int = 0


def reading_of(parsed: Parsed, names: Sequence[str]) -> ReadInstruction:
    """What the policy needs of a parse."""
    table = []
    for reference in parsed.references:
        row = [reference.probabilities[name] for name in names] + [reference.none]
        table.append(tuple(round(value, 5) for value in row))
    return ReadInstruction(tuple(tokenise(parsed.anonymised.text)), tuple(names), tuple(table))


def draw_database(
    example: Example,
    everything: Sequence[str],
    pool: dict[str, list[str]],
    config: ReadingConfig,
    rng: np.random.Generator,
) -> tuple[ObjectPhrases, ...]:
    """The objects of the layout and some others, with five phrases each."""
    present = sorted({item.name for item in example.objects})
    count = int(rng.integers(config.least_others, config.most_others + 1))
    absent = [name for name in everything if name not in present]
    order = [*present, *(str(name) for name in rng.permutation(absent)[:count])]
    entries = []
    for name in rng.permutation(order):
        some = rng.permutation(pool[str(name)])[: config.phrases]
        entries.append(ObjectPhrases(str(name), tuple(str(phrase) for phrase in some)))
    return tuple(entries)


def phrase_pool(names: Sequence[str]) -> dict[str, list[str]]:
    """All that the seen objects are called: the phrases of the shipped database and those of the grammar."""
    shipped = {entry.name: entry.phrases for entry in load_phrases("seen")}
    pool = {}
    for name in names:
        known = [*shipped[name], *(f"the {p.text}" for p in phrases(name) if p.kind != "vague")]
        pool[name] = list(dict.fromkeys(known))
    return pool


def read_examples(
    examples: Sequence[Example],
    config: ReadingConfig,
    first: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> list[ReadingPair]:
    """Read every example; ``first`` is the number of the first one, which seeds it."""
    language = _language(config.chunker)
    everything = sorted({entry.name for entry in load_phrases("seen")})
    pool = phrase_pool(everything)
    fixed = None if config.database is None else load_phrases(config.database)
    pairs = []
    for i, example in enumerate(examples):
        rng = np.random.default_rng([config.seed, 41, first + i])
        database = fixed or draw_database(example, everything, pool, config, rng)
        names = [entry.name for entry in database]
        whole = reading_of(language.parse(example.instruction, database), names)
        prefix = None
        if example.count == 2 and rng.random() < config.prefixes:
            text = example.episode.segments[example.first].instruction
            prefix = reading_of(language.parse(text, database), names)
        pairs.append(ReadingPair(whole, prefix))
        progress(1)
    return pairs


@cache
def _language(chunker: str) -> LanguageModel:
    """One for all chunks of a worker: it remembers the vectors of the phrases, half of the work."""
    return LanguageModel.load(chunker=chunker)


def write_readings(path: Path, pairs: Sequence[ReadingPair]) -> None:
    """One line per example."""
    from wayword.io import atomic_path

    with atomic_path(path) as temporary:
        temporary.write_text("".join(json.dumps(asdict(pair)) + "\n" for pair in pairs), encoding="utf-8")


def load_readings(path: Path) -> list[ReadingPair]:
    """What ``write_readings`` wrote."""

    def reading(value: dict[str, Any]) -> ReadInstruction:
        return ReadInstruction(
            tuple(value["tokens"]), tuple(value["names"]), tuple(tuple(row) for row in value["table"])
        )

    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [ReadingPair(reading(v["whole"]), reading(v["prefix"]) if v["prefix"] else None) for v in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(path, "is not a file of readings; make it anew") from error
