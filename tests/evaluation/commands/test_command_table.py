"""Tables and figures of judged commands from flights made up by hand, and what is said of a flight from a reading."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from support.flown_by_hand import Drawn, things
from wayword.episodes import Pose2
from wayword.episodes.commands import Command, CommandScene, Step, fill
from wayword.evaluation.commands import judge
from wayword.evaluation.commands.flights import PART, STOP, CommandRun
from wayword.evaluation.commands.flown_command import HORIZON, FlownCommand
from wayword.evaluation.commands.scenes import scene_keys, thinned
from wayword.evaluation.commands.table import (
    CommandSummary,
    command_figures,
    commands_table,
    percent,
    summarise_commands,
)
from wayword.intervals import Interval, wilson

LAYOUT = things(a=(2.0, 0.0), b=(0.0, 3.0))
GOTO, STAY = Step("goto", object="a"), Step("stay")


def flown(
    family: str, *steps: Step, kind: str = "random", metres: float = 1.5, ending: str = "policy", contacts: int = 0,
    said: str | None = None,
) -> FlownCommand:  # fmt: skip
    """Straight ahead for some metres; a is 2 m away."""
    command = Command("some words", steps, family)
    scene = CommandScene("s", kind, fill(command, {}, {}), steps, LAYOUT, Pose2(0.0, 0.0, 0.0))  # type: ignore[arg-type]
    trace = (Drawn().ahead(metres) if metres else Drawn()).trace
    verdict = judge(steps, LAYOUT, trace, ending, said)  # type: ignore[arg-type]
    return FlownCommand(scene, trace, ending, contacts, said, verdict)  # type: ignore[arg-type]


FLIGHTS = [
    flown("goto", GOTO),
    flown("goto", GOTO, kind="hidden", metres=0.5, contacts=3),
    flown("goto", GOTO, kind="hidden", ending="horizon"),
    flown("goto", GOTO, metres=0.0, ending="refused", said="I know no a"),
    flown("stay", STAY, metres=0.0, ending="refused", said="nothing to do"),
    flown("keep off", Step("avoid", object="b"), metres=0.1),
    flown("refuse", metres=0.0, ending="refused", said="that is a question"),
    flown("refuse", metres=0.0, ending="refused"),
    flown("refuse", metres=0.0, said="that is a question", kind="hidden"),
]
UNTOLD = [flown(one.scene.family, *one.scene.steps, kind=one.scene.kind, metres=0.0) for one in FLIGHTS]


def test_rows_count_their_own_flights() -> None:
    summary = summarise_commands(FLIGHTS, UNTOLD)
    assert [row.name for row in summary.families] == ["goto", "stay", "keep off", "refuse"]
    assert [row.name for row in summary.kinds] == ["random", "hidden"]
    goto, stay, keep, refuse = summary.families
    assert goto.success == wilson(1, 4)
    assert (goto.contacts.mean, goto.contacts.n, goto.late, goto.refused) == (0.75, 4, 1, 1)
    assert (stay.success, stay.refused, stay.late) == (wilson(1, 1), 1, 0)
    assert (keep.success, keep.refused) == (wilson(1, 1), 0)
    assert (refuse.success, refuse.refused) == (wilson(2, 3), 2)
    random, hidden = summary.kinds
    assert (random.success, random.contacts.mean, random.late, random.refused) == (wilson(4, 6), 0.0, 0, 4)
    assert (hidden.success, hidden.contacts.mean, hidden.late, hidden.refused) == (wilson(1, 3), 1.0, 1, 0)
    every = summary.everything
    assert (every.name, every.success, every.late, every.refused) == ("all", wilson(5, 9), 1, 4)
    assert every.contacts.mean == pytest.approx(3 / 9)
    # Without a text only who was to stay did so; who was to say why said nothing.
    assert [row.told_nothing for row in summary.families] == [wilson(0, 4), wilson(1, 1), wilson(1, 1), wilson(0, 3)]
    assert every.told_nothing == wilson(2, 9)
    assert all(row.told_nothing is None for row in summarise_commands(FLIGHTS).families)


def test_refusals_are_right_where_there_is_nothing_to_fly_and_false_where_there_is() -> None:
    summary = summarise_commands(FLIGHTS)
    assert summary.right_refusals == wilson(2, 3)
    assert summary.false_refusals == wilson(1, 4)  # who stays, or only keeps off, may refuse
    only = summarise_commands(FLIGHTS[4:6])
    assert (only.right_refusals, only.false_refusals) == (None, None)


def printed(summary: CommandSummary) -> list[list[str]]:
    console = Console(file=io.StringIO(), width=140)
    console.print(commands_table(summary))
    assert isinstance(console.file, io.StringIO)
    lines = [line.split() for line in console.file.getvalue().splitlines()]
    return [line for line in lines if line and "─" not in line[0]]


def test_the_table_has_a_line_for_each_row() -> None:
    lines = printed(summarise_commands(FLIGHTS, UNTOLD))
    assert ["goto", "4", "25.0", "[5,", "70]", "0.75", "1", "1", "0.0", "[0,", "49]"] in lines
    assert ["hidden", "3", "33.3", "[6,", "79]", "1.00", "1", "0", "0.0", "[0,", "56]"] in lines
    names = [line[0] for line in lines if line[0] in ("goto", "stay", "keep", "refuse", "random", "hidden", "all")]
    assert names == ["goto", "stay", "keep", "refuse", "random", "hidden", "all"]
    one_kind = printed(summarise_commands([one for one in FLIGHTS if one.scene.kind == "random"]))
    assert not any(line[0] == "random" for line in one_kind)
    assert ["all", "6", "66.7", "[30,", "90]", "0.00", "0", "4"] in one_kind
    assert percent(Interval(0.5, 0.25, 0.756, 4)) == "50.0 [25, 76]"


def test_figures_are_those_of_the_table() -> None:
    figures = command_figures(summarise_commands(FLIGHTS, UNTOLD), "commands.x", "wayword eval commands", "2026-01-02")
    success = figures["commands.x.keep_off.success"]
    assert (success.value, success.n, success.unit, success.date) == (100.0, 1, "%", "2026-01-02")
    assert figures["commands.x.goto.success"].value == 25.0
    contacts = figures["commands.x.goto.contacts"]
    assert (contacts.value, contacts.unit, contacts.command) == (0.75, "per episode", "wayword eval commands")
    assert figures["commands.x.all.late"].value == pytest.approx(100 / 9)
    assert "commands.x.goto.late" not in figures
    nothing = figures["commands.x.stay.told_nothing"]
    assert (nothing.value, nothing.command) == (100.0, "wayword eval commands --nothing")
    assert figures["commands.x.right_refusals"].value == pytest.approx(200 / 3)
    assert figures["commands.x.false_refusals"].value == 25.0
    bare = command_figures(summarise_commands(FLIGHTS[4:6]), "c.x", "wayword eval commands", "2026-01-02")
    assert sorted(bare) == [
        "c.x.all.contacts", "c.x.all.late", "c.x.all.success", "c.x.keep_off.contacts", "c.x.keep_off.success",
        "c.x.random.contacts", "c.x.random.success", "c.x.stay.contacts", "c.x.stay.success",
    ]  # fmt: skip


def test_one_flight_as_it_is_written() -> None:
    record: dict[str, Any] = FLIGHTS[1].to_json()
    assert {key: record[key] for key in ("id", "family", "scene", "text", "arena_m", "ending", "contacts", "said")} == {
        "id": "s", "family": "goto", "scene": "hidden", "text": "some words", "arena_m": 4.7, "ending": "policy",
        "contacts": 3, "said": None,
    }  # fmt: skip
    assert record["done"] is False
    assert record["start"] == {"x": 0.0, "y": 0.0, "yaw": 0.0}
    assert record["objects"][0] == {"name": "a", "x": 2.0, "y": 0.0, "yaw": 0.0}
    assert record["trace"][-1] == [1.0, 0.5, 0.0, 0.0]
    assert record["verdicts"][0]["words"] == "stopped at the a: no, 1.50 m away"
    assert FLIGHTS[3].refused
    assert not FLIGHTS[2].refused


def test_numbers_of_a_run() -> None:
    assert (HORIZON, PART, STOP) == (240, 24, (0.0, 0.0, 1.0))
    run = CommandRun()
    assert (run.commands, run.split, run.kinds, run.policy) == ("dev", "dev", ("drawn", "random", "hidden"), "wayword")
    assert (run.fills, run.seed, run.limit, run.told_nothing, run.vehicle) == (1, 0, None, False, None)
    assert len(CommandRun(limit=7).keys()) == 7
    assert len(CommandRun(fills=2).keys()) == 2 * len(run.keys())


def test_few_keys_are_spread_evenly_by_hand() -> None:
    keys = scene_keys(4, ("drawn", "hidden"))
    assert keys[:3] == [(0, 0, "drawn"), (0, 0, "hidden"), (1, 0, "drawn")]
    # Of 4 commands in 2 kinds of scene 4 flights: every one a quarter of the way further on, kinds in turn.
    assert thinned(keys, 4) == [(0, 0, "drawn"), (1, 0, "hidden"), (2, 0, "drawn"), (3, 0, "hidden")]
    assert thinned(keys, 2) == [(0, 0, "drawn"), (2, 0, "hidden")]
    assert thinned(keys, 8) == thinned(keys, None) == thinned(keys, 9) == keys
    assert [key[1] for key in scene_keys(1, ("drawn",), 3)] == [0, 1, 2]
    assert np.unique([key[0] for key in thinned(scene_keys(50, ("drawn",)), 10)]).tolist() == list(range(0, 50, 5))
