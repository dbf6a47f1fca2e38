"""Surfaces of imported objects as one mesh: placed, scaled, textured or coloured, and refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from wayword.sim.models.file_guard import UnusableError
from wayword.sim.models.surfaces import ATLAS_CELLS, TEXTURE, Surface, assemble_surfaces, combined, texture_tile

SQUARE = np.array([[2.0, 2.0, 5.0], [6.0, 2.0, 5.0], [6.0, 4.0, 5.0], [2.0, 4.0, 5.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])
RED, BLUE = (200, 10, 10), (10, 10, 200)


def colours(rgb: tuple[int, int, int], faces: int = 2) -> np.ndarray:
    return np.tile(np.array(rgb, np.uint8), (faces, 3, 1))


def tile(rgb: tuple[int, int, int]) -> np.ndarray:
    return np.tile(np.array(rgb, np.uint8), (TEXTURE, TEXTURE, 1))


def test_a_square_is_centred_put_on_the_ground_and_scaled() -> None:
    mesh = assemble_surfaces(SQUARE, FACES, colours(RED), None, None, longest_edge=1.0)
    # 4 m by 2 m, the longest edge becomes 1: half as wide, centred, and at height 0.
    np.testing.assert_allclose(mesh.vertices.min(axis=0), [-0.5, -0.25, 0.0], atol=1e-6)
    np.testing.assert_allclose(mesh.vertices.max(axis=0), [0.5, 0.25, 0.0], atol=1e-6)


def test_y_up_files_are_turned() -> None:
    tower = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    mesh = assemble_surfaces(tower, np.array([[0, 1, 2]]), colours(RED, 1), None, None, 3.0, up="y")
    assert mesh.vertices[:, 2].max() == pytest.approx(3.0)
    assert np.ptp(mesh.vertices[:, 1]) == pytest.approx(0.0)


def test_faces_without_area_are_left_out() -> None:
    faces = np.array([[0, 1, 2], [0, 0, 1], [0, 1, 1]])
    mesh = assemble_surfaces(SQUARE, faces, colours(RED, 3), None, None, 1.0)
    assert len(mesh.faces) == 1


@pytest.mark.parametrize(
    ("positions", "faces", "message"),
    [
        (SQUARE, np.zeros((0, 3), np.int64), "holds no faces"),
        (SQUARE, np.array([[0, 1, 4]]), "refer to points it does not have"),
        (SQUARE, np.array([[0, 1, -1]]), "refer to points it does not have"),
        (np.where(SQUARE == 6, np.nan, SQUARE), FACES, "not finite"),
        (SQUARE * 1e31, FACES, "not finite"),
        (np.ones((4, 3)), FACES, "has no extent"),
        (np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]]), FACES, "has no area"),
    ],
)
def test_what_cannot_be_drawn_is_said(positions: np.ndarray, faces: np.ndarray, message: str) -> None:
    with pytest.raises(UnusableError, match=message):
        assemble_surfaces(positions, faces, colours(RED, len(faces)), None, None, 1.0)


def test_points_nobody_uses_may_be_anything() -> None:
    with_stray = np.concatenate([SQUARE, [[np.nan, np.inf, 0.0]]])
    mesh = assemble_surfaces(with_stray, FACES, colours(RED), None, None, 1.0)
    assert np.isfinite(mesh.vertices).all()


def test_texture_coordinates_must_be_sensible() -> None:
    uv = np.full((2, 3, 2), 1e7)
    with pytest.raises(UnusableError, match="texture coordinates"):
        assemble_surfaces(SQUARE, FACES, None, uv, tile(RED), 1.0)


def test_plain_surfaces_keep_their_colours() -> None:
    parts = [Surface(SQUARE, FACES, colours(RED)), Surface(SQUARE + 1, FACES, colours(BLUE))]
    positions, faces, corner_colours, uv, texture = combined(parts)
    assert (len(positions), len(faces)) == (8, 4)
    assert faces[2:].min() == 4  # the second part's faces point to its own points
    assert uv is None
    assert texture is None
    assert corner_colours is not None
    np.testing.assert_array_equal(corner_colours[[0, 2], 0], [RED, BLUE])


def test_one_image_for_everything_is_the_texture() -> None:
    uv = np.array([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]])
    part = Surface(SQUARE, FACES, colours(RED), uv, tile(BLUE))
    _, _, corner_colours, joined, texture = combined([part, part])
    assert corner_colours is None
    np.testing.assert_array_equal(texture, tile(BLUE))
    assert joined is not None
    np.testing.assert_allclose(joined[:2], uv)


def test_a_few_materials_share_one_texture() -> None:
    uv = np.array([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]])
    parts = [Surface(SQUARE, FACES, colours(RED), uv, tile(RED)), Surface(SQUARE, FACES, colours(BLUE), uv, tile(BLUE))]
    _, _, _, joined, texture = combined(parts)
    assert texture is not None
    assert joined is not None
    # Two images, two cells side by side in a grid of two by two; every corner stays inside its own cell.
    assert (joined[:2, :, 0] < 0.5).all()
    assert (joined[2:, :, 0] > 0.5).all()
    for part, rgb in ((joined[:2], RED), (joined[2:], BLUE)):
        pixels = np.floor(part * TEXTURE).astype(int)
        np.testing.assert_array_equal(texture[pixels[..., 1], pixels[..., 0]].reshape(-1, 3), [rgb] * 6)


def test_too_many_materials_become_colours() -> None:
    uv = np.full((2, 3, 2), 0.5)
    parts = [Surface(SQUARE, FACES, colours(RED), uv, tile((k, 2 * k, 255 - k))) for k in range(1, ATLAS_CELLS + 2)]
    _, _, corner_colours, joined, texture = combined(parts)
    assert texture is None
    assert joined is None
    assert corner_colours is not None
    np.testing.assert_array_equal(corner_colours[::2, 0, 0], range(1, ATLAS_CELLS + 2))


def test_repeats_are_moved_to_the_origin_and_nan_is_refused() -> None:
    uv = np.array([[[7.0, -3.0], [7.5, -3.0], [7.5, -2.5]]])
    part = Surface(SQUARE, FACES[:1], colours(RED, 1), uv, tile(RED))
    joined = combined([part])[3]
    assert joined is not None
    np.testing.assert_allclose(joined[0], [[0, 0], [0.5, 0], [0.5, 0.5]], atol=1e-6)
    bad = Surface(SQUARE, FACES[:1], colours(RED, 1), np.full((1, 3, 2), np.nan), tile(RED))
    with pytest.raises(UnusableError, match="texture coordinates"):
        combined([bad])


def image(rgba: np.ndarray) -> Image.Image:
    picture = Image.fromarray(rgba)
    picture.format = "PNG"
    return picture


def test_what_is_transparent_takes_the_mean_of_the_rest() -> None:
    half = np.zeros((4, 4, 4), np.uint8)
    half[:, :2] = (*RED, 255)
    half[:, 2:] = (0, 255, 0, 0)  # green, but nobody sees it
    np.testing.assert_allclose(texture_tile(image(half)), np.broadcast_to(RED, (TEXTURE, TEXTURE, 3)), atol=1e-6)


def test_images_of_unknown_kinds_are_refused() -> None:
    picture = Image.new("RGB", (4, 4))
    picture.format = "PSD"
    with pytest.raises(UnusableError, match="too large or of an unknown kind"):
        texture_tile(picture)
