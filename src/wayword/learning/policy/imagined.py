"""Frames without a segmentation: true boxes and masks, and for looks those of a photo of the object.

A segmentation costs more than everything else about a training flight. What it would see is close to this, as
long as a part of the flights is really segmented: its mistakes have to be learned too.

    photos = photo_pool(folder / "photos", grounder)
    imagined_frame(ids, names, photos, pose, camera, rng)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.grounding import Grounder
from wayword.learning.policy.executions import FramePart
from wayword.mapping import footprints
from wayword.objects import ObjectDatabase
from wayword.policy.perfect import true_regions

Photos = Mapping[str, NDArray[np.float32]]
"""Embeddings (n, D) of the photos of each object."""


def photo_pool(folder: Path, grounder: Grounder) -> dict[str, NDArray[np.float32]]:
    """Embeddings of all photos of a database by object."""
    exemplars = grounder.embed_database(ObjectDatabase.load(folder).crops())
    return {name: exemplars.vectors[exemplars.owners == number] for number, name in enumerate(exemplars.names)}


def imagined_frame(
    ids: NDArray[np.uint8],
    names: Sequence[str],
    photos: Photos,
    pose: NDArray[np.float64],
    camera: Camera,
    rng: np.random.Generator,
) -> FramePart:
    """A frame (H, W) of ids as a segmentation without mistakes would see it; ``names`` are the layout's objects."""
    numbers, boxes, masks = true_regions(ids, len(names))
    looks = np.zeros((len(numbers), next(iter(photos.values())).shape[1]), np.float32)
    for row, k in enumerate(numbers):
        of_this = photos[names[k]]
        looks[row] = of_this[rng.integers(len(of_this))]
    return pose, footprints(masks, boxes, pose, camera), np.ones(len(numbers), np.float32), looks
