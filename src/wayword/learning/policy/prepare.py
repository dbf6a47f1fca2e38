"""Everything the policy learns from, made once: demonstrations, photos, flights and readings.

    data/generated   episodes.jsonl, shards of the Oracle's flights, readings
    data/natural     the same for the natural train corpus (its episodes ship with the package)
    data/reworded    the same for its episodes, and generated ones, in other words
    data/dev         the same for the natural dev corpus, for decisions
    data/drills      the same for drills: pairs that only the told side tells apart
    data/photos      forty photos of each seen object, to draw databases from

What is there already is not made again; with other settings the folder is refused. About an hour on one core, half of
it on two. Workers fly and read; what they bring back is written here, the same bytes for any number of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from wayword.compute import Workers, each, in_order
from wayword.episodes import SPLITS, Example
from wayword.episodes.instructions import Recipe, write_dataset
from wayword.errors import WaywordError
from wayword.grounding import Grounder
from wayword.learning.ar.databases import BuildConfig, build_database
from wayword.learning.common.train_config import FILE, claim
from wayword.learning.policy.executions import Execution, write_executions
from wayword.learning.policy.flights import (
    FlightConfig,
    execution_path,
    missing_shards,
    record_shard,
    training_examples,
)
from wayword.learning.policy.imagined import Photos, photo_pool
from wayword.learning.policy.readings import ReadingConfig, ReadingPair, read_examples, write_readings
from wayword.sim.models.catalogue import names
from wayword.sim.render.bank import MeshBank

_READING_FILES = 2
"""The readings of a folder lie in so many files, whoever read them."""
_READING_CHUNK = 128
_OTHER_FLIGHTS = 1000
"""Added to the seed of flights: the same ways with other disturbances."""
_FIRST_SEED = 11
"""Of generated episodes: the seeds below it belong to those that policies are measured on."""


@dataclass(frozen=True)
class DataConfig:
    """How much there is to learn from, and how it is flown and read."""

    episodes: int = 7000
    """Generated demonstrations."""
    drills: int = 4000
    """Short flights in pairs that only the told side tells apart; 0 for none."""
    natural: int | None = None
    """Examples of the natural train corpus; None: all."""
    reworded: bool = False
    """Episodes in other words as well (``load_reworded``), as many as ``natural`` lets in."""
    dev: int | None = None
    """Examples of the natural dev corpus; None: all."""
    photos: int = 40
    """Of each seen object."""
    flights: FlightConfig = field(default_factory=FlightConfig)
    """Of natural examples; of generated ones every second frame is kept, and of dev ones none is disturbed.

    Imagined are generated and reworded ones and drills: natural texts are few, and each is seen as it will be."""
    readings: ReadingConfig = field(default_factory=ReadingConfig)
    """Of training examples; dev ones are read against the dev database."""
    seed: int = 0
    """Of the episodes and the photos; flights and readings have theirs."""

    @property
    def repeatable(self) -> bool:
        """Each flight depends on its number only, so it does not matter who flies it and when."""
        return True


@dataclass(frozen=True)
class DataInputs:
    """What the data is made with."""

    grounder: Path
    """Weights of the segmentation that all frames go through."""


@dataclass(frozen=True)
class _Corpus:
    """The examples of one folder and how they are flown and read; goes to each worker once."""

    name: str
    examples: Sequence[Example]
    flights: FlightConfig
    readings: ReadingConfig
    grounder: Path
    photos: Path

    def show(self, what: str, total: int) -> Callable[[int], None]:
        """Says now and then how far it is."""
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            before, done = done, done + count
            if before // 500 < done // 500:
                print(f"{self.name} {what}: {done} of {total}", flush=True)

        return advance


def prepare(folder: Path, config: DataConfig, inputs: DataInputs, workers: Workers = 2) -> None:
    """Make what is missing below ``folder``."""
    if (folder / "generated" / "episodes.jsonl").exists() and not (folder / FILE).exists():
        raise WaywordError(f"{folder}: holds data that does not say how it was made; choose another folder")
    claim(folder, "policy/data", config, inputs)
    generated, drills = folder / "generated", folder / "drills"
    _write(generated / "episodes.jsonl", config.episodes, config.seed, False, workers)
    if config.drills:
        _write(drills / "episodes.jsonl", config.drills, config.seed, True, workers)
    if not (folder / "photos").exists():
        build_database(folder / "photos", "seen", BuildConfig(views=config.photos, seed=config.seed))
    sparse, natural = replace(config.flights, stride=2), replace(config.flights, imagined=0.0)
    again = replace(config.flights, seed=config.flights.seed + _OTHER_FLIGHTS)
    still = replace(natural, disturbed=0.0, random_looks=0.0)
    fixed = replace(config.readings, database="dev", prefixes=0.0)
    jobs = [
        ("dev", folder / "dev", True, config.dev, still, fixed),
        ("train", folder / "natural", True, config.natural, natural, config.readings),
        ("reworded", folder / "reworded", True, config.natural, again, config.readings),
        (str(generated / "episodes.jsonl"), generated, False, None, sparse, config.readings),
        (str(drills / "episodes.jsonl"), drills, False, None, sparse, config.readings),
    ]
    for source, place, overlapping, limit, flights, readings in jobs:
        if (place == drills and not config.drills) or (source == "reworded" and not config.reworded):
            continue
        place.mkdir(parents=True, exist_ok=True)
        if (place / "flights.done").exists() and (place / "readings.done").exists():
            continue
        examples = training_examples(source, overlapping)[:limit]
        corpus = _Corpus(
            place.name, examples, flights, readings, inputs.grounder.absolute(), (folder / "photos").absolute()
        )
        for work, note in ((_fly, place / "flights.done"), (_read, place / "readings.done")):
            if not note.exists():
                work(corpus, place, workers)
                note.touch()


def _write(path: Path, count: int, seed: int, drills: bool, workers: Workers) -> None:
    if not path.exists():
        recipe = Recipe("train", count, _FIRST_SEED + seed, names(SPLITS["train"]), None, drills)
        write_dataset(recipe, path, None, workers)


def _fly(corpus: _Corpus, folder: Path, workers: Workers) -> None:
    show = corpus.show("flights", len(corpus.examples))
    bank = MeshBank.of_catalogue(sorted({item.name for example in corpus.examples for item in example.objects}))
    for number, executions in each(partial(_fly_shard, corpus, bank), missing_shards(corpus.examples, folder), workers):
        write_executions(execution_path(folder, number), executions)
        show(len(executions))


def _fly_shard(corpus: _Corpus, bank: MeshBank, number: int) -> tuple[int, list[Execution]]:
    grounder, photos = _grounder(corpus.grounder), None
    if corpus.flights.imagined:
        photos = _photos(corpus.photos, corpus.grounder)
    return number, record_shard(corpus.examples, number, bank, grounder, corpus.flights, photos)


@cache
def _grounder(weights: Path) -> Grounder:
    return Grounder.load(weights)


@cache
def _photos(folder: Path, weights: Path) -> Photos:
    return photo_pool(folder, _grounder(weights))


def _read(corpus: _Corpus, folder: Path, workers: Workers) -> None:
    show = corpus.show("readings", len(corpus.examples))
    bounds = np.linspace(0, len(corpus.examples), _READING_FILES + 1).astype(int).tolist()
    for file, (first, last) in enumerate(pairwise(bounds)):
        out = folder / f"readings-{file}.jsonl"
        if out.exists():
            continue
        chunks = [(start, min(start + _READING_CHUNK, last)) for start in range(first, last, _READING_CHUNK)]
        pairs: list[ReadingPair] = []
        for some in in_order(partial(_read_chunk, corpus), chunks, workers):
            show(len(some))
            pairs += some
        write_readings(out, pairs)


def _read_chunk(corpus: _Corpus, chunk: tuple[int, int]) -> list[ReadingPair]:
    first, last = chunk
    return read_examples(corpus.examples[first:last], corpus.readings, first)
