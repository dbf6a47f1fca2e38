"""What workers share in the tests: every kind of job that verbs give to a crew, small, as the bytes that come of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path

from wayword.compute import Crew
from wayword.episodes import SPLITS, examples, load_natural
from wayword.episodes.instructions import Recipe, write_dataset
from wayword.shipped import DEFAULT_GROUNDER
from wayword.sim.models.catalogue import names
from wayword.sim.render.bank import MeshBank

Work = Callable[[Crew, Path], bytes]
EPISODES = Recipe("dev", 170, 3, names(SPLITS["dev"]))
"""Five jobs."""


def generated(crew: Crew, folder: Path) -> bytes:
    """`wayword data generate`."""
    write_dataset(EPISODES, folder / "all.jsonl", folder / "references.jsonl", crew)
    return (folder / "all.jsonl").read_bytes() + (folder / "references.jsonl").read_bytes()


def frames(crew: Crew, folder: Path) -> bytes:
    """`wayword ar generate`."""
    from wayword.learning.ar.backgrounds import SimulatedFlights
    from wayword.learning.ar.config import ARConfig, PoolConfig, ViewConfig
    from wayword.learning.ar.generate import Generator
    from wayword.learning.ar.objects import ObjectPool
    from wayword.learning.ar.shards import generate_shards

    config = ARConfig(4, objects=PoolConfig(random_objects=12), views=ViewConfig(frames_per_layout=2, flights=2))
    generator = Generator(ObjectPool.build((), config.objects, "train"), SimulatedFlights(), config, 3)
    list(generate_shards(generator, folder / "ar", 24, crew))
    return _all_bytes(folder / "ar")


def flights(crew: Crew, folder: Path) -> bytes:
    """`wayword eval`."""
    from wayword.evaluation.shared_flights import Sortie, fly_shared
    from wayword.pilot.episode_loop import RunConfig

    cuts = [cut for episode in load_natural("dev")[:4] for cut in examples(episode, 2)][:6]
    flown = fly_shared(Sortie("oracle", None, DEFAULT_GROUNDER, cuts, None, _bank(), RunConfig(batch=1)), crew)
    return json.dumps([{**asdict(flight.metrics), "path": flight.path.tolist()} for flight in flown]).encode()


def table(crew: Crew, folder: Path) -> bytes:
    """`wayword eval table`."""
    from wayword.evaluation.table.cells import TableConfig, fly_table
    from wayword.evaluation.table.columns import Column

    cells = fly_table(["average", "oracle"], [Column("dev", "natural")], TableConfig(folder, limit=33), crew)
    return json.dumps([cell.report() for cell in cells]).encode()


def commands(crew: Crew, folder: Path) -> bytes:
    """`wayword eval commands`."""
    from wayword.evaluation.commands.flights import CommandRun, fly_commands

    flown = fly_commands(CommandRun(policy="oracle_steps", kinds=("random",), limit=26), crew)
    return json.dumps([flight.to_json() for flight in flown]).encode()


def faults(crew: Crew, folder: Path) -> bytes:
    """`wayword flight faults`."""
    from wayword.flight.fault_flights import fly_faults
    from wayword.flight.faults import fault_table
    from wayword.flight.random_faults import edge_report, report

    flown = fly_faults(10, 0, crew)
    problems = [problem for result in flown.suite for problem in result.problems]
    return json.dumps([fault_table(flown.suite), report(flown.random), edge_report(flown.edges), problems]).encode()


def policy_data(crew: Crew, folder: Path) -> bytes:
    """The data of `wayword train policy`; its photos, which take a minute, are not those of a flight."""
    from wayword.grounding.weight_files import find_weights
    from wayword.learning.policy.prepare import DataConfig, DataInputs, prepare

    (folder / "data" / "photos").mkdir(parents=True)
    config = DataConfig(episodes=45, drills=0, natural=1, dev=1)
    prepare(folder / "data", config, DataInputs(find_weights("sim")), crew)
    return _all_bytes(folder / "data")


EVERY: dict[str, Work] = {
    each.__name__: each for each in (generated, frames, flights, table, commands, faults, policy_data)
}


def _all_bytes(folder: Path) -> bytes:
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return total.digest()


@cache
def _bank() -> MeshBank:
    return MeshBank.of_catalogue(names(SPLITS["dev"]))
