"""``wayword ar``: augmented-reality training data, and a look at it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from wayword.cli.common import check_png, progress_bar, save_picture, say, say_aside
from wayword.cli.crew_options import RayOption
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.learning.ar.config import ARConfig

if TYPE_CHECKING:
    from wayword.learning.ar.generate import Generator


@dataclass(frozen=True)
class FrameSource:
    """What frames are made of."""

    packs: tuple[Path, ...] = ()
    """Baked mesh packs (.npz, each with its index .json) beside the procedural random objects."""
    frames: Path | None = None
    """Your own pictures of an empty place with poses.json, instead of flights in the simulated arena."""
    panoramas: tuple[Path, ...] = ()
    """Panoramas (.hdr, taken all around) in which cameras of many kinds are turned, instead of such flights."""
    seed: int = 0
    """Shard i of a seed is always the same one."""
    config: Annotated[ARConfig, tyro.conf.arg(name="")] = field(default_factory=ARConfig)

    def generator(self) -> Generator:
        """The objects and the empty places, made ready."""
        from wayword.learning.ar.backgrounds import FolderFrames, SimulatedFlights
        from wayword.learning.ar.generate import Generator
        from wayword.learning.ar.objects import ObjectPool, pool_size
        from wayword.learning.ar.panoramas import PanoramaViews

        check_seed(self.seed)
        self.config.check()
        if self.frames is not None and self.panoramas:
            raise WaywordError("--frames and --panoramas: name one of them")
        backgrounds: SimulatedFlights | FolderFrames | PanoramaViews = SimulatedFlights()
        if self.frames is not None:
            backgrounds = FolderFrames(self.frames)
        elif self.panoramas:
            backgrounds = PanoramaViews(self.panoramas)
        with progress_bar("making objects", pool_size(self.packs, self.config.objects)) as advance:
            remarks: list[str] = []
            pool = ObjectPool.build(self.packs, self.config.objects, self.config.pool, advance, remarks.append)
        for line in remarks:
            say_aside(line)
        return Generator(pool, backgrounds, self.config, self.seed)


@dataclass(frozen=True)
class GenerateFrames(RayOption):
    """Make shards of frames with masks, boxes and identities; running it again makes only what is missing."""

    out: Path
    """Folder for the shards."""
    count: int = 20_000
    """Frames wanted, rounded up to whole shards; more can be asked for later."""
    processes: int | None = None
    """Shards made side by side; by default 1, and on a cluster as many as it has cores."""
    source: FrameSource = field(default_factory=FrameSource)

    def run(self) -> None:
        """Make what is missing."""
        from wayword.learning.ar.shards import generate_shards

        crew = self._crew(self.processes, "processes", usual=1)
        generator = self.source.generator()
        size = self.source.config.shard_frames
        total = -(-self.count // size) * size
        began, new_frames = time.perf_counter(), 0
        with progress_bar("making frames", total) as advance:
            for number, frames in enumerate(generate_shards(generator, self.out, self.count, crew)):
                advance(frames)
                new_frames += frames if number else 0  # the first count is what was there before
        rate = new_frames / (time.perf_counter() - began)
        done = f"made {new_frames:,} at {rate:.0f} frames/s" if new_frames else "nothing was missing"
        say(f"{self.out}: {total:,} frames of {len(generator.pool.entries):,} objects; {done}")


@dataclass(frozen=True)
class Preview:
    """Draw a contact sheet of frames with their boxes and masks: of a folder of shards, or of fresh frames."""

    shards: Path | None = None
    """A folder written by `wayword ar generate`; without it, frames are made for the sheet."""
    frames_shown: int = 24
    """How many."""
    out: Path = Path("out/ar.png")
    """Where the picture goes."""
    source: FrameSource = field(default_factory=FrameSource)

    def run(self) -> None:
        """Draw and save."""
        from wayword.learning.ar.preview import fresh_sheet, stored_sheet

        check_png(self.out)
        if not 1 <= self.frames_shown <= 400:
            raise WaywordError(f"--frames-shown {self.frames_shown}: choose 1 to 400")
        if self.shards is not None:
            sheet = stored_sheet(self.shards, self.frames_shown, self.source.seed)
        else:
            sheet = fresh_sheet(self.source.generator(), self.frames_shown)
        save_picture(sheet, self.out)


@dataclass(frozen=True)
class AR:
    """Augmented-reality training data for the segmentation: make it, look at it."""

    what: (
        Annotated[GenerateFrames, tyro.conf.subcommand("generate")]
        | Annotated[Preview, tyro.conf.subcommand("preview")]
    )

    def run(self) -> None:
        """Run the chosen one."""
        self.what.run()
