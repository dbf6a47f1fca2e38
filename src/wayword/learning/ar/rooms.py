"""Views of invented rooms: a floor and walls with random patterns, and cameras of many kinds in them.

Panoramas are few and their floors are mostly smooth; the arena has a dozen grounds. Invented rooms have as many floors
and walls as wanted (``patterns``). Half of the cameras are the drone's own at its own height, half those that are
turned inside panoramas. Objects are drawn over the views as over photographs.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.learning.ar.backgrounds import Flight
from wayword.learning.ar.config import ViewConfig
from wayword.learning.ar.panoramas import POSES, PanoramaConfig, random_pose
from wayword.learning.ar.patterns import Texture, random_floor, random_wall
from wayword.learning.ar.photos import photo_light
from wayword.sim.render.bank import MeshBank, mip_pyramid
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import RenderConfig, Renderer
from wayword.sim.render.shading import TILE_LEVELS, WALL_LEVELS
from wayword.task import ALTITUDE_M

_OWN_CAMERA = 0.5
"""Share of cameras that are the drone's."""
_SWAY_DEG = 3.0
"""Standard deviation of roll and pitch of a drone in flight."""
_NARROWEST_M, _WIDEST_M = 0.8, 5.0
"""One repeat of the floor's pattern."""


class InventedRooms:
    """Flights of many cameras, each in a room of its own."""

    def __init__(self, camera: Camera, arena_m: float, cameras: PanoramaConfig | None = None) -> None:
        self.camera, self.arena_m, self.cameras = camera, arena_m, cameras or PanoramaConfig()

    def flights(self, rng: np.random.Generator, config: ViewConfig) -> list[Flight]:
        """Of each of ``config.flights`` cameras, ``POSES`` views."""
        return [self._flight(rng) for _ in range(config.flights)]

    def _flight(self, rng: np.random.Generator) -> Flight:
        limits, own = self.cameras, rng.random() < _OWN_CAMERA
        camera, bent = self.camera, 0.0
        if own:
            poses = np.array([self._flown(rng) for _ in range(POSES)])
        else:
            fov = float(rng.uniform(limits.least_fov_deg, limits.most_fov_deg))
            camera = replace(camera, hfov_deg=fov, mount_pitch_deg=0.0)
            height = float(rng.uniform(limits.least_height_m, limits.most_height_m))
            poses = np.array([random_pose(limits, height, self.arena_m, rng) for _ in range(POSES)])
            bent = float(rng.uniform(-0.4, 1.0)) * limits.distortion if rng.random() < 0.5 else 0.0
        photos = empty_room(camera, poses, self.arena_m, rng)
        return Flight(poses, None, photos, camera, bent, flawless=True)

    def _flown(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Somewhere in the arena at the drone's height, looking anywhere."""
        x, y = rng.uniform(0.0, self.arena_m, 2)
        roll, pitch = np.radians(_SWAY_DEG) * rng.standard_normal(2)
        height = max(0.3, ALTITUDE_M * float(rng.normal(1.0, 0.08)))
        return np.array([x, y, height, roll, pitch, rng.uniform(-math.pi, math.pi)])


def empty_room(
    camera: Camera, poses: NDArray[np.float64], arena_m: float, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """What a camera sees of a room that is invented for it: (N, H, W, 3)."""
    floors = random_floor(rng), random_floor(rng)
    size = float(np.exp(rng.uniform(math.log(_NARROWEST_M), math.log(_WIDEST_M))))
    config = RenderConfig(supersample=True, threads=1, tile_m=size, wall_height_m=float(rng.uniform(2.2, 5.0)))
    room = _RoomRenderer(camera, config, floors, random_wall(rng), lined=rng.random() < 0.5)
    paint = rng.integers(10, 245, (2, 3)).tolist()
    look = Look(
        distance_m=float(rng.uniform(1.5, 5.0)),
        stripes=(tuple(paint[0]), tuple(paint[1])),
        light=photo_light(rng),
    )
    scene = room.scene_of((), np.zeros((0, 3, 4)), look, arena_m)
    return room.render([scene] * len(poses), poses).rgb


class _RoomRenderer(Renderer):
    """Draws an empty room with floors inside and outside of the boundary and walls of its own."""

    def __init__(
        self, camera: Camera, config: RenderConfig, floors: tuple[Texture, Texture], wall: Texture, lined: bool
    ) -> None:
        super().__init__(MeshBank.of_catalogue(("die",)), camera, config)  # a renderer wants meshes, if none is drawn
        self._floors = np.stack([mip_pyramid(floor, TILE_LEVELS) for floor in floors])
        self._wall = mip_pyramid(wall, WALL_LEVELS)[None]
        self._lined = lined

    def _textures(self) -> tuple[Texture, Texture]:
        return self._floors, self._wall

    def _pack(self, look: Look, arena_m: float) -> tuple[NDArray, int, NDArray, NDArray, NDArray]:
        _, _, place, paint, light = super()._pack(look, arena_m)
        if not self._lined:
            place[-1] = 0.0  # half the width of the boundary line
        return np.array([0, self._floors.shape[1]]), 0, place, paint, light
