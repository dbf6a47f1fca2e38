"""Training samples of PVN2: pictures, words, gold distributions, and where which object stands.

E examples of a batch, M moments each, F pictures of all flights one behind the other, K objects of a layout at most

tokens    (E, L)              words, padded with 0          lengths   (E,)
images    (F, 72, 128, 3)     bytes                         poses     (F, 6)
frames    (E,)                pictures of each flight       moments   (E, M)    numbers of them
starts    (E, 3)              x, y, yaw                     flipped   (E,)      whether the sample is a mirror image
others    (E M, 5, 64, 64)    observability, boundaries     gold      (E M, 2, 4097)
cells     (E, K, 2)           row, column on the world grid
classes   (E, K)              numbers of the objects, -1 where there is none
subjects  (E, K)                1 if the instruction speaks of it, else 0
lexicon   (E, O)              the same for every object there is

No picture is stored: the renderer draws 1,700 a second, which is less than a tenth of what learning from them takes. A
sample integrates at most ``frames`` pictures of a flight, evenly spread; in flight all of them are integrated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.learning.policy.gold import gold_distributions
from wayword.learning.policy.pvn2_items import Pvn2Item
from wayword.mapping.grid import CELL_M, WORLD_CELLS, frame_pose
from wayword.mapping.observability import add_coverage
from wayword.policy.mirror import mirrored_distributions, mirrored_maps
from wayword.policy.pvn2 import plain_layers
from wayword.policy.tokens import UNKNOWN, Vocabulary, mirrored
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look, random_look
from wayword.sim.render.renderer import RenderConfig, Renderer


@dataclass(frozen=True)
class Pvn2Sampling:
    """How samples are drawn."""

    moments: int = 4
    """Moments of a flight per use of an example."""
    frames: int = 10
    """Pictures of a flight at most."""
    sigma_cells: float = 1.0
    """Width of the gold distributions, as FsPVN's."""
    mirror: bool = True
    prefixes: float = 0.4
    """How often only the first of two segments is to be followed, where it is known what it speaks of."""
    unknown_words: float = 0.02
    """Share of words hidden, so that words never met do not confuse."""
    random_looks: float = 0.25
    """Share of samples under a random light, ground and surround."""


@dataclass(frozen=True, eq=False)
class Pvn2Batch:
    """See the head of this module."""

    tokens: NDArray[np.int64]
    lengths: NDArray[np.int64]
    images: NDArray[np.uint8]
    poses: NDArray[np.float64]
    frames: NDArray[np.int64]
    moments: NDArray[np.int64]
    starts: NDArray[np.float64]
    flipped: NDArray[np.bool_]
    others: NDArray[np.float32]
    gold: NDArray[np.float32]
    cells: NDArray[np.int64]
    classes: NDArray[np.int64]
    subjects: NDArray[np.float32]
    lexicon: NDArray[np.float32]


class Pvn2Samples:
    """Draws batches from items; ``names`` are the objects there are, in the order of their numbers."""

    def __init__(
        self,
        items: Sequence[Pvn2Item],
        vocabulary: Vocabulary,
        names: Sequence[str],
        bank: MeshBank,
        config: Pvn2Sampling,
        camera: Camera | None = None,
    ) -> None:
        self.items, self.vocabulary, self.config = items, vocabulary, config
        self.camera = camera or Camera()
        self.numbers = {name: number for number, name in enumerate(names)}
        self._renderer = Renderer(bank, self.camera, RenderConfig(threads=1))

    def draw(self, rng: np.random.Generator, examples: int, weights: NDArray[np.float64] | None = None) -> Pvn2Batch:
        """A batch of ``examples`` x ``moments`` samples; ``weights`` (items,) says how likely each item is."""
        numbers = rng.choice(len(self.items), examples, p=weights)
        return join_samples([self.sample(self.items[int(number)], rng) for number in numbers])

    def final(self, item: Pvn2Item) -> Pvn2Batch:
        """A whole flight at its end, with nothing random."""
        return self._sample(item, False, [len(item.execution) - 1], Look(), False, None)

    def sample(self, item: Pvn2Item, rng: np.random.Generator) -> Pvn2Batch:
        """One example at a few moments."""
        config = self.config
        prefix = rng.random() < config.prefixes
        moments = sorted(int(t) for t in rng.integers(item.part(prefix)[2], size=config.moments))
        look = random_look(rng) if rng.random() < config.random_looks else Look()
        return self._sample(item, prefix, moments, look, config.mirror and rng.random() < 0.5, rng)

    def _sample(
        self,
        item: Pvn2Item,
        prefix: bool,
        moments: list[int],
        look: Look,
        flipped: bool,
        rng: np.random.Generator | None,
    ) -> Pvn2Batch:
        telling, path, _ = item.part(prefix)
        every, objects = item.execution.poses, item.example.objects
        steps = frames_until(moments, self.config.frames)
        start = frame_pose(every[0])
        scene = self._renderer.scene(objects, look, item.example.episode.arena_m)
        others, gold = [], []
        for coverage in self._coverages(every, moments):
            others.append(plain_layers(coverage, start))
            gold.append(gold_distributions(path, start, coverage, self.config.sigma_cells))
        layers, truth, tokens = np.stack(others), np.stack(gold), list(telling.tokens)
        if flipped:
            tokens, layers, truth = mirrored(tokens), mirrored_maps(layers), mirrored_distributions(truth)
        numbers = self.vocabulary.numbers(tokens)
        if rng is not None:
            numbers = np.where(rng.random(len(numbers)) < self.config.unknown_words, UNKNOWN, numbers)
        lexicon = np.zeros(len(self.numbers), np.float32)
        lexicon[[self.numbers[name] for name in telling.objects if name in self.numbers]] = 1.0
        return Pvn2Batch(
            tokens=numbers[None],
            lengths=np.array([len(numbers)]),
            images=self._renderer.render([scene] * len(steps), every[steps]).rgb,
            poses=every[steps],
            frames=np.array([len(steps)]),
            moments=np.array([[steps.index(moment) for moment in moments]]),
            starts=start[None],
            flipped=np.array([flipped]),
            others=layers,
            gold=truth,
            cells=np.array([[cell_of(thing.x, thing.y) for thing in objects]]),
            classes=np.array([[self.numbers.get(thing.name, -1) for thing in objects]]),
            subjects=np.array([[thing.name in telling.objects for thing in objects]], np.float32),
            lexicon=lexicon[None],
        )

    def _coverages(self, poses: NDArray[np.float64], moments: list[int]) -> list[NDArray[np.float32]]:
        """What had been observed at each of the sorted ``moments``, by all frames until then."""
        coverage, result = np.zeros((WORLD_CELLS, WORLD_CELLS), np.float32), []
        for t in range(moments[-1] + 1):
            add_coverage(coverage, poses[t], self.camera)
            result += [coverage.copy()] * moments.count(t)
        return result


def frames_until(moments: Sequence[int], most: int) -> list[int]:
    """Frames to look at: at most ``most`` of those until the last moment, evenly spread, and every moment."""
    last = max(moments)
    spread = np.linspace(0, last, min(max(most - len(set(moments)), 1), last + 1)).round().astype(int)
    return sorted({*moments, *spread.tolist()})


def cell_of(x: float, y: float) -> tuple[int, int]:
    """Row and column on the world grid of the cell that a place lies in."""
    row, column = (min(max(int(value / CELL_M), 0), WORLD_CELLS - 1) for value in (y, x))
    return row, column


def join_samples(samples: Sequence[Pvn2Batch]) -> Pvn2Batch:
    """Several samples as one batch: what differs in length is padded, classes with -1 and all else with 0."""
    padding = {"classes": -1}
    parts = {}
    for entry in fields(Pvn2Batch):
        arrays = [getattr(sample, entry.name) for sample in samples]
        if entry.name in ("tokens", "cells", "classes", "subjects"):
            longest = max(array.shape[1] for array in arrays)
            arrays = [_padded(array, longest, padding.get(entry.name, 0)) for array in arrays]
        parts[entry.name] = np.concatenate(arrays)
    return Pvn2Batch(**parts)


def _padded(array: NDArray, length: int, value: int) -> NDArray:
    gaps = [(0, 0), (0, length - array.shape[1]), *[(0, 0)] * (array.ndim - 2)]
    return np.pad(array, gaps, constant_values=value)
