"""Trains stage 1 on the Oracle's flights: the supervised start of SuReAL (Appendix C, process A before B begins).

    train(folder, VisitationTraining(), VisitationInputs(data, grounder))

Loss: KL from the gold to the predicted distributions (cross-entropy up to a constant; the paper writes the
other direction, the released code does this), the sum over d^p and d^g.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from wayword.errors import DataError, WaywordError
from wayword.grounding import Grounder
from wayword.io import write_json
from wayword.learning.common.loop import LoopConfig, LoopSettings, Run
from wayword.learning.common.stage_process import TrainingStage
from wayword.learning.common.team import seeded, team_of, to_device
from wayword.learning.common.tensor_files import read_torch
from wayword.learning.common.train_config import claim
from wayword.learning.policy.dataset import Batch, Item, SampleConfig, Samples, collate
from wayword.learning.policy.executions import read_all_executions
from wayword.learning.policy.flights import training_examples
from wayword.learning.policy.imagined import photo_pool
from wayword.learning.policy.networks import Stage1, joint_logits, visitation_loss
from wayword.learning.policy.readings import load_readings
from wayword.learning.policy.sizes import Size
from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED, to_frame
from wayword.policy.stage1 import read_policy_config
from wayword.policy.tokens import UNKNOWN as UNKNOWN_WORD
from wayword.policy.tokens import Vocabulary, mirrored
from wayword.policy.word_states import WordStates
from wayword.task import SUCCESS_RADIUS_M


@dataclass(frozen=True)
class Source:
    """Where examples come from."""

    episodes: str
    """``train``, ``reworded``, ``dev`` or a file of episodes."""
    folder: Path
    """Shards of executions and readings*.jsonl, in the order of the examples."""
    overlapping: bool = False
    share: float = 1.0
    """How much of a batch comes from here, relative to the other sources."""


@dataclass(frozen=True)
class VisitationTraining(LoopSettings):
    """Settings of this training."""

    loop: LoopConfig = field(
        default_factory=lambda: LoopConfig(steps=20_000, minutes=60, learning_rate=1.5e-3, weight_decay=1e-4)
    )
    size: Size = field(default_factory=Size)
    sample: SampleConfig = field(default_factory=SampleConfig)
    examples: int = 12
    """Examples per batch and process, with ``sample.moments`` moments each."""
    natural_share: float = 0.35
    """Share of samples about natural instructions."""
    drill_share: float = 0.2
    """Share of samples from drills, where there are any; the rest is generated."""
    workers: int = 2
    check_every: int = 250


@dataclass(frozen=True)
class VisitationInputs:
    """What this training starts with."""

    data: Path
    """What ``prepare`` made: generated, natural, dev, drills and photos; dev, drills and reworded may be missing."""
    grounder: Path
    """Weights of the segmentation that the data went through."""
    start: Path | None = None
    """A folder of exported weights to go on from; its size of stage 1 must be the same, its words need not be."""


def load_items(source: Source) -> list[Item]:
    """Examples with their executions and readings."""
    examples = training_examples(source.episodes, source.overlapping)
    executions = read_all_executions(source.folder)
    readings = [pair for path in sorted(source.folder.glob("readings*.jsonl")) for pair in load_readings(path)]
    count = min(len(executions), len(readings), len(examples))
    if count == 0:
        raise WaywordError(f"{source.folder}: holds no executions or no readings; record and read first")
    return [Item(*parts) for parts in zip(examples[:count], executions[:count], readings[:count], strict=True)]


def natural_sources(data: Path) -> list[Source]:
    """The natural training instructions of what ``prepare`` made, and the same in other words if it has them."""
    sources = [Source("train", data / "natural", overlapping=True)]
    if (data / "reworded").exists():
        sources.append(Source("reworded", data / "reworded", overlapping=True))
    return sources


def vocabulary_of(items: Sequence[Item]) -> Vocabulary:
    """The words of the training instructions and of their mirror images."""
    texts = [item.readings.whole.tokens for item in items]
    return Vocabulary.build([*texts, *(mirrored(text) for text in texts)])


def answers_to(net: nn.Module, batch: Batch) -> tuple[list[Tensor], Tensor]:
    """Logits of every member, and the gold distributions beside them."""
    moments = len(batch.gold) // len(batch.tokens)
    here = next(net.parameters()).device
    words = to_device(here, batch.tokens, batch.lengths, batch.places, batch.encoded)
    psi, mean = net.read(*words)  # type: ignore[operator]
    psi, mean = psi.repeat_interleave(moments, 0), mean.repeat_interleave(moments, 0)
    references, others, gold = to_device(here, batch.references, batch.others, batch.gold)
    return net.answers(psi, mean, references, others), gold  # type: ignore[operator]


def loss_of(net: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """KL of d^p and d^g per sample, mean over the members: each learns for itself."""
    answers, gold = answers_to(net, batch)
    losses = [visitation_loss(logits, gold) for logits in answers]
    visit, goal = (torch.stack(parts).mean(dim=0) for parts in zip(*losses, strict=True))
    return visit, goal


def goal_errors(logits: Tensor, goals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Metres between the likeliest goal cell and the true goal (N, 2) in the start frame."""
    cells = logits[:, 1, :UNOBSERVED].argmax(dim=1).numpy()
    half = (PREDICTION_CELLS - 1) / 2
    u, v = (cells % PREDICTION_CELLS - half) * CELL_M, (cells // PREDICTION_CELLS - half) * CELL_M
    return np.hypot(u - goals[:, 0], v - goals[:, 1])


@torch.no_grad()
def check_visitation(net: Stage1, samples: Samples, count: int) -> dict[str, float]:
    """On whole flights: KL and the share of goals within 0.47 m, when all has been seen that the Oracle sees."""
    net.eval()
    visits, goals, errors = [], [], []
    items = samples.items[:: max(1, len(samples.items) // count)][:count]
    for start in range(0, len(items), 16):
        part = items[start : start + 16]
        whole = [samples.final(item) for item in part]
        answers, gold = answers_to(net, collate(whole))
        logits = joint_logits(answers)
        visit, goal = visitation_loss(logits, gold)
        ends = np.array([
            to_frame(item.example.path[-1], item.execution.poses[0][[0, 1, 5]]) for item in part
        ])  # fmt: skip
        visits += visit.tolist()
        goals += goal.tolist()
        errors += goal_errors(logits, ends).tolist()
    net.train()
    near = float(np.mean(np.array(errors) < SUCCESS_RADIUS_M))
    return {"visit": float(np.mean(visits)), "goal": float(np.mean(goals)), "near": near}


@dataclass(frozen=True, eq=False)
class Data:
    """Everything there is to learn from."""

    samples: Samples
    weights: NDArray[np.float64]
    """How likely each item is in a batch."""
    grounder: Grounder


def load_data(config: VisitationTraining, folder: Path, grounder: Path, vocabulary: Vocabulary | None = None) -> Data:
    """Natural and generated examples with their executions and readings; their own words if none are given.

    ``folder`` is what ``prepare`` made with the segmentation whose weights are in ``grounder``.
    """
    segmentation = Grounder.load(grounder)
    natural = [item for source in natural_sources(folder) for item in load_items(source)]
    generated = load_items(_generated(folder / "generated"))
    drills = load_items(_generated(folder / "drills")) if (folder / "drills").exists() else []
    share, drilled = config.natural_share, config.drill_share if drills else 0.0
    parts = ((natural, share), (generated, 1 - share - drilled), (drills, drilled))
    weights = np.concatenate([np.full(len(items), part / max(len(items), 1)) for items, part in parts])
    items = [*natural, *generated, *drills]
    photos = photo_pool(folder / "photos", segmentation)
    words = vocabulary or vocabulary_of(items)
    samples = Samples(items, photos, segmentation.config.density, words, config.sample, encoder_of(config.size))
    return Data(samples, weights, segmentation)


def encoder_of(size: Size) -> WordStates | None:
    """What reads every word beside the network, if a stage 1 of this size asks for it."""
    return WordStates() if size.encoded else None


def _generated(folder: Path) -> Source:
    return Source(str(folder / "episodes.jsonl"), folder)


def build(config: VisitationTraining, inputs: VisitationInputs) -> tuple[Stage1, Data]:
    """The network and all data, loaded."""
    data = load_data(config, inputs.data, inputs.grounder)
    torch.manual_seed(config.loop.seed)
    net = Stage1(len(data.samples.vocabulary), config.size)
    net.vocabulary = data.samples.vocabulary  # type: ignore[assignment]
    if inputs.start is not None:
        load_start(net, data.samples.vocabulary, inputs.start)
    return net, data


def load_start(net: Stage1, vocabulary: Vocabulary, weights: Path) -> None:
    """Give ``net`` the weights of an exported policy; a word that is new to them begins as their unknown word.

    ``net`` may have what they lack, an encoder and queries: those begin at random and unheard, with weights of zero.
    """
    words = read_policy_config(weights)["vocabulary"]
    known = {word: number for number, word in enumerate(words)}
    path = weights / "model.safetensors"
    try:
        tensors = read_torch(path, "choose other weights to start from", "stage1.")
        rows = torch.tensor([known.get(word, UNKNOWN_WORD) for word in vocabulary.words])
        for name in [name for name in tensors if name.endswith("text.embedding.weight")]:  # of every member
            tensors[name] = tensors[name][rows]
        for name, own in net.state_dict().items():
            if name in tensors:
                tensors[name] = _widened(tensors[name], own)
            elif ".encoded." in name or ".queries." in name:
                tensors[name] = own
        net.load_state_dict(tensors)
    except (KeyError, IndexError, RuntimeError) as error:
        raise DataError(
            path, "is damaged, or its stage 1 is of another size; choose other weights to start from"
        ) from error


def _widened(weights: Tensor, own: Tensor) -> Tensor:
    """``weights`` with columns of zeros behind them, where a layer of ``own`` has more inputs."""
    if weights.dim() != 2 or own.dim() != 2 or len(weights) != len(own) or weights.shape[1] >= own.shape[1]:
        return weights
    return functional.pad(weights, (0, own.shape[1] - weights.shape[1]))


def train(
    folder: Path, config: VisitationTraining, inputs: VisitationInputs, stop: threading.Event | None = None
) -> None:
    """Train to the end, or on from the checkpoint in ``folder``."""
    claim(folder, "policy/visitation", config, inputs)
    torch.set_num_threads(1)
    with team_of(TrainingStage(train, folder, config, inputs), config.workers, config.loop.device) as team:
        net, data = build(config, inputs)
        net = net.to(team.device)
        vocabulary = data.samples.vocabulary
        validation = None
        if team.leader:
            folder.mkdir(parents=True, exist_ok=True)
            write_json(folder / "vocabulary.json", list(vocabulary.words))
            write_json(folder / "size.json", asdict(config.size))
            if inputs.start is not None:
                write_json(folder / "start.json", read_policy_config(inputs.start)["about"])
            validation = _validation(config, inputs, vocabulary)
        run = Run(folder, net, config.loop, stop=stop, leader=team.leader)

        def step(rng: np.random.Generator) -> tuple[Tensor, dict[str, float]]:
            net.train()
            visit, goal = loss_of(net, data.samples.draw(rng, config.examples, data.weights))
            return (visit + goal).mean(), {"visit": float(visit.detach().mean()), "goal": float(goal.detach().mean())}

        team.share(step, net)
        while team.goes_on(run):
            run.apply(*team.gradients(seeded(config.loop.seed, run.step, team.rank)))
            if validation is not None and run.step % config.check_every == 0:
                averaged = run.averaged_in(Stage1(len(vocabulary), config.size))
                run.log({f"dev {name}": value for name, value in check_visitation(averaged, validation, 200).items()})
        run.save()


def _validation(config: VisitationTraining, inputs: VisitationInputs, vocabulary: Vocabulary) -> Samples | None:
    """Natural dev examples of two segments, about unseen objects; none if the data has none."""
    if not (inputs.data / "dev").exists():
        return None
    grounder = Grounder.load(inputs.grounder)
    items = load_items(Source("dev", inputs.data / "dev", overlapping=True))
    items = [item for item in items if item.example.count == 2]
    plain = replace(config.sample, mirror=False, unknown_words=0.0)
    photos = shipped_photos("dev", grounder)
    return Samples(items, photos, grounder.config.density, vocabulary, plain, encoder_of(config.size))


def shipped_photos(split: str, grounder: Grounder) -> dict[str, NDArray[np.float32]]:
    """Embeddings of the photos of a database that comes with the package."""
    from importlib.resources import as_file, files

    with as_file(files("wayword.objects") / "data" / split) as folder:
        return photo_pool(folder, grounder)
