"""The map of a failed flight."""

from __future__ import annotations

import numpy as np

from wayword.episodes import Example
from wayword.pictures.failure_map import GOAL, REFERENCE, failure_map
from wayword.pictures.topdown import TopDown
from wayword.sim.render.bank import MeshBank


def test_goals_and_references_are_marked_where_they_were(bank: MeshBank, dev_pairs: list[Example]) -> None:
    example = dev_pairs[0]
    top = TopDown(bank, arena_m=example.episode.arena_m, size_px=400)
    start = [[0.4, 0.4], [0.6, 0.4]]
    peak, goal = [4.5, 0.2], [0.2, 4.5, 1.0]
    ending = {"goal": [goal], "path": start, "yaw": 0.0, "marks": [{"peak": peak}, {"peak": None}]}
    pixels = np.asarray(failure_map(ending, example, bank)).astype(int)
    assert pixels.shape == (400, 400, 3)
    column, row = top.to_pixels([peak])[0].astype(int)
    assert np.abs(pixels[row, column + 5] - REFERENCE).max() < 60  # a ring with a dark middle
    assert pixels[row, column].max() < 60
    column, row = top.to_pixels([goal[:2]])[0].astype(int)
    without = np.asarray(failure_map({**ending, "goal": []}, example, bank)).astype(int)
    np.testing.assert_allclose(pixels[row, column], 0.75 * np.array(GOAL) + 0.25 * without[row, column], atol=2)
