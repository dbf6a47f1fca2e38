"""The whole training of the segmentation, from pictures or shards to weights: what `wayword train grounding` does.

One process trains the metric all the time, the other the proposals and then the refinement; then the averaged networks
are assembled and fitted.

    train_grounding(GroundingTraining(), GroundingSources(data), Path("runs/grounding"), Path("weights"))
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from wayword.compute import Crew, Workers
from wayword.errors import WaywordError
from wayword.grounding.weight_files import find_weights
from wayword.learning.ar.backgrounds import FolderFrames
from wayword.learning.ar.config import ARConfig, PhotoConfig
from wayword.learning.ar.generate import Generator
from wayword.learning.ar.objects import ObjectPool
from wayword.learning.ar.panoramas import PanoramaViews
from wayword.learning.ar.shards import generate_shards
from wayword.learning.common.followers import RAY
from wayword.learning.common.loop import NO_LIMIT
from wayword.learning.common.stage_process import TrainingStage, run_stages
from wayword.learning.common.train_config import TrainConfig, claim
from wayword.learning.grounding import train_metric, train_proposals, train_refine
from wayword.learning.grounding.assemble import assemble
from wayword.learning.grounding.inputs import GroundingInputs
from wayword.learning.grounding.sizes import Sizes
from wayword.learning.grounding.train_metric import MetricTraining
from wayword.learning.grounding.train_proposals import ProposalTraining
from wayword.learning.grounding.train_refine import RefineTraining

NetworkName = Literal["proposals", "metric", "refine"]
TRAINING = "grounding"
"""As train_config.json calls it."""
SIMULATED_SHARE = 0.4
"""Of the frames made for a place of one's own: objects must be known from photos that were not taken there."""
FINE_TUNING_RATE = 1e-3
_SHARES: dict[NetworkName, float] = {"proposals": 0.6, "refine": 0.4, "metric": 1.0}
"""Of the minutes: the metric has a core to itself."""


@dataclass(frozen=True)
class PlaceFrames:
    """Training frames that are made of pictures of a place, or of panoramas."""

    count: int = 32_000
    ar: ARConfig = field(default_factory=lambda: ARConfig(photo=PhotoConfig(simulated_share=SIMULATED_SHARE)))
    seed: int = 0


@dataclass(frozen=True)
class GroundingTraining:
    """Every setting of every part."""

    proposals: ProposalTraining = field(default_factory=ProposalTraining)
    metric: MetricTraining = field(default_factory=MetricTraining)
    refine: RefineTraining = field(default_factory=RefineTraining)
    frames: PlaceFrames = field(default_factory=PlaceFrames)
    """If training frames are made of pictures; otherwise the data says itself how it was made."""
    start: str | None = None
    """Weights to go on from: shipped ones by name, or a folder."""
    seed: int = 0
    """As given to ``with_seed``; of the fit."""

    @property
    def repeatable(self) -> bool:
        """Whether another run makes the same weights to the bit."""
        return all(each.repeatable for each in (self.proposals, self.metric, self.refine))

    @property
    def sizes(self) -> Sizes:
        """Of the three networks."""
        unit = self.metric.loss != "triplet" and self.metric.size.unit  # as ``train_metric`` trains it
        return Sizes(self.proposals.size, replace(self.metric.size, unit=unit), self.refine.size)

    def with_seed(self, seed: int) -> GroundingTraining:
        """The same with this seed in every part."""
        training = self._with_loops(seed=seed)
        return replace(training, frames=replace(self.frames, seed=seed), seed=seed)

    def with_minutes(self, minutes: float | None) -> GroundingTraining:
        """The same within this time for all; None: steps end each training, and not minutes."""
        training = self
        for name, share in _SHARES.items():
            part = getattr(training, name)
            limit = NO_LIMIT if minutes is None else minutes * share
            training = replace(training, **{name: replace(part, loop=replace(part.loop, minutes=limit))})
        return training

    def with_processes(self, processes: int, device: Literal["cpu", "cuda"]) -> GroundingTraining:
        """The same with this many processes per network, on this device."""
        networks = self
        for name in _SHARES:
            part = getattr(networks, name)
            networks = replace(
                networks, **{name: replace(part, workers=processes, loop=replace(part.loop, device=device))}
            )
        return networks

    def from_start(self, start: str) -> GroundingTraining:
        """The same, but on from other weights, at a lower rate."""
        return replace(self._with_loops(learning_rate=FINE_TUNING_RATE), start=start)

    def _with_loops(self, **values: float) -> GroundingTraining:
        training = self
        for name in _SHARES:
            part = getattr(training, name)
            training = replace(training, **{name: replace(part, loop=replace(part.loop, **values))})
        return training


@dataclass(frozen=True)
class GroundingSources:
    """Folders and files that the user names."""

    data: Path | None = None
    """Shards made by `wayword ar generate`; with ``frames``, none."""
    frames: Path | None = None
    """Pictures of an empty place with poses.json."""
    packs: tuple[Path, ...] = ()
    """With ``frames`` or ``panoramas``: baked mesh packs beside the procedural random objects."""
    start: Path | None = None
    """Filled in from the settings."""
    panoramas: tuple[Path, ...] = ()
    """Pictures taken all around (.hdr), instead of ``frames``."""

    @property
    def pictures(self) -> bool:
        """Whether training frames are made here."""
        return self.frames is not None or bool(self.panoramas)


def train_grounding(
    config: GroundingTraining,
    sources: GroundingSources,
    run_folder: Path,
    out: Path,
    only: NetworkName | None = None,
    workers: Workers = 2,
) -> TrainConfig:
    """Make frames if there are pictures, train side by side, assemble and fit; goes on where it was stopped.

    With ``only`` one network is trained; it is put together with the others if they are known, being those that the
    training started from. ``workers`` make frames; on a cluster of theirs networks are trained that have several
    processes. Returns what the run folder says of the run.
    """
    if "RANK" in os.environ and only is None:
        raise WaywordError("torchrun trains one network at a time: name it with --only")
    if sources.data is None and not sources.pictures:
        raise WaywordError("name --data DIR (made by `wayword ar generate`), or --frames DIR of your own place")
    if sources.frames is not None and sources.panoramas:
        raise WaywordError("--frames and --panoramas: name one of them")
    start = None if config.start is None else find_weights(config.start)
    made_here = sources.pictures
    record = claim(
        run_folder, TRAINING, config, replace(sources, data=None if made_here else sources.data, start=start)
    )
    data = sources.data or run_folder / "data"
    if made_here:
        make_frames(config.frames, sources, data, workers)
    inputs = GroundingInputs(data, start)
    stages = {
        "metric": TrainingStage(train_metric.train, run_folder / "metric", config.metric, inputs),
        "proposals": TrainingStage(train_proposals.train, run_folder / "proposals", config.proposals, inputs),
        "refine": TrainingStage(train_refine.train, run_folder / "refine", config.refine, inputs),
    }
    variables = {RAY: workers.ray} if isinstance(workers, Crew) and workers.ray else None
    if only is not None:
        run_stages([[stages[only]]], variables)
        if start is not None:
            assemble(data, run_folder, out, config.sizes, config.seed, record, start)
        return record
    run_stages([[stages["metric"]], [stages["proposals"], stages["refine"]]], variables)
    if made_here:
        record = record.with_data(data=data)
    assemble(data, run_folder, out, config.sizes, config.seed, record)
    return record


def make_frames(config: PlaceFrames, sources: GroundingSources, out: Path, workers: Workers = 2) -> None:
    """Shards over pictures of a place or panoramas; what is there already is not made again."""
    config.ar.check()
    backgrounds = PanoramaViews(sources.panoramas) if sources.frames is None else FolderFrames(sources.frames)
    pool = ObjectPool.build(sources.packs, config.ar.objects, config.ar.pool)
    for _ in generate_shards(Generator(pool, backgrounds, config.ar, config.seed), out, config.count, workers):
        pass
