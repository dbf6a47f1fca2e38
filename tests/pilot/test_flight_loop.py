"""The loop in a world that is no arena: whatever flies, counts and steps can be flown in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from wayword.episodes import Example
from wayword.learning.policy.teacher import TeacherConfig, TeacherWorld
from wayword.pilot.episode_loop import FlightLoop
from wayword.policy import Observations, Oracle
from wayword.policy.control import ControlConfig


class Corridor:
    """Drones that fly along x; each ends when it stops or has gone a metre."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.x = np.zeros(count)
        self.ended = np.zeros(count, bool)
        self.log: list[np.ndarray] = []

    @property
    def flying(self) -> np.ndarray:
        return np.flatnonzero(~self.ended)

    @property
    def poses(self) -> np.ndarray:
        return np.column_stack([self.x, np.zeros((self.count, 5))])

    def step(self, actions: np.ndarray, watch: Callable[[], None] | None = None) -> None:
        self.log.append(actions.copy())
        stop = actions[:, 2] > 0.5
        self.x += np.where(stop | self.ended, 0.0, actions[:, 0])
        self.ended |= stop | (self.x >= 1.0)
        if watch is not None:
            watch()


class Steady:
    """Each drone at the speed of its number."""

    name = "steady"

    def __init__(self) -> None:
        self.seen_slots: list[list[int]] = []

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Nothing to know."""

    def act(self, observations: Observations) -> np.ndarray:
        self.seen_slots.append(observations.slots.tolist())
        return np.array([[0.25 * (slot + 1), 0.0, 0.0] for slot in observations.slots])


def test_drones_leave_as_they_end_and_the_loop_ends_with_the_last() -> None:
    world, policy = Corridor(3), Steady()
    points = list(FlightLoop(policy, world))
    # At 0.25, 0.5 and 0.75 a decision, a metre takes 4, 2 and 2 of them.
    assert policy.seen_slots == [[0, 1, 2], [0, 1, 2], [0], [0]]
    assert len(points) == 4
    assert all(point.frames is None and point.observations.images.size == 0 for point in points)
    np.testing.assert_allclose(points[2].observations.poses[:, 0], [0.5])


def test_those_that_have_ended_are_told_nothing() -> None:
    world = Corridor(3)
    list(FlightLoop(Steady(), world))
    np.testing.assert_array_equal(world.log[2][1:], np.zeros((2, 3)))


def test_deciding_and_moving_by_hand_is_the_same_flight() -> None:
    by_hand, at_once = Corridor(3), Corridor(3)
    loop = FlightLoop(Steady(), by_hand)
    watched = []
    while len(by_hand.flying):
        loop.move(loop.decide(), lambda: watched.append(by_hand.x.copy()))
    list(FlightLoop(Steady(), at_once))
    np.testing.assert_array_equal(by_hand.x, at_once.x)
    assert len(watched) == 4


def test_an_answer_of_another_shape_is_an_error_of_the_policy() -> None:
    class Mute(Steady):
        name = "mute"

        def act(self, observations: Observations) -> np.ndarray:
            return np.zeros((1, 3))

    with pytest.raises(ValueError, match=r"policy mute answered \(1, 3\) for 3 drones, not \(3, 3\)"):
        FlightLoop(Mute(), Corridor(3)).decide()


def test_the_world_that_trains_is_flown_by_the_policies_that_fly(dev_pairs: list[Example]) -> None:
    world = TeacherWorld(dev_pairs[:3], TeacherConfig(noise=None), ControlConfig(), np.random.default_rng(0))
    oracle = Oracle()
    oracle.reset([""] * 3, [None] * 3)
    oracle.brief([example.path for example in dev_pairs[:3]])
    decisions = sum(len(point.slots) for point in FlightLoop(oracle, world))
    assert decisions == world.steps.sum()
    assert world.stopped.all()
    assert (world.errors_m() < 0.3).all()
