"""Single outcomes behind the figures of the report: is the right box found, how well do masks fit, what is absent.

LEVELS   (L,)   thresholds at which masks are compared with the truth
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wayword.grounding.crops import crop_and_resize, square
from wayword.grounding.density import Exemplars, probabilities
from wayword.grounding.grounder import Grounder, Grounding
from wayword.grounding.image_metric import MARGIN
from wayword.grounding.nms import iou
from wayword.intervals import Interval, wilson
from wayword.learning.grounding.data import Labelled
from wayword.learning.grounding.scenes import Scenes
from wayword.learning.grounding.similarity import HISTOGRAM_VARIANCE, histogram, log_density


class References(Protocol):
    """The language side: what a phrase means, given a database."""

    def __call__(self, phrases: list[str], objects: tuple[str, ...]) -> NDArray[np.float64]:
        """P(o | r), (R, M + 1); the last column is "none of these"."""
        ...


def proposal_recall(grounder: Grounder, data: Labelled, most: int = 10, side_px: int = 8) -> Interval:
    """Share of objects larger than 8 pixels on both sides that a box overlaps by half."""
    hits = total = 0
    for frame in range(data.frames):
        true = data.boxes[data.rows(frame)]
        true = true[((true[:, 2:] - true[:, :2]) > side_px).all(axis=1)]
        if len(true):
            boxes = grounder.proposer(data.images(np.array([frame])))[0].boxes[:most]
            overlap = iou(true, boxes)
            hits += int((overlap.max(axis=1, initial=0) >= 0.5).sum())
            total += len(true)
    return wilson(hits, total)


@dataclass
class Trials:
    """Outcomes of many references to objects, in and out of view."""

    right: list[bool] = field(default_factory=list)
    """Visible referents: whether the box with the highest ALIGN shows the right object."""
    coloured: list[bool] = field(default_factory=list)
    """The same by colours alone, if they were asked: the box whose histogram goes best with the photos', times P(b)."""
    overlaps: list[NDArray[np.float64]] = field(default_factory=list)
    """Visible referents: IoU of the mask at each of ``LEVELS``."""
    present: list[float] = field(default_factory=list)
    """Highest ALIGN for referents in view."""
    absent: list[float] = field(default_factory=list)
    """Highest ALIGN for referents out of view."""
    everything: list[NDArray[np.float64]] = field(default_factory=list)
    """IoU of S(I) at each of ``LEVELS``."""
    claims: list[tuple[float, bool]] = field(default_factory=list)
    """ALIGN of every box with every reference, and whether the box shows what is meant (IoU at least one half)."""

    def add(self, other: Trials) -> None:
        """Take in the outcomes of more references."""
        for item in fields(self):
            getattr(self, item.name).extend(getattr(other, item.name))


LEVELS = np.linspace(0.05, 0.9, 18)


def run_trials(
    grounder: Grounder,
    scenery: Scenes,
    exemplars: Exemplars,
    references: References,
    colours: Exemplars | None = None,
    least_pixels: int = 40,
) -> Trials:
    """Refer to every object of the database in every frame; ``colours`` are the histograms of the same database."""
    trials = Trials()
    p_reference = references(list(exemplars.names), exemplars.names)
    numbers = [scenery.objects.index(name) for name in exemplars.names]
    for frame in range(scenery.data.frames):
        span = scenery.data.rows(frame)
        ids = scenery.data.instances(np.array([frame]))[0]
        image = scenery.data.images(np.array([frame]))
        answer = grounder(image, p_reference, exemplars)[0]
        looks = None if colours is None else box_colours(image, answer.boxes)
        trials.everything.append(_ious(answer.all_objects, ids > 0))
        trials.claims += _claims(answer, scenery.data.boxes[span], scenery.data.identity[span], numbers)
        for r, number in enumerate(numbers):
            rows = np.flatnonzero(scenery.data.identity[span] == number)
            strength = float(answer.alignment[r].max(initial=0.0))
            if not len(rows):
                if not _any_pixels(scenery, frame, ids, exemplars.names[r]):
                    trials.absent.append(strength)
                continue
            if scenery.data.pixels[span][rows].sum() < least_pixels:
                continue
            trials.present.append(strength)
            true_boxes = scenery.data.boxes[span]
            trials.right.append(_shows(answer.boxes, answer.alignment[r], true_boxes, rows))
            if colours is not None and looks is not None:
                by_colour = colour_scores(looks, answer.p_box, colours.vectors[colours.owners == r])
                trials.coloured.append(_shows(answer.boxes, by_colour, true_boxes, rows))
            true = np.isin(ids, scenery.data.instance[span][rows])
            trials.overlaps.append(_ious(answer.masks[r], true))
    return trials


def _claims(
    answer: Grounding, true: NDArray[np.float32], identity: NDArray[np.int64], numbers: list[int]
) -> list[tuple[float, bool]]:
    overlap = iou(answer.boxes, true)
    shows = [
        {int(identity[t]) for t in np.flatnonzero(overlap[b] >= 0.5)} if len(true) else set()
        for b in range(len(answer.boxes))
    ]
    return [
        (float(answer.alignment[r, b]), number in shows[b])
        for r, number in enumerate(numbers)
        for b in range(len(answer.boxes))
    ]


def calibration(claims: list[tuple[float, bool]], bins: int = 10) -> list[tuple[float, float, int]]:
    """Mean ALIGN, share that is true, and count, in bins of equal width from 0 to 1; empty bins are left out."""
    values, truth = np.array([v for v, _ in claims]), np.array([t for _, t in claims], dtype=np.float64)
    which = np.minimum((values * bins).astype(np.int64), bins - 1)
    return [
        (float(values[which == k].mean()), float(truth[which == k].mean()), int((which == k).sum()))
        for k in range(bins)
        if (which == k).any()
    ]


def calibration_error(claims: list[tuple[float, bool]], rng: np.random.Generator, samples: int = 300) -> Interval:
    """Mean distance between ALIGN and the share that is true, over the bins of ``calibration`` by their counts."""
    values, truth = np.array([v for v, _ in claims]), np.array([t for _, t in claims], dtype=np.float64)
    which = np.minimum((values * 10).astype(np.int64), 9)

    def error(rows: NDArray[np.int64]) -> float:
        # Count times |mean value - share true| of a bin is the |sum of differences| in it.
        return float(np.abs(np.bincount(which[rows], values[rows] - truth[rows], 10)).sum() / len(rows))

    errors = [error(rng.integers(len(values), size=len(values))) for _ in range(samples)]
    low, high = np.quantile(errors, [0.025, 0.975])
    mean = error(np.arange(len(values)))
    return Interval(mean, min(float(low), mean), max(float(high), mean), len(values))


def _any_pixels(scenery: Scenes, frame: int, ids: NDArray[np.uint8], name: str) -> bool:
    """Whether a single pixel of the object is in view: too little to find, too much to be absent."""
    return bool(np.isin(ids, [i + 1 for i, other in enumerate(scenery.layouts[frame]) if other == name]).any())


def box_colours(image: NDArray[np.uint8], boxes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Colour histograms (B, 64) of the boxes of one frame (1, 72, 128, 3), cut as a database's photos are."""
    if not len(boxes):
        return np.zeros((0, 1), np.float32)
    return histogram(crop_and_resize(image, np.zeros(len(boxes), np.int64), square(boxes, MARGIN)))


def colour_scores(
    looks: NDArray[np.float32], p_box: NDArray[np.float64], photos: NDArray[np.float32]
) -> NDArray[np.float64]:
    """How well each box goes with the histograms of an object's photos, weighed by P(b): logarithms (B,)."""
    return np.array(
        [
            log_density(look[None], photos, HISTOGRAM_VARIANCE) + float(np.log(p))
            for look, p in zip(looks, p_box, strict=True)
        ]
    )


def _shows(
    boxes: NDArray[np.float32], scores: NDArray[np.float64], true: NDArray[np.float32], rows: NDArray[np.int64]
) -> bool:
    """Whether the best-scored box lies on one of the ``rows`` of truth."""
    if not len(boxes):
        return False
    overlap = iou(boxes[[int(np.argmax(scores))]], true)[0]
    return int(overlap.argmax()) in rows and float(overlap.max()) >= 0.3


def _ious(mask: NDArray[np.float32], true: NDArray[np.bool_]) -> NDArray[np.float64]:
    ours = mask[None] > LEVELS[:, None, None]
    return np.asarray((ours & true).sum(axis=(1, 2)) / np.maximum((ours | true).sum(axis=(1, 2)), 1), dtype=np.float64)


def unknown_objects(
    grounder: Grounder, scenery: Scenes, exemplars: Exemplars, rng: np.random.Generator
) -> tuple[list[float], list[float]]:
    """1 - P(none | b) for boxes of objects in the database, and for the same boxes with their object taken out."""
    known, unknown = [], []
    for frame in range(scenery.data.frames):
        region = grounder.regions(scenery.data.images(np.array([frame])))[0]
        span = scenery.data.rows(frame)
        overlap = iou(region.proposals.boxes, scenery.data.boxes[span])
        for b in range(len(region.proposals.boxes)):
            if overlap[b].max(initial=0) < 0.5:
                continue
            name = scenery.objects[int(scenery.data.identity[span][overlap[b].argmax()])]
            x = region.embeddings[b : b + 1]
            if name not in exemplars.names:
                continue
            o = exemplars.names.index(name)
            known.append(1.0 - float(probabilities(x, exemplars, grounder.config.density)[0, -1]))
            left = _without(exemplars, o)
            unknown.append(1.0 - float(probabilities(x, left, grounder.config.density)[0, -1]))
    return known, unknown


def _without(exemplars: Exemplars, o: int) -> Exemplars:
    others = exemplars.owners != o
    owners = exemplars.owners[others]
    names_left = tuple(name for i, name in enumerate(exemplars.names) if i != o)
    return Exemplars(names_left, exemplars.vectors[others], np.where(owners > o, owners - 1, owners))
