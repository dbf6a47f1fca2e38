"""Train ObjRef from the phrase pool, and fit its weight and threshold on objects the network has not met.

1. The objects are dealt into folds. For each fold the network learns from the other objects' phrases (and other
   phrases that mean none); the fold's own phrases then play the part of unseen objects, with a database of the
   fold's objects, five phrases each. Half as much, the same phrases with their object missing from the
   database: a thing that is not in the database is still a thing.
2. Weight, threshold and scale: a logistic regression on (network, distance to the database) over all folds.
3. The network that ships learns from all objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wayword.errors import WaywordError
from wayword.language.encoder import PhraseEncoder
from wayword.language.objref import ObjRef, ObjRefConfig, nearest_distances
from wayword.language.phrases_db import ObjectPhrases
from wayword.language.reference_model import Vectors, embed_database
from wayword.learning.language.phrase_pool import PhrasePool

_SMALL = "zero one two three four five six seven eight nine ten eleven twelve"
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety hundred"
_NUMBERS = {word: n for n, word in enumerate(_SMALL.split()) if n > 1}
_NUMBERS |= {word: 10 * n for n, word in enumerate(_TENS.split(), start=1)} | {"fifteen": 15}

Weights = dict[str, NDArray[np.float32]]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class ObjRefTraining:
    """Everything that decides the result."""

    hidden: int = 32
    """Units of the hidden layer."""
    dropout: float = 0.5
    """On input and hidden layer."""
    epochs: int = 60
    """Passes over the phrases."""
    batch: int = 256
    """Phrases per step."""
    learning_rate: float = 3e-3
    """Of AdamW."""
    weight_decay: float = 1e-3
    """Of AdamW."""
    folds: int = 8
    """Groups of objects that play the unseen ones."""
    absent: float = 0.5
    """Weight of phrases whose object is missing from the database, against those whose object is there."""
    seed: int = 0
    """Of the folds, the initial weights and the order."""


@dataclass(frozen=True)
class LabelledPhrases:
    """Phrases as vectors.

    Attributes:
        phrases: N phrases.
        vectors: (N, D).
        owners: (N,) the number of the object each refers to; -1 for none.
        counts: (N,) how much each weighs.
    """

    phrases: tuple[str, ...]
    vectors: Vectors
    owners: NDArray[np.int64]
    counts: Numbers


@dataclass(frozen=True)
class Fit:
    """What came out: the classifier, and how the folds' unseen objects fared (database at hand)."""

    objref: ObjRef
    weights: Weights
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean over the folds."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def label_phrases(pool: PhrasePool, encoder: PhraseEncoder) -> tuple[LabelledPhrases, tuple[str, ...]]:
    """Vectors and labels of a pool, and the names of its objects. A phrase weighs the root of its count."""
    names = tuple(pool.objects)
    rows = [(phrase, n, count) for n, name in enumerate(names) for phrase, count in pool.objects[name].items()]
    rows += [(phrase, -1, count) for phrase, count in pool.null.items()]
    # People write "forty degrees" and "40 degrees"; the corpus has mostly the former.
    rows += [(digits, -1, count) for phrase, count in pool.null.items() if (digits := in_digits(phrase)) != phrase]
    if not rows or not pool.null:
        raise WaywordError("the phrase pool is empty; train the alignment first")
    phrases = tuple(phrase for phrase, _, _ in rows)
    owners = np.array([owner for _, owner, _ in rows], np.int64)
    counts = np.sqrt([float(count) for _, _, count in rows])
    return LabelledPhrases(phrases, encoder.embed(phrases), owners, counts), names


def train_objref(
    data: LabelledPhrases,
    names: Sequence[str],
    database: Mapping[str, ObjectPhrases],
    encoder: PhraseEncoder,
    config: ObjRefTraining,
    advance: Callable[[int], None] = lambda _: None,
) -> Fit:
    """Fit everything; ``database`` holds the objects that can stand in a fold's database, others only train."""
    rng = np.random.default_rng([config.seed, 7])
    held = rng.permutation([number for number, name in enumerate(names) if name in database])
    null_fold = rng.integers(0, config.folds, len(data.phrases))
    parts: list[tuple[Numbers, Numbers, NDArray[np.bool_], Numbers, NDArray[np.bool_]]] = []
    for fold in range(config.folds):
        members = held[fold :: config.folds]
        mine = np.where(data.owners >= 0, np.isin(data.owners, members), null_fold == fold)
        network = ObjRef(*_fit_network(data, ~mine, config))
        advance(1)
        rows = np.flatnonzero(mine)
        odds = network.network(data.vectors[rows])
        others = held[(fold + 1) % config.folds :: config.folds]
        there, gone = (embed_database([database[names[n]] for n in group], encoder) for group in (members, others))
        is_object = data.owners[rows] >= 0
        weights = data.counts[rows]
        parts.append((odds, nearest_distances(data.vectors[rows], there), is_object, weights, np.ones(len(rows), bool)))
        absent = nearest_distances(data.vectors[rows], gone)
        parts.append((odds, absent, is_object, config.absent * weights, np.zeros(len(rows), bool)))
    odds, distance, is_object, weights, present = (np.concatenate(column) for column in zip(*parts, strict=True))
    weight, threshold, scale = _fit_rule(odds, distance, is_object, weights)
    answers = odds - weight * distance - threshold > 0
    share = np.where(present, weights, 0.0)
    hit = (share * (answers & is_object)).sum()
    precision, recall = hit / max(1e-9, (share * answers).sum()), hit / max(1e-9, (share * is_object).sum())
    shape, network_weights = _fit_network(data, np.ones(len(data.phrases), bool), config)
    advance(1)
    final = ObjRefConfig(shape.width, shape.hidden, weight, threshold, scale)
    return Fit(ObjRef(final, network_weights), network_weights, float(precision), float(recall))


def in_digits(phrase: str) -> str:
    """ "about forty-five degrees" -> "about 45 degrees"; what holds no number word stays."""
    result: list[str] = []
    for word in phrase.split():
        parts = [_NUMBERS.get(part) for part in word.split("-")]
        known = [part for part in parts if part is not None]
        result.append(str(sum(known)) if len(known) == len(parts) else word)
    return " ".join(result)


class _Network(nn.Module):
    def __init__(self, width: int, config: ObjRefTraining) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, config.hidden)
        self.output = nn.Linear(config.hidden, 1)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, vectors: Tensor) -> Tensor:
        hidden = nn.functional.leaky_relu(self.hidden(self.dropout(vectors)))
        odds: Tensor = self.output(self.dropout(hidden)).squeeze(1)
        return odds


def _fit_network(
    data: LabelledPhrases, rows: NDArray[np.bool_], config: ObjRefTraining
) -> tuple[ObjRefConfig, Weights]:
    torch.manual_seed(config.seed)
    numbers = np.flatnonzero(rows)
    vectors = torch.from_numpy(data.vectors[numbers])
    labels = torch.from_numpy((data.owners[numbers] >= 0).astype(np.float32))
    weights = torch.from_numpy(data.counts[numbers].astype(np.float32))
    for label in (0.0, 1.0):  # both classes weigh the same
        weights[labels == label] /= weights[labels == label].sum() * 2 / len(numbers)
    network = _Network(vectors.shape[1], config).train()
    optimiser = torch.optim.AdamW(network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    rng = np.random.default_rng([config.seed, 8])
    for _ in range(config.epochs):
        order = rng.permutation(len(numbers))
        for begin in range(0, len(order), config.batch):
            batch = torch.from_numpy(order[begin : begin + config.batch])
            loss = nn.functional.binary_cross_entropy_with_logits(
                network(vectors[batch]), labels[batch], weight=weights[batch]
            )
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    return ObjRefConfig(vectors.shape[1], config.hidden), state


def _fit_rule(
    odds: Numbers, distance: Numbers, is_object: NDArray[np.bool_], weights: Numbers, rounds: int = 50
) -> tuple[float, float, float]:
    """(weight, threshold, scale) by logistic regression, Newton's method with a little ridge."""
    inputs = np.stack([odds, -distance, np.ones_like(odds)], axis=1)
    share = weights / weights.sum()
    slope = np.zeros(3)
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ slope, -30, 30)))
        gradient = inputs.T @ (share * (chance - is_object)) + 1e-4 * slope
        curvature = (inputs * (share * chance * (1 - chance))[:, None]).T @ inputs + 1e-4 * np.eye(3)
        slope -= np.linalg.solve(curvature, gradient)
    if slope[0] <= 0:
        raise WaywordError("the network learned nothing about object references; is the phrase pool sound?")
    return float(slope[1] / slope[0]), float(-slope[2] / slope[0]), float(slope[0])
