"""Frames of the simulated world with the truth: what the reports measure on.

Natural layouts of one split are looked at from poses on their demonstrations, tilted as a flying drone is.
The objects are those of the catalogue, which no training of the segmentation has seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import SPLITS, Episode, PlacedObject, load_natural, random_layout
from wayword.learning.grounding.data import Labelled, labelled
from wayword.sim.models.catalogue import catalogue, names
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look, random_look
from wayword.sim.render.renderer import Frames, RenderConfig, Renderer

MIN_PIXELS = 12
"""Objects with fewer visible pixels do not count as seen, as in the training data."""

_LAYOUTS = 16


@dataclass(frozen=True)
class SceneConfig:
    """Which frames."""

    split: str = "dev"
    """Whose objects: train (the 64 seen ones), dev or test."""
    frames: int = 400
    layouts: str = "natural"
    """The layouts of the natural corpus, or "random" ones: needed to have all objects equally often."""
    random_looks: bool = True
    """A light, ground and surround for every layout, instead of the default look."""
    supersample: bool = False
    """Smooth edges; the arena draws without by default."""
    poses: int = 2
    """Frames taken of one layout with one look."""
    seed: int = 0


@dataclass(frozen=True)
class Scenes:
    """Labelled frames; ``identity`` counts through ``objects``."""

    data: Labelled
    objects: tuple[str, ...]
    """All objects of the split."""
    layouts: tuple[tuple[str, ...], ...]
    """Names of the objects that stand in the layout of each frame, in view or not."""
    poses: NDArray[np.float64]


SceneSituation = tuple[tuple[PlacedObject, ...], Look, list[list[float]]]
"""A layout, its look, and the poses it is looked at from."""


def scenes(config: SceneConfig) -> Scenes:
    """Draw frames of the catalogue's objects that show at least one object each."""
    rng = np.random.default_rng([config.seed, 20])
    pool = names(SPLITS[config.split])
    episodes = load_natural(config.split)

    def situation() -> SceneSituation:
        episode = episodes[int(rng.integers(len(episodes)))]
        objects = random_layout(pool, rng) if config.layouts == "random" else episode.objects
        look = random_look(rng) if config.random_looks else Look()
        return objects, look, poses_along(episode, config.poses, rng)

    return draw_scenes(MeshBank.of_catalogue(), tuple(catalogue()), situation, config.frames, config.supersample)


def draw_scenes(
    bank: MeshBank,
    order: tuple[str, ...],
    situation: Callable[[], SceneSituation],
    frames: int,
    supersample: bool = False,
) -> Scenes:
    """Frames of situations as they come, those that show nothing left out; ``identity`` counts through ``order``."""
    renderer = Renderer(bank, config=RenderConfig(supersample=supersample, threads=1))
    shards, layouts, poses, missing = [], [], [], frames
    while missing > 0:
        batch = [situation() for _ in range(_LAYOUTS)]
        prepared = [renderer.scene(objects, look) for objects, look, _ in batch]  # shadows cost more than a frame
        views = [(i, pose) for i, (_, _, several) in enumerate(batch) for pose in several]
        rendering = renderer.render([prepared[i] for i, _ in views], [pose for _, pose in views])
        numbers = [k for k in range(len(views)) if rendering.ids[k].any()][:missing]
        selection = Frames(rendering.rgb[numbers], rendering.ids[numbers], rendering.depth[numbers])
        placed = [batch[views[k][0]][0] for k in numbers]
        shards.append(label(selection, [[order.index(item.name) for item in objects] for objects in placed]))
        layouts += [tuple(item.name for item in objects) for objects in placed]
        poses += [views[k][1] for k in numbers]
        missing -= len(numbers)
    return Scenes(labelled(shards), order, tuple(layouts), np.array(poses))


def label(rendering: Frames, identities: Sequence[Sequence[int]]) -> dict[str, NDArray]:
    """Boxes of all visible objects; ``identities[n][k]`` is the object that ids value k + 1 of frame n means."""
    rows = []
    for n, ids in enumerate(rendering.ids):
        for value in np.unique(ids[ids > 0]):
            where = ids == value
            count = int(where.sum())
            if count >= MIN_PIXELS:
                ys, xs = np.flatnonzero(where.any(axis=1)), np.flatnonzero(where.any(axis=0))
                box = (xs[0], ys[0], xs[-1] + 1, ys[-1] + 1)
                rows.append((n, int(value), identities[n][int(value) - 1], count, box))
    boxes = np.array([row[4] for row in rows], np.float32).reshape(-1, 4)
    return {
        "rgb": rendering.rgb, "ids": rendering.ids, "boxes": boxes, "amodal": boxes,
        "frame": np.array([row[0] for row in rows], np.int32),
        "instance": np.array([row[1] for row in rows], np.uint8),
        "identity": np.array([row[2] for row in rows], np.int32),
        "pixels": np.array([row[3] for row in rows], np.int32),
    }  # fmt: skip


def poses_along(episode: Episode, count: int, rng: np.random.Generator) -> list[list[float]]:
    """Body poses on a demonstration, tilted by flying forward and turning."""
    path, poses = episode.path, []
    for i in rng.integers(len(path) - 1, size=count):
        ahead = path[min(i + 4, len(path) - 1)] - path[max(i - 1, 0)]
        yaw = math.atan2(ahead[1], ahead[0]) + rng.normal(0, 0.15)
        pitch, roll = math.radians(rng.normal(2.0, 2.5)), math.radians(rng.normal(0.0, 1.5))
        x, y = path[i].tolist()
        poses.append([x, y, float(rng.normal(0.7, 0.02)), roll, pitch, yaw])
    return poses
