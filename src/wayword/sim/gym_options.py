"""Options of ``wayword/Arena-v0`` for those who learn on it: a reward at every step, and the instruction as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ShapedReward:
    """What each part of the shaped reward is worth."""

    progress: float = 1.0
    """Per metre nearer to the end of the demonstration."""
    contact: float = -0.25
    """Per touch of an object."""
    arrived: float = 1.0
    """For a stop within the radius of success."""
    elsewhere: float = -0.5
    """For a stop anywhere else: worse than flying on, better than never trying."""


class Shaping:
    """Remembers how near each drone was and what it had touched, one step ago."""

    def __init__(self, count: int, worth: ShapedReward | None = None) -> None:
        self.worth = worth or ShapedReward()
        self._distances = np.zeros(count)
        self._contacts = np.zeros(count, np.int64)

    def begin(self, slots: Sequence[int], distances: NDArray[np.float64]) -> None:
        """New episodes in these slots; ``distances`` (N,) of all drones to their goals."""
        self._distances[slots] = distances[slots]
        self._contacts[slots] = 0

    def rewards(
        self,
        distances: NDArray[np.float64],
        contacts: NDArray[np.int64],
        stopped: NDArray[np.bool_],
        success: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Of one step (N,)."""
        worth = self.worth
        nearer, touched = self._distances - distances, contacts - self._contacts
        self._distances, self._contacts = distances.copy(), contacts.copy()
        ends = np.where(success, worth.arrived, np.where(stopped, worth.elsewhere, 0.0))
        return np.asarray(worth.progress * nearer + worth.contact * touched + ends, np.float64)


class PlainText:
    """The instruction as it is."""

    def __call__(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """The same."""
        return texts


class InstructionVectors:
    """The instruction as its sentence vector, by the encoder that ships; every text is encoded once."""

    WIDTH = 384

    def __init__(self) -> None:
        from wayword.language.minilm import MiniLM

        self._encoder = MiniLM()
        self._known: dict[str, NDArray[np.float32]] = {}

    @staticmethod
    def space() -> gym.spaces.Box:
        """Unit vectors."""
        return gym.spaces.Box(-1.0, 1.0, (InstructionVectors.WIDTH,), np.float32)

    def __call__(self, texts: tuple[str, ...]) -> NDArray[np.float32]:
        """(N, 384)."""
        for text in texts:
            if text not in self._known:
                self._known[text] = np.clip(self._encoder.embed([text])[0], -1.0, 1.0)
        return np.stack([self._known[text] for text in texts])
