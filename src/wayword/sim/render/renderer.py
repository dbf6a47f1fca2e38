"""The renderer's one small interface: scenes and poses in, colour, instance ids and depth out.

    renderer = Renderer(MeshBank.of_catalogue())
    scene = renderer.scene(objects, Look())
    frames = renderer.render([scene], [[2.0, 1.0, 0.7, 0.0, 0.0, 1.57]])

Frames are (N, H, W, 3) uint8 colour, (N, H, W) uint8 ids (0 background, i + 1 for object i of the scene)
and (N, H, W) float32 depth along the optical axis in metres. A frame depends on its own scene and pose
alone: the same bytes come out whatever else is in the batch.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter

from wayword.camera import Camera, camera_axes
from wayword.errors import WaywordError
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.sim.render.places import ALL_GROUNDS, ALL_SURROUNDS, ground_pyramids, surround_pyramids
from wayword.sim.render.rasteriser import WORK_SHAPE, cast_shadows
from wayword.sim.render.shading import draw
from wayword.task import ARENA_M

SHADOW_TEXELS = 176
SHADOW_MARGIN_M = 0.5
STRIPE_M, LINE_HALF_M = 0.235, 0.06


@dataclass(frozen=True)
class RenderConfig:
    """How frames are drawn."""

    supersample: bool = False
    """Two by two visibility samples per pixel: smooth edges."""
    threads: int = 0
    """Threads for a batch; 0 takes all cores."""
    tile_m: float = 2.35
    """Size of one repeat of the ground texture in metres."""
    wall_height_m: float = 3.2
    """Height of the surround in metres."""

    def __post_init__(self) -> None:
        if self.threads < 0 or not 0.01 <= self.tile_m <= 100 or not 0.1 <= self.wall_height_m <= 1000:
            raise WaywordError("rendering needs threads >= 0, tile_m within 0.01 to 100, wall_height_m 0.1 to 1000")


class Placed(Protocol):
    """What a scene needs to know of an object: metres, yaw counter-clockwise in radians."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def x(self) -> float: ...  # noqa: D102
    @property
    def y(self) -> float: ...  # noqa: D102
    @property
    def yaw(self) -> float: ...  # noqa: D102


@dataclass(frozen=True)
class Scene:
    """A layout made ready for drawing; the shadows are cast once, since neither objects nor light move."""

    names: tuple[str, ...]
    objects: NDArray[np.int64]
    transforms: NDArray[np.float32]
    shadow: NDArray[np.uint8]
    look: Look
    arena_m: float
    packed: tuple[NDArray, int, NDArray, NDArray, NDArray]
    """What the kernel reads of the look: ground and wall offsets, place, paint, light (see ``shading``)."""


class Frames(NamedTuple):
    """A batch of images, see the module docstring."""

    rgb: NDArray[np.uint8]
    ids: NDArray[np.uint8]
    depth: NDArray[np.float32]


class Renderer:
    """Draws scenes of objects from one bank with one camera."""

    def __init__(self, bank: MeshBank, camera: Camera | None = None, config: RenderConfig | None = None) -> None:
        self.bank = bank
        self.camera = camera or Camera()
        self.config = config or RenderConfig()
        self.threads = self.config.threads or _cores()

    def scene(self, objects: Sequence[Placed], look: Look | None = None, arena_m: float = ARENA_M) -> Scene:
        """Place named objects upright on the ground."""
        transforms = np.zeros((len(objects), 3, 4), dtype=np.float32)
        for k, item in enumerate(objects):
            c, s = np.cos(item.yaw), np.sin(item.yaw)
            transforms[k] = [[c, -s, 0, item.x], [s, c, 0, item.y], [0, 0, 1, 0]]
        return self.scene_of(tuple(item.name for item in objects), transforms, look, arena_m)

    def scene_of(
        self, names: Sequence[str], transforms: ArrayLike, look: Look | None = None, arena_m: float = ARENA_M
    ) -> Scene:
        """Place objects by object-to-world transforms (K, 3, 4): rotation times uniform scale, position."""
        matrices = np.ascontiguousarray(transforms, dtype=np.float32).reshape(-1, 3, 4)
        if len(names) != len(matrices) or len(names) > 255:
            raise WaywordError(f"{len(names)} names for {len(matrices)} places; a scene holds at most 255 objects")
        if not np.isfinite(matrices).all():
            raise WaywordError("an object's place is not a finite number")
        look = look or Look()
        numbers = np.array([self.bank.number(name) for name in names], dtype=np.int64)
        shadow = np.zeros((SHADOW_TEXELS, SHADOW_TEXELS), dtype=np.uint8)
        if look.light.shadows > 0 and len(names):
            scratch = (
                np.empty(shadow.shape, np.float32),
                np.empty(shadow.shape, np.int32),
                np.empty(WORK_SHAPE, np.float32),
            )
            origin, texel = _shadow_grid(arena_m)
            light = look.light.packed()
            cast_shadows(self.bank.arrays, numbers, matrices, light, origin, texel, shadow, *scratch)
            shadow = gaussian_filter(shadow.astype(np.float32), 0.8, mode="nearest").astype(np.uint8)
        return Scene(tuple(names), numbers, matrices, shadow, look, arena_m, self._pack(look, arena_m))

    def render(self, scenes: Sequence[Scene], poses: ArrayLike) -> Frames:
        """Draw scene i from body pose i (x, y, z, roll, pitch, yaw); N of each."""
        views = np.asarray(poses, dtype=np.float64).reshape(-1, 6)
        if len(views) != len(scenes):
            raise WaywordError(f"{len(scenes)} scenes but {len(views)} poses")
        if not np.isfinite(views).all():
            raise WaywordError("a camera pose is not a finite number")
        if len(views) and views[:, 2].min() <= self.camera.near_m:
            raise WaywordError("the camera is under the ground: z must be positive")
        for i, scene in enumerate(scenes):
            low, high = -scene.look.distance_m, scene.arena_m + scene.look.distance_m
            if not (low < views[i, 0] < high and low < views[i, 1] < high):
                raise WaywordError(f"camera {i} stands outside the surround: x and y must be within {low} to {high} m")
        n, h, w = len(views), self.camera.height, self.camera.width
        frames = Frames(
            np.empty((n, h, w, 3), np.uint8), np.empty((n, h, w), np.uint8), np.empty((n, h, w), np.float32)
        )
        parts = min(self.threads, n)
        if parts <= 1:
            self._render_range(scenes, views, frames, 0, n)
            return frames
        bounds = np.linspace(0, n, parts + 1).astype(int)
        jobs = [
            _pool(self.threads).submit(self._render_range, scenes, views, frames, a, b) for a, b in pairwise(bounds)
        ]
        for job in jobs:
            job.result()
        return frames

    def _render_range(self, scenes: Sequence[Scene], views: NDArray, frames: Frames, start: int, stop: int) -> None:
        camera, config = self.camera, self.config
        samples = 2 if config.supersample else 1
        shape = (camera.height * samples, camera.width * samples)
        buffers = np.empty(shape, np.float32), np.empty(shape, np.uint8), np.empty(shape, np.int32)
        work = np.empty(WORK_SHAPE, np.float32)
        most = max((self._vertices(scene) for scene in scenes[start:stop]), default=0)
        points, screen = np.empty((most, 3), np.float32), np.empty((most, 3), np.float32)
        tiles, walls, f32 = *(texels.reshape(-1) for texels in self._textures()), np.float32
        for i in range(start, stop):
            scene = scenes[i]
            ground, wall, place, paint, light = scene.packed
            draw(
                self.bank.arrays, scene.objects, scene.transforms,
                views[i, :3].astype(np.float32), camera_axes(views[i], camera.mount_pitch_deg).astype(np.float32),
                f32(camera.focal_px), f32(camera.width / 2), f32(camera.height / 2), f32(camera.near_m), samples,
                tiles, ground, walls, wall,
                place, paint, scene.shadow, light,
                points, screen, np.empty(len(scene.objects), np.int64), *buffers, work,
                frames.rgb[i], frames.ids[i], frames.depth[i],
            )  # fmt: skip

    def _textures(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Grounds and surrounds with their mip levels, one row each."""
        return ground_pyramids(), surround_pyramids()

    def _pack(self, look: Look, arena_m: float) -> tuple[NDArray, int, NDArray, NDArray, NDArray]:
        tile_bytes, wall_bytes = (texels.shape[1] for texels in self._textures())
        ground = np.array([_GROUND_INDEX[look.ground], _GROUND_INDEX[look.outside]]) * tile_bytes
        wall = _SURROUND_INDEX[look.surround] * wall_bytes
        room = (arena_m, -look.distance_m, arena_m + look.distance_m, self.config.wall_height_m)
        place = np.array([*room, self.config.tile_m, *_shadow_grid(arena_m), STRIPE_M, LINE_HALF_M], np.float32)
        return ground, wall, place, np.array(look.stripes, np.float32), look.light.packed()

    def _vertices(self, scene: Scene) -> int:
        span = self.bank.arrays.span[scene.objects]
        return int((span[:, 1] - span[:, 0]).sum())


_GROUND_INDEX = {name: i for i, name in enumerate(ALL_GROUNDS)}
_SURROUND_INDEX = {name: i for i, name in enumerate(ALL_SURROUNDS)}


def _shadow_grid(arena_m: float) -> tuple[np.float32, np.float32]:
    """Origin and texel size of the shadow map, metres."""
    return np.float32(-SHADOW_MARGIN_M), np.float32((arena_m + 2 * SHADOW_MARGIN_M) / SHADOW_TEXELS)


def _cores() -> int:
    """Cores this process may use; not every system can say which are allowed."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    """Kernels release the interpreter lock, so plain threads use all cores and survive any caller's threading."""
    return ThreadPoolExecutor(threads, thread_name_prefix="wayword-render")
