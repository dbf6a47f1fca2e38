"""Photos as people take them for `wayword teach`, drawn so that the truth is known: one thing in several real places.

A thing of the pool stands in another panorama in every photo, with other things around it, under another light, nearly
in the middle, a fifth to two thirds of the picture high. The camera is a telephone's: 4 to 3, 45 to 75 degrees across.

    photo   (240, 320, 3)   uint8
    box     tight around what is seen of the thing, pixels of the photo
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera, camera_axes
from wayword.learning.ar.compose import Compositor, augment
from wayword.learning.ar.config import AugmentConfig, PhotoConfig
from wayword.learning.ar.generate import projected_box, visible_boxes
from wayword.learning.ar.objects import ObjectPool
from wayword.learning.ar.panoramas import panorama_view
from wayword.learning.ar.photos import photo_light, random_style
from wayword.objects import Box
from wayword.sim.models.mesh import rotation
from wayword.task import ARENA_M

WIDTH, HEIGHT = 320, 240
_MIDDLE = ARENA_M / 2
_TRIES = 40
_NOISE = 3.0
_STYLE = PhotoConfig(shadow_blur_px=5.0, blur_px=1.5, white_balance=0.15)


@dataclass(frozen=True)
class Teaching:
    """Several photos of one thing, and where it is in each."""

    noun: str
    photos: tuple[NDArray[np.uint8], ...]
    boxes: tuple[Box, ...]


def draw_teachings(
    pool: ObjectPool, panoramas: Sequence[NDArray[np.float32]], count: int, seed: int, photos: int = 4, clutter: int = 4
) -> Iterator[Teaching]:
    """``count`` teachings of different things, with up to ``clutter`` others around each."""
    rng = np.random.default_rng([seed, 80])
    places = [int(place) for place in rng.permutation(len(pool.entries)) if pool.entries[place].paint is None]
    for place in places[:count]:
        pictures = [_photo(pool, place, panoramas, clutter, rng) for _ in range(photos)]
        pixels, boxes = zip(*pictures, strict=True)
        yield Teaching(pool.entries[place].noun, pixels, boxes)


def _photo(
    pool: ObjectPool, place: int, panoramas: Sequence[NDArray[np.float32]], clutter: int, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], Box]:
    """One photo in which at least two thirds of the thing are seen, and all of it is inside."""
    for attempt in range(_TRIES):
        camera = Camera(WIDTH, HEIGHT, float(rng.uniform(45, 75)), 0.0)
        others = int(rng.integers(clutter + 1)) if attempt < _TRIES - 1 else 0
        names, transforms = _arranged(pool, place, others, rng)
        pose = _pose(pool.entries[place].edge_m, camera, rng)
        north, exposure = float(rng.uniform(-math.pi, math.pi)), float(rng.uniform(0.35, 0.85))
        background = panorama_view(panoramas[int(rng.integers(len(panoramas)))], pose, camera, north, exposure)
        rgb, ids = Compositor(pool.bank, camera).over_photos(
            background[None], names, transforms, [photo_light(rng)], pose[None], ARENA_M, True,
            [random_style(_NOISE, rng, _STYLE)], rng,
        )  # fmt: skip
        extent = visible_boxes(ids[0]).get(1)
        if extent is None:
            continue
        axes = camera_axes(pose, camera.mount_pitch_deg)
        whole = projected_box(pool.mesh(place).vertices, transforms[0], pose[:3], axes, camera)
        inside = whole[0] > 2 and whole[1] > 2 and whole[2] < WIDTH - 2 and whole[3] < HEIGHT - 2
        share = _area(extent) / max(_area(whole), 1.0)
        if (inside and share > 0.67) or attempt == _TRIES - 1:
            mild = AugmentConfig(clean_share=0.5, motion_px=0.0)
            return augment(rgb[0], rng, mild), Box(*(float(edge) for edge in extent))
    raise AssertionError("the last try always ends")


def _arranged(
    pool: ObjectPool, place: int, others: int, rng: np.random.Generator
) -> tuple[list[str], NDArray[np.float32]]:
    """The thing in the middle of the arena and others around it, each standing on its lowest point."""
    size = pool.entries[place].edge_m
    names, transforms, spots = [], [], [(_MIDDLE, _MIDDLE, size / 2)]
    things = [place, *(pool.draw(rng) for _ in range(others))]
    for k, item in enumerate(things):
        # Clutter is of the thing's own order of size: a mug stands among cups, not among cupboards.
        edge = size if k == 0 else size * float(rng.uniform(0.4, 1.4))
        x = y = _MIDDLE
        if k:
            angle, away = rng.uniform(-math.pi, math.pi), size * rng.uniform(0.9, 3.0)
            x, y = _MIDDLE + away * math.cos(angle), _MIDDLE + away * math.sin(angle)
            if any(math.hypot(x - u, y - v) < 0.8 * (edge / 2 + r) for u, v, r in spots):
                continue
            spots.append((x, y, edge / 2))
        turn = rotation("z", float(rng.uniform(-math.pi, math.pi))) * edge
        lift = -float((pool.mesh(item).vertices @ turn[2]).min())
        names.append(str(pool.entries[item].number))
        transforms.append(np.column_stack([turn, [x, y, lift]]))
    return names, np.array(transforms, np.float32)


def _pose(edge: float, camera: Camera, rng: np.random.Generator) -> NDArray[np.float64]:
    """Somewhere around the thing, looking nearly at it."""
    share = float(rng.uniform(0.2, 0.66))
    away = edge * camera.focal_px / (share * HEIGHT)
    azimuth, elevation = float(rng.uniform(-math.pi, math.pi)), math.radians(float(rng.uniform(12, 45)))
    flat = away * math.cos(elevation)
    slip = np.clip(rng.normal(0, 0.11, 2), -0.25, 0.25) * (WIDTH, HEIGHT) / camera.focal_px
    position = (_MIDDLE - flat * math.cos(azimuth), _MIDDLE - flat * math.sin(azimuth))
    height = away * math.sin(elevation) + edge / 3
    roll = math.radians(float(rng.normal(0, 3)))
    return np.array([*position, height, roll, elevation + slip[1], azimuth + slip[0]])


def _area(box: Sequence[float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
