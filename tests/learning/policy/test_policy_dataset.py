from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import support.extra_torch  # noqa: F401 - what follows needs it
from support.policy_data import items_of, photos_of
from wayword.grounding import Grounder
from wayword.learning.policy.dataset import (
    Item,
    SampleConfig,
    Samples,
    alignment_of,
    draw_exemplars,
    maps_at,
    prefix_of,
)
from wayword.learning.policy.train_visitation import goal_errors
from wayword.mapping.grid import CELL_M, UNOBSERVED, world_centres
from wayword.policy.tokens import Vocabulary


@pytest.fixture(scope="module")
def grounder() -> Grounder:
    return Grounder.load("sim")


@pytest.fixture(scope="module")
def photos(grounder: Grounder) -> dict[str, np.ndarray]:
    return photos_of(grounder)


@pytest.fixture(scope="module")
def items(photos: dict[str, np.ndarray]) -> list[Item]:
    return items_of(4, photos)


def samples(items: list[Item], photos: dict[str, np.ndarray], grounder: Grounder, config: SampleConfig) -> Samples:
    vocabulary = Vocabulary.build([items[0].readings.whole.tokens] * 3)
    return Samples(items, photos, grounder.config.density, vocabulary, config)


def test_the_mentioned_object_is_marked_where_it_stands(
    items: list[Item], photos: dict[str, np.ndarray], grounder: Grounder
) -> None:
    item = items[0]
    reading = item.readings.whole
    exemplars = draw_exemplars(reading.names, photos, 5, None)
    alignment = alignment_of(item.execution, reading, exemplars, grounder.config.density)
    ((references, all_objects, coverage),) = maps_at(item.execution, alignment, [len(item.execution) - 1])
    mentioned = next(o for o in item.example.objects if o.name == reading.names[0])
    peak = world_centres()[np.unravel_index(references[0].argmax(), (32, 32))]
    assert np.hypot(*(peak - (mentioned.x, mentioned.y))) < 0.2
    others = [o for o in item.example.objects if o.name != mentioned.name]
    for other in others:
        cell = int(other.y / CELL_M), int(other.x / CELL_M)
        assert references[0][cell] < 0.1
        assert 0.6 < all_objects[cell] <= 0.9 + 1e-6
    assert 0 < coverage.mean() <= 1


def test_maps_grow_with_time_and_repeat_for_equal_moments(items: list[Item]) -> None:
    alignment = np.ones((1, len(items[0].execution.footprints)), np.float32)
    first, again, last = maps_at(items[0].execution, alignment, [1, 1, 5])
    np.testing.assert_array_equal(first[2], again[2])
    assert (last[2] >= first[2]).all()
    assert last[2].sum() > first[2].sum()


def test_batches_are_the_same_under_a_seed(
    items: list[Item], photos: dict[str, np.ndarray], grounder: Grounder
) -> None:
    made = samples(items, photos, grounder, SampleConfig())
    a, b = (made.draw(np.random.default_rng(5), 3) for _ in range(2))
    for name in ("tokens", "lengths", "places", "references", "others", "gold"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.references.shape == (12, 1, 64, 64)
    np.testing.assert_allclose(a.gold.sum(axis=2), 1.0, atol=1e-4)


def test_goals_of_a_prefix_end_earlier(items: list[Item]) -> None:
    path, frames = prefix_of(items[0].example, items[0].execution)
    assert len(path) < len(items[0].example.path)
    np.testing.assert_array_equal(path[0], items[0].example.path[0])
    assert 1 <= frames <= len(items[0].execution)


def test_the_ablations_take_away_what_they_say(
    items: list[Item], photos: dict[str, np.ndarray], grounder: Grounder
) -> None:
    blind = samples(items, photos, grounder, SampleConfig(blank_images=True)).final(items[0])
    assert blind.references.max() == 0
    assert blind.others[:, 0].max() == 0  # all objects
    assert blind.others[:, 1].max() > 0.9  # it still knows where it has looked
    deaf = samples(items, photos, grounder, SampleConfig(empty_instructions=True)).final(items[0])
    assert len(deaf.tokens) == 1
    assert deaf.references.shape[1] == 0
    assert deaf.others[:, 0].max() > 0.5


def test_a_sample_mirrored_is_as_likely_as_one_that_is_not(
    items: list[Item], photos: dict[str, np.ndarray], grounder: Grounder
) -> None:
    made = samples(items, photos, grounder, replace(SampleConfig(), unknown_words=0.0, prefixes=0.0))
    vocabulary = made.vocabulary
    left = sum(
        vocabulary.words.index("left") in made.sample(items[0], np.random.default_rng(k)).tokens for k in range(60)
    )
    assert 15 < left < 45


def test_goal_errors_by_hand() -> None:
    # Cell [33, 35]: u = 3.5 cells, v = 1.5 cells. The true goal one metre ahead of it: an error of one metre.
    import torch

    logits = torch.zeros(1, 2, UNOBSERVED + 1)
    logits[0, 1, 33 * 64 + 35] = 5.0
    goal = np.array([[3.5 * CELL_M + 1.0, 1.5 * CELL_M]])
    np.testing.assert_allclose(goal_errors(logits, goal), [1.0])
