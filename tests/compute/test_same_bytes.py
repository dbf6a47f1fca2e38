"""Whatever a crew is given comes out the same: for one worker, two and five, on either engine, in whatever order."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from support.shared_work import EVERY
from wayword.compute import Crew

WITH_TORCH = {"policy_data"}
LOCAL = ("generated", "frames", "flights", "faults")
"""Those whose workers are quick to start; the others share all that could differ."""


@cache
def alone(name: str, folder: Path) -> bytes:
    """What this process makes of it."""
    return EVERY[name](Crew(1), folder / name)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    for name in EVERY:
        (folder / name).mkdir()
    return folder


@pytest.mark.parametrize("workers", [2, 5])
@pytest.mark.parametrize("name", LOCAL)
def test_processes_of_this_machine(name: str, workers: int, once: Path, tmp_path: Path) -> None:
    assert EVERY[name](Crew(workers), tmp_path) == alone(name, once)


@pytest.mark.needs_ray
@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("name", EVERY)
def test_ray(name: str, workers: int, once: Path, tmp_path: Path, ray_of_five: None) -> None:
    if name in WITH_TORCH:
        pytest.importorskip("torch")
    assert EVERY[name](Crew(workers, ray="local"), tmp_path) == alone(name, once)
