"""What PVN2 learns from: examples with their flights, the words of their instructions, and the objects these speak of.

The flights are those that FsPVN learns from (``prepare``), of which the poses alone are used: pictures are drawn anew
from them. Which objects an instruction speaks of is asked of the language side's readings, as the paper asks its
alignment model; of generated instructions about the other objects the grammar has written it down (``pvn2_others``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.errors import DataError
from wayword.learning.policy.dataset import Item, prefix_of
from wayword.learning.policy.executions import Execution, bare_frame, join_frames, read_all_executions
from wayword.learning.policy.flights import training_examples
from wayword.learning.policy.readings import ReadInstruction
from wayword.learning.policy.train_visitation import Source, load_items
from wayword.policy.tokens import Vocabulary, mirrored, tokenise

SURE = 0.5
"""A reference means an object from this probability on."""


@dataclass(frozen=True)
class Telling:
    """An instruction as PVN2 reads it."""

    tokens: tuple[str, ...]
    objects: frozenset[str]
    """Those it speaks of."""


@dataclass(frozen=True, eq=False)
class Pvn2Item:
    """One example to learn from."""

    example: Example
    execution: Execution
    """Poses; boxes are left out."""
    whole: Telling
    prefix: Telling | None
    """The first of two segments alone, where it is known what that speaks of."""

    def part(self, prefix: bool) -> tuple[Telling, NDArray[np.float64], int]:
        """What is told, the path to fly and the number of frames of it."""
        if prefix and self.prefix is not None:
            return (self.prefix, *prefix_of(self.example, self.execution))
        return self.whole, self.example.path, len(self.execution)


def read_items(source: Source) -> list[Pvn2Item]:
    """The examples of a folder that ``prepare`` has made."""
    return [pvn2_item(item) for item in load_items(source)]


def pvn2_item(item: Item) -> Pvn2Item:
    """What PVN2 learns from of what FsPVN learns from."""
    example, prefix = item.example, None
    if item.readings.prefix is not None and example.count == 2:
        prefix = Telling(_tokens(example, 1), objects_meant(item.readings.prefix))
    whole = Telling(_tokens(example, example.count), objects_meant(item.readings.whole))
    return Pvn2Item(example, poses_only(item.execution), whole, prefix)


def objects_meant(reading: ReadInstruction) -> frozenset[str]:
    """The objects that some reference means."""
    table = reading.probabilities()[:, :-1]
    return frozenset(name for name, column in zip(reading.names, table.T, strict=True) if (column >= SURE).any())


def poses_only(execution: Execution) -> Execution:
    """A flight without its boxes: three quarters of the memory."""
    return join_frames([bare_frame(pose) for pose in execution.poses])


def read_others(folder: Path) -> list[Pvn2Item]:
    """The examples about dev and test objects that ``make_others`` has made."""
    episodes, references = folder / "episodes.jsonl", folder / "references.jsonl"
    examples, executions = training_examples(str(episodes), overlapping=False), read_all_executions(folder)
    try:
        lines = [json.loads(line) for line in references.read_text(encoding="utf-8").splitlines()]
        names = {line["id"]: [_names(each) for each in line["instructions"]] for line in lines}
        return [
            _other_item(example, execution, names[example.episode.id])
            for example, execution in zip(examples, executions, strict=True)
        ]
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(references, f"does not go with {episodes.name} and its flights; delete {folder}") from error


def _other_item(example: Example, execution: Execution, names: Sequence[frozenset[str]]) -> Pvn2Item:
    first, count = example.first, example.count
    whole = Telling(_tokens(example, count), frozenset[str]().union(*names[first : first + count]))
    prefix = Telling(_tokens(example, 1), names[first]) if count == 2 else None
    return Pvn2Item(example, execution, whole, prefix)


def _names(instruction: dict[str, Any]) -> frozenset[str]:
    return frozenset(str(reference["name"]) for reference in instruction["references"])


def _tokens(example: Example, count: int) -> tuple[str, ...]:
    """Whole words: nothing is anonymised."""
    segments = example.episode.segments[example.first : example.first + count]
    return tuple(tokenise(" ".join(segment.instruction for segment in segments)))


def pvn2_vocabulary(items: Iterable[Pvn2Item]) -> Vocabulary:
    """The words of these instructions and of their mirror images, object names among them."""
    texts = [item.whole.tokens for item in items]
    return Vocabulary.build([*texts, *(mirrored(text) for text in texts)])
