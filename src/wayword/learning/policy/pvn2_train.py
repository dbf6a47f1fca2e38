"""Trains PVN2's stage 1 on the Oracle's flights, pictures and all.

    train(folder, Pvn2Training(), Pvn2Inputs(data))

As ``train_visitation`` does for FsPVN, on the same flights with the same shares and the same loop; only the network,
its samples and its auxiliary objectives are others (``pvn2_network``, ``pvn2_samples``, ``pvn2_losses``). Stage 2 is
not trained here, and SuReAL is left out: PVN2 learns from the Oracle's flights alone.

Logged: the terms of the loss as ``pvn2_losses`` explains them; now and then, of natural dev instructions when the
Oracle has flown, visit, goal and near, the share of goals within 0.47 m.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wayword.io import write_json
from wayword.learning.common.loop import NO_LIMIT, LoopConfig, LoopSettings, Run
from wayword.learning.common.stage_process import TrainingStage
from wayword.learning.common.team import seeded, team_of
from wayword.learning.common.train_config import claim
from wayword.learning.policy.pvn2_items import Pvn2Item, pvn2_vocabulary, read_items, read_others
from wayword.learning.policy.pvn2_losses import Auxiliaries, AuxiliaryWeights, loss_terms
from wayword.learning.policy.pvn2_network import Pvn2Stage1
from wayword.learning.policy.pvn2_others import OTHER_SPLITS, OthersConfig
from wayword.learning.policy.pvn2_samples import Pvn2Samples, Pvn2Sampling, join_samples
from wayword.learning.policy.sizes import ImageSize, Size
from wayword.learning.policy.train_visitation import Source, goal_errors, natural_sources
from wayword.mapping.grid import to_frame
from wayword.policy.pvn2 import Objects
from wayword.sim.models.catalogue import names
from wayword.sim.render.bank import MeshBank
from wayword.task import SUCCESS_RADIUS_M


@dataclass(frozen=True)
class Pvn2Training(LoopSettings):
    """Settings of PVN2, from data to weights."""

    objects: Objects = "seen"
    """Which objects it meets in training: the 64 seen ones, or all 80."""
    loop: LoopConfig = field(
        default_factory=lambda: LoopConfig(steps=20_000, minutes=120, learning_rate=1.5e-3, weight_decay=1e-4)
    )
    size: Size = field(default_factory=Size)
    """Of text encoder and LingUNet: FsPVN's."""
    image: ImageSize = field(default_factory=ImageSize)
    sample: Pvn2Sampling = field(default_factory=Pvn2Sampling)
    auxiliaries: AuxiliaryWeights = field(default_factory=AuxiliaryWeights)
    others: OthersConfig = field(default_factory=OthersConfig)
    """What there is about dev and test objects, for ``objects`` all."""
    examples: int = 8
    """Examples per batch and process, with ``sample.moments`` moments each."""
    natural_share: float = 0.35
    """Share of samples about natural instructions."""
    drill_share: float = 0.2
    """Share of samples from drills, where there are any."""
    other_share: float = 0.25
    """Share of samples about dev and test objects, for ``objects`` all; the rest is generated."""
    control: str = "fspvn"
    """Weights whose stage 2 flies it: shipped ones by name, or a folder."""
    workers: int = 2
    check_every: int = 250
    checked: int = 96
    """Natural dev examples that are looked at each time."""

    def with_seed(self, seed: int) -> Pvn2Training:
        """The same with this seed in every part."""
        others = replace(self.others, seed=seed, flights=replace(self.others.flights, seed=seed))
        return replace(self, loop=replace(self.loop, seed=seed), others=others)

    def exact(self) -> Pvn2Training:
        """The same, but steps end it and not minutes."""
        return replace(self, loop=replace(self.loop, minutes=NO_LIMIT))


@dataclass(frozen=True)
class Pvn2Inputs:
    """What this training starts with."""

    data: Path
    """What ``prepare`` made for FsPVN: generated, natural, dev and drills; drills and dev may be missing."""
    others: Path | None = None
    """What ``make_others`` made, for PVN2-ALL."""


@dataclass(frozen=True, eq=False)
class Pvn2Data:
    """Everything there is to learn from."""

    samples: Pvn2Samples
    weights: NDArray[np.float64]
    """How likely each item is in a batch."""
    names: tuple[str, ...]
    """The objects met in training, in the order of their numbers."""


def load_pvn2_data(config: Pvn2Training, inputs: Pvn2Inputs) -> Pvn2Data:
    """Natural and generated examples, drills and, for PVN2-ALL, those about the other objects."""
    natural = [item for source in natural_sources(inputs.data) for item in read_items(source)]
    generated, drills = (_generated(inputs.data / name) for name in ("generated", "drills"))
    others = [] if inputs.others is None else read_others(inputs.others)
    parts = [(natural, config.natural_share), (drills, config.drill_share), (others, config.other_share)]
    parts.append((generated, 1.0 - sum(share for some, share in parts if some)))
    items = [item for some, _ in parts for item in some]
    weights = np.concatenate([np.full(len(some), share / max(len(some), 1)) for some, share in parts])
    known = tuple(name for split in (("seen", *OTHER_SPLITS) if others else ("seen",)) for name in names(split))
    samples = Pvn2Samples(items, pvn2_vocabulary(items), known, MeshBank.of_catalogue(known), config.sample)
    return Pvn2Data(samples, weights / weights.sum(), known)


def _generated(folder: Path) -> list[Pvn2Item]:
    return read_items(Source(str(folder / "episodes.jsonl"), folder)) if folder.exists() else []


def train(folder: Path, config: Pvn2Training, inputs: Pvn2Inputs, stop: threading.Event | None = None) -> None:
    """Train to the end, or on from the checkpoint in ``folder``."""
    claim(folder, "pvn2/visitation", config, inputs)
    torch.set_num_threads(1)
    with team_of(TrainingStage(train, folder, config, inputs), config.workers, config.loop.device) as team:
        data = load_pvn2_data(config, inputs)
        samples, vocabulary = data.samples, data.samples.vocabulary
        torch.manual_seed(config.seed)
        net = Pvn2Stage1(len(vocabulary), config.size, config.image).to(team.device)
        heads = Auxiliaries(net, len(data.names)).to(team.device)
        validation = None
        if team.leader:
            folder.mkdir(parents=True, exist_ok=True)
            write_json(folder / "vocabulary.json", list(vocabulary.words))
            write_json(folder / "size.json", asdict(config.size))
            validation = _validation(config, inputs, samples)
        run = Run(folder, net, config.loop, heads, stop, leader=team.leader)

        def step(rng: np.random.Generator) -> tuple[Tensor, dict[str, float]]:
            net.train()
            loss, _ = loss_terms(net, heads, samples.draw(rng, config.examples, data.weights), samples.camera)
            return loss.total(config.auxiliaries), loss.numbers()

        team.share(step, net, heads)
        while team.goes_on(run):
            run.apply(*team.gradients(seeded(config.seed, run.step, team.rank)))
            if validation is not None and run.step % config.check_every == 0:
                averaged = run.averaged_in(Pvn2Stage1(len(vocabulary), config.size, config.image))
                numbers = check_pvn2(averaged, heads.cpu(), validation, config.checked)
                heads.to(team.device)
                run.log({f"dev {name}": value for name, value in numbers.items()})
        run.save()


@torch.no_grad()
def check_pvn2(net: Pvn2Stage1, heads: Auxiliaries, samples: Pvn2Samples, count: int) -> dict[str, float]:
    """On whole flights: KL and the share of goals within 0.47 m, when all has been seen that the Oracle sees."""
    net.eval()
    visits, goals, errors = [], [], []
    for item in samples.items[:: max(1, len(samples.items) // count)][:count]:
        loss, answer = loss_terms(net, heads, join_samples([samples.final(item)]), samples.camera)
        end = to_frame(item.example.path[-1], item.execution.poses[0][[0, 1, 5]])
        visits.append(float(loss.visit))
        goals.append(float(loss.goal))
        errors.append(float(goal_errors(answer.logits, end[None])[0]))
    near = float(np.mean(np.array(errors) < SUCCESS_RADIUS_M))
    return {"visit": float(np.mean(visits)), "goal": float(np.mean(goals)), "near": near}


def _validation(config: Pvn2Training, inputs: Pvn2Inputs, samples: Pvn2Samples) -> Pvn2Samples | None:
    """Natural dev examples of two segments, to look at and not to learn from; none if the data has none."""
    if not (inputs.data / "dev").exists():
        return None
    items = [i for i in read_items(Source("dev", inputs.data / "dev", overlapping=True)) if i.example.count == 2]
    bank = MeshBank.of_catalogue(names("dev"))
    return Pvn2Samples(items, samples.vocabulary, tuple(samples.numbers), bank, config.sample) if items else None
