"""The renderer against geometry worked out by hand: depth, coverage, texture, ids, light, and byte equality."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wayword.camera import Camera, camera_axes, project
from wayword.errors import WaywordError
from wayword.sim.models.mesh import Mesh, finish
from wayword.sim.models.primitives import ball, box, cylinder, icoball
from wayword.sim.render.bank import TEXTURE_SIZE, MeshBank, mip_pyramid
from wayword.sim.render.look import Light, Look
from wayword.sim.render.rasteriser import fill_triangle
from wayword.sim.render.renderer import Frames, RenderConfig, Renderer
from wayword.sim.render.shading import sample
from wayword.sim.render.surroundings import SURROUNDS

Array = NDArray[np.float64]
NORTH = math.pi / 2  # yaw that looks along +y
FLAT_LIGHT = Light(ambient=1.0, diffuse=0.0, tint=(1.0, 1.0, 1.0), shadows=0.0)


@dataclass(frozen=True)
class At:
    name: str
    x: float
    y: float
    yaw: float = 0.0


def quad(corners: Any, two_sided: bool = False, texture: NDArray[np.uint8] | None = None) -> Mesh:
    """Two triangles; normals point up so that flat light shows the surface at its own colour."""
    return Mesh(
        vertices=np.array(corners, dtype=np.float32),
        faces=np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32),
        normals=np.tile(np.array([0, 0, 1], dtype=np.float32), (4, 1)),
        colors=np.full((4, 3), 200, dtype=np.uint8),
        uv=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32),
        texture=texture,
        two_sided=two_sided,
    )


def upright(y: float = 0.0) -> list[list[float]]:
    """A square of side 1 in the plane y = 0 whose front is -y: counter-clockwise seen from there."""
    return [[-0.5, y, 0.2], [0.5, y, 0.2], [0.5, y, 1.2], [-0.5, y, 1.2]]


def ramps() -> NDArray[np.uint8]:
    """Red rises with u, green with v, blue is a checker of 4 x 4."""
    v, u = np.mgrid[0:TEXTURE_SIZE, 0:TEXTURE_SIZE]
    checker = ((u // 32 + v // 32) % 2) * 255
    return np.stack([u * 2, v * 2, checker], axis=-1).astype(np.uint8)


BANK = MeshBank({
    "ball": finish([icoball(0.5, 5)]),
    "globe": finish([ball(0.2, 16, 10)]),
    "cube": finish([box(0.4, 0.4, 0.4)]),
    "pillar": finish([cylinder(0.15, 0.7)]),
    "fluted": finish([cylinder(0.2, 0.7, sides=200)]),
    "wall": finish([box(8.0, 1.0, 3.0)]),
    "slab": finish([box(4.0, 4.0, 0.6)]),
    "pea": finish([icoball(0.04, 2)]),
    "front": quad(upright()),
    "back": quad(upright()[::-1]),
    "sheet": quad(upright()[::-1], two_sided=True),
    "slanted": quad([[-0.6, -0.5, 0.15], [0.6, -0.5, 0.15], [0.6, 0.9, 0.75], [-0.6, 0.9, 0.75]],
                    texture=ramps()),
})  # fmt: skip
CONVEX = ("ball", "globe", "cube", "pillar", "pea")
PLAIN, SMOOTH = Renderer(BANK), Renderer(BANK, config=RenderConfig(supersample=True))
EMPTY = PLAIN.scene([])


def draw(objects: list[At], pose: Any, renderer: Renderer = PLAIN, look: Look | None = None) -> Frames:
    """One frame, without the batch axis."""
    return Frames(*(part[0] for part in renderer.render([renderer.scene(objects, look)], [pose])))


def rays(pose: Any, camera: Camera) -> Array:
    """World directions (H, W, 3) through the pixel centres, of depth 1 along the optical axis."""
    rows, columns = np.mgrid[0 : camera.height, 0 : camera.width] + 0.5
    right, down = columns - camera.width / 2, rows - camera.height / 2
    local = np.stack([right, down, np.full(rows.shape, camera.focal_px)], axis=-1) / camera.focal_px
    return local @ camera_axes(pose, camera.mount_pitch_deg)


# Depth


@pytest.mark.parametrize("renderer", [PLAIN, SMOOTH])
def test_depth_of_ground_and_walls(renderer: Renderer) -> None:
    # A ray e + t d meets z = 0 at t = -e_z / d_z; the room's walls are 3 m outside the arena: x, y = -3 and 7.7.
    pose = [2.0, 0.4, 0.7, 0.05, -0.1, NORTH + 0.3]
    d = rays(pose, renderer.camera)
    with np.errstate(divide="ignore"):
        ground = np.where(d[..., 2] < 0, -0.7 / d[..., 2], np.inf)
        x = np.where(d[..., 0] > 0, (7.7 - 2.0) / d[..., 0], (-3.0 - 2.0) / d[..., 0])
        y = np.where(d[..., 1] > 0, (7.7 - 0.4) / d[..., 1], (-3.0 - 0.4) / d[..., 1])
    frame = draw([], pose, renderer)
    assert (frame.ids == 0).all()
    assert (ground < 7).sum() > 1000
    assert (ground > 20).sum() > 500
    np.testing.assert_allclose(frame.depth, np.minimum(ground, np.minimum(x, y)), rtol=2e-4)


@pytest.mark.parametrize("renderer", [PLAIN, SMOOTH])
def test_depth_of_a_plane_five_metres_away(renderer: Renderer) -> None:
    # The box is 1 m deep about y = 5.5, so its face is the plane y = 5, met at t = (5 - e_y) / d_y.
    pose = [2.3, 0.0, 0.7, 0.03, -0.12, NORTH + 0.1]
    frame = draw([At("wall", 2.3, 5.5)], pose, renderer)
    expected = 5.0 / rays(pose, renderer.camera)[..., 1]
    seen = frame.ids == 1
    assert seen.sum() > 2000
    np.testing.assert_allclose(frame.depth[seen], expected[seen], atol=0.003)


def test_depth_of_a_sphere_five_metres_away() -> None:
    # |e + t d - c| = r: with o = e - c, a = d.d, b = o.d the near root is (-b - sqrt(b^2 - a (o.o - r^2))) / a.
    # The ball stands on the ground, so c_z = r = 0.5; 5 subdivisions keep its facets within 0.1 mm of the sphere.
    pose = [2.0, -0.5, 0.9, 0.0, -0.2, NORTH]
    camera = Camera(hfov_deg=30)
    frame = draw([At("ball", 2.1, 4.5)], pose, Renderer(BANK, camera))
    d = rays(pose, camera)
    o = np.array(pose[:3]) - np.array([2.1, 4.5, 0.5])
    a, b = (d * d).sum(axis=-1), d @ o
    root = b * b - a * (o @ o - 0.25)
    inner = root > 0.05 * a  # away from the rim, where a hair's breadth sideways is centimetres in depth
    expected = (-b - np.sqrt(np.maximum(root, 0))) / a
    assert inner.sum() > 500
    assert (frame.ids[inner] == 1).all()
    assert (frame.ids[root < -0.02 * a] == 0).all()
    np.testing.assert_allclose(frame.depth[inner], expected[inner], atol=0.001)


# Where things are on the image


@pytest.mark.parametrize("pose", [[2.3, 0.3, 0.7, 0, 0, NORTH], [4.2, 3.9, 0.9, 0.2, 0.1, 3.6]])
def test_pixels_are_where_project_says(pose: list[float]) -> None:
    renderer = Renderer(BANK, Camera(512, 288))
    ahead = np.array([math.cos(pose[5]), math.sin(pose[5])])
    side = np.array([-ahead[1], ahead[0]])
    places = [np.array(pose[:2]) + ahead * far + side * left for far, left in ((1.5, 0.4), (2.0, -0.7), (3, 0))]
    frame = draw([At("pea", *map(float, place)) for place in places], pose, renderer)
    for i, place in enumerate(places):
        ((column, row, depth),) = project([[*place, 0.04]], pose, renderer.camera)
        rows, columns = np.nonzero(frame.ids == i + 1)
        assert len(rows) > 20
        assert columns.mean() + 0.5 == pytest.approx(column, abs=0.3)
        assert rows.mean() + 0.5 == pytest.approx(row, abs=0.3)
        assert frame.depth[rows, columns].mean() == pytest.approx(depth, abs=0.04)


def triangle_pixels(corners: Array, size: int) -> Any:
    nearness, owner = np.zeros((size, size), np.float32), np.zeros((size, size), np.uint8)
    flat = [np.float32(v) for x, y in corners for v in (x, y, 1.0)]
    fill_triangle(*flat, False, 0, 0, nearness, owner, np.zeros((size, size), np.int32))
    return owner == 1


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_quad_of_two_triangles_covers_each_pixel_once(seed: int) -> None:
    # A convex quad: corners on an ellipse. A pixel belongs to it if its centre is on the inner side of all edges.
    rng = np.random.default_rng(seed)
    size = 48
    angles = np.sort(rng.uniform(0, 2 * math.pi, 4))
    shape = rng.uniform(1, 40, 2)
    corners = np.column_stack([np.cos(angles), np.sin(angles)]) * shape + rng.uniform(10, 38, 2)
    first, second = triangle_pixels(corners[[0, 1, 2]], size), triangle_pixels(corners[[0, 2, 3]], size)
    rows, columns = np.mgrid[0:size, 0:size] + 0.5
    points = np.stack([columns, rows], axis=-1)

    def beside(a: Array, b: Array) -> Any:
        edge = (b - a) / max(float(np.hypot(*(b - a))), 1e-9)
        return (points[..., 0] - a[0]) * -edge[1] + (points[..., 1] - a[1]) * edge[0]

    inner = np.min([beside(corners[i], corners[(i + 1) % 4]) for i in range(4)], axis=0)
    tolerance = 2e-3  # of a pixel
    assert (first | second)[inner > tolerance].all(), "a hole"
    assert not (first | second)[inner < -tolerance].any(), "drawn outside"
    diagonal = np.abs(beside(corners[0], corners[2]))
    assert not (first & second)[diagonal > tolerance].any(), "drawn twice"


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(CONVEX),
    far=st.floats(0.45, 6.0),
    yaw=st.floats(-3.2, 3.2),
    roll=st.floats(-0.5, 0.5),
    smooth=st.booleans(),
)
def test_silhouettes_of_convex_objects_have_no_holes(
    name: str, far: float, yaw: float, roll: float, smooth: bool
) -> None:
    renderer = SMOOTH if smooth else PLAIN
    pose = [2.0, 0.0, 0.7, roll, math.atan2(0.4, far) - math.radians(15), NORTH]
    seen = draw([At(name, 2.0, far, yaw)], pose, renderer).ids == 1
    for lines in (seen, seen.T):
        for line in lines:
            inside = np.flatnonzero(line)
            assert len(inside) == 0 or inside[-1] - inside[0] + 1 == len(inside)


def test_slivers_seen_from_close_by_have_no_holes() -> None:
    # Two hundred sides make triangles a fraction of a pixel wide whose upper corners are far outside the image.
    renderer = Renderer(BANK, Camera(1024, 576))
    for yaw in np.linspace(0, 0.06, 12):
        seen = draw([At("fluted", 2.0, 0.455, float(yaw))], [2.0, 0, 0.7, -0.08, 0.66, 1.21], renderer).ids == 1
        assert seen.sum() > 10000
        for line in seen:
            inside = np.flatnonzero(line)
            assert len(inside) == 0 or inside[-1] - inside[0] + 1 == len(inside)


def test_back_faces() -> None:
    pose = [2.0, 0.0, 0.7, 0.0, -math.radians(15), NORTH]
    counts = {name: int((draw([At(name, 2.0, 2.0)], pose).ids == 1).sum()) for name in ("front", "back", "sheet")}
    # One metre at two metres: f / 2 = 35.54 pixels on each side.
    assert counts["front"] == pytest.approx((PLAIN.camera.focal_px / 2) ** 2, rel=0.05)
    assert counts["back"] == 0
    assert counts["sheet"] == counts["front"]


# The near plane


def test_a_wall_right_before_the_camera_fills_the_image() -> None:
    pose = [2.0, 1.93, 0.7, 0.0, -math.radians(15), NORTH]  # 7 cm before the face y = 2; the near plane is at 5
    frame = draw([At("wall", 2.0, 2.5)], pose)
    assert (frame.ids == 1).all()
    np.testing.assert_allclose(frame.depth, 0.07, atol=1e-4)


@pytest.mark.parametrize("renderer", [PLAIN, SMOOTH])
def test_faces_that_reach_behind_the_camera_are_cut(renderer: Renderer) -> None:
    # The slab's top z = 0.6 lies 10 cm below the camera and reaches 2 m behind it.
    pose = [2.0, 2.0, 0.7, 0.1, 0.2, NORTH + 0.5]
    d = rays(pose, renderer.camera)
    with np.errstate(divide="ignore"):
        t = np.where(d[..., 2] < 0, -0.1 / d[..., 2], np.inf)
    hit = (np.abs(t[..., None] * d[..., :2]) < 1.7).all(axis=-1) & (t > 0.055)
    frame = draw([At("slab", 2.0, 2.0)], pose, renderer)
    assert hit.sum() > 4000
    assert (frame.ids[hit] == 1).all()
    np.testing.assert_allclose(frame.depth[hit], t[hit], rtol=1e-3, atol=1e-3)


def test_from_inside_a_box_is_invisible() -> None:
    frame = draw([At("wall", 2.0, 2.0)], [2.0, 2.0, 0.7, 0, 0, 1.0])
    assert (frame.ids == 0).all()
    np.testing.assert_array_equal(frame.depth, draw([], [2.0, 2.0, 0.7, 0, 0, 1.0]).depth)


# Texture


@pytest.mark.parametrize("far", [0.9, 1.6])
def test_texture_is_perspective_correct(far: float) -> None:
    # Plane of the quad through p0 with edges a (u) and b (v): solve e + t d = p0 + u a + v b for t, u, v.
    renderer = Renderer(BANK, Camera(320, 180))
    pose = [2.0, 2.0 - far, 1.0, 0.1, 0.15, NORTH + 0.05]
    frame = draw([At("slanted", 2.0, 2.0)], pose, renderer, Look(light=FLAT_LIGHT))
    p0, a, b = np.array([1.4, 1.5, 0.15]), np.array([1.2, 0, 0]), np.array([0, 1.4, 0.6])
    d = rays(pose, renderer.camera).reshape(-1, 3)
    matrices = np.stack([-d, np.broadcast_to(a, d.shape), np.broadcast_to(b, d.shape)], axis=-1)
    t, u, v = np.linalg.solve(matrices, (np.array(pose[:3]) - p0)[:, None]).reshape(-1, 3).T
    inner = (np.abs(u - 0.5) < 0.47) & (np.abs(v - 0.5) < 0.47)
    assert inner.sum() > 3000
    assert (frame.ids.reshape(-1)[inner] == 1).all()
    np.testing.assert_allclose(frame.depth.reshape(-1)[inner], t[inner], atol=1e-3)
    color = frame.rgb.reshape(-1, 3)[inner].astype(float)
    # Texel i holds 2 i and its centre is at u = (i + 0.5) / 128, so the colour at u is 256 u - 1.
    np.testing.assert_allclose(color[:, 0], 256 * u[inner] - 1, atol=1.5)
    np.testing.assert_allclose(color[:, 1], 256 * v[inner] - 1, atol=1.5)
    clear = np.minimum(np.abs((u * 4 + 0.5) % 1 - 0.5), np.abs((v * 4 + 0.5) % 1 - 0.5))[inner] > 0.12
    checker = (np.floor(u * 4) + np.floor(v * 4))[inner] % 2 * 255
    np.testing.assert_allclose(color[clear, 2], checker[clear], atol=2)


def test_mip_levels_have_no_seams() -> None:
    rng = np.random.default_rng(0)
    texture = rng.integers(0, 256, (64, 64, 3), dtype=np.uint8)
    texels = mip_pyramid(texture, 7)
    for area in (0.5, 3.0, 9.0, 40.0, 200.0, 1e9):  # texels per pixel: levels 0, 1, 2, 3, 4, 6
        for other in (0.1, 0.77):
            sides = [
                sample(texels, 0, 7, 6, 6, np.float32(area), np.float32(u), np.float32(other))
                for u in (0.0, 1e-6, 0.999999)
            ]
            np.testing.assert_allclose(sides[1:], [sides[0]] * 2, atol=0.05)
    flat = mip_pyramid(np.full((64, 64, 3), 77, np.uint8), 7)
    for area in 2.0 ** np.arange(-3, 20):
        value = sample(flat, 0, 7, 6, 6, np.float32(area), np.float32(0.3), np.float32(0.999))
        np.testing.assert_allclose(value, 77.0, atol=1e-3)


@pytest.mark.parametrize("name", list(SURROUNDS))
def test_the_top_of_the_surround_does_not_mix_with_its_foot(name: str) -> None:
    # Eleven metres away a coarse mip level is used; above the wall's height its top colour goes on.
    frame = draw([], [0.3, 2.35, 0.7, 0, -0.7, 0.0], look=Look(surround=name, distance_m=4.0, light=FLAT_LIGHT))
    top, foot = SURROUNDS[name]()[[0, -1]].mean(axis=1)
    shown = frame.rgb[0].mean(axis=0)
    assert np.abs(shown - top).max() < 0.2 * np.abs(top - foot).max()


# Ids and supersampling


def test_supersampled_ids_are_the_majority_of_four_samples() -> None:
    # The four samples of a pixel are the pixels of a camera with twice the resolution.
    objects = [At("globe", 2.0, 2.2), At("cube", 2.35, 2.4, 0.4), At("ball", 3.0, 3.5), At("pea", 2.1, 1.6)]
    fine = Renderer(BANK, Camera(256, 144))
    for yaw in np.linspace(1.2, 1.9, 12):
        pose = [2.3, 0.4, 0.7, 0.1, 0.0, yaw]
        samples = draw(objects, pose, fine).ids.reshape(72, 2, 128, 2).transpose(0, 2, 1, 3).reshape(72, 128, 4)
        ids = draw(objects, pose, SMOOTH).ids
        votes = np.stack([(samples == k).sum(axis=-1) for k in range(5)])
        assert (votes.max(axis=0) < 4).sum() > 50
        np.testing.assert_array_equal((samples == ids[..., None]).sum(axis=-1), votes.max(axis=0))


def test_the_nearer_object_hides_the_farther_whatever_the_order() -> None:
    pose = [2.0, 0.0, 0.7, 0, 0, NORTH]
    one = draw([At("cube", 2.0, 1.2), At("wall", 2.0, 3.0)], pose)
    other = draw([At("wall", 2.0, 3.0), At("cube", 2.0, 1.2)], pose)
    assert (one.ids == 1).sum() > 200
    np.testing.assert_array_equal(one.ids == 1, other.ids == 2)
    np.testing.assert_array_equal(one.rgb, other.rgb)
    np.testing.assert_array_equal(one.depth, other.depth)


def test_up_to_255_objects() -> None:
    grid = [At("pea", 0.3 + 0.25 * (i % 16), 1.0 + 0.22 * (i // 16)) for i in range(256)]
    ids = draw(grid[:255], [2.2, -0.5, 1.8, 0, 0.3, NORTH], Renderer(BANK, Camera(640, 360))).ids
    assert set(np.unique(ids)) == set(range(256))
    with pytest.raises(WaywordError, match="255"):
        PLAIN.scene(grid)


# The same bytes


def busy_batch() -> tuple[list[list[At]], Array]:
    rng = np.random.default_rng(5)
    layouts, poses = [], []
    for _ in range(9):
        names = rng.choice(["ball", "globe", "cube", "pillar", "slanted", "slab"], size=rng.integers(0, 7))
        layouts.append([At(str(n), rng.uniform(0.5, 4.2), rng.uniform(0.5, 4.2), rng.uniform(-3, 3)) for n in names])
        poses.append([*rng.uniform(0.5, 4.2, 2), 0.7, *rng.uniform(-0.2, 0.2, 2), rng.uniform(-3, 3)])
    return layouts, np.array(poses)


@pytest.mark.parametrize("supersample", [False, True])
def test_single_batch_and_threads_give_the_same_bytes(supersample: bool) -> None:
    layouts, poses = busy_batch()
    results = []
    for threads in (1, 2, 4):
        renderer = Renderer(BANK, config=RenderConfig(supersample=supersample, threads=threads))
        scenes = [renderer.scene(layout) for layout in layouts]
        results.append(renderer.render(scenes, poses))
    alone = [renderer.render([scene], [pose]) for scene, pose in zip(scenes, poses, strict=True)]
    backwards = renderer.render(scenes[::-1], poses[::-1])
    for part in range(3):
        for result in results[1:]:
            np.testing.assert_array_equal(results[0][part], result[part])
        np.testing.assert_array_equal(results[0][part], np.concatenate([frame[part] for frame in alone]))
        np.testing.assert_array_equal(results[0][part], backwards[part][::-1])


# Light


@pytest.mark.parametrize("azimuth", [0.0, 90.0, 200.0])
def test_shadows_fall_away_from_the_light(azimuth: float) -> None:
    # Seen from straight above with +x right and +y up. The pillar is 0.7 m tall and the light 45 degrees high, so its
    # shadow reaches 0.7 m from its foot; its middle is about 0.35 m away.
    camera = Camera(256, 256, hfov_deg=20, mount_pitch_deg=90)
    renderer = Renderer(BANK, camera)
    pose = [2.35, 2.35, 10.0, 0, 0, NORTH]
    lit = Look(light=Light(azimuth_deg=azimuth, elevation_deg=45.0))
    dark, bright = (
        draw([At("pillar", 2.35, 2.35)], pose, renderer, look).rgb.astype(int).sum(axis=-1)
        for look in (lit, replace(lit, light=replace(lit.light, shadows=0.0)))
    )
    rows, columns = np.nonzero(bright - dark > 60)
    assert len(rows) > 300
    offset = np.array([columns.mean() - 127.5, 127.5 - rows.mean()]) * 10.0 / camera.focal_px
    away = -np.array([math.cos(math.radians(azimuth)), math.sin(math.radians(azimuth))])
    assert offset @ away == pytest.approx(0.42, abs=0.12)
    assert abs(offset @ np.array([-away[1], away[0]])) < 0.05
    assert (dark <= bright).all()


def test_a_face_towards_the_light_is_brighter() -> None:
    pose = [2.0, 0.8, 0.5, 0, 0, NORTH]
    front, behind = (
        draw([At("cube", 2.0, 2.0)], pose, look=Look(light=Light(azimuth_deg=a, elevation_deg=30.0)))
        for a in (270.0, 90.0)
    )
    middle = front.ids == 1
    assert front.rgb[middle].mean() > behind.rgb[middle].mean() + 30


@pytest.mark.parametrize(
    "make",
    [
        lambda: Light(elevation_deg=0.0),
        lambda: Light(elevation_deg=float("nan")),
        lambda: Light(ambient=-0.1),
        lambda: Light(diffuse=float("nan")),
        lambda: Light(tint=(1.0, float("inf"), 1.0)),
        lambda: Light(shadows=1.5),
        lambda: Light(azimuth_deg=float("nan")),
        lambda: Look(distance_m=0.0),
        lambda: Look(ground="lava"),
        lambda: Look(outside=""),
        lambda: Look(surround="space"),
        lambda: Camera(hfov_deg=180.0),
        lambda: Camera(width=0),
    ],
)
def test_bad_settings_are_refused(make: Any) -> None:
    with pytest.raises(WaywordError):
        make()


# Bad and random input


def test_bad_input_is_refused() -> None:
    pose = [2.0, 2.0, 0.7, 0, 0, 0]
    for bad in ([2.0, float("nan"), 0.7, 0, 0, 0], [2.0, 2.0, 0.7, 0, 0, float("inf")], [2.0, 2.0, -0.1, 0, 0, 0]):
        with pytest.raises(WaywordError):
            PLAIN.render([EMPTY], [bad])
    with pytest.raises(WaywordError, match="2 poses"):
        PLAIN.render([EMPTY], [pose, pose])
    with pytest.raises(WaywordError, match="unicorn"):
        PLAIN.scene([At("unicorn", 1.0, 1.0)])
    with pytest.raises(WaywordError, match="finite"):
        PLAIN.scene([At("cube", float("nan"), 1.0)])
    with pytest.raises(WaywordError):
        MeshBank({})


def test_empty_batches_and_scenes() -> None:
    frames = PLAIN.render([], np.zeros((0, 6)))
    assert frames.rgb.shape == (0, 72, 128, 3)
    frame = draw([], [2.0, 2.0, 0.7, 0, 0, 0])
    assert frame.rgb.std() > 5
    assert (frame.ids == 0).all()


@settings(max_examples=80, deadline=None)
@given(
    place=st.tuples(st.floats(-2.5, 7.0), st.floats(-2.5, 7.0), st.floats(0.06, 3.0)),
    lean=st.tuples(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5), st.floats(-10, 10)),
    smooth=st.booleans(),
)
def test_any_pose_gives_finite_positive_depth_and_known_ids(
    place: tuple[float, float, float], lean: tuple[float, float, float], smooth: bool
) -> None:
    objects = [At("cube", 1.0, 1.0), At("ball", 2.0, 3.0), At("slanted", 3.0, 1.5, 1.0), At("slab", 0.0, 5.0)]
    frame = draw(objects, [*place, *lean], SMOOTH if smooth else PLAIN)
    assert np.isfinite(frame.depth).all()
    assert frame.depth.min() > 0
    assert frame.ids.max() <= len(objects)
    assert frame.depth[frame.ids > 0].min(initial=1.0) >= PLAIN.camera.near_m * 0.999
