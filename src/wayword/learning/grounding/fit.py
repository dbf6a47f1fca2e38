"""Fits the few numbers that turn network outputs into probabilities, on training objects only.

P(b) = sigmoid(slope logit + offset)          logistic regression on boxes of held-out frames
sigma^2, lambda, beta                         likelihood of P(o | b) on objects kept from training the metric
threshold                                     best IoU of S(I, r; O) on held-out frames
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from wayword.errors import WaywordError
from wayword.grounding.density import DensityConfig, Exemplars, densities, spreads
from wayword.grounding.grounder import Grounder
from wayword.grounding.nms import iou
from wayword.grounding.proposals import ProposalConfig, Proposer
from wayword.grounding.weight_files import GroundingConfig
from wayword.learning.grounding.data import Labelled, is_held_out, object_groups, open_shards
from wayword.learning.grounding.exemplars import by_identity, good_views, row_crops

EXEMPLARS = 5
_ENOUGH = 40
"""Objects with clean views enough; with fewer, views of all frames are better."""


def fit_objectness(proposer: Proposer, data: Labelled, frames: int) -> tuple[float, float, int]:
    """Slope and offset of P(b), and the number of boxes they were fitted on."""
    raw = Proposer(proposer.network, replace(proposer.config, least=0.0, slope=1.0, offset=0.0))
    logits, right = [], []
    flown = np.flatnonzero(of_flights(data))
    for frame in flown[np.linspace(0, len(flown) - 1, min(frames, len(flown))).astype(np.int64)]:
        proposals = raw(data.images(np.array([frame])))[0]
        true = data.boxes[data.rows(int(frame))]
        overlap = iou(proposals.boxes, true).max(axis=1) if len(true) else np.zeros(len(proposals.boxes))
        logits.append(proposals.logits)
        right.append(overlap >= 0.5)
    x, y = np.concatenate(logits).astype(np.float64), np.concatenate(right).astype(np.float64)
    slope, offset = logistic(x, y)
    return slope, offset, len(x)


def of_flights(data: Labelled) -> NDArray[np.bool_]:
    """Frames that look like those in flight: where own pictures and simulated ones are mixed, the own ones."""
    return data.photo if data.photo.any() else ~data.photo


def _database_views(data: Labelled, identities: set[int]) -> dict[int, NDArray[np.int64]]:
    """Views of ``identities`` that could be photos of a database: where frames are mixed, clean ones if they do."""
    rows = good_views(data)
    clean = rows[~data.photo[data.frame[rows]]]
    if len(clean) < len(rows):
        views = {o: own for o, own in by_identity(data, clean).items() if o in identities and len(own) >= EXEMPLARS}
        if len(views) >= _ENOUGH:
            return views
    return {o: own for o, own in by_identity(data, rows).items() if o in identities and len(own) >= 8}


def logistic(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and offset of the most likely sigmoid(slope x + offset) for outcomes y of 0 and 1."""

    def loss(p: NDArray[np.float64]) -> float:
        z = p[0] * x + p[1]
        return float(np.mean(np.logaddexp(0.0, z) - y * z) + 1e-6 * p @ p)

    solution = minimize(loss, np.array([1.0, 0.0]), method="L-BFGS-B").x
    return float(solution[0]), float(solution[1])


def density_likelihood(
    parameters: NDArray[np.float64], episodes: list[tuple[NDArray[np.float32], Exemplars, int]], typical: float
) -> float:
    """Mean of -log P(answer | b) over single regions x, databases, and answers (-1 is none of these)."""
    variance, background, spread = (float(value) for value in np.exp(parameters))
    config = DensityConfig(variance, background, spread, typical)
    total = 0.0
    for x, exemplars, answer in episodes:
        k = np.append(densities(x, exemplars, config)[0], background)
        total -= float(np.log(max(k[answer], 1e-300)) - np.log(k.sum()))
    return total / len(episodes)


def fit_density(
    grounder: Grounder, data: Labelled, identities: set[int], rng: np.random.Generator
) -> tuple[DensityConfig, int]:
    """Widths and background on objects kept from training, with regions as the proposals find them."""
    views = _database_views(data, identities)
    if len(views) < 20:
        raise WaywordError(f"only {len(views)} held-out objects have enough views; generate more training frames")
    numbers = np.array(sorted(views))
    queries = _queries(grounder, data, set(views), 1500, rng)
    vectors = {
        o: grounder.embedder.embed(row_crops(data, rng.choice(views[int(o)], 12, replace=len(views[int(o)]) < 12)))
        for o in numbers.tolist()
    }
    episodes = []
    for x, identity in queries:
        size = int(rng.integers(6, 17))
        others = rng.choice(numbers[numbers != identity], min(size, len(numbers) - 1), replace=False)
        known = rng.random() < 0.6
        members = [identity, *others[:-1].tolist()] if known else others.tolist()
        rows = np.concatenate([rng.permutation(vectors[o])[:EXEMPLARS] for o in members])
        owners = np.repeat(np.arange(len(members)), EXEMPLARS).astype(np.int64)
        episodes.append((x[None], Exemplars(tuple(map(str, members)), rows, owners), 0 if known else -1))
    some = Exemplars(
        tuple(map(str, numbers)),
        np.concatenate([vectors[o][:EXEMPLARS] for o in numbers.tolist()]),
        np.repeat(np.arange(len(numbers)), EXEMPLARS).astype(np.int64),
    )
    typical = float(spreads(some, 0.0).mean())
    start = np.log([0.03, 0.02, 0.1])
    arguments = (episodes, typical)
    solution = minimize(density_likelihood, start, arguments, method="Nelder-Mead", options={"maxiter": 160}).x
    variance, background, spread = (float(value) for value in np.exp(solution))
    return DensityConfig(variance, background, spread, typical), len(episodes)


def _queries(
    grounder: Grounder, data: Labelled, numbers: set[int], most: int, rng: np.random.Generator
) -> list[tuple[NDArray[np.float32], int]]:
    """Embeddings of proposed boxes that hold a wanted object, with its number."""
    flown = of_flights(data)[data.frame]
    rows = np.flatnonzero(np.isin(data.identity, list(numbers)) & (data.pixels >= 40) & flown)
    queries: list[tuple[NDArray[np.float32], int]] = []
    for frame in rng.permutation(np.unique(data.frame[rows])):
        image = data.images(np.array([frame]))
        proposals = grounder.proposer(image)[0]
        span = data.rows(int(frame))
        overlap = iou(proposals.boxes, data.boxes[span])
        hits = [(b, int(overlap[b].argmax())) for b in range(len(proposals.boxes)) if overlap[b].max(initial=0) >= 0.5]
        identities = data.identity[span]
        hits = [(b, t) for b, t in hits if int(identities[t]) in numbers]
        if hits:
            x = grounder.embedder(image, np.zeros(len(hits), np.int64), proposals.boxes[[b for b, _ in hits]])
            queries += [(x[i], int(identities[t])) for i, (_, t) in enumerate(hits)]
        if len(queries) >= most:
            break
    return queries[:most]


def fit_threshold(grounder: Grounder, data: Labelled, count: int, rng: np.random.Generator) -> tuple[float, int]:
    """The threshold on S(I, r; O) with the best mean IoU, when the reference is certain."""
    views = {o: rows for o, rows in by_identity(data, good_views(data)).items() if len(rows) >= EXEMPLARS + 1}
    numbers = np.array(sorted(views))
    levels = np.linspace(0.05, 0.9, 35)
    sums, trials = np.zeros(len(levels)), 0
    candidates = np.concatenate([views[o] for o in numbers.tolist()])
    candidates = candidates[of_flights(data)[data.frame[candidates]]]
    for row in rng.permutation(candidates)[:count]:
        o, frame = int(data.identity[row]), int(data.frame[row])
        owners = [int(i) for i in np.unique(data.identity[data.rows(frame)]) if int(i) in views and int(i) != o]
        others = [int(i) for i in rng.permutation(numbers) if int(i) not in {o, *owners}]
        members = [o, *(owners + others)[:7]]
        crops = {}
        for member in members:
            rows = views[member][data.frame[views[member]] != frame]
            crops[str(member)] = row_crops(data, rng.permutation(rows)[:EXEMPLARS])
        exemplars = grounder.embed_database(crops)
        certain = np.eye(len(members) + 1)[:1]
        mask = grounder(data.images(np.array([frame])), certain, exemplars)[0].masks[0]
        ids = data.instances(np.array([frame]))[0]
        same = data.rows(frame)
        true = np.isin(ids, data.instance[same][data.identity[same] == o])
        ours = mask[None] > levels[:, None, None]
        sums += (ours & true).sum(axis=(1, 2)) / np.maximum((ours | true).sum(axis=(1, 2)), 1)
        trials += 1
    return float(levels[int(sums.argmax())]), trials


def fit(grounder: Grounder, shards: Path, seed: int = 0) -> tuple[GroundingConfig, dict[str, float]]:
    """Fit everything; returns the configuration and what it was fitted on."""
    rng = np.random.default_rng([seed, 30])
    data, held_out = open_shards(shards)
    identities = {number for number, group in object_groups(shards).items() if is_held_out(group)}
    slope, offset, boxes = fit_objectness(grounder.proposer, held_out, 1500)
    proposals = replace(grounder.config.proposals, slope=slope, offset=offset)
    config = replace(grounder.config, proposals=proposals)
    fitted = Grounder(Proposer(grounder.proposer.network, proposals), grounder.embedder, grounder.refiner, config)
    density, regions = fit_density(fitted, data, identities, rng)
    fitted.config = replace(config, density=density)
    threshold, trials = fit_threshold(fitted, held_out, 400, rng)
    return replace(fitted.config, threshold=threshold), {"boxes": boxes, "regions": regions, "masks": trials}


def unfitted(dimension: int) -> GroundingConfig:
    """The configuration before anything is fitted."""
    return GroundingConfig(ProposalConfig(), DensityConfig(), dimension)
