"""What a flight came to: facts about its end, and what is said about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.sim.arena import Arena, Ending

ENDED_WORDS: Mapping[str, str] = MappingProxyType(
    {"policy": "stopped", "horizon": "ran out of time", "contact": "hit an object", "error": "was ended by a fault"}
)
"""How a flight ended, in words."""


@dataclass(frozen=True, eq=False)
class FlightEnd:
    """Facts about a flight that is over."""

    example: Example
    path: NDArray[np.float64]
    """Where the drone was (P, 2), every sub-step of the vehicle."""
    pose: NDArray[np.float64]
    """Where it is now (6,)."""
    ending: Ending
    decisions: int
    contacts: int
    seconds: float
    poses: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    """The path with headings (P, 3): x, y, yaw."""

    @staticmethod
    def of(example: Example, arena: Arena, slot: int = 0) -> FlightEnd:
        """The end of the flight in a slot of an arena."""
        ending, decisions = arena.endings[slot], int(arena.steps[slot])
        assert ending is not None
        seconds = (decisions - (ending == "policy")) * arena.config.decision_s  # a stop takes no time
        pose = arena.fleet.pose[slot].copy()
        poses, contacts = arena.flown_poses(slot), int(arena.contacts[slot])
        return FlightEnd(example, poses[:, :2].copy(), pose, ending, decisions, contacts, seconds, poses)


@dataclass(frozen=True)
class VerdictPart:
    """One thing that was asked for."""

    words: str
    """Such as "stopped at the globe: yes, 0.41 m"."""
    done: bool


@dataclass(frozen=True)
class Verdict:
    """What is said about a flight."""

    outcome: str
    """In one line."""
    success: bool | None = None
    """None if that cannot be told."""
    parts: tuple[VerdictPart, ...] = ()
    """Thing by thing, where that can be told."""


FlightJudge = Callable[[FlightEnd], Verdict]
