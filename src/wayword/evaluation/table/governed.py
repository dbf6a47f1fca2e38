"""FsPVN through the whole flight stack: natural instructions, flown under the governor with its default limits.

The policy decides in lock-step with the simulated vehicle of ``wayword flight``: an autopilot that answers within
0.7 s, takes off and lands; images and poses that arrive late; the governor at 20 Hz between the two, with the fence
that ``wayword flight`` sets. A flight is scored from the end of its take-off to where it has landed, by its true
positions: what it coasts after the policy's stop counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.compute import Workers, in_order
from wayword.episodes import Example, PlacedObject, Pose2
from wayword.evaluation.metrics import EndedBy, EpisodeMetrics, score
from wayword.evaluation.table.columns import shipped_database
from wayword.evaluation.table.conditions import Conditions, natural_examples
from wayword.evaluation.table.reading import steady_policy
from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.decider import Mind, PolicyMind
from wayword.flight.fence import Fence
from wayword.flight.governor import GovernorConfig
from wayword.flight.loop import Track
from wayword.flight.mission import FlightPlan, Outcome, fly_mission
from wayword.flight.reasons import Reason
from wayword.flight.setup import simulated_vehicle
from wayword.flight.simulated import SimulatedVehicle
from wayword.flight.vehicle import Mode
from wayword.policy import Policy
from wayword.policy.taught import TaughtDatabase
from wayword.sim.render.bank import MeshBank

PART = 8
"""Flights per job."""
WATCHED: tuple[Reason, ...] = (
    Reason.SPEED, Reason.YAW, Reason.ACCELERATION, Reason.FADING, Reason.FENCE, Reason.CLEARANCE, Reason.NO_DECISION,
    Reason.BAD_OUTPUT, Reason.NO_IMAGE, Reason.NO_POSE, Reason.LINK_LOST, Reason.POSE_JUMP, Reason.TIME_UP,
)  # fmt: skip
"""Interventions that are counted; arriving is none."""


@dataclass(frozen=True)
class Stack:
    """What the policy flies in."""

    fence: Fence = field(default_factory=Fence)
    governor: GovernorConfig = field(default_factory=GovernorConfig)
    vehicle: AutopilotModelConfig = field(default_factory=AutopilotModelConfig)


@dataclass(frozen=True)
class Governed:
    """One flight."""

    example: str
    metrics: EpisodeMetrics
    interventions: dict[str, int]
    """By reason code, how often it began."""
    seconds: float
    gap_m: float
    """Least distance of the body from an object."""


@dataclass(frozen=True)
class _Part:
    conditions: Conditions
    stack: Stack
    number: int


def fly_governed(
    conditions: Conditions,
    stack: Stack | None = None,
    workers: Workers = 2,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Governed]:
    """Every natural example of the split, in order; the same for any number of workers."""
    count = len(natural_examples(conditions))
    parts = [_Part(conditions, stack or Stack(), number) for number in range(-(-count // PART))]
    answers: list[Governed] = []
    for flights in in_order(partial(_fly_part, _bank()), parts, workers):
        progress(len(flights))
        answers += flights
    return answers


def _fly_part(bank: MeshBank, part: _Part) -> list[Governed]:
    first = part.number * PART
    cuts = natural_examples(part.conditions)[first : first + PART]
    conditions = part.conditions
    policy = _policy(conditions.policy, conditions.weights)
    taught = _taught(conditions.split, conditions.policy, conditions.weights)
    return [
        fly_one(cut, policy, taught, bank, part.stack, seed)
        for cut, seed in zip(cuts, _seeds(conditions.seed, first), strict=False)
    ]


def _seeds(seed: int, first: int) -> list[int]:
    return [int(np.random.SeedSequence((seed, first + i)).generate_state(1)[0]) for i in range(PART)]


@dataclass(frozen=True, eq=False)
class StackFlight:
    """What a flight through the stack left behind, from the end of its take-off to where it has landed."""

    poses: NDArray[np.float64]
    """(T, 3) true x, y, yaw, ``STEP_S`` apart."""
    gap_m: float
    """Least distance of the body from an object."""
    contacts: int
    outcome: Outcome

    @property
    def ended_by(self) -> EndedBy:
        """By the policy, the clock, or anything else."""
        if Reason.ARRIVED in self.outcome.reasons:
            return "policy"
        return "horizon" if Reason.TIME_UP in self.outcome.reasons else "error"


def fly_stack(
    objects: Sequence[PlacedObject], start: Pose2, mind: Mind, bank: MeshBank, stack: Stack, seed: int = 0
) -> StackFlight:
    """From the ground to the ground, among solid objects."""
    vehicle = simulated_vehicle(bank, objects, start, seed, **vars(stack.vehicle))
    assert isinstance(vehicle, SimulatedVehicle)
    body, poses, gaps = vehicle.body, list[tuple[float, float, float]](), list[float]()

    def note(vehicle: SimulatedVehicle) -> None:
        if body.mode is Mode.OFFBOARD or (poses and body.mode is not Mode.GROUND):
            poses.append((body.x, body.y, body.yaw))
            gaps.append(body.gap_m)

    vehicle.on_step = note
    plan = FlightPlan(fence=stack.fence, governor=stack.governor, lockstep=True, catch_signals=False)
    outcome = fly_mission(vehicle, mind, plan)
    return StackFlight(np.array(poses), min(gaps), body.contacts, outcome)


def fly_one(
    example: Example, policy: Policy, taught: object, bank: MeshBank, stack: Stack | None = None, seed: int = 0
) -> Governed:
    """One example, scored by its demonstration."""
    mind = PolicyMind(policy, example.instruction, taught)
    flight = fly_stack(example.objects, example.start, mind, bank, stack or Stack(), seed)
    outcome = flight.outcome
    metrics = score(flight.poses[:, :2], example.path, flight.contacts, outcome.decisions, flight.ended_by)
    return Governed(example.id, metrics, interventions(outcome.tracks), outcome.seconds, flight.gap_m)


def interventions(tracks: Sequence[Track]) -> dict[str, int]:
    """How often each reason began: given at a tick and not at the one before."""
    counts, before = Counter[str](), frozenset[Reason]()
    for track in tracks:
        now = frozenset(track.command.reasons)
        counts.update(reason.value for reason in now - before)
        before = now
    return dict(counts)


@cache
def _policy(name: str, weights: Path | None) -> Policy:
    return steady_policy(name, weights)


@cache
def _taught(split: str, name: str, weights: Path | None) -> TaughtDatabase:
    """The photos embedded once, not at every instruction."""
    return TaughtDatabase.of(shipped_database(split), _policy(name, weights).grounder)  # type: ignore[attr-defined]


@cache
def _bank() -> MeshBank:
    return MeshBank.of_catalogue()
