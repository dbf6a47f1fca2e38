"""The object databases of the experiments: crops from simulated flights and written phrases (Appendix G).

The Oracle flies generated demonstrations in random layouts of the objects. Wherever an object is seen whole, its
projected box, a little off as a real proposal would be, is a candidate view. Five views that differ in distance,
side and light are chosen for each object, no two from one flight.

    build_database(Path("databases/dev"), "dev", BuildConfig())
"""

from __future__ import annotations

import math
import os
import shutil
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera, camera_axes
from wayword.episodes import Episode, generate_episode
from wayword.errors import WaywordError
from wayword.language.phrases_db import load_phrases
from wayword.learning.ar.flights import fly_oracle
from wayword.learning.ar.generate import cut, projected_box, visible_boxes
from wayword.learning.ar.objects import distinct_names
from wayword.objects import Box, ObjectDatabase, teach, view_pixels
from wayword.objects.lock import LOCK
from wayword.sim.arena import Arena
from wayword.sim.models.catalogue import names
from wayword.sim.models.packs import load_pack
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look, random_look

Which = Literal["seen", "dev", "test", "all"]
_BATCH = 16
_CHOICE = 4
"""Views of an object, from different flights, to choose each of its photos from."""


@dataclass(frozen=True)
class BuildConfig:
    """How views are taken and chosen."""

    views: int = 5
    """Photos per object (paper: five); a pool to draw databases from for training has more."""
    seed: int = 0
    min_side_px: float = 18.0
    """Longer side of the box at least."""
    whole: float = 0.85
    """Share of the projected box that is visible at least: not hidden, not cut off by the frame."""
    alone: float = 0.04
    """Share of the crop that other objects fill at most."""
    shift: float = 0.04
    """Standard deviation of the box's place, as a share of its longer side: what proposals are off by."""
    stretch: float = 0.06
    """Standard deviation of the logarithm of its width and height."""
    usual_look: float = 0.4
    """Share of flights under the arena's own look; the others have random ones."""
    max_flights: int = 4000
    """Give up after this many."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One view of one object."""

    flight: int
    distance_m: float
    side_rad: float
    """From which side, in the object's own frame."""
    image: NDArray[np.uint8]
    box: Box


def build_database(
    out: Path, which: Which, config: BuildConfig | None = None, progress: Callable[[int], None] = lambda done: None
) -> ObjectDatabase:
    """Fly, choose and write; ``progress`` counts objects that have enough views. ``out`` must not be there yet."""
    config = config or BuildConfig()
    _check(out, config)
    objects = names(None if which == "all" else which)
    phrases = {entry.name: entry.phrases for entry in load_phrases(which)}
    candidates = collect(MeshBank.of_catalogue(objects), objects, which, config, progress)
    if any(_flights(views) < _CHOICE * config.views for views in candidates.values()):
        short = min(objects, key=lambda name: len(candidates[name]))
        remedy = "ask for fewer --views"
        raise WaywordError(f"{short!r} was hardly ever seen whole in {config.max_flights} flights; {remedy}")
    return _write(out, candidates, phrases, config.views)


def build_pack_database(
    out: Path,
    pack: Path,
    config: BuildConfig | None = None,
    progress: Callable[[int], None] = lambda done: None,
    remark: Callable[[str], None] = lambda line: None,
) -> ObjectDatabase:
    """The same of the things of a baked mesh pack that can be told apart, each called by its name alone.

    ``remark`` hears of things that were hardly ever seen whole; they are left out.
    """
    config = config or BuildConfig(max_flights=1200)
    _check(out, config)
    distinct = distinct_names(pack)
    meshes = {name: mesh for name, mesh in load_pack(pack).meshes.items() if name in distinct}
    if not meshes:
        raise WaywordError(f"{pack}: holds nothing that can be told apart")
    candidates = collect(MeshBank(meshes), tuple(sorted(meshes)), pack.stem, config, progress)
    enough = {name: views for name, views in candidates.items() if _flights(views) >= config.views}
    for name in sorted(set(candidates) - set(enough)):
        remark(f"{name}: left out, hardly ever seen whole")
    if not enough:
        raise WaywordError(f"{pack}: nothing of it was seen whole; ask for fewer --views")
    return _write(out, enough, {name: (f"the {name}",) for name in enough}, config.views)


def _check(out: Path, config: BuildConfig) -> None:
    if config.views < 1:
        raise WaywordError(f"--views {config.views}: at least one view per object is needed")
    if out.exists():
        raise WaywordError(f"{out}: is there already; name a new folder for --out")


def _flights(views: Sequence[Candidate]) -> int:
    return len({view.flight for view in views})


def _write(
    out: Path, candidates: Mapping[str, Sequence[Candidate]], phrases: Mapping[str, Sequence[str]], views: int
) -> ObjectDatabase:
    unfinished = out.with_name(f".{out.name}-unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        for name, sightings in candidates.items():
            exemplars = [view_pixels(view.image, view.box) for view in choose_exemplars(sightings, views)]
            teach(unfinished, name, [replace(exemplar, photo=None) for exemplar in exemplars], phrases[name])
        (unfinished / LOCK).unlink(missing_ok=True)  # only there for writing
        os.replace(unfinished, out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return ObjectDatabase.load(out)


def collect(
    bank: MeshBank, objects: Sequence[str], which: str, config: BuildConfig, progress: Callable[[int], None]
) -> dict[str, list[Candidate]]:
    """Candidate views of each object, from as many flights as it takes for enough of each, or as many as allowed."""
    candidates: dict[str, list[Candidate]] = {name: [] for name in objects}
    enough = _CHOICE * config.views
    done: set[str] = set()
    for first in range(0, config.max_flights, _BATCH):
        rng = np.random.default_rng((config.seed, zlib.crc32(which.encode()), first))
        episodes = [generate_episode(str(first + i), "train", objects, rng)[0] for i in range(_BATCH)]
        looks = [Look() if rng.random() < config.usual_look else random_look(rng) for _ in episodes]
        seeds = [int(seed) for seed in rng.integers(0, 2**62, _BATCH)]
        watch = _Watch(episodes, first, bank, candidates, rng, config)
        fly_oracle(episodes, bank, looks, seeds, watch)
        ready = {name for name in objects if _flights(candidates[name]) >= enough}
        progress(len(ready - done))
        done |= ready
        if len(done) == len(objects):
            break
    return candidates


class _Watch:
    """Takes candidate views at every decision of a batch of flights."""

    def __init__(
        self,
        episodes: Sequence[Episode],
        first: int,
        bank: MeshBank,
        candidates: dict[str, list[Candidate]],
        rng: np.random.Generator,
        config: BuildConfig,
    ) -> None:
        self.episodes, self.first, self.bank, self.candidates = episodes, first, bank, candidates
        self.rng, self.config, self.camera = rng, config, Camera()

    def __call__(self, arena: Arena, slots: NDArray[np.int64]) -> None:
        frames = arena.frames(slots)
        for row, slot in enumerate(slots):
            pose = arena.fleet.pose[slot]
            axes = camera_axes(pose, self.camera.mount_pitch_deg)
            extents = visible_boxes(frames.ids[row])
            for k, item in enumerate(self.episodes[slot].objects):
                if k + 1 not in extents:
                    continue
                c, s = math.cos(item.yaw), math.sin(item.yaw)
                stand = np.array([[c, -s, 0, item.x], [s, c, 0, item.y], [0, 0, 1, 0]], dtype=np.float32)
                box = projected_box(self.bank.meshes[item.name].vertices, stand, pose[:3], axes, self.camera)
                place = self._proposal(box, extents[k + 1])
                if place is None or self._crowded(frames.ids[row], place, k + 1):
                    continue
                east, north = pose[0] - item.x, pose[1] - item.y
                side = math.atan2(north, east) - item.yaw
                view = Candidate(self.first + int(slot), math.hypot(east, north), side, frames.rgb[row].copy(), place)
                self.candidates[item.name].append(view)

    def _crowded(self, ids: NDArray[np.uint8], box: Box, own: int) -> bool:
        """Whether too much of other objects is in the square that will be cut around the box."""
        half = max(box.width, box.height) / 2
        x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        square = ids[max(int(y - half), 0) : math.ceil(y + half), max(int(x - half), 0) : math.ceil(x + half)]
        return bool(((square > 0) & (square != own)).mean() > self.config.alone)

    def _proposal(self, box: tuple[float, float, float, float], extent: tuple[int, int, int, int]) -> Box | None:
        """The box as a proposal network would give it, if the object is large and whole enough."""
        config = self.config
        wide, high = box[2] - box[0], box[3] - box[1]
        longer = max(wide, high)
        if (
            longer < config.min_side_px
            or (extent[2] - extent[0]) * (extent[3] - extent[1]) < config.whole * wide * high
        ):
            return None
        east, south, wider, higher = self.rng.standard_normal(4)
        x = (box[0] + box[2]) / 2 + config.shift * longer * east
        y = (box[1] + box[3]) / 2 + config.shift * longer * south
        wide, high = wide * math.exp(config.stretch * wider), high * math.exp(config.stretch * higher)
        x0, y0, x1, y1 = cut((x - wide / 2, y - high / 2, x + wide / 2, y + high / 2), self.camera)
        return Box(x0, y0, x1, y1) if min(x1 - x0, y1 - y0) >= 8 else None  # less is no view for a database


def choose_exemplars(candidates: Sequence[Candidate], count: int) -> list[Candidate]:
    """Views that differ most: each next one is the farthest from those chosen, no two from one flight.

    The first is the one of middle distance. A factor of e^0.5 in distance counts as much as a radian of side.
    """
    spots = np.array([
        (2 * math.log(max(view.distance_m, 0.1)), math.cos(view.side_rad), math.sin(view.side_rad))
        for view in candidates
    ])  # fmt: skip
    picks = [int(np.argsort(spots[:, 0], kind="stable")[len(spots) // 2])]
    flights = np.array([view.flight for view in candidates])
    while len(picks) < count:
        gaps = np.linalg.norm(spots[:, None] - spots[picks], axis=2).min(axis=1)
        gaps[np.isin(flights, flights[picks])] = -1.0
        picks.append(int(np.argmax(gaps)))
    return [candidates[i] for i in picks]
