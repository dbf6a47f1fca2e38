from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.policy.steps.straight import is_there, to_edge_m
from wayword.task import ARENA_M

HERE = np.array([2.0, 2.0, math.pi / 2])
"""Looking along +y."""


@pytest.mark.parametrize(
    ("place", "what"),
    [
        ((1.0, 2.0), {"left"}),  # 90 degrees to the left, a metre away, out of the picture
        ((3.0, 2.0), {"right"}),
        ((2.0, 3.5), {"ahead", "seen"}),
        ((2.0, 0.5), {"behind"}),
        ((2.0, 2.5), {"ahead", "close", "seen"}),
        ((2.8, 3.3), {"seen"}),  # 31.6 degrees to the right
    ],
)
def test_what_is_so_of_a_thing(place: tuple[float, float], what: set[str]) -> None:
    every = ("left", "right", "ahead", "behind", "close", "seen")
    assert {each for each in every if is_there(each, HERE, place, Camera())} == what


def test_a_line_ends_before_the_edge() -> None:
    assert to_edge_m(np.array([1.0, 2.0]), np.array([1.0, 0.0])) == pytest.approx(ARENA_M - 0.15 - 1.0)
    assert to_edge_m(np.array([1.0, 2.0]), np.array([0.0, -1.0])) == pytest.approx(2.0 - 0.15)
    aslant = np.array([math.cos(math.pi / 4), math.sin(math.pi / 4)])  # y is the nearer edge
    assert to_edge_m(np.array([1.0, 2.0]), aslant) == pytest.approx((ARENA_M - 0.15 - 2.0) * math.sqrt(2))
    assert to_edge_m(np.array([ARENA_M, 2.0]), np.array([1.0, 0.0])) == 0.0
