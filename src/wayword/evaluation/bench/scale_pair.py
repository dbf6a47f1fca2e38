"""What a second worker brings on this machine, in wall time: flights shared by two, gradients averaged over two.

Both are rates after all workers have done their first unit, so that their start does not count. Wall time says as much
about what else the machine does: measure when it does nothing else.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from wayword.compute import Crew, each
from wayword.episodes import examples, load_natural
from wayword.evaluation.bench.scale_costs import stage1_step
from wayword.evaluation.runner import fly_examples
from wayword.evaluation.table.columns import shipped_database
from wayword.evaluation.table.reading import steady_policy
from wayword.learning.common.loop import NO_LIMIT, LoopConfig, Run
from wayword.learning.common.stage_process import TrainingStage, run_stage
from wayword.learning.common.team import team_of
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Policy
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig

JOBS, FLIGHTS = 6, 8
WARM, STEPS = 3, 15


def flights_per_second(crew: Crew) -> float:
    """Of FsPVN, natural dev instructions, with this crew."""
    begun = 0.0
    for number, _ in enumerate(each(partial(_fly, MeshBank.of_catalogue()), range(JOBS + crew.count), crew), 1):
        if number == crew.count:
            begun = time.perf_counter()
    return FLIGHTS * JOBS / (time.perf_counter() - begun)


def _fly(bank: MeshBank, job: int) -> None:
    cuts = [cut for episode in load_natural("dev")[:16] for cut in examples(episode, 2)]
    some = list(islice((cuts[(job * FLIGHTS + k) % len(cuts)] for k in range(FLIGHTS)), FLIGHTS))
    config = RunConfig(batch=FLIGHTS, arena=ArenaConfig(render=RenderConfig(threads=1)))
    fly_examples(_policy(), some, bank, config, [shipped_database("dev")] * FLIGHTS)


@cache
def _policy() -> Policy:
    return steady_policy("fspvn")


@dataclass(frozen=True)
class PairTraining:
    """Settings of a training that only measures time."""

    workers: int = 1
    loop: LoopConfig = field(default_factory=lambda: LoopConfig(WARM + STEPS, NO_LIMIT))


def batches_per_second(workers: int) -> float:
    """Batches of stage 1, over all processes."""
    with tempfile.TemporaryDirectory() as folder:
        run_stage(TrainingStage(train_pair, Path(folder) / "run", PairTraining(workers)))
        seconds: float = json.loads((Path(folder) / "run" / "seconds.json").read_text(encoding="utf-8"))
    return workers * STEPS / seconds


def train_pair(folder: Path, config: PairTraining, stop: threading.Event | None = None) -> None:
    """In a process of its own: steps on one batch of random numbers."""
    import torch

    torch.set_num_threads(1)
    with team_of(TrainingStage(train_pair, folder, config), config.workers) as team:
        net, loss = stage1_step()
        run = Run(folder, net, config.loop, stop=stop, leader=team.leader)

        def step(rng: np.random.Generator) -> tuple[Any, dict[str, float]]:
            return loss(), {}

        team.share(step, net)
        begun = time.perf_counter()
        while team.goes_on(run):
            if run.step == WARM:
                begun = time.perf_counter()
            run.apply(*team.gradients(run.rng))
        if team.leader:
            (folder / "seconds.json").write_text(json.dumps(time.perf_counter() - begun), encoding="utf-8")
