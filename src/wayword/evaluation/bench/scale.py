"""What more workers would bring: a discrete-event simulation from measured costs (``wayword bench scale``).

farm      independent jobs (flights of an evaluation or of training data, shards): workers take them from one process,
          which hands jobs out and writes what comes back, one after the other
team      a training step: every process computes the gradients of its batch, a ring averages them, all wait for all
actors    SuReAL: actors fly for process B, which learns from one batch of flights after the other

Efficiency is the work done per worker and second, as a share of what one worker does that waits for nobody.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Wire:
    """What lies between machines. These are assumptions, not measurements: a plain 1 Gbit/s."""

    bytes_s: float = 125e6
    latency_s: float = 1e-4


@dataclass(frozen=True)
class JobCosts:
    """Of independent jobs."""

    job_s: float
    """A worker's time for one, on average."""
    spread: float
    """Standard deviation of it, as a share."""
    driver_s: float
    """What the one process that hands jobs out has to do for each, its result included."""
    start_s: float
    """Until a worker can begin its first."""


@dataclass(frozen=True)
class StepCosts:
    """Of a training step."""

    step_s: float
    """Gradients of one batch."""
    spread: float
    gradient_bytes: float


@dataclass(frozen=True)
class ActorCosts:
    """Of SuReAL."""

    fly_s: float
    """An actor's time for one batch of flights."""
    spread: float
    learn_s: float
    """Process B's time to learn from one batch, and to write a new order."""


@dataclass(frozen=True)
class ActorRates:
    """What actors came to."""

    batches_s: float
    """Batches that were learned from, per second."""
    lag: float
    """Iterations that the parameters were old, on average over all batches that came back."""
    too_old: float
    """Share of batches that were thrown away."""


def farm(costs: JobCosts, workers: int, jobs: int, seed: int = 0) -> float:
    """Seconds until all jobs are done."""
    rng = np.random.default_rng([seed, workers])
    ends = [costs.start_s + _draw(rng, costs.job_s, costs.spread) for _ in range(min(workers, jobs))]
    heapq.heapify(ends)
    waiting, driver_free, last = jobs - len(ends), 0.0, 0.0
    while ends:
        driver_free = max(heapq.heappop(ends), driver_free) + costs.driver_s
        last = driver_free
        if waiting:
            waiting -= 1
            heapq.heappush(ends, driver_free + _draw(rng, costs.job_s, costs.spread))
    return last


def farm_efficiency(costs: JobCosts, workers: int, jobs: int, seed: int = 0) -> float:
    """Share of the workers' time that went into jobs."""
    return jobs * costs.job_s / (workers * farm(costs, workers, jobs, seed))


def team_efficiency(costs: StepCosts, workers: int, wire: Wire, steps: int = 200, seed: int = 0) -> float:
    """Samples per worker and second, against one worker alone."""
    rng = np.random.default_rng([seed, workers])
    # A ring passes its n-th part of the gradients on 2 (n - 1) times: once to add them up, once to hand out the sums.
    passing = 2 * (workers - 1) * (wire.latency_s + costs.gradient_bytes / workers / wire.bytes_s)
    slowest = np.mean([max(_draw(rng, costs.step_s, costs.spread) for _ in range(workers)) for _ in range(steps)])
    return float(costs.step_s / (slowest + passing))


def fly_actors(costs: ActorCosts, actors: int, stale: int, batches: int = 2000, seed: int = 0) -> ActorRates:
    """Actors fly, one process learns; a batch that is more than ``stale`` iterations old is not learned from."""
    rng = np.random.default_rng([seed, actors])
    flying = [(_draw(rng, costs.fly_s, costs.spread), 0) for _ in range(actors)]
    heapq.heapify(flying)
    version, free, lags, old = 0, 0.0, list[int](), 0
    for _ in range(batches):
        end, begun_with = heapq.heappop(flying)
        lags.append(version - begun_with)
        free = max(free, end)
        if lags[-1] <= stale:
            free += costs.learn_s
            version += 1
        else:
            old += 1
        heapq.heappush(flying, (free + _draw(rng, costs.fly_s, costs.spread), version))
    return ActorRates(version / free, float(np.mean(lags)), old / batches)


def _draw(rng: np.random.Generator, mean: float, spread: float) -> float:
    """A time: never negative, now and then long."""
    if spread == 0 or mean == 0:
        return mean
    shape = 1 / spread**2
    return float(rng.gamma(shape, mean / shape))
