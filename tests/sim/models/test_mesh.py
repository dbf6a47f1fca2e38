from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.mesh_checks import is_closed, signed_volume
from wayword.sim.models import primitives as p
from wayword.sim.models.corners import corner_normals, mesh_of_corners
from wayword.sim.models.mesh import Solid, finish, join, smooth_normals

L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
ICOSAHEDRON = 5 / 12 * (3 + math.sqrt(5)) / math.sin(math.radians(72)) ** 3  # circumradius 1, edge 1 / sin 72

VOLUMES = {
    "box": (p.box(2, 3, 4), 24.0),
    "pyramid": (p.box(2, 3, 4, taper=0.0), 8.0),  # a third of the box
    "frustum": (p.box(2, 3, 4, taper=0.5), 14.0),  # 4 / 3 * (6 + 1.5 + sqrt(6 * 1.5))
    "square column": (p.cylinder(1.0, 2.0, sides=4), 4.0),  # a square with diagonal 2 has area 2
    "square cone": (p.cylinder(1.0, 3.0, sides=4, top=0.0), 2.0),  # 2 * 3 / 3
    "lathe": (p.lathe([(1, 0), (1, 1), (0.5, 1), (0.5, 3)], sides=4), 3.0),  # 2 * 1 + 0.5 * 2
    "icosahedron": (p.icoball(1.0, 0), ICOSAHEDRON),
    "L": (p.extrude(L_SHAPE, 0.5), 1.5),  # (4 - 1) * 0.5
    "L backwards": (p.extrude(L_SHAPE[::-1], 0.5), 1.5),
    "straight tube": (p.sweep([(0, 0, 0), (0, 0, 1), (0, 0, 3)], 1.0, sides=4), 6.0),  # area 2, length 3
    "sheet": (p.sheet([(0, 0, 0), (1, 0, 0.2), (2, 0, 0)], [0.5, 1.0, 0.1]), 0.0),
}


@pytest.mark.parametrize("name", VOLUMES)
def test_volume_worked_by_hand(name: str) -> None:
    solid, volume = VOLUMES[name]
    assert signed_volume(solid.positions, solid.faces) == pytest.approx(volume, abs=1e-9)
    assert is_closed(solid.positions, solid.faces)


@pytest.mark.parametrize(
    ("solid", "volume"),
    [
        (p.ball(1.0, 48, 32), 4 / 3 * math.pi),
        (p.icoball(1.0, 4), 4 / 3 * math.pi),
        (p.cylinder(1.0, 1.0, 64), math.pi),
        (p.torus(2.0, 0.5, 64, 32), 2 * math.pi**2 * 2.0 * 0.25),  # 2 pi^2 R r^2
    ],
)
def test_fine_round_shapes_approach_the_true_volume_from_below(solid: Solid, volume: float) -> None:
    assert is_closed(solid.positions, solid.faces)
    assert 0.98 * volume < signed_volume(solid.positions, solid.faces) < volume


@given(st.integers(3, 12), st.floats(0.3, 0.9), st.integers(0, 1000))
def test_stars_and_blobs_are_closed_and_outward(points: int, dent: float, seed: int) -> None:
    outline = p.arc(1.0, 0, 360 - 180 / points, 2 * points) * np.tile([[1.0], [dent]], (points, 1))
    # The shoelace area of a star: 2n triangles with sides 1, dent and angle 180/n between them.
    area = points * dent * math.sin(math.pi / points)
    star = p.extrude(outline, 0.5)
    assert signed_volume(star.positions, star.faces) == pytest.approx(area / 2)
    for solid in (star, p.blob(0.5, seed, subdivisions=1)):
        assert is_closed(solid.positions, solid.faces)
        assert signed_volume(solid.positions, solid.faces) > 0


def test_a_bent_tube_is_closed_and_outward() -> None:
    arch = np.column_stack([p.arc(1.0, 0, 180, 12), np.zeros(12)])[:, [0, 2, 1]]
    tube = p.sweep(arch, np.linspace(0.1, 0.2, 12), 6)
    assert is_closed(tube.positions, tube.faces)
    assert signed_volume(tube.positions, tube.faces) > 0


def test_moves_keep_the_volume_and_mirrors_keep_faces_outward() -> None:
    wedge = p.box(1, 2, 3, taper=0.5)
    volume = signed_volume(wedge.positions, wedge.faces)
    for moved in (wedge.move(5, -2, 1), wedge.turn("x", 33).turn("z", -100), wedge.scale(-1, 1, 1), wedge.scale(-1)):
        assert signed_volume(moved.positions, moved.faces) == pytest.approx(volume)
    assert signed_volume(wedge.scale(2).positions, wedge.faces) == pytest.approx(8 * volume)


def test_turn_is_right_handed() -> None:
    # A quarter turn about z takes x to y, about x takes y to z, about y takes z to x.
    for axis, before, after in (("z", (1, 0, 0), (0, 1, 0)), ("x", (0, 1, 0), (0, 0, 1)), ("y", (0, 0, 1), (1, 0, 0))):
        turned = Solid.of([before], np.zeros((0, 3))).turn(axis, 90)
        np.testing.assert_allclose(turned.positions[0], after, atol=1e-12)


def test_a_cube_stays_faceted_and_a_ball_becomes_round() -> None:
    cube, ball = p.box(1, 1, 1), p.ball(1.0, 24, 16)
    corners = smooth_normals(cube.positions, cube.faces, cube.crease_deg)
    np.testing.assert_allclose(corners, np.repeat(cube.face_normals()[:, None], 3, axis=1), atol=1e-12)
    radial = ball.positions[ball.faces]
    smooth = smooth_normals(ball.positions, ball.faces, ball.crease_deg)
    assert (smooth * radial).sum(axis=-1).min() > 0.99
    faceted = smooth_normals(ball.positions, ball.faces, 0.0)
    assert (faceted * radial).sum(axis=-1).min() < 0.99


def test_two_faces_that_meet_within_the_crease_angle_share_the_mean_normal() -> None:
    # A roof of two equal squares, each sloped 20 degrees: on the ridge the mean points straight up.
    c, s = math.cos(math.radians(20)), math.sin(math.radians(20))
    points = np.array([(-c, 0, -s), (0, 0, 0), (0, 1, 0), (-c, 1, -s), (c, 0, -s), (c, 1, -s)])
    faces = np.array([(0, 1, 2), (0, 2, 3), (1, 4, 5), (1, 5, 2)])
    smooth, hard = smooth_normals(points, faces, 45.0), smooth_normals(points, faces, 30.0)
    # Corner 2 of face 0 is the ridge's far end: one triangle on the right, two on the left, all of area 1/2.
    left, right = np.array([-s, 0, c]), np.array([s, 0, c])
    expected = (2 * left + right) / np.linalg.norm(2 * left + right)
    np.testing.assert_allclose(smooth[0, 2], expected, atol=1e-12)
    np.testing.assert_allclose(hard[0, 2], left, atol=1e-12)


def test_finish_centres_grounds_and_scales() -> None:
    mesh = finish(join(p.box(2, 1, 1).move(10, 20, 30)), longest_edge=0.5)
    np.testing.assert_allclose(mesh.vertices.min(axis=0), [-0.25, -0.125, 0.0], atol=1e-6)
    np.testing.assert_allclose(mesh.vertices.max(axis=0), [0.25, 0.125, 0.25], atol=1e-6)
    assert mesh.longest_edge == pytest.approx(0.5)
    assert mesh.column_radius == pytest.approx(math.sqrt(0.5 * 0.25 / math.pi))  # a disc of the same ground area
    assert mesh.scaled(2.0).longest_edge == pytest.approx(1.0)
    assert len(mesh.vertices) == 24  # three normals at each of eight corners
    unscaled = finish([p.box(2, 1, 1)])
    assert unscaled.longest_edge == pytest.approx(2.0)


def test_finish_drops_faces_without_area() -> None:
    assert len(finish([p.box(1, 1, 1, taper=0.0)]).faces) == 6  # a pyramid: two below, one per side


def test_paint_all_or_where() -> None:
    red, blue = (200, 0, 0), (0, 0, 200)
    cube = p.box(1, 1, 1).paint(red).paint(blue, lambda c, n: n[:, 2] > 0.9)
    assert (cube.colors == blue).all(axis=1).sum() == 2
    assert (cube.colors == red).all(axis=1).sum() == 10
    top = p.box(1, 1, 2).paint(blue, lambda c, n: c[:, 2] > 1.9)
    assert (top.colors == blue).all(axis=1).sum() == 2
    mesh = finish([p.ball(1.0).paint(red).paint(blue, lambda c, n: c[:, 2] > 0)])
    assert {tuple(color) for color in mesh.colors} == {red, blue}  # no corner mixes the two


def test_speckle_is_bounded_and_repeatable() -> None:
    grey = p.ball(1.0, color=(100, 100, 100))
    once, again = grey.speckle(0.2, 3), grey.speckle(0.2, 3)
    assert np.array_equal(once.colors, again.colors)
    assert once.colors.min() >= 80
    assert once.colors.max() <= 120
    assert len(np.unique(once.colors)) > 5


def test_copies() -> None:
    legs = p.around(p.box(0.1, 0.1, 1).move(1), 4, start_deg=45)
    middles = np.array([leg.positions.mean(axis=0) for leg in legs])
    np.testing.assert_allclose(middles.mean(axis=0), [0, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(np.abs(middles[:, :2]), math.sqrt(0.5), atol=1e-12)
    assert [solid.positions[:, 0].mean() for solid in p.row(p.box(1, 1, 1), [(0, 0, 0), (3, 0, 0)])] == [0.0, 3.0]


def test_corners_are_shared_unless_something_differs() -> None:
    cube = p.box(1, 1, 1)
    normals = corner_normals(cube.positions, cube.faces, cube.crease_deg)
    plain = mesh_of_corners(cube.positions, cube.faces, normals)
    assert (len(plain.vertices), len(plain.faces)) == (24, 12)
    uv = np.zeros((12, 3, 2))
    uv[0] = [[0, 0], [1, 0], [1, 1]]  # two corners of one face differ from its neighbour: two more vertices
    texture = np.zeros((128, 128, 3), np.uint8)
    painted = mesh_of_corners(cube.positions, cube.faces, normals, uv=uv, texture=texture)
    assert len(painted.vertices) in (25, 26)
    assert signed_volume(painted.vertices, painted.faces) == pytest.approx(1.0)


def test_thousands_of_faces_about_one_point_do_not_fill_the_memory() -> None:
    fan = p.cylinder(1.0, 1.0, sides=4000, top=0.0)
    normals = corner_normals(fan.positions, fan.faces, 40.0)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=-1), 1.0)
