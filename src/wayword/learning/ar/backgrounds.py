"""Where frames are taken: flights in the empty simulated arena, or a user's own pictures with known poses.

A folder of the user's frames holds PNG or JPEG pictures of the empty place and ``poses.json``:

    {"intrinsics": {"width": 640, "height": 360, "hfov_deg": 84.0, "mount_pitch_deg": 15.0},
     "arena_m": 4.7,
     "frames": {"0001.png": [2.1, 0.8, 0.7, 0.0, 0.02, 1.57]}}

Poses are those of the vehicle's body (x, y, z, roll, pitch, yaw; metres and radians; the arena's corner is the
origin and its ground z = 0). Pictures are cut to the output's shape about their middle and made smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.camera import Camera
from wayword.episodes import generate_episode
from wayword.errors import DataError, WaywordError
from wayword.guarded import read_json
from wayword.learning.ar.config import ViewConfig
from wayword.learning.ar.flights import fly_oracle
from wayword.sim.arena import Arena
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look, random_look
from wayword.task import ARENA_M, IMAGE_HEIGHT, IMAGE_WIDTH

MAX_PIXELS = 64 * 10**6
FORMATS = ("PNG", "JPEG")
_OBSTACLES = tuple(f"thing {i}" for i in range(12))


@dataclass(frozen=True, eq=False)
class Flight:
    """Poses (T, 6) in one empty place, with the look of the place or the pictures (T, H, W, 3) taken there."""

    poses: NDArray[np.float64]
    look: Look | None
    photos: NDArray[np.uint8] | None
    camera: Camera | None = None
    """The camera of this flight, if it is not that of all."""
    distortion: float = 0.0
    """What its lens does to the finished frame, see ``panoramas.bend``."""
    flawless: bool = False
    """The pictures were drawn, without blur and noise: objects over them have none of their own either, or their
    grain would give them away."""


class Backgrounds(Protocol):
    """A source of flights."""

    @property
    def camera(self) -> Camera:
        """The camera of all frames."""
        ...

    @property
    def arena_m(self) -> float:
        """Side of the square that objects stand in."""
        ...

    def flights(self, rng: np.random.Generator, config: ViewConfig) -> list[Flight]:
        """The flights of one shard."""
        ...


class PictureSource(Backgrounds, Protocol):
    """A source of flights whose backgrounds are pictures, of a camera that has noise."""

    def samples(self) -> NDArray[np.uint8]:
        """Pictures (N, H, W, 3) to measure the noise in."""
        ...


class SimulatedFlights:
    """The Oracle flies generated demonstrations in the empty arena, each under another look."""

    arena_m = ARENA_M

    def __init__(self, camera: Camera | None = None) -> None:
        self._camera = camera or Camera()

    @property
    def camera(self) -> Camera:
        """The camera of all frames."""
        return self._camera

    def flights(self, rng: np.random.Generator, config: ViewConfig) -> list[Flight]:
        """Fly ``config.flights`` demonstrations side by side."""
        count = config.flights
        # Paths bend around objects that are not there, as demonstrations do: only their shape is wanted.
        episodes = [generate_episode(str(i), "train", _OBSTACLES, rng)[0] for i in range(count)]
        seeds = [int(seed) for seed in rng.integers(0, 2**62, count)]
        poses: list[list[NDArray[np.float64]]] = [[] for _ in range(count)]

        def watch(arena: Arena, slots: NDArray[np.int64]) -> None:
            for slot in slots:
                poses[slot].append(arena.fleet.pose[slot])

        fly_oracle(episodes, _bare_bank(), [Look()] * count, seeds, watch, empty=True)
        return [Flight(np.array(flown), random_look(rng), None) for flown in poses]


class FolderFrames:
    """A user's own pictures of an empty place."""

    def __init__(self, folder: Path | str, width: int = IMAGE_WIDTH, height: int = IMAGE_HEIGHT) -> None:
        self.folder = Path(folder)
        path = self.folder / "poses.json"
        stored = _read_json(path)
        unknown = sorted(set(stored) - {"intrinsics", "arena_m", "frames"})
        if unknown:
            raise DataError(path, f"unknown key {unknown[0]!r}; known are intrinsics, arena_m and frames")
        source = _intrinsics(path, stored.get("intrinsics"))
        self.arena_m = _number(path, stored.get("arena_m", ARENA_M), "arena_m")
        if not 1.0 <= self.arena_m <= 100.0:
            raise DataError(path, f"arena_m must be between 1 and 100 metres, found {self.arena_m:g}")
        frames = stored.get("frames")
        if not isinstance(frames, dict) or not frames:
            raise DataError(path, '"frames" must map picture names to poses, and hold at least one')
        self._check_pictures(path, frames)
        names = sorted(frames)
        self.poses = np.array([_pose(path, name, frames[name]) for name in names])
        # Cut away what is too wide or too high, about the middle, so that the optical axis stays in the middle.
        wide = min(source.width, round(source.height * width / height))
        high = min(source.height, round(source.width * height / width))
        half = math.atan(wide / source.width * math.tan(math.radians(source.hfov_deg) / 2))
        self._camera = Camera(width, height, math.degrees(2 * half), source.mount_pitch_deg)
        left, top = (source.width - wide) / 2, (source.height - high) / 2
        box = (left, top, left + wide, top + high)
        self.photos = np.stack([_picture(self.folder / name, source, box, (width, height)) for name in names])

    @property
    def camera(self) -> Camera:
        """The camera of the pictures after cutting and scaling."""
        return self._camera

    def flights(self, rng: np.random.Generator, config: ViewConfig) -> list[Flight]:
        """All pictures as one flight."""
        return [Flight(self.poses, None, self.photos)]

    def samples(self) -> NDArray[np.uint8]:
        """All pictures."""
        return self.photos

    def _check_pictures(self, path: Path, frames: dict[str, Any]) -> None:
        for name in frames:
            if not name or name != Path(name).name or name in (".", ".."):
                raise DataError(path, f"{name!r} is not the name of a picture in this folder")
            if not (self.folder / name).is_file():
                raise DataError(path, f"{name!r} has a pose, but there is no such picture")
        pictures = sorted(p.name for p in self.folder.iterdir() if p.suffix.lower() in (".png", ".jpg", ".jpeg"))
        lost = [name for name in pictures if name not in frames]
        if lost:
            raise DataError(path, f"{lost[0]!r} has no pose; add it to frames or take the picture away")


def _bare_bank() -> MeshBank:
    return MeshBank.of_catalogue(("die",))  # an arena wants meshes, even if nothing stands in it


def _read_json(path: Path) -> dict[str, Any]:
    if not path.parent.is_dir():
        raise WaywordError(f"{path.parent}: there is no such folder of frames")
    stored = read_json(path, 256 * 2**20, "a folder of frames needs it")
    if not isinstance(stored, dict):
        raise DataError(path, 'must hold {"intrinsics": ..., "frames": ...}')
    return stored


def _number(path: Path, value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DataError(path, f"{what} must be a finite number, found {value!r}")
    return float(value)


def _intrinsics(path: Path, value: Any) -> Camera:
    keys = ("width", "height", "hfov_deg", "mount_pitch_deg")
    if not isinstance(value, dict) or sorted(value) != sorted(keys):
        raise DataError(path, f"intrinsics must give {', '.join(keys)}")
    width, height, hfov, pitch = (_number(path, value[key], f"intrinsics: {key}") for key in keys)
    if width != int(width) or height != int(height):
        raise DataError(path, "intrinsics: width and height must be whole numbers of pixels")
    try:
        return Camera(int(width), int(height), hfov, pitch)
    except WaywordError as error:
        raise DataError(path, f"intrinsics: {error}") from error


def _pose(path: Path, name: str, value: Any) -> list[float]:
    if not isinstance(value, list) or len(value) != 6:
        raise DataError(path, f"the pose of {name!r} must be six numbers: x, y, z, roll, pitch, yaw")
    pose = [_number(path, item, f"the pose of {name!r}") for item in value]
    if not 0.05 < pose[2] < 50:
        raise DataError(path, f"the pose of {name!r} has z = {pose[2]:g}; it must be above the ground, in metres")
    return pose


def _picture(
    path: Path, source: Camera, box: tuple[float, float, float, float], size: tuple[int, int]
) -> NDArray[np.uint8]:
    try:
        with Image.open(path, formats=FORMATS) as image:
            if image.size != (source.width, source.height):
                raise DataError(
                    path,
                    f"is {image.width} x {image.height} pixels, but the intrinsics in poses.json say "
                    f"{source.width} x {source.height}",
                )
            if image.width * image.height > MAX_PIXELS:
                raise DataError(path, f"has more than {MAX_PIXELS // 10**6} million pixels")
            small = image.convert("RGB").resize(size, Image.Resampling.BOX, box=box)
    except DataError:
        raise
    except Exception as error:  # decoders of foreign input may raise anything
        raise DataError(path, "cannot be read as a PNG or JPEG picture") from error
    return np.asarray(small)
