"""The one interface of every policy, learned or not.

A policy flies many drones at once. ``reset`` starts one episode per instruction, each in a numbered slot;
``act`` gets what the drones of the slots still flying see, and answers with one action each. Slots leave
as their episodes end and never come back before the next ``reset``.

Shorthand
    N instructions at reset, M <= N still flying; H, W image size
    action (M, 3): forward velocity (m/s), yaw rate (rad/s, counter-clockwise), stop (> 0.5 ends the episode)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

STOP_THRESHOLD = 0.5


@dataclass(frozen=True)
class Observations:
    """What a policy may know of the drones still flying: no map, no object places, no demonstration."""

    slots: NDArray[np.int64]
    """Slot (M,) of each row, an index into the instructions given to ``reset``."""
    images: NDArray[np.uint8]
    """First-person images (M, H, W, 3)."""
    poses: NDArray[np.float64]
    """Reported poses (M, 6): x, y, z, roll, pitch, yaw in the world frame, metres and radians."""


@runtime_checkable
class Policy(Protocol):
    """Follows instructions."""

    @property
    def name(self) -> str:
        """Short name for tables and file names."""
        ...

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Start N episodes. ``objects[i]`` is what the user taught about objects (a database), not a layout."""
        ...

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """Actions (M, 3) for the slots in ``observations``; non-finite actions are an error of the policy."""
        ...


@runtime_checkable
class Privileged(Protocol):
    """A policy that is shown the demonstration: an upper bound, never a result of its own."""

    def brief(self, demonstrations: Sequence[NDArray[np.float64]]) -> None:
        """The gold paths (P, 2) of the episodes, in slot order, after ``reset``."""
        ...


@runtime_checkable
class Watching(Protocol):
    """A policy that is shown what the simulator knows of every frame: a diagnosis, never a result of its own."""

    def watch(self, ids: NDArray[np.uint8], layouts: Sequence[Sequence[str]]) -> None:
        """Just before each ``act``: whose every pixel is (M, H, W), k + 1 for object k of the row's layout."""
        ...
