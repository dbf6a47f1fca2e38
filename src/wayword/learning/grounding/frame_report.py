"""Measures weights on labelled frames, those over pictures and simulated ones apart: what a training bought.

    recall   objects over 8 px on both sides that one of 10 boxes overlaps by half (at 10)
    top1     a reference to an object with at least 40 visible pixels: does the box with the highest ALIGN show it
    masks    mean IoU of S(I, r; O) with the object's pixels, at the weights' own threshold
    colours  the same choice among the same boxes by a colour histogram of the crops, weighed by P(b)

The database of a frame has the objects in view and others, up to ``OBJECTS``, five photos each from other frames:
clean simulated ones where there are any, since photos in a database need not come from the place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.figures import Figure
from wayword.grounding.grounder import Grounder
from wayword.grounding.nms import iou
from wayword.intervals import Interval, bootstrap_mean, wilson
from wayword.learning.grounding.data import Labelled, labelled, read_shard_arrays
from wayword.learning.grounding.exemplars import by_identity, good_views, row_crops
from wayword.learning.grounding.similarity import histogram
from wayword.learning.grounding.trials import box_colours, colour_scores

OBJECTS, EXEMPLARS = 12, 5


@dataclass(frozen=True)
class FrameFigures:
    """The four figures of the head of this module."""

    recall: Interval
    top1: Interval
    masks: Interval
    colours: Interval

    def line(self) -> str:
        """For the terminal."""
        rates = ((self.recall, "boxes found"), (self.top1, "named rightly"), (self.colours, "by colours alone"))
        phrases = [f"{text} {100 * value.mean:.1f} %" for value, text in rates]
        return f"{phrases[0]}, {phrases[1]} ({phrases[2]}), mask IoU {self.masks.mean:.2f}, n {self.top1.n}"

    def publishable(self, place: str, command: str) -> dict[str, Figure]:
        """As ``wayword.figures.publish`` takes them: grounding.frames.PLACE.FIGURE."""
        today = date.today().isoformat()
        values = {"recall10": self.recall, "top1": self.top1, "top1_histogram": self.colours, "mask_iou": self.masks}
        return {
            f"grounding.frames.{place}.{key}": Figure.of(value, "" if key == "mask_iou" else "%", command, today)
            for key, value in values.items()
        }


def every_frame(folder: Path) -> Labelled:
    """All shards of a folder."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise WaywordError(f"{folder}: holds no shards; make some with `wayword ar generate --out {folder}`")
    return labelled([read_shard_arrays(path) for path in files])


def measure_frames(grounder: Grounder, data: Labelled, frames: int, seed: int = 0) -> Mapping[str, FrameFigures]:
    """Figures of at most ``frames`` frames over "pictures" and of as many "simulated" ones, if there are any.

    The same seed draws the same frames and databases for all weights.
    """
    figures = {}
    for kind, mask in (("pictures", data.photo), ("simulated", ~data.photo)):
        rows_left = np.flatnonzero(mask)
        if len(rows_left):
            rng = np.random.default_rng([seed, 70])
            sample = np.sort(rng.permutation(rows_left)[:frames])
            figures[kind] = _measured(grounder, data, sample, rng)
    return figures


def _measured(grounder: Grounder, data: Labelled, frames: NDArray[np.int64], rng: np.random.Generator) -> FrameFigures:
    views = database_views(data)
    hits = boxes_wanted = 0
    right: list[bool] = []
    coloured: list[bool] = []
    overlaps: list[float] = []
    for frame in frames.tolist():
        span = data.rows(frame)
        image, true, identity = data.images(np.array([frame])), data.boxes[span], data.identity[span]
        region = grounder.regions(image)[0]
        overlap = iou(true, region.proposals.boxes)
        large = ((true[:, 2:] - true[:, :2]) > 8).all(axis=1)
        hits += int((overlap[large].max(axis=1, initial=0) >= 0.5).sum())
        boxes_wanted += int(large.sum())
        members = _database(views, identity, rng)
        crops = {str(o): row_crops(data, _others(views[o], data.frame, frame, rng)) for o in members}
        exemplars = grounder.embed_database(crops)
        answer = grounder.ground(region, np.eye(len(members) + 1)[:-1], exemplars)
        looks = box_colours(image, answer.boxes)
        ids = data.instances(np.array([frame]))[0]
        for r, o in enumerate(members):
            rows = np.flatnonzero(identity == o)
            if data.pixels[span][rows].sum() < 40:
                continue
            right.append(_shows(overlap, answer.alignment[r], rows))
            coloured.append(_shows(overlap, colour_scores(looks, answer.p_box, histogram(crops[str(o)])), rows))
            visible = np.isin(ids, data.instance[span][rows])
            ours = answer.masks[r] > grounder.config.threshold
            overlaps.append(float((ours & visible).sum() / max((ours | visible).sum(), 1)))
    if not right:
        raise WaywordError("no object of these frames has enough other views for a database; make more frames")
    return FrameFigures(
        wilson(hits, max(boxes_wanted, 1)),
        wilson(sum(right), len(right)),
        bootstrap_mean(overlaps, rng),
        wilson(sum(coloured), len(coloured)),
    )


def database_views(data: Labelled) -> dict[int, NDArray[np.int64]]:
    """Rows that could be photos of a database, of every object with enough of them."""
    rows = good_views(data)
    clean = by_identity(data, rows[~data.photo[data.frame[rows]]])
    return {o: own for o, own in (clean or by_identity(data, rows)).items() if len(own) > EXEMPLARS}


def _database(views: Mapping[int, NDArray], identity: NDArray[np.int64], rng: np.random.Generator) -> list[int]:
    owners = [int(o) for o in np.unique(identity) if int(o) in views]
    others = [int(o) for o in rng.permutation(np.array(sorted(views))) if int(o) not in owners]
    return [*owners, *others[: max(0, OBJECTS - len(owners))]]


def _others(
    rows: NDArray[np.int64], frames: NDArray[np.int64], frame: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Five of the rows that are not of this frame."""
    return rng.permutation(rows[frames[rows] != frame])[:EXEMPLARS]


def _shows(overlap: NDArray[np.float32], scores: NDArray[np.float64], rows: NDArray[np.int64]) -> bool:
    """Whether the best-scored box lies on one of the ``rows`` of truth, as ``trials`` judges it."""
    if not len(scores):
        return False
    column = overlap[:, int(np.argmax(scores))]
    return int(column.argmax()) in rows and float(column.max()) >= 0.3
