"""A handful of training examples with made-up executions, for the tests of the policy's learning."""

from __future__ import annotations

import numpy as np

from wayword.episodes import Example, examples, generate_episodes
from wayword.grounding import Grounder
from wayword.learning.policy.dataset import Item
from wayword.learning.policy.executions import Execution, join_frames
from wayword.learning.policy.readings import ReadingPair, ReadInstruction
from wayword.sim.models.catalogue import names


def some_examples(count: int) -> list[Example]:
    episodes = [episode for episode, _ in generate_episodes("train", count, 3, names("seen"))]
    return [examples(episode, 2)[0] for episode in episodes]


def photos_of(grounder: Grounder, count: int = 6) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    made = {}
    for name in names("seen"):
        vectors = rng.normal(size=(count, grounder.config.dimension)).astype(np.float32)
        made[name] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return made


def perfect_execution(example: Example, photos: dict[str, np.ndarray], frames: int = 6) -> Execution:
    """Every object is seen in every frame, where it stands, and looks like its first photo."""
    along = np.linspace(0, len(example.path) - 1, frames).astype(int)
    stands = np.array([(o.x, o.y, 0.15, 1.0) for o in example.objects], np.float32)
    looks = np.stack([photos[o.name][0] for o in example.objects])
    parts = []
    for k in along:
        x, y = example.path[k]
        parts.append((np.array([x, y, 0.7, 0.0, 0.0, example.start.yaw]), stands, np.full(len(stands), 0.9), looks))
    return join_frames(parts)


def items_of(count: int, photos: dict[str, np.ndarray]) -> list[Item]:
    made = []
    for example in some_examples(count):
        known = tuple(sorted({o.name for o in example.objects}))
        row = tuple(0.98 if k == 0 else 0.02 / len(known) for k in range(len(known) + 1))
        whole = ReadInstruction(("go", "past", "<obj>", "on", "your", "left"), known, (row,))
        prefix = ReadInstruction(("go", "past", "<obj>"), known, (row,))
        made.append(Item(example, perfect_execution(example, photos), ReadingPair(whole, prefix)))
    return made
