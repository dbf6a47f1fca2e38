"""Everything the policy learns from, made once: demonstrations, photos, flights and readings.

    data/generated   episodes.jsonl, shards of the Oracle's flights, readings
    data/natural     the same for the natural train corpus (its episodes ship with the package)
    data/dev         the same for the natural dev corpus, for decisions
    data/drills      the same for drills: pairs that only the told side tells apart
    data/photos      forty photos of each seen object, to draw databases from

What is there already is not made again. About an hour on one core, half of it on two.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from wayword.errors import WaywordError

PROCESSES = 2
PHOTOS = 40


def prepare(folder: Path, episodes: int, drills: int, seed: int) -> None:
    """Make what is missing below ``folder``."""
    generated, natural, dev, photos = (folder / name for name in ("generated", "natural", "dev", "photos"))
    for each in (generated, natural, dev):
        each.mkdir(parents=True, exist_ok=True)
    source = generated / "episodes.jsonl"
    if not source.exists():
        _run(["data", "generate", "--count", str(episodes), "--seed", str(11 + seed), "--out", str(source)])
    prepare_drills(folder / "drills", drills, seed)
    if not photos.exists():
        _run(["objects", "build", "--out", str(photos), "--which", "seen", "--views", str(PHOTOS)])
    _both("flights", natural, ["train", str(natural), "--overlapping"])
    _both("flights", dev, ["dev", str(dev), "--overlapping", "--config.disturbed", "0", "--config.random-looks", "0"])
    _both("flights", generated, [str(source), str(generated), "--config.stride", "2"])
    _read(dev, ["dev"], ["--overlapping", "--config.database", "dev", "--config.prefixes", "0"])
    _read(natural, ["train"], ["--overlapping"])
    _read(generated, [str(source)], [])


def prepare_drills(folder: Path, count: int, seed: int) -> None:
    """Make what is missing of the drills."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "episodes.jsonl"
    if not source.exists():
        _run(["data", "generate", "--drills", "--count", str(count), "--seed", str(11 + seed), "--out", str(source)])
    _both("flights", folder, [str(source), str(folder), "--config.stride", "2"])
    _read(folder, [str(source)], [])


def _both(module: str, folder: Path, arguments: Sequence[str]) -> None:
    """The parts of a job side by side; each skips the shards that are there."""
    if (folder / f"{module}.done").exists():
        return
    parts = [["--part", str(part), "--parts", str(PROCESSES)] for part in range(PROCESSES)]
    _wait([_start(module, [*arguments, *part]) for part in parts], module)
    (folder / f"{module}.done").touch()


def _read(folder: Path, source: Sequence[str], options: Sequence[str]) -> None:
    jobs = []
    for part in range(PROCESSES):
        out = folder / f"readings-{part}.jsonl"
        if not out.exists():
            jobs.append(
                _start("readings", [*source, str(out), *options, "--part", str(part), "--parts", str(PROCESSES)])
            )
    _wait(jobs, "readings")


def _start(module: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-m", f"wayword.learning.policy.{module}", *arguments], env=environment)


def _wait(jobs: Sequence[subprocess.Popen[bytes]], what: str) -> None:
    try:
        codes = [job.wait() for job in jobs]
    finally:
        for job in jobs:
            job.terminate()
    if any(codes):
        raise WaywordError(f"{what} stopped with code {max(codes)}; its messages are above; run the command again")


def _run(arguments: Sequence[str]) -> None:
    command = [sys.executable, "-c", "from wayword.cli.launch import main; main()", *arguments]
    code = subprocess.run(command, check=False).returncode
    if code:
        raise WaywordError(f"wayword {arguments[0]} {arguments[1]} stopped with code {code}; its messages are above")
