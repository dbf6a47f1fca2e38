"""Train the reader: from texts to steps, kinds and legs.

1. Parse the training texts once (``reader_parses``).
2. Draw examples without end (``reader_pool``), batches of similar length.
3. Train encoder layers, decoder and heads together; the moving average of the weights is what is saved.

A run that was stopped goes on from its checkpoint: what is drawn depends on the seed and the step alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from wayword.episodes.commands import load_commands
from wayword.episodes.commands.corpus import DATA
from wayword.errors import WaywordError
from wayword.language.minilm import MiniLM
from wayword.language.pipeline import LanguageModel
from wayword.language.reader.mentions import MARKS
from wayword.language.reader.network import BELOW, ReaderConfig, load_network, save_network
from wayword.language.reader.program import VOCABULARY
from wayword.learning.common.loop import NO_LIMIT, LoopConfig, LoopSettings, Run
from wayword.learning.common.train_config import claim
from wayword.learning.language.reader_examples import PLACEHOLDERS
from wayword.learning.language.reader_net import ReaderBatch, ReaderNet, collate_reader, reader_losses
from wayword.learning.language.reader_parses import parse_commands, parse_paragraphs
from wayword.learning.language.reader_pool import Pool, ReaderPoolConfig, ReaderSources
from wayword.learning.language.treebank import read_treebank

TRAINING = "reader"
"""As train_config.json calls it."""
COMMANDS, MORE = DATA / "train.jsonl", DATA / "more.jsonl"
DRAWN_BATCHES = 80
"""Batches that are drawn, and run through MiniLM's lower layers, at a time."""


@dataclass(frozen=True)
class ReaderTraining(LoopSettings):
    """Every setting."""

    shape: ReaderConfig = field(
        default_factory=lambda: ReaderConfig(
            layers=4, words=len(VOCABULARY) + 1, marks=len(MARKS), placeholders=" ".join(PLACEHOLDERS)
        )
    )
    """Shape of the network."""
    pool: ReaderPoolConfig = field(default_factory=ReaderPoolConfig)
    """What examples are drawn."""
    loop: LoopConfig = field(
        default_factory=lambda: LoopConfig(
            9000, NO_LIMIT, learning_rate=8e-4, warm_up=0.02, average=0.998, clip=1.0, save_every_s=120.0
        )
    )
    """Length and pace."""
    passes: int = 2
    """How often a drawn example is used."""
    batch: int = 16
    """Texts per batch."""
    encoder_rate: float = 0.2
    """Share of the learning rate with which the encoder's layers, which are trained already, learn."""
    dropout: float = 0.1
    """Everywhere."""
    start_share: float = 0.0
    """Share of the weights it went on from in those that are saved: the mean of both forgets less of what was read."""

    def __post_init__(self) -> None:
        if not 0 <= self.start_share < 1:
            raise WaywordError(f"start-share {self.start_share}: at least 0 and less than 1")


@dataclass(frozen=True)
class ReaderInputs:
    """Files and folders that the user names."""

    commands: Path = COMMANDS
    """What is learned from: by default the `train` commands that ship."""
    ewt: Path | None = None
    """Folder of the treebank: sentences that are no commands, names of things nobody taught."""
    more: tuple[Path, ...] = ()
    """Further files of commands."""
    start: Path | None = None
    """Weights of a reader to go on from; from MiniLM alone if None."""


def prepare_pool(config: ReaderTraining, inputs: ReaderInputs, out: Path) -> Pool:
    """Parse what has not been parsed yet and put the pool together."""
    commands = [each for path in (inputs.commands, *inputs.more) for each in load_commands(path)]
    language = LanguageModel.load()
    extras = parse_commands(commands, out / "parses.jsonl", language)
    paragraphs = parse_paragraphs(out / "paragraphs.jsonl", language) if config.pool.described > 0 else []
    treebank = read_treebank(inputs.ewt / "ewt-train.conllu.gz") if inputs.ewt is not None else []
    sources = ReaderSources.of(commands, extras, paragraphs, treebank)
    return Pool(config.pool, sources, MiniLM(), config.shape.placeholders.split())


def reader_batches(pool: Pool, config: ReaderTraining, step: int) -> Iterator[ReaderBatch]:
    """Batches without end from ``step`` on: examples for many are drawn, and used ``config.passes`` times.

    Texts of similar length go together, so that little is padded.
    """
    size = config.batch
    number, skip = divmod(step, DRAWN_BATCHES * config.passes)
    while True:
        rng = np.random.default_rng([config.seed, 5, number])
        examples = [pool.draw(rng) for _ in range(size * DRAWN_BATCHES)]
        below = [states.astype(np.float16) for states in pool.encoder.hidden([each.ids for each in examples], BELOW)]
        for _ in range(config.passes):
            lengths = [len(each.ids) + len(each.line) + 4 * rng.random() for each in examples]
            order = np.argsort(lengths)
            for start in rng.permutation(len(order) // size) * size:
                if skip > 0:
                    skip -= 1
                    continue
                rows = order[start : start + size]
                yield collate_reader([examples[row] for row in rows], [below[row] for row in rows])
        number += 1


def train_reader(config: ReaderTraining, inputs: ReaderInputs, out: Path, stop: threading.Event | None = None) -> Path:
    """Train to the end, or on from the checkpoint in ``out``; returns the folder of the weights, ``out`` / reader."""
    torch.set_num_threads(1)
    torch.manual_seed(config.seed)
    net = ReaderNet(config.shape, config.dropout)
    if inputs.start is None and config.start_share:
        raise WaywordError("a share of the weights it goes on from can be kept only where --start names them")
    if inputs.start is not None:  # before anything is written: weights that are not there, or of another shape
        begin_with(net, inputs.start)
    before = {name: value.detach().clone().numpy() for name, value in net.state_dict().items()}
    record = claim(out, TRAINING, config, inputs)
    pool = prepare_pool(config, inputs, out)
    run = Run(out, net, config.loop, stop=stop, slower={"encoder.": config.encoder_rate})
    batches = reader_batches(pool, config, run.step)
    while not run.finished:
        torch.manual_seed(config.seed + 1000 * run.step)  # dropout, also after a resumption
        steps, kind, cuts = reader_losses(net, next(batches))
        numbers = {"steps": steps.item(), "kind": kind.item(), "cuts": cuts.item()}
        run.update(steps + 0.3 * kind + 0.5 * cuts, numbers)
    run.save()
    weights = out / "reader"
    learned = {name: value.numpy() for name, value in run.averaged().items()}
    share = config.start_share
    mean = {name: share * before[name] + (1 - share) * value for name, value in learned.items()}
    save_network(config.shape, mean, weights)
    record.keep(weights)
    return weights


def begin_with(net: ReaderNet, weights: Path) -> None:
    """Take over the weights of a reader of the same shape."""
    before = {name: torch.from_numpy(value) for name, value in load_network(weights).weights.items()}
    shapes = {name: value.shape for name, value in net.state_dict().items()}
    if shapes != {name: value.shape for name, value in before.items()}:
        raise WaywordError(f"{weights}: the reader there is of another shape; go on with its --layers")
    net.load_state_dict(before)
