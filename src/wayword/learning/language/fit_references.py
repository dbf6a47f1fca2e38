"""Fit the kernel width and the background density of P(o | r) on training objects.

Small databases are drawn from the training objects; every pooled phrase is asked of databases that hold its
object and, as often, of databases that do not. The pair (sigma^2, b) with the highest mean log-probability of
the right answer ("none of these" in the second case) is taken from a grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from wayword.errors import WaywordError
from wayword.language.encoder import PhraseEncoder
from wayword.language.phrases_db import ObjectPhrases
from wayword.language.reference_model import ReferenceConfig, embed_database, reference_distances
from wayword.learning.language.phrase_pool import PhrasePool


@dataclass(frozen=True)
class ReferenceFit:
    """How the fit is made."""

    databases: int = 200
    """Databases drawn."""
    size: int = 8
    """Objects in each."""
    variances: tuple[float, ...] = tuple(np.geomspace(0.02, 0.6, 24).round(4).tolist())
    """Grid of sigma^2."""
    backgrounds: tuple[float, ...] = tuple(np.geomspace(1e-5, 0.5, 40).tolist())
    """Grid of b."""
    seed: int = 0
    """Of the draws."""


def fit_references(
    pool: PhrasePool,
    database: Mapping[str, ObjectPhrases],
    encoder: PhraseEncoder,
    config: ReferenceFit,
    advance: Callable[[int], None] = lambda _: None,
) -> tuple[ReferenceConfig, float]:
    """The fitted numbers and the mean log-probability they reach."""
    names = [name for name in pool.objects if name in database]
    if len(names) < config.size + 1:
        raise WaywordError(f"the phrase pool knows {len(names)} objects; at least {config.size + 1} are needed")
    rows = [(phrase, n, count) for n, name in enumerate(names) for phrase, count in pool.objects[name].items()]
    embedded = embed_database([database[name] for name in names], encoder)
    distances = reference_distances(encoder.embed([phrase for phrase, _, _ in rows]), embedded)
    owners = np.array([number for _, number, _ in rows])
    weights = np.sqrt([float(count) for _, _, count in rows])
    rng = np.random.default_rng([config.seed, 9])
    members = np.stack([rng.permutation(len(names))[: config.size] for _ in range(config.databases)])
    inside = (members[:, :, None] == owners).any(axis=1)  # (databases, rows)
    # Each database asks for as much weight of known as of unknown objects.
    known, unknown = ((side * weights).sum(axis=1, keepdims=True) for side in (inside, ~inside))
    share = np.where(inside, weights / known, weights / unknown) / 2
    best, best_value = ReferenceConfig(0.1, 0.01), -np.inf
    phrases_each = np.bincount(embedded.owners)
    for variance in config.variances:
        kernels = np.exp(distances / (-2 * variance))
        densities = np.add.reduceat(kernels, np.searchsorted(embedded.owners, np.arange(len(names))), axis=1)
        densities = densities / phrases_each
        sums = densities[:, members].sum(axis=2).T  # (databases, rows)
        own = densities[np.arange(len(rows)), owners]
        for background in config.backgrounds:
            right = np.where(inside, own, background)
            value = float((share * np.log(np.maximum(right, 1e-300) / (sums + background))).sum() / config.databases)
            if value > best_value:
                best, best_value = ReferenceConfig(float(variance), float(background)), value
        advance(1)
    return best, best_value
