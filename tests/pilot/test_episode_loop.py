"""The one episode loop: who decides, who is shown what, and what is flown."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.episodes import Example
from wayword.pilot.episode_loop import EpisodeLoop, RunConfig, situation_of
from wayword.pilot.verdict import FlightEnd
from wayword.policy import Average, Observations, Oracle, Stop
from wayword.sim.arena import Arena, ArenaConfig
from wayword.sim.render.bank import MeshBank


def begun(
    policy: object, examples: list[Example], bank: MeshBank, horizon: int = 50, looks: bool = True
) -> EpisodeLoop:
    arena = Arena(len(examples), bank, ArenaConfig(horizon=horizon))
    loop = EpisodeLoop(policy, arena, looks)  # type: ignore[arg-type]
    starts = [situation_of(example, RunConfig(), i) for i, example in enumerate(examples)]
    count = len(examples)
    paths = [example.path for example in examples]
    loop.begin([s for s, _ in starts], [seed for _, seed in starts], [""] * count, [None] * count, paths)
    return loop


def test_a_decision_is_carried_out_when_the_next_is_asked_for(bank: MeshBank, dev_pairs: list[Example]) -> None:
    loop = begun(Average(), dev_pairs[:1], bank, horizon=3)
    steps = [int(loop.arena.steps[0]) for _ in loop]
    assert steps == [0, 1, 2]
    assert loop.arena.endings == ["horizon"]
    end = FlightEnd.of(dev_pairs[0], loop.arena)
    assert (end.decisions, end.seconds) == (3, 1.5)


def test_a_stop_takes_no_time(bank: MeshBank, dev_pairs: list[Example]) -> None:
    loop = begun(Stop(), dev_pairs[:2], bank)
    assert [len(point.slots) for point in loop] == [2]
    assert FlightEnd.of(dev_pairs[0], loop.arena).seconds == 0.0


def test_without_looks_nothing_is_drawn_and_the_flight_is_the_same(bank: MeshBank, dev_pairs: list[Example]) -> None:
    looking, blind = (begun(Oracle(), dev_pairs[:2], bank, 8, looks) for looks in (True, False))
    assert all(point.frames is not None for point in looking)
    assert all(point.frames is None and point.observations.images.size == 0 for point in blind)
    np.testing.assert_array_equal(looking.arena.flown(1), blind.arena.flown(1))


def test_whoever_changes_an_action_changes_what_is_flown(bank: MeshBank, dev_pairs: list[Example]) -> None:
    loop = begun(Average(), dev_pairs[:1], bank, horizon=6)
    for point in loop:
        point.actions[:, 0], point.actions[:, 1] = 0.0, 0.0
    start = dev_pairs[0].start
    np.testing.assert_allclose(loop.arena.flown(0)[-1], [start.x, start.y], atol=1e-6)


def test_a_watching_policy_is_told_whose_pixels_it_sees(bank: MeshBank, dev_pairs: list[Example]) -> None:
    class Watcher(Stop):
        layouts: object = None

        def watch(self, ids: np.ndarray, layouts: list[list[str]]) -> None:
            self.layouts = layouts
            assert ids.shape == (2, 72, 128)

    policy = Watcher()
    for _ in begun(policy, dev_pairs[:2], bank):
        pass
    assert policy.layouts == [[item.name for item in example.objects] for example in dev_pairs[:2]]


def test_an_answer_of_the_wrong_shape_is_an_error(bank: MeshBank, dev_pairs: list[Example]) -> None:
    class Short(Stop):
        def act(self, observations: Observations) -> np.ndarray:
            return np.zeros((len(observations.slots), 2))

    with pytest.raises(ValueError, match="for 1 drones"):
        begun(Short(), dev_pairs[:1], bank).decide()
