"""Harder objects than a split's eight: random draws of many things, as they stand in somebody's room.

    seen   the 64 seen objects of the catalogue, which policies know but no segmentation has met
    pack   the meshes of a pack of which no training frame was made

Of each draw 9 to 13 things stand in the arena under random looks. All but two of them are taught, with two more that
are nowhere to be seen, by five simulated photos each from other frames. Figures, with those of ``trials``:

    unknown.auroc    1 - P(none | b) of taught things against the same boxes with their thing taken out
    untaught.auroc   the same of taught things against those that nobody taught, all in view
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import LayoutConfig, load_natural, random_layout
from wayword.errors import WaywordError
from wayword.grounding.density import probabilities
from wayword.grounding.grounder import Grounder
from wayword.grounding.nms import iou
from wayword.intervals import Interval, bootstrap_auroc, bootstrap_mean, wilson
from wayword.learning.ar.objects import whole_pack
from wayword.learning.grounding.data import Labelled
from wayword.learning.grounding.databases import certain, colour_exemplars
from wayword.learning.grounding.exemplars import by_identity, good_views, row_crops
from wayword.learning.grounding.scenes import Scenes, SceneSituation, draw_scenes, poses_along
from wayword.learning.grounding.trials import References, Trials, proposal_recall, run_trials, unknown_objects
from wayword.sim.models.mesh import Mesh
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import random_look

PHOTOS = 5
_SPACING_M = 0.75
"""Between centres: thirteen things stand closer than a layout's twelve."""
_EDGE_M, _CROWD = 0.45, 13


@dataclass(frozen=True)
class DrawConfig:
    """How many of what."""

    draws: int = 30
    frames: int = 12
    """Of each draw."""
    fewest: int = 9
    most: int = 13
    untaught: int = 2
    """Of those that stand there."""
    absent: int = 2
    """Taught, but not there."""
    gallery_frames: int = 1600
    """Frames that the photos are taken from."""
    seed: int = 0


@dataclass
class DrawOutcomes:
    """Everything that happened in all draws."""

    trials: Trials = field(default_factory=Trials)
    boxes_right: int = 0
    boxes_wanted: int = 0
    taught: list[float] = field(default_factory=list)
    taken_out: list[float] = field(default_factory=list)
    untaught: list[float] = field(default_factory=list)

    def figures(self, rng: np.random.Generator) -> dict[str, tuple[Interval, str]]:
        """As the report shows them."""
        done = self.trials
        masks = np.array(done.overlaps)
        level = int(masks.mean(axis=0).argmax())
        return {
            "proposals.recall10": (wilson(self.boxes_right, max(self.boxes_wanted, 1)), "%"),
            "top1": (wilson(sum(done.right), len(done.right)), "%"),
            "top1_histogram": (wilson(sum(done.coloured), len(done.coloured)), "%"),
            "mask_iou": (bootstrap_mean(masks[:, level], rng), ""),
            "absent.auroc": (bootstrap_auroc(done.present, done.absent, rng), ""),
            "unknown.auroc": (bootstrap_auroc(self.taught, self.taken_out, rng, paired=True), ""),
            "untaught.auroc": (bootstrap_auroc(self.taught, self.untaught, rng), ""),
        }


def measure_draws(
    grounder: Grounder, meshes: Mapping[str, Mesh], config: DrawConfig, references: References = certain
) -> dict[str, tuple[Interval, str]]:
    """All figures over all draws of ``meshes``."""
    rng = np.random.default_rng([config.seed, 55])
    gallery, views = photo_gallery(meshes, config, rng)
    outcomes = DrawOutcomes()
    for _ in range(config.draws):
        count = int(rng.integers(config.fewest, config.most + 1))
        cast = [str(name) for name in rng.permutation(sorted(views))[: count + config.absent]]
        if len(cast) < config.fewest + config.absent:
            least = config.fewest + config.absent
            raise WaywordError(f"only {len(cast)} things can be photographed; a draw needs at least {least}")
        standing, absent = cast[: len(cast) - config.absent], cast[len(cast) - config.absent :]
        bank = MeshBank({name: meshes[name] for name in cast})
        scenery = draw_scenes(bank, tuple(cast), partial(_situation, standing, rng), config.frames)
        taught = [*standing[config.untaught :], *absent]
        crops = {name: row_crops(gallery, rng.permutation(views[name])[:PHOTOS]) for name in taught}
        _measure_draw(outcomes, grounder, scenery, crops, references, rng)
    return outcomes.figures(rng)


def photo_gallery(
    meshes: Mapping[str, Mesh], config: DrawConfig, rng: np.random.Generator
) -> tuple[Labelled, dict[str, NDArray[np.int64]]]:
    """Frames of all things, and the rows of each that could be its photos; things without enough are left out."""
    order = tuple(sorted(meshes))
    situation = partial(_situation, order, rng, poses=4)
    data = draw_scenes(MeshBank(meshes), order, situation, config.gallery_frames).data
    views = {order[o]: rows for o, rows in by_identity(data, good_views(data)).items()}
    return data, {name: rows for name, rows in views.items() if len(rows) >= PHOTOS}


def pack_meshes(path: Path, remark: Callable[[str], None] = lambda line: None) -> dict[str, Mesh]:
    """The things of a pack that can be told apart, as training frames filter them, each at a size of its own."""
    pool = whole_pack(path, remark)
    return {
        f"{entry.name} {entry.index}": pool.mesh(place).scaled(entry.edge_m)
        for place, entry in enumerate(pool.entries)
        if entry.paint is None
    }


def _situation(things: Sequence[str], rng: np.random.Generator, poses: int = 2) -> SceneSituation:
    """All of a draw's things, or some of a gallery's, at random places under a random look."""
    episodes = load_natural("dev")
    episode = episodes[int(rng.integers(len(episodes)))]
    count = min(len(things), _CROWD)
    layout = LayoutConfig(min_objects=count, max_objects=count, min_spacing_m=_SPACING_M, edge_clearance_m=_EDGE_M)
    return random_layout(things, rng, layout), random_look(rng), poses_along(episode, poses, rng)


def _measure_draw(
    outcomes: DrawOutcomes,
    grounder: Grounder,
    scenery: Scenes,
    crops: dict[str, NDArray[np.float32]],
    references: References,
    rng: np.random.Generator,
) -> None:
    exemplars = grounder.embed_database(crops)
    recall = proposal_recall(grounder, scenery.data)
    outcomes.boxes_right += round(recall.mean * recall.n)
    outcomes.boxes_wanted += recall.n
    outcomes.trials.add(run_trials(grounder, scenery, exemplars, references, colour_exemplars(crops)))
    known, unknown = unknown_objects(grounder, scenery, exemplars, rng)
    outcomes.taught += known
    outcomes.taken_out += unknown
    for frame in range(scenery.data.frames):
        span = scenery.data.rows(frame)
        region = grounder.regions(scenery.data.images(np.array([frame])))[0]
        overlap = iou(region.proposals.boxes, scenery.data.boxes[span])
        p_none = probabilities(region.embeddings, exemplars, grounder.config.density)[:, -1]
        for b in np.flatnonzero(overlap.max(axis=1, initial=0) >= 0.5):
            name = scenery.objects[int(scenery.data.identity[span][overlap[b].argmax()])]
            if name not in crops:
                outcomes.untaught.append(1.0 - float(p_none[b]))
