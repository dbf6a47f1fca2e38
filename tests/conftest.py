from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

# Tests run on all cores already; linear algebra with threads of its own would fight over them (five times slower).
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

from support.extras import EXTRAS
from wayword.episodes import Example, examples, load_natural
from wayword.sim.render.bank import MeshBank

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("any_machine", deadline=None)
settings.load_profile("any_machine")


def pytest_configure(config: pytest.Config) -> None:
    for name, extra in EXTRAS.items():
        config.addinivalue_line("markers", f"{name}: runs after {extra.command}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = {name: reason for name, extra in EXTRAS.items() if (reason := extra.missing())}
    for item in items:
        for mark in [*item.iter_markers()]:
            if mark.name in missing:
                item.add_marker(pytest.mark.skip(reason=missing[mark.name]))


@pytest.fixture(scope="session")
def bank() -> MeshBank:
    """All 80 objects."""
    return MeshBank.of_catalogue()


@pytest.fixture(scope="session")
def dev_pairs() -> list[Example]:
    """The two-segment examples of the natural dev split."""
    return [cut for episode in load_natural("dev") for cut in examples(episode, 2)]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20201116)


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """Playwright, started once: a second one in the same process finds the loop of the first and refuses."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright
