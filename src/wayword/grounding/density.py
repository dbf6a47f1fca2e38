"""P(o | b): which object of the database a region shows, or that it shows none of them (Equation 2).

    x      (B, D)   embeddings of B regions I[b], unit length
    q_oj   (J, D)   embeddings of all exemplar images, object by object; ``owners`` (J,) says whose
    k_o(b) = 1/J_o sum_j exp(-||x - q_oj||^2 / (2 sigma_o^2))     kernel density pdf(b | o), peak 1
    sigma_o^2 = sigma^2 + lambda s_o                              s_o: how far o's own images lie apart
    P(o | b)    = k_o / (beta + sum_o' k_o')                      Equation 2 with uniform P(o), and
    P(none | b) = beta / (beta + sum_o' k_o')                     the density beta of any other thing

The released code sums unnormalised kernels over the images and has beta = 1e-10, so that more photos make an
object more probable and strange regions are rejected only by underflow. Here a kernel's mean is taken, and
beta stands beside the sum: neither the number of photos nor unrelated objects in the database change a
probability. An object whose photos differ much (a robot, from all sides) is recognised from further away than
one whose photos are alike (a duck): one width for all, as in the paper, tells objects in the database from others
a little less well (AUROC 0.951 against 0.955 on dev objects). All numbers are fitted on training objects
(``wayword.learning.grounding.fit``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError

OTHERS = "another taught object"
"""The name of all objects of a large database that an instruction cannot mean (``shortlist``)."""


class CrowdDensity(Protocol):
    """The objects that are not told apart."""

    def densities(self, x: NDArray[np.float32]) -> NDArray[np.float64]:
        """(B,) sum of their densities."""


@dataclass(frozen=True)
class DensityConfig:
    """The fitted numbers."""

    variance: float = 0.05
    """sigma^2 of the kernel, in squared distance between unit vectors (0 to 4)."""
    background: float = 0.05
    """beta, on the scale of a kernel whose peak is 1."""
    spread: float = 0.0
    """lambda: how much of the spread of an object's own images widens its kernel; 0 is one width for all."""
    typical: float = 0.25
    """Spread of a training object: what is assumed where there are too few images to tell."""

    def __post_init__(self) -> None:
        if not (0 < self.variance < np.inf and 0 < self.background < np.inf):
            raise WaywordError("variance and background of the density must be positive numbers")
        if not (0 <= self.spread < np.inf and 0 <= self.typical < np.inf):
            raise WaywordError("spread and typical of the density must not be negative")


@dataclass(frozen=True)
class Exemplars:
    """The embedded images of a database: M objects, J images."""

    names: tuple[str, ...]
    vectors: NDArray[np.float32]
    """(J, D)."""
    owners: NDArray[np.int64]
    """(J,) the number of the object each image shows."""
    crowd: CrowdDensity | None = None
    """The objects behind the last name, ``OTHERS``, which has no images of its own; None if every name is an object."""

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or self.owners.shape != (len(self.vectors),):
            raise ValueError(f"{self.vectors.shape} vectors do not go with {self.owners.shape} owners")
        if len(self.owners) and not (self.owners.min() >= 0 and self.owners.max() < len(self.names)):
            raise ValueError(f"an image belongs to an object that is not among the {len(self.names)}")

    def spreads(self, typical: float) -> NDArray[np.float64]:
        """``spreads`` of these images, computed once."""
        known: dict[float, NDArray[np.float64]] = self.__dict__.setdefault("_spreads", {})
        if typical not in known:
            known[typical] = spreads(self, typical)
        return known[typical]


def spreads(exemplars: Exemplars, typical: float) -> NDArray[np.float64]:
    """s_o (M,): mean squared distance between different images of an object, drawn to ``typical`` if they are few.

    The prior counts as much as two pairs of images. Copies of an image count once.
    """
    result = np.full(len(exemplars.names), typical)
    order = np.argsort(exemplars.owners, kind="stable")
    ends = np.cumsum(np.bincount(exemplars.owners, minlength=len(exemplars.names)))
    for o in range(len(exemplars.names)):
        numbers = order[ends[o - 1] if o else 0 : ends[o]]
        # As np.unique(axis=0), which takes twenty times as long for a handful of rows.
        rows = sorted(set(map(tuple, exemplars.vectors[numbers].astype(np.float64).tolist())))
        if len(rows) > 1:
            own = np.array(rows)
            total = 2.0 * (len(own) * np.square(own).sum() - np.square(own.sum(axis=0)).sum())  # over ordered pairs
            pairs = len(own) * (len(own) - 1)
            result[o] = (max(total, 0.0) + 4 * typical) / (pairs + 4)
    return result


def densities(x: NDArray[np.float32], exemplars: Exemplars, config: DensityConfig) -> NDArray[np.float64]:
    """(B, M) kernel densities k_o; zero for an object without images."""
    square = (x * x).sum(axis=1)[:, None] + (exemplars.vectors * exemplars.vectors).sum(axis=1)[None]
    distance = np.maximum(square - 2.0 * (x @ exemplars.vectors.T), 0.0).astype(np.float64)
    variance: NDArray[np.float64] | float = config.variance
    if config.spread > 0:
        variance = (config.variance + config.spread * exemplars.spreads(config.typical))[exemplars.owners]
    kernels = np.exp(distance / (-2.0 * variance))
    count = len(exemplars.names)
    member = np.zeros((len(exemplars.vectors), count))
    member[np.arange(len(exemplars.owners)), exemplars.owners] = 1.0
    result: NDArray[np.float64] = kernels @ (member / np.maximum(member.sum(axis=0), 1.0))
    if exemplars.crowd is not None:
        result[:, -1] = exemplars.crowd.densities(x)
    return result


def probabilities(x: NDArray[np.float32], exemplars: Exemplars, config: DensityConfig) -> NDArray[np.float64]:
    """P(o | b) as (B, M + 1) rows that sum to 1; the last column is "none of these"."""
    k = densities(x, exemplars, config)
    weights = np.concatenate([k, np.full((len(k), 1), config.background)], axis=1)
    result: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return result
