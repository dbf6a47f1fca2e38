"""What several verbs share: where episodes come from, which meshes they need, a progress bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from wayword.errors import WaywordError

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL import Image

    from wayword.episodes import Episode, Example
    from wayword.sim.render.bank import MeshBank

Split = Literal["train", "dev", "test"]
Instructions = Literal["natural", "generated"]


class _Console(Console):
    """A console whose reader may go away (``| head``): the verb is then done, without a word."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


console = _Console()
stderr = Console(stderr=True)

GENERATED_EPISODES = 400
"""Generated episodes per split where no number is asked for; each gives three to four two-segment examples."""


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr; yields the function that advances it."""
    if not stderr.is_terminal:  # nothing to draw a bar on
        yield lambda amount: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda amount: bar.advance(task, amount)


@dataclass(frozen=True)
class EpisodeSource:
    """Options of every verb that flies: which episodes, in which world."""

    split: Split = "test"
    """Which objects, layouts and instructions: train (seen objects), dev or test (unseen ones)."""
    instructions: Instructions = "natural"
    """The shipped natural corpus, or instructions generated for generated demonstrations."""
    segments: Literal[1, 2] = 2
    """Segments of the instruction per flight; the paper evaluates on two."""
    episodes: Path | None = None
    """Your own episodes (.jsonl) instead of a split; docs/episodes.md has the format."""
    objects: Path | None = None
    """A folder or .npz of meshes for objects that are not in the catalogue."""
    seed: int = 0
    """Seeds vehicles, sensors, looks and generated episodes."""

    def load(self) -> tuple[MeshBank, list[Example]]:
        """The meshes and the examples."""
        from wayword.episodes import SPLITS, examples, load_episodes, load_natural
        from wayword.episodes.instructions import generate_written
        from wayword.sim.models.catalogue import names

        check_seed(self.seed)
        bank = load_bank(self.objects)
        episodes: Sequence[Episode]
        if self.episodes is not None:
            episodes = load_episodes(self.episodes, known_objects=bank.index)
        elif self.instructions == "natural":
            episodes = load_natural(self.split)
        else:
            made = generate_written(self.split, GENERATED_EPISODES, self.seed, names(SPLITS[self.split]))
            episodes = [episode for episode, _ in made]
        cuts = [example for episode in episodes for example in examples(episode, self.segments)]
        if not cuts:
            raise WaywordError(f"no episode has {self.segments} segments; try --segments 1")
        short = sum(len(episode.segments) < self.segments for episode in episodes)
        if short:
            stderr.print(f"left out: {short} episodes with fewer than {self.segments} segments", highlight=False)
        return bank, cuts


def visible(text: object, style: str = "") -> Text:
    """One line that is no markup and cannot steer the terminal: what does not print becomes a mark."""
    return Text("".join(c if c.isprintable() else " " if c in "\n\t" else "\ufffd" for c in str(text)), style)


def say(text: object) -> None:
    """Print lines as they are: no colours, nothing wrapped in the middle of a path."""
    console.print(_lines(text), highlight=False, soft_wrap=True)


def say_aside(text: object) -> None:
    """The same on stderr: remarks that are not the answer."""
    stderr.print(_lines(text), highlight=False, soft_wrap=True)


def _lines(text: object) -> Text:
    return Text("\n").join(visible(line) for line in str(text).split("\n"))


def check_png(path: Path) -> Path:
    """Pictures have one format."""
    if path.suffix.lower() != ".png":
        raise WaywordError(f"{path}: pictures are written as .png; change the ending of --out")
    return path


def save_picture(picture: Image.Image, path: Path) -> None:
    """Write a picture, atomically, and say where it is."""
    from wayword.io import atomic_path

    with atomic_path(check_png(path)) as temporary:
        picture.save(temporary)
    say(path)


def need_torch() -> None:
    """Training and its reports need what flying does not."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise WaywordError('this needs PyTorch: pip install "wayword[train]"') from error


def check_seed(seed: int) -> None:
    """Generators take no negative seeds."""
    if seed < 0:
        raise WaywordError(f"--seed {seed}: must be 0 or more")


def one_line(text: str) -> str:
    """Text from a file on one line, without control characters."""
    return "".join(c if c.isprintable() else " " for c in text)


def load_bank(pack: Path | None) -> MeshBank:
    """The catalogue, and beside it the meshes of a pack; what of the pack is unusable is said on stderr."""
    from wayword.sim.models.catalogue import catalogue, catalogue_mesh
    from wayword.sim.render.bank import MeshBank

    meshes = {name: catalogue_mesh(name) for name in catalogue()}
    if pack is not None:
        from wayword.sim.models.packs import load_pack

        loaded = load_pack(pack)
        remarks = [("skipped ", skipped) for skipped in loaded.skipped] + [("", note) for note in loaded.notes]
        for what, remark in remarks:
            say_aside(one_line(f"{what}{remark.name}: {remark.reason}"))
        meshes.update(loaded.meshes)  # a pack's own model of a name goes before the catalogue's
    return MeshBank(meshes)


def thin_out(cuts: list[Example], limit: int | None) -> list[Example]:
    """At most ``limit`` examples, evenly spread."""
    if limit is not None and limit < 1:
        raise WaywordError(f"--limit {limit}: at least one episode is needed")
    if limit is None or limit >= len(cuts):
        return cuts
    return [cuts[i * len(cuts) // limit] for i in range(limit)]
