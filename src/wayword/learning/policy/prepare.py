"""Everything the policy learns from, made once: demonstrations, photos, flights and readings.

    data/generated   episodes.jsonl, shards of the Oracle's flights, readings
    data/natural     the same for the natural train corpus (its episodes ship with the package)
    data/dev         the same for the natural dev corpus, for decisions
    data/drills      the same for drills: pairs that only the told side tells apart
    data/photos      forty photos of each seen object, to draw databases from

What is there already is not made again; with other settings the folder is refused. About an hour on one core, half of
it on two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from wayword.episodes import SPLITS
from wayword.episodes.instructions import Recipe, write_dataset
from wayword.errors import WaywordError
from wayword.learning.ar.databases import BuildConfig, build_database
from wayword.learning.common.train_config import FILE, claim
from wayword.learning.policy.flights import FlightConfig, record_all, training_examples
from wayword.learning.policy.readings import ReadingConfig, read_examples, write_readings
from wayword.sim.models.catalogue import names
from wayword.workers import each

PROCESSES = 2
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
    dev: int | None = None
    """Examples of the natural dev corpus; None: all."""
    photos: int = 40
    """Of each seen object."""
    flights: FlightConfig = field(default_factory=FlightConfig)
    """Of natural examples; of generated ones every second frame is kept, and of dev ones none is disturbed."""
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
class _Part:
    """One part of the examples of a folder, for one process."""

    source: str
    folder: Path
    overlapping: bool
    limit: int | None
    flights: FlightConfig
    readings: ReadingConfig
    grounder: Path
    number: int

    def show(self, what: str, total: int) -> Callable[[int], None]:
        """Says now and then how far it is."""
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            before, done = done, done + count
            if before // 500 < done // 500:
                print(f"{self.folder.name} {what}, part {self.number}: {done} of about {total}", flush=True)

        return advance


def prepare(folder: Path, config: DataConfig, inputs: DataInputs) -> None:
    """Make what is missing below ``folder``."""
    if (folder / "generated" / "episodes.jsonl").exists() and not (folder / FILE).exists():
        raise WaywordError(f"{folder}: holds data that does not say how it was made; choose another folder")
    claim(folder, "policy/data", config, inputs)
    generated, drills = folder / "generated", folder / "drills"
    _write(generated / "episodes.jsonl", config.episodes, config.seed, drills=False)
    if config.drills:
        _write(drills / "episodes.jsonl", config.drills, config.seed, drills=True)
    if not (folder / "photos").exists():
        build_database(folder / "photos", "seen", BuildConfig(views=config.photos, seed=config.seed))
    sparse = replace(config.flights, stride=2)
    still = replace(config.flights, disturbed=0.0, random_looks=0.0)
    fixed = replace(config.readings, database="dev", prefixes=0.0)
    jobs = [
        ("dev", folder / "dev", True, config.dev, still, fixed),
        ("train", folder / "natural", True, config.natural, config.flights, config.readings),
        (str(generated / "episodes.jsonl"), generated, False, None, sparse, config.readings),
        (str(drills / "episodes.jsonl"), drills, False, None, sparse, config.readings),
    ]
    for one in jobs if config.drills else jobs[:-1]:
        one[1].mkdir(parents=True, exist_ok=True)
        parts = [_Part(*one, inputs.grounder, number) for number in range(PROCESSES)]
        _side_by_side(_fly, parts, one[1] / "flights.done")
        _side_by_side(_read, parts, one[1] / "readings.done")


def _write(path: Path, count: int, seed: int, drills: bool) -> None:
    if not path.exists():
        recipe = Recipe("train", count, _FIRST_SEED + seed, names(SPLITS["train"]), None, drills)
        write_dataset(recipe, path, None, PROCESSES)


def _side_by_side(work: Callable[[_Part], None], parts: Sequence[_Part], done: Path) -> None:
    """The parts of a job, a process each; each skips what is there."""
    if not done.exists():
        for _ in each(work, parts, PROCESSES):
            pass
        done.touch()


def _fly(part: _Part) -> None:
    examples = training_examples(part.source, part.overlapping)[: part.limit]
    show = part.show("flights", len(examples) // PROCESSES)
    record_all(examples, part.folder, part.flights, part.grounder, part.number, PROCESSES, show)


def _read(part: _Part) -> None:
    out = part.folder / f"readings-{part.number}.jsonl"
    if out.exists():
        return
    examples = training_examples(part.source, part.overlapping)[: part.limit]
    bounds = np.linspace(0, len(examples), PROCESSES + 1).astype(int)
    first, last = int(bounds[part.number]), int(bounds[part.number + 1])
    show = part.show("readings", last - first)
    write_readings(out, read_examples(examples[first:last], part.readings, first, show))
