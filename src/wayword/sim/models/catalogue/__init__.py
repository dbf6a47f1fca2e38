"""Wayword's world: 80 named objects, modelled procedurally from what a person would say of their looks.

``objects.json`` holds names, splits, sizes and looks; each family module holds the builders. A builder
is a function without arguments that returns painted solids in any scale; ``catalogue_mesh`` brings them
to the size the catalogue gives.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, resources

from wayword.errors import WaywordError
from wayword.sim.models.catalogue.registry import BUILDERS
from wayword.sim.models.mesh import Mesh, finish

__all__ = ["CatalogueObject", "catalogue", "catalogue_mesh", "names"]

FAMILIES = ("nature", "food", "buildings", "vehicles", "street", "furniture", "toys", "sports", "household")
SPLITS = ("seen", "dev", "test")


@dataclass(frozen=True)
class CatalogueObject:
    """One line of the catalogue."""

    name: str
    split: str
    longest_edge_m: float
    looks: str


@lru_cache(maxsize=1)
def catalogue() -> dict[str, CatalogueObject]:
    """All 80 objects by name, in catalogue order."""
    text = resources.files(__package__).joinpath("objects.json").read_text(encoding="utf-8")
    return {entry["name"]: CatalogueObject(**entry) for entry in json.loads(text)}


def names(split: str | None = None) -> tuple[str, ...]:
    """Names of all objects, or of those in one split (``seen``, ``dev``, ``test``)."""
    if split is not None and split not in SPLITS:
        raise WaywordError(f"unknown catalogue split {split!r}; choose one of {', '.join(SPLITS)}")
    return tuple(name for name, entry in catalogue().items() if split in (None, entry.split))


@lru_cache(maxsize=128)
def catalogue_mesh(name: str) -> Mesh:
    """The finished mesh of a catalogue object, at its size."""
    if name not in catalogue():
        raise WaywordError(f"unknown object {name!r}; `wayword world objects` draws all known ones")
    for family in FAMILIES:
        import_module(f"{__package__}.{family}")
    return finish(BUILDERS[name](), catalogue()[name].longest_edge_m)
