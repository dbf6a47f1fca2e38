"""Train the chunker's BIO head on frozen MiniLM features.

1. Read EWT, and the navigation sentences annotated by hand; make rough copies of both.
2. Encode everything once (the encoder is frozen) and keep the features on disk.
3. Train the head; after each epoch write a checkpoint, so that a killed run goes on where it was.
4. Write the weights of the last epoch as a folder that ``load_chunker`` reads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from safetensors.torch import save_file
from torch import Tensor, nn

from wayword.errors import DataError
from wayword.io import atomic_path
from wayword.language.chunker import BioChunker, BioHead, HeadConfig, save_head
from wayword.language.minilm import MiniLM, MiniLMConfig
from wayword.learning.common.tensor_files import read_torch
from wayword.learning.common.train_config import claim
from wayword.learning.language.augment import Roughness, is_thing, roughen
from wayword.learning.language.chunk_data import (
    NAVIGATION,
    FeatureSet,
    batches,
    compute_features,
    load_features,
    pad,
    read_chunks,
)
from wayword.learning.language.matches import Matches
from wayword.learning.language.score_chunks import score_chunker
from wayword.learning.language.treebank import AnnotatedText, read_treebank


@dataclass(frozen=True)
class ChunkerTraining:
    """Everything that decides the result, saved beside the weights as ``train_config.json``."""

    head: HeadConfig = field(default_factory=HeadConfig)
    """Shape of the head."""
    ewt_roughness: Roughness = field(default_factory=Roughness)
    """Damage to the rough copy of EWT."""
    navigation_roughness: Roughness = field(default_factory=lambda: Roughness(swap=0.4))
    """Damage to the rough copies of the navigation sentences."""
    navigation_copies: int = 8
    """Rough copies of the navigation sentences; each epoch sees two of them and the original."""
    epochs: int = 10
    """Passes over EWT, original and rough copy by turns."""
    batch: int = 32
    """Sentences per step."""
    learning_rate: float = 2e-3
    """Peak, after a tenth of the steps; falls to zero along a cosine."""
    weight_decay: float = 0.01
    """Of AdamW."""
    dropout: float = 0.3
    """Before each linear map and convolution."""
    seed: int = 0
    """Of the rough copies, the initial weights and the order."""

    @property
    def repeatable(self) -> bool:
        """Nothing depends on how fast the machine is."""
        return True


@dataclass(frozen=True)
class ChunkerInputs:
    """What it is trained on."""

    ewt: Path
    """Folder with ewt-train.conllu.gz and ewt-dev.conllu.gz."""
    navigation: Path = NAVIGATION
    """Navigation sentences annotated by hand (train split)."""


class TrainableHead(nn.Module):
    """The head of ``wayword.language.chunker`` in torch, with the same names and shapes."""

    def __init__(self, config: HeadConfig, dropout: float) -> None:
        super().__init__()
        self.input = nn.Linear(config.width, config.hidden)
        self.convs = nn.ModuleList(
            nn.Conv1d(config.hidden, config.hidden, config.kernel, padding=config.kernel // 2)
            for _ in range(config.blocks)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(config.hidden) for _ in range(config.blocks))
        self.output = nn.Linear(config.hidden, 3)
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: Tensor, present: Tensor) -> Tensor:
        """(B, W, 3) scores from (B, W, D) features; ``present`` (B, W) is 0 beyond a sentence's end."""
        here = present.unsqueeze(-1)
        hidden = torch.relu(self.input(self.dropout(features))) * here
        for conv, norm in zip(self.convs, self.norms, strict=True):
            mixed = conv(self.dropout(hidden).transpose(1, 2)).transpose(1, 2)
            hidden = norm(hidden + torch.relu(mixed)) * here
        scores: Tensor = self.output(self.dropout(hidden))
        return scores


def train_chunker(config: ChunkerTraining, inputs: ChunkerInputs, out_dir: Path) -> dict[str, Matches]:
    """Train, write the final weights to ``out_dir``, and return the scores on EWT dev.

    ``out_dir`` / work holds features and checkpoints; a second call with the same configuration goes on from
    there, one with another configuration is refused. The folder work may be deleted afterwards.
    """
    work = out_dir / "work"
    record = claim(work, "language/chunker", config, inputs)
    torch.set_num_threads(1)
    encoder = MiniLM(MiniLMConfig(layers=config.head.layers))
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(), TimeRemainingColumn(),
    ) as progress:  # fmt: skip
        sets = _prepare(config, inputs, encoder, work, progress)
        head = _fit(config, sets, work, progress)
    weights = {name: value.numpy() for name, value in head.state_dict().items()}
    record.keep(out_dir)
    save_head(config.head, weights, out_dir)
    chunker = BioChunker(encoder, BioHead(config.head, weights))
    return {"ewt-dev": score_chunker(chunker, read_treebank(inputs.ewt / "ewt-dev.conllu.gz"))}


def _prepare(
    config: ChunkerTraining, inputs: ChunkerInputs, encoder: MiniLM, work: Path, progress: Progress
) -> dict[str, FeatureSet]:
    """Feature sets by name: "ewt", "ewt-rough", "nav", "nav-rough-0", ..."""
    rng = np.random.default_rng([config.seed, 1])
    ewt = read_treebank(inputs.ewt / "ewt-train.conllu.gz")
    navigation = read_chunks(inputs.navigation)
    commands = [sentence for sentence in ewt if sentence.imperative]
    things = [
        sentence.text[start:end]
        for sentence in ewt
        for start, end in sentence.chunks
        if is_thing(sentence.text[start:end])
    ]
    texts: dict[str, list[AnnotatedText]] = {"ewt": ewt, "nav": navigation}
    texts["ewt-rough"] = [roughen(item, commands, things, rng, config.ewt_roughness) for item in ewt]
    for copy in range(config.navigation_copies):
        texts[f"nav-rough-{copy}"] = [
            roughen(item, navigation, things, rng, config.navigation_roughness) for item in navigation
        ]
    sets: dict[str, FeatureSet] = {}
    task = progress.add_task("encoding", total=sum(len(sentences) for sentences in texts.values()))
    for name, sentences in texts.items():
        stem = work / name
        features = load_features(stem)
        if features is None:
            before = progress.tasks[task].completed
            for done in compute_features(sentences, encoder, stem):
                progress.update(task, completed=before + done)
            features = load_features(stem)
            if features is None:
                raise DataError(stem, "the features just written cannot be read; is the disk full?")
        else:
            progress.advance(task, len(sentences))
        sets[name] = features
    return sets


def _fit(config: ChunkerTraining, sets: dict[str, FeatureSet], work: Path, progress: Progress) -> TrainableHead:
    torch.manual_seed(config.seed)
    head = TrainableHead(config.head, config.dropout)
    optimiser = torch.optim.AdamW(head.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    first = _restore(head, optimiser, work)
    task = progress.add_task("training", total=config.epochs, completed=first)
    for epoch in range(first, config.epochs):
        torch.manual_seed(config.seed * 1000 + epoch)  # dropout: the same after a resume
        rng = np.random.default_rng([config.seed, 2, epoch])
        parts = [sets["ewt" if epoch % 2 == 0 else "ewt-rough"], sets["nav"]]
        copies = rng.permutation(config.navigation_copies)[:2]
        parts += [sets[f"nav-rough-{copy}"] for copy in copies]
        plan = batches(parts, config.batch, rng)
        for step, batch in enumerate(plan):
            rate = config.learning_rate * schedule((epoch + step / len(plan)) / config.epochs)
            for group in optimiser.param_groups:
                group["lr"] = rate
            _step(head, optimiser, batch)
            progress.update(task, completed=epoch + (step + 1) / len(plan))
        _checkpoint(head, optimiser, epoch + 1, work)
    return head.eval()


def _step(head: TrainableHead, optimiser: torch.optim.Optimizer, batch: list[tuple[FeatureSet, int]]) -> None:
    features, tags = (torch.from_numpy(values) for values in pad(batch))
    scores = head(features, (tags >= 0).float())
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten(), ignore_index=-1)
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()


def schedule(progress: float) -> float:
    """Share of the peak learning rate at ``progress`` in [0, 1]: a tenth of warm-up, then a cosine to zero."""
    if progress < 0.1:
        return progress / 0.1
    return 0.5 * (1 + math.cos(math.pi * (progress - 0.1) / 0.9))


def _checkpoint(head: TrainableHead, optimiser: torch.optim.Optimizer, epoch: int, work: Path) -> None:
    tensors = {f"head.{name}": value for name, value in head.state_dict().items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{name}": value for name, value in state.items()}
    tensors["epoch"] = torch.tensor(epoch)
    with atomic_path(work / "checkpoint.safetensors") as temporary:
        save_file({name: value.contiguous() for name, value in tensors.items()}, temporary)


def _restore(head: TrainableHead, optimiser: torch.optim.Optimizer, work: Path) -> int:
    """Load the last checkpoint, if there is one; returns the number of epochs it has behind it."""
    path = work / "checkpoint.safetensors"
    if not path.is_file():
        return 0
    try:
        tensors = read_torch(path, "delete it to start again")
        epoch = int(tensors.pop("epoch"))
        head.load_state_dict(
            {name.removeprefix("head."): value for name, value in tensors.items() if name.startswith("head.")}
        )
        adam: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("adam."):
                _, number, key = name.split(".")
                adam.setdefault(int(number), {})[key] = value
        optimiser.load_state_dict({"state": adam, "param_groups": optimiser.state_dict()["param_groups"]})
    except (KeyError, RuntimeError, ValueError, TypeError) as error:
        raise DataError(path, "this checkpoint cannot be read; delete it to start again") from error
    return epoch
