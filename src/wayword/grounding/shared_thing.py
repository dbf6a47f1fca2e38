"""Which box of each photo holds the one thing that all photos of a teaching show.

    u_i  = w . traits_i                                            what speaks for box i of a photo alone
    q_i  = softmax(u)_i                                            within its photo
    A_i  = mean over other photos of sum_j q_j cos(v_i, v_j)       how much it looks like what is likely there
    M_i  = mean over other photos of max_j cos(v_i, v_j) + 0.15 log q_j    or like the best of it
    E_i  = as A, with ImgEmb in the place of the photo vectors
    s_i  = w' . (traits_i, 10 (A - mean A)_i, 10 (M - mean M)_i, 3 (E - mean E)_i)

The box with the highest s is taken. Boxes of the background look like those of no other photo, and what looks alike
everywhere (a floor) is in every box of its photo and falls out with the means. The confidence is a logistic function
of the box's share in softmax(s) and of s itself. All weights are fitted on drawn photos over real panoramas
(``wayword.learning.grounding.fit_photos``) and stand in ``photo_weights/config.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.grounding.photo_candidates import MIDDLE, TRAITS, Candidates
from wayword.grounding.photo_vectors import PHOTO_WEIGHTS, SCHEMA
from wayword.weight_folder import WeightFolder

_UNLIKELY = 0.15
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """Weights of the traits, and of share, score and 1 for the confidence."""

    weights: tuple[float, ...]
    confidence: tuple[float, float, float]

    def scores(self, traits: Floats) -> Floats:
        """One score per box."""
        scored: Floats = traits @ np.array(self.weights)
        return scored

    def sure(self, scores: Floats) -> float:
        """The probability that the best box is right."""
        return float(1 / (1 + np.exp(-np.dot(self.confidence, signs(scores)))))


@dataclass(frozen=True)
class ChoiceConfig:
    """One photo by itself, and several together."""

    alone: Choice
    together: Choice

    def __post_init__(self) -> None:
        if len(self.alone.weights) != len(TRAITS) or len(self.together.weights) != len(TRAITS) + 3:
            raise WaywordError(f"choosing needs {len(TRAITS)} weights alone and three more together")

    @staticmethod
    def load(weights: Path = PHOTO_WEIGHTS) -> ChoiceConfig:
        """The one that ships."""
        with WeightFolder.read(weights, SCHEMA).parsing() as settings:
            return ChoiceConfig(_choice(settings["alone"]), _choice(settings["together"]))


def choose_boxes(photos: Sequence[Candidates], config: ChoiceConfig) -> list[tuple[int, float]]:
    """The box of each photo and how sure it is."""
    if len(photos) == 1:
        scores = [config.alone.scores(photos[0].traits)]
        judge = config.alone
    else:
        scores = [config.together.scores(traits) for traits in shared_traits(photos, config.alone)]
        judge = config.together
    best = [int(own.argmax()) for own in scores]
    return [
        # The middle of a photo is taken where nobody found anything: no reason to be sure of it.
        (k, 0.0 if photo.traits[k, MIDDLE] else judge.sure(own))
        for photo, k, own in zip(photos, best, scores, strict=True)
    ]


def shared_traits(photos: Sequence[Candidates], alone: Choice) -> list[Floats]:
    """The traits of each photo's boxes with the three of agreement."""
    likely = [softmax(alone.scores(photo.traits)) for photo in photos]
    traits: list[Floats] = []
    for i, photo in enumerate(photos):
        others = [j for j in range(len(photos)) if j != i]
        alike = {j: (photo.vectors @ photos[j].vectors.T).astype(np.float64) for j in others}
        mean = np.mean([alike[j] @ likely[j] for j in others], axis=0)
        best = np.mean([(alike[j] + _UNLIKELY * np.log(likely[j] + 1e-3)).max(axis=1) for j in others], axis=0)
        look = np.mean([(photo.looks @ photos[j].looks.T).astype(np.float64) @ likely[j] for j in others], axis=0)
        agreement = [10 * (mean - mean.mean()), 10 * (best - best.mean()), 3 * (look - look.mean())]
        traits.append(np.column_stack([photo.traits, *agreement]))
    return traits


def softmax(scores: Floats) -> Floats:
    """Shares that sum to 1."""
    raised = np.exp(scores - scores.max())
    shares: Floats = raised / raised.sum()
    return shares


def signs(scores: Floats) -> Floats:
    """What the confidence is made of: log odds of the best box's share, its score, 1."""
    share = float(np.clip(softmax(scores).max(), 1e-3, 1 - 1e-3))
    return np.array([np.log(share / (1 - share)), float(scores.max()), 1.0])


def _choice(stored: Mapping[str, Any]) -> Choice:
    first, second, third = (float(value) for value in stored["confidence"])
    return Choice(tuple(float(value) for value in stored["weights"]), (first, second, third))
