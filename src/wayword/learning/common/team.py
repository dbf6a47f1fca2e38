"""Gradients from several processes: each computes those of a batch of its own, ``torch.distributed`` averages them.

Every process runs the same training and makes the same steps of the optimiser; the first one, the leader, decides how
long it goes on and keeps log and checkpoints. Two one-thread processes scale by 2.0 on two cores where two threads in
one process do not (they wait for each other in every layer). A run with n processes is as reproducible as a run with
one. The others are started

    by the training itself   ``workers`` processes of this machine, on the loopback interface
    by Ray                   the same on a cluster, if ``RAY`` in the environment names one
    by torchrun              which starts all of them:  torchrun --no-python --nproc-per-node 2 wayword train policy ...

gloo averages on CPUs, nccl on GPUs (``device`` cuda).
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import torch.distributed.nn.functional  # before there is a group: its functions keep the one they find as their default
from torch import Tensor, distributed, nn
from torch.distributed import FileStore  # type: ignore[attr-defined]
from torch.nn.parallel import DistributedDataParallel

from wayword.errors import WaywordError
from wayword.learning.common.followers import RAY, STORE, Followers, LocalFollowers, RayFollowers
from wayword.learning.common.loop import Run
from wayword.learning.common.stage_process import TrainingStage

Device = Literal["cpu", "cuda"]
BatchStep = Callable[[np.random.Generator], tuple[Tensor, dict[str, float]]]
"""Loss and numbers to log of one batch, drawn with the generator."""
_PATIENCE = timedelta(minutes=30)
"""The leader may check its network between two steps, and a slow disk may still be loading data."""


def seeded(seed: int, step: int, rank: int) -> np.random.Generator:
    """The generator of one step in one process; also seeds torch (dropout)."""
    torch.manual_seed((seed * 1_000_003 + step) * 64 + rank)
    return np.random.default_rng([seed, 50, step, rank])


class _Batch(nn.Module):
    """One step as a module whose forward pass is the loss: what DistributedDataParallel wants."""

    def __init__(self, step: BatchStep, networks: tuple[nn.Module, ...]) -> None:
        super().__init__()
        self.networks, self.step = nn.ModuleList(networks), step

    def forward(self, rng: np.random.Generator) -> tuple[Tensor, dict[str, float]]:
        return self.step(rng)


class Team:
    """The processes of a training; alone, there is nothing to average and nothing is changed."""

    def __init__(self, rank: int = 0, size: int = 1, device: torch.device | None = None) -> None:
        self.rank, self.size = rank, size
        self.device = device or torch.device("cpu")
        self._batch: Callable[[np.random.Generator], tuple[Tensor, dict[str, float]]] | None = None
        self._networks: tuple[nn.Module, ...] = ()

    @property
    def leader(self) -> bool:
        """Whether this process decides, logs and saves."""
        return self.rank == 0

    def share(self, step: BatchStep, *networks: nn.Module) -> None:
        """Say what a step is and whose gradients it has; the others then begin with the leader's parameters."""
        self._networks = networks
        self._batch = step if self.size == 1 else DistributedDataParallel(_Batch(step, networks))

    def forget(self) -> None:
        """Let go of what was shared."""
        self._batch, self._networks = None, ()

    def rng(self, run: Run) -> np.random.Generator:
        """What to draw the next batch with: the leader goes on with its run's generator, others have one per step."""
        return run.rng if self.leader else seeded(run.config.seed, run.step, self.rank)

    def goes_on(self, run: Run) -> bool:
        """Whether there is another step; all processes take the leader's time, so that their schedules are the same."""
        if self.size == 1:
            return not run.finished
        say = torch.tensor([run.seconds, float(run.finished)], dtype=torch.float64, device=self.device)
        distributed.broadcast(say, 0)
        run.clock_s = float(say[0])
        return not bool(say[1])

    def gradients(self, rng: np.random.Generator) -> tuple[Tensor, dict[str, float]]:
        """Loss of this process's batch, with gradients ready: the mean over all processes."""
        assert self._batch is not None, "share first"
        loss, numbers = self._batch(rng)
        for network in self._networks:
            network.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach(), numbers


@contextmanager
def team_of(stage: TrainingStage, size: int, device: Device = "cpu") -> Iterator[Team]:
    """The team of a training that ``stage`` describes; inside it, this process is one of ``size``."""
    if size < 1:
        raise WaywordError(f"workers {size}: at least 1 is needed")
    place = _device(device, int(os.environ.get("LOCAL_RANK", 0)))
    if "RANK" in os.environ:
        with _member(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), size, place) as team:
            yield team
    elif size == 1:
        yield Team(device=place)
    else:
        with tempfile.TemporaryDirectory() as folder, _followers(stage, size, Path(folder)) as followers:
            distributed.init_process_group(_backend(place), store=followers.store(), rank=0, world_size=size)
            team = Team(0, size, place)
            try:
                yield team
            except RuntimeError as error:  # what a lost connection to the others is
                raise followers.explain(error) from error
            finally:
                _part(team)


@contextmanager
def _member(rank: int, world: int, size: int, device: torch.device) -> Iterator[Team]:
    """In a process that somebody else started as one of several."""
    if world != size:
        raise WaywordError(f"{world} processes were started, the settings are for {size}: results depend on it")
    if STORE in os.environ:
        store = FileStore(os.environ[STORE], world)
        distributed.init_process_group(_backend(device), store=store, rank=rank, world_size=world, timeout=_PATIENCE)
    else:
        distributed.init_process_group(_backend(device), timeout=_PATIENCE)  # MASTER_ADDR, MASTER_PORT
    team = Team(rank, world, device)
    try:
        yield team
    finally:
        _part(team)


def _part(team: Team) -> None:
    """Leave the others: gloo's threads end when nothing holds the group any more.

    One of them that lives until Python ends may let go of its last tensor then, and abort a process that has done its
    work.
    """
    team.forget()
    gc.collect()
    distributed.destroy_process_group()


def _followers(stage: TrainingStage, size: int, folder: Path) -> Followers:
    cluster = os.environ.get(RAY)
    return RayFollowers(stage, size, cluster, folder) if cluster else LocalFollowers(stage, size, folder)


def _backend(device: torch.device) -> str:
    if sys.platform == "win32" and device.type == "cpu":  # pragma: no cover
        raise WaywordError("several processes per network need Linux or macOS; use one")
    return "nccl" if device.type == "cuda" else "gloo"


def _device(name: Device, number: int) -> torch.device:
    if name == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise WaywordError("--device cuda: PyTorch finds no GPU here; leave it out to train on the CPU")
    torch.cuda.set_device(number)
    return torch.device("cuda", number)


def to_device(device: torch.device, *arrays: Any) -> tuple[Tensor, ...]:
    """Arrays as tensors where the network is."""
    return tuple(torch.from_numpy(array).to(device) for array in arrays)
