from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.camera import Camera, camera_axes
from wayword.errors import WaywordError
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.lab_textures import LAB_GROUNDS, LAB_SURROUNDS
from wayword.sim.render.lens import LensConfig, ThroughLens, make_renderer
from wayword.sim.render.look import Look, random_look
from wayword.sim.render.renderer import RenderConfig, Renderer
from wayword.sim.render.surroundings import GROUNDS, SURROUNDS
from wayword.sim.worlds import WORLDS

POSE = np.array([[2.3, 0.6, 0.7, 0.0, 0.0, 1.57]])
CAMERA = Camera()


def seen(lens: LensConfig, bank: MeshBank, x: float, y: float) -> tuple[float, float, int]:
    """Where a die on the ground is in the picture: middle of its pixels, and how many."""
    transform = np.array([[[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, 0]]], np.float32)
    renderer = ThroughLens(bank, CAMERA, lens, RenderConfig(threads=1))
    frame = renderer.render([renderer.scene_of(("die",), transform)], POSE)
    rows, columns = np.nonzero(frame.ids[0])
    return float(columns.mean()) + 0.5, float(rows.mean()) + 0.5, len(rows)


@pytest.fixture(scope="module")
def die() -> MeshBank:
    return MeshBank.of_catalogue(("die",))


def test_a_straight_lens_takes_the_renderers_picture(die: MeshBank) -> None:
    plain = Renderer(die, CAMERA, RenderConfig(supersample=True, threads=1))
    through = ThroughLens(die, CAMERA, LensConfig(), RenderConfig(threads=1))
    a, b = (r.render([r.scene_of((), np.zeros((0, 3, 4)))], POSE) for r in (plain, through))
    assert b.rgb.shape == a.rgb.shape == (1, 72, 128, 3)
    assert np.abs(a.rgb.astype(int) - b.rgb).mean() < 3.0  # the finer camera sees finer grass
    np.testing.assert_allclose(np.median(a.depth / b.depth), 1.0, atol=0.01)
    assert type(make_renderer(die, CAMERA, None, LensConfig())) is Renderer


def test_distortion_tilt_and_roll_move_a_die_as_the_formulas_say(die: MeshBank) -> None:
    place = np.array([3.3, 2.0, 0.1])
    u, v, _ = seen(LensConfig(), die, *place[:2])
    x, y = (u - 64) / CAMERA.focal_px, (v - 36) / CAMERA.focal_px
    lens = LensConfig(k1=-0.1, k2=0.02)
    radial = 1 + lens.k1 * (x * x + y * y) + lens.k2 * (x * x + y * y) ** 2
    bent = seen(lens, die, *place[:2])
    assert bent[0] == pytest.approx(64 + CAMERA.focal_px * x * radial, abs=0.4)
    assert bent[1] == pytest.approx(36 + CAMERA.focal_px * y * radial, abs=0.4)
    assert bent[0] < u - 0.3  # barrel: towards the middle
    # 5 degrees further down: the die is where the camera with that mount sees it, which is higher up.
    tilted = seen(LensConfig(tilt_pitch_deg=5.0), die, *place[:2])
    ahead = camera_axes(POSE[0], 20.0) @ camera_axes(POSE[0], 15.0).T @ np.array([x, y, 1.0])
    assert tilted[1] == pytest.approx(36 + CAMERA.focal_px * ahead[1] / ahead[2], abs=0.4)
    assert tilted[1] < v - 4
    # Right side down by 10 degrees: what is on the right goes up.
    rolled = seen(LensConfig(tilt_roll_deg=10.0), die, *place[:2])
    angle = math.radians(10.0)
    assert rolled[0] == pytest.approx(64 + CAMERA.focal_px * (x * math.cos(angle) + y * math.sin(angle)), abs=0.4)
    assert rolled[1] == pytest.approx(36 + CAMERA.focal_px * (y * math.cos(angle) - x * math.sin(angle)), abs=0.4)


@pytest.mark.parametrize("bad", [{"k1": -0.5}, {"k1": 0.9}, {"tilt_roll_deg": 40.0}, {"k2": math.nan}])
def test_impossible_lenses_are_one_line(bad: dict[str, float], die: MeshBank) -> None:
    with pytest.raises(WaywordError, match="lens"):
        ThroughLens(die, CAMERA, LensConfig(**bad), None)


def test_random_looks_never_show_the_lab() -> None:
    lab = WORLDS["lab"].look
    assert not {lab.ground, lab.outside} & set(GROUNDS)
    assert lab.surround not in SURROUNDS
    assert set(LAB_GROUNDS) | set(LAB_SURROUNDS) == {lab.ground, lab.outside, lab.surround}
    rng = np.random.default_rng(0)
    drawn = {name for look in (random_look(rng) for _ in range(200)) for name in (look.ground, look.surround)}
    assert drawn == set(GROUNDS) | set(SURROUNDS)


def test_worlds_change_the_camera_and_not_the_rules() -> None:
    rules = ArenaConfig(horizon=7, net_m=0.5)
    assert WORLDS["arena"].arena(rules) == rules
    assert WORLDS["arena"].look == Look()
    lab = WORLDS["lab"].arena(rules)
    assert (lab.horizon, lab.net_m, lab.camera) == (7, 0.5, CAMERA)
    assert not lab.sensor.identity
    assert not lab.lens.identity


def test_every_frame_of_the_lab_depends_on_its_own_seed(die: MeshBank) -> None:
    from wayword.episodes import Pose2

    lab, pictures = WORLDS["lab"], []
    for seeds in ([5, 6], [5]):
        arena = Arena(len(seeds), die, lab.arena())
        situation = Situation((), Pose2(1.0, 1.0, 0.5), lab.look)
        arena.reset(range(len(seeds)), [situation] * len(seeds), seeds)
        pictures.append(arena.frames(range(len(seeds))).rgb)
    np.testing.assert_array_equal(pictures[0][0], pictures[1][0])
    assert (pictures[0][0] != pictures[0][1]).mean() > 0.5
