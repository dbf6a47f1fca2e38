"""From costs to the tables of docs/scale.md."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from wayword.cli.main import run
from wayword.errors import WaywordError
from wayword.evaluation.bench.scale_costs import Costs
from wayword.evaluation.bench.scale_report import WORKERS, scale_report

PAGE = Path(__file__).parents[3] / "docs" / "scale.md"
COSTS = Costs.read(PAGE.with_suffix(".json"))


def test_the_page_has_the_tables_of_its_costs() -> None:
    assert scale_report(COSTS) in PAGE.read_text(encoding="utf-8")


def test_costs_can_be_kept_and_simulated_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    COSTS.write(tmp_path / "costs.json")
    assert Costs.read(tmp_path / "costs.json") == COSTS
    run(["bench", "scale", "--costs", str(tmp_path / "costs.json")])
    told = capsys.readouterr().out
    assert all(f"| {workers} |" in told for workers in WORKERS)
    assert f"{COSTS.flight_s:.4g}" in told
    with pytest.raises(WaywordError, match="measure first"):
        Costs.read(tmp_path / "nowhere.json")


def test_costs_are_positive_numbers() -> None:
    assert all(getattr(COSTS, field.name) > 0 for field in fields(COSTS))
