"""The object context grounding map, worked by hand, and the one that flies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.errors import WaywordError
from wayword.mapping import CELL_M, OTHER_CHANNELS, boundary_masks, map_layers, object_context_map


def parts() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    # Two references with embeddings (1, 2) and (10, 0) on a grid of 2 x 2, whose first row alone is not empty.
    psi = np.array([[1, 2], [10, 0]], np.float32)
    references = np.zeros((2, 2, 2), np.float32)
    references[:, 0] = [[0.5, 0], [0.25, 1]]
    others = np.zeros((6, 2, 2), np.float32)
    others[:, 0] = [[0.9, 0.1], [1, 0], [1, 0], [0, 1], [0, 0], [1, 1]]
    return psi[None], references[None], others[None]


WORKED = [[0.5 * 1 + 0.25 * 10, 1 * 10], [0.5 * 2, 0], [0.9, 0.1], [1, 0], [1, 0], [0, 1], [0, 0], [1, 1]]
"""The first row: context of both dimensions, all objects, coverage, four lines."""


def test_worked_by_hand() -> None:
    out = object_context_map(*parts())
    assert out.shape == (1, 2 + OTHER_CHANNELS, 2, 2)
    np.testing.assert_allclose(out[0, :, 0], WORKED)
    assert not out[0, :2, 1].any()


def test_of_no_references_and_of_several_instructions() -> None:
    psi, references, others = parts()
    empty = object_context_map(psi[:, :0], references[:, :0], others)
    assert not empty[:, :2].any()
    np.testing.assert_array_equal(empty[:, 2:], others)
    several = object_context_map(*(np.concatenate([part, 2 * part]) for part in parts()))
    np.testing.assert_allclose(several[0, :, 0], WORKED)
    np.testing.assert_allclose(several[1, :2, 0], 4 * np.array(WORKED[:2]))


def test_parts_that_do_not_belong_together_are_refused() -> None:
    psi, references, others = parts()
    for wrong in ((psi[:, :1], references, others), (psi, references, others[:, :5]), (psi[0], references, others)):
        with pytest.raises(WaywordError, match="context map needs"):
            object_context_map(*wrong)


def test_layers_are_seen_from_the_start() -> None:
    # The drone was at (1, 2) and looked along +y. What stands in cell (row 20, column 10), at (x, y) = (10.5, 20.5) c,
    # lies u = 20.5 c - 2 m ahead and v = 1 m - 10.5 c to the left: at column 31.5 + u / c, row 31.5 + v / c.
    references = np.zeros((1, 32, 32), np.float32)
    references[0, 20, 10] = 1.0
    seen, others = map_layers(references, np.zeros((32, 32), np.float32), references[0], (1.0, 2.0, math.pi / 2))
    row, column = 31.5 + 1 / CELL_M - 10.5, 31.5 + 20.5 - 2 / CELL_M
    assert seen.shape == (1, 64, 64)
    assert others.shape == (OTHER_CHANNELS, 64, 64)
    places = np.argwhere(seen[0] > 0)
    np.testing.assert_allclose(np.average(places, axis=0, weights=seen[0][seen[0] > 0]), (row, column), atol=1e-4)
    assert seen.sum() == pytest.approx(1.0, abs=1e-5)  # bilinear: none of it is lost
    np.testing.assert_array_equal(others[1], seen[0])
    assert not others[0].any()
    assert others[2:].sum() == pytest.approx(boundary_masks().sum(), rel=0.05)


@pytest.mark.needs_torch
class TestTorch:
    """The same function with PyTorch, as stage 1 calls it."""

    def test_the_same_numbers_and_gradients(self) -> None:
        import torch

        psi, references, others = (torch.tensor(part, dtype=torch.float64) for part in parts())
        np.testing.assert_allclose(object_context_map(psi, references, others)[0, :, 0].numpy(), WORKED)
        inputs = (psi.requires_grad_(), references.requires_grad_())
        assert torch.autograd.gradcheck(lambda p, r: object_context_map(p, r, others), inputs)
