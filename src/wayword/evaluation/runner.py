"""Flies a policy through examples and scores the flights.

Episodes run in batches on all cores; finished ones leave the batch. The policy gets instructions, taught
objects, images and poses. Demonstrations go to the scorer, and to policies that declare themselves
``Privileged``; true object ids go to a witness, and to policies that declare themselves ``Watching``. Nothing
gold ends an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.metrics import EpisodeMetrics
from wayword.evaluation.verdicts import outcome_of, score_end
from wayword.pilot.episode_loop import EpisodeLoop, RunConfig, situation_of
from wayword.pilot.verdict import FlightEnd
from wayword.policy import Policy
from wayword.recording.track import track_of
from wayword.sim.arena import Arena
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import Frames


@dataclass(frozen=True, eq=False)
class ScoredFlight:
    """One flown example, scored."""

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

    @property
    def outcome(self) -> str:
        """How it ended, in one line."""
        return outcome_of(self.metrics)

    @property
    def track(self) -> str:
        """Where the drone was at every decision, as a line of text (``recording.track``)."""
        return track_of(self.path, self.poses, stopped=self.metrics.ended_by == "policy")


class Witness(Protocol):
    """Looks on, truth included, and finds out afterwards why flights failed; changes nothing about them."""

    def saw(
        self,
        policy: Policy,
        chunk: Sequence[Example],
        slots: NDArray[np.int64],
        frames: Frames,
        poses: NDArray[np.float64],
    ) -> None:
        """After each decision: what the drones of these slots had in view when they took it, and from where."""
        ...

    def ended(self, slot: int, flight: ScoredFlight) -> None:
        """Once per flight, when all of its batch have ended."""
        ...


def fly_examples(
    policy: Policy,
    examples: Sequence[Example],
    bank: MeshBank,
    config: RunConfig | None = None,
    objects: Sequence[Any] | None = None,
    keep_images: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    witness: Witness | None = None,
    first: int = 0,
) -> list[ScoredFlight]:
    """Fly every example once; ``objects`` is what the policy is taught per example. Order is kept.

    ``first`` is the number of the first example within a longer run: parts flown apart give the whole run's flights.
    """
    config = config or RunConfig()
    if not examples:
        raise WaywordError("no episodes to fly")
    taught = list(objects) if objects is not None else [None] * len(examples)
    flights: list[ScoredFlight] = []
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
) -> list[ScoredFlight]:
    arena = Arena(len(chunk), bank, config.arena)
    loop = EpisodeLoop(policy, arena)
    starts = [situation_of(example, config, offset + i) for i, example in enumerate(chunk)]
    loop.begin(
        [situation for situation, _ in starts],
        [seed for _, seed in starts],
        [example.instruction for example in chunk],
        taught,
        [example.path for example in chunk],
    )
    poses: list[list[NDArray]] = [[] for _ in chunk]
    actions: list[list[NDArray]] = [[] for _ in chunk]
    images: list[list[NDArray]] = [[] for _ in chunk]
    flying = len(chunk)
    for point in loop:
        progress(flying - len(point.slots))
        flying = len(point.slots)
        if witness is not None and point.frames is not None:
            witness.saw(policy, chunk, point.slots, point.frames, point.observations.poses)
        for row, slot in enumerate(point.slots):
            poses[slot].append(point.observations.poses[row])
            actions[slot].append(point.actions[row])
            if keep_images:
                images[slot].append(point.observations.images[row])
    progress(flying)
    flights = []
    for slot, example in enumerate(chunk):
        end = FlightEnd.of(example, arena, slot)
        metrics = score_end(end)
        pictures = np.array(images[slot]) if keep_images else None
        flights.append(
            ScoredFlight(example, end.path, np.array(poses[slot]), np.array(actions[slot]), pictures, metrics)
        )
        if witness is not None:
            witness.ended(slot, flights[-1])
    return flights
