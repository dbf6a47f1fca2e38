"""Samples put together into batches, exemplars drawn from photos, and what each process draws."""

from __future__ import annotations

import numpy as np

from support.extra_torch import torch
from wayword.learning.common.team import seeded
from wayword.learning.policy.dataset import _Sample, collate, draw_exemplars
from wayword.mapping.grid import PREDICTION_CELLS, UNOBSERVED


def sample(tokens: list[int], places: list[int], value: float, moments: int = 2) -> _Sample:
    size = PREDICTION_CELLS
    return _Sample(
        np.array(tokens, np.int64),
        np.full((len(tokens), 3), value, np.float32),
        np.array(places, np.int64),
        np.full((moments, len(places), size, size), value, np.float32),
        np.full((moments, 6, size, size), value, np.float32),
        np.full((moments, 2, UNOBSERVED + 1), value, np.float32),
    )


def test_short_sentences_and_few_references_are_padded() -> None:
    batch = collate([sample([5, 6, 7], [1], 0.1), sample([8], [], 0.2), sample([9, 4], [0, 1], 0.3)])
    np.testing.assert_array_equal(batch.tokens, [[5, 6, 7], [8, 0, 0], [9, 4, 0]])
    np.testing.assert_array_equal(batch.lengths, [3, 1, 2])
    np.testing.assert_allclose(batch.encoded[:, :, 0], [[0.1, 0.1, 0.1], [0.2, 0, 0], [0.3, 0.3, 0]])
    np.testing.assert_array_equal(batch.places, [[1, -1], [-1, -1], [0, 1]])
    assert batch.references.shape == (6, 2, PREDICTION_CELLS, PREDICTION_CELLS)
    # Both moments of the first sample have one reference, and nothing where it has none.
    np.testing.assert_allclose(batch.references[:2, 0], 0.1)
    assert not batch.references[:2, 1].any()
    assert not batch.references[2:4].any()
    np.testing.assert_allclose(batch.references[4:], 0.3)
    assert batch.others.shape[0] == batch.gold.shape[0] == 6
    np.testing.assert_allclose(batch.gold[:, 0, 0], [0.1, 0.1, 0.2, 0.2, 0.3, 0.3])


def test_without_any_reference_there_is_room_for_one() -> None:
    batch = collate([sample([5], [], 0.1)])
    assert batch.places.shape == (1, 1)
    assert batch.places[0, 0] == -1
    assert batch.references.shape[:2] == (2, 1)


def test_exemplars_are_the_first_photos_or_drawn_ones() -> None:
    pool = {
        "globe": np.arange(6, dtype=np.float32)[:, None] * [1.0, 0.0],
        "duck": np.arange(2, dtype=np.float32)[:, None] * [0.0, 1.0],
    }
    first = draw_exemplars(["duck", "globe"], pool, 3, None)
    assert first.names == ("duck", "globe")
    np.testing.assert_array_equal(first.owners, [0, 0, 1, 1, 1])  # two photos are all there are of the duck
    np.testing.assert_array_equal(first.vectors[2:, 0], [0, 1, 2])
    drawn = [draw_exemplars(["globe"], pool, 3, np.random.default_rng(seed)).vectors[:, 0] for seed in range(10)]
    assert all(len(set(row.tolist())) == 3 for row in drawn)  # none twice
    assert len({tuple(row.tolist()) for row in drawn}) > 3


def test_every_step_of_every_process_draws_anew_and_repeatably() -> None:
    def both(*key: int) -> tuple[float, float]:
        return float(seeded(*key).random()), float(torch.rand(1))

    keys = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    draws = {key: both(*key) for key in keys}
    assert len({draw for draw, _ in draws.values()}) == len(keys)
    assert len({draw for _, draw in draws.values()}) == len(keys)
    assert all(both(*key) == draws[key] for key in keys)
