"""A folder of shards: written one by one, atomically, and taken up again where a run was stopped.

    run-folder/
        manifest.json               configuration, seed, shards wanted and done
        objects.json                the object table: number, source, index or seed, noun, size, paint
        shard-00000.safetensors     rgb, ids, boxes, amodal, frame, instance, identity, pixels, pose

Shard i depends on the configuration, the seed and i alone, so shards can be made in any order and by any
number of workers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from wayword import __version__
from wayword.compute import Crew, Workers, each
from wayword.errors import DataError, WaywordError
from wayword.guarded import read_json
from wayword.io import atomic_path, write_json
from wayword.learning.ar.config import ARConfig
from wayword.learning.ar.generate import Generator, ShardArrays
from wayword.learning.common.tensor_files import read_arrays, read_header

SCHEMA = 1
_REMEDY = "delete it and run `ar generate` again"


def ar_shard_path(folder: Path, number: int) -> Path:
    """Where shard ``number`` lies."""
    return folder / f"shard-{number:05d}.safetensors"


def write_shard(path: Path, arrays: ShardArrays, seed: int, number: int, config: ARConfig) -> None:
    """Write one shard, atomically."""
    tensors = {item.name: np.ascontiguousarray(getattr(arrays, item.name)) for item in fields(arrays)}
    about = {
        "seed": seed,
        "shard": number,
        "config": asdict(config),
        "version": __version__,
        "schema": SCHEMA,
    }
    with atomic_path(path) as temporary:
        save_file(tensors, temporary, metadata={"about": json.dumps(about)})  # several entries have no order


def read_shard(path: Path | str) -> ShardArrays:
    """Read one shard."""
    if not Path(path).exists():
        raise DataError(path, "there is no such shard")
    tensors = read_arrays(Path(path), _REMEDY)
    try:
        return ShardArrays(**{item.name: tensors[item.name] for item in fields(ShardArrays)})
    except KeyError as error:
        raise DataError(path, f"is no shard of AR frames; {_REMEDY}") from error


def shards(folder: Path | str) -> list[Path]:
    """The finished shards of a run, in order."""
    paths = sorted(Path(folder).glob("shard-*.safetensors"))
    if not paths:
        raise WaywordError(f"{folder}: holds no shards; make some with `wayword ar generate --out {folder}`")
    return paths


def read_objects(folder: Path | str) -> dict[int, dict[str, Any]]:
    """The object table of a run by number."""
    path = Path(folder) / "objects.json"
    try:
        return {int(entry["number"]): entry for entry in read_json(path)}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(path, "is not an object table") from error


def generate_shards(generator: Generator, folder: Path, frames: int, workers: Workers = 1) -> Iterator[int]:
    """Make the shards that are missing; yields the number of frames of each shard as it is done (or was).

    Stopping at any moment leaves complete shards only. A folder that holds another run is refused.
    """
    if frames < 1:
        raise WaywordError("at least one frame is needed")
    crew = Crew(workers) if isinstance(workers, int) else workers
    config, seed = generator.config, generator.seed
    total = -(-frames // config.shard_frames)
    manifest = {
        "schema": SCHEMA,
        "version": __version__,
        "seed": seed,
        "config": asdict(config),
        "camera": asdict(generator.backgrounds.camera),
        "objects": [entry.number for entry in generator.pool.entries],
    }
    _claim(folder, manifest)
    for leftover in folder.glob(".shard-*"):
        leftover.unlink(missing_ok=True)
    missing = [i for i in range(total) if not _whole(ar_shard_path(folder, i))]
    write_json(folder / "objects.json", [entry.as_json() for entry in generator.pool.entries])
    done = total - len(missing)

    def note() -> None:
        counts = {"shards_wanted": total, "shards_done": done, "frames": done * config.shard_frames}
        write_json(folder / "manifest.json", {**manifest, **counts})

    note()
    yield done * config.shard_frames
    # Meshes and backgrounds go to each worker once; shards come back, so that workers need not share our disk.
    for number, arrays in each(partial(_make, generator), missing, crew):
        write_shard(ar_shard_path(folder, number), arrays, seed, number, config)
        done += 1
        note()
        yield config.shard_frames


def _make(generator: Generator, number: int) -> tuple[int, ShardArrays]:
    return number, generator.shard(number)


def _claim(folder: Path, manifest: dict[str, Any]) -> None:
    """Refuse a folder with shards of another run."""
    path = folder / "manifest.json"
    if not path.exists():
        if folder.is_dir() and any(folder.glob("shard-*.safetensors")):
            raise DataError(path, "is missing beside shards; choose an empty folder for --out")
        return
    stored = read_json(path, remedy="choose another folder for --out")
    same = json.loads(json.dumps(manifest))
    for key in ("schema", "seed", "config", "camera", "objects"):
        if not isinstance(stored, dict) or stored.get(key) != same[key]:
            raise DataError(path, f"this folder holds a run with another {key}; choose another --out")


def _whole(path: Path) -> bool:
    """Whether a shard is there and can be opened."""
    if not path.exists():
        return False
    try:
        return set(read_header(path, _REMEDY).tensors) == {item.name for item in fields(ShardArrays)}
    except DataError:
        return False
