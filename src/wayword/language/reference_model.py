"""P(o | r): which object of the database a reference r means, or that it means none of them.

    g(r)   (D,)     unit vector of the phrase
    w_oj   (D,)     unit vectors of the J_o phrases of object o
    k_o    = 1/J_o sum_j exp(-||g(r) - w_oj||^2 / (2 sigma^2))        kernel density of the paper, peak 1
    P(o | r) = k_o / (b + sum_o' k_o'),   P(none | r) = b / (b + sum_o' k_o')

The background density b is what a phrase about any other thing has, on the same scale. The released code had
b = 1e-10, which rejects only by underflow. A mean over phrases and a b beside the sum, not shared out over the
objects, mean that neither the number of phrases nor unrelated objects in the database change a probability.
sigma^2 and b are fitted on training objects (``wayword.learning.language.fit_references``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.errors import DataError, WaywordError
from wayword.io import write_json
from wayword.language.encoder import PhraseEncoder
from wayword.language.phrases_db import Database

WEIGHTS = Path(__file__).parent / "weights" / "references"

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class ReferenceConfig:
    """The fitted numbers.

    Attributes:
        variance: sigma^2 of the kernel, in squared distance between unit vectors (0 to 4).
        background: b, on the scale of a kernel whose peak is 1.
    """

    variance: float
    background: float

    def __post_init__(self) -> None:
        if not (0 < self.variance < np.inf and 0 < self.background < np.inf):
            raise WaywordError("variance and background must be positive numbers")


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
    phrases = [phrase for entry in database for phrase in entry.phrases]
    vectors = encoder.embed(phrases) if phrases else np.zeros((0, encoder.dimension), np.float32)
    return EmbeddedDatabase(tuple(entry.name for entry in database), vectors, owners)


def squared_distances(references: Vectors, database: EmbeddedDatabase) -> NDArray[np.float64]:
    """(N, J) squared distances of N references to all phrases; both are unit vectors."""
    return np.maximum(2.0 - 2.0 * (references @ database.vectors.T).astype(np.float64), 0.0)


class ReferenceModel:
    """P(o | r) with "none of these"."""

    def __init__(self, config: ReferenceConfig) -> None:
        self.config = config

    def densities(self, references: Vectors, database: EmbeddedDatabase) -> NDArray[np.float64]:
        """(N, M) kernel densities k_o."""
        kernels = np.exp(squared_distances(references, database) / (-2.0 * self.config.variance))
        share = np.zeros((len(database.owners), len(database.names)))  # (J, M): 1 / J_o where phrase j is one of o's
        share[np.arange(len(database.owners)), database.owners] = 1.0
        result: NDArray[np.float64] = kernels @ (share / np.maximum(share.sum(axis=0), 1.0))
        return result

    def probabilities(self, references: Vectors, database: EmbeddedDatabase) -> NDArray[np.float64]:
        """(N, M + 1) probabilities that sum to 1; the last column is "none of these"."""
        weights = self.densities(references, database)
        weights = np.concatenate([weights, np.full((len(weights), 1), self.config.background)], axis=1)
        result: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return result


def load_reference_model(folder: Path = WEIGHTS) -> ReferenceModel:
    """The shipped model, or the one saved in ``folder``."""
    path = folder / "config.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return ReferenceModel(ReferenceConfig(float(values["variance"]), float(values["background"])))
    except (OSError, ValueError, KeyError, TypeError, WaywordError) as error:
        raise DataError(path, "the reference model is missing or damaged; reinstall or train again") from error


def save_reference_model(config: ReferenceConfig, folder: Path, fitted_on: Sequence[str] = ()) -> None:
    """Write ``config.json``; ``fitted_on`` says on what, for the reader."""
    write_json(folder / "config.json", {**asdict(config), "fitted_on": list(fitted_on)})
