"""Views into real panoramas: as many real backgrounds as needed, from a few pictures taken all around.

A camera with a field of view, a height and a tilt of its own is turned inside a panorama; each view is exposed on its
own, as a camera would. A panorama has no floor plan, so objects stand on a plane at the camera's height below it: the
horizon of the view and of the objects is the same, and nothing else can be known.

    panorama   (rows, columns, 3)   float32 linear light, equirectangular: column 0 and the last one meet behind
    d          (H, W, 3)            directions of pixels in the world, x forward at the panorama's middle, z up
    column = (1/2 - azimuth / 2 pi) columns, row = (1/2 - elevation / pi) rows
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera, camera_axes
from wayword.compiled import compiled
from wayword.errors import WaywordError
from wayword.learning.ar.backgrounds import Flight
from wayword.learning.ar.config import ViewConfig
from wayword.learning.ar.radiance import read_radiance
from wayword.task import ARENA_M, IMAGE_HEIGHT, IMAGE_WIDTH

POSES = 16
"""Views of one camera at one height in one panorama."""
_GAMMA = 1 / 2.2
_SAMPLES = 2


@dataclass(frozen=True)
class PanoramaConfig:
    """The cameras that are turned inside panoramas; ranges are uniform unless said otherwise."""

    least_fov_deg: float = 45.0
    most_fov_deg: float = 110.0
    """Across the picture."""
    least_height_m: float = 0.3
    most_height_m: float = 1.9
    least_pitch_deg: float = 0.0
    most_pitch_deg: float = 50.0
    """How far the camera looks down; from low down it looks ahead, or it would see nothing but ground."""
    roll_deg: float = 5.0
    """Standard deviation."""
    distortion: float = 0.15
    """Barrel (or pincushion) distortion at the corners, as a share of their distance from the middle, at most; half of
    the cameras have none."""
    darkest: float = 0.2
    brightest: float = 0.9
    """Where the exposure puts the view's brighter parts, as a share of full light, drawn evenly in its logarithm."""


class PanoramaViews:
    """Flights of many cameras in panoramas, each camera with its own picture of the place."""

    arena_m = ARENA_M

    def __init__(self, paths: Sequence[Path], config: PanoramaConfig | None = None) -> None:
        if not paths:
            raise WaywordError("at least one panorama (.hdr) is needed")
        self.config = config or PanoramaConfig()
        self.names = tuple(path.stem for path in paths)
        self._panoramas = [read_radiance(path) for path in paths]

    @property
    def camera(self) -> Camera:
        """The camera of simulated frames among these; views into panoramas have their own, in ``Flight.camera``."""
        return Camera()

    def flights(self, rng: np.random.Generator, config: ViewConfig) -> list[Flight]:
        """Of each of ``config.flights`` cameras, ``POSES`` views."""
        return [self._flight(rng) for _ in range(config.flights)]

    def samples(self) -> NDArray[np.uint8]:
        """Some views of all panoramas, always the same: what noise is measured in."""
        rng = np.random.default_rng(0)
        pictures = [self._flight(rng, which % len(self._panoramas)).photos for which in range(2 * len(self._panoramas))]
        return np.concatenate([photos for photos in pictures if photos is not None])

    def _flight(self, rng: np.random.Generator, which: int | None = None) -> Flight:
        config = self.config
        panorama = self._panoramas[int(rng.integers(len(self._panoramas))) if which is None else which]
        camera = Camera(IMAGE_WIDTH, IMAGE_HEIGHT, float(rng.uniform(config.least_fov_deg, config.most_fov_deg)), 0.0)
        height = float(rng.uniform(config.least_height_m, config.most_height_m))
        bent = float(rng.uniform(-0.4, 1.0)) * config.distortion if rng.random() < 0.5 else 0.0
        poses = np.array([random_pose(config, height, self.arena_m, rng) for _ in range(POSES)])
        north = float(rng.uniform(-math.pi, math.pi))
        exposures = np.exp(rng.uniform(math.log(config.darkest), math.log(config.brightest), POSES))
        photos = np.stack(
            [panorama_view(panorama, pose, camera, north, e) for pose, e in zip(poses, exposures, strict=True)]
        )
        return Flight(poses, None, photos, camera, bent)


def random_pose(config: PanoramaConfig, height: float, arena_m: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Somewhere in or beside the arena, turned towards a point in it."""
    low = (height - config.least_height_m) / max(config.most_height_m - config.least_height_m, 1e-9)
    steepest = config.least_pitch_deg + (0.3 + 0.7 * low) * (config.most_pitch_deg - config.least_pitch_deg)
    x, y = rng.uniform(-0.5, arena_m + 0.5, 2)
    towards = rng.uniform(0.8, arena_m - 0.8, 2) - (x, y)
    pitch = math.radians(rng.uniform(config.least_pitch_deg, steepest))
    roll = math.radians(config.roll_deg * rng.standard_normal())
    return np.array([x, y, height, roll, pitch, math.atan2(towards[1], towards[0])])


def panorama_view(
    panorama: NDArray[np.float32], pose: NDArray[np.float64], camera: Camera, north: float, exposure: float
) -> NDArray[np.uint8]:
    """What a camera at ``pose`` sees of a panorama turned by ``north``: (H, W, 3), exposed on its own.

    ``exposure`` is where the upper quarter of the view's light begins, as a share of full light.
    """
    light = np.empty((camera.height, camera.width, 3), np.float32)
    _look(panorama, camera_axes(pose, camera.mount_pitch_deg), camera.focal_px, north, light)
    bright = float(np.quantile(light.mean(axis=2), 0.75))
    levels = np.clip(light * np.float32(exposure / max(bright, 1e-6)), 0, 1) ** np.float32(_GAMMA)
    pixels: NDArray[np.uint8] = np.rint(levels * 255).astype(np.uint8)
    return pixels


def bend(
    rgb: NDArray[np.uint8], ids: NDArray[np.uint8], distortion: float
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Frames (N, H, W, 3) and ids (N, H, W) as a lens that distorts shows them, filling the frame.

    A point at r times the half diagonal is taken from r (1 + k r^2) / (1 + k) for k > 0 (barrel), which leaves the
    corners where they are and enlarges the middle; for k < 0 (pincushion) from r (1 + k r^2), which enlarges the rim.
    """
    bent, owners = np.empty_like(rgb), np.empty_like(ids)
    for i in range(len(rgb)):
        _bend(rgb[i], ids[i], distortion, bent[i], owners[i])
    return bent, owners


@compiled(nogil=True)
def _look(panorama, axes, focal, north, out):  # type: ignore[no-untyped-def]
    rows, columns, _ = panorama.shape
    height, width, _ = out.shape
    share = np.float32(1.0 / (_SAMPLES * _SAMPLES))
    for i in range(height):
        for j in range(width):
            red = green = blue = np.float32(0.0)
            for v in range(_SAMPLES):
                for u in range(_SAMPLES):
                    a = (j + (u + 0.5) / _SAMPLES - width / 2) / focal
                    b = (i + (v + 0.5) / _SAMPLES - height / 2) / focal
                    x = axes[0, 0] * a + axes[1, 0] * b + axes[2, 0]
                    y = axes[0, 1] * a + axes[1, 1] * b + axes[2, 1]
                    z = axes[0, 2] * a + axes[1, 2] * b + axes[2, 2]
                    turn = 0.5 - (math.atan2(y, x) + north) / (2 * math.pi)
                    column = (turn - math.floor(turn)) * columns - 0.5
                    row = (0.5 - math.atan2(z, math.hypot(x, y)) / math.pi) * rows - 0.5
                    row = min(max(row, 0.0), rows - 1.0)
                    top = min(int(row), rows - 2)
                    left = math.floor(column)
                    fy, fx = np.float32(row - top), np.float32(column - left)
                    right = (left + 1) % columns
                    left = left % columns
                    p, q = panorama[top, left], panorama[top, right]
                    r, s = panorama[top + 1, left], panorama[top + 1, right]
                    wa, wb = (1 - fx) * (1 - fy), fx * (1 - fy)
                    wc, wd = (1 - fx) * fy, fx * fy
                    red += wa * p[0] + wb * q[0] + wc * r[0] + wd * s[0]
                    green += wa * p[1] + wb * q[1] + wc * r[1] + wd * s[1]
                    blue += wa * p[2] + wb * q[2] + wc * r[2] + wd * s[2]
            out[i, j, 0], out[i, j, 1], out[i, j, 2] = red * share, green * share, blue * share


@compiled(nogil=True)
def _bend(rgb, ids, k, bent, owners):  # type: ignore[no-untyped-def]
    height, width = ids.shape
    half = math.hypot(width / 2, height / 2)
    for i in range(height):
        for j in range(width):
            a, b = (j + 0.5 - width / 2) / half, (i + 0.5 - height / 2) / half
            stretch = 1 + k * (a * a + b * b)
            if k > 0:
                stretch /= 1 + k
            x = min(max(a * stretch * half + width / 2 - 0.5, 0.0), width - 1.0)
            y = min(max(b * stretch * half + height / 2 - 0.5, 0.0), height - 1.0)
            owners[i, j] = ids[int(y + 0.5), int(x + 0.5)]
            left, top = min(int(x), width - 2), min(int(y), height - 2)
            fx, fy = x - left, y - top
            for c in range(3):
                upper = rgb[top, left, c] * (1 - fx) + rgb[top, left + 1, c] * fx
                lower = rgb[top + 1, left, c] * (1 - fx) + rgb[top + 1, left + 1, c] * fx
                bent[i, j, c] = np.uint8(upper * (1 - fy) + lower * fy + 0.5)
