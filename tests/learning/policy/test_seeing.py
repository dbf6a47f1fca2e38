"""Worlds that are imagined: true masks and photos in the place of segmentation."""

from __future__ import annotations

import numpy as np
import pytest

from support.extra_torch import torch
from support.policy_data import items_of, photos_of
from support.sureal_run import SMALL
from wayword.grounding import Grounder
from wayword.learning.policy.networks import Stage1
from wayword.learning.policy.seeing import Eyes, SeeingWorld
from wayword.policy.control import ControlConfig
from wayword.policy.tokens import Vocabulary
from wayword.sim.render.bank import MeshBank


def world_of(imagined: float, seed: int = 0, **taken_away: bool) -> SeeingWorld:
    """Four flights that have looked once."""
    grounder = Grounder.load("sim")
    photos = photos_of(grounder)
    items = items_of(4, photos)
    vocabulary = Vocabulary.build([item.readings.whole.tokens for item in items])
    bank = MeshBank.of_catalogue(sorted({o.name for item in items for o in item.example.objects}))
    torch.manual_seed(0)
    stage1 = Stage1(len(vocabulary), SMALL)
    eyes = Eyes(bank, grounder, photos, vocabulary, prefixes=0.0, imagined=imagined, **taken_away)
    return SeeingWorld(items, eyes, stage1, ControlConfig(things=True), np.random.default_rng(seed))


def test_what_is_imagined_stands_where_it_is() -> None:
    world = world_of(1.0)
    for item, execution in zip(world.items, world.executions(), strict=True):
        places = np.array([(o.x, o.y) for o in item.example.objects])
        good = execution.footprints[execution.footprints[:, 3] > 0.9]
        for x, y, _, _ in good:
            assert np.linalg.norm(places - (x, y), axis=1).min() < 0.25
    assert sum(len(e.p_box) for e in world.executions()) > 4
    assert all((e.p_box == 1).all() for e in world.executions())


def test_what_is_imagined_looks_like_a_photo_of_the_object() -> None:
    world = world_of(1.0)
    photos = np.concatenate(list(world.eyes.photos.values()))
    for execution in world.executions():
        for vector in execution.embeddings.astype(np.float32):
            assert np.abs(photos - vector).max(axis=1).min() < 1e-2  # kept in half precision


def test_process_a_is_shown_real_flights_only() -> None:
    assert world_of(1.0).exemplary == [False] * 4
    assert world_of(0.0).exemplary == [True] * 4


def test_the_share_is_one_of_worlds() -> None:
    share = np.mean([world_of(0.5, seed).imagined for seed in range(24)])
    assert 0.2 < share < 0.8


@pytest.mark.parametrize("imagined", [0.0, 1.0])
def test_the_same_seed_is_the_same_world(imagined: float) -> None:
    one, two = world_of(imagined), world_of(imagined)
    np.testing.assert_array_equal(one.distributions, two.distributions)


@pytest.mark.parametrize("imagined", [0.0, 1.0])
def test_who_is_shown_nothing_flies_without_seeing_too(imagined: float) -> None:
    world = world_of(imagined, blank_images=True)
    assert all(len(execution.p_box) == 0 for execution in world.executions())
    assert not world.things.any()
    assert world.coverage.any()  # where it has been is known, as in flight


def test_who_is_told_nothing_flies_without_a_word_too() -> None:
    told, untold = world_of(1.0), world_of(1.0, empty_instructions=True)
    assert all(len(world.references) for world in told._worlds)
    assert not any(len(world.references) for world in untold._worlds)
    # One summary for all that nothing was said to, and another than of words.
    assert all(torch.equal(text[1], untold._text[0][1]) for text in untold._text)
    assert not any(torch.equal(text[1], untold._text[0][1]) for text in told._text)
