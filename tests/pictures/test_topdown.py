"""The map: things are where they should be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from PIL import Image

from wayword.camera import project
from wayword.errors import WaywordError
from wayword.pictures.colours import FLIGHT
from wayword.pictures.topdown import TopDown
from wayword.sim.models.mesh import finish
from wayword.sim.models.primitives import box, cylinder
from wayword.sim.render.bank import MeshBank


@dataclass(frozen=True)
class At:
    name: str
    x: float
    y: float
    yaw: float = 0.0


BANK = MeshBank({"crate": finish([box(0.4, 0.2, 0.1)]), "drum": finish([cylinder(0.2, 0.1)])})
MAP = TopDown(BANK, size_px=552)
PATH = np.column_stack([np.linspace(1.0, 3.5, 40), 2 + np.sin(np.linspace(0, 3, 40))])


def changed(before: Image.Image, after: Image.Image) -> np.ndarray:
    """Mean column and row (N, 2) -> (2,) of the pixels that differ, and their number."""
    rows, columns = np.nonzero((np.asarray(before) != np.asarray(after)).any(axis=-1))
    return np.array([columns.mean() + 0.5, rows.mean() + 0.5, len(rows)])


def test_x_is_right_and_y_is_up() -> None:
    # 552 pixels for 4.7 m and two margins of 0.2 m: the arena begins 0.2 * 552 / 5.1 = 21.65 pixels from the rim.
    low, high = MAP.to_pixels([[0.0, 0.0], [4.7, 4.7]])
    np.testing.assert_allclose([*low, *high], [21.647, 530.353, 530.353, 21.647], atol=1e-3)
    points = np.random.default_rng(0).uniform(0, 4.7, (20, 2))
    expected = project(np.column_stack([points, np.zeros(20)]), MAP.pose, MAP.renderer.camera)[:, :2]
    np.testing.assert_allclose(MAP.to_pixels(points), expected, atol=1e-6)


def test_objects_are_drawn_where_they_stand() -> None:
    objects = [At("drum", 1.0, 3.5), At("crate", 3.7, 0.9, 1.0)]
    ids = MAP._render(objects)[1]
    for i, item in enumerate(objects):
        rows, columns = np.nonzero(ids == i + 1)
        expected = MAP.to_pixels([[item.x, item.y]])[0]
        np.testing.assert_allclose([columns.mean() + 0.5, rows.mean() + 0.5], expected, atol=1.5)
    assert (ids == 1).sum() == pytest.approx(math.pi * (0.2 * MAP.px_per_m) ** 2, rel=0.06)
    assert MAP.picture(objects).size == (552, 552)


def test_marks_are_drawn_at_their_points() -> None:
    before = MAP.picture([])
    point = np.array([1.3, 3.1])
    for draw, reach in ((MAP.draw_start, 0.1), (MAP.draw_goal, 0.49)):
        after = before.copy()
        draw(after, point)
        x, y, count = changed(before, after)
        np.testing.assert_allclose([x, y], MAP.to_pixels(point)[0], atol=0.6)
        assert count < math.pi * (reach * MAP.px_per_m) ** 2
    after = before.copy()
    MAP.draw_drone(after, [1.3, 3.1, 0.7, 0, 0, math.pi / 2])
    x, y, _ = changed(before, after)
    assert x == pytest.approx(MAP.to_pixels(point)[0, 0], abs=0.6)
    assert y < MAP.to_pixels(point)[0, 1] - 20  # it faces +y, so its view lies above it on the picture


def test_paths_follow_their_points_and_leave_the_map_quietly() -> None:
    image = MAP.picture([])
    MAP.draw_path(image, PATH)
    pixels = np.asarray(image)
    for column, row in MAP.to_pixels(PATH).astype(int):
        assert tuple(pixels[row, column]) == FLIGHT
    MAP.draw_path(image, PATH + 100)
    MAP.draw_path(image, PATH[:1])
    MAP.draw_drone(image, [-9.0, 9.0, 0.0])


def test_bad_maps_are_refused() -> None:
    with pytest.raises(WaywordError):
        TopDown(BANK, arena_m=-1.0)
    with pytest.raises(WaywordError):
        TopDown(BANK, arena_m=float("nan"))


def test_names_are_drawn_beside_their_objects() -> None:
    before = MAP.picture([At("drum", 2.0, 2.0)])
    after = before.copy()
    MAP.draw_names(after, [At("drum", 2.0, 2.0)])
    x, y, count = changed(before, after)
    assert count > 100
    assert np.hypot(*(np.array([x, y]) - MAP.to_pixels([[2.0, 2.0]])[0])) < 60
