from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from wayword.policy import Observations, make_policy
from wayword.recording import first_run
from wayword.recording.first_run import FirstRun, film_nothing, glance, is_first_run


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def test_only_the_first_flight_is_a_first_one() -> None:
    film_nothing()
    assert not is_first_run()
    assert FirstRun()._child is None


def test_a_kernel_that_is_not_kept_yet_makes_it_a_first_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wayword.sim.render import shading

    class Draw:
        class stats:  # noqa: N801 - as numba calls it
            cache_path: str | None = str(tmp_path)

    monkeypatch.setattr(shading, "draw", Draw)
    assert is_first_run()
    (tmp_path / "shading.draw-242.py311.1.nbc").touch()
    assert not is_first_run()
    monkeypatch.setattr(Draw.stats, "cache_path", None)  # nowhere to keep it
    assert not is_first_run()


def test_a_policy_that_glanced_flies_as_one_that_did_not(monkeypatch: pytest.MonkeyPatch) -> None:
    from wayword.pilot.pilot import open_database

    database, policy = open_database("dev"), make_policy("fspvn")
    image = np.random.default_rng(0).integers(0, 255, (1, 72, 128, 3), np.uint8)
    seen = Observations(np.zeros(1, np.int64), image, np.array([[1.0, 1.0, 0.5, 0.0, 0.0, 0.3]]))
    policy.reset(["stop in front of the robot"], [database])
    expected = policy.act(seen)
    glance(policy, database)
    policy.reset(["stop in front of the robot"], [database])
    np.testing.assert_array_equal(policy.act(seen), expected)


def test_the_other_process_never_outlives_a_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_run, "PATIENCE_S", 0.1)
    first = FirstRun()
    first._child = sleeper()
    first.finish(make_policy("stop"), None)  # not waited for
    assert first._child.returncode is not None
    first._child = sleeper()
    with pytest.raises(Exception, match="database"):
        first.finish(make_policy("fspvn"), None)
    assert first._child.returncode is not None
