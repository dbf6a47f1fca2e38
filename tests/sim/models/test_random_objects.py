from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.mesh_checks import is_closed, signed_volume
from wayword.errors import WaywordError
from wayword.sim.models.mesh import Mesh
from wayword.sim.models.primitives import cylinder
from wayword.sim.models.procedural_textures import FAMILIES, color_distance, palette, procedural_texture
from wayword.sim.models.random_objects import random_object, random_objects
from wayword.sim.models.random_shapes import SHAPES, fitted, random_part
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import Renderer


@dataclass(frozen=True)
class Put:
    name: str
    x: float = 2.35
    y: float = 2.35
    yaw: float = 0.3


@pytest.fixture(scope="module")
def hundred() -> dict[str, Mesh]:
    return random_objects(3, 100)


def is_one_color(mesh: Mesh) -> bool:
    return mesh.texture is None and len(np.unique(mesh.colors, axis=0)) == 1


def same_bytes(a: Mesh, b: Mesh) -> bool:
    fields = ("vertices", "faces", "normals", "colors", "uv", "texture")
    pairs = [(getattr(a, field), getattr(b, field)) for field in fields]
    return all(x is y is None or x.tobytes() == y.tobytes() for x, y in pairs)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**63))
def test_every_seed_gives_a_sound_object(seed: int) -> None:
    mesh = random_object(seed)
    extent = np.ptp(mesh.vertices, axis=0)
    assert extent.max() == pytest.approx(1.0, abs=1e-5)
    assert extent.max() / extent.min() < 5.0
    assert mesh.vertices[:, 2].min() == pytest.approx(0.0, abs=1e-6)
    assert 6 <= len(mesh.faces) <= 1000  # a pyramid has six
    assert np.isfinite(mesh.vertices).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-3)
    assert not mesh.two_sided
    assert is_closed(mesh.vertices, mesh.faces, digits=5)
    assert signed_volume(mesh.vertices, mesh.faces) > 0.002
    assert (mesh.uv is None) == (mesh.texture is None)
    if mesh.uv is not None and mesh.texture is not None:
        assert mesh.texture.shape == (128, 128, 3)
        assert mesh.uv.min() > -1e-4
        assert mesh.uv.max() < 2.0


def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_object() -> None:
    for seed in range(10):
        assert same_bytes(random_object(seed), random_object(seed))
        assert not same_bytes(random_object(seed), random_object(seed + 1))


def test_a_larger_count_continues_a_smaller_one_and_seeds_do_not_overlap() -> None:
    few, more, other = random_objects(5, 2), random_objects(5, 4), random_objects(6, 4)
    assert list(more) == [f"random object {i}" for i in range(4)]
    assert all(same_bytes(few[name], more[name]) for name in few)
    assert not any(same_bytes(a, b) for a in more.values() for b in other.values())


def test_three_in_ten_have_one_colour_and_most_others_a_texture(hundred: dict[str, Mesh]) -> None:
    flat = sum(is_one_color(mesh) for mesh in hundred.values())
    textured = sum(mesh.texture is not None for mesh in hundred.values())
    assert 18 <= flat <= 42  # 30 of 100, give or take 2.6 standard deviations of 4.6
    assert 30 <= textured <= 60


def test_objects_are_varied(hundred: dict[str, Mesh]) -> None:
    shapes = {tuple(np.round(np.ptp(mesh.vertices, axis=0), 2)) for mesh in hundred.values()}
    assert len(shapes) > 90
    assert len({len(mesh.faces) for mesh in hundred.values()}) > 50


def test_every_object_covers_a_fair_part_of_its_picture(hundred: dict[str, Mesh]) -> None:
    # At 0.4 m and 1.5 m away an object is about 0.4 * 71 / 1.65 = 17 pixels long; a fifth of that squared is 58.
    renderer = Renderer(MeshBank({name: mesh.scaled(0.4) for name, mesh in hundred.items()}))
    scenes = [renderer.scene([Put(name)]) for name in hundred]
    frames = renderer.render(scenes, [[2.35, 0.85, 0.7, 0, 0, np.pi / 2]] * len(scenes))
    assert np.sort((frames.ids > 0).sum(axis=(1, 2)))[0] >= 30


def test_one_takes_milliseconds() -> None:
    start = time.process_time()
    for seed in range(50):
        random_object(seed)
    assert (time.process_time() - start) / 50 < 0.04  # 7 ms on a free core


def test_negative_seeds_are_user_errors() -> None:
    for call in (lambda: random_object(-1), lambda: random_objects(-1, 3), lambda: random_objects(1, -3)):
        with pytest.raises(WaywordError, match="negative"):
            call()
    assert random_objects(1, 0) == {}


@pytest.mark.parametrize("kind", SHAPES)
def test_shapes_have_the_size_asked_for_and_are_solid(kind: str, rng: np.random.Generator) -> None:
    for fine in (False, True):
        for _ in range(8):
            part = random_part(rng, (kind,), (0.5, 0.7, 0.9), fine=fine)
            np.testing.assert_allclose(part.size, (0.5, 0.7, 0.9), atol=1e-9)
            assert part.solid.positions[:, 2].min() == pytest.approx(0.0, abs=1e-9)
            assert len(part.solid.faces) <= 400
            assert part.uv.shape == (len(part.solid.faces), 3, 2)
            for solid in (part.solid, part.mirror().solid):
                assert is_closed(solid.positions, solid.faces)
                assert signed_volume(solid.positions, solid.faces) > 0


def test_reach_is_the_half_width_at_a_height() -> None:
    # A cone of base radius 1 and height 2 is 0.75 wide to each side at a quarter of its height.
    cone = fitted(cylinder(1.0, 2.0, 16, top=0.0), (2.0, 2.0, 2.0), True)
    assert cone.reach(0.5) == pytest.approx(0.75)
    assert cone.reach(9.0) == pytest.approx(1.0)  # above the top: the widest


def test_a_texture_wraps_once_around_without_a_jump() -> None:
    part = fitted(cylinder(1.0, 2.0, 8), (2.0, 2.0, 2.0), True)
    side = np.abs(part.solid.face_normals()[:, 2]) < 0.5
    spans = np.ptp(part.uv[side][..., 0], axis=1)
    np.testing.assert_allclose(spans, 1 / 8, atol=1e-9)
    rows = part.solid.positions[part.solid.faces[side]][..., 2]
    np.testing.assert_allclose(part.uv[side][..., 1], 1 - rows / 2, atol=1e-9)  # v grows downwards


@pytest.mark.parametrize("family", FAMILIES)
def test_textures_are_images_that_depend_on_the_seed_alone(family: str) -> None:
    colors = [(200, 30, 30), (30, 30, 200), (240, 240, 240)]
    a, b = (procedural_texture(np.random.default_rng(4), family, colors, 64) for _ in range(2))
    assert a.shape == (64, 64, 3)
    assert a.dtype == np.uint8
    assert np.array_equal(a, b)
    assert (len(np.unique(a.reshape(-1, 3), axis=0)) == 1) == (family == "flat")


def test_palettes_keep_their_colours_apart(rng: np.random.Generator) -> None:
    nearest = []
    for _ in range(50):
        colors = palette(rng, 3)
        nearest += [color_distance(colors[0], colors[1]), color_distance(colors[1], colors[2])]
    assert np.median(nearest) > 150
    assert color_distance((0, 0, 0), (100, 0, 0)) == pytest.approx(90.0)
