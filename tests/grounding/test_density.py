from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.errors import WaywordError
from wayword.grounding.density import DensityConfig, Exemplars, densities, probabilities, spreads


def exemplars(*groups: list[list[float]]) -> Exemplars:
    vectors = np.array([v for group in groups for v in group], np.float32).reshape(-1, 2)
    owners = np.repeat(np.arange(len(groups)), [len(group) for group in groups]).astype(np.int64)
    return Exemplars(tuple(f"o{i}" for i in range(len(groups))), vectors, owners)


def test_densities_by_hand() -> None:
    # x = (1, 0). Object 0 has (1, 0) and (0, 1): squared distances 0 and 2; with sigma^2 = 0.5 the kernels are
    # exp(0) = 1 and exp(-2 / 1) = 0.135335, their mean 0.567668. Object 1 has (-1, 0): exp(-4) = 0.018316.
    k = densities(np.array([[1, 0]], np.float32), exemplars([[1, 0], [0, 1]], [[-1, 0]]), DensityConfig(0.5, 0.1))
    np.testing.assert_allclose(k, [[0.5676676, 0.0183156]], atol=1e-6)


def test_probabilities_by_hand() -> None:
    # As above with background 0.1: the sum is 0.685983, so 0.827524, 0.026700 and 0.145776.
    p = probabilities(np.array([[1, 0]], np.float32), exemplars([[1, 0], [0, 1]], [[-1, 0]]), DensityConfig(0.5, 0.1))
    np.testing.assert_allclose(p, [[0.827524, 0.026700, 0.145776]], atol=1e-5)


def test_more_photos_of_the_same_view_change_nothing() -> None:
    x, config = np.array([[0.6, 0.8]], np.float32), DensityConfig(0.2, 0.05)
    once = probabilities(x, exemplars([[1, 0]], [[0, 1]]), config)
    many = probabilities(x, exemplars([[1, 0]] * 7, [[0, 1]]), config)
    np.testing.assert_allclose(once, many)


def test_unrelated_objects_do_not_dilute() -> None:
    # Twenty objects on the far side, at squared distance 4: kernels exp(-4 / 0.1), 4e-18 each.
    x, config = np.array([[1, 0]], np.float32), DensityConfig(0.05, 0.05)
    alone = probabilities(x, exemplars([[1, 0]]), config)
    crowd = probabilities(x, exemplars([[1, 0]], *[[[-1.0, 0.0]]] * 20), config)
    assert alone[0, 0] == pytest.approx(crowd[0, 0])
    assert alone[0, 0] == pytest.approx(1 / 1.05)


def test_a_strange_region_is_none_of_these() -> None:
    p = probabilities(np.array([[-1, 0]], np.float32), exemplars([[1, 0]], [[0, 1]]), DensityConfig(0.05, 0.05))
    assert p[0, -1] > 0.999


def test_an_object_without_photos_has_no_density() -> None:
    made = Exemplars(("a", "b"), np.array([[1, 0]], np.float32), np.array([1]))
    p = probabilities(np.array([[1, 0]], np.float32), made, DensityConfig(0.1, 0.1))
    assert p[0, 0] == 0.0
    assert p[0, 1] == pytest.approx(1 / 1.1)


def test_empty_database_and_no_regions() -> None:
    nothing = Exemplars((), np.zeros((0, 2), np.float32), np.zeros(0, np.int64))
    np.testing.assert_array_equal(
        probabilities(np.zeros((3, 2), np.float32), nothing, DensityConfig()), np.ones((3, 1))
    )
    assert probabilities(np.zeros((0, 2), np.float32), exemplars([[1, 0]]), DensityConfig()).shape == (0, 2)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 5))
def test_rows_are_probabilities(seed: int, objects: int, photos: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(objects * photos, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = Exemplars(tuple(map(str, range(objects))), vectors, np.repeat(np.arange(objects), photos))
    p = probabilities(vectors[:3], made, DensityConfig(0.05, 0.02))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0).all()


def test_bad_input_is_refused() -> None:
    for variance, background in ((0.0, 0.1), (0.1, 0.0), (-1.0, 0.1), (float("nan"), 0.1), (0.1, float("inf"))):
        with pytest.raises(WaywordError, match="positive"):
            DensityConfig(variance, background)
    with pytest.raises(ValueError, match="not among"):
        Exemplars(("a",), np.zeros((1, 2), np.float32), np.array([1]))
    with pytest.raises(ValueError, match="owners"):
        Exemplars(("a",), np.zeros((2, 2), np.float32), np.array([0]))


def test_spread_of_an_objects_images_by_hand() -> None:
    # Object 0: (1, 0), (0, 1), (-1, 0): squared distances 2, 4, 2, over the six ordered pairs 16. The prior of 0.5
    # counts as four ordered pairs: (16 + 4 * 0.5) / (6 + 4) = 1.8. Object 1 has one image: the prior alone.
    made = exemplars([[1, 0], [0, 1], [-1, 0]], [[0, 1]])
    np.testing.assert_allclose(spreads(made, 0.5), [1.8, 0.5])


def test_copies_of_an_image_do_not_change_the_spread() -> None:
    once, twice = exemplars([[1, 0], [0, 1]]), exemplars([[1, 0], [0, 1], [1, 0], [0, 1]])
    np.testing.assert_allclose(spreads(once, 0.3), spreads(twice, 0.3))


def test_wide_objects_have_wide_kernels_by_hand() -> None:
    # Spreads with prior 0: object 0 (1, 0), (0, 1): 4 / (2 + 4) = 2/3; object 1 (0, -1) alone: 0. With sigma^2 = 0.1
    # and lambda = 0.3 their variances are 0.3 and 0.1. x = (0, 1): kernels exp(-2 / 0.6) and 1, mean 0.517837;
    # and exp(-4 / 0.2) = 2.1e-9.
    config = DensityConfig(0.1, 0.1, 0.3, 0.0)
    k = densities(np.array([[0, 1]], np.float32), exemplars([[1, 0], [0, 1]], [[0, -1]]), config)
    np.testing.assert_allclose(k, [[0.5178370, 2.0611537e-9]], rtol=1e-5)
