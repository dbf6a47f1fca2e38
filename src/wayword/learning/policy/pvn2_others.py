"""What PVN2-ALL learns from besides: generated layouts of the dev and test objects, with instructions from the grammar.

    others/episodes.jsonl      demonstrations in layouts of the 16 objects that PVN2-SEEN never meets
    others/references.jsonl    which objects the words of each instruction mean
    others/shard-*             poses of the Oracle's flights over them

In the paper PVN2-ALL has met the new objects hundreds of times in training, which no other system has; here as well. No
natural dev or test instruction is among them, and neither is a layout that policies are measured on: those of
evaluations are drawn under the names of their splits, these under one of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from wayword.compute import Workers, each
from wayword.episodes import Example
from wayword.episodes.instructions import Recipe, write_dataset
from wayword.learning.common.train_config import claim
from wayword.learning.policy.executions import Execution, write_executions
from wayword.learning.policy.flights import (
    FlightConfig,
    execution_path,
    missing_shards,
    record_shard,
    training_examples,
)
from wayword.sim.models.catalogue import names
from wayword.sim.render.bank import MeshBank

OTHER_SPLITS = ("dev", "test")
"""Of the catalogue: the objects that PVN2-SEEN never meets."""
SEQUENCE = "others"
"""What layouts and paths are drawn under, in place of a split."""


@dataclass(frozen=True)
class OthersConfig:
    """How much there is about the other objects."""

    episodes: int = 3000
    """Generated demonstrations."""
    flights: FlightConfig = field(default_factory=lambda: FlightConfig(stride=2))
    seed: int = 0

    @property
    def repeatable(self) -> bool:
        """Each flight depends on its number only."""
        return True


def other_names() -> tuple[str, ...]:
    """The dev and test objects."""
    return tuple(name for split in OTHER_SPLITS for name in names(split))


def make_others(folder: Path, config: OthersConfig, workers: Workers = 2) -> None:
    """Make what is missing in ``folder``."""
    claim(folder, "pvn2/others", config)
    episodes, note = folder / "episodes.jsonl", folder / "flights.done"
    if not episodes.exists():
        recipe = Recipe(SEQUENCE, config.episodes, config.seed, other_names())
        write_dataset(recipe, episodes, folder / "references.jsonl", workers)
    if note.exists():
        return
    examples, bank = training_examples(str(episodes), overlapping=False), MeshBank.of_catalogue(other_names())
    fly = partial(_fly_shard, examples, bank, config.flights)
    for number, executions in each(fly, missing_shards(examples, folder), workers):
        write_executions(execution_path(folder, number), executions)
    note.touch()


def _fly_shard(
    examples: Sequence[Example], bank: MeshBank, flights: FlightConfig, number: int
) -> tuple[int, list[Execution]]:
    return number, record_shard(examples, number, bank, None, flights)
