"""The flyer of steps: every kind of step is flown in the arena and judged there, by a judge that knows no plan."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.episodes import PlacedObject, Pose2
from wayword.episodes.commands import Step
from wayword.evaluation.commands import Trace, judge
from wayword.flying.episode_source import load_bank
from wayword.pilot.episode_loop import EpisodeLoop
from wayword.policy.steps import StepFlyer, TrueLayout
from wayword.policy.steps.look_again import LOOKS, MOST
from wayword.policy.steps.oracle import StepOracle
from wayword.policy.steps.progress import NO_NEARER, STILL
from wayword.sim.arena import Arena, ArenaConfig, Situation

LAYOUT = (
    PlacedObject("globe", 1.2, 3.4, 0.0),
    PlacedObject("planter", 2.6, 2.4, 0.0),
    PlacedObject("anvil", 3.8, 3.6, 0.0),
    PlacedObject("mug", 1.1, 1.2, 0.0),
    PlacedObject("kettle", 3.7, 1.1, 0.0),
)
START = Pose2(2.3, 0.9, math.pi / 2)
CASES = {
    "goto": [{"do": "goto", "object": "globe"}],
    "front": [{"do": "goto", "object": "globe", "stop": "front"}],
    "left": [{"do": "goto", "object": "planter", "stop": "left"}],
    "right": [{"do": "goto", "object": "planter", "stop": "right"}],
    "behind": [{"do": "goto", "object": "planter", "stop": "behind"}],
    "facing": [{"do": "goto", "object": "kettle", "stop": "facing"}],
    "distance": [{"do": "goto", "object": "globe", "stop": "near", "distance_m": 1.0}],
    "pass on the left": [{"do": "pass", "object": "planter", "on": "left"}, {"do": "goto", "object": "anvil"}],
    "pass on the right": [{"do": "pass", "object": "planter", "on": "right"}, {"do": "goto", "object": "anvil"}],
    "circle": [{"do": "circle", "object": "planter", "turns": 1}],
    "half a circle": [{"do": "circle", "object": "planter", "turns": 0.5, "direction": "cw"}],
    "two circles": [{"do": "circle", "object": "globe", "turns": 2, "direction": "ccw"}, {"do": "return"}],
    "gap": [{"do": "between", "objects": ["planter", "kettle"], "end": "in"}],
    "through": [{"do": "between", "objects": ["globe", "planter"], "end": "through"}],
    "weave": [{"do": "weave", "objects": ["mug", "planter", "anvil"]}],
    "turns": [{"do": "turn", "degrees": -90}, {"do": "forward", "metres": 0.8}],
    "all round": [{"do": "turn", "degrees": 360}],
    "back": [{"do": "back", "metres": 0.4}],
    "sideways": [{"do": "sideways", "metres": 0.5}],
    "until": [{"do": "forward", "until": {"object": "planter", "is": "right"}}],
    "face": [{"do": "face", "object": "mug"}],
    "search": [{"do": "search", "object": "mug"}],
    "avoid": [{"do": "avoid", "object": "planter"}, {"do": "goto", "object": "anvil"}],
    "stay": [{"do": "stay"}],
    "nothing": [],
    "long": [
        {"do": "goto", "object": "mug"},
        {"do": "circle", "object": "mug", "turns": 1},
        {"do": "pass", "object": "planter", "on": "any"},
        {"do": "goto", "object": "anvil", "stop": "front"},
        {"do": "return"},
    ],
}


@pytest.fixture(scope="module")
def flights() -> dict[str, tuple[list[Step], Arena, int, str | None]]:
    """All cases side by side; the layout's objects look like others, only their places count."""
    bank = load_bank(None)
    models = dict(zip((item.name for item in LAYOUT), sorted(bank.index), strict=False))
    objects = tuple(PlacedObject(models[item.name], item.x, item.y, item.yaw) for item in LAYOUT)
    oracle = StepOracle()
    steps = {name: [Step.from_json(record).renamed(models.__getitem__) for record in c] for name, c in CASES.items()}
    arena = Arena(len(steps), bank, ArenaConfig(horizon=oracle.horizon))
    loop = EpisodeLoop(oracle, arena, looks=False)
    count = len(steps)
    loop.begin([Situation(objects, START)] * count, list(range(count)), [""] * count, [None] * count)
    oracle.brief_steps(list(steps.values()), [objects] * count, [START] * count)
    for _ in loop:
        pass
    return {name: (one, arena, slot, oracle.refusal(slot)) for slot, (name, one) in enumerate(steps.items())}


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_step_is_done_without_touching_anything(name: str, flights: dict) -> None:
    steps, arena, slot, said = flights[name]
    objects = tuple(
        PlacedObject(model, item.x, item.y, item.yaw)
        for item, model in zip(LAYOUT, sorted(load_bank(None).index), strict=False)
    )
    trace = Trace.every(arena.flown_poses(slot), arena.config.vehicle.sub_step_s)
    judged = judge(steps, objects, trace, arena.endings[slot], said)
    assert judged.done, judged.words
    assert arena.contacts[slot] == 0


class Unknown(TrueLayout):
    """Knows a thing only once the drone has looked its way."""

    def __init__(self, places: dict[str, tuple[float, float]], hidden: str) -> None:
        super().__init__(places)
        self.hidden, self.seen, self.yaw = hidden, False, 0.0

    def where(self, key: str) -> tuple[float, float] | None:
        return super().where(key) if key != self.hidden or self.seen else None

    def sure(self, key: str) -> bool:
        return self.where(key) is not None


def flown(flyer: StepFlyer, around: Unknown, pose: np.ndarray, decisions: int) -> np.ndarray:
    """A drone that does at once what it is told."""
    for _ in range(decisions):
        forward, rate, stop = flyer.decide(pose, around)
        if stop:
            break
        pose = pose + np.array([forward * math.cos(pose[2]), forward * math.sin(pose[2]), rate]) * 0.5
        around.yaw += abs(rate) * 0.5
        around.seen = around.seen or around.yaw > 2.5
    return pose


def test_it_turns_until_it_knows_where_its_thing_is() -> None:
    around = Unknown({"globe": (1.0, 1.0)}, "globe")
    flyer = StepFlyer([Step("goto", "globe")], Camera())
    assert flyer.decide(np.array([3.0, 3.0, 0.0]), around) == (0.0, 1.0, False)
    assert flyer.searching == ("globe",)
    end = flown(flyer, around, np.array([3.0, 3.0, 0.0]), 120)
    assert math.dist(end[:2], (1.0, 1.0)) < 0.75
    assert flyer.lost is None


def test_what_is_nowhere_is_given_up_after_looking_from_several_places() -> None:
    around = Unknown({"planter": (1.0, 1.0)}, "globe")
    flyer = StepFlyer([Step("goto", "globe"), Step("goto", "planter")], Camera())
    pose = np.array([3.0, 3.0, 0.0])
    places = []
    for _ in range(400):
        forward, rate, stop = flyer.decide(pose, around)
        if stop:
            break
        pose = pose + np.array([forward * math.cos(pose[2]), forward * math.sin(pose[2]), rate]) * 0.5
        places.append(pose[:2].copy())
    assert stop
    assert flyer.lost == "globe"
    assert max(math.dist(p, (3.0, 3.0)) for p in places) > 1.0


def test_a_point_that_something_keeps_it_from_is_given_up_although_the_drone_never_stands_still() -> None:
    # A governor keeps it 0.9 m from the globe, where it creeps to and fro; nothing keeps it from the planter.
    around = Unknown({"globe": (2.0, 1.0), "planter": (1.0, 3.5)}, "")
    flyer = StepFlyer([Step("goto", "globe"), Step("goto", "planter")], Camera())
    pose, steps = np.array([1.0, 1.0, 0.0]), []
    for k in range(200):
        forward, rate, stop = flyer.decide(pose, around)
        steps.append(flyer.index)
        if stop:
            break
        after = pose + np.array([forward * math.cos(pose[2]), forward * math.sin(pose[2]), rate]) * 0.5
        if math.dist(after[:2], (2.0, 1.0)) < 0.9:
            after = pose + np.array([0.0, 0.03 * (-1) ** k, 0.0])
        pose = after
    assert stop
    # and not until its time is over: it flies off and looks again twice, 25 decisions each, and is held up three times
    assert steps.count(0) <= 3 * NO_NEARER + MOST * 25
    assert math.dist(pose[:2], (1.0, 3.5)) < 0.75


def test_half_a_turn_comes_to_an_end_where_the_drone_answers_late() -> None:
    # What was asked for is flown a decision later: from the shorter way at every decision it would turn to and fro.
    flyer, around = StepFlyer([Step("back", metres=0.5)], Camera()), TrueLayout({})
    pose, asked = np.array([2.0, 2.0, 0.0]), (0.0, -0.05)
    for _ in range(60):
        forward, rate, stop = flyer.decide(pose, around)
        if stop:
            break
        pose = pose + np.array([asked[0] * math.cos(pose[2]), asked[0] * math.sin(pose[2]), asked[1]]) * 0.5
        asked = (forward, rate)
    assert stop
    assert pose[0] < 1.7


def test_what_holds_it_up_is_looked_at_from_further_away_and_then_flown_to() -> None:
    # A governor takes the globe to stand where the drone begins to fly there, until it is seen from 1.2 m.
    around = Unknown({"globe": (3.0, 1.0)}, "")
    flyer = StepFlyer([Step("goto", "globe")], Camera())
    pose, ghost = np.array([2.1, 1.0, 0.0]), True
    for _ in range(120):
        forward, rate, stop = flyer.decide(pose, around)
        if stop:
            break
        after = pose + np.array([forward * math.cos(pose[2]), forward * math.sin(pose[2]), rate]) * 0.5
        ghost = ghost and not (
            math.dist(pose[:2], (3.0, 1.0)) > 1.2 and abs(math.remainder(pose[2], 2 * math.pi)) < 0.5
        )
        if ghost and math.dist(after[:2], (2.6, 1.0)) < 0.5:
            after = pose + np.array([0.0, 0.0, 0.5 * rate])
        pose = after
    assert stop
    assert not ghost
    assert math.dist(pose[:2], (3.0, 1.0)) < 0.75


def test_what_comes_next_is_planned_for_only_when_all_its_things_are_known() -> None:
    # By the globe, then through a gap of which one side has not been seen: as if nothing were known of what follows.
    def way(after: Step, **places: tuple[float, float]) -> list[list[float]]:
        flyer = StepFlyer([Step("pass", object="globe"), after], Camera())
        flyer.decide(np.array([2.35, 0.9, math.pi / 2]), TrueLayout({"globe": (2.35, 2.35), **places}))
        assert flyer.way is not None
        return flyer.way.tolist()

    gap = Step("between", objects=("planter", "kettle"))
    unknown = way(Step("goto", object="kettle"), planter=(0.9, 1.6))
    assert way(gap, planter=(0.9, 1.6)) == unknown
    assert way(gap, planter=(0.9, 1.6), kettle=(0.9, 2.8)) != unknown


def test_a_way_whose_first_point_is_given_up_still_ends_at_its_last() -> None:
    # Northwards through the middle of a gap, points at y = 1.35, 2 and 2.65, and something holds it at y = 0.5.
    flyer = StepFlyer([Step("between", objects=("globe", "planter"))], Camera())
    around = TrueLayout({"globe": (1.5, 2.0), "planter": (3.1, 2.0)})
    # It cannot fly off to look again either: each time it is stuck on the way there, turning, and looking back.
    for _ in range((MOST + 1) * (STILL + 2) + MOST * (2 * STILL + LOOKS)):
        flyer.decide(np.array([2.3, 0.5, math.pi / 2]), around)
        if flyer.way is not None and flyer.way[1] == pytest.approx((2.3, 2.0)):
            break
    assert flyer.way is not None
    assert flyer.way[1] == pytest.approx((2.3, 2.0))
    # It halts there: 0.17 m before the last point the flight is not over yet, as it would be on the way elsewhere.
    stops = [flyer.decide(np.array([2.3, y, math.pi / 2]), around)[2] for y in (2.0, 2.48, 2.6)]
    assert stops == [False, False, True]


def test_a_point_on_a_straight_way_is_reached_at_it_and_not_far_before() -> None:
    # Northwards through the middle of a gap: points at y = 1.35, 2 and 2.65. The first counts from 0.2 m away on.
    around = TrueLayout({"globe": (1.5, 2.0), "planter": (3.1, 2.0)})
    for y, following in ((1.05, 1.35), (1.2, 2.0)):
        flyer = StepFlyer([Step("between", objects=("globe", "planter")), Step("return")], Camera())
        flyer.decide(np.array([2.3, 0.5, math.pi / 2]), around)
        flyer.decide(np.array([2.3, y, math.pi / 2]), around)
        assert flyer.way is not None
        assert flyer.way[1] == pytest.approx((2.3, following))


def test_a_flight_without_steps_ends_at_once() -> None:
    assert StepFlyer([Step("stay")], Camera()).decide(np.zeros(3), TrueLayout({})) == (0.0, 0.0, True)
