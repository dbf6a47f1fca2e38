"""FsPVN under other conditions than the table's: vehicles that respond otherwise, and drills about sides.

Both fly the shipped weights (or others) over two processes, 32 flights at a time. Flights depend on their number
only: the same figures come out for any number of workers.

    vehicles   natural instructions, on airframes from agile to sluggish, with delayed commands, on the rigid body
    sides      drills (``episodes.instructions.drills``) about unseen objects: is the target passed on the told side?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from wayword.compute import Workers, in_order
from wayword.episodes import SPLITS, Example, examples
from wayword.episodes.instructions.drills import Drill, generate_drills
from wayword.evaluation.metrics import EpisodeMetrics
from wayword.evaluation.runner import fly_examples
from wayword.evaluation.table.columns import Column, load_cases, shipped_database
from wayword.evaluation.table.reading import steady_policy
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Policy
from wayword.sim.arena import ArenaConfig
from wayword.sim.models.catalogue import names
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig
from wayword.sim.vehicle import VehicleConfig
from wayword.sim.vehicle.fitted import ARDUCOPTER, PX4

PART = 32
PASSED_RAD = 0.9
"""A drone that has gone past something has turned about it by at least this much."""
VEHICLES: Mapping[str, VehicleConfig] = MappingProxyType(
    {
        "usual": VehicleConfig(),
        "fast": VehicleConfig(time_constant_s=0.3),
        "slow": VehicleConfig(time_constant_s=0.7),
        "slowest": VehicleConfig(time_constant_s=1.0),
        "delayed": VehicleConfig(latency_s=0.2),
        "slow_delayed": VehicleConfig(time_constant_s=0.85, latency_s=0.3),
        "rigid": VehicleConfig(model="rigid"),
        "px4": PX4,
        "arducopter": ARDUCOPTER,
    }
)
"""Time to 63 % of full speed: 0.5 s usually; real vehicles under common autopilots take 0.7 to 1.0 s."""


@dataclass(frozen=True)
class Conditions:
    """What all flights of a run have in common."""

    split: str = "dev"
    seed: int = 0
    limit: int | None = None
    """At most this many examples, evenly spread."""
    weights: Path | None = None
    """FsPVN's weights; None for the shipped ones."""
    policy: str = "fspvn"
    """Who flies, by name."""


@dataclass(frozen=True)
class _Part:
    conditions: Conditions
    vehicle: str
    drills: int
    """How many drills; 0 for natural instructions."""
    number: int


@dataclass(frozen=True)
class FlownDrill:
    """How a drill went."""

    metrics: EpisodeMetrics
    told_side: bool
    """Passed the target, on the side that was told."""


def fly_vehicles(
    conditions: Conditions,
    vehicles: Sequence[str],
    workers: Workers = 2,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, list[EpisodeMetrics]]:
    """The metrics of every natural example on each of the vehicles."""
    count = len(natural_examples(conditions))
    parts = [_Part(conditions, name, 0, n) for name in vehicles for n in range(-(-count // PART))]
    by_vehicle: dict[str, list[EpisodeMetrics]] = {name: [] for name in vehicles}
    for part, scores in zip(parts, _scores(parts, workers, progress), strict=True):
        by_vehicle[part.vehicle] += [score.metrics for score in scores]
    return by_vehicle


def fly_drills(
    conditions: Conditions, drills: int, workers: Workers = 2, progress: Callable[[int], None] = lambda done: None
) -> list[FlownDrill]:
    """How each of the first ``drills`` drills went."""
    parts = [_Part(conditions, "usual", drills, n) for n in range(-(-drills // PART))]
    return [drill for scores in _scores(parts, workers, progress) for drill in scores]


def _scores(parts: Sequence[_Part], workers: Workers, progress: Callable[[int], None]) -> Iterator[list[FlownDrill]]:
    for scores in in_order(partial(_fly_part, _bank()), parts, workers):
        progress(len(scores))
        yield scores


def _fly_part(bank: MeshBank, part: _Part) -> list[FlownDrill]:
    conditions, first = part.conditions, part.number * PART
    targets: list[tuple[str, int]]
    if part.drills:
        drills = drill_examples(conditions, min(PART, part.drills - first), first)
        cuts, targets = [cut for cut, _ in drills], [(d.target, 1 if d.side == "left" else -1) for _, d in drills]
    else:
        cuts = natural_examples(conditions)[first : first + PART]
        targets = [("", 0)] * len(cuts)
    arena = ArenaConfig(vehicle=VEHICLES[part.vehicle], render=RenderConfig(threads=1))
    run = RunConfig(conditions.seed, PART, arena=arena)
    taught = [shipped_database(conditions.split)] * len(cuts)
    flights = fly_examples(_policy(conditions.policy, conditions.weights), cuts, bank, run, taught, first=first)
    passed = []
    for flight, (target, sign) in zip(flights, targets, strict=True):
        place = next(((o.x, o.y) for o in flight.example.objects if o.name == target), None)
        right = place is not None and sign * winding(flight.path, place) >= PASSED_RAD
        passed.append(FlownDrill(flight.metrics, right))
    return passed


def winding(path: ArrayLike, place: tuple[float, float]) -> float:
    """Radians by which a path (P, 2) goes around a place: positive if it keeps the place on its left."""
    points = np.asarray(path, np.float64)
    offsets = (points[:, 0] - place[0]) + 1j * (points[:, 1] - place[1])
    return float(np.angle(offsets[1:] / offsets[:-1]).sum())


def drill_examples(conditions: Conditions, count: int, first: int = 0) -> list[tuple[Example, Drill]]:
    """Drills, each as one example of all its segments."""
    drills = generate_drills(conditions.split, count, conditions.seed, names(SPLITS[conditions.split]), first)
    return [(examples(drill.episode, len(drill.episode.segments))[0], drill) for drill in drills]


@cache
def natural_examples(conditions: Conditions) -> list[Example]:
    """The natural two-segment examples of the split."""
    column = Column(conditions.split, "natural")  # type: ignore[arg-type]
    return [case.example for case in load_cases(column, Path(), conditions.seed, conditions.limit)]


@cache
def _policy(name: str, weights: Path | None) -> Policy:
    return steady_policy(name, weights)


@cache
def _bank() -> MeshBank:
    return MeshBank.of_catalogue()
