"""Measures every stage of the segmentation on objects it has never seen; the simulator knows the truth.

wayword-style keys: grounding.proposals.recall10.dev, grounding.imgemb.8way.dev, grounding.top1.dev, ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wayword.figures import Figure
from wayword.grounding.grounder import Grounder
from wayword.intervals import Interval, bootstrap_auroc, bootstrap_mean, wilson
from wayword.learning.grounding.databases import all_crops, certain, colour_exemplars, shipped_crops
from wayword.learning.grounding.scenes import SceneConfig, Scenes, scenes
from wayword.learning.grounding.sheet import answer_sheet
from wayword.learning.grounding.similarity import HISTOGRAM_VARIANCE, gallery, histogram, n_way
from wayword.learning.grounding.timing import backend_times, stage_times
from wayword.learning.grounding.trials import (
    References,
    calibration,
    calibration_error,
    proposal_recall,
    run_trials,
    unknown_objects,
)


@dataclass
class Report:
    """Figures by key, each a mean with its interval and a unit."""

    figures: dict[str, tuple[Interval, str]] = field(default_factory=dict)
    curve: list[tuple[float, float, int]] = field(default_factory=list)
    """Calibration of ALIGN: mean value, share that is true, count."""

    def add(self, key: str, interval: Interval, unit: str = "") -> None:
        """Note one figure; rates are given as fractions."""
        self.figures[key] = (interval, unit)

    def publishable(self, split: str, command: str) -> dict[str, Figure]:
        """As ``wayword.evaluation.report.publish`` takes them."""
        today = date.today().isoformat()
        return {
            f"grounding.{key}.{split}": Figure.of(value, unit, command, today)
            for key, (value, unit) in self.figures.items()
        }


def measure(
    grounder: Grounder,
    split: str = "dev",
    frames: int = 400,
    seed: int = 0,
    references: References = certain,
    trials: int = 2000,
) -> Report:
    """All figures of one split but the times."""
    report, rng = Report(), np.random.default_rng([seed, 50])
    scenery = scenes(SceneConfig(split, frames, seed=seed))
    report.add("proposals.recall10", proposal_recall(grounder, scenery.data), "%")
    album = gallery(split, seed)
    ours = [grounder.embedder.embed(crops) for crops in album.crops]
    colours = [histogram(crops) for crops in album.crops]
    variance = grounder.config.density.variance
    for ways in (2, 8, 15):
        report.add(f"imgemb.{ways}way", n_way(ours, album.queried, ways, variance, rng, trials=trials), "%")
        report.add(
            f"imgemb.{ways}way_histogram",
            n_way(colours, album.queried, ways, HISTOGRAM_VARIANCE, rng, trials=trials),
            "%",
        )
    for count in (1, 2, 3, 5, 10):
        value = n_way(ours, album.queried, 8, variance, rng, queries=1, exemplars=count, trials=trials)
        report.add(f"imgemb.8way_1query_{count}exemplars", value, "%")
    _grounding(report, grounder, scenery, shipped_crops(split), references, "", rng)
    _grounding(report, grounder, scenery, all_crops(split, seed, rng), references, "bigo.", rng)
    return report


def _grounding(
    report: Report,
    grounder: Grounder,
    scenery: Scenes,
    crops: Mapping[str, NDArray[np.float32]],
    references: References,
    prefix: str,
    rng: np.random.Generator,
) -> None:
    exemplars = grounder.embed_database(crops)
    done = run_trials(grounder, scenery, exemplars, references, colour_exemplars(crops))
    report.add(f"{prefix}top1", wilson(sum(done.right), len(done.right)), "%")
    report.add(f"{prefix}top1_histogram", wilson(sum(done.coloured), len(done.coloured)), "%")
    masks = [(f"{prefix}mask_iou", done.overlaps)] + ([] if prefix else [("all_iou", done.everything)])
    for key, outcomes in masks:
        values = np.array(outcomes)
        level = int(values.mean(axis=0).argmax())
        report.add(key, bootstrap_mean(values[:, level], rng))
    report.add(f"{prefix}absent.auroc", bootstrap_auroc(done.present, done.absent, rng))
    if not prefix:
        report.curve = calibration(done.claims)
        report.add("align.calibration_error", calibration_error(done.claims, rng))
        known, unknown = unknown_objects(grounder, scenery, exemplars, rng)
        report.add("unknown.auroc", bootstrap_auroc(known, unknown, rng, paired=True))


def table(figures: Mapping[str, tuple[Interval, str]]) -> str:
    """The figures as lines of text."""
    lines = []
    for key, (value, unit) in figures.items():
        scale, digits = (100, 1) if unit == "%" else (1, 3)
        low, high = scale * value.low, scale * value.high
        lines.append(
            f"{key:36s} {scale * value.mean:8.{digits}f} {unit:2s} [{low:.{digits}f}, {high:.{digits}f}]  n {value.n}"
        )
    return "\n".join(lines)


def times(
    report: Report, grounder: Grounder, split: str, seed: int, frames: int = 100, weights: Path | None = None
) -> None:
    """Milliseconds per frame on one core: everything with one and five references, and each stage.

    With the folder of the ``weights`` also each network alone, in onnxruntime and in eager torch.
    """
    scenery = scenes(SceneConfig(split, frames, seed=seed))
    for name, value in stage_times(grounder, scenery.data.images(np.arange(frames))).items():
        keys = {"one reference": "ms_frame", "five references": "ms_frame_5refs"}
        report.add(keys.get(name, f"ms_{name}"), value, "ms")
    if weights is not None:
        for name, (fast, slow) in backend_times(weights, grounder, scenery.data.images(np.arange(1))).items():
            report.add(f"ms_{name}_onnxruntime", fast, "ms")
            report.add(f"ms_{name}_eager", slow, "ms")


def picture_sheet(grounder: Grounder, split: str, rng: np.random.Generator) -> Image.Image:
    """24 random frames of a split with their masks."""
    scenery = scenes(SceneConfig(split, 200, seed=int(rng.integers(1000))))
    return answer_sheet(grounder, scenery, grounder.embed_database(shipped_crops(split)), rng)
