"""P(o | r): which object of the database a reference r means, or that it means none of them.

    g(r)   (D,)     unit vector of the phrase
    w_oj   (D,)     unit vectors of the J_o phrases of object o
    k_o    = 1/J_o sum_j exp(-||g(r) - w_oj||^2 / (2 sigma^2))        kernel density of the paper, peak 1
    b(r)   = b / c(r),   c(r) = k_1 / (contrast k_2) between 1 and most_contrast;  k_1, k_2 the two largest k_o
    P(o | r) = k_o / (b(r) + sum_o' k_o'),   P(none | r) = b(r) / (b(r) + sum_o' k_o')

The background density b is what a phrase about any other thing has, on the same scale. The released code had
b = 1e-10, which rejects only by underflow. A mean over phrases and a b beside the sum, not shared out over the
objects, mean that neither the number of phrases nor unrelated objects in the database change a probability.
sigma^2 and b are fitted on training objects (``wayword.learning.language.fit_references``).

A name that was not taught is often farther from its object than b allows, but far nearer to it than to any other
object, which names of other things seldom are: there the background counts for less. Chosen on seen objects,
databases of eight: 783 names that are not listed are given to their object in 84.7 % (79.6 % with b as it is); to
some other object, if theirs is taken out, in 7.6 % (5.1 %); noun phrases of the treebank to any in 1.2 % (0.8 %).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.io import write_json
from wayword.language.encoder import NamedEncoder, PhraseEncoder
from wayword.language.phrases_db import Database, PhraseList
from wayword.vector_cache import SMALL, cached_vectors, key_of
from wayword.weight_folder import CONFIG, REMEDY, read_settings, reading

WEIGHTS = Path(__file__).parent / "weights" / "references"

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class ReferenceConfig:
    """The fitted numbers.

    Attributes:
        variance: sigma^2 of the kernel, in squared distance between unit vectors (0 to 4).
        background: b, on the scale of a kernel whose peak is 1.
        contrast: how much nearer to one object than to any other a phrase must be for b to count for less.
        most_contrast: b is divided by this at most; 1 is b as it is.
    """

    variance: float
    background: float
    contrast: float = 20.0
    most_contrast: float = 10.0

    def __post_init__(self) -> None:
        if not (0 < self.variance < np.inf and 0 < self.background < np.inf):
            raise WaywordError("variance and background must be positive numbers")
        if not (1 <= self.contrast < np.inf and 1 <= self.most_contrast < np.inf):
            raise WaywordError("contrast and most_contrast must be numbers of at least 1")


@dataclass(frozen=True)
class EmbeddedDatabase:
    """The phrase vectors of a database.

    Attributes:
        names: M object names.
        vectors: (J, D) vectors of all phrases.
        owners: (J,) the number of the object each phrase belongs to, non-decreasing.
    """

    names: tuple[str, ...]
    vectors: Vectors
    owners: NDArray[np.int64]


def embed_database(database: Database, encoder: PhraseEncoder) -> EmbeddedDatabase:
    """Encode every phrase of ``database`` once."""
    owners = np.repeat(np.arange(len(database)), [len(entry.phrases) for entry in database]).astype(np.int64)
    if len(database) > SMALL and isinstance(encoder, NamedEncoder):
        vectors = _many_vectors(database, encoder, encoder.dimension)
    else:
        phrases = [phrase for entry in database for phrase in entry.phrases]
        vectors = encoder.embed(phrases) if phrases else np.zeros((0, encoder.dimension), np.float32)
    return EmbeddedDatabase(tuple(entry.name for entry in database), vectors, owners)


def _many_vectors(database: Database, encoder: NamedEncoder, dimension: int) -> Vectors:
    """The vectors of a large database: those of each object from its own phrases alone, so that they can be kept."""
    keys, places = [], []
    for number, entry in enumerate(database):
        whole = key_of(*(phrase.encode() for phrase in entry.phrases))
        keys += [key_of(whole, place.to_bytes(4, "little")) for place in range(len(entry.phrases))]
        places += [(number, place) for place in range(len(entry.phrases))]

    def make(rows: Sequence[int]) -> Vectors:
        result = np.empty((len(rows), dimension), np.float32)
        number, own = -1, np.zeros((0, dimension), np.float32)
        for line, row in enumerate(rows):
            if places[row][0] != number:
                number = places[row][0]
                own = encoder.embed_afresh(database[number].phrases)
            result[line] = own[places[row][1]]
        return result

    folder = database.folder if isinstance(database, PhraseList) else None
    return cached_vectors(folder, "phrases", encoder.maker or None, keys, make, dimension)


def reference_distances(references: Vectors, database: EmbeddedDatabase) -> NDArray[np.float64]:
    """(N, J) squared distances of N references to all phrases; both are unit vectors."""
    return np.maximum(2.0 - 2.0 * (references @ database.vectors.T).astype(np.float64), 0.0)


def _means(kernels: NDArray[np.float64], owners: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """(N, M) mean of each object's kernels (N, J); 0 for an object without phrases."""
    sizes = np.bincount(owners, minlength=count)
    result = np.zeros((len(kernels), count))
    there = np.flatnonzero(sizes)
    if len(there):
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        result[:, there] = np.add.reduceat(kernels, starts[there], axis=1) / sizes[there]
    return result


class ReferenceModel:
    """P(o | r) with "none of these"."""

    def __init__(self, config: ReferenceConfig) -> None:
        self.config = config

    def densities(self, references: Vectors, database: EmbeddedDatabase) -> NDArray[np.float64]:
        """(N, M) kernel densities k_o."""
        kernels = np.exp(reference_distances(references, database) / (-2.0 * self.config.variance))
        if len(database.names) > SMALL:  # the product below rounds otherwise, and needs J x M numbers
            return _means(kernels, database.owners, len(database.names))
        share = np.zeros((len(database.owners), len(database.names)))  # (J, M): 1 / J_o where phrase j is one of o's
        share[np.arange(len(database.owners)), database.owners] = 1.0
        result: NDArray[np.float64] = kernels @ (share / np.maximum(share.sum(axis=0), 1.0))
        return result

    def backgrounds(self, densities: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N,) the density b(r) of "none of these" beside (N, M) densities of objects."""
        if not densities.shape[1]:
            return np.full(len(densities), self.config.background)
        two = np.sort(np.pad(densities, ((0, 0), (1, 0))), axis=1)[:, -2:]  # one object alone stands beside nothing
        with np.errstate(divide="ignore", invalid="ignore"):
            contrast = np.nan_to_num(two[:, 1] / (self.config.contrast * two[:, 0]), nan=1.0, posinf=np.inf)
        result: NDArray[np.float64] = self.config.background / np.clip(contrast, 1.0, self.config.most_contrast)
        return result

    def probabilities(self, references: Vectors, database: EmbeddedDatabase) -> NDArray[np.float64]:
        """(N, M + 1) probabilities that sum to 1; the last column is "none of these"."""
        weights = self.densities(references, database)
        weights = np.concatenate([weights, self.backgrounds(weights)[:, None]], axis=1)
        result: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return result


def load_reference_model(weights: Path = WEIGHTS) -> ReferenceModel:
    """The shipped model, or the one saved in a folder."""
    path, message = weights / CONFIG, f"the reference model is missing or damaged; {REMEDY}"
    with reading(path, message):
        values = read_settings(path, message=message)
        names = ("variance", "background", *(name for name in ("contrast", "most_contrast") if name in values))
        return ReferenceModel(ReferenceConfig(**{name: float(values[name]) for name in names}))


def save_reference_model(config: ReferenceConfig, folder: Path, fitted_on: Sequence[str] = ()) -> None:
    """Write ``config.json``; ``fitted_on`` says on what, for the reader."""
    write_json(folder / CONFIG, {**asdict(config), "fitted_on": list(fitted_on)})
