"""Training samples of stage 1: maps, words and gold distributions from executions and readings.

For every use of an example the database's photos are drawn anew, the boxes are aligned with the references
(Equations 1 and 2), the masks are accumulated up to a few random moments of the flight, and half of the
samples are turned into their mirror image, words included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.episodes import Example
from wayword.grounding.align import align
from wayword.grounding.density import DensityConfig, Exemplars, probabilities
from wayword.learning.policy.executions import Execution
from wayword.learning.policy.gold import gold_distributions
from wayword.learning.policy.readings import ReadingPair, ReadInstruction
from wayword.mapping import WorldMap, map_layers
from wayword.mapping.grid import PREDICTION_CELLS, frame_pose
from wayword.policy.mirror import mirrored_distributions, mirrored_maps
from wayword.policy.stage1 import MOST_REFERENCES
from wayword.policy.tokens import Vocabulary, mirrored, placeholders
from wayword.policy.word_states import WordStates

CAMERA = Camera()
"""Executions are flown with the paper's camera."""


@dataclass(frozen=True, eq=False)
class Item:
    """One example to learn from."""

    example: Example
    execution: Execution
    readings: ReadingPair


@dataclass(frozen=True)
class SampleConfig:
    """How samples are drawn."""

    moments: int = 4
    """Moments of a flight per use of an example."""
    photos: int = 5
    sigma_cells: float = 1.0
    """Width of the gold distributions (released: 0.33, in effect one cell)."""
    mirror: bool = True
    prefixes: float = 0.4
    """How often only the first of two segments is to be followed, where it was read."""
    unknown_words: float = 0.02
    """Share of words hidden, so that words never met do not confuse."""
    blank_images: bool = False
    """The ablation FsPVN-NoI: nothing is ever seen."""
    empty_instructions: bool = False
    """The ablation FsPVN-NoU: nothing is ever said."""


@dataclass(frozen=True, eq=False)
class Batch:
    """N = examples x moments samples; text belongs to the examples."""

    tokens: NDArray[np.int64]
    encoded: NDArray[np.float32]
    """(N, L, 384), or (N, L, 0) for a stage 1 that does not ask for it."""
    lengths: NDArray[np.int64]
    places: NDArray[np.int64]
    references: NDArray[np.float32]
    others: NDArray[np.float32]
    gold: NDArray[np.float32]


def prefix_of(example: Example, execution: Execution) -> tuple[NDArray[np.float64], int]:
    """The path of the first segment, and the number of frames until it was done."""
    begin, end = example.episode.bounds(example.first)
    path = example.episode.path[begin : end + 1]
    away = np.linalg.norm(execution.poses[:, :2] - path[-1], axis=1)
    # The path may come back to this place later: of nearly equally near moments the first one counts.
    done = int(np.flatnonzero(away <= away.min() + 0.15)[0])
    return path, min(done + 2, len(execution))


def draw_exemplars(
    names: Sequence[str], pool: Mapping[str, NDArray[np.float32]], photos: int, rng: np.random.Generator | None
) -> Exemplars:
    """A database of ``photos`` images each, drawn from the pool; the first ones without a generator."""
    rows = []
    for name in names:
        every = pool[name]
        rows.append(every[:photos] if rng is None else every[rng.permutation(len(every))[:photos]])
    owners = np.repeat(np.arange(len(names)), [len(part) for part in rows]).astype(np.int64)
    return Exemplars(tuple(names), np.concatenate(rows), owners)


def alignment_of(
    execution: Execution, reading: ReadInstruction, exemplars: Exemplars, density: DensityConfig
) -> NDArray[np.float32]:
    """ALIGN(b, r) of all boxes of a flight, (R, K)."""
    of_box = probabilities(execution.embeddings.astype(np.float32), exemplars, density)
    return align(of_box, execution.p_box, reading.probabilities()).astype(np.float32)


def maps_at(
    execution: Execution, alignment: NDArray[np.float32], moments: Sequence[int]
) -> list[tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]]:
    """Accumulated masks of the references, of all objects, and observability at each of the sorted ``moments``."""
    world = WorldMap(len(alignment), CAMERA)
    first, maps = 0, []
    for t in range(moments[-1] + 1):
        last = first + int(execution.counts[t])
        boxes = slice(first, last)
        world.update(execution.footprints[boxes], execution.p_box[boxes], alignment[:, boxes], execution.poses[t])
        first = last
        maps += [(world.references.copy(), world.all_objects.copy(), world.coverage.copy())] * moments.count(t)
    return maps


def stacked(
    references: NDArray[np.float32],
    all_objects: NDArray[np.float32],
    coverage: NDArray[np.float32],
    start: NDArray[np.float64],
) -> NDArray[np.float32]:
    """The map's layers one behind the other, (R + 6, 64, 64)."""
    return np.concatenate(map_layers(references, all_objects, coverage, start))


class Samples:
    """Draws batches from items."""

    def __init__(
        self,
        items: Sequence[Item],
        photos: Mapping[str, NDArray[np.float32]],
        density: DensityConfig,
        vocabulary: Vocabulary,
        config: SampleConfig,
        encoder: WordStates | None = None,
    ) -> None:
        self.encoder = encoder
        self.items, self.photos, self.density = items, photos, density
        self.vocabulary, self.config = vocabulary, config

    def draw(self, rng: np.random.Generator, examples: int, weights: NDArray[np.float64] | None = None) -> Batch:
        """A batch of ``examples`` x ``moments`` samples; ``weights`` (items,) says how likely each item is."""
        numbers = rng.choice(len(self.items), examples, p=weights)
        return collate([self.sample(self.items[int(number)], rng) for number in numbers])

    def final(self, item: Item) -> _Sample:
        """A whole flight at its end, with the first photos of each object and nothing random."""
        reading, execution = self.inhibited(item.readings.whole, item.execution)
        exemplars = draw_exemplars(reading.names, self.photos, self.config.photos, None)
        alignment = alignment_of(execution, reading, exemplars, self.density)[:MOST_REFERENCES]
        start = frame_pose(execution.poses[0])
        ((references, all_objects, coverage),) = maps_at(execution, alignment, [len(execution) - 1])
        maps = stacked(references, all_objects, coverage, start)[None]
        gold = gold_distributions(item.example.path, start, coverage, self.config.sigma_cells)[None]
        places = placeholders(reading.tokens)[: len(alignment)]
        numbers = self.vocabulary.numbers(reading.tokens)
        encoded = encoded_words(self.encoder, reading.tokens)
        return _Sample(numbers, encoded, places, maps[:, : len(alignment)], maps[:, len(alignment) :], gold)

    def inhibited(self, reading: ReadInstruction, execution: Execution) -> tuple[ReadInstruction, Execution]:
        """What is left of both in a sensory-inhibited ablation."""
        if self.config.empty_instructions:
            reading = reading.untold
        if self.config.blank_images:
            none = np.zeros_like(execution.counts)
            execution = Execution(
                execution.poses, none, execution.footprints[:0], execution.p_box[:0], execution.embeddings[:0]
            )
        return reading, execution

    def sample(self, item: Item, rng: np.random.Generator) -> _Sample:
        """One example at a few moments."""
        config, execution = self.config, item.execution
        reading, path, frames = item.readings.whole, item.example.path, len(execution)
        if item.readings.prefix is not None and rng.random() < config.prefixes:
            reading = item.readings.prefix
            path, frames = prefix_of(item.example, execution)
        reading, execution = self.inhibited(reading, execution)
        exemplars = draw_exemplars(reading.names, self.photos, config.photos, rng)
        alignment = alignment_of(execution, reading, exemplars, self.density)[:MOST_REFERENCES]
        moments = sorted(int(t) for t in rng.integers(frames, size=config.moments))
        start = frame_pose(execution.poses[0])
        maps, gold = [], []
        for references, all_objects, coverage in maps_at(execution, alignment, moments):
            maps.append(stacked(references, all_objects, coverage, start))
            gold.append(gold_distributions(path, start, coverage, config.sigma_cells))
        tokens = list(reading.tokens)
        both, truth = np.stack(maps), np.stack(gold)
        if config.mirror and rng.random() < 0.5:
            tokens, both, truth = mirrored(tokens), mirrored_maps(both), mirrored_distributions(truth)
        numbers = self.vocabulary.numbers(tokens)
        hidden = rng.random(len(numbers)) < config.unknown_words
        places = placeholders(tokens)[: len(alignment)]
        hidden[places] = False
        encoded = encoded_words(self.encoder, tokens)
        return _Sample(
            np.where(hidden, 1, numbers), encoded, places, both[:, : len(alignment)], both[:, len(alignment) :], truth
        )


def encoded_words(encoder: WordStates | None, tokens: Sequence[str]) -> NDArray[np.float32]:
    """What the encoder makes of every token, (L, 384); nothing without one."""
    return np.zeros((max(1, len(tokens)), 0), np.float32) if encoder is None else encoder.of(tokens)


@dataclass(frozen=True, eq=False)
class _Sample:
    tokens: NDArray[np.int64]
    encoded: NDArray[np.float32]
    places: NDArray[np.int64]
    references: NDArray[np.float32]
    others: NDArray[np.float32]
    gold: NDArray[np.float32]


def collate(samples: Sequence[_Sample]) -> Batch:
    """Pad tokens and references to the longest and put everything together."""
    longest = max(len(sample.tokens) for sample in samples)
    most = max(1, *(len(sample.places) for sample in samples))
    tokens = np.zeros((len(samples), longest), np.int64)
    encoded = np.zeros((len(samples), longest, samples[0].encoded.shape[1]), np.float32)
    places = np.full((len(samples), most), -1, np.int64)
    moments = len(samples[0].gold)
    size = PREDICTION_CELLS
    references = np.zeros((len(samples) * moments, most, size, size), np.float32)
    for n, sample in enumerate(samples):
        tokens[n, : len(sample.tokens)] = sample.tokens
        encoded[n, : len(sample.tokens)] = sample.encoded
        places[n, : len(sample.places)] = sample.places
        references[n * moments : (n + 1) * moments, : sample.references.shape[1]] = sample.references
    lengths = np.array([len(sample.tokens) for sample in samples], np.int64)
    others = np.concatenate([sample.others for sample in samples])
    gold = np.concatenate([sample.gold for sample in samples])
    return Batch(tokens, encoded, lengths, places, references, others, gold)
