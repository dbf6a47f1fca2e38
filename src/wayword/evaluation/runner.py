"""Flies a policy through examples and scores the flights.

Episodes run in batches on all cores; finished ones leave the batch. The policy gets instructions, taught
objects, images and poses. Demonstrations go to the scorer, and to policies that declare themselves
``Privileged``; true object ids go to a witness, and to policies that declare themselves ``Watching``. Nothing
gold ends an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.metrics import EpisodeMetrics, score
from wayword.policy import Observations, Policy, Privileged, Watching
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look, random_look
from wayword.sim.render.renderer import Frames


@dataclass(frozen=True)
class RunConfig:
    """How flights are run."""

    seed: int = 0
    """Seeds vehicles, sensors and looks of all episodes; episode i uses (seed, i)."""
    batch: int = 32
    """Episodes flown side by side; does not change any result."""
    random_looks: bool = False
    """Draw light, ground and surround per episode instead of ``look``."""
    arena: ArenaConfig = field(default_factory=ArenaConfig)
    look: Look = field(default_factory=Look)


@dataclass(frozen=True, eq=False)
class Flight:
    """One flown example."""

    example: Example
    path: NDArray[np.float64]
    """Where the drone was (P, 2), every sub-step of the vehicle."""
    poses: NDArray[np.float64]
    """Reported poses (T, 6) at each decision."""
    actions: NDArray[np.float64]
    """Actions (T, 3) of the policy."""
    images: NDArray[np.uint8] | None
    """First-person images (T, H, W, 3) at each decision, if they were kept."""
    metrics: EpisodeMetrics


class Witness(Protocol):
    """Looks on, truth included, and finds out afterwards why flights failed; changes nothing about them."""

    def saw(self, policy: Policy, chunk: Sequence[Example], slots: NDArray[np.int64], frames: Frames) -> None:
        """After each decision: what the drones of these slots had in view when they took it."""
        ...

    def ended(self, slot: int, flight: Flight) -> None:
        """Once per flight, when all of its batch have ended."""
        ...


def situation_of(example: Example, config: RunConfig, index: int) -> tuple[Situation, int]:
    """The situation and the seed of example number ``index`` of a run."""
    look_seed, arena_seed = np.random.SeedSequence((config.seed, index)).generate_state(2, np.uint64)
    look = random_look(np.random.default_rng(int(look_seed))) if config.random_looks else config.look
    return Situation(example.objects, example.start, look, example.episode.arena_m), int(arena_seed >> 2)


def fly(
    policy: Policy,
    examples: Sequence[Example],
    bank: MeshBank,
    config: RunConfig | None = None,
    objects: Sequence[Any] | None = None,
    keep_images: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    witness: Witness | None = None,
    first: int = 0,
) -> list[Flight]:
    """Fly every example once; ``objects`` is what the policy is taught per example. Order is kept.

    ``first`` is the number of the first example within a longer run: parts flown apart give the whole run's flights.
    """
    config = config or RunConfig()
    if not examples:
        raise WaywordError("no episodes to fly")
    taught = list(objects) if objects is not None else [None] * len(examples)
    flights: list[Flight] = []
    for start in range(0, len(examples), config.batch):
        chunk = examples[start : start + config.batch]
        flights += _fly_batch(
            policy,
            chunk,
            taught[start : start + config.batch],
            bank,
            config,
            first + start,
            keep_images,
            progress,
            witness,
        )
    return flights


def _fly_batch(
    policy: Policy,
    chunk: Sequence[Example],
    taught: Sequence[Any],
    bank: MeshBank,
    config: RunConfig,
    offset: int,
    keep_images: bool,
    progress: Callable[[int], None],
    witness: Witness | None,
) -> list[Flight]:
    arena = Arena(len(chunk), bank, config.arena)
    starts = [situation_of(example, config, offset + i) for i, example in enumerate(chunk)]
    arena.reset(range(len(chunk)), [situation for situation, _ in starts], [seed for _, seed in starts])
    policy.reset([example.instruction for example in chunk], taught)
    if isinstance(policy, Privileged):
        policy.brief([example.path for example in chunk])
    poses: list[list[NDArray]] = [[] for _ in chunk]
    actions: list[list[NDArray]] = [[] for _ in chunk]
    images: list[list[NDArray]] = [[] for _ in chunk]
    while len(slots := arena.flying):
        frames = arena.frames(slots)
        seen = Observations(slots, frames.rgb, arena.poses[slots])
        if isinstance(policy, Watching):
            policy.watch(frames.ids, [[item.name for item in chunk[slot].objects] for slot in slots])
        chosen = np.asarray(policy.act(seen), dtype=np.float64)
        if witness is not None:
            witness.saw(policy, chunk, slots, frames)
        if chosen.shape != (len(slots), 3):
            raise ValueError(
                f"policy {policy.name} answered {chosen.shape} for {len(slots)} drones, not ({len(slots)}, 3)"
            )
        everyone = np.zeros((len(chunk), 3))
        everyone[slots] = chosen
        for row, slot in enumerate(slots):
            poses[slot].append(seen.poses[row])
            actions[slot].append(chosen[row])
            if keep_images:
                images[slot].append(seen.images[row])
        arena.step(everyone)
        progress(len(slots) - len(arena.flying))
    flights = []
    for slot, example in enumerate(chunk):
        path, ending = arena.flown(slot), arena.endings[slot]
        assert ending is not None
        metrics = score(path, example.path, int(arena.contacts[slot]), int(arena.steps[slot]), ending)
        pictures = np.array(images[slot]) if keep_images else None
        flights.append(Flight(example, path, np.array(poses[slot]), np.array(actions[slot]), pictures, metrics))
        if witness is not None:
            witness.ended(slot, flights[-1])
    return flights
