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

from wayword.camera import Camera
from wayword.episodes import PlacedObject, Pose2
from wayword.episodes.commands import Step
from wayword.errors import WaywordError


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
    """Follows instructions.

    One that neither looks nor listens may say so with ``needs_objects = False``: it is then taught nothing.
    """

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


def needs_objects(policy: Policy) -> bool:
    """Whether a policy is taught objects; most are."""
    return bool(getattr(policy, "needs_objects", True))


@runtime_checkable
class Thinking(Protocol):
    """A policy that can say what it thinks, as FsPVN does."""

    def thought(self, slot: int = 0) -> Any:
        """The ``Thought`` of the last step."""
        ...

    def parsed(self, slot: int = 0) -> Any:
        """How the instruction was understood."""
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


@runtime_checkable
class Refusing(Protocol):
    """A policy that may decline to fly, and says why."""

    def refusal(self, slot: int = 0) -> str | None:
        """In one line; None if it flies. Asked after ``reset``, and once more when the flight has ended."""
        ...


@runtime_checkable
class StepBriefed(Protocol):
    """A policy that is shown what a command means and where everything stands: an upper bound of commands."""

    def brief_steps(
        self,
        steps: Sequence[Sequence[Step]],
        layouts: Sequence[Sequence[PlacedObject]],
        starts: Sequence[Pose2],
    ) -> None:
        """Steps about the names of the layout's objects, one list per slot, after ``reset``."""
        ...


def check_camera(policy: Policy, camera: Camera) -> None:
    """Refuse to fly a policy that takes its images for those of another camera than the one that makes them."""
    believed = getattr(policy, "camera", None)
    if isinstance(believed, Camera) and believed != camera.at_model_size():
        raise WaywordError(
            f"{policy.name} was loaded for a camera {believed.hfov_deg:g} degrees across and "
            f"{believed.mount_pitch_deg:g} down, but the simulator's is {camera.hfov_deg:g} across and "
            f"{camera.mount_pitch_deg:g} down; give the same camera to both"
        )
