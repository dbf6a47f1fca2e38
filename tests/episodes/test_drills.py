"""Drills: pairs that only the told side tells apart, and the evaluations that fly them."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from wayword.cli.main import run
from wayword.episodes import EpisodeRules, load_episodes, measure_manoeuvre
from wayword.episodes.instructions.drills import Drill, DrillConfig, generate_drills
from wayword.episodes.instructions.truth import check_claims
from wayword.episodes.loader import check_episode
from wayword.episodes.paths import PathConfig
from wayword.errors import WaywordError
from wayword.evaluation.table import conditions
from wayword.sim.models.catalogue import names


@pytest.fixture(scope="module")
def drills() -> list[Drill]:
    return list(generate_drills("train", 60, 5, names("seen")))


def test_a_pair_starts_alike_and_differs_in_the_side_alone(drills):
    for left, right in zip(drills[::2], drills[1::2], strict=True):
        assert (left.side, right.side) == ("left", "right")
        assert left.target == right.target
        assert left.episode.objects == right.episode.objects
        assert left.episode.start == right.episode.start
        assert len(left.episode.segments) == len(right.episode.segments)
        assert left.episode.id[:-4] == right.episode.id[:-5]


def test_the_path_keeps_the_target_on_the_told_side(drills):
    for drill in drills:
        place = next((o.x, o.y) for o in drill.episode.objects if o.name == drill.target)
        first = drill.episode.path[: drill.episode.segments[0].end + 1]
        sign = 1 if drill.side == "left" else -1
        assert sign * conditions.winding(first, place) >= conditions.PASSED_RAD - 0.01


def test_every_first_instruction_tells_the_side_and_no_claim_is_wrong(drills):
    for drill in drills:
        told = [c for c in drill.written[0].claims if drill.target in c.objects and c.kind in ("side", "round")]
        assert drill.side in {c.side for c in told}
        claims = [claim for written in drill.written for claim in written.claims]
        assert check_claims(drill.episode, claims) == []


def test_drills_are_valid_episodes_of_all_three_forms(drills):
    rules, ends_at = EpisodeRules(), set()
    for drill in drills:
        check_episode(drill.episode, names("seen"), rules)
        kinds = [measure_manoeuvre(drill.episode, 0, kind, [drill.target]) for kind in ("pass", "around")]
        first = next(m for m in kinds if m is not None)
        ends_at.add((len(drill.episode.segments), first.end_object == drill.target))
    assert {(1, True), (1, False), (2, True)} <= ends_at


def test_the_start_yaw_does_not_betray_the_side():
    """About as often to the left as to the right of the target, and the same for both of a pair."""
    off = []
    for drill in list(generate_drills("train", 120, 6, names("seen")))[::2]:
        start = drill.episode.start
        x, y = next((o.x, o.y) for o in drill.episode.objects if o.name == drill.target)
        off.append(math.remainder(math.atan2(y - start.y, x - start.x) - start.yaw, 2 * math.pi))
    assert abs(np.mean(off)) < 0.2
    assert 0.3 < np.std(off) < 0.6


def test_each_drill_depends_on_its_index_only(drills):
    later = list(generate_drills("train", 3, 5, names("seen"), first=7))
    for again, before in zip(later, drills[7:10], strict=True):
        assert again.episode.to_json() == before.episode.to_json()


def test_impossible_settings_and_seeds_are_refused():
    with pytest.raises(WaywordError, match="seed must not be negative"):
        next(generate_drills("train", 1, -1, names("seen")))
    wide = DrillConfig(path=PathConfig(object_clearance_m=2.0))
    with pytest.raises(WaywordError, match="no drill fits"):
        next(generate_drills("train", 1, 0, names("seen"), config=wide))


def test_winding_by_hand():
    quarter = [(1.0, 0.0), (math.sqrt(0.5), math.sqrt(0.5)), (0.0, 1.0)]
    assert conditions.winding(quarter, (0.0, 0.0)) == pytest.approx(math.pi / 2)
    assert conditions.winding(quarter[::-1], (0.0, 0.0)) == pytest.approx(-math.pi / 2)
    straight = [(x, -1.0) for x in np.linspace(-1, 1, 9)]  # flying east, the place to the north: on the left
    assert conditions.winding(straight, (0.0, 0.0)) == pytest.approx(math.pi / 2)


def test_the_command_writes_drills_that_load(tmp_path):
    out = tmp_path / "drills.jsonl"
    run(["data", "generate", "--drills", "--count", "6", "--out", str(out), "--processes", "1"])
    loaded = load_episodes(out)
    assert [e.id.rsplit("-", 1)[1] for e in loaded] == ["left", "right"] * 3
    for a, b in pairwise(loaded):
        if a.id.endswith("left"):
            assert a.start == b.start


def test_shipped_weights_pass_on_the_told_side_more_often_than_not():
    flown = conditions.fly_drills(conditions.Conditions("dev"), 24, workers=1)
    assert len(flown) == 24
    assert sum(passed.told_side for passed in flown) >= 15
    again = conditions.fly_drills(conditions.Conditions("dev"), 2, workers=1)
    assert [p.metrics for p in again] == [p.metrics for p in flown[:2]]


def test_other_vehicles_fly_other_paths_with_the_same_policy():
    flown = conditions.fly_vehicles(conditions.Conditions("dev", limit=6), ["usual", "slowest"], workers=1)
    assert [len(scores) for scores in flown.values()] == [6, 6]
    assert flown["usual"] != flown["slowest"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval", "sides", "--drills", "1"], "at least one pair"),
        (["eval", "vehicles", "--limit", "0"], "at least one flight"),
        (["eval", "vehicles", "--workers", "0"], "at least 1 is needed"),
        (["eval", "sides", "--publish", "--seed", "2"], "--publish is for the shipped weights"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(WaywordError, match=message):
        run(arguments)


def test_sides_publishes_its_figures(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "results.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wayword.cli.eval_conditions.EvalSides.drills", 4)
    run(["eval", "sides", "--drills", "4", "--workers", "1", "--publish"])
    figures = json.loads(Path("docs/results.json").read_text())
    assert figures["sides.dev.told_side"]["n"] == 4
    assert "passed on the told side" in capsys.readouterr().out
