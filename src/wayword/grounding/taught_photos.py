"""The embedded photos of a database: from the cache beside it where it is large, else from the pixels.

ImgEmb gives a photo the same vector whatever else is computed with it, so a vector can be kept by the digest of its
photo's file, and a database that has grown by an object has only that object's photos embedded anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import PIL

from wayword.grounding.crops import CROP
from wayword.grounding.density import Exemplars
from wayword.grounding.grounder import Grounder, crop_tensor
from wayword.objects.database import ObjectDatabase, TaughtObject, reduced_photo
from wayword.objects.stored_photos import StoredPhotos
from wayword.vector_cache import SMALL, Vectors, cached_vectors, key_of

RECIPE = 1
"""Goes up whenever a photo becomes other pixels than before."""
_AT_ONCE = 256


def taught_exemplars(database: ObjectDatabase, grounder: Grounder) -> Exemplars:
    """The photos of all objects as ``grounder`` embeds them; an object may have none."""
    if len(database) <= SMALL:
        return grounder.embed_database(database.crops())
    places = [(item, number) for item in database.objects for number in range(len(item.photos))]
    keys = [key for item in database.objects for key in _keys(item)]

    def make(rows: Sequence[int]) -> Vectors:
        parts = []
        for first in range(0, len(rows), _AT_ONCE):
            some = (places[row] for row in rows[first : first + _AT_ONCE])
            pixels = np.stack([reduced_photo(item.photos[number], CROP) for item, number in some])
            parts.append(grounder.embedder.embed(crop_tensor(pixels)))
        return np.concatenate(parts)

    maker = None if grounder.maker is None else f"{grounder.maker} pillow {PIL.__version__} recipe {RECIPE}"
    vectors = cached_vectors(database.path, "photos", maker, keys, make, grounder.config.dimension)
    owners = np.repeat(np.arange(len(database)), [len(item.photos) for item in database.objects]).astype(np.int64)
    return Exemplars(database.names, vectors, owners)


def _keys(item: TaughtObject) -> list[bytes | None]:
    """None for a photo in memory, such as one that a person put into the folder and nobody has taken in."""
    if not isinstance(item.photos, StoredPhotos):
        return [None] * len(item.photos)
    return [None if digest is None else key_of(digest) for digest in item.photos.digests]
