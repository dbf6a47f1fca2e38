"""Textures made here: they tile, they keep their colours, and the same seed makes the same bytes."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.sim.models.procedural_textures import (
    FAMILIES,
    color_distance,
    palette,
    procedural_texture,
    random_color,
    smooth_noise,
)
from wayword.sim.render.lab_textures import LAB_GROUNDS, LAB_SURROUNDS
from wayword.sim.render.shading import TILE, WALL_HEIGHT, WALL_WIDTH
from wayword.sim.render.surroundings import GROUNDS, SURROUNDS, noise, tint

COLOURS = [(200, 40, 40), (40, 40, 200), (230, 230, 230)]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def seam(image: np.ndarray, axis: int) -> float:
    """How much larger the step across the edge is than the largest usual step between neighbouring lines."""
    values = image.astype(np.float64)
    steps = np.abs(np.diff(values, axis=axis)).mean(axis=tuple(k for k in range(values.ndim) if k != axis))
    first, last = np.take(values, 0, axis), np.take(values, -1, axis)
    return float(np.abs(first - last).mean() / max(steps.max(), 1e-9))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_an_image_of_its_size(family: str) -> None:
    for size in (32, 128):
        image = procedural_texture(rng(), family, COLOURS, size)
        assert image.shape == (size, size, 3)
        assert image.dtype == np.uint8
    np.testing.assert_array_equal(
        procedural_texture(rng(4), family, COLOURS), procedural_texture(rng(4), family, COLOURS)
    )


@pytest.mark.parametrize("family", ["flat", "stripes", "checks", "dots", "patches"])
def test_plain_families_have_no_other_colours(family: str) -> None:
    for seed in range(5):
        image = procedural_texture(rng(seed), family, COLOURS)
        assert {tuple(colour) for colour in image.reshape(-1, 3).tolist()} <= set(COLOURS)


@pytest.mark.parametrize("family", ["stripes", "noise", "marble", "patches"])
def test_textures_wrap_round_a_body_without_a_seam(family: str) -> None:
    for seed in range(4):
        image = procedural_texture(rng(seed), family, COLOURS[:2])
        assert seam(image, 1) <= 1.3, seed  # a cut through the middle of a pattern is several times that
        assert seam(image, 0) <= 1.3, seed


def test_noise_fills_its_range_and_is_smooth() -> None:
    field = smooth_noise(rng(), 64, 4)
    assert field.min() == 0.0
    assert field.max() == 1.0
    assert np.abs(np.diff(field, axis=1)).max() < 0.35
    assert seam(field, 0) <= 1.01
    # More octaves make it rougher.
    rough = smooth_noise(rng(), 64, 4, octaves=4)
    plain = smooth_noise(rng(), 64, 4, octaves=1)
    assert np.abs(np.diff(rough)).mean() > np.abs(np.diff(plain)).mean()


def test_colours_of_a_palette_can_be_told_apart() -> None:
    for seed in range(30):
        colours = palette(rng(seed), 4)
        assert len(colours) == 4
        assert all(0 <= value <= 255 for colour in colours for value in colour)
    nearest = [
        min(color_distance(a, b) for k, a in enumerate(c) for b in c[:k])
        for c in (palette(rng(s), 4) for s in range(200))
    ]
    at_random = [
        min(color_distance(a, b) for k, a in enumerate(c) for b in c[:k])
        for c in ([random_color(generator) for _ in range(4)] for generator in map(rng, range(200)))
    ]
    assert np.median(nearest) > 1.3 * np.median(at_random)


def test_green_counts_most() -> None:
    black = (0, 0, 0)
    red, green, blue = (color_distance(black, colour) for colour in ((10, 0, 0), (0, 10, 0), (0, 0, 10)))
    assert green > red > blue > 0
    assert color_distance((1, 2, 3), (1, 2, 3)) == 0


@pytest.mark.parametrize("make", [*GROUNDS.values(), *LAB_GROUNDS.values()], ids=lambda make: make.__name__)
def test_grounds_repeat_and_are_the_same_every_time(make) -> None:  # type: ignore[no-untyped-def]
    ground = make()
    assert ground.shape == (TILE, TILE, 3)
    assert ground.dtype == np.uint8
    np.testing.assert_array_equal(ground, make())
    assert seam(ground, 0) < 3
    assert seam(ground, 1) < 3
    assert 30 < ground.mean() < 225  # neither night nor snow: objects must stand out in both directions


@pytest.mark.parametrize("make", [*SURROUNDS.values(), *LAB_SURROUNDS.values()], ids=lambda make: make.__name__)
def test_surrounds_go_once_around(make) -> None:  # type: ignore[no-untyped-def]
    band = make()
    assert band.shape == (WALL_HEIGHT, WALL_WIDTH, 3)
    assert band.dtype == np.uint8
    np.testing.assert_array_equal(band, make())


def test_smooth_noise_of_the_ground_wraps_and_is_bounded() -> None:
    field = noise((64, 96), 8.0, rng())
    assert field.shape == (64, 96)
    assert np.abs(field).max() <= 1.0
    assert seam(field, 0) <= 1.5
    assert abs(field.mean()) < 0.2


def test_a_tint_is_the_colour_brighter_and_darker() -> None:
    field = np.array([[1.0, 0.0, -1.0]])
    np.testing.assert_allclose(tint((100, 50, 10), (field, 0.2))[0], [[120, 60, 12], [100, 50, 10], [80, 40, 8]])
    both = tint((100, 100, 100), (field, 0.2), (field, 0.1))
    np.testing.assert_allclose(both[0, :, 0], [130, 100, 70])
