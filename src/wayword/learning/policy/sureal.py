"""SuReAL (Appendix C): process A teaches stage 1, process B teaches stage 2, and each lives off the other's work.

    A   supervised: batches from the shared data set D, KL to the gold distributions        (Algorithm 1)
    B   reinforcement: flights of the whole policy, PPO on the intrinsic reward              (Algorithm 2)
    A -> B   stage 1's parameters, every ``send_every`` steps           exchange/stage1.safetensors
    B -> A   executions of the flights, every iteration                 exchange/executions-*.safetensors

Merge(D, E): every instruction is paired with its newest execution, the Oracle's until the policy has flown it
(line 13 of Algorithm 2; the release overwrites whole environments). The two run as processes that exchange
files, each written atomically, so that either can be killed and started again. ``sync`` runs both in turn in one
process: slower, but the same to the bit under a seed.

    train(folder, SurealTraining(), SurealInputs(data, grounder, stage1, stage2))
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import re
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from safetensors.torch import save_file

from wayword.errors import DataError
from wayword.guarded import read_json
from wayword.io import atomic_path, write_json
from wayword.learning.common.loop import NO_LIMIT, LoopConfig, Run
from wayword.learning.common.tensor_files import read_header, read_tensors
from wayword.learning.common.train_config import claim
from wayword.learning.policy import ppo
from wayword.learning.policy.control_run import ControlRun, ControlTraining
from wayword.learning.policy.dataset import Item, Samples
from wayword.learning.policy.executions import Execution, read_executions, write_executions
from wayword.learning.policy.export import load_vocabulary
from wayword.learning.policy.networks import Stage1
from wayword.learning.policy.parallel import seeded
from wayword.learning.policy.seeing import Eyes, SeeingWorld
from wayword.learning.policy.teacher import Flights, fly_world
from wayword.learning.policy.train_control import sampling_actor
from wayword.learning.policy.train_visitation import Data, VisitationTraining, load_data, loss_of
from wayword.sim.render.bank import MeshBank

_REMEDY = "delete the folder exchange to begin it anew"


@dataclass(frozen=True)
class SurealPlan:
    """How long and how fast both processes go on."""

    minutes: float = 30.0
    """Of both, unless in ``sync``."""
    iterations: int = 10_000
    """Of process B, at most."""
    flights: int = 32
    """N: flights per iteration of process B."""
    send_every: int = 50
    """K_iter^SL: steps of process A between two parameters sent."""
    learning_rate: float = 3e-4
    """Of process A."""
    control_rate: float = 1e-4
    """Of process B: it starts from a policy that flies."""
    sync: bool = False
    """Both in one process, in turn, until the iterations are over: reproducible to the bit."""
    seed: int = 0
    """Of process A; process B has that of its ``ControlTraining``."""


@dataclass(frozen=True)
class SurealTraining:
    """Settings of both processes."""

    visitation: VisitationTraining = field(default_factory=VisitationTraining)
    """Samples and network of stage 1."""
    control: ControlTraining = field(default_factory=ControlTraining)
    """Network, PPO and reward of stage 2."""
    plan: SurealPlan = field(default_factory=SurealPlan)

    @property
    def seed(self) -> int:
        """Of process A."""
        return self.plan.seed

    @property
    def repeatable(self) -> bool:
        """Processes at their own pace never meet the same twice."""
        return self.plan.sync


@dataclass(frozen=True)
class SurealInputs:
    """What both processes start with."""

    data: Path
    """What ``prepare`` made."""
    grounder: Path
    """Weights of the segmentation."""
    stage1: Path
    """A finished run of ``train_visitation``, or process A of another of these (RUN/a), to start from."""
    stage2: Path
    """A finished run of ``train_control``, or process B of another of these (RUN/b), to start from."""


class Exchange:
    """The folder through which the processes speak."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._sent_at = 0

    @property
    def stage1(self) -> Path:
        """The newest parameters of stage 1."""
        return self.folder / "stage1.safetensors"

    def send_parameters(self, state: dict[str, torch.Tensor], step: int) -> None:
        """Line 8 of Algorithm 1."""
        with atomic_path(self.stage1) as temporary:
            save_file({k: v.detach().clone().contiguous() for k, v in state.items()}, temporary, {"step": str(step)})

    def newest_parameters(self) -> tuple[dict[str, torch.Tensor], int] | None:
        """Line 3 of Algorithm 2; None if nothing new was sent."""
        if not self.stage1.exists():
            return None
        try:
            step = int(read_header(self.stage1, _REMEDY).texts.get("step", 0))
        except ValueError as error:
            raise DataError(self.stage1, f"does not say its step; {_REMEDY}") from error
        if step == self._sent_at:
            return None
        self._sent_at = step
        return read_tensors(self.stage1, _REMEDY), step

    def send_executions(self, iteration: int, numbers: list[int], executions: list[Execution]) -> None:
        """Line 13 of Algorithm 2: numbers say which instruction each execution belongs to."""
        write_executions(self.folder / f"executions-{iteration:06d}.safetensors", executions)
        with atomic_path(self.folder / f"executions-{iteration:06d}.json") as temporary:
            temporary.write_text(json.dumps(numbers), encoding="utf-8")  # last: it makes the pair complete

    def merge(self, items: list[Item], after: int, last: float = math.inf) -> int:
        """Merge(D, E) with the executions sent after iteration ``after``, up to ``last``; the newest iteration."""
        newest = after
        for path in sorted(self.folder.glob("executions-*.json")):
            iteration = int(re.sub(r"\D", "", path.stem))
            if not after < iteration <= last:
                continue
            numbers, executions = read_json(path, remedy=_REMEDY), read_executions(path.with_suffix(".safetensors"))
            try:
                for number, execution in zip(numbers, executions, strict=True):
                    items[number] = replace(items[number], execution=execution)
            except (TypeError, ValueError, IndexError) as error:
                raise DataError(path, f"does not fit its executions; {_REMEDY}") from error
            newest = max(newest, iteration)
        return newest


class ProcessA:
    """Supervised learning of stage 1 (Algorithm 1)."""

    def __init__(
        self, folder: Path, config: SurealTraining, inputs: SurealInputs, data: Data, exchange: Exchange
    ) -> None:
        self.config, self.plan, self.exchange = config, config.plan, exchange
        samples: Samples = data.samples
        self.items: list[Item] = list(samples.items)
        self.samples = Samples(self.items, samples.photos, samples.density, samples.vocabulary, samples.config)
        self.weights = data.weights
        self.net = Stage1(len(samples.vocabulary), config.visitation.size)
        self.net.load_state_dict(averaged_of(inputs.stage1))
        # The learning rate falls with the time spent, except where a run must be the same on every machine.
        plan = self.plan
        steps, minutes = (plan.iterations * plan.send_every, NO_LIMIT) if plan.sync else (10**9, plan.minutes)
        loop = LoopConfig(steps, minutes, plan.learning_rate, weight_decay=1e-4, seed=plan.seed)
        self.run = Run(folder / "a", self.net, loop)
        # A run that goes on has met what it had met before, and no more: what came since is merged in its turn.
        self.merged = self.exchange.merge(self.items, -1, self.run.about.get("merged", -1))

    def step(self) -> None:
        """Lines 4 to 8: one update, and parameters for process B now and then."""
        rng = seeded(self.plan.seed, self.run.step, 7)
        self.net.train()
        visit, goal, _ = loss_of(self.net, self.samples.draw(rng, self.config.visitation.examples, self.weights))
        numbers = {"visit": float(visit.detach().mean()), "goal": float(goal.detach().mean())}
        self.run.update((visit + goal).mean(), numbers)
        if self.run.step % self.plan.send_every == 0:
            self.exchange.send_parameters(self.run.averaged(), self.run.step)
            self.merged = self.exchange.merge(self.items, self.merged)
            self.run.about = {"merged": self.merged}


class ProcessB:
    """Reinforcement learning of stage 2 (Algorithm 2)."""

    def __init__(
        self, folder: Path, config: SurealTraining, inputs: SurealInputs, data: Data, exchange: Exchange
    ) -> None:
        self.plan, self.exchange, self.items = config.plan, exchange, list(data.samples.items)
        self.weights = data.weights
        self.control = replace(config.control, ppo=replace(config.control.ppo, learning_rate=self.plan.control_rate))
        self.run = ControlRun(folder / "b", self.control)
        if self.run.step == 0:
            finished = ControlRun(inputs.stage2, config.control)
            self.run.control.load_state_dict(finished.control.state_dict())
            self.run.value.load_state_dict(finished.value.state_dict())
        self.stage1 = Stage1(len(data.samples.vocabulary), config.visitation.size)
        self.stage1.load_state_dict(averaged_of(inputs.stage1))
        names = sorted({item.name for each in self.items for item in each.example.objects})
        self.eyes = Eyes(MeshBank.of_catalogue(names), data.grounder, data.samples.photos, data.samples.vocabulary)

    def step(self) -> dict[str, float]:
        """Lines 3 to 13: newest stage 1, N flights, PPO updates, executions for process A."""
        newest = self.exchange.newest_parameters()
        if newest is not None:
            self.stage1.load_state_dict(newest[0])
        rng = self.run.rng
        numbers = [int(n) for n in rng.choice(len(self.items), self.plan.flights, replace=False, p=self.weights)]
        world = SeeingWorld([self.items[n] for n in numbers], self.eyes, self.stage1, self.run.config.inputs, rng)
        flights: Flights = fly_world(
            world, sampling_actor(self.run.control, self.run.value, rng), self.run.config.reward
        )
        batch = ppo.make_batch(*flights[:5], self.control.ppo)
        logged = ppo.update(self.run.control, self.run.value, self.run.optimiser, batch, self.control.ppo, rng)
        pairs = [(n, e) for n, e, whole in zip(numbers, world.executions(), world.whole, strict=True) if whole]
        if pairs:  # a flight that followed the first segment only would be a wrong pair for the whole instruction
            self.exchange.send_executions(self.run.step, [n for n, _ in pairs], [e for _, e in pairs])
        self.run.step += 1
        self.run.frames += sum(len(r) for r in flights.rewards)
        result = {**flights.numbers(), **logged}
        self.run.log(result)
        return result


def data_of(folder: Path, config: SurealTraining, inputs: SurealInputs) -> Data:
    """The data with the words of the stage 1 to start from, which are kept beside what becomes of it."""
    vocabulary = load_vocabulary(inputs.stage1 / "vocabulary.json")
    (folder / "a").mkdir(parents=True, exist_ok=True)
    write_json(folder / "a" / "vocabulary.json", list(vocabulary.words))
    return load_data(config.visitation, inputs.data, inputs.grounder, vocabulary)


def averaged_of(folder: Path) -> dict[str, torch.Tensor]:
    """The averaged weights of a run's checkpoint."""
    path = folder / "checkpoint.safetensors"
    return read_tensors(path, "train stage 1 first", "averaged.")


def train(folder: Path, config: SurealTraining, inputs: SurealInputs, stop: threading.Event | None = None) -> None:
    """Run both processes to the end."""
    record = claim(folder, "policy/sureal", config, inputs)
    for part in ("a", "b"):
        record.keep(folder / part)  # a run can start from either of them
    torch.set_num_threads(1)
    stop = stop or threading.Event()
    exchange, plan = Exchange(folder / "exchange"), config.plan
    if plan.sync:
        data = data_of(folder, config, inputs)
        a = ProcessA(folder, config, inputs, data, exchange)
        b = ProcessB(folder, config, inputs, data, exchange)
        while b.run.step < plan.iterations and not stop.is_set():
            while a.run.step < (b.run.step + 1) * plan.send_every:
                a.step()
            a.run.save()  # killed from here on, process B flies again with the parameters it was sent
            b.step()
            b.run.save()
        b.run.export()
        return
    context = multiprocessing.get_context("spawn")
    other = context.Process(target=_process_b, args=(folder, config, inputs, os.getpid()), daemon=True)
    other.start()
    try:
        a = ProcessA(folder, config, inputs, data_of(folder, config, inputs), exchange)
        while not a.run.finished and other.is_alive() and not stop.is_set():
            a.step()
        a.run.save()
    finally:
        (folder / "stop").touch()
        other.join(timeout=120)


def _process_b(folder: Path, config: SurealTraining, inputs: SurealInputs, parent: int) -> None:
    torch.set_num_threads(1)
    (folder / "stop").unlink(missing_ok=True)
    b = ProcessB(folder, config, inputs, data_of(folder, config, inputs), Exchange(folder / "exchange"))
    last = time.monotonic()
    while b.run.step < config.plan.iterations and not (folder / "stop").exists() and os.getppid() == parent:
        b.step()
        if time.monotonic() - last > 60:
            b.run.save()
            last = time.monotonic()
    b.run.save()
    b.run.export()
