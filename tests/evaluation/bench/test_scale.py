"""The simulation of many workers, against cases that can be worked by hand."""

from __future__ import annotations

import pytest

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


def test_jobs_are_shared_evenly() -> None:
    plain = JobCosts(job_s=2.0, spread=0.0, driver_s=0.0, start_s=1.0)
    assert farm(plain, 1, 8) == 17.0  # one second to start, eight jobs of two
    assert farm(plain, 4, 8) == 5.0
    assert farm(plain, 4, 9) == 7.0  # one job too many for two rounds
    assert farm(plain, 100, 8) == 3.0
    assert farm_efficiency(plain, 4, 8) == pytest.approx(8 * 2 / (4 * 5))


def test_the_one_that_hands_out_jobs_is_the_limit() -> None:
    # Each result keeps it for half a second: however many workers, two jobs a second, after the first have come.
    costs = JobCosts(job_s=2.0, spread=0.0, driver_s=0.5, start_s=0.0)
    assert farm(costs, 64, 1000) == pytest.approx(2.0 + 1000 * 0.5)
    assert farm(costs, 1, 10) == pytest.approx(10 * 2.5)


def test_a_step_waits_for_the_ring_and_for_the_slowest() -> None:
    # Two processes pass half of 100 bytes twice at 100 bytes a second: one second beside a step of three.
    costs, wire = StepCosts(step_s=3.0, spread=0.0, gradient_bytes=100.0), Wire(bytes_s=100.0, latency_s=0.0)
    assert team_efficiency(costs, 1, wire) == 1.0
    assert team_efficiency(costs, 2, wire) == pytest.approx(3 / 4)
    uneven = StepCosts(step_s=3.0, spread=0.3, gradient_bytes=0.0)
    free = Wire(latency_s=0.0)
    assert team_efficiency(uneven, 16, free) < team_efficiency(uneven, 2, free) < 1.0


def test_actors_bring_more_until_one_learner_is_busy() -> None:
    # A batch takes 9 s to fly and 1 s to learn from: one actor makes one in 10 s, ten keep the learner busy.
    costs = ActorCosts(fly_s=9.0, spread=0.0, learn_s=1.0)
    assert fly_actors(costs, 1, stale=0).batches_s == pytest.approx(0.1)
    assert fly_actors(costs, 1, stale=0).lag == 0.0
    ten = fly_actors(costs, 10, stale=9)
    assert ten.batches_s == pytest.approx(1.0, rel=0.01)
    assert ten.lag == pytest.approx(9.0, abs=0.1)  # while one flies, the nine others are learned from
    assert fly_actors(costs, 40, stale=100).batches_s == pytest.approx(1.0, rel=0.01)
    strict = fly_actors(costs, 10, stale=3)
    assert strict.too_old > 0.3
    assert strict.batches_s < ten.batches_s
