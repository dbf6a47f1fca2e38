"""A training of one number, to see what several processes make of it; torchrun can start it as a module."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from support.extra_torch import torch
from wayword.errors import WaywordError
from wayword.learning.common.loop import NO_LIMIT, LoopConfig, Run
from wayword.learning.common.stage_process import TrainingStage
from wayword.learning.common.team import seeded, team_of


@dataclass(frozen=True)
class Tiny:
    """Settings."""

    loop: LoopConfig = LoopConfig(3, NO_LIMIT, log_every=1)  # noqa: RUF009 - frozen
    workers: int = 1
    trouble: str = ""
    """What befalls the second process."""

    @property
    def seed(self) -> int:
        return self.loop.seed


def train(folder: Path, config: Tiny, stop: threading.Event | None = None) -> None:
    """(w x - 1)^2 for x as it is drawn; every process writes down its weight and the gradient of every step."""
    torch.set_num_threads(1)
    with team_of(TrainingStage(train, folder, config), config.workers, config.loop.device) as team:
        torch.manual_seed(team.rank)  # they begin with different weights, until they share the leader's
        net = torch.nn.Linear(1, 1, bias=False)
        run = Run(folder, net, config.loop, stop=stop, leader=team.leader)

        def step(rng: np.random.Generator) -> tuple[torch.Tensor, dict[str, float]]:
            x = float(rng.random())
            return (net(torch.tensor([[x]])) - 1.0).square().mean(), {"x": x}

        team.share(step, net)
        rows = []
        while team.goes_on(run):
            if team.rank == 1 and run.step == 1:
                befall(config.trouble)
            weight = float(net.weight.detach())
            loss, numbers = team.gradients(seeded(config.seed, run.step, team.rank))
            rows.append((weight, float(net.weight.grad)))
            run.apply(loss, numbers)
        run.save()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"rank-{team.rank}.json").write_text(json.dumps([*rows, (float(net.weight.detach()), 0.0)]))


def befall(trouble: str) -> None:
    if trouble == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if trouble == "mistake":
        raise WaywordError("data/shard: is damaged; make it again")


if __name__ == "__main__":
    train(Path(sys.argv[1]), Tiny(workers=2))
