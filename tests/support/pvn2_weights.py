"""PVN2 in miniature: untrained weights that fly, and data of a few examples to train on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support.extra_torch import torch
from wayword.episodes import Example
from wayword.episodes.instructions import Recipe, write_dataset
from wayword.learning.common.loop import NO_LIMIT, LoopConfig
from wayword.learning.policy.executions import write_executions
from wayword.learning.policy.flights import FlightConfig, execution_path, record, training_examples
from wayword.learning.policy.pvn2_export import save_pvn2
from wayword.learning.policy.pvn2_network import Pvn2Stage1
from wayword.learning.policy.pvn2_others import OthersConfig
from wayword.learning.policy.pvn2_samples import Pvn2Sampling
from wayword.learning.policy.pvn2_train import Pvn2Training
from wayword.learning.policy.readings import ReadingPair, ReadInstruction, write_readings
from wayword.learning.policy.sizes import ImageSize, Size
from wayword.policy.pvn2 import Objects
from wayword.policy.stage1 import SHIPPED
from wayword.policy.tokens import Vocabulary
from wayword.sim.models.catalogue import names
from wayword.sim.render.bank import MeshBank

SMALL, LOOKS = Size(words=6, hidden=4, channels=8, filtered=4, last=8), ImageSize(stem=4, features=8, blocks=1)
FLIGHTS = FlightConfig(stride=8)
MINIATURE = Pvn2Training(
    loop=LoopConfig(2, NO_LIMIT, log_every=1), size=SMALL, image=LOOKS, sample=Pvn2Sampling(moments=2, frames=3),
    others=OthersConfig(episodes=1, flights=FLIGHTS), examples=2, workers=1, check_every=2, checked=1,
)  # fmt: skip
WORDS = Vocabulary(("<pad>", "<unknown>", "<obj>", "stop", "left", "right", "the", "globe", "past"))


def untrained(folder: Path, objects: Objects = "seen", seed: int = 0) -> Pvn2Stage1:
    """Weights as they are before training."""
    torch.manual_seed(seed)
    net = Pvn2Stage1(len(WORDS), SMALL, LOOKS)
    save_pvn2(folder, net, WORDS, replace(MINIATURE, objects=objects), SHIPPED / "fspvn", {})
    return net.eval()


def reading_about(example: Example) -> ReadInstruction:
    """As if the instruction spoke of the first object of its layout."""
    known = tuple(item.name for item in example.objects)
    return ReadInstruction(("past", "<obj>"), known, ((0.9, *[0.1 / len(known)] * len(known)),))


def write_data(folder: Path, bank: MeshBank) -> None:
    """Two natural examples, two dev ones, and one generated episode, as ``prepare`` would leave them."""
    write_dataset(Recipe("train", 1, 11, names("seen")), folder / "generated" / "episodes.jsonl", None, 1)
    sources = {"natural": ("train", True), "dev": ("dev", True)}
    sources["generated"] = (str(folder / "generated" / "episodes.jsonl"), False)
    for name, (source, overlapping) in sources.items():
        examples = training_examples(source, overlapping)[:2]
        (folder / name).mkdir(parents=True, exist_ok=True)
        write_executions(execution_path(folder / name, 0), record(examples, bank, None, FLIGHTS))
        readings = [reading_about(example) for example in examples]
        write_readings(folder / name / "readings-0.jsonl", [ReadingPair(r, r) for r in readings])
