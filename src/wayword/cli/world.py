"""``wayword world``: look at the simulated world."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from wayword.cli.common import check_png, progress_bar, save_picture, say, say_aside
from wayword.errors import WaywordError
from wayword.flying.episode_source import Split, check_seed, load_bank
from wayword.io import check_target
from wayword.task import ALTITUDE_M, ARENA_M, IMAGE_HEIGHT, IMAGE_WIDTH


@dataclass(frozen=True)
class ShowLayout:
    """Draw a random layout: the arena from above with the objects' names, and a drone's view of it."""

    split: Split = "train"
    """Whose objects stand in it."""
    seed: int = 0
    """Which layout, light, ground and surround."""
    out: Path = Path("out/layout.png")
    """Where the picture goes."""

    def run(self) -> None:
        """Draw and save."""
        import numpy as np
        from PIL import Image

        from wayword.camera import Camera
        from wayword.episodes import SPLITS, random_layout
        from wayword.pictures.sheet import tile_sheet
        from wayword.pictures.topdown import TopDown
        from wayword.sim.models.catalogue import names
        from wayword.sim.render.bank import MeshBank
        from wayword.sim.render.look import random_look
        from wayword.sim.render.renderer import RenderConfig, Renderer

        check_seed(self.seed)
        check_target(check_png(self.out))
        rng = np.random.default_rng(self.seed)
        bank, look = MeshBank.of_catalogue(), random_look(rng)
        objects = random_layout(names(SPLITS[self.split]), rng)
        top = TopDown(bank, look)
        plan = top.picture(objects)
        top.draw_names(plan, objects)
        camera = Camera(plan.width, plan.width * IMAGE_HEIGHT // IMAGE_WIDTH)
        renderer = Renderer(bank, camera, RenderConfig(supersample=True))
        from_the_edge = [ARENA_M / 2, 0.5, ALTITUDE_M, 0.0, 0.0, np.pi / 2]
        view = renderer.render([renderer.scene(objects, look)], [from_the_edge]).rgb[0]
        save_picture(tile_sheet([plan, Image.fromarray(view)], 1, gap=8), self.out)


@dataclass(frozen=True)
class ShowObjects:
    """Draw a contact sheet: every object from two sides, with its name."""

    pack: Path | None = None
    """A folder or .npz of meshes to show instead of the catalogue."""
    out: Path = Path("out/objects.png")
    """Where the picture goes."""

    def run(self) -> None:
        """Draw and save."""
        from wayword.pictures.catalogue_sheet import catalogue_sheet
        from wayword.sim.models.catalogue import catalogue

        check_target(check_png(self.out))
        bank = load_bank(self.pack, say_aside)
        names = [name for name in bank.meshes if self.pack is None or name not in catalogue()]
        save_picture(catalogue_sheet(names, bank), self.out)


@dataclass(frozen=True)
class Demos:
    """Sample demonstrations: layouts, paths and plain instructions, as an episode file and a picture."""

    split: Split = "train"
    """Whose objects stand in the layouts."""
    count: int = 20
    """How many episodes."""
    seed: int = 0
    """Episode i of a seed is always the same one."""
    out: Path = Path("out/demos.jsonl")
    """The episode file; a picture of the first 12 is written beside it."""

    def run(self) -> None:
        """Generate, check, write, draw."""
        from wayword.episodes import SPLITS, generate_episodes, write_episodes
        from wayword.pictures.sheet import tile_sheet
        from wayword.pictures.topdown import TopDown
        from wayword.sim.models.catalogue import names
        from wayword.sim.render.bank import MeshBank

        if self.count < 1:
            raise WaywordError(f"--count {self.count}: at least 1 is needed")
        if self.out.suffix.lower() != ".jsonl":
            raise WaywordError(f"{self.out}: episodes are written as .jsonl; change the ending of --out")
        check_seed(self.seed)
        check_target(self.out)
        episodes = []
        with progress_bar("sampling demonstrations", self.count) as advance:
            for episode, _ in generate_episodes(self.split, self.count, self.seed, names(SPLITS[self.split])):
                episodes.append(episode)
                advance(1)
        write_episodes(self.out, episodes)
        bank = MeshBank.of_catalogue()
        plans = []
        top = TopDown(bank, size_px=420)
        for episode in episodes[:12]:
            plan = top.picture(episode.objects)
            top.draw_path(plan, episode.path)
            top.draw_start(plan, episode.path[0])
            for segment in episode.segments:
                top.draw_goal(plan, episode.path[segment.end], radius_m=0.1)
            top.draw_names(plan, episode.objects, avoid=episode.path, font_px=13)
            plans.append(plan)
        picture = self.out.with_suffix(".png")
        say(self.out)
        save_picture(tile_sheet(plans, 4), picture)


@dataclass(frozen=True)
class WorldFrames:
    """Fly the Oracle in an empty world and keep what its camera takes, with poses, as you would with your own drone.

    The folder is what `wayword train grounding --frames` and `wayword ar generate --frames` take.
    """

    out: Path
    """A new folder for pictures and poses.json."""
    world: Literal["arena", "lab"] = "lab"
    """Which world: the arena, or a lab that policy and segmentation have never seen."""
    count: int = 600
    """How many pictures."""
    seed: int = 0
    """Which flights."""

    def run(self) -> None:
        """Fly and write."""
        from wayword.learning.ar.collect import collect_frames

        check_seed(self.seed)
        with progress_bar("taking pictures", self.count) as advance:
            collect_frames(self.out, self.world, self.count, self.seed, advance)
        say(self.out)


@dataclass(frozen=True)
class WorldVerb:
    """Look at the simulated world: layouts, objects, demonstrations, pictures of it while it is empty."""

    what: (
        Annotated[ShowLayout, tyro.conf.subcommand("layout")]
        | Annotated[ShowObjects, tyro.conf.subcommand("objects")]
        | Annotated[Demos, tyro.conf.subcommand("demos")]
        | Annotated[WorldFrames, tyro.conf.subcommand("frames")]
    )

    def run(self) -> None:
        """Run the chosen one."""
        self.what.run()
