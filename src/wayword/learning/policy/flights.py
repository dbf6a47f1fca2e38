"""Oracle flights through the trained segmentation: the executions that stage 1 starts to learn from.

The Oracle is shown the demonstration and flies it; on a share of the flights its commands are disturbed, so
that the map has also seen what a drone sees that strays. Frames go through proposals, metric and refinement;
what is left of them is written as ``Execution``s.

    python -m wayword.learning.policy.flights episodes.jsonl OUT --part 0 --parts 2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray

from wayword.episodes import Example, held_out_seen, load_episodes, load_natural
from wayword.episodes import examples as cuts_of
from wayword.grounding import Grounder
from wayword.learning.policy.executions import Execution, join, write_shard
from wayword.mapping import footprints
from wayword.policy import Observations, Oracle
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.camera import CameraConfig
from wayword.sim.render.look import Look, random_look

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
    horizon: int = 40
    seed: int = 0
    batch: int = 32


def regions_of(
    grounder: Grounder, images: NDArray[np.uint8], poses: NDArray[np.float64], camera: CameraConfig
) -> list[tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]]:
    """Each frame as a part of an execution."""
    parts = []
    for pose, found in zip(poses, grounder.regions(images), strict=True):
        stands = footprints(found.masks, found.proposals.boxes, pose, camera)
        parts.append((pose, stands, found.proposals.objectness.astype(np.float32), found.embeddings))
    return parts


def record(
    examples: Sequence[Example],
    bank: MeshBank,
    grounder: Grounder,
    config: FlightConfig,
    first: int = 0,
) -> list[Execution]:
    """Fly the examples side by side; ``first`` is the number of the first one, which seeds it."""
    rngs = [np.random.default_rng([config.seed, 40, first + i]) for i in range(len(examples))]
    arena = Arena(len(examples), bank, ArenaConfig(horizon=config.horizon))
    looks = [random_look(rng) if rng.random() < config.random_looks else Look() for rng in rngs]
    situations = [
        Situation(e.objects, e.start, look, e.episode.arena_m) for e, look in zip(examples, looks, strict=True)
    ]
    arena.reset(range(len(examples)), situations, [int(rng.integers(2**62)) for rng in rngs])
    oracle = Oracle()
    oracle.reset([""] * len(examples), [None] * len(examples))
    oracle.brief([example.path for example in examples])
    noise = np.array([config.yaw_noise * (rng.random() < config.disturbed) for rng in rngs])
    drift = np.zeros(len(examples))
    parts: list[list] = [[] for _ in examples]
    step = 0
    while len(slots := arena.flying):
        poses = arena.poses[slots]
        if step % config.stride == 0:
            seen = regions_of(grounder, arena.frames(slots).rgb, poses, arena.config.camera)
            for slot, part in zip(slots, seen, strict=True):
                parts[slot].append(part)
        blank = np.zeros((len(slots), 0, 0, 3), np.uint8)  # the Oracle does not look
        chosen = oracle.act(Observations(slots, blank, poses))
        for row, slot in enumerate(slots):
            drift[slot] = 0.7 * drift[slot] + 0.7 * noise[slot] * rngs[slot].standard_normal()
            if chosen[row, 2] < 0.5:
                chosen[row, 1] = np.clip(chosen[row, 1] + drift[slot], -1, 1)
        everyone = np.zeros((len(examples), 3))
        everyone[slots] = chosen
        arena.step(everyone)
        step += 1
    return [join(part) for part in parts]


def training_examples(source: str, overlapping: bool) -> list[Example]:
    """Two-segment examples of the natural ``train`` corpus or of a file; an odd last segment makes one of its own.

    Without ``overlapping``, pairs share no segment.
    """
    episodes = load_natural(source) if re.fullmatch(r"train|dev", source) else load_episodes(Path(source))
    found: list[Example] = []
    for episode in episodes:
        if source == "train" and held_out_seen(episode.id):
            continue
        pairs = cuts_of(episode, 2)
        found += pairs if overlapping else pairs[::2]
        if overlapping or len(episode.segments) % 2:
            found.append(cuts_of(episode, 1)[-1])
    return found


def record_all(
    found: Sequence[Example],
    out: Path,
    config: FlightConfig,
    part: int = 0,
    parts: int = 1,
    progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Write the shards of one part that are not there yet."""
    grounder = Grounder.load("sim")
    bank = MeshBank.of_catalogue(sorted({item.name for example in found for item in example.objects}))
    for number in range(part, (len(found) + PER_SHARD - 1) // PER_SHARD, parts):
        path = out / f"shard-{number:05d}.safetensors"
        if path.exists():
            continue
        done: list[Execution] = []
        for first in _starts(number, len(found), config.batch):
            last = min(first + config.batch, (number + 1) * PER_SHARD, len(found))
            done += record(found[first:last], bank, grounder, config, first)
            progress(last - first)
        write_shard(path, done)


def _starts(shard: int, total: int, batch: int) -> Iterator[int]:
    return iter(range(shard * PER_SHARD, min((shard + 1) * PER_SHARD, total), batch))


def main(
    source: tyro.conf.Positional[str],
    out: tyro.conf.Positional[Path],
    config: FlightConfig = FlightConfig(),  # noqa: B008 - frozen
    overlapping: bool = False,
    part: int = 0,
    parts: int = 1,
) -> None:
    """Record training flights of SOURCE (``train``, or a file of episodes) into the folder OUT."""
    found = training_examples(source, overlapping)
    out.mkdir(parents=True, exist_ok=True)
    seen = 0

    def show(done: int) -> None:
        nonlocal seen
        seen += done
        print(f"{out.name} part {part}: {seen} of about {len(found) // parts}", flush=True)

    record_all(found, out, config, part, parts, show)


if __name__ == "__main__":
    tyro.cli(main)
