"""Makes the frames of one shard, from nothing but the configuration, the seed and the shard's number."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera, camera_axes
from wayword.compiled import compiled
from wayword.learning.ar.backgrounds import Flight, PictureSource, SimulatedFlights
from wayword.learning.ar.compose import Compositor, augment
from wayword.learning.ar.config import ARConfig, ViewConfig
from wayword.learning.ar.layout import ARLayout, random_ar_layout
from wayword.learning.ar.objects import ObjectPool
from wayword.learning.ar.panoramas import bend
from wayword.learning.ar.photos import noise_level, photo_light, random_style
from wayword.learning.ar.rooms import InventedRooms
from wayword.sim.render.look import random_light
from wayword.task import ARENA_M

MIN_PIXELS = 12
"""An object with fewer visible pixels has no row among the boxes; its few pixels keep its id."""
_TRIES = 30


@dataclass(frozen=True, eq=False)
class ShardArrays:
    """N frames and M visible objects; the arrays of a shard file, see ``shards``."""

    rgb: NDArray[np.uint8]
    ids: NDArray[np.uint8]
    boxes: NDArray[np.float32]
    amodal: NDArray[np.float32]
    frame: NDArray[np.int32]
    instance: NDArray[np.uint8]
    identity: NDArray[np.int32]
    pixels: NDArray[np.int32]
    pose: NDArray[np.float64]
    photo: NDArray[np.uint8]
    """1 for frames over a user's own pictures, 0 for simulated ones."""


class Generator:
    """Makes shards of one run."""

    def __init__(
        self, pool: ObjectPool, backgrounds: SimulatedFlights | PictureSource, config: ARConfig, seed: int
    ) -> None:
        config.check()
        self.pool, self.backgrounds, self.seed = pool, backgrounds, seed
        self._noise = 0.0
        if not isinstance(backgrounds, SimulatedFlights):  # objects stand in the pictures' arena, not in ours
            config = replace(config, layout=replace(config.layout, arena_m=backgrounds.arena_m))
            self._noise = noise_level(backgrounds.samples())
        self.config = config
        self.compositor = Compositor(pool.bank, backgrounds.camera)

    def shard(self, number: int) -> ShardArrays:
        """The frames of shard ``number``: the same wherever and whenever it is made."""
        rng = np.random.default_rng((self.seed, number))
        config, camera = self.config, self.backgrounds.camera
        flights = self.backgrounds.flights(rng, config.views)
        n = config.shard_frames
        rgb = np.empty((n, camera.height, camera.width, 3), np.uint8)
        ids = np.empty(rgb.shape[:3], np.uint8)
        poses, photo = np.empty((n, 6)), np.zeros(n, np.uint8)
        rows: list[tuple] = []
        simulated, rooms = self._simulated(rng), self._rooms(rng)
        own = replace(config.augment, clean_share=config.photo.clean_share)
        for start in range(0, n, config.views.frames_per_layout):
            stop = min(start + config.views.frames_per_layout, n)
            layout = random_ar_layout(self.pool, rng, config.layout)
            among = self._kind(flights, simulated, rooms, rng)
            flight = among[int(rng.integers(len(among)))]
            own_camera = flight.camera or camera
            views, which = choose_views(flight, layout, stop - start, own_camera, rng, config.views)
            poses[start:stop] = views
            rgb[start:stop], ids[start:stop] = self._draw(flight, layout, views, which, rng)
            photo[start:stop] = flight.photos is not None
            for i in range(start, stop):
                rgb[i] = augment(rgb[i], rng, own if photo[i] else config.augment)
                rows += [(i, *row) for row in self._visible(ids[i], layout, poses[i], own_camera)]
        return _pack(rgb, ids, poses, photo, rows)

    def _kind(
        self, flights: list[Flight], simulated: list[Flight], rooms: list[Flight], rng: np.random.Generator
    ) -> list[Flight]:
        """Which places a layout stands in, by their shares; without a mixture nothing is drawn."""
        photo = self.config.photo
        draw = rng.random() if simulated or rooms else 1.0
        if simulated and draw < photo.simulated_share:
            return simulated
        return rooms if rooms and draw >= 1 - photo.room_share else flights

    def _rooms(self, rng: np.random.Generator) -> list[Flight]:
        """Flights in invented rooms, if any are wanted."""
        if self.config.photo.room_share <= 0:
            return []
        return InventedRooms(self.backgrounds.camera, self.config.layout.arena_m).flights(rng, self.config.views)

    def _simulated(self, rng: np.random.Generator) -> list[Flight]:
        """Flights in the simulated arena to mix among pictures, made as large as the pictures' arena."""
        if isinstance(self.backgrounds, SimulatedFlights) or self.config.photo.simulated_share <= 0:
            return []
        flights = SimulatedFlights(self.backgrounds.camera).flights(rng, self.config.views)
        for flight in flights:
            flight.poses[:, :2] *= self.backgrounds.arena_m / ARENA_M
        return flights

    def _draw(
        self, flight: Flight, layout: ARLayout, views: NDArray, which: NDArray, rng: np.random.Generator
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        names = [str(self.pool.entries[place].number) for place in layout.places]
        smooth = rng.random() < self.config.views.smooth_share
        if flight.photos is not None:
            lights = [photo_light(rng) for _ in views]
            styles = [random_style(self._noise, rng, self.config.photo) for _ in views]
            if flight.flawless:
                styles = [replace(style, blur_px=0.0, noise=0.0) for style in styles]
            own = self.compositor if flight.camera is None else Compositor(self.pool.bank, flight.camera)
            rgb, ids = own.over_photos(
                flight.photos[which], names, layout.transforms, lights, views, layout.arena_m, smooth, styles, rng
            )
            return bend(rgb, ids, flight.distortion) if flight.distortion else (rgb, ids)
        lights = [random_light(rng) for _ in views]
        assert flight.look is not None
        looks = [replace(flight.look, light=light) for light in lights]
        rendering = self.compositor.in_scene(names, layout.transforms, looks, views, layout.arena_m, smooth)
        return rendering.rgb, rendering.ids

    def _visible(self, ids: NDArray[np.uint8], layout: ARLayout, pose: NDArray, camera: Camera) -> list[tuple]:
        """Instance, identity, pixels, box and amodal box of every object with enough visible pixels."""
        extents = np.empty((256, 5), np.int32)
        axes = camera_axes(pose, camera.mount_pitch_deg)
        _extents(ids, extents)
        rows = []
        for k, place in enumerate(layout.places):
            left, top, right, bottom, pixels = extents[k + 1].tolist()
            if pixels < MIN_PIXELS:
                continue
            box = (left, top, right + 1, bottom + 1)
            amodal = projected_box(self.pool.mesh(place).vertices, layout.transforms[k], pose[:3], axes, camera)
            rows.append((k + 1, self.pool.entries[place].number, pixels, *box, *cut(amodal, camera)))
        return rows


def choose_views(
    flight: Flight,
    layout: ARLayout,
    count: int,
    camera: Camera,
    rng: np.random.Generator,
    config: ViewConfig,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Poses (count, 6) of frames, and which of the flight's poses each comes from."""
    views, which = np.empty((count, 6)), np.empty(count, np.int64)
    for i in range(count):
        sparse = rng.random() < config.sparse_share
        for _ in range(_TRIES):
            which[i] = rng.integers(len(flight.poses))
            views[i] = flight.poses[which[i]]
            # A photograph was taken where it was taken; only simulated cameras can be moved.
            if flight.photos is None and rng.random() < config.perturbed_share:
                views[i] = _perturbed(views[i], rng, config, layout.arena_m)
            clear = np.linalg.norm(layout.centres - views[i, :2], axis=1).min() > config.near_m
            if clear and (sparse or _in_view(layout, views[i], camera) >= config.min_visible):
                break
    return views, which


def projected_box(
    vertices: NDArray[np.float32],
    transform: NDArray[np.float32],
    eye: NDArray[np.float64],
    axes: NDArray[np.float64],
    camera: Camera,
) -> tuple[float, float, float, float]:
    """Box x0, y0, x1, y1 of a mesh in the image, hidden parts included; may reach beyond the frame.

    ``axes`` are the camera's right, down and forward (``camera_axes``), ``eye`` is where it is.
    """
    matrix = (axes @ transform).astype(np.float32)
    matrix[:, 3] -= (axes @ eye).astype(np.float32)
    x0, y0, x1, y1 = _spread(vertices, matrix, np.float32(camera.near_m))
    focal, x, y = camera.focal_px, camera.width / 2, camera.height / 2
    return focal * x0 + x, focal * y0 + y, focal * x1 + x, focal * y1 + y


def visible_boxes(ids: NDArray[np.uint8]) -> dict[int, tuple[int, int, int, int]]:
    """Tight boxes (right and bottom exclusive) of the objects of a frame with enough visible pixels, by id."""
    extents = np.empty((256, 5), np.int32)
    _extents(ids, extents)
    visible_ids = (int(k) for k in np.flatnonzero(extents[:, 4] >= MIN_PIXELS) if k > 0)
    return {k: (*extents[k, :2].tolist(), *(extents[k, 2:4] + 1).tolist()) for k in visible_ids}


def cut(box: tuple[float, float, float, float], camera: Camera) -> tuple[float, float, float, float]:
    """The part of a box inside the frame."""
    x0, y0, x1, y1 = box
    w, h = float(camera.width), float(camera.height)
    return min(max(x0, 0.0), w), min(max(y0, 0.0), h), min(max(x1, 0.0), w), min(max(y1, 0.0), h)


def _perturbed(pose: NDArray, rng: np.random.Generator, config: ViewConfig, arena_m: float) -> NDArray:
    spread = (config.shift_m, config.shift_m, config.lift_m, config.sway_rad, config.sway_rad, config.turn_rad)
    moved: NDArray[np.float64] = pose + np.array(spread) * rng.standard_normal(6)
    moved[:2] = np.clip(moved[:2], 0.0, arena_m)
    moved[2] = max(moved[2], 0.3)
    moved[5] = (moved[5] + math.pi) % (2 * math.pi) - math.pi
    return moved


def _in_view(layout: ARLayout, pose: NDArray, camera: Camera) -> int:
    """How many objects have their centre (at a quarter of a metre at most) in the picture."""
    points = np.column_stack([layout.centres, np.full(len(layout.places), 0.1)])
    local = (points - pose[:3]) @ camera_axes(pose, camera.mount_pitch_deg).T
    ahead = local[:, 2] > camera.near_m
    across = np.abs(local[:, 0]) * camera.focal_px < local[:, 2] * camera.width / 2
    down = np.abs(local[:, 1]) * camera.focal_px < local[:, 2] * camera.height / 2
    return int((ahead & across & down).sum())


@compiled(nogil=True)
def _spread(vertices, matrix, near):  # type: ignore[no-untyped-def]
    """Least and greatest x / z and y / z of the points before the camera, in camera coordinates."""
    low_x = low_y = np.float32(1e9)
    high_x = high_y = np.float32(-1e9)
    for v in range(len(vertices)):
        a, b, c = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        z = matrix[2, 0] * a + matrix[2, 1] * b + matrix[2, 2] * c + matrix[2, 3]
        if z > near:
            x = (matrix[0, 0] * a + matrix[0, 1] * b + matrix[0, 2] * c + matrix[0, 3]) / z
            y = (matrix[1, 0] * a + matrix[1, 1] * b + matrix[1, 2] * c + matrix[1, 3]) / z
            low_x, high_x = min(low_x, x), max(high_x, x)
            low_y, high_y = min(low_y, y), max(high_y, y)
    return low_x, low_y, high_x, high_y


@compiled(nogil=True)
def _extents(ids, extents):  # type: ignore[no-untyped-def]
    """Left, top, right, bottom (inclusive) and pixels of each id, in one pass."""
    height, width = ids.shape
    for k in range(len(extents)):
        extents[k, 0], extents[k, 1], extents[k, 2], extents[k, 3], extents[k, 4] = width, height, -1, -1, 0
    for y in range(height):
        for x in range(width):
            row = extents[ids[y, x]]
            row[0], row[1] = min(row[0], x), min(row[1], y)
            row[2], row[3] = max(row[2], x), max(row[3], y)
            row[4] += 1


def _pack(
    rgb: NDArray[np.uint8], ids: NDArray[np.uint8], poses: NDArray, photo: NDArray[np.uint8], rows: list[tuple]
) -> ShardArrays:
    table = np.array(rows, dtype=np.float64).reshape(-1, 12)
    return ShardArrays(
        rgb=rgb,
        ids=ids,
        boxes=table[:, 4:8].astype(np.float32),
        amodal=table[:, 8:12].astype(np.float32),
        frame=table[:, 0].astype(np.int32),
        instance=table[:, 1].astype(np.uint8),
        identity=table[:, 2].astype(np.int32),
        pixels=table[:, 3].astype(np.int32),
        pose=poses,
        photo=photo,
    )
