"""Pictures of an empty simulated place with their poses: what somebody with a real drone collects in a real one.

The Oracle flies generated demonstrations, as if objects stood there, and the place's own camera takes a picture at
every decision. ``FolderFrames`` reads the folder; its intrinsics are what is believed of the camera, not what is true.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.episodes import generate_episode
from wayword.errors import WaywordError
from wayword.io import write_json
from wayword.learning.ar.flights import fly_oracle
from wayword.sim.arena import Arena, ArenaConfig
from wayword.sim.render.bank import MeshBank
from wayword.sim.worlds import WORLDS, WorldName
from wayword.task import ARENA_M

_BATCH = 8
_OBSTACLES = tuple(f"thing {i}" for i in range(12))


def collect_frames(
    out: Path, world: WorldName, count: int, seed: int = 0, progress: Callable[[int], None] = lambda done: None
) -> None:
    """Fly until ``count`` pictures are taken; ``out`` must not be there yet."""
    if count < 1:
        raise WaywordError(f"--count {count}: at least one picture is needed")
    if out.exists():
        raise WaywordError(f"{out}: is there already; name a new folder for --out")
    place = WORLDS[world]
    arena_config = place.arena()
    unfinished = out.with_name(f".{out.name}-unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    poses: dict[str, list[float]] = {}
    bank = MeshBank.of_catalogue(("die",))  # an arena wants meshes, even if nothing stands in it
    try:

        def watch(arena: Arena, slots: NDArray[np.int64]) -> None:
            for picture, pose in zip(arena.frames(slots).rgb, arena.poses[slots], strict=True):
                if len(poses) < count:
                    name = f"{len(poses):05d}.png"
                    Image.fromarray(picture).save(unfinished / name)
                    poses[name] = [round(float(value), 5) for value in pose]
                    progress(1)

        for batch in range(count):
            rng = np.random.default_rng((seed, batch))
            episodes = [generate_episode(str(i), "train", _OBSTACLES, rng)[0] for i in range(_BATCH)]
            seeds = [int(number) for number in rng.integers(0, 2**62, _BATCH)]
            fly_oracle(episodes, bank, [place.look] * _BATCH, seeds, watch, empty=True, config=arena_config)
            if len(poses) >= count:
                break
        header = {"intrinsics": _believed(arena_config), "arena_m": ARENA_M}
        write_json(unfinished / "poses.json", {**header, "frames": poses})
        os.replace(unfinished, out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _believed(config: ArenaConfig) -> dict[str, float]:
    camera = config.camera
    return {
        "width": camera.width,
        "height": camera.height,
        "hfov_deg": camera.hfov_deg,
        "mount_pitch_deg": camera.mount_pitch_deg,
    }
