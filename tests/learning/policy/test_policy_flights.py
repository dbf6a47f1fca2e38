"""Whole flights of the shipped policy through the shipped segmentation, in the simulator, about unseen objects."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from wayword.episodes import Example, examples, load_natural
from wayword.errors import WaywordError
from wayword.evaluation.runner import ScoredFlight, fly_examples
from wayword.objects import ObjectDatabase
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Observations
from wayword.policy.fspvn import FsPVN, FsPVNConfig
from wayword.sim.render.bank import MeshBank

FLOOR = 0.6
"""Of 30 fixed flights; the policy succeeds on about four in five, so that chance alone stays above this."""


@pytest.fixture(scope="module")
def policy() -> FsPVN:
    return FsPVN.load()


@pytest.fixture(scope="module")
def database() -> ObjectDatabase:
    return ObjectDatabase.load(str(files("wayword.objects") / "data" / "dev"))


def dev_examples(count: int) -> list[Example]:
    found = [example for episode in load_natural("dev") for example in examples(episode, 2)]
    return [found[int(i)] for i in np.linspace(0, len(found) - 1, count)]


def flights(policy: FsPVN, database: ObjectDatabase, count: int, batch: int = 32) -> list[ScoredFlight]:
    chosen = dev_examples(count)
    bank = MeshBank.of_catalogue(sorted({item.name for example in chosen for item in example.objects}))
    return fly_examples(policy, chosen, bank, RunConfig(batch=batch), objects=[database] * len(chosen))


def test_unseen_objects_and_natural_instructions(policy: FsPVN, database: ObjectDatabase) -> None:
    flown = flights(policy, database, 30)
    assert np.mean([flight.metrics.sr for flight in flown]) >= FLOOR
    assert np.mean([flight.metrics.emd for flight in flown]) <= 0.5
    assert np.mean([flight.metrics.ended_by == "policy" for flight in flown]) >= 0.9


def test_flights_do_not_depend_on_their_neighbours(policy: FsPVN, database: ObjectDatabase) -> None:
    together, apart = flights(policy, database, 4), flights(policy, database, 4, batch=1)
    for one, two in zip(together, apart, strict=True):
        assert abs(len(one.actions) - len(two.actions)) <= 1  # batched products round differently
        assert np.linalg.norm(one.path[-1] - two.path[-1]) < 0.1


def test_a_blind_policy_maps_nothing(database: ObjectDatabase) -> None:
    blind = FsPVN.load(config=FsPVNConfig(blank_images=True))
    (flown,) = flights(blind, database, 1)
    thought = blind.thought(0)
    assert thought.references.max() == 0
    assert thought.all_objects.max() == 0
    assert thought.coverage.max() > 0.9
    assert len(flown.actions) >= 1


def test_a_deaf_policy_has_no_references(database: ObjectDatabase) -> None:
    deaf = FsPVN.load(config=FsPVNConfig(empty_instructions=True))
    flights(deaf, database, 1)
    assert deaf.thought(0).references.shape == (0, 32, 32)


def test_what_it_thought_can_be_looked_at(policy: FsPVN, database: ObjectDatabase) -> None:
    example = dev_examples(1)[0]
    policy.reset([example.instruction], [database])
    with pytest.raises(WaywordError, match="has not acted yet"):
        policy.thought()
    image = np.full((1, 72, 128, 3), 120, np.uint8)
    pose = np.array([[2.0, 2.0, 0.7, 0.0, 0.0, 0.5]])
    action = policy.act(Observations(np.array([0]), image, pose))
    thought = policy.thought()
    np.testing.assert_allclose(thought.distributions.sum(axis=1), 1.0, atol=1e-4)
    np.testing.assert_array_equal(thought.action, action[0])
    np.testing.assert_allclose(thought.start, [2.0, 2.0, 0.5])
    assert len(thought.references) == len(thought.parsed.references)


def test_a_policy_without_a_database_says_so(policy: FsPVN) -> None:
    with pytest.raises(WaywordError, match="give an object database"):
        policy.reset(["stop by the globe"], [None])
    with pytest.raises(WaywordError, match="2 instructions but 1 databases"):
        policy.reset(["a", "b"], [None])
