"""The compiled maps against the same rules said cell by cell: resampling, discs, coverage, projection, the leak."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from wayword.camera import Camera, project
from wayword.mapping import (
    CELL_M,
    FeatureMap,
    MapConfig,
    WorldMap,
    add_coverage,
    project_masks,
    splat_max,
    world_to_prediction,
)
from wayword.mapping.feature_map import LEAK
from wayword.mapping.grid import prediction_centres, to_world, world_centres
from wayword.mapping.observability import ground_borders, wedge_of
from wayword.mapping.world_map import LEAST_RADIUS_CELLS

CAMERA = Camera()
SEEDS = st.integers(0, 10**6)


def test_a_cell_is_a_32nd_of_the_arena() -> None:
    assert (CELL_M, LEAST_RADIUS_CELLS, LEAK) == (4.7 / 32, 0.5, 0.2)
    assert MapConfig() == MapConfig(projection="footprint", use_quality=True)


@settings(max_examples=60, derandomize=True)
@given(SEEDS, st.sampled_from([0.0, -2.0]))
def test_resampling_is_bilinear_with_one_border_of_what_lies_outside(seed: int, outside: float) -> None:
    rng = np.random.default_rng(seed)
    maps, start = rng.random((2, 32, 32), np.float32), (*rng.uniform(0, 4.7, 2), rng.uniform(-7, 7))
    found = world_to_prediction(maps, start, outside)
    x, y = np.moveaxis(to_world(prediction_centres(), start), 2, 0)
    place = np.stack([y / CELL_M + 0.5, x / CELL_M + 0.5])  # in a map with one more cell on every side
    for one, out in zip(maps, found, strict=True):
        wanted = ndimage.map_coordinates(np.pad(one, 1, constant_values=outside), place, order=1, cval=outside)
        beyond = (place < 0).any(axis=0) | (place > 33).any(axis=0)
        near = (np.abs(place) < 1e-6).any(axis=0) | (np.abs(place - 33) < 1e-6).any(axis=0)
        wanted[beyond] = outside
        np.testing.assert_allclose(out[~near], wanted[~near], atol=1e-4)


@settings(max_examples=60, derandomize=True)
@given(SEEDS, st.booleans(), st.booleans())
def test_discs_are_drawn_as_far_as_they_reach(seed: int, use_quality: bool, add: bool) -> None:
    rng = np.random.default_rng(seed)
    prints = np.column_stack(
        [rng.uniform(-0.4, 5.1, (5, 2)), rng.choice([0.0, 0.05, 0.2, 0.45], 5), rng.choice([0.0, 0.5, 1.0], 5)]
    ).astype(np.float32)  # fmt: skip
    prints[4, :2] = prints[3, :2] + np.float32(0.1)
    weights = rng.choice([0.0, 0.3, 0.8, 1.0], (2, 5))
    before = 0.2 * rng.random((2, 32, 32), np.float32)
    found = before.copy()
    splat_max(found, prints, weights, use_quality, add)
    x, y = np.moveaxis(world_centres(), 2, 0)
    for channel in range(2):
        layers = []
        for (px, py, radius, quality), weight in zip(prints.astype(np.float64), weights[channel], strict=True):
            cells = np.hypot(x - px, y - py) / CELL_M
            disc = np.clip(max(radius / CELL_M, 0.5) + 0.5 - cells, 0, 1)  # 1 inside, down to 0 over one cell
            layers.append(weight * (quality if use_quality else 1.0) * disc)
        frame = np.minimum(np.sum(layers, axis=0) if add else np.max(layers, axis=0), 1.0)
        np.testing.assert_allclose(found[channel], np.maximum(before[channel], frame), atol=2e-6)


def test_a_world_map_weighs_by_quality_unless_told_not_to() -> None:
    prints, pose = np.array([[2.0, 2.0, 0.2, 0.5]], np.float32), np.array([1.0, 2.0, 0.7, 0, 0, 0])
    for config, share in ((None, 0.5), (MapConfig(use_quality=False), 1.0)):
        found = WorldMap(1, CAMERA, config)
        found.update(prints, [0.8], [[0.6]], pose)
        assert found.references.max() == pytest.approx(0.6 * share, abs=1e-6)
        assert found.all_objects.max() == pytest.approx(0.8 * share, abs=1e-6)


@pytest.mark.parametrize(
    ("camera", "length"),
    [
        (Camera(), 8.0),  # 0.7 / tan 41.86 = 0.781 m are 5.3 cells: 6, and 2 behind
        (Camera(mount_pitch_deg=40.0), 5.0),  # 0.7 / tan 66.86 = 0.299 m, 2.04 cells: 3 and 2
        (Camera(mount_pitch_deg=80.0), 2.0),  # straight down is in view: nothing ahead is not
        (Camera(mount_pitch_deg=0.0), 8.0),  # 1.38 m: no longer than the paper's
        (Camera(mount_pitch_deg=-40.0), 8.0),  # sky alone
    ],
)
def test_the_wedge_ends_where_the_view_begins(camera: Camera, length: float) -> None:
    half, cells = wedge_of(camera)
    assert half == pytest.approx(math.radians(43))
    assert cells == length


@settings(max_examples=40, derandomize=True)
@given(SEEDS)
def test_coverage_is_the_farthest_inside_of_view_disc_and_wedge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera = Camera(hfov_deg=float(rng.uniform(50, 100)), mount_pitch_deg=float(rng.uniform(0, 45)))
    pose = np.array([*rng.uniform(0, 4.7, 2), rng.uniform(0.4, 1.2), *rng.uniform(-0.2, 0.2, 2), rng.uniform(-4, 4)])
    found = np.zeros((32, 32), np.float32)
    add_coverage(found, pose, camera)
    half, length = wedge_of(camera)
    cells = (world_centres() - pose[:2]) / CELL_M
    ahead = cells @ [math.cos(pose[5]), math.sin(pose[5])]
    left = cells @ [-math.sin(pose[5]), math.cos(pose[5])]
    disc = 2.0 - np.hypot(ahead, left)
    point = ahead + 2.0  # from two cells behind
    wedge = np.minimum(
        length - np.hypot(point, left), point * math.sin(half) - np.abs(left) * math.cos(half)
    )  # distance to its end, and to its side
    ground = np.concatenate([world_centres(), np.ones((32, 32, 1))], axis=2)
    view = (ground @ ground_borders(pose, camera).T).min(axis=2) / CELL_M  # to the nearest border of the picture
    wanted = np.clip(np.maximum(np.maximum(disc, wedge), view) + 0.5, 0, 1)
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@settings(max_examples=30, derandomize=True)
@given(SEEDS)
def test_a_mask_is_sampled_between_the_middles_of_four_pixels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera = Camera(width=12, height=9, hfov_deg=70.0, mount_pitch_deg=25.0, near_m=0.9)
    masks = rng.random((2, 9, 12), np.float32)
    pose = np.array([*rng.uniform(0, 4.7, 2), 0.7, *rng.uniform(-0.2, 0.2, 2), rng.uniform(-4, 4)])
    found = project_masks(masks, pose, camera)
    ground = np.column_stack([world_centres().reshape(-1, 2), np.zeros(1024)])
    column, row, depth = project(ground, pose, camera).T
    for mask, out in zip(masks, found, strict=True):
        bordered = np.pad(mask, 1)
        place = np.stack([row + 0.5, column + 0.5])
        wanted = ndimage.map_coordinates(bordered, place, order=1, cval=0.0)
        wanted[depth <= 0.9] = 0.0  # nearer than anything is drawn
        np.testing.assert_allclose(out.ravel(), wanted, atol=1e-5)


def test_features_leak_cell_by_cell() -> None:
    rng = np.random.default_rng(3)
    coarse = Camera(width=16, height=9)
    seen_map, ones = FeatureMap(2, CAMERA, rate=0.3), np.ones((1, 9, 16), np.float32)
    sums, views = np.zeros((2, 32, 32)), np.zeros((32, 32))
    for yaw in (0.0, 0.4, 3.0, 0.2):
        pose = np.array([2.3, 2.0, 0.7, 0.0, 0.0, yaw])
        features = rng.normal(size=(2, 9, 16)).astype(np.float32)
        seen_map.update(features, pose)
        ground, view = project_masks(features, pose, coarse), project_masks(ones, pose, coarse)[0]
        sums = sums + 0.3 * (ground - view * sums)  # rate o (F / o - A)
        views = views + 0.3 * view * (1 - views)
    known = views > 1e-6
    assert 0 < known.sum() < 1024
    np.testing.assert_allclose(seen_map.semantic[:, known], (sums / np.maximum(views, 1e-9))[:, known], atol=1e-4)
    assert not seen_map.semantic[:, ~known].any()
