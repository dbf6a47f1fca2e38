"""Databases for the reports: simulated photos of catalogue objects, and what phrases about them mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import SPLITS
from wayword.grounding.density import Exemplars
from wayword.grounding.grounder import Grounder, crop_tensor
from wayword.learning.grounding.exemplars import by_identity, good_views, row_crops
from wayword.learning.grounding.scenes import SceneConfig, Scenes, scenes
from wayword.learning.grounding.similarity import histogram
from wayword.learning.grounding.trials import References
from wayword.objects import ObjectDatabase
from wayword.sim.models.catalogue import names


def certain(phrases: list[str], objects: tuple[str, ...]) -> NDArray[np.float64]:
    """Perfect language: a phrase is an object's name and means that object."""
    table = np.zeros((len(phrases), len(objects) + 1))
    for r, phrase in enumerate(phrases):
        table[r, objects.index(phrase) if phrase in objects else -1] = 1.0
    return table


def sampled_crops(
    scenery: Scenes, objects: Sequence[str], rng: np.random.Generator, images: int = 5
) -> dict[str, NDArray[np.float32]]:
    """Simulated photos of ``objects``, as Appendix G makes them."""
    views = by_identity(scenery.data, good_views(scenery.data))
    return {
        name: row_crops(scenery.data, rng.permutation(views[scenery.objects.index(name)])[:images]) for name in objects
    }


def sampled_database(
    grounder: Grounder, scenery: Scenes, objects: tuple[str, ...], rng: np.random.Generator, images: int = 5
) -> Exemplars:
    """A database of simulated photos of ``objects``."""
    return grounder.embed_database(sampled_crops(scenery, objects, rng, images))


def shipped_crops(split: str) -> dict[str, NDArray[np.float32]]:
    """The photos of dev or test objects that come with the package: five images each."""
    with as_file(files("wayword.objects") / "data" / split) as folder:
        return {name: crop_tensor(crops) for name, crops in ObjectDatabase.load(folder).crops().items()}


def all_crops(split: str, seed: int, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """All 80 objects of the catalogue; without the 8 test ones while the split is dev, so that those stay unseen."""
    crops = shipped_crops(split)
    for other in ("train", "dev") if split == "test" else ("train",):
        frames = 2400 if other == "train" else 400
        scenery = scenes(SceneConfig(other, frames, "random", poses=4, seed=seed + 600))
        crops |= sampled_crops(scenery, names(SPLITS[other]), rng)
    return crops


def colour_exemplars(crops: Mapping[str, NDArray[np.float32]]) -> Exemplars:
    """The same photos as colour histograms: what looking at colours alone would know of them."""
    owners = np.repeat(np.arange(len(crops)), [len(each) for each in crops.values()]).astype(np.int64)
    return Exemplars(tuple(crops), histogram(np.concatenate(list(crops.values()))), owners)


def phrases_of_names() -> References:
    """The shipped language side: "the globe" is compared with the five phrases of every object."""
    from wayword.language import CachedPhrases, MiniLM
    from wayword.language.phrases_db import load_phrases
    from wayword.language.reference_model import embed_database, load_reference_model

    encoder, model = CachedPhrases(MiniLM()), load_reference_model()
    entries = {entry.name: entry for entry in load_phrases("all")}

    def meaning(phrases: list[str], objects: tuple[str, ...]) -> NDArray[np.float64]:
        database = embed_database([entries[name] for name in objects], encoder)
        return model.probabilities(encoder.embed([f"the {phrase}" for phrase in phrases]), database)

    return meaning
