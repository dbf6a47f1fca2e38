"""What a unit of work costs on this machine, for the simulation of many workers: processor time of one core.

Processor time and not wall time: a machine that does other things as well changes it little. Networks have the sizes
that ship; stage 1 and PPO are fed with random numbers of the right shape, on which their time does not depend.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from wayword.compute import Crew, each
from wayword.episodes import Example, examples, load_natural
from wayword.evaluation.runner import fly_examples
from wayword.evaluation.table.columns import shipped_database
from wayword.evaluation.table.reading import steady_policy
from wayword.guarded import read_json
from wayword.io import write_json
from wayword.pilot.episode_loop import RunConfig
from wayword.shipped import DEFAULT_GROUNDER
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig

PART = 32
"""Flights of a job."""
OTHERS = 6
"""Layers of the map beside those of the references (``mapping.context_map``)."""


@dataclass(frozen=True)
class Costs:
    """Processor seconds, bytes, and how uneven flights are."""

    flight_s: float
    """One flight of FsPVN, segmentation and drawing included, 32 side by side."""
    flight_spread: float
    """Standard deviation of a job of 32 flights, as a share, from how uneven single flights are in decisions."""
    decisions: float
    """Of a flight, on average."""
    frame_s: float
    """Drawing one frame and moving the drone, without a policy that looks."""
    data_flight_s: float
    """One of the Oracle's flights for training data, through the segmentation."""
    driver_s: float
    """What the process that hands out jobs does for one of 32 flights."""
    start_s: float
    """A worker until it can fly: Python, modules, weights."""
    worker_mb: float
    """Memory of a worker that has flown, which it shares with nobody."""
    shared_mb: float
    """Memory of it that is shared: libraries, meshes."""
    step_s: float
    """Gradients of stage 1 on one batch of 12 examples, four moments each."""
    optimiser_s: float
    """The optimiser's step on them."""
    gradient_bytes: float
    learn_s: float
    """PPO on 32 flights."""

    def write(self, path: Path) -> None:
        """Keep them."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> Costs:
        """As they were kept."""
        return cls(**read_json(path, remedy="measure first: wayword bench scale --out FILE"))


def measure_costs(flights: int = PART, progress: Callable[[int], None] = lambda done: None) -> Costs:
    """Measure all of them; ``flights`` of each kind."""
    cuts = [cut for episode in load_natural("dev") for cut in examples(episode, 2)]
    sample = [cuts[i * len(cuts) // flights] for i in range(flights)]
    parts: list[dict[str, float]] = []
    for measure in (_flights, _frames, _data_flights):
        parts.append(measure(sample))
        progress(1)
    for measured in (_workers, _stage1, _ppo):
        parts.append(measured())
        progress(1)
    return Costs(**{name: value for part in parts for name, value in part.items()})


def _flights(sample: Sequence[Example]) -> dict[str, float]:
    policy, bank = steady_policy("fspvn"), MeshBank.of_catalogue()
    taught = [shipped_database("dev")] * len(sample)
    fly_examples(policy, sample[:1], bank, _run(), taught[:1])  # kernels are compiled, sessions warm
    begun = time.process_time()
    flown = fly_examples(policy, sample, bank, _run(), taught)
    seconds = (time.process_time() - begun) / len(sample)
    decisions = np.array([len(flight.poses) for flight in flown])
    spread = float(decisions.std() / decisions.mean() / np.sqrt(PART))
    return {"flight_s": seconds, "flight_spread": spread, "decisions": float(decisions.mean())}


def _frames(sample: Sequence[Example]) -> dict[str, float]:
    policy, bank = steady_policy("oracle"), MeshBank.of_catalogue()
    fly_examples(policy, sample[:1], bank, _run())
    begun = time.process_time()
    flown = fly_examples(policy, sample, bank, _run(), keep_images=True)
    return {"frame_s": (time.process_time() - begun) / sum(len(flight.poses) for flight in flown)}


def _data_flights(sample: Sequence[Example]) -> dict[str, float]:
    from wayword.grounding import Grounder
    from wayword.learning.policy.flights import FlightConfig, record

    bank, grounder = MeshBank.of_catalogue(), Grounder.load(DEFAULT_GROUNDER)
    record(sample[:1], bank, grounder, FlightConfig())
    begun = time.process_time()
    record(sample, bank, grounder, FlightConfig())
    return {"data_flight_s": (time.process_time() - begun) / len(sample)}


def _run() -> RunConfig:
    return RunConfig(batch=PART, arena=ArenaConfig(render=RenderConfig(threads=1)))


# A worker ------------------------------------------------------------------------------------------------


def _workers() -> dict[str, float]:
    """One worker that loads the policy and flies once, then 200 jobs whose results are as long as those of flights."""
    crew, bank = Crew(1, apart=True), MeshBank.of_catalogue()
    ((start_s, private, shared),) = each(partial(_fly_once, bank), [0], crew)
    jobs = 200
    results = each(_answer, range(jobs + 1), crew)
    next(results)
    begun = time.process_time()
    for _ in results:
        pass
    driver = (time.process_time() - begun) / jobs
    return {"start_s": start_s, "worker_mb": private, "shared_mb": shared, "driver_s": driver}


def _fly_once(bank: MeshBank, job: int) -> tuple[float, float, float]:
    """In a worker: processor seconds until it could fly, and megabytes after a flight, its own and shared ones."""
    policy = steady_policy("fspvn")
    ready = time.process_time()
    cuts = examples(load_natural("dev")[0], 2)[:1]
    fly_examples(policy, cuts, bank, _run(), [shipped_database("dev")])
    return ready, *_memory_mb()


def _answer(job: int) -> list[dict[str, Any]]:
    """As long as the rows of 32 flights are."""
    return [_row(number) for number in range(PART)]


@cache
def _row(number: int) -> dict[str, Any]:
    return {"example": f"dev-{number}", "track": "x" * 900, **{f"metric {k}": 0.12345 * k for k in range(12)}}


def _memory_mb() -> tuple[float, float]:
    """Of this process: what it shares with nobody, and what others have mapped as well."""
    path = Path("/proc/self/smaps_rollup")
    if not path.exists():
        return float("nan"), float("nan")
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in path.read_text().splitlines()[1:]}
    return sizes["Private_Clean"] + sizes["Private_Dirty"], sizes["Shared_Clean"] + sizes["Shared_Dirty"]


# Training ------------------------------------------------------------------------------------------------


def stage1_step() -> tuple[Any, Callable[[], Any]]:
    """The network of stage 1, and a function that gives the loss of a batch of random numbers."""
    from wayword.learning.policy.dataset import Batch
    from wayword.learning.policy.networks import Stage1
    from wayword.learning.policy.sizes import Size
    from wayword.learning.policy.train_visitation import VisitationTraining, loss_of
    from wayword.mapping.grid import PREDICTION_CELLS, UNOBSERVED

    config, rng = VisitationTraining(), np.random.default_rng(0)
    count, references, words = config.examples, 3, 30
    rows, side = count * config.sample.moments, PREDICTION_CELLS
    gold = rng.random((rows, 2, UNOBSERVED + 1)).astype(np.float32)
    net = Stage1(1500, Size())
    batch = Batch(
        tokens=rng.integers(0, 1500, (count, words)),
        encoded=np.zeros((count, words, 0), np.float32),
        lengths=np.full(count, words),
        places=np.tile(np.arange(references), (count, 1)),
        references=rng.random((rows, references, side, side)).astype(np.float32),
        others=rng.random((rows, OTHERS, side, side)).astype(np.float32),
        gold=gold / gold.sum(axis=2, keepdims=True),
    )

    def loss() -> Any:
        visit, goal = loss_of(net, batch)
        return (visit + goal).mean()

    return net, loss


def _stage1(steps: int = 5) -> dict[str, float]:
    import torch

    torch.set_num_threads(1)
    net, loss = stage1_step()
    optimiser = torch.optim.AdamW(net.parameters())
    times = []
    for _ in range(steps + 1):
        begun = time.process_time()
        optimiser.zero_grad(set_to_none=True)
        loss().backward()
        middle = time.process_time()
        optimiser.step()
        times.append((middle - begun, time.process_time() - middle))
    step_s, optimiser_s = (float(np.median(column)) for column in zip(*times[1:], strict=True))
    size = 4.0 * sum(parameter.numel() for parameter in net.parameters())
    return {"step_s": step_s, "optimiser_s": optimiser_s, "gradient_bytes": size}


def _ppo(flights: int = PART, length: int = 25) -> dict[str, float]:
    import torch

    from wayword.learning.policy import ppo
    from wayword.learning.policy.control_net import ControlNet, ValueNet
    from wayword.learning.policy.control_run import ControlTraining

    config, rng = ControlTraining(), np.random.default_rng(0)
    control, value = ControlNet(config.inputs, config.size), ValueNet(config.inputs, config.size)
    optimiser = torch.optim.Adam([*control.parameters(), *value.parameters()])
    inputs = [rng.random((length, config.inputs.size)).astype(np.float32) for _ in range(flights)]
    actions = [np.column_stack([rng.normal(size=(length, 2)), np.zeros(length)]).astype(np.float32) for _ in inputs]
    numbers = [rng.normal(size=length).astype(np.float32) for _ in inputs]
    times = []
    for _ in range(3):
        begun = time.process_time()
        batch = ppo.make_batch(inputs, actions, numbers, [n.astype(np.float64) for n in numbers], numbers, config.ppo)
        ppo.update(control, value, optimiser, batch, config.ppo, rng)
        times.append(time.process_time() - begun)
    return {"learn_s": float(np.median(times[1:]))}


def load_of_this_machine() -> str:
    """What else it is doing, for whoever reads the figures."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
