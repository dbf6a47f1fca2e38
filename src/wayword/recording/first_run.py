"""The first flight after an installation, with both cores compiling.

numba compiles a kernel when it is first called and keeps it on disk: half a minute of one core before the first flight,
nothing before later ones. So before a first flight a process of its own films a drone that stops at once, which
compiles the world's kernels, while this process lets the policy look at an empty frame, which compiles the policy's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from wayword.policy import Observations, Policy
from wayword.task import IMAGE_HEIGHT, IMAGE_WIDTH

PATIENCE_S = 120.0
"""A compiling process that takes longer is not waited for: whatever it leaves undone is compiled here."""


def is_first_run() -> bool:
    """Whether the renderer's largest kernel must be compiled, and can be kept for other processes to find."""
    from wayword.sim.render.shading import draw

    where = getattr(draw.stats, "cache_path", None)  # None where no folder can be written
    return where is not None and not any(Path(where).glob("shading.draw-*.nbc"))


class FirstRun:
    """Compile what a flight with ``policy`` needs: begin early, ``finish`` before the first frame."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        if is_first_run() and (os.cpu_count() or 1) > 1:
            command = [sys.executable, "-m", "wayword.recording.first_run"]
            quiet = subprocess.DEVNULL  # its troubles, if any, will be met again here and reported then
            self._child = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)

    def finish(self, policy: Policy, database: Any) -> None:
        """Compile the policy's kernels and wait for the world's."""
        if self._child is None:
            return
        try:
            glance(policy, database)
            self._child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._child.kill()
            self._child.wait()


def glance(policy: Policy, database: Any) -> None:
    """One decision about a black frame; the policy must be reset before it flies."""
    policy.reset([""], [database])
    image, pose = np.zeros((1, IMAGE_HEIGHT, IMAGE_WIDTH, 3), np.uint8), np.array([[2.35, 2.35, 0.5, 0.0, 0.0, 0.0]])
    policy.act(Observations(np.zeros(1, np.int64), image, pose))


def film_nothing() -> None:
    """Film a drone that stops at once."""
    from wayword.episodes import examples, load_natural
    from wayword.policy import make_policy
    from wayword.recording.film import Film
    from wayword.sim.render.bank import MeshBank

    example = examples(load_natural("dev")[0], 1)[0]
    for _ in Film(make_policy("stop"), example, MeshBank.of_catalogue([item.name for item in example.objects])):
        pass


if __name__ == "__main__":
    film_nothing()
