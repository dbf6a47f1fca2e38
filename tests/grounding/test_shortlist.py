"""Large databases: the candidates of an instruction have the probabilities that the whole database would give them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.grounding.density import OTHERS, DensityConfig, Exemplars, densities, probabilities
from wayword.grounding.shortlist import MOST_CANDIDATES, CrowdTable, ExemplarGallery

CONFIG = DensityConfig(variance=0.05, background=0.004, spread=0.02, typical=0.3)


def random_exemplars(objects: int, seed: int = 0) -> Exemplars:
    """Three images of each object around a random direction; object 7 has none."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(objects, 16))
    vectors = np.repeat(centres, 3, axis=0) + 0.6 * rng.normal(size=(3 * objects, 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    owners = np.repeat(np.arange(objects), 3).astype(np.int64)
    rows = owners != 7
    return Exemplars(tuple(f"thing {o}" for o in range(objects)), vectors[rows].astype(np.float32), owners[rows])


def test_a_small_database_is_taken_whole() -> None:
    small = random_exemplars(MOST_CANDIDATES)
    assert ExemplarGallery(small, CONFIG).shortlist(["thing 3"]) is small
    assert not ExemplarGallery(random_exemplars(MOST_CANDIDATES + 1), CONFIG).whole


def test_candidates_have_the_probabilities_of_the_whole_database() -> None:
    every = random_exemplars(300)
    names = ("thing 42", "thing 7", "thing 299")
    few = ExemplarGallery(every, CONFIG).shortlist(names)
    assert few.names == (*names, OTHERS)
    x = every.vectors[[3 * 42 - 3, 500, 0, -1]]  # looks at thing 42, at others and at thing 299
    whole, short = probabilities(x, every, CONFIG), probabilities(x, few, CONFIG)
    assert short.shape == (4, 5)
    assert np.allclose(short[:, :3], whole[:, [42, 7, 299]], atol=1e-6)
    assert np.allclose(short[:, -1], whole[:, -1], atol=1e-6)
    assert np.allclose(short[:, 3], 1 - short[:, :3].sum(axis=1) - short[:, -1], atol=1e-9)
    assert whole[0].argmax() == 42
    assert short.argmax(axis=1).tolist()[:2] == [0, 3]


def test_nobody_spoken_of_leaves_one_column_for_all() -> None:
    every = random_exemplars(150)
    few = ExemplarGallery(every, CONFIG).shortlist(())
    assert few.names == (OTHERS,)
    k = densities(every.vectors[:2], few, CONFIG)
    assert np.allclose(k[:, 0], densities(every.vectors[:2], every, CONFIG).sum(axis=1), rtol=1e-5)


def test_the_crowd_by_hand() -> None:
    """Images at 0, 90 and 180 degrees of two objects, one width: squared distances from 0 degrees are 0, 2 and 4.

    With sigma^2 = 1, k_a = (exp(0) + exp(-1)) / 2 and k_b = exp(-2).
    """
    pair = Exemplars(("a", "b"), np.array([[1, 0], [0, 1], [-1, 0]], np.float32), np.array([0, 0, 1]))
    table = CrowdTable.of(pair, DensityConfig(variance=1.0))
    x = np.array([[1, 0]], np.float32)
    k_a, k_b = (1 + math.exp(-1)) / 2, math.exp(-2)
    assert table.densities(x, np.array([], np.int64))[0] == pytest.approx(k_a + k_b, rel=1e-6)
    assert table.densities(x, np.array([0, 1]))[0] == pytest.approx(k_b, rel=1e-6)
    assert table.densities(x, np.array([2]))[0] == pytest.approx(k_a, rel=1e-6)
