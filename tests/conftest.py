from __future__ import annotations

import os

# Tests run on all cores already; linear algebra with threads of its own would fight over them (five times slower).
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest

from wayword.episodes import Example, examples, load_natural
from wayword.sim.render.bank import MeshBank


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
