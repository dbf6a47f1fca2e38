"""Which object a noun chunk refers to, from a model of what objects are called (Appendix D).

    p(r | o)   probability that phrase r is said of object o; o may be NULL ("the left", "a full stop")
    p(o)       prior: how often an object is spoken of when it stands near the path; NULL has one too
    o* = argmax over o near the path of p(r | o) p(o)                                  (align:probe)

The released code left p(o) out. Everything here is in logarithms; an object that is not near the path has
log p(o) = -inf. How p(r | o) is learned: ``wayword.learning.language.train_alignment``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError

NULL = ""
"""The object of chunks that refer to none. No object can have this name."""

PROXIMITY_M = 1.41
"""Objects this near the path of a segment may be spoken of in its instruction."""


@dataclass(frozen=True)
class Aligned:
    """One chunk with what it was aligned to.

    Attributes:
        phrase: the chunk.
        object: the name of the most probable object, or None for NULL.
        probability: of that object among the candidates.
        null: probability of NULL among the candidates.
    """

    phrase: str
    object: str | None
    probability: float
    null: float


def posterior(log_likelihood: NDArray[np.float64], log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(o | r) over the candidates, each row summing to 1.

    Args:
        log_likelihood: (R, O) log p(r | o).
        log_prior: (O,) log p(o), not necessarily normalised; -inf rules an object out.
    """
    joint = log_likelihood + log_prior
    best = joint.max(axis=1, keepdims=True)
    if not np.isfinite(best).all():
        raise WaywordError("a phrase has no possible object; add NULL to the candidates")
    weights = np.exp(joint - best)
    result: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return result


def align_chunks(
    phrases: Sequence[str],
    candidates: Sequence[str],
    log_likelihood: NDArray[np.float64],
    prior: Mapping[str, float],
) -> list[Aligned]:
    """Align every chunk of an instruction (Equation align:probe).

    Args:
        phrases: R chunks.
        candidates: O different objects, NULL among them if chunks may refer to nothing.
        log_likelihood: (R, O) log p(r | o).
        prior: p(o) by object, not necessarily normalised; a candidate it does not know is ruled out.
    """
    with np.errstate(divide="ignore"):
        log_prior = np.log(np.array([prior.get(name, 0.0) for name in candidates], np.float64))
    table = posterior(log_likelihood, log_prior)
    null = candidates.index(NULL) if NULL in candidates else None
    return [
        Aligned(
            phrase,
            candidates[best] or None,
            float(row[best]),
            float(row[null]) if null is not None else 0.0,
        )
        for phrase, row, best in zip(phrases, table, table.argmax(axis=1), strict=True)
    ]
