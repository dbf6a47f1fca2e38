"""Image similarity, n-way: which of n objects shows the same thing as the query (Appendix H).

    queries     (Q, D)       embeddings of images of one object
    exemplars   (n, J, D)    embeddings of other images of n objects, the query's among them

Beside ImgEmb stands a colour histogram of the same crops, compared by the same rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.intervals import Interval, wilson
from wayword.learning.grounding.exemplars import by_identity, good_views, row_crops
from wayword.learning.grounding.scenes import SceneConfig, scenes

HISTOGRAM_VARIANCE = 0.1
"""Width of the kernel with which colour histograms are compared."""


@dataclass(frozen=True)
class Gallery:
    """Crops of objects: one array (images, 3, 32, 32) per object; the first ``queried`` are of the split."""

    crops: tuple[NDArray[np.float32], ...]
    queried: int


def gallery(split: str, seed: int = 0, images: int = 40, frames: int = 2400) -> Gallery:
    """Views of the split's objects and of all seen ones as distractors, from frames with random looks.

    No training of the segmentation has met any object of the catalogue, so all of them are unseen.
    """
    rng = np.random.default_rng([seed, 40])
    crops: dict[str, NDArray[np.float32]] = {}
    order: list[str] = []
    for part, share in ((split, 0.3), ("train", 1.0)):
        scenery = scenes(SceneConfig(part, int(frames * share), "random", poses=4, seed=seed + 100))
        for o, rows in by_identity(scenery.data, good_views(scenery.data)).items():
            if len(rows) >= 20 and scenery.objects[o] not in crops:
                crops[scenery.objects[o]] = row_crops(scenery.data, rng.permutation(rows)[:images])
                order.append(scenery.objects[o])
        if part == split:
            queried = len(order)
    return Gallery(tuple(crops[name] for name in order), queried)


def histogram(crops: NDArray[np.float32], bins: int = 4) -> NDArray[np.float32]:
    """Colour histograms of the crops, square-rooted so that distances are Hellinger's: (K, bins^3)."""
    level = np.clip(((crops + 1) / 2 * bins).astype(np.int64), 0, bins - 1)
    cell = (level[:, 0] * bins + level[:, 1]) * bins + level[:, 2]
    counts = np.stack([np.bincount(row.ravel(), minlength=bins**3) for row in cell])
    result: NDArray[np.float32] = np.sqrt(counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
    return result


def n_way(
    vectors: list[NDArray[np.float32]],
    queried: int,
    ways: int,
    variance: float,
    rng: np.random.Generator,
    queries: int = 5,
    exemplars: int = 5,
    trials: int = 2000,
) -> Interval:
    """Share of trials in which the query's own object is the most likely one, by the product of densities."""
    right = 0
    for _ in range(trials):
        own = int(rng.integers(queried))
        others = rng.permutation(np.delete(np.arange(len(vectors)), own))[: ways - 1]
        mixed = rng.permutation(len(vectors[own]))
        query = vectors[own][mixed[:queries]]
        sets = [vectors[own][mixed[queries : queries + exemplars]]]
        sets += [vectors[o][rng.permutation(len(vectors[o]))[:exemplars]] for o in others]
        scores = [log_density(query, example, variance) for example in sets]
        right += int(int(np.argmax(scores)) == 0)
    return wilson(right, trials)


def log_density(query: NDArray[np.float32], exemplars: NDArray[np.float32], variance: float) -> float:
    """Sum over the query's images of the log of the mean kernel."""
    d = np.square(query[:, None].astype(np.float64) - exemplars[None]).sum(axis=2) / (-2 * variance)
    top = d.max(axis=1, keepdims=True)
    return float((top[:, 0] + np.log(np.exp(d - top).mean(axis=1))).sum())
