"""How long FsPVN thinks: milliseconds per step of one drone on one core, segmentation included.

Flights of natural dev instructions, one at a time, the process held to one core. Only ``act`` is timed: from image
and pose to action. Drawing the image and moving the drone are not part of it; reading the instruction, once per
flight, is timed by itself.

segmentation   proposals, embeddings and masks of the frame, P(o | b) and ALIGN
map            footprints, the maps' update, their turn to the prediction grid, and all bookkeeping
visitation     stage 1
control        stage 2, with the crop and summary it is shown
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import examples, load_natural
from wayword.evaluation.runner import fly_examples
from wayword.evaluation.table.columns import shipped_database
from wayword.intervals import Interval, bootstrap_mean, bootstrap_ratio
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Observations
from wayword.policy.fspvn import FsPVN
from wayword.policy.variants import FSPVN
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig

STAGES = ("segmentation", "map", "visitation", "control")


@dataclass(frozen=True)
class PolicySpeed:
    """Means over flights, in milliseconds."""

    step_ms: Interval
    stages_ms: Mapping[str, Interval]
    """What the step is made of, by stage; the map is what is left when the others are taken off."""
    shares: Mapping[str, Interval]
    """The same as fractions of the step: these can be compared between machines."""
    computing_ms: Interval
    """Processor time of a step: much less than ``step_ms`` means that the machine was busy with something else."""
    reading_ms: Interval
    slowest_ms: float
    """The slowest single step."""


class Timed:
    """FsPVN with a stop-watch. Times are lists by flight, in milliseconds; ``stages`` has sums over a flight."""

    def __init__(self, policy: FsPVN) -> None:
        self.policy, self.name = policy, policy.name
        self.readings: list[float] = []
        self.steps: list[list[float]] = []
        self.computing: list[list[float]] = []
        self.stages: list[defaultdict[str, float]] = []
        for part, method, stage in (
            (policy.grounder, "regions", "segmentation"),
            (policy.grounder, "ground", "segmentation"),
            (policy.stage1, "predict", "visitation"),
            (policy.control, "act", "control"),
        ):
            setattr(part, method, self._timed(getattr(part, method), stage))

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Timed as reading."""
        start = time.perf_counter()
        self.policy.reset(instructions, objects)
        self.readings.append(1000 * (time.perf_counter() - start))
        self.steps.append([])
        self.computing.append([])
        self.stages.append(defaultdict(float))

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """Timed as a step."""
        start, busy = time.perf_counter(), time.process_time()
        actions = self.policy.act(observations)
        self.steps[-1].append(1000 * (time.perf_counter() - start))
        self.computing[-1].append(1000 * (time.process_time() - busy))
        return actions

    def _timed(self, method: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            start = time.perf_counter()
            result = method(*arguments)
            self.stages[-1][stage] += 1000 * (time.perf_counter() - start)
            return result

        return run


def policy_speed(
    flights: int, weights: Path | None = None, progress: Callable[[int], None] = lambda done: None
) -> PolicySpeed:
    """Time ``flights`` flights, after one that does not count."""
    cuts = [cut for episode in load_natural("dev") for cut in examples(episode, 2)]
    sample = [cuts[i * len(cuts) // (flights + 1)] for i in range(flights + 1)]
    database = shipped_database("dev")
    config = RunConfig(batch=1, arena=ArenaConfig(render=RenderConfig(threads=1)))
    with one_core():
        timed = Timed(FSPVN.load(weights))
        fly_examples(
            timed, sample, MeshBank.of_catalogue(database.names), config, [database] * len(sample), progress=progress
        )
    return _summary(timed)


def _summary(timed: Timed) -> PolicySpeed:
    counts = [len(steps) for steps in timed.steps[1:]]
    totals = {stage: [flight[stage] for flight in timed.stages[1:]] for stage in STAGES}
    whole = [sum(steps) for steps in timed.steps[1:]]
    totals["map"] = [total - sum(parts) for total, *parts in zip(whole, *totals.values(), strict=True)]

    def per_step(sums: Sequence[float]) -> Interval:
        each = [total / count for total, count in zip(sums, counts, strict=True)]
        return bootstrap_mean(each, np.random.default_rng(0))

    return PolicySpeed(
        step_ms=per_step(whole),
        stages_ms={stage: per_step(sums) for stage, sums in totals.items()},
        shares={stage: bootstrap_ratio(sums, whole, np.random.default_rng(0)) for stage, sums in totals.items()},
        computing_ms=per_step([sum(steps) for steps in timed.computing[1:]]),
        reading_ms=bootstrap_mean(timed.readings[1:], np.random.default_rng(0)),
        slowest_ms=max(max(steps) for steps in timed.steps[1:]),
    )


@contextmanager
def one_core() -> Iterator[None]:
    """Hold this process to one core, where the system can; networks and renderer have one thread anyway."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
