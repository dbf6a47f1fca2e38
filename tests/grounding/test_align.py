from __future__ import annotations

import numpy as np
import pytest

from wayword.grounding.align import align, all_objects_mask, reference_masks


def test_align_by_hand() -> None:
    # Two boxes, two objects and "none". Box 0 is object 0 with 0.7, object 1 with 0.2; the reference means
    # object 0 with 0.9 and object 1 with 0.1. Sum over objects: 0.7 x 0.9 + 0.2 x 0.1 = 0.65; times P(b) = 0.8
    # gives 0.52. Box 1: 0.1 x 0.9 + 0.6 x 0.1 = 0.15; times 0.5 gives 0.075.
    of_box = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]]
    np.testing.assert_allclose(align(of_box, [0.8, 0.5], [[0.9, 0.1, 0.0]]), [[0.52, 0.075]])


def test_none_of_these_never_aligns_with_none_of_these() -> None:
    # A reference to an unknown thing and a box with an unknown thing need not be the same thing.
    np.testing.assert_array_equal(align([[0.0, 1.0]], [1.0], [[0.0, 1.0]]), [[0.0]])


def test_equation_1_with_its_priors() -> None:
    # sum_o P(o|b) P(b) P(o|r) / P(o) with P(o) = 1/M and P(b) = objectness x P(o): P(o) cancels whatever M is.
    rng = np.random.default_rng(0)
    for m in (2, 8, 80):
        of_box = rng.dirichlet(np.ones(m + 1), 4)
        of_reference = rng.dirichlet(np.ones(m + 1), 3)
        objectness = rng.random(4)
        prior = 1 / m
        by_hand = np.array(
            [
                [
                    sum(of_box[b, o] * (objectness[b] * prior) * of_reference[r, o] / prior for o in range(m))
                    for b in range(4)
                ]
                for r in range(3)
            ]
        )
        np.testing.assert_allclose(align(of_box, objectness, of_reference), by_hand)


def test_align_does_not_depend_on_the_crowd() -> None:
    # Six more objects that neither the box nor the phrase resembles, four more boxes in view: nothing changes.
    alone = align([[0.9, 0.1]], [0.8], [[0.95, 0.05]])[0, 0]
    of_box = np.zeros((5, 8))
    of_box[:, -1] = 1.0
    of_box[0] = [0.9, 0, 0, 0, 0, 0, 0, 0.1]
    crowd = align(of_box, [0.8, 0.9, 0.9, 0.9, 0.9], [[0.95, 0, 0, 0, 0, 0, 0, 0.05]])
    assert crowd[0, 0] == pytest.approx(alone)
    assert alone == pytest.approx(0.9 * 0.8 * 0.95)
    np.testing.assert_array_equal(crowd[0, 1:], 0.0)


def test_mismatched_columns_say_so() -> None:
    with pytest.raises(ValueError, match=r"M \+ 1 columns"):
        align([[0.5, 0.5]], [1.0], [[0.2, 0.3, 0.5]])


def test_reference_masks_by_hand() -> None:
    # Equation 3 on a 1 x 3 image: 0.6 x (1, 0.5, 0) + 0.5 x (0, 0.5, 1) = (0.6, 0.55, 0.5).
    masks = np.array([[[1, 0.5, 0]], [[0, 0.5, 1]]], np.float32)
    np.testing.assert_allclose(reference_masks([[0.6, 0.5]], masks), [[[0.6, 0.55, 0.5]]], atol=1e-6)


def test_reference_masks_stay_probabilities_where_boxes_overlap() -> None:
    masks = np.ones((2, 1, 1), np.float32)
    np.testing.assert_array_equal(reference_masks([[0.9, 0.8]], masks), [[[1.0]]])


def test_all_objects_mask_is_a_maximum() -> None:
    # max(0.9 x (1, 0.2), 0.5 x (0.4, 1)) = (0.9, 0.5)
    masks = np.array([[[1, 0.2]], [[0.4, 1]]], np.float32)
    np.testing.assert_allclose(all_objects_mask(masks, [0.9, 0.5]), [[0.9, 0.5]], atol=1e-6)


def test_no_boxes_give_empty_masks() -> None:
    none = np.zeros((0, 4, 5), np.float32)
    assert reference_masks(np.zeros((2, 0)), none).shape == (2, 4, 5)
    np.testing.assert_array_equal(all_objects_mask(none, []), np.zeros((4, 5)))
