"""SuReAL (Appendix C): process A teaches stage 1, process B teaches stage 2, and each lives off the other's work.

    A   supervised: batches from the shared data set D, KL to the gold distributions        (Algorithm 1)
    B   reinforcement: flights of the whole policy, PPO on the intrinsic reward              (Algorithm 2)
    A -> B   stage 1's parameters, every ``send_every`` steps           exchange/stage1.safetensors
    B -> A   executions of the flights, every iteration                 exchange/executions-*.safetensors
    B <-> C  any number of actors that fly for B (``actors``), if it does not fly itself

Merge(D, E): every instruction is paired with its newest execution, the Oracle's until the policy has flown it
(line 13 of Algorithm 2; the release overwrites whole environments). The two run as processes that exchange
files, each written atomically, so that either can be killed and started again. ``sync`` runs both in turn in one
process: slower, but the same to the bit under a seed. Actors fly with the parameters they were sent: what they send
back is learned from if process B has made at most ``stale`` iterations since.

    train(folder, SurealTraining(), SurealInputs(data, grounder, stage1, stage2))
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path

import torch

from wayword.compute import Crew, each
from wayword.errors import WaywordError
from wayword.io import write_json
from wayword.learning.common.followers import RAY
from wayword.learning.common.loop import NO_LIMIT, LoopConfig, Run
from wayword.learning.common.team import seeded
from wayword.learning.common.tensor_files import read_torch
from wayword.learning.common.train_config import claim
from wayword.learning.policy import ppo
from wayword.learning.policy.actors import Cockpit, Logbook, Order, fly_order, state_of
from wayword.learning.policy.control_run import ControlRun, ControlTraining
from wayword.learning.policy.dataset import Item, Samples
from wayword.learning.policy.exchange import Exchange
from wayword.learning.policy.export import load_vocabulary
from wayword.learning.policy.networks import Stage1
from wayword.learning.policy.seeing import Eyes, SeeingWorld
from wayword.learning.policy.teacher import Flights, fly_world
from wayword.learning.policy.train_control import sampling_actor
from wayword.learning.policy.train_visitation import Data, VisitationTraining, load_data, loss_of
from wayword.sim.render.bank import MeshBank

ACTOR_LIVES = 5
"""How often an order is flown again whose actor died: something else is wrong if it dies every time."""


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
    """Of process B at its beginning: it starts from a policy that flies."""
    control_rate_falls: bool = True
    """Whether that rate falls to nothing by the end."""
    mirror: bool = True
    """Process B asks stage 1 a second time in a mirror, as it is asked in flight."""
    imagined: float = 0.6
    """Share of process B's iterations that are flown without segmentation, on true masks, in half the time. What that
    costs or brings was not measured by itself."""
    sync: bool = False
    """Both in one process, in turn, until the iterations are over: reproducible to the bit."""
    actors: int = 0
    """Processes that fly for process B, on this machine or on a cluster; 0: it flies itself. Not with ``sync``."""
    stale: int = 4
    """Iterations that the parameters of an actor's flights may be old; with n actors they are n - 1 old as a rule."""
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


class ProcessA:
    """Supervised learning of stage 1 (Algorithm 1)."""

    def __init__(
        self, folder: Path, config: SurealTraining, inputs: SurealInputs, data: Data, exchange: Exchange
    ) -> None:
        self.config, self.plan, self.exchange = config, config.plan, exchange
        samples: Samples = data.samples
        self.items: list[Item] = list(samples.items)
        self.samples = Samples(
            self.items, samples.photos, samples.density, samples.vocabulary, samples.config, samples.encoder
        )  # fmt: skip
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
        visit, goal = loss_of(self.net, self.samples.draw(rng, self.config.visitation.examples, self.weights))
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
        # What is said of its progress is about this run, not about the one before SuReAL.
        minutes = NO_LIMIT if self.plan.sync else self.plan.minutes
        rates = replace(config.control.ppo, learning_rate=self.plan.control_rate)
        self.control = replace(config.control, ppo=rates, minutes=minutes, iterations=self.plan.iterations)
        self.run = ControlRun(folder / "b", self.control)
        if self.run.step == 0:
            finished = ControlRun(inputs.stage2, config.control)
            self.run.begin_with(finished.averaged)
            self.run.value.load_state_dict(finished.value.state_dict())
        self.stage1 = Stage1(len(data.samples.vocabulary), config.visitation.size)
        self.stage1.load_state_dict(averaged_of(inputs.stage1))
        names = sorted({item.name for one in self.items for item in one.example.objects})
        self.eyes = Eyes(
            MeshBank.of_catalogue(names), data.grounder, data.samples.photos, data.samples.vocabulary,
            mirror=self.plan.mirror, imagined=self.plan.imagined, encoder=data.samples.encoder,
            blank_images=data.samples.config.blank_images, empty_instructions=data.samples.config.empty_instructions,
        )  # fmt: skip
        self.cockpit = Cockpit(
            self.items, self.eyes.bank, self.eyes.photos, self.eyes.vocabulary, inputs.grounder.absolute(),
            config.visitation.size, self.control, mirror=self.plan.mirror, imagined=self.plan.imagined,
            blank_images=self.eyes.blank_images, empty_instructions=self.eyes.empty_instructions,
        )  # fmt: skip

    def step(self) -> dict[str, float]:
        """Lines 3 to 13: newest stage 1, N flights, PPO updates, executions for process A."""
        self._newest_stage1()
        rng, numbers = self.run.rng, self._draw()
        own, items = self.run.config, [self.items[n] for n in numbers]
        world = SeeingWorld(items, self.eyes, self.stage1, own.inputs, rng, own.teacher)
        flights: Flights = fly_world(world, sampling_actor(self.run.control, self.run.value, rng), own.reward)
        return self._learn(Logbook(self.run.step, numbers, flights, world.executions(), world.exemplary))

    def steps(self, crew: Crew) -> Generator[dict[str, float], None, None]:
        """The same with actors, for ever: flights as they come, unless they are too old to learn from."""
        old = 0
        for book in each(partial(fly_order, self.cockpit), self._orders(), crew):
            lag = self.run.step - book.version
            if lag > self.plan.stale:
                old += 1
            else:
                yield self._learn(book, {"lag": lag, "too old": old})

    def _orders(self) -> Iterator[Order]:
        """Made as actors become free, with the newest parameters there are."""
        run = self.run
        for number in count():
            self._newest_stage1()
            nets = (state_of(net) for net in (self.stage1, run.control, run.value))
            yield Order(run.step, self._draw(), (run.config.seed, 60, run.step, number), *nets)

    def _newest_stage1(self) -> None:
        newest = self.exchange.newest_parameters()
        if newest is not None:
            self.stage1.load_state_dict(newest[0])

    def _draw(self) -> list[int]:
        return [int(n) for n in self.run.rng.choice(len(self.items), self.plan.flights, replace=False, p=self.weights)]

    def _learn(self, book: Logbook, about: Mapping[str, float] | None = None) -> dict[str, float]:
        flights, rng = book.flights, self.run.rng
        batch = ppo.make_batch(*flights[:5], self.control.ppo)
        if self.plan.control_rate_falls:
            self.run.set_rate(self.plan.control_rate * (1 - self.run.progress) + 1e-6)
        logged = ppo.update(self.run.control, self.run.value, self.run.optimiser, batch, self.control.ppo, rng)
        # A flight that followed the first segment only would be a wrong pair for the whole instruction.
        pairs = [(n, e) for n, e, good in zip(book.numbers, book.executions, book.exemplary, strict=True) if good]
        if pairs:
            self.exchange.send_executions(self.run.step, [n for n, _ in pairs], [e for _, e in pairs])
        self.run.update_average()
        self.run.step += 1
        self.run.frames += sum(len(r) for r in flights.rewards)
        result = {**flights.numbers(), **logged, **(about or {})}
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
    return read_torch(path, "train stage 1 first", "averaged.")


def train(folder: Path, config: SurealTraining, inputs: SurealInputs, stop: threading.Event | None = None) -> None:
    """Run both processes to the end."""
    if config.plan.sync and config.plan.actors:
        raise WaywordError("actors fly at their own pace: choose either them or --sync")
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
    # No daemon: those may have no actors. It leaves when this process is gone.
    other = context.Process(target=_process_b, args=(folder, config, inputs, os.getpid()), daemon=False)
    other.start()
    try:
        a = ProcessA(folder, config, inputs, data_of(folder, config, inputs), exchange)
        while not a.run.finished and other.is_alive() and not stop.is_set():
            a.step()
        a.run.save()
    finally:
        (folder / "stop").touch()
        other.join(timeout=120)
        other.kill()
        other.join()


def _process_b(folder: Path, config: SurealTraining, inputs: SurealInputs, parent: int) -> None:
    torch.set_num_threads(1)
    (folder / "stop").unlink(missing_ok=True)
    b = ProcessB(folder, config, inputs, data_of(folder, config, inputs), Exchange(folder / "exchange"))
    last = time.monotonic()
    crew = Crew(config.plan.actors or 1, os.environ.get(RAY), retries=ACTOR_LIVES, apart=True)
    steps: Generator[dict[str, float], None, None] = (
        b.steps(crew) if config.plan.actors else (b.step() for _ in count())
    )
    with closing(steps):
        while b.run.step < config.plan.iterations and not (folder / "stop").exists() and os.getppid() == parent:
            next(steps)
            if time.monotonic() - last > 60:
                b.run.save()
                last = time.monotonic()
    b.run.save()
    b.run.export()
