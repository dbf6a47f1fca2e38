"""Evaluation under the governor: what is scored, what is counted, what is published."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from wayword.cli import eval_governed as module
from wayword.cli.eval_conditions import GovernedVehicle
from wayword.cli.eval_governed import EvalGoverned, interventions_per_flight
from wayword.cli.launch import main
from wayword.evaluation.metrics import EpisodeMetrics
from wayword.evaluation.table.governed import Governed, Stack, fly_one, interventions
from wayword.flight.airframes import AIRFRAMES
from wayword.flight.governor import GovernorConfig, Kind, VehicleCommand
from wayword.flight.loop import Track
from wayword.flight.reasons import Reason
from wayword.flight.vehicle import Telemetry
from wayword.policy import make_policy

FLOWN = Governed(
    "dev-000/1-2", EpisodeMetrics(True, 0.3, True, 0.2, 0.9, 0.8, 0.8, 0, 14, "policy"), {"FENCE": 2}, 9.0, 0.1
)


def test_a_flight_is_scored_from_take_off_to_landing(bank, dev_pairs):
    example = dev_pairs[0]
    flown = fly_one(example, make_policy("stop"), None, bank)
    # It stops at once: what is left is the way from the start to the goal.
    start = (example.start.x, example.start.y)
    assert flown.metrics.ended_by == "policy"
    assert flown.metrics.ne == pytest.approx(math.dist(start, example.path[-1]), abs=0.05)
    assert flown.metrics.steps == 1
    assert "ARRIVED" in flown.interventions
    assert flown == fly_one(example, make_policy("stop"), None, bank)


def test_a_flight_that_never_stops_is_ended_by_its_time(bank, dev_pairs):
    """The average policy flies ahead; the governor keeps it in, counts why, and lands it."""
    stack = Stack(governor=GovernorConfig(max_flight_s=6.0))

    class Onwards:
        name = "onwards"

        def reset(self, instructions, objects):
            pass

        def act(self, seen):
            return np.array([[0.7, 0.0, 0.0]])

    flown = fly_one(dev_pairs[0], Onwards(), None, bank, stack)
    assert flown.metrics.ended_by == "horizon"
    assert flown.interventions["TIME_UP"] == 1
    assert flown.interventions["ACCELERATION"] >= 1
    assert 6.0 < flown.seconds < 6.0 + 30.0 + 8.0  # held back by the fence its time stands still, 30 s at most


def test_an_intervention_counts_once_for_as_long_as_it_lasts():
    def track(*reasons: Reason) -> Track:
        return Track(0.0, Telemetry(), VehicleCommand(Kind.VELOCITY, reasons=reasons))

    tracks = [track(), track(Reason.FENCE), track(Reason.FENCE, Reason.YAW), track(), track(Reason.FENCE)]
    assert interventions(tracks) == {"FENCE": 2, "YAW": 1}
    means = interventions_per_flight([FLOWN, replace(FLOWN, interventions={})], seed=0)
    assert means["FENCE"].mean == 1.0
    assert means["CLEARANCE"].mean == 0.0


def test_the_command_line_names_every_vehicle():
    assert set(get_args(GovernedVehicle)) == set(AIRFRAMES)


def test_what_is_published_and_written(tmp_path, monkeypatch, capsys):
    import wayword.evaluation.table.governed as governed

    monkeypatch.setattr(governed, "fly_governed", lambda conditions, stack, workers, progress: [FLOWN] * 4)
    out = tmp_path / "governed.json"
    main(["eval", "governed", "--split", "dev", "--limit", "4", "--out", str(out)])
    text = capsys.readouterr().out
    assert "interventions per flight: FENCE 2.00" in text
    assert json.loads(out.read_text())["flights"][0]["metrics"]["sr"] is True
    published = {}
    monkeypatch.setattr(module, "check_docs", lambda: None)
    monkeypatch.setattr("wayword.cli.results.publish_figures", published.update)
    main(["eval", "governed", "--split", "dev", "--publish"])
    assert published["governed.dev.natural.sr"].value == 100.0
    assert published["governed.dev.natural.sr"].command == "wayword eval governed --split dev"
    assert published["governed.dev.natural.interventions_fence"].value == 2.0
    main(["eval", "governed", "--split", "dev", "--vehicle", "px4", "--policy", "wayword", "--publish"])
    assert published["governed.wayword.px4.dev.natural.sr"].command == (
        "wayword eval governed --split dev --vehicle px4 --policy wayword"
    )


def test_bad_input_is_one_line(capsys):
    for words, said in (
        (["--limit", "0"], "at least one flight"),
        (["--workers", "0"], "at least 1 is needed"),
        (["--publish", "--limit", "3"], "without --weights, --seed and --limit"),
    ):
        with pytest.raises(SystemExit) as caught:
            main(["eval", "governed", *words])
        assert caught.value.code == 2
        assert said in capsys.readouterr().err


def test_the_command_flies_the_same_again():
    assert (
        EvalGoverned(split="test", limit=5, seed=2).command() == "wayword eval governed --split test --limit 5 --seed 2"
    )


def test_the_command_line_names_every_airframe() -> None:
    """It names them itself, since it must start without loading the flight stack."""
    from wayword.cli.main import read
    from wayword.flight.airframes import AIRFRAMES

    for name in AIRFRAMES:
        assert read(["eval", "governed", "--vehicle", name]).vehicle == name
    with pytest.raises(SystemExit):
        read(["eval", "governed", "--vehicle", "balloon"])
