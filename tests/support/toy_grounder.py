"""A grounder whose networks anyone can predict."""

from __future__ import annotations

import numpy as np

from wayword.grounding import DensityConfig, Exemplars, Grounder, GroundingConfig, ProposalConfig
from wayword.grounding.image_metric import ImageEmbedder
from wayword.grounding.proposals import Proposer
from wayword.grounding.refine import Refiner


def toy_grounder() -> Grounder:
    """Networks anyone can predict: a bright pixel is an object of 12 x 12 pixels, its colour is its embedding."""

    def proposals(x: np.ndarray) -> tuple[np.ndarray, ...]:
        bright = x.max(axis=1).reshape(len(x), 18, 4, 32, 4).max(axis=(2, 4))
        return np.where(bright > 0.5, 4.0, -9.0).astype(np.float32), np.full((len(x), 4, 18, 32), 6.0, np.float32)

    def metric(x: np.ndarray) -> tuple[np.ndarray, ...]:
        colour = x.max(axis=(2, 3)) + 1.01
        return ((colour / np.linalg.norm(colour, axis=1, keepdims=True)).astype(np.float32),)

    def refine(x: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.full((len(x), 32, 32), 20.0, np.float32),)

    config = GroundingConfig(ProposalConfig(), DensityConfig(0.02, 0.05), 3)
    return Grounder(Proposer(proposals, config.proposals), ImageEmbedder(metric, 3), Refiner(refine), config)


def toy_frame(*places: tuple[int, int, int]) -> np.ndarray:
    """A black frame with one bright pixel per (x, y, channel)."""
    frame = np.zeros((72, 128, 3), np.uint8)
    for x, y, channel in places:
        frame[y, x, channel] = 255
    return frame


RED_AND_BLUE = Exemplars(("red", "blue"), np.eye(3, dtype=np.float32)[[0, 2]], np.array([0, 1]))
