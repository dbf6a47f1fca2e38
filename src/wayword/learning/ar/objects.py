"""The pool of objects that frames are made of: procedural random objects and mesh packs, never the catalogue.

    pool = ObjectPool.build([Path("objects/gso.npz")], PoolConfig(), "train")
    pool.draw(rng)          # the number of an object
    pool.mesh_name(number)  # its name in pool.bank

An object ("identity") is a shape with its paint and its size; its number is the same in the train and in the
held-out pool, so the two never mix. The table of all objects is written beside the shards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.learning.ar.config import PoolConfig, PoolName
from wayword.learning.ar.fitness import RANDOM, fit_for_drawing, misshapen
from wayword.learning.ar.nouns import held_out, kind, lookalike
from wayword.sim.models.baked import BakedPack
from wayword.sim.models.file_guard import UnusableError
from wayword.sim.models.mesh import Mesh
from wayword.sim.models.packs import object_name
from wayword.sim.models.random_objects import random_object
from wayword.sim.render.bank import MeshBank


@dataclass(frozen=True)
class ObjectEntry:
    """One line of the object table; a painted object comes right after its plain twin."""

    number: int
    source: str
    """``random``, or the name of the mesh pack."""
    index: int
    """Seed of a random object, place in the pack of any other."""
    name: str
    noun: str
    edge_m: float
    """Longest edge at which it stands in every layout."""
    paint: tuple[int, int, int] | None = None
    """The flat colour it is painted in, if any."""

    def as_json(self) -> dict[str, Any]:
        """For the table beside the shards."""
        return asdict(self)


class ObjectPool:
    """Objects with their meshes (longest edge 1) and how often each is drawn."""

    def __init__(self, entries: Sequence[ObjectEntry], meshes: Sequence[Mesh], config: PoolConfig) -> None:
        if not entries:
            raise WaywordError("the object pool is empty: give mesh packs or --random-objects above 0")
        self.entries = tuple(entries)
        self.bank = MeshBank({str(entry.number): mesh for entry, mesh in zip(entries, meshes, strict=True)})
        self._weights = _weights(self.entries, config)
        self._cumulative = np.cumsum(self._weights)

    @staticmethod
    def build(
        packs: Sequence[Path],
        config: PoolConfig,
        pool: PoolName,
        progress: Callable[[int], None] = lambda done: None,
        remark: Callable[[str], None] = lambda line: None,
    ) -> ObjectPool:
        """Collect, filter and split; deterministic for the same packs and configuration.

        ``remark`` hears, a line each, of meshes that cannot be used; they never stop the others.
        """
        candidates = [*_procedural(config, pool, progress), *_from_packs(packs, config, pool, progress, remark)]
        entries: list[ObjectEntry] = []
        meshes: list[Mesh] = []
        for place, mesh in fit_for_drawing(
            [entry for entry, _ in candidates], [mesh for _, mesh in candidates], config
        ):
            entry = candidates[place][0]
            entries.append(entry)
            meshes.append(mesh)
            if entry.source != RANDOM:  # a painted twin, with a number, a colour and a size of its own
                rng = np.random.default_rng((config.object_seed, 3, entry.number))
                red, green, blue = (int(level) for level in rng.integers(20, 256, 3))
                paint = (red, green, blue)
                entries.append(replace(entry, number=entry.number + 1, edge_m=_edge(rng, config), paint=paint))
                meshes.append(flat_painted(mesh, paint))
        return ObjectPool(entries, meshes, config)

    def draw(self, rng: np.random.Generator) -> int:
        """An object at random, as its place in ``entries``."""
        place = np.searchsorted(self._cumulative, rng.random() * self._cumulative[-1], side="right")
        return min(int(place), len(self.entries) - 1)

    def mesh(self, place: int) -> Mesh:
        """The mesh of the object at a place in ``entries``."""
        return self.bank.meshes[str(self.entries[place].number)]


def _procedural(
    config: PoolConfig, pool: PoolName, progress: Callable[[int], None]
) -> Iterator[tuple[ObjectEntry, Mesh]]:
    seeds = np.random.SeedSequence((config.object_seed, 0)).generate_state(max(config.random_objects, 1), np.uint64)
    for i in range(config.random_objects):
        seed = int(seeds[i] >> np.uint64(1))
        edge = _edge(np.random.default_rng((config.object_seed, 1, i)), config)
        progress(1)
        if held_out(f"random object {seed}", config.heldout_share) == (pool == "heldout"):
            yield ObjectEntry(i, RANDOM, seed, f"random object {i}", RANDOM, edge), random_object(seed)


def _from_packs(
    packs: Sequence[Path],
    config: PoolConfig,
    pool: PoolName,
    progress: Callable[[int], None],
    remark: Callable[[str], None],
) -> Iterator[tuple[ObjectEntry, Mesh]]:
    number = config.random_objects
    for order, path in enumerate(packs):
        baked = BakedPack(path)
        for i, (name, noun) in enumerate(zip(baked.names, baked.nouns, strict=True)):
            edge = _edge(np.random.default_rng((config.object_seed, 2, order, i)), config)
            entry = ObjectEntry(number, path.stem, i, name, kind(name, noun), edge)
            number += 2  # the odd one is the painted twin
            progress(1)
            if held_out(entry.noun, config.heldout_share) != (pool == "heldout") or lookalike(name, noun, path.stem):
                continue
            try:
                mesh = baked.mesh_or_reason(i, 1.0)
            except UnusableError as error:
                remark(f"{path}: skipped {name}: {error}")
                continue
            if not misshapen(mesh, config):
                yield entry, mesh


def flat_painted(mesh: Mesh, color: tuple[int, int, int]) -> Mesh:
    """The mesh in one colour."""
    colors = np.tile(np.array(color, dtype=np.uint8), (len(mesh.vertices), 1))
    return replace(mesh, colors=colors, uv=None, texture=None)


def _edge(rng: np.random.Generator, config: PoolConfig) -> float:
    if config.log_sizes:
        return round(math.exp(rng.uniform(math.log(config.min_edge_m), math.log(config.max_edge_m))), 4)
    return round(float(rng.uniform(config.min_edge_m, config.max_edge_m)), 4)


def _weights(entries: Sequence[ObjectEntry], config: PoolConfig) -> NDArray[np.float64]:
    """Chance of each object: by source, then by the square root of its noun's count, then by paint."""
    procedural = np.array([entry.source == RANDOM for entry in entries])
    painted = np.array([entry.paint is not None for entry in entries])
    nouns = np.unique([entry.noun for entry in entries], return_inverse=True)[1]
    # Forty ink cartridges should be seen more often than one teapot, but not forty times as often.
    weights = 1.0 / np.sqrt(np.bincount(nouns)[nouns])
    weights[procedural] = 1.0
    weights *= np.where(procedural, 1.0, np.where(painted, config.flat_share, 1 - config.flat_share))
    share = config.random_share if not procedural.all() else 1.0
    for mask, part in ((procedural, share), (~procedural, 1 - share)):
        if mask.any():
            weights[mask] *= part / max(weights[mask].sum(), 1e-12)
    if not weights.sum() > 0:
        raise WaywordError("no object can be drawn: --random-share is 0 and no mesh pack is given")
    chances: NDArray[np.float64] = weights / weights.sum()
    return chances


def pool_size(packs: Sequence[Path], config: PoolConfig) -> int:
    """How many candidates ``ObjectPool.build`` will look at."""
    return config.random_objects + sum(len(BakedPack(path)) for path in packs)


def whole_pack(path: Path, remark: Callable[[str], None] = lambda line: None) -> ObjectPool:
    """Every usable mesh of one pack, whatever its noun: what a pack that was never trained on is measured with."""
    config = PoolConfig(random_objects=0, random_share=0.0, flat_share=0.0, heldout_share=0.0)
    return ObjectPool.build([path], config, "train", remark=remark)


def distinct_names(path: Path) -> frozenset[str]:
    """What the usable meshes of a pack are called where it is loaded as objects to fly among."""
    return frozenset(object_name(entry.name) for entry in whole_pack(path).entries)
