"""The paper's table: every system on every column, flown in parts that are kept.

A cell is a system on a column. It is flown in parts of 32 examples, each written as soon as it is done, under a key
made of weights, databases, examples and settings; so a table that was stopped goes on where it was, workers
share the work, and nothing is flown twice. Parts flown by other code are flown again.

The flights of a part share their batches and nothing else: rows are the same, to the last bit, for any number of
workers on any engine and however often the run was stopped.

    runs/eval/cells/fspvn.dev.natural-3f2a.../part-0003.json    {"code", "rows": [{"example", metrics, verdict}]}
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import wayword
from wayword.compute import Workers, each
from wayword.evaluation.metrics import EpisodeMetrics
from wayword.evaluation.runner import ScoredFlight, Witness, fly_examples
from wayword.evaluation.summary import count_endings, summarise
from wayword.evaluation.table import systems
from wayword.evaluation.table.attribution import STAGES
from wayword.evaluation.table.columns import Column, TableCase, examples_digest, load_cases
from wayword.evaluation.table.detective import Detective, fly_relabelled
from wayword.evaluation.table.systems import system_of
from wayword.intervals import Interval
from wayword.io import write_json
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Policy
from wayword.shipped import DEFAULT_GROUNDER
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig
from wayword.sim.worlds import WORLDS, WorldName

PART = 32
"""Flights per part: one batch."""
_FLOWN_BY = (
    "camera.py", "compiled.py", "task.py", "path_distance.py", "vector_cache.py", "episodes", "evaluation/metrics.py",
    "evaluation/runner.py", "evaluation/verdicts.py", "evaluation/table/attribution.py",
    "evaluation/table/detective.py", "evaluation/table/reading.py",
    "grounding", "language", "mapping", "objects", "pilot", "policy", "sim",
)  # fmt: skip
"""The code that decides how a flight goes and what is said about it."""


@dataclass(frozen=True)
class TableConfig:
    """What all cells of a table have in common."""

    folder: Path = Path("runs/eval")
    seed: int = 0
    limit: int | None = None
    """At most this many examples per column."""
    weights: Path | None = None
    """FsPVN's weights; None for the shipped ones."""
    any_code: bool = False
    """Take parts that other code flew."""
    grounder: str = DEFAULT_GROUNDER
    """The segmentation's weights of all learned systems: shipped ones by name, or a folder."""
    world: WorldName = "arena"


@dataclass(frozen=True, eq=False)
class Cell:
    """A finished cell."""

    system: str
    column: Column
    rows: tuple[dict[str, Any], ...] = field(repr=False)
    note: str = ""

    @property
    def key(self) -> str:
        """As in the keys of the results."""
        return _key(self.system, self.column)

    def scores(self) -> list[EpisodeMetrics]:
        """The metrics of every flight."""
        names = [entry.name for entry in fields(EpisodeMetrics)]
        return [EpisodeMetrics(**{name: row[name] for name in names}) for row in self.rows]

    def summary(self, seed: int = 0) -> dict[str, Interval]:
        """Means with 95 % intervals."""
        return summarise(self.scores(), seed)

    def lost(self) -> dict[str, int]:
        """Failed flights by the stage that lost them; empty for systems without thoughts."""
        if not any("verdict" in row for row in self.rows):
            return {}
        counts = Counter(row["verdict"]["lost_by"] for row in self.rows)
        return {stage: counts[stage] for stage in STAGES}

    def signs(self, arrived: bool) -> dict[str, int]:
        """How many flights that arrived, or failed, showed a mistake of each stage."""
        judged = [row for row in self.rows if "verdict" in row and row["sr"] is arrived]
        counts = Counter(stage for row in judged for stage in row["verdict"]["signs"])
        return {stage: counts[stage] for stage in STAGES} if judged else {}

    def report(self, seed: int = 0) -> dict[str, Any]:
        """Everything about the cell, ready for JSON."""
        return {
            "system": system_of(self.system).title,
            "note": self.note,
            "n": len(self.rows),
            "metrics": {name: interval.to_dict() for name, interval in self.summary(seed).items()},
            "ended_by": count_endings(self.scores()),
            "lost_by": self.lost(),
            "signs": {"failed": self.signs(False), "arrived": self.signs(True)},
            "flights": [{key: value for key, value in row.items() if key != "picture"} for row in self.rows],
        }


@dataclass(frozen=True)
class Job:
    """One part of one cell."""

    config: TableConfig
    system: str
    column: Column
    place: Path
    number: int
    code: str
    """``code_digest`` of whoever ordered it."""

    @property
    def path(self) -> Path:
        """Where its rows go."""
        return self.place / f"part-{self.number:04d}.json"


def run_config(seed: int, world: WorldName = "arena") -> RunConfig:
    """Flights of the table: the usual rules, one core per process."""
    place = WORLDS[world]
    return RunConfig(seed, PART, arena=place.arena(ArenaConfig(render=RenderConfig(threads=1))), look=place.look)


def fly_table(
    names: Sequence[str],
    columns: Sequence[Column],
    config: TableConfig,
    workers: Workers = 2,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Cell]:
    """All cells, column by column; ``progress`` hears of flights that are done, first of those done before."""
    places = {(s, c): cell_place(s, c, config) for c in columns for s in names}
    sizes = {column: len(_cases(column, config)) for column in columns}
    jobs = [  # all systems on a part before the next part: what one has read the others need not read again
        Job(config, system, column, places[system, column], number, code_digest())
        for column in columns
        for number in range((sizes[column] + PART - 1) // PART)
        for system in names
    ]
    waiting = []
    for job in jobs:
        if (rows := _earlier_rows(job)) is not None:
            progress(len(rows))
        else:
            waiting.append(job)
    for job, rows in each(partial(fly_part, _bank()), waiting, workers) if waiting else ():
        write_json(job.path, {"code": job.code, "rows": rows})
        progress(len(rows))
    return [
        Cell(system, column, tuple(_rows(system, column, place, config)), systems.system_note(system, config.weights))
        for (system, column), place in places.items()
    ]


def cell_place(system: str, column: Column, config: TableConfig) -> Path:
    """The folder of a cell's parts, named after all that its flights depend on."""
    depends = {
        "system": systems.fingerprint(system, column, config.folder, config.weights, config.grounder),
        "examples": examples_digest(_cases(column, config)),
        "run": asdict(run_config(config.seed, config.world)),
    }
    key = hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:16]
    return config.folder / "cells" / f"{_key(system, column)}-{key}"


def _key(system: str, column: Column) -> str:
    """Also part of file names, where the colon of module:Class is not welcome everywhere."""
    return f"{system.replace(':', '-')}.{column.key}"


@cache
def code_digest() -> str:
    """Changes with the code behind a flight; comments and layout do not count."""
    root, total = Path(wayword.__file__).parent, hashlib.sha256()
    for part in _FLOWN_BY:
        place = root / part
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            total.update(ast.dump(ast.parse(path.read_text(encoding="utf-8"))).encode())
    return total.hexdigest()[:16]


def fly_part(bank: MeshBank, job: Job) -> tuple[Job, list[dict[str, Any]]]:
    """The rows of one part, flown."""
    config, cases = job.config, _cases(job.column, job.config)
    first = job.number * PART
    cases = cases[first : first + PART]
    detective = None
    if system_of(job.system).learned:
        known = {case.example.id: case.mentions for case in cases if case.mentions is not None}
        detective = Detective(known)
    policy = _policy(job.system, config.weights, config.grounder, job.place)
    taught = systems.teach_system(job.system, job.column, cases, config.folder, config.grounder)
    cuts, run = [case.example for case in cases], run_config(config.seed, config.world)
    flights = fly_examples(policy, cuts, bank, run, taught, witness=detective, first=first)
    if detective is not None:

        def fly(helped: Policy, number: int, witness: Witness) -> ScoredFlight:
            alone = [cuts[number]], bank, run, [taught[number]]
            return fly_examples(helped, *alone, witness=witness, first=first + number)[0]

        fly_relabelled(policy, flights, detective, fly)
    return job, [_row(flight, detective) for flight in flights]


def _row(flight: ScoredFlight, detective: Detective | None) -> dict[str, Any]:
    scores = {key: round(v, 5) if isinstance(v, float) else v for key, v in asdict(flight.metrics).items()}
    row: dict[str, Any] = {"example": flight.example.id, **scores, "track": flight.track}
    if detective is not None:
        row["verdict"] = asdict(detective.verdicts[flight.example.id])
        if flight.example.id in detective.pictures:
            row["picture"] = detective.pictures[flight.example.id]
    return row


def _earlier_rows(job: Job) -> list[dict[str, Any]] | None:
    """The rows of a part that was flown before; None if it must be flown."""
    try:
        saved = json.loads(job.path.read_text(encoding="utf-8"))
        rows: list[dict[str, Any]] = saved["rows"]
        return rows if job.config.any_code or saved["code"] == job.code else None
    except (OSError, ValueError, KeyError, TypeError):  # not there, or damaged by hand: flown again
        return None


def _rows(system: str, column: Column, place: Path, config: TableConfig) -> Iterator[dict[str, Any]]:
    kept_as = replace(config, any_code=True)  # just flown, or accepted before
    for first in range(0, len(_cases(column, config)), PART):
        rows = _earlier_rows(Job(kept_as, system, column, place, first // PART, ""))
        assert rows is not None
        yield from rows


@cache
def _cases(column: Column, config: TableConfig) -> list[TableCase]:
    return load_cases(column, config.folder, config.seed, config.limit)


@cache
def _policy(system: str, weights: Path | None, grounder: str, place: Path) -> Policy:
    """``place`` is named after what is in the weights: other weights at the same path are loaded anew."""
    return systems.load_system(system, weights, grounder)


@cache
def _bank() -> MeshBank:
    return MeshBank.of_catalogue()
