"""Commands flown in the simulator, by a drone that knows the steps and may refuse, and through the command line."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wayword.cli.main import run
from wayword.episodes import PlacedObject, Pose2
from wayword.episodes.commands import Command, CommandScene, Step, fill, load_commands
from wayword.errors import WaywordError
from wayword.evaluation.commands import Trace, judge
from wayword.evaluation.commands.flights import CommandRun, fly_commands, fly_scenes
from wayword.evaluation.commands.governed import command_stack, fly_scenes_governed
from wayword.evaluation.commands.scenes import make_scenes, phrases_of_split, scene_keys, thinned
from wayword.evaluation.commands.table import commands_table, percent, summarise_commands
from wayword.policy import Observations, Refusing, StepBriefed, Stop
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank


class Shown:
    """Flies straight to the object of the last step; refuses where there are no steps."""

    name = "shown"
    needs_objects = False

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        self.texts = list(instructions)

    def brief_steps(
        self, steps: Sequence[Sequence[Step]], layouts: Sequence[Sequence[PlacedObject]], starts: Sequence[Pose2]
    ) -> None:
        self.goals = [
            next((np.array([o.x, o.y]) for o in layout if one and o.name == one[-1].object), None)
            for one, layout in zip(steps, layouts, strict=True)
        ]

    def refusal(self, slot: int = 0) -> str | None:
        return "nothing to do" if self.goals[slot] is None else None

    def act(self, observations: Observations) -> NDArray[np.float64]:
        actions = []
        for slot, pose in zip(observations.slots, observations.poses, strict=True):
            goal = self.goals[slot]
            way = np.zeros(2) if goal is None else goal - pose[:2]
            off = (math.atan2(way[1], way[0]) - pose[5] + math.pi) % (2 * math.pi) - math.pi
            close = bool(np.hypot(*way) < 0.6)
            actions.append((0.5 * (abs(off) < 0.3), np.clip(2 * off, -1, 1), float(close)))
        return np.array(actions)


def scene(text: str, *steps: Step, family: str = "goto") -> CommandScene:
    command = Command(text, steps, family)
    layout = (PlacedObject("robot", 3.0, 2.0, 0.0), PlacedObject("rocket", 1.0, 3.5, 0.0))
    return CommandScene("one", "random", fill(command, {}, {}), steps, layout, Pose2(1.0, 1.0, 0.3))


def test_protocols_are_told_by_their_methods() -> None:
    assert isinstance(Shown(), Refusing)
    assert isinstance(Shown(), StepBriefed)
    assert not isinstance(Stop(), Refusing)


def test_flights_are_judged_and_can_be_judged_again(bank: MeshBank) -> None:
    scenes = [
        scene("to the robot", Step("goto", object="robot")),
        scene("round the rocket", Step("circle", object="rocket"), family="circle"),
        scene("what is the time?", family="refuse"),
    ]
    flown = fly_scenes(Shown(), scenes, bank, [1, 2, 3])
    assert [one.judgement.done for one in flown] == [True, False, True]
    assert [one.ending for one in flown] == ["policy", "policy", "refused"]
    assert flown[2].complaint == "nothing to do"
    assert len(flown[2].trace.times) == 1
    for one, where in zip(flown, scenes, strict=True):
        record = json.loads(json.dumps(one.to_json()))
        trace = Trace.from_json(record["trace"])
        steps = [Step.from_json(step) for step in record["steps"]]
        again = judge(steps, where.objects, trace, record["ending"], record["said"])
        assert [v.words for v in again.steps] == [v["words"] for v in record["verdicts"]]
        assert np.diff(trace.times).max(initial=0.0) <= 0.1 + 1e-9


def test_a_flight_has_as_long_as_its_arena_says_and_two_minutes_otherwise(bank: MeshBank) -> None:
    class Slow(Stop):
        def act(self, observations: Observations) -> NDArray[np.float64]:
            return np.tile([0.05, 0.0, 0.0], (len(observations.slots), 1))

    ahead = [scene("ahead", Step("forward"))]
    (short,) = fly_scenes(Slow(), ahead, bank, [1], config=ArenaConfig(horizon=4))
    assert (short.ending, short.trace.times[-1]) == ("horizon", pytest.approx(2.0))
    (whole,) = fly_scenes(Slow(), ahead, bank, [1])
    assert (whole.ending, whole.trace.times[-1]) == ("horizon", pytest.approx(120.0))


def test_tables_count_families_refusals_and_told_nothing(bank: MeshBank) -> None:
    scenes = [scene("to the robot", Step("goto", object="robot")), scene("?", family="refuse")]
    told = fly_scenes(Shown(), scenes, bank, [1, 2])
    untold = fly_scenes(Stop(), scenes, bank, [1, 2], told_nothing=True)
    summary = summarise_commands(told, untold)
    assert [(row.name, row.success.mean) for row in summary.families] == [("goto", 1.0), ("refuse", 1.0)]
    assert summary.everything.told_nothing is not None
    assert summary.everything.told_nothing.mean == 0.0
    assert summary.right_refusals is not None
    assert summary.false_refusals is not None
    assert (summary.right_refusals.mean, summary.false_refusals.mean) == (1.0, 0.0)
    assert percent(summary.right_refusals).startswith("100.0 [")
    assert commands_table(summary).row_count == 3  # one kind of scene needs no rows of its own


def test_parts_of_a_run_are_the_flights_of_the_whole() -> None:
    few = CommandRun(policy="stop", limit=5, kinds=("random",))
    flown = list(fly_commands(few, workers=1))
    assert len(flown) == 5
    keys = few.keys()
    assert flown[3].scene == next(make_scenes(load_commands("dev"), keys[3:4], "dev"))
    assert [one.scene.id for one in flown] == [f"dev-{number:04d}-{fill}-{kind}" for number, fill, kind in keys]


def test_keys_have_every_command_in_every_kind_of_scene() -> None:
    assert scene_keys(2, ("drawn", "hidden"), 2)[:3] == [(0, 0, "drawn"), (0, 0, "hidden"), (1, 0, "drawn")]
    assert len(scene_keys(2, ("drawn", "hidden"), 2)) == 8
    assert len(phrases_of_split("test")) == 8


@pytest.mark.parametrize("limit", [3, 30, 150, 299, 300, 400])
def test_a_few_flights_are_spread_over_commands_and_kinds(limit: int) -> None:
    keys = scene_keys(100, ("drawn", "random", "hidden"))
    few = thinned(keys, limit)
    assert len(few) == len(set(few)) == min(limit, 300)
    counts = [sum(key[2] == kind for key in few) for kind in ("drawn", "random", "hidden")]
    assert max(counts) - min(counts) <= 1
    assert few[-1][0] >= 100 * (1 - 1 / min(limit, 100)) - 1


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine, out = tmp_path / "mine.jsonl", tmp_path / "flights.jsonl"
    lines = [
        {"text": "stay where you are", "steps": [{"do": "stay"}], "family": "stay"},
        {"text": "go to {A}", "steps": [{"do": "goto", "object": "A"}], "family": "goto"},
    ]
    mine.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run(["eval", "commands", str(mine), "--policy", "stop", "--nothing", "--workers", "1", "--out", str(out)])
    shown = capsys.readouterr().out
    assert "stay" in shown
    assert "nothing" in shown
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [record["done"] for record in records] == [True] * 3 + [False] * 3
    with pytest.raises(WaywordError, match="at least 1"):
        run(["eval", "commands", "--limit", "0"])
    with pytest.raises(WaywordError, match="unknown policy"):
        run(["eval", "commands", "--policy", "nobody"])


class Ahead:
    """Flies a metre ahead and stops; refuses questions."""

    name = "ahead"
    needs_objects = False

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        self.text, self.first = instructions[0], None

    def refusal(self, slot: int = 0) -> str | None:
        return "that is a question" if self.text.endswith("?") else None

    def act(self, observations: Observations) -> NDArray[np.float64]:
        place = observations.poses[0, :2]
        self.first = place.copy() if self.first is None else self.first
        return np.array([[0.4, 0.0, float(np.hypot(*(place - self.first)) > 0.75)]])


def test_commands_are_flown_under_the_governor(bank: MeshBank) -> None:
    scenes = [
        scene("a metre ahead", Step("forward", metres=1.0), family="moves"),
        scene("to the rocket", Step("goto", object="rocket")),
        scene("what is the time?", family="refuse"),
    ]
    flown = fly_scenes_governed(Ahead(), scenes, bank, [1, 2, 3], command_stack("usual"))
    assert [one.judgement.done for one in flown] == [True, False, True]
    assert [one.ending for one in flown] == ["policy", "policy", "refused"]
    assert (flown[2].complaint, len(flown[2].trace.times)) == ("that is a question", 1)
    # From the end of the take-off to the ground: it begins where it stood, and comes back to where the policy said so.
    first = flown[0].trace
    assert first.poses[0] == pytest.approx((1.0, 1.0, 0.3), abs=0.05)
    assert 0.75 < math.dist(first.poses[0, :2], first.poses[-1, :2]) < 0.95
    assert [one.contacts for one in flown] == [0, 0, 0]
    again = fly_scenes_governed(Ahead(), scenes, bank, [1, 2, 3], command_stack("usual"))
    assert [one.to_json() for one in again] == [one.to_json() for one in flown]
    with pytest.raises(WaywordError, match="shown is shown steps"):
        fly_scenes_governed(Shown(), scenes, bank, [1, 2, 3], command_stack("usual"))


def test_a_governed_flight_whose_time_is_over_did_not_end_by_itself(bank: MeshBank) -> None:
    class Undecided(Ahead):
        def act(self, observations: Observations) -> NDArray[np.float64]:
            return np.zeros((1, 3))

    stack = command_stack("usual")
    assert stack.governor.max_flight_s == 120.0
    brief = replace(stack, governor=replace(stack.governor, max_flight_s=2.0))
    (one,) = fly_scenes_governed(Undecided(), [scene("stay", Step("stay"))], bank, [1], brief)
    assert (one.ending, one.judgement.words) == ("horizon", "it ended by itself: no, it ran out of time")
    told = fly_scenes_governed(Ahead(), [scene("what?", Step("stay"))], bank, [1], brief, told_nothing=True)
    assert told[0].ending != "refused"  # it was told nothing, so there was no question


def test_a_governed_flight_that_a_fault_ended_is_not_late(bank: MeshBank) -> None:
    class Failing(Ahead):
        asked = 0

        def act(self, observations: Observations) -> NDArray[np.float64]:
            self.asked += 1
            if self.asked > 4:
                raise ValueError("no answer")
            return np.array([[0.2, 0.0, 0.0]])

    (one,) = fly_scenes_governed(Failing(), [scene("stay", Step("stay"))], bank, [1], command_stack("usual"))
    assert (one.ending, one.judgement.words) == ("error", "it ended by itself: no, a fault ended it")
    assert summarise_commands([one]).everything.late == 0


def test_governed_commands_have_figures_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    published: dict[str, Any] = {}
    monkeypatch.setattr("wayword.cli.results.publish_figures", published.update)
    words = ["eval", "commands", "--split", "dev", "--limit", "2", "--policy", "stop", "--vehicle", "px4", "--publish"]
    run([*words, "--workers", "1"])
    figure = published["commands.governed.stop.px4.dev.all.success"]
    assert figure.command == "wayword eval commands --split dev --limit 2 --vehicle px4 --policy stop"
    assert published["commands.governed.stop.px4.dev.all.late"].value == 0.0
