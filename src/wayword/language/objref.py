"""ObjRef(r, O): does a noun chunk refer to an object? (Appendix B.1)

    g(r)     (D,)    unit vector of the phrase
    NN(g)            log-odds of "an object" from a two-layer network that knows nothing of the database
    d(r, O)          smallest squared distance of g(r) to any phrase of the database O
    s(r, O)  = scale (NN(g(r)) - weight d(r, O) - threshold);   ObjRef is true if s > 0, sigmoid(s) is its probability

This is the paper's rule with the sign turned, so that high means "object". The paper set weight and threshold
by hand; here they are fitted on training objects held out of the network's training, since what counts is
objects it has never met (``wayword.learning.language.train_objref``).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from wayword.errors import WaywordError
from wayword.io import atomic_path, write_json
from wayword.language.reference_model import EmbeddedDatabase, Vectors, reference_distances
from wayword.weight_folder import CONFIG, REMEDY, TENSORS, read_settings, read_tensors, reading

WEIGHTS = Path(__file__).parent / "weights" / "objref"
FARTHEST = 2.0
"""d(r, O) for an empty database: the squared distance of unrelated unit vectors."""


@dataclass(frozen=True)
class ObjRefConfig:
    """Shape of the network and the fitted numbers, saved beside the weights.

    Attributes:
        width: D, length of a phrase vector.
        hidden: units of the hidden layer.
        weight: of the distance to the database, lambda_R1 of the paper.
        threshold: T_R2 of the paper.
        scale: turns the score into calibrated log-odds; it does not change the decision.
    """

    width: int = 384
    hidden: int = 32
    weight: float = 0.0
    threshold: float = 0.0
    scale: float = 1.0


class ObjRef:
    """The classifier, in numpy."""

    def __init__(self, config: ObjRefConfig, weights: dict[str, NDArray[np.float32]]) -> None:
        shapes = {name: value.shape for name, value in weights.items()}
        if shapes != network_shapes(config):
            raise WaywordError("the weights of the object-reference classifier do not fit its configuration")
        numbers = [*weights.values(), np.array([config.weight, config.threshold, config.scale])]
        if not all(np.isfinite(values).all() for values in numbers) or config.scale <= 0:
            raise WaywordError("the object-reference classifier holds values that are not finite")
        self.config = config
        self._weights = {name: value.astype(np.float32) for name, value in weights.items()}

    def network(self, references: Vectors) -> NDArray[np.float64]:
        """(N,) log-odds NN(g) of N phrase vectors."""
        weights = self._weights
        hidden = references @ weights["hidden.weight"].T + weights["hidden.bias"]
        hidden = np.where(hidden > 0, hidden, 0.01 * hidden)
        odds = hidden @ weights["output.weight"].T + weights["output.bias"]
        return odds[:, 0].astype(np.float64)

    def scores(self, references: Vectors, database: EmbeddedDatabase) -> NDArray[np.float64]:
        """(N,) scores s(r, O); positive means an object reference."""
        nearest = nearest_distances(references, database)
        config = self.config
        return config.scale * (self.network(references) - config.weight * nearest - config.threshold)


def nearest_distances(references: Vectors, database: EmbeddedDatabase) -> NDArray[np.float64]:
    """(N,) d(r, O)."""
    if not len(database.vectors):
        return np.full(len(references), FARTHEST)
    nearest: NDArray[np.float64] = reference_distances(references, database).min(axis=1)
    return nearest


def network_shapes(config: ObjRefConfig) -> dict[str, tuple[int, ...]]:
    """The name and shape of every weight."""
    return {
        "hidden.weight": (config.hidden, config.width),
        "hidden.bias": (config.hidden,),
        "output.weight": (1, config.hidden),
        "output.bias": (1,),
    }


def save_objref(config: ObjRefConfig, weights: dict[str, NDArray[np.float32]], folder: Path) -> None:
    """Write ``model.safetensors`` and ``config.json`` to ``folder``."""
    with atomic_path(folder / TENSORS) as temporary:
        save_file({name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}, temporary)
    write_json(folder / CONFIG, asdict(config))


def load_objref(weights: Path = WEIGHTS) -> ObjRef:
    """The shipped classifier, or the one saved in a folder."""
    message = f"the classifier is missing or damaged; {REMEDY}"
    with reading(weights / CONFIG, message):
        config = ObjRefConfig(**read_settings(weights / CONFIG, message=message))
    with reading(weights / TENSORS, message):
        return ObjRef(config, read_tensors(weights / TENSORS, message))
