"""Other cameras than the paper's, against the renderer: what the map takes for observed is the ground drawn."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import wayword
from wayword.camera import Camera, project
from wayword.episodes import PlacedObject, Pose2
from wayword.mapping import CELL_M, WORLD_CELLS, WorldMap
from wayword.mapping.grid import world_centres
from wayword.mapping.observability import DISC_CELLS, WEDGE_CELLS, wedge_of
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import Renderer

CAMERAS = {"paper": Camera(), "tilt 40": Camera(mount_pitch_deg=40.0), "hfov 60": Camera(hfov_deg=60.0)}
OTHERS = [name for name in CAMERAS if name != "paper"]
POSES = np.array([
    [0.6, 0.6, 0.70, 0.00, 0.00, 0.78],
    [0.6, 2.3, 0.70, 0.00, 0.00, 0.00],
    [2.0, 1.0, 0.75, 0.08, -0.05, 1.90],
    [4.2, 3.9, 0.66, -0.06, 0.12, -2.40],
])  # fmt: skip
"""Level and leaning, from corners and from the middle."""


def drawn_cells(bank: MeshBank, camera: Camera, poses: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Cells (N, 32, 32) whose centre the renderer shows: the ground lies there in the picture, as far as it is."""
    sharp = replace(camera, width=10 * camera.width, height=10 * camera.height)
    renderer = Renderer(bank, sharp)
    frames = renderer.render([renderer.scene([], Look())] * len(poses), poses)
    centres = np.column_stack([world_centres().reshape(-1, 2), np.zeros(WORLD_CELLS**2)])
    result = np.zeros((len(poses), WORLD_CELLS**2), bool)
    for n, pose in enumerate(poses):
        column, row, depth = project(centres, pose, sharp).T
        inside = (depth > 0) & (column >= 0) & (column < sharp.width) & (row >= 0) & (row < sharp.height)
        drawn = frames.depth[n][row[inside].astype(int), column[inside].astype(int)]
        result[n, inside] = abs(drawn / depth[inside] - 1) < 0.02
        assert result[n, inside].all()  # else the renderer has another camera than ``project``
    return result.reshape(-1, WORLD_CELLS, WORLD_CELLS)


def observed_cells(camera: Camera, *poses: NDArray[np.float64]) -> NDArray[np.bool_]:
    """What the map of a drone with this camera takes for observed after these frames: more than half of a cell."""
    world = WorldMap(0, camera)
    for pose in poses:
        world.update(np.zeros((0, 4), np.float32), [], np.zeros((0, 0)), pose)
    return world.coverage >= 0.5


@pytest.mark.parametrize(("name", "most"), [("paper", 50), ("tilt 40", 20), ("hfov 60", 41)])
def test_what_is_observed_is_what_the_renderer_shows(name: str, most: int, bank: MeshBank) -> None:
    camera = CAMERAS[name]
    _, length = wedge_of(camera)
    for pose, drawn in zip(POSES, drawn_cells(bank, camera, POSES), strict=True):
        observed = observed_cells(camera, pose)
        assert drawn.sum() > 150
        assert not (drawn & ~observed).any()
        # Beyond that only the patch below and before the drone, disc and wedge.
        extra = np.argwhere(observed & ~drawn)[:, ::-1] + 0.5 - pose[:2] / CELL_M
        assert len(extra) <= most
        assert np.hypot(*extra.T).max() <= length


def test_a_camera_that_looks_down_is_not_taken_for_the_papers(bank: MeshBank) -> None:
    tilted = CAMERAS["tilt 40"]
    drawn = int(drawn_cells(bank, tilted, POSES[:1]).sum())
    assert int(observed_cells(tilted, POSES[0]).sum()) == pytest.approx(drawn, rel=0.05)
    assert int(observed_cells(Camera(), POSES[0]).sum()) > 1.9 * drawn


def test_the_wedge_worked_by_hand() -> None:
    # The lowest ray of the paper's camera meets the ground 0.781 m ahead, in the sixth cell: 6 + 2 behind the drone.
    # 40 degrees down it is 66.9 degrees: 0.299 m, in the third cell. 60 degrees across, 15 + 18.0 degrees: 1.078 m, in
    # the eighth, which is too far to be granted. A camera that looks straight down needs none.
    assert wedge_of(Camera()) == (math.radians(86) / 2, WEDGE_CELLS)
    assert wedge_of(CAMERAS["tilt 40"]) == (math.radians(86) / 2, 5.0)
    assert wedge_of(CAMERAS["hfov 60"]) == (math.radians(62) / 2, WEDGE_CELLS)
    assert wedge_of(Camera(mount_pitch_deg=90.0))[1] == DISC_CELLS
    assert wedge_of(Camera(mount_pitch_deg=-60.0))[1] == WEDGE_CELLS


@pytest.mark.parametrize(("name", "size"), [("tilt 40", (128, 72)), ("hfov 60", (128, 72)), ("hfov 60", (640, 360))])
def test_the_shipped_weights_fly_with_another_camera(
    name: str, size: tuple[int, int], bank: MeshBank, tmp_path: Path
) -> None:
    """To something plain in view, two metres ahead; the map is the camera's all the way."""
    camera = replace(CAMERAS[name], width=size[0], height=size[1])
    camera.to_file(tmp_path / "camera.json")
    pilot = wayword.load(camera=tmp_path / "camera.json", grounder="sim")  # whose masks have their foot here too
    pilot.reset("fly to the globe and stop in front of it", "test")
    arena, globe = Arena(1, bank, ArenaConfig(camera=camera)), PlacedObject("globe", 2.8, 2.2, 0.0)
    objects = (globe, PlacedObject("barrel", 3.2, 3.5, 0.0))
    arena.reset([0], [Situation(objects, Pose2(0.8, 2.0, 0.0))], [0])
    poses = []
    while len(arena.flying):
        image = arena.frames([0]).rgb[0]
        assert image.shape == (size[1], size[0], 3)
        poses.append(arena.poses[0].copy())
        arena.step(pilot.act(image, poses[-1]).values[None].astype(np.float64))
        boxes = pilot.thought.footprints[pilot.thought.grounding.p_box > 0.5]
        if len(poses) == 1:  # the segmentation's own mask of the globe, on the ground to within two cells
            assert np.hypot(boxes[:, 0] - globe.x, boxes[:, 1] - globe.y).min() < 2 * CELL_M
    assert arena.endings[0] == "policy"
    assert math.dist(arena.fleet.pose[0, :2], (globe.x, globe.y)) < 0.8
    np.testing.assert_array_equal(pilot.thought.coverage >= 0.5, observed_cells(camera.at_model_size(), *poses))
