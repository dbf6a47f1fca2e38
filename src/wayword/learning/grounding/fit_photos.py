"""Fits how the thing is chosen in photos (``wayword.grounding.shared_thing``), and measures it.

    teaching   several photos of one thing with its true boxes (``teachings``)
    w          most likely weights: share of softmax(traits w) that falls on boxes which overlap the true one by half
    confidence logistic regression of being right on what ``signs`` says, with weights fitted on the other half

Photos of one teaching are looked at in groups of 2, 3 and 5, as people bring them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from wayword.grounding.nms import iou
from wayword.grounding.photo_candidates import CandidateFinder, Candidates
from wayword.grounding.shared_thing import Choice, ChoiceConfig, choose_boxes, shared_traits, signs, softmax
from wayword.intervals import Interval, wilson
from wayword.learning.grounding.teachings import Teaching

Floats = NDArray[np.float64]
RIGHT = 0.5
"""Overlap (IoU) with the true box from which a crop is right."""
_GROUPS = ((0, 1, 2, 3, 4), (0, 1, 2), (3, 4), (1, 4), (0, 2, 3))
_PENALTY = 1e-2


@dataclass(frozen=True, eq=False)
class Looked:
    """The candidates of one teaching's photos, which of them are right, and the vectors of the true boxes."""

    photos: tuple[Candidates, ...]
    right: tuple[NDArray[np.bool_], ...]
    vectors: NDArray[np.float32]
    looks: NDArray[np.float32]

    def some(self, numbers: Sequence[int]) -> Looked:
        """Of some of its photos."""
        indices = [k for k in numbers if k < len(self.photos)]
        photos, right = tuple(self.photos[k] for k in indices), tuple(self.right[k] for k in indices)
        return Looked(photos, right, self.vectors[indices], self.looks[indices])


def look(teaching: Teaching, finder: CandidateFinder) -> Looked:
    """Find the candidates of every photo."""
    photos = tuple(finder(photo) for photo in teaching.photos)
    truths = [np.array([box.values], np.float32) for box in teaching.boxes]
    right = tuple(iou(photo.boxes, true)[:, 0] >= RIGHT for photo, true in zip(photos, truths, strict=True))
    pairs = list(zip(teaching.photos, truths, strict=True))
    vectors = np.concatenate([finder.photo_embedder(photo, true) for photo, true in pairs])
    looks = np.concatenate([finder.embedder(photo[None], [0], true) for photo, true in pairs])
    return Looked(photos, right, vectors, looks)


def fit_choice(teachings: Sequence[Looked]) -> ChoiceConfig:
    """Both choices with their confidences."""
    alone = _fitted(teachings, lambda taught, _: [photo.traits for photo in taught.photos], ((0, 1, 2, 3, 4),), None)
    together = _fitted(teachings, _together, _GROUPS, alone)
    return ChoiceConfig(alone, together)


def _together(taught: Looked, alone: Choice | None) -> list[Floats]:
    assert alone is not None
    return shared_traits(taught.photos, alone)


def _fitted(
    teachings: Sequence[Looked],
    traits: Callable[[Looked, Choice | None], list[Floats]],
    groups: Sequence[Sequence[int]],
    alone: Choice | None,
) -> Choice:
    def rows(part: Iterable[Looked]) -> list[tuple[Floats, NDArray[np.bool_]]]:
        several = [taught.some(group) for taught in part for group in groups]
        return [
            pair
            for taught in several
            if taught.photos
            for pair in zip(traits(taught, alone), taught.right, strict=True)
        ]

    halves = rows(teachings[::2]), rows(teachings[1::2])
    guesses, outcome = [], []
    for learned, judged in (halves, halves[::-1]):
        weights = likeliest_weights(learned)
        for values, right in judged:
            scores = values @ weights
            guesses.append(signs(scores))
            outcome.append(bool(right[int(scores.argmax())]))
    first, second, third = logistic_weights(np.array(guesses), np.array(outcome, np.float64)).tolist()
    weights = likeliest_weights(halves[0] + halves[1])
    return Choice(tuple(round(float(value), 4) for value in weights), (first, second, third))


def likeliest_weights(rows: Sequence[tuple[Floats, NDArray[np.bool_]]]) -> Floats:
    """Weights of the traits (K, T) under which the right ones of each photo's K boxes have the largest share.

    A photo none of whose boxes is right says nothing about which to choose.
    """
    useful = [(values, right) for values, right in rows if right.any()]

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, slope = 0.0, np.zeros_like(weights)
        for values, right in useful:
            shares = softmax(values @ weights)
            hit = float(shares[right].sum())
            total -= np.log(max(hit, 1e-300))
            slope += values.T @ (shares - shares * right / max(hit, 1e-300))
        n = len(useful)
        return total / n + _PENALTY * float(weights @ weights), slope / n + 2 * _PENALTY * weights

    solution: Floats = minimize(loss, np.zeros(useful[0][0].shape[1]), jac=True, method="L-BFGS-B").x
    return solution


def logistic_weights(x: Floats, y: Floats) -> Floats:
    """Most likely weights of sigmoid(x w) for outcomes y of 0 and 1."""

    def loss(w: Floats) -> float:
        z = x @ w
        return float(np.mean(np.logaddexp(0.0, z) - y * z) + 1e-4 * w @ w)

    solution: Floats = minimize(loss, np.zeros(x.shape[1]), method="L-BFGS-B").x
    return solution


@dataclass(frozen=True)
class CropFigures:
    """How often the thing is found, and whether the confidence says so."""

    right: Interval
    """Crops that overlap the true box by half."""
    sure: Interval
    """Share of crops with a confidence of one half or more."""
    sure_right: Interval
    """Of those, the share that is right."""
    gap: float
    """Mean confidence less the share that is right: positive is boasting."""


def measure_crops(teachings: Sequence[Looked], config: ChoiceConfig, photos: int) -> CropFigures:
    """Of the first ``photos`` photos of every teaching, taught together."""
    right, sure = [], []
    for taught in teachings:
        some = taught.some(range(photos))
        for (best, confidence), truth in zip(choose_boxes(some.photos, config), some.right, strict=True):
            right.append(bool(truth[best]))
            sure.append(confidence)
    certain = np.array(sure) >= 0.5
    return CropFigures(
        wilson(sum(right), len(right)),
        wilson(int(certain.sum()), len(certain)),
        wilson(int(np.array(right)[certain].sum()), max(int(certain.sum()), 1)),
        float(np.mean(sure) - np.mean(right)),
    )
