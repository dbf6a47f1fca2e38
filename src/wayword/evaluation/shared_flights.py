"""The flights of `wayword eval` shared among workers: a batch is a job.

What all jobs need goes to each worker once: the meshes, the examples, the databases. The policy is loaded there by its
name. Flights depend on their number only, so that they are the same for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from wayword.compute import Workers, in_order
from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.runner import ScoredFlight, fly_examples
from wayword.evaluation.table.reading import steady_policy
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Policy
from wayword.sim.render.bank import MeshBank


@dataclass(frozen=True, eq=False)
class Sortie:
    """What is flown, and by whom."""

    policy: str
    weights: Path | None
    grounder: str
    examples: Sequence[Example]
    taught: Sequence[Any] | None
    """What the policy is taught per example."""
    bank: MeshBank
    config: RunConfig


def fly_shared(
    sortie: Sortie, workers: Workers = 2, progress: Callable[[int], None] = lambda done: None
) -> list[ScoredFlight]:
    """Fly every example once, in batches; order is kept."""
    if not sortie.examples:
        raise WaywordError("no episodes to fly")
    render = replace(sortie.config.arena.render, threads=1)  # one core per worker; pictures do not depend on it
    arena = replace(sortie.config.arena, render=render)
    sortie = replace(sortie, config=replace(sortie.config, arena=arena))
    flights: list[ScoredFlight] = []
    for some in in_order(partial(_fly, sortie), range(0, len(sortie.examples), sortie.config.batch), workers):
        progress(len(some))
        flights += some
    return flights


def _fly(sortie: Sortie, first: int) -> list[ScoredFlight]:
    part = slice(first, first + sortie.config.batch)
    taught = None if sortie.taught is None else sortie.taught[part]
    policy = _policy(sortie.policy, sortie.weights, sortie.grounder)
    return fly_examples(policy, sortie.examples[part], sortie.bank, sortie.config, taught, first=first)


@cache
def _policy(name: str, weights: Path | None, grounder: str) -> Policy:
    return steady_policy(name, weights, grounder)
