"""Kernels that others are compiled into: the cache of the others must notice when they change."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import wayword.sim
from wayword.sim.render import shading
from wayword.sim.vehicle import lag, rigid

SIM = Path(wayword.sim.__file__).parent


@pytest.mark.parametrize(
    ("stated", "files"),
    [
        (shading.RASTERISER, ["render/rasteriser.py", "render/kernels.py"]),
        (lag.CONTACT, ["vehicle/contact.py", "vehicle/config.py"]),
        (rigid.CONTACT, ["vehicle/contact.py", "vehicle/config.py"]),
    ],
)
def test_stated_digests_are_those_of_the_files(stated: str, files: list[str]) -> None:
    digest = hashlib.sha256(b"".join((SIM / file).read_bytes() for file in files)).hexdigest()[:12]
    assert stated == digest, f"{files} changed: write {digest} where {stated} stands"
