"""What a database costs as it grows: time to load, to read a sentence, to decide, to teach one more, and memory.

Every size is measured in a process of its own, held to one core. All times are processor time of that process: what
else the machine is doing changes them little.

first load   of new objects, whose photos and phrases have no vectors yet
load         from the folder to the first instruction read, all vectors cached
parse        one natural dev instruction, references and P(o | r)
step         one decision of the default policy in flight, segmentation included
teach        one more object of five photos and five phrases, boxes given
memory       the most that the process ever had, networks included
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example, examples, load_natural
from wayword.evaluation.bench.many_objects import grow_database
from wayword.evaluation.bench.policy_speed import one_core
from wayword.evaluation.bench.simulator import peak_memory_mb
from wayword.evaluation.runner import fly_examples
from wayword.evaluation.table.columns import shipped_database
from wayword.intervals import Interval, bootstrap_mean
from wayword.objects import Box, ObjectDatabase, remove, teach, view_pixels
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Observations
from wayword.policy.fspvn import FsPVN
from wayword.policy.variants import WAYFINDER
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig

Result = TypeVar("Result")
SIZES = (8, 80, 800, 8000)
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
STEPS = 20
"""Decisions of a flight that are timed, the first one left out."""


@dataclass(frozen=True)
class DatabaseCost:
    """What a database of ``objects`` costs."""

    objects: int
    first_load_s: float
    new_objects: int
    """Of them, those without vectors at the first load."""
    load_s: float
    parse_ms: Interval
    step_ms: Interval
    teach_s: float
    memory_mb: float


class _Timed:
    """A policy with a stop-watch, which stops after so many decisions and one more."""

    def __init__(self, policy: FsPVN, steps: int) -> None:
        self.policy, self.name, self._steps = policy, policy.name, steps
        self.times: list[list[float]] = []
        """Milliseconds of each decision, by flight."""

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Not timed."""
        self.policy.reset(instructions, objects)
        self.times.append([])

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """Timed."""
        start = time.process_time()
        actions = self.policy.act(observations)
        self.times[-1].append(1000 * (time.process_time() - start))
        if len(self.times[-1]) > self._steps:
            actions[:, 2] = 1.0
        return actions


@dataclass(frozen=True)
class _Use:
    """What was measured while a database was in use."""

    load_s: float
    parse_ms: Sequence[float]
    step_ms: Sequence[float]
    memory_mb: float


def database_costs(
    flights: int,
    sizes: Sequence[int] = SIZES,
    progress: Callable[[int], None] = lambda done: None,
    steps: int = STEPS,
) -> list[DatabaseCost]:
    """Measure a database that grows through ``sizes``, with so many flights of ``steps`` decisions at each."""
    costs = []
    before = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "objects"
        for size in sizes:
            grow_database(folder, size)
            first_s = _alone(_first_load, folder)
            use = _alone(_fly, folder, flights, steps)
            teach_s = _alone(_teach, folder)
            parse_ms, step_ms = (bootstrap_mean(ms, np.random.default_rng(0)) for ms in (use.parse_ms, use.step_ms))
            cost = DatabaseCost(size, first_s, size - before, use.load_s, parse_ms, step_ms, teach_s, use.memory_mb)
            costs.append(cost)
            before = size
            progress(1)
    return costs


def _alone(work: Callable[..., Result], *arguments: object) -> Result:
    """In a process of its own, with one thread: memory that others used does not count, nor do threads that wait."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(work, *arguments).result()
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _first_load(folder: Path) -> float:
    with one_core():
        policy = _ready_policy()
        start = time.process_time()
        policy.reset(["stop"], [ObjectDatabase.load(folder)])
        return time.process_time() - start


def _ready_policy() -> FsPVN:
    """The default policy with all networks in memory."""
    policy = WAYFINDER.load(None)
    policy.reset(["stop"], [shipped_database("test")])
    return policy


def _fly(folder: Path, flights: int, steps: int) -> _Use:
    cuts = [cut for episode in load_natural("dev") for cut in examples(episode, 2)]
    sample = [cuts[i * len(cuts) // flights] for i in range(flights)]
    with one_core():
        policy = _ready_policy()
        start = time.process_time()
        database = ObjectDatabase.load(folder)
        policy.reset([sample[0].instruction], [database])
        load_s = time.process_time() - start
        parse_ms = [_parse_ms(policy, cut, database) for cut in sample]
        timed = _Timed(policy, steps)
        bank = MeshBank.of_catalogue(shipped_database("dev").names)
        config = RunConfig(batch=1, arena=ArenaConfig(render=RenderConfig(threads=1)))
        fly_examples(timed, sample, bank, config, [database] * len(sample))
    step_ms = [float(np.mean(times[1:])) for times in timed.times if len(times) > 1]
    return _Use(load_s, parse_ms, step_ms, peak_memory_mb())


def _parse_ms(policy: FsPVN, cut: Example, database: ObjectDatabase) -> float:
    start = time.process_time()
    policy.language.parse(cut.instruction, database.phrase_list)
    return 1000 * (time.process_time() - start)


def _teach(folder: Path) -> float:
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 256, (240, 320, 3), np.uint8) for _ in range(5)]
    with one_core():
        start = time.process_time()
        exemplars = [view_pixels(picture, Box(40, 40, 200, 200)) for picture in pictures]
        teach(folder, "one more", exemplars, [f"one more thing {number}" for number in range(5)])
        seconds = time.process_time() - start
    remove(folder, "one more")
    return seconds
