"""The simulation as tables for docs/scale.md: what 1 to 512 workers would do, from the costs of one core."""

from __future__ import annotations

from collections.abc import Sequence

from wayword.evaluation.bench.scale import (
    ActorCosts,
    JobCosts,
    StepCosts,
    Wire,
    farm,
    farm_efficiency,
    fly_actors,
    team_efficiency,
)
from wayword.evaluation.bench.scale_costs import PART, Costs

WORKERS = (1, 2, 8, 16, 32, 64, 128, 256, 512)
PAPER_FLIGHTS = 200_000
"""Of the paper's reinforcement: 200 epochs of 50 iterations of 20 flights."""
TABLE_FLIGHTS = 2475
"""Of `wayword eval commands`, the longest of our evaluations."""
UNEVEN_STEPS = 0.05
"""Standard deviation of a step's time, as a share. An assumption: what one machine does beside is not known."""
STALE = 32


def job_costs(costs: Costs, flight_s: float) -> JobCosts:
    """Of jobs of 32 flights."""
    return JobCosts(PART * flight_s, costs.flight_spread, costs.driver_s, costs.start_s)


def scale_report(costs: Costs, wire: Wire | None = None) -> str:
    """All tables, as Markdown."""
    wire = wire or Wire()
    return "\n\n".join((_flights(costs), _steps(costs, wire), _actors(costs)))


def _flights(costs: Costs) -> str:
    """Flights of an evaluation, and those of the paper."""
    few, many = job_costs(costs, costs.flight_s), job_costs(costs, costs.data_flight_s)
    jobs, all_jobs = -(-TABLE_FLIGHTS // PART), -(-PAPER_FLIGHTS // PART)
    rows = [
        (
            f"{workers}",
            _time(farm(few, workers, jobs)),
            _percent(farm_efficiency(few, workers, jobs)),
            _time(farm(many, workers, all_jobs)),
            _percent(farm_efficiency(many, workers, all_jobs)),
        )
        for workers in WORKERS
    ]
    head = (
        "workers",
        f"{TABLE_FLIGHTS:,} flights of FsPVN",
        "efficiency",
        f"{PAPER_FLIGHTS:,} flights for data",
        "efficiency",
    )
    return _table(head, rows)


def _steps(costs: Costs, wire: Wire) -> str:
    step = StepCosts(costs.step_s + costs.optimiser_s, UNEVEN_STEPS, costs.gradient_bytes)
    fast = Wire(10 * wire.bytes_s, wire.latency_s / 4)
    rows = []
    for workers in WORKERS:
        shares = [team_efficiency(step, workers, each) for each in (wire, fast)]
        rates = [workers * share / step.step_s for share in shares]
        rows.append(
            (f"{workers}", *(f"{rate:.1f}, {_percent(share)}" for rate, share in zip(rates, shares, strict=True)))
        )
    return _table(("processes", "stage 1: batches/s and efficiency, 1 Gbit/s", "10 Gbit/s"), rows)


def _actors(costs: Costs) -> str:
    flying = ActorCosts(PART * costs.flight_s, costs.flight_spread, costs.learn_s)
    rows = []
    for actors in WORKERS:
        flown = fly_actors(flying, actors, STALE)
        rate = PART * flown.batches_s
        hours = PAPER_FLIGHTS / rate / 3600
        rows.append((f"{actors}", f"{rate:.2f}", f"{flown.lag:.1f}", _percent(flown.too_old), f"{hours:.1f} h"))
    head = ("actors", "flights/s learned from", "iterations old", "too old", f"{PAPER_FLIGHTS:,} flights")
    return _table(head, rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---:",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
