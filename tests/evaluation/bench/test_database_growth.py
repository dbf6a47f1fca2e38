"""What a growing database costs, measured at two sizes that a test can afford."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayword.cli.launch import main
from wayword.evaluation.bench.database_growth import database_costs
from wayword.evaluation.bench.many_objects import grow_database, most_objects
from wayword.objects import ObjectDatabase
from wayword.vector_cache import SMALL


def test_a_growing_database_is_measured() -> None:
    """One that is taken whole, and one that is cached and narrowed down."""
    small, large = database_costs(2, (8, SMALL + 2), steps=2)
    assert (small.objects, small.new_objects, large.objects, large.new_objects) == (8, 8, SMALL + 2, SMALL - 6)
    for cost in (small, large):
        assert cost.step_ms.n == cost.parse_ms.n == 2
        assert min(cost.load_s, cost.teach_s, cost.parse_ms.mean, cost.step_ms.mean, cost.memory_mb) > 0
    assert large.first_load_s > large.load_s


def test_a_database_grows_by_what_is_new(tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    grow_database(folder, 8)
    assert len(ObjectDatabase.load(folder)) == 8
    grow_database(folder, 10)
    before = (folder / "amber-bamboo-anchor" / "object.json").stat().st_mtime_ns
    grow_database(folder, 12)
    database = ObjectDatabase.load(folder)
    assert len(database) == 12
    assert database.notes == ()  # the manifest fits
    assert {"robot", "amber bamboo anvil"} < set(database.names)
    assert (folder / "amber-bamboo-anchor" / "object.json").stat().st_mtime_ns == before
    assert most_objects() >= 8000


def test_a_size_that_is_not_measured_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_code:
        main(["bench", "database", "--most", "7"])
    assert exit_code.value.code == 2
    assert "--most 7: the smallest database" in capsys.readouterr().err
