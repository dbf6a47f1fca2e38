"""The Oracle of commands: the flyer of steps, told what was meant and where everything stands.

It makes demonstrations and bounds what any reader and any eyes can reach; it turns to look first, as a drone must that
does not know where its first object is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.episodes.commands import Step
from wayword.episodes.format import PlacedObject, Pose2
from wayword.policy.interface import Observations
from wayword.policy.steps.flyer import StepFlyer
from wayword.policy.steps.surroundings import TrueLayout


class StepOracle:
    """Flies the steps it is briefed with in the layouts it is briefed with."""

    name = "oracle_steps"
    needs_objects = False
    horizon = 240
    """Decisions it may need."""

    def __init__(self, camera: Camera | None = None) -> None:
        self.camera = (camera or Camera()).at_model_size()
        self._flyers: list[StepFlyer] = []
        self._layouts: list[TrueLayout] = []
        self._refused: list[bool] = []

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Forget the steps; they must be given anew with ``brief_steps``."""
        self._flyers, self._layouts, self._refused = [], [], [False] * len(instructions)

    def brief_steps(
        self,
        steps: Sequence[Sequence[Step]],
        layouts: Sequence[Sequence[PlacedObject]],
        starts: Sequence[Pose2],
        radii: Mapping[str, float] | None = None,
    ) -> None:
        """What is meant, with the names of the layout's objects, and where they stand; one of each per instruction."""
        self._flyers = [StepFlyer(list(one), self.camera) for one in steps]
        self._layouts = [TrueLayout({item.name: (item.x, item.y) for item in one}, radii) for one in layouts]
        self._refused = [not one for one in steps]

    def refusal(self, slot: int = 0) -> str | None:
        """Why it does not fly."""
        return "there is nothing to do" if self._refused[slot] else None

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """One decision for every slot."""
        if len(self._flyers) != len(self._refused):
            raise ValueError("the oracle of commands flies from steps: call brief_steps() after reset()")
        actions = [
            self._flyers[slot].decide(pose[[0, 1, 5]], self._layouts[slot])
            for slot, pose in zip(observations.slots, observations.poses, strict=True)
        ]
        return np.array(actions, np.float64).reshape(-1, 3)
