from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from wayword.episodes import Example, examples, load_natural
from wayword.errors import WaywordError
from wayword.evaluation import summarise
from wayword.evaluation.runner import fly_examples
from wayword.evaluation.verdicts import judge_by_demonstration, judge_by_demonstration_and_goal
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Average, AverageConfig, Observations, Oracle, Stop
from wayword.recording.film import Film, RecorderConfig
from wayword.sim import ArenaConfig, MeshBank, VehicleConfig


def test_the_oracle_arrives_on_test_episodes(bank: MeshBank) -> None:
    cuts = [cut for episode in load_natural("test") for cut in examples(episode, 2)][::4]
    summary = summarise([flight.metrics for flight in fly_examples(Oracle(), cuts, bank)], seed=0)
    assert summary["sr"].mean >= 0.99
    assert summary["emd"].mean <= 0.06
    assert summary["steps"].mean < 22


@pytest.mark.parametrize(
    "vehicle", [VehicleConfig(model="rigid"), VehicleConfig(time_constant_s=1.0), VehicleConfig(time_constant_s=0.3)]
)
def test_the_oracle_copes_with_other_vehicles(bank: MeshBank, dev_pairs: list[Example], vehicle: VehicleConfig) -> None:
    flights = fly_examples(Oracle(), dev_pairs[::16], bank, RunConfig(arena=ArenaConfig(vehicle=vehicle)))
    assert np.mean([flight.metrics.sr for flight in flights]) >= 0.9


def test_average_and_stop_are_far_below_the_oracle(bank: MeshBank, dev_pairs: list[Example]) -> None:
    rates = {p.name: np.mean([f.metrics.sr for f in fly_examples(p, dev_pairs, bank)]) for p in (Average(), Stop())}
    assert rates["average"] < 0.4
    assert rates["stop"] < 0.1


def test_the_constants_of_average_are_those_of_the_training_demonstrations(bank: MeshBank) -> None:
    cuts = [cut for episode in load_natural("train") for cut in examples(episode, 2)][::12]
    flights = fly_examples(Oracle(), cuts, bank)
    moving = np.concatenate([f.actions[f.actions[:, 2] <= 0.5] for f in flights])
    shipped = AverageConfig()
    assert moving[:, 0].mean() == pytest.approx(shipped.speed_m_s, abs=0.02)
    assert moving[:, 1].mean() == pytest.approx(shipped.yaw_rate_rad_s, abs=0.04)
    assert len(moving) / len(flights) == pytest.approx(shipped.steps, abs=1)


def test_results_do_not_depend_on_the_batch(bank: MeshBank, dev_pairs: list[Example]) -> None:
    noisy = ArenaConfig(vehicle=VehicleConfig(randomise=(0.3, 1.0), position_noise_m=0.02))
    paths = [
        [
            flight.path
            for flight in fly_examples(Oracle(), dev_pairs[:7], bank, RunConfig(seed=3, batch=batch, arena=noisy))
        ]
        for batch in (1, 3, 7)
    ]
    for flight in zip(*paths, strict=True):
        assert np.array_equal(flight[0], flight[1])
        assert np.array_equal(flight[0], flight[2])


class Curious:
    """Records all it is given, and flies forward."""

    name = "curious"

    def __init__(self) -> None:
        self.told: list[Any] = []

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        self.told += [list(instructions), list(objects)]
        self.left = len(instructions)

    def act(self, observations: Observations) -> np.ndarray:
        self.told.append(observations)
        self.left = len(observations.slots)
        return np.tile([0.7, 0.0, 0.0], (len(observations.slots), 1))


def test_nothing_gold_reaches_a_policy_or_ends_an_episode(bank: MeshBank, dev_pairs: list[Example]) -> None:
    policy = Curious()
    flights = fly_examples(policy, dev_pairs[:2], bank, RunConfig(arena=ArenaConfig(horizon=30)))
    assert policy.told[0] == [cut.instruction for cut in dev_pairs[:2]]
    assert policy.told[1] == [None, None]
    assert set(vars(policy.told[2])) == {"slots", "images", "poses"}
    # Flying straight for 15 s leaves the demonstration by metres; the episode goes on to its horizon.
    assert [flight.metrics.ended_by for flight in flights] == ["horizon", "horizon"]
    assert [flight.metrics.steps for flight in flights] == [30, 30]


class Restless(Oracle):
    """Flies the demonstration, through its end and on, and never stops."""

    def act(self, observations: Observations) -> np.ndarray:
        actions = super().act(observations)
        actions[actions[:, 2] > 0.5, 0] = 0.3
        actions[:, 2] = 0.0
        return actions


def test_being_at_the_goal_does_not_end_an_episode(bank: MeshBank, dev_pairs: list[Example]) -> None:
    flights = fly_examples(Restless(), dev_pairs[:3], bank)
    assert all(flight.metrics.osr for flight in flights)
    assert [flight.metrics.ended_by for flight in flights] == ["horizon"] * 3


def test_a_policy_that_answers_nonsense_is_an_error(bank: MeshBank, dev_pairs: list[Example]) -> None:
    class Broken(Stop):
        def act(self, observations: Observations) -> np.ndarray:
            return np.full((len(observations.slots), 3), np.nan)

    with pytest.raises(WaywordError, match="not finite"):
        fly_examples(Broken(), dev_pairs[:1], bank)
    with pytest.raises(WaywordError, match="no episodes"):
        fly_examples(Stop(), [], bank)


def test_a_recorded_flight_is_the_evaluated_flight(bank: MeshBank, dev_pairs: list[Example]) -> None:
    cut = min(dev_pairs, key=lambda example: len(example.path))
    film = Film(Oracle(), cut, bank, judge=judge_by_demonstration)
    frames = list(film)
    flight = fly_examples(Oracle(), [cut], bank)[0]
    assert np.array_equal(film.flight.end.path, flight.path)
    assert film.flight.verdict.metrics == flight.metrics
    assert frames[0].shape == (720, 1280, 3)
    moving = flight.metrics.steps - 1
    assert len(frames) == 1 + 5 * moving + 20
    assert film.flight.outcome == flight.outcome
    assert flight.outcome.startswith("arrived")
    unfilmed = Film(Oracle(), cut, bank, judge=judge_by_demonstration).fly()
    assert np.array_equal(unfilmed.end.path, flight.path)
    assert unfilmed.verdict == film.flight.verdict
    # Half the horizon is all of the bar, also where a decision is less than one per cent of it.
    heard: list[int] = []
    arena = ArenaConfig(horizon=240)
    Film(Oracle(), cut, bank, RecorderConfig(arena=arena), judge=judge_by_demonstration, progress=heard.append).fly()
    assert sum(heard) == 100 * len(heard) // 120 > 0

    goal, end = cut.objects[0].name, unfilmed.end
    told = judge_by_demonstration_and_goal([cut.objects[1].name, goal])(end)
    assert told.success
    assert re.match(rf"arrived: stopped after \d+\.\d s, \d\.\d+ m from the {goal}, which is ", told.outcome)
    assert told.outcome.endswith(
        f"; {flight.metrics.ne:.2f} m from the end of the demonstration, EMD {flight.metrics.emd:.2f} m"
    )
    for nothing in ([], ["unicorn"]):  # nobody said a word about what stands there
        assert judge_by_demonstration_and_goal(nothing)(end) == unfilmed.verdict
