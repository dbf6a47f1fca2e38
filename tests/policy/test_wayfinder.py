"""Wayfinder: one policy for steps, descriptions and refusals, with shipped weights, in the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from wayword.episodes import PlacedObject, Pose2, examples, load_natural
from wayword.episodes.commands import Select, Step
from wayword.evaluation.commands import Trace, judge
from wayword.language.reader import Reading, Thing
from wayword.mapping.landmarks import Landmark
from wayword.pilot.episode_loop import EpisodeLoop
from wayword.pilot.pilot import open_database
from wayword.policy.variants import WAYFINDER
from wayword.policy.wayfinder import Wayfinder
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.render.bank import MeshBank
from wayword.task import STOP_THRESHOLD

LAYOUT = (
    PlacedObject("globe", 1.2, 3.4, 0.3),
    PlacedObject("flower pot", 2.7, 2.5, 0.0),
    PlacedObject("strawberry", 3.9, 3.7, 0.0),
    PlacedObject("fire truck", 4.0, 1.0, 1.0),
    PlacedObject("watermelon", 1.0, 1.0, 0.0),
)
START = Pose2(2.3, 0.8, 1.4)


class Told:
    """Reads what it is told to."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self.readings = list(readings)

    def read(self, parsed: object, database: object) -> Reading:
        return self.readings.pop(0)


@pytest.fixture(scope="module")
def policy() -> Wayfinder:
    loaded = WAYFINDER.load()
    assert isinstance(loaded, Wayfinder)
    return loaded


def named(*names: str) -> dict[str, Thing]:
    return {name: Thing(f"the {name}", {name: 1.0}) for name in names}


def fly(policy: Wayfinder, readings: Sequence[Reading], texts: Sequence[str] | None = None, start: Pose2 = START):
    policy.reader = Told(readings)
    count = len(readings)
    arena = Arena(count, MeshBank.of_catalogue(), ArenaConfig(horizon=policy.horizon))
    loop = EpisodeLoop(policy, arena)
    database = open_database("test")
    texts = texts or ["go"] * count
    loop.begin([Situation(LAYOUT, start)] * count, list(range(count)), texts, [database] * count)
    return arena, loop


def test_steps_are_flown_with_own_eyes_and_nothing_is_touched(policy: Wayfinder) -> None:
    cases = [
        [Step("goto", "globe")],
        [Step("pass", "flower pot", on="left"), Step("goto", "strawberry", stop="front")],
        [Step("circle", "flower pot", turns=1.0, direction="cw"), Step("return")],
        [Step("goto", "watermelon"), Step("goto", "fire truck")],  # both out of view at the start
    ]
    readings = [Reading("steps", tuple(one), named(*(n for s in one for n in s.mentioned))) for one in cases]
    arena, loop = fly(policy, readings)
    for _ in loop:
        pass
    for slot, steps in enumerate(cases):
        trace = Trace.every(arena.flown_poses(slot), arena.config.vehicle.sub_step_s)
        judged = judge(steps, LAYOUT, trace, arena.endings[slot], policy.refusal(slot))
        assert judged.done, judged.words
        assert policy.refusal(slot) is None
    assert arena.contacts.tolist() == [0, 0, 0, 0]
    thought = policy.thought(0)
    assert thought.distributions.shape == (2, 4097)
    np.testing.assert_allclose(thought.distributions.sum(axis=1), 1.0, atol=1e-5)


def test_the_step_that_is_flown_is_told_by_its_number_among_all_that_were_read(policy: Wayfinder) -> None:
    steps = (Step("avoid", "watermelon"), Step("turn", degrees=90.0), Step("stay"), Step("turn", degrees=-90.0))
    readings = [Reading("steps", steps, named("watermelon")), Reading("refusal", refusal="no")]
    _, loop = fly(policy, readings)
    numbers = [policy.step_number(0)]
    for _ in loop:
        numbers.append(policy.step_number(0))
        assert policy.step_number(1) is None
    assert list(dict.fromkeys(numbers)) == [1, 3, None]  # what is kept away from and a wait are not flown


def test_a_thing_that_is_meant_by_its_place_is_found_after_a_look_round(policy: Wayfinder) -> None:
    things = {"1": Thing("the nearest", select=Select("nearest"))}
    arena, loop = fly(policy, [Reading("steps", (Step("goto", "1"),), things)])
    for _ in loop:
        pass
    trace = Trace.every(arena.flown_poses(0), arena.config.vehicle.sub_step_s)
    assert judge([Step("goto", "watermelon")], LAYOUT, trace, arena.endings[0]).done  # 1.32 m, the fire truck 1.71


def test_what_is_refused_does_not_move_and_says_why(policy: Wayfinder) -> None:
    arena, loop = fly(policy, [Reading("refusal", refusal="I do not know rockets")])
    for _ in loop:
        pass
    assert policy.refusal() == "I do not know rockets"
    assert arena.flown(0).tolist() == [[START.x, START.y]]


def test_what_is_not_there_is_said_not_to_be_found(policy: Wayfinder) -> None:
    reading = Reading("steps", (Step("goto", "piano"),), {"piano": Thing("the piano", {"teapot": 1.0})})
    arena, loop = fly(policy, [reading])
    for _ in loop:
        pass
    assert arena.endings[0] == "policy"
    assert policy.refusal() == "I did not find the piano"


def test_the_legs_of_a_description_follow_each_other_with_one_map(policy: Wayfinder) -> None:
    episode = load_natural("test")[0]
    segments = [one.instruction for one in examples(episode, 1)[:3]]
    text = " ".join(segments)
    begins = [text.index(segment) for segment in segments]
    legs = tuple((begin, begin + len(segment)) for begin, segment in zip(begins, segments, strict=True))
    _, loop = fly(policy, [Reading("description", legs=legs)], [text])
    starts, coverage = [], []
    for point in loop:
        flight = policy._flights[0]
        starts.append(tuple(flight.start))
        coverage.append(float(flight.world.coverage.sum()))
        if point.actions[0, 2] > STOP_THRESHOLD:
            break
    assert len(set(starts)) == 2  # two segments at once; the third begins where they ended
    assert all(after >= before - 1e-3 for before, after in pairwise(coverage))


@pytest.mark.parametrize(("way_m", "slowed"), [(0.1, False), (0.35, True)])
def test_what_is_fast_is_slowed_down_for_what_stands_farther_away(
    policy: Wayfinder, way_m: float, slowed: bool
) -> None:
    # 0.2 m/s are asked for, 0.46 m before the rim of a thing: 0.24 m in 1.2 s. In the last half second it flew
    # 0.1 m (0.2 m/s), or 0.35 m (0.7 m/s): then it coasts 0.23 m further, nearer than is to be kept.
    _, loop = fly(policy, [Reading("description")], ["stop in front of the globe"])
    loop.decide()
    marks = policy._plans[0].map.landmarks
    evidence = np.full(len(marks.names) + 1, -20.0)
    evidence[0] = 0.0
    marks._all[:] = [Landmark(0, 1.76, 1.0, 0.1, evidence, 100.0, weight=9.0)]
    for x in (1.0 - way_m, 1.0):
        action = np.array([0.2, 0.0, 0.0])
        policy._keep_clear(0, np.array([x, 1.0, 0.7, 0.0, 0.0, 0.0]), action)
    assert action[0] < 0.1 if slowed else action.tolist() == [0.2, 0.0, 0.0]


def test_anyway_flies_a_text_that_was_refused(policy: Wayfinder) -> None:
    policy.anyway = True
    try:
        fly(policy, [Reading("refusal", refusal="no")], ["stop in front of the globe"])
        assert policy.refusal() is None
        assert policy.reading().kind == "description"
    finally:
        policy.anyway = False
