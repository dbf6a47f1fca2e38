from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def ray_of_five() -> Iterator[None]:
    """A Ray of our own with five workers, for all tests of a module."""
    from wayword.compute import Crew
    from wayword.compute.ray_engine import connect

    ray = connect(Crew(5, ray="local"))
    yield
    ray.shutdown()
