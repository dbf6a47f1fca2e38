"""``wayword train grounding`` and ``wayword train grounding-report``: from data to weights, and how good they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wayword.cli.common import check_png, need_torch, refuse_beside_config, save_picture, say, say_aside
from wayword.cli.crew_options import RayOption
from wayword.cli.training_talk import show_settings, warn_of_other_data
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.learning.grounding.sizes import ProposalSize, RefineSize, Sizes, read_sizes
from wayword.shipped import DEFAULT_GROUNDER

if TYPE_CHECKING:
    from wayword.grounding import Grounder
    from wayword.learning.grounding.report import Report
    from wayword.learning.grounding.train_grounding import GroundingSources, GroundingTraining
    from wayword.learning.grounding.trials import References

_COMPARED = 200
"""Frames of a place that weights are compared on, before and after."""
_PLACES = ("data", "run_folder", "out", "only", "show", "seed", "frames", "packs", "panoramas", "ray")
"""Options that say where things are, not how to train."""


@dataclass(frozen=True)
class TrainGrounding(RayOption):
    """Train the segmentation: two processes, one core each; from nothing under 2.5 hours.

    Stop it at any time and start it again with the same folders: it goes on from the last checkpoint. The run folder
    and the weights hold train_config.json with every setting; --config FILE runs one again. With --by-steps the same
    settings make the same weights, to the bit.

    For a place of your own: wayword train grounding --frames my_room/ --out my_room-weights
    """

    data: Path | None = None
    """Folder of shards made by `wayword ar generate`; with --frames or --panoramas, where to make them, by default
    RUN-FOLDER/data."""
    run_folder: Path | None = None
    """Keeps checkpoints and logs (docs/grounding.md explains the numbers in log.csv); by default OUT-run."""
    out: Path = Path("runs/grounding/weights")
    """Where the finished weights go; fly with them: --grounder FOLDER."""
    config: Path | None = None
    """A train_config.json, of a run or of weights, to run again, on the same data or on that of --data and --frames."""
    show: bool = False
    """Print the settings as a file for --config, and train nothing."""
    minutes: float | None = None
    """Longest time for all three trainings together, by default 135, or 15 with --frames; on a slow machine they are
    shortened to fit."""
    by_steps: bool = False
    """The same to the bit under the seed: steps end each training, not minutes, however long they take."""
    only: Literal["proposals", "metric", "refine", "all"] = "all"
    """Train one network only; with --start the other two are those it starts from, otherwise nothing is assembled."""
    frames: Path | None = None
    """Your own pictures of the empty place with poses.json (docs/ar.md): training frames are made from them first."""
    panoramas: tuple[Path, ...] = ()
    """Panoramas (.hdr) instead of --frames, for weights that see in any room; --config says how frames are made."""
    packs: tuple[Path, ...] = ()
    """With --frames or --panoramas: baked mesh packs beside the procedural random objects."""
    count: int = 32_000
    """With --frames or --panoramas: training frames to make of them."""
    start: str | None = None
    """Weights to go on from instead of random ones, shipped ones (sim, real) or a folder: far shorter. With --frames
    real by default; "nothing" are random ones."""
    processes: int = 1
    """Processes per network, each with batches of its own, whose gradients are averaged; another number makes other
    weights."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where the networks are trained."""
    seed: int | None = None
    """Of frames, networks and fits; by default 0, or that of --config."""
    proposal_channels: tuple[int, int, int, int, int] | None = None
    """Size of the proposal network: channels at strides 2, 4, 8, 16 and 32. By default 16 32 48 64 64, or what the
    weights have that it goes on from; so are the other sizes."""
    metric_channels: tuple[int, int, int] | None = None
    """Size of ImgEmb: channels of its three stages; by default 24 48 96."""
    embedding: int | None = None
    """Length of the embedding of a region; by default 64."""
    refine_channels: tuple[int, int, int] | None = None
    """Size of the refinement: channels at 16, 8 and 4 cells across; by default 24 48 64."""

    def run(self) -> None:
        """Make frames if asked, train side by side, then assemble and fit."""
        need_torch()
        from wayword.learning.grounding.train_grounding import TRAINING, train_grounding

        config = self.settings()
        if self.show:
            show_settings(TRAINING, config)
            return
        runs = self.run_folder or self.out.with_name(f"{self.out.name}-run")
        only = None if self.only == "all" else self.only
        run = train_grounding(
            config, self._sources(), runs, self.out, only, self._crew(2 if self.ray is None else None)
        )
        warn_of_other_data(run, self.config)
        if self._sources().pictures and config.start is not None:
            self._compare(config.start, self.data or runs / "data")
        if self.only == "all" or config.start is not None:
            say(self.out)

    def _compare(self, start: str, data: Path) -> None:
        """What the training bought, on frames of the place that were kept from it."""
        from wayword.grounding import Grounder
        from wayword.learning.grounding.data import open_shards
        from wayword.learning.grounding.frame_report import measure_frames

        held_out = open_shards(data)[1]
        for when, weights in (("before", start), ("after", str(self.out))):
            figures = measure_frames(Grounder.load(weights), held_out, _COMPARED)
            if "pictures" in figures:
                say(f"{when}: {figures['pictures'].line()}")

    def settings(self) -> GroundingTraining:
        """All settings: those of --config, or of the options."""
        from wayword.learning.common.train_config import read_options
        from wayword.learning.grounding.train_grounding import TRAINING, GroundingTraining
        from wayword.shipped import PHOTO_GROUNDER

        check_seed(self.seed or 0)
        if self.config is not None:
            refuse_beside_config(self, _PLACES)
            settings = read_options(self.config, TRAINING, GroundingTraining)
            return settings if self.seed is None else settings.with_seed(self.seed)
        beginning = self.start or (PHOTO_GROUNDER if self.frames is not None else "nothing")
        minutes = self.minutes if self.minutes is not None else (15.0 if self.frames is not None else 135.0)
        for name, value in (("minutes", minutes), ("count", self.count), ("processes", self.processes)):
            if value <= 0:
                raise WaywordError(f"--{name} {value}: must be positive")
        base, sizes = GroundingTraining(), self._sizes(beginning)
        training = replace(
            base,
            proposals=replace(base.proposals, size=sizes.proposals),
            metric=replace(base.metric, size=sizes.metric),
            refine=replace(base.refine, size=sizes.refine),
            frames=replace(base.frames, count=self.count),
        )
        training = training.with_processes(self.processes, self.device)
        training = training.with_minutes(None if self.by_steps else minutes).with_seed(self.seed or 0)
        return training if beginning == "nothing" else training.from_start(beginning)

    def _sizes(self, grounder: str) -> Sizes:
        """Those of the weights it goes on from, or the usual ones, but for what is asked for."""
        from wayword.grounding.weight_files import find_weights

        sizes = Sizes() if grounder == "nothing" else read_sizes(find_weights(grounder))
        metric = sizes.metric
        return Sizes(
            ProposalSize(self.proposal_channels or sizes.proposals.channels),
            replace(
                metric, channels=self.metric_channels or metric.channels, dimension=self.embedding or metric.dimension
            ),
            RefineSize(self.refine_channels or sizes.refine.channels),
        )

    def _sources(self) -> GroundingSources:
        from wayword.learning.common.train_config import read_train_config
        from wayword.learning.grounding.train_grounding import GroundingSources

        named = GroundingSources(self.data, self.frames, self.packs, panoramas=self.panoramas)
        if self.config is None or self.data is not None or named.pictures:
            return named
        before = read_train_config(self.config).inputs()
        packs = tuple(path for name, path in before.items() if name.startswith("packs/"))
        frames = before.get("frames")
        panoramas = tuple(path for name, path in before.items() if name.startswith("panoramas/"))
        made_here = frames is not None or panoramas
        return GroundingSources(None if made_here else before.get("data"), frames, packs, panoramas=panoramas)


@dataclass(frozen=True)
class ReportGrounding:
    """Measure every stage of the segmentation on unseen objects."""

    split: Literal["dev", "test"] = "dev"
    """Whose objects; test is for the end."""
    grounder: str = DEFAULT_GROUNDER
    """The segmentation's weights: shipped ones by name, or a folder."""
    frames: int = 400
    """Frames for proposals and grounding."""
    trials: int = 2000
    """Trials of each n-way choice."""
    seed: int = 0
    """Seeds frames, databases and trials."""
    draws: int = 30
    """Random draws of 9 to 13 of the 64 seen objects, measured beside the split's eight; 0 leaves them out."""
    pack: Path | None = None
    """A baked mesh pack (.npz) that no training frame was made of: as many draws of its things."""
    language: bool = True
    """References are phrases ("the globe") understood by the language side; off takes them as certain."""
    pictures: Path | None = None
    """Write a sheet of 24 random frames here (.png)."""
    publish: bool = False
    """Enter the figures into docs/results.json (maintainers)."""

    def run(self) -> None:
        """Measure, print, publish if asked."""
        import numpy as np

        from wayword.grounding import Grounder
        from wayword.grounding.weight_files import find_weights
        from wayword.learning.grounding.databases import certain, phrases_of_names
        from wayword.learning.grounding.report import measure, table, times

        if self.pictures is not None:
            check_png(self.pictures)
        check_seed(self.seed)
        if self.draws < 0 or (self.pack is not None and self.draws < 1):
            raise WaywordError(f"--draws {self.draws}: at least 1 is needed, or 0 without --pack")
        grounder = Grounder.load(self.grounder)
        references = phrases_of_names() if self.language else certain
        report = measure(grounder, self.split, self.frames, self.seed, references, self.trials)
        self._measure_draws(report, grounder, references)
        times(report, grounder, self.split, self.seed, weights=find_weights(self.grounder))
        say(table(report.figures))
        say("calibration of ALIGN: mean value, share that is true, boxes x references")
        for value, share, count in report.curve:
            say(f"  {value:.2f}  {share:.2f}  {count}")
        if self.pictures is not None:
            from wayword.learning.grounding.report import picture_sheet

            save_picture(picture_sheet(grounder, self.split, np.random.default_rng([self.seed, 60])), self.pictures)
        if self.publish:
            from wayword.cli.results import publish_figures

            command = f"wayword train grounding-report --split {self.split} --frames {self.frames} --seed {self.seed}"
            command += f" --grounder {self.grounder}" if self.grounder != DEFAULT_GROUNDER else ""
            command += f" --draws {self.draws}" + (f" --pack {self.pack.name}" if self.pack else "")
            publish_figures(report.publishable(self.split, command))

    def _measure_draws(self, report: Report, grounder: Grounder, references: References) -> None:
        """The harder columns: many seen objects, and a pack whose things have no phrases, so that names are certain."""
        from wayword.learning.grounding.databases import certain
        from wayword.learning.grounding.draws import DrawConfig, measure_draws, pack_meshes
        from wayword.sim.models.catalogue import catalogue_mesh, names

        if self.draws < 1:
            return
        config = DrawConfig(self.draws, seed=self.seed)
        columns = {"seen": ({name: catalogue_mesh(name) for name in names("seen")}, references)}
        if self.pack is not None:
            columns["pack"] = (pack_meshes(self.pack, say_aside), certain)
        for column, (meshes, understood) in columns.items():
            for key, (value, unit) in measure_draws(grounder, meshes, config, understood).items():
                report.add(f"{column}.{key}", value, unit)
