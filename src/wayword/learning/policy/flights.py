"""Oracle flights through the trained segmentation: the executions that stage 1 starts to learn from.

The Oracle is shown the demonstration and flies it; on a share of the flights its commands are disturbed, so
that the map has also seen what a drone sees that strays. Frames go through proposals, metric and refinement;
what is left of them is written as ``Execution``s. Most of the time of a flight goes into that, so a share of them
(``FlightConfig.imagined``) can be seen with the simulator's own masks instead.

    record_shard(training_examples("train", overlapping=True), 0, bank, grounder, FlightConfig())
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.episodes import Episode, Example, held_out_seen, load_episodes, load_natural, load_reworded
from wayword.episodes import examples as cuts_of
from wayword.grounding import Grounder
from wayword.learning.policy.executions import Execution, FramePart, bare_frame, join_frames
from wayword.learning.policy.imagined import Photos, imagined_frame
from wayword.mapping import footprints
from wayword.pilot.episode_loop import EpisodeLoop
from wayword.policy import Oracle
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look, random_look
from wayword.task import MAX_YAW_RATE_RAD_S, STOP_THRESHOLD

PER_SHARD = 128


@dataclass(frozen=True)
class FlightConfig:
    """How the training flights are made."""

    stride: int = 1
    """Keep every n-th decision's frame."""
    disturbed: float = 0.5
    """Share of flights with disturbed commands."""
    yaw_noise: float = 0.5
    """Standard deviation (rad/s) of the slowly changing error of a disturbed flight's yaw rate."""
    random_looks: float = 0.25
    """Share of flights under a random light, ground and surround."""
    imagined: float = 0.0
    """Share of flights without segmentation: boxes and masks are the true ones, looks are those of photos."""
    horizon: int = 40
    seed: int = 0
    batch: int = 32


def regions_of(
    grounder: Grounder, images: NDArray[np.uint8], poses: NDArray[np.float64], camera: Camera
) -> list[FramePart]:
    """Each frame as a part of an execution."""
    parts = []
    for pose, regions in zip(poses, grounder.regions(images), strict=True):
        stands = footprints(regions.masks, regions.proposals.boxes, pose, camera)
        parts.append((pose, stands, regions.proposals.objectness.astype(np.float32), regions.embeddings))
    return parts


def record(
    examples: Sequence[Example],
    bank: MeshBank,
    grounder: Grounder | None,
    config: FlightConfig,
    first: int = 0,
    photos: Photos | None = None,
) -> list[Execution]:
    """Fly the examples side by side; ``first`` is the number of the first one, which seeds it.

    Without a grounder nothing is segmented: the executions are poses without boxes. ``photos`` are for the imagined.
    """
    rngs = [np.random.default_rng([config.seed, 40, first + i]) for i in range(len(examples))]
    arena = Arena(len(examples), bank, ArenaConfig(horizon=config.horizon))
    looks = [random_look(rng) if rng.random() < config.random_looks else Look() for rng in rngs]
    situations = [
        Situation(e.objects, e.start, look, e.episode.arena_m) for e, look in zip(examples, looks, strict=True)
    ]
    loop, count = EpisodeLoop(Oracle(), arena, looks=False), len(examples)
    seeds = [int(rng.integers(2**62)) for rng in rngs]
    loop.begin(situations, seeds, [""] * count, [None] * count, [example.path for example in examples])
    noise = np.array([config.yaw_noise * (rng.random() < config.disturbed) for rng in rngs])
    imagined = np.array([config.imagined > 0 and rng.random() < config.imagined for rng in rngs])
    see = _Eyes(examples, arena, grounder, photos, imagined, rngs)
    drift = np.zeros(len(examples))
    parts: list[list] = [[] for _ in examples]
    for step, point in enumerate(loop):
        slots, actions = point.slots, point.actions
        if step % config.stride == 0:
            for slot, part in zip(slots, see(slots, point.observations.poses), strict=True):
                parts[slot].append(part)
        for row, slot in enumerate(slots):
            drift[slot] = 0.7 * drift[slot] + 0.7 * noise[slot] * rngs[slot].standard_normal()
            if actions[row, 2] <= STOP_THRESHOLD:
                actions[row, 1] = np.clip(actions[row, 1] + drift[slot], -MAX_YAW_RATE_RAD_S, MAX_YAW_RATE_RAD_S)
    return [join_frames(part) for part in parts]


@dataclass(frozen=True, eq=False)
class _Eyes:
    """Turns what the cameras of some flights see into parts of their executions."""

    examples: Sequence[Example]
    arena: Arena
    grounder: Grounder | None
    photos: Photos | None
    imagined: NDArray[np.bool_]
    """Which of the flights are seen without segmentation."""
    rngs: Sequence[np.random.Generator]

    def __post_init__(self) -> None:
        if self.imagined.any() and self.photos is None:
            raise ValueError("imagined flights need photos that say what things look like")

    def __call__(self, slots: NDArray[np.int64], poses: NDArray[np.float64]) -> list[FramePart]:
        if self.grounder is None:
            return [bare_frame(pose) for pose in poses]
        frames, camera = self.arena.frames(slots), self.arena.config.camera
        real = ~self.imagined[slots]
        segmented = iter(regions_of(self.grounder, frames.rgb[real], poses[real], camera) if real.any() else ())
        return [
            next(segmented) if self.photos is None or real[row] else
            imagined_frame(frames.ids[row], self._names(slot), self.photos, poses[row], camera, self.rngs[slot])
            for row, slot in enumerate(slots)
        ]  # fmt: skip

    def _names(self, slot: int) -> list[str]:
        return [item.name for item in self.examples[slot].objects]


def training_examples(source: str, overlapping: bool) -> list[Example]:
    """Two-segment examples of a natural corpus (train, reworded, dev) or of a file; an odd last segment makes its own.

    Without ``overlapping``, pairs share no segment.
    """
    result: list[Example] = []
    for episode in _episodes(source):
        if source == "train" and held_out_seen(episode.id):
            continue
        pairs = cuts_of(episode, 2)
        result += pairs if overlapping else pairs[::2]
        if overlapping or len(episode.segments) % 2:
            result.append(cuts_of(episode, 1)[-1])
    return result


def _episodes(source: str) -> Sequence[Episode]:
    if source == "reworded":
        return load_reworded()
    return load_natural(source) if source in ("train", "dev") else load_episodes(Path(source))


def execution_path(folder: Path, number: int) -> Path:
    """Where shard ``number`` of a folder lies."""
    return folder / f"shard-{number:05d}.safetensors"


def missing_shards(examples: Sequence[Example], folder: Path) -> list[int]:
    """The shards of these examples that are not there yet."""
    count = (len(examples) + PER_SHARD - 1) // PER_SHARD
    return [number for number in range(count) if not execution_path(folder, number).exists()]


def record_shard(
    examples: Sequence[Example],
    number: int,
    bank: MeshBank,
    grounder: Grounder | None,
    config: FlightConfig,
    photos: Photos | None = None,
) -> list[Execution]:
    """Fly shard ``number`` of the examples."""
    end = min((number + 1) * PER_SHARD, len(examples))
    executions: list[Execution] = []
    for first in range(number * PER_SHARD, end, config.batch):
        some = examples[first : min(first + config.batch, end)]
        executions += record(some, bank, grounder, config, first, photos)
    return executions
