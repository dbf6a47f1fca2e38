"""The flights of `wayword flight faults`, shared among workers: the suite, random faults, and those at the edges.

A flight is known by its number, so that it does not matter who flies it and when.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wayword.compute import Workers, in_order
from wayword.flight.fault_suite import cases
from wayword.flight.faults import Result, run_case
from wayword.flight.mission import Outcome
from wayword.flight.random_faults import EDGES, Edge, RandomFlight, random_flight

_SOME = 10
"""Flights per job."""


@dataclass(frozen=True)
class FaultFlights:
    """What came of them."""

    suite: list[Result]
    random: list[RandomFlight]
    edges: list[tuple[Edge, RandomFlight]]


@dataclass(frozen=True)
class _Job:
    """Some flights: of the suite if there is no seed, otherwise random ones, at an edge or not."""

    numbers: range
    seed: int | None = None
    edge: int | None = None


def fly_faults(
    count: int, seed: int, workers: Workers = 1, progress: Callable[[int], None] = lambda done: None
) -> FaultFlights:
    """The suite, ``count`` random flights, and a tenth as many at each edge."""
    suite = cases()
    jobs = [_Job(numbers) for numbers in _portions(len(suite))]
    jobs += [_Job(numbers, seed) for numbers in _portions(count)]
    jobs += [_Job(numbers, seed, edge) for edge in range(len(EDGES)) for numbers in _portions(count // 10)]
    answers = FaultFlights([], [], [])
    for job, flights in zip(jobs, in_order(_fly, jobs, workers), strict=True):
        progress(len(job.numbers))
        for number, flight in zip(job.numbers, flights, strict=True):
            if isinstance(flight, RandomFlight):
                edge = None if job.edge is None else EDGES[job.edge]
                answers.random.append(flight) if edge is None else answers.edges.append((edge, flight))
            else:
                answers.suite.append(Result(suite[number], *flight))
    return answers


def _portions(count: int) -> list[range]:
    return [range(first, min(first + _SOME, count)) for first in range(0, count, _SOME)]


def _fly(job: _Job) -> list[RandomFlight | tuple[Outcome, float, float, float, int]]:
    if job.seed is None:
        suite = cases()
        results = [run_case(suite[number]) for number in job.numbers]
        # Without the case: what throws its fault in is a function that cannot be sent.
        return [(each.outcome, each.after_m, each.nearest_m, each.gap_m, each.contacts) for each in results]
    edge = None if job.edge is None else EDGES[job.edge]
    return [random_flight(number, job.seed, edge) for number in job.numbers]
