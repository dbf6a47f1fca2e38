"""``wayword.fly`` does from Python what ``wayword fly`` does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import wayword
from wayword.cli.launch import main
from wayword.errors import WaywordError
from wayword.flying.fly import FlightFiles
from wayword.pilot import open_database

INSTRUCTION = "stop in front of the globe"


def test_the_same_flight_as_the_command_line(tmp_path: Path) -> None:
    flight = wayword.fly(INSTRUCTION, seed=3, trace=tmp_path / "python.json")
    main(["fly", INSTRUCTION, "--seed", "3", "--out", str(tmp_path / "shell.png")])
    ours, theirs = (json.loads((tmp_path / name).read_text()) for name in ("python.json", "shell.json"))
    assert ours == theirs
    assert flight.outcome == theirs["outcome"]
    np.testing.assert_allclose(flight.path, theirs["flown"], atol=1e-4)


def test_a_flight_says_what_came_of_it() -> None:
    said: list[str] = []
    flight = wayword.fly(
        f"go past the submarine, then {INSTRUCTION}", objects=open_database("test"), policy="fspvn", remark=said.append
    )
    assert flight.success is None  # nobody demonstrated it
    assert flight.parsed is not None
    assert flight.parsed.references[-1].best == "globe"
    assert "submarine" in said[0]
    globe = next(item for item in flight.prepared.example.objects if item.name == "globe")
    assert np.hypot(*(flight.path[-1] - (globe.x, globe.y))) < 1.0


def test_an_example_of_the_corpus_is_scored() -> None:
    flight = wayword.fly(policy="oracle", seed=1)
    assert flight.success is True
    assert flight.outcome.startswith("arrived")
    assert flight.trace()["metrics"]["sr"] is True
    assert flight.contacts == 0


def test_two_files_are_two_files(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match="same file"):
        FlightFiles(tmp_path / "a.png", tmp_path / "a.png").check()
    with pytest.raises(WaywordError, match="--example"):
        wayword.fly(layout="dev-003")
    with pytest.raises(WaywordError, match="demonstrations"):
        wayword.fly(INSTRUCTION, policy="oracle")
    with pytest.raises(WaywordError, match="no words"):
        wayword.fly(" ")
