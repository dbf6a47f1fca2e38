"""Which thing a photograph shows: the density of ``wayword.grounding.photo_grounder``, fitted and measured.

query       boxes of one photo: the true one, or what was chosen in it
database    several things, a few photos each; the query's own among them, or not ("none of these")
x           photo vectors and ImgEmb side by side (``side_by_side``)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from wayword.grounding.density import DensityConfig, Exemplars, spreads
from wayword.grounding.photo_grounder import side_by_side
from wayword.grounding.shared_thing import ChoiceConfig, choose_boxes
from wayword.intervals import Interval, wilson
from wayword.learning.grounding.fit import density_likelihood
from wayword.learning.grounding.fit_photos import Looked
from wayword.learning.grounding.similarity import log_density

Vectors = NDArray[np.float32]
SHARES = (0.3, 0.5, 0.7)
"""Of the photo vectors in the distance, that are tried."""


def fit_photo_density(
    teachings: Sequence[Looked], rng: np.random.Generator, count: int = 400, rounds: int = 80
) -> tuple[DensityConfig, float]:
    """Widths, background and the photo vectors' share, by the likelihood of ``count`` true boxes and backgrounds."""
    fits = []
    for share in SHARES:
        things = [side_by_side(taught.vectors, taught.looks, share) for taught in teachings]
        typical = float(spreads(_database(things), 0.0).mean())
        episodes = _episodes(teachings, things, share, count, np.random.default_rng(rng.integers(2**31)))
        start = np.log([0.05, 0.02, 0.2])
        solution = minimize(
            density_likelihood, start, (episodes, typical), method="Nelder-Mead", options={"maxiter": rounds}
        )
        variance, background, spread = (float(value) for value in np.exp(solution.x))
        fits.append((float(solution.fun), DensityConfig(variance, background, spread, typical), share))
    _, density, share = min(fits, key=lambda each: each[0])
    return density, share


def _episodes(
    teachings: Sequence[Looked], things: Sequence[Vectors], share: float, count: int, rng: np.random.Generator
) -> list[tuple[Vectors, Exemplars, int]]:
    """Regions, databases and answers: half of the regions are in the database, a fifth are background."""
    trials = []
    for _ in range(count):
        own = int(rng.integers(len(things)))
        others = rng.permutation(np.delete(np.arange(len(things)), own))[: int(rng.integers(5, 12))]
        order = rng.permutation(len(things[own]))
        query, rest = things[own][order[:1]], order[1:4]
        members = [things[o][rng.permutation(len(things[o]))[:3]] for o in others]
        draw = rng.random()
        answer = -1
        if draw < 0.5:
            members, answer = [things[own][rest], *members], 0
        elif draw < 0.7:
            photo, right = teachings[own].photos[order[0]], teachings[own].right[order[0]]
            wrong = np.flatnonzero(~right)
            if len(wrong):
                k = int(rng.choice(wrong))
                query = side_by_side(photo.vectors[k : k + 1], photo.looks[k : k + 1], share)
        trials.append((query, _database(members), answer))
    return trials


def _database(things: Sequence[Vectors]) -> Exemplars:
    owners = np.repeat(np.arange(len(things)), [len(each) for each in things]).astype(np.int64)
    return Exemplars(tuple(map(str, range(len(things)))), np.concatenate(list(things)), owners)


def cut_out(teachings: Sequence[Looked], config: ChoiceConfig, photos: Sequence[int]) -> list[Looked]:
    """The teachings with the vectors of chosen boxes in the place of true ones, ``photos`` taught together."""
    cut_outs = []
    for taught in teachings:
        some = taught.some(photos)
        best = [index for index, _ in choose_boxes(some.photos, config)]
        pairs = list(zip(some.photos, best, strict=True))
        vectors = np.stack([photo.vectors[k] for photo, k in pairs])
        cut_outs.append(Looked(some.photos, some.right, vectors, np.stack([photo.looks[k] for photo, k in pairs])))
    return cut_outs


def two_against_two(
    taught: Sequence[Looked], queried: Sequence[Looked], share: float, variance: float, ways: int, trials: int,
    rng: np.random.Generator,
) -> Interval:  # fmt: skip
    """Two photos of a thing against two of each of ``ways``: how often its own is the likeliest."""
    known = [side_by_side(each.vectors[:2], each.looks[:2], share) for each in taught]
    queries = [side_by_side(each.vectors[:2], each.looks[:2], share) for each in queried]
    right = 0
    for _ in range(trials):
        own = int(rng.integers(len(known)))
        others = rng.permutation(np.delete(np.arange(len(known)), own))[: ways - 1]
        scores = [log_density(queries[own], known[o], variance) for o in (own, *others)]
        right += int(np.argmax(scores)) == 0
    return wilson(right, trials)
