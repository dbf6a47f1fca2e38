"""What several verbs share: where episodes come from, which meshes they need, a progress bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wayword.errors import WaywordError

if TYPE_CHECKING:
    from collections.abc import Callable

    from wayword.episodes import Episode, Example
    from wayword.sim.bank import MeshBank

Split = Literal["train", "dev", "test"]
Instructions = Literal["natural", "generated"]

console = Console()
stderr = Console(stderr=True)

GENERATED_EPISODES = 400
"""Generated episodes per split where no number is asked for; each gives three to four two-segment examples."""


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr; yields the function that advances it."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda amount: bar.advance(task, amount)


def load_bank(pack: Path | None) -> MeshBank:
    """The catalogue, and beside it the meshes of a pack; what of the pack is unusable is said on stderr."""
    from wayword.sim.bank import MeshBank
    from wayword.sim.catalogue import catalogue, catalogue_mesh

    meshes = {name: catalogue_mesh(name) for name in catalogue()}
    if pack is not None:
        from wayword.sim.packs import load_pack

        loaded = load_pack(pack)
        for skipped in loaded.skipped:
            stderr.print(f"skipped {skipped.name}: {skipped.reason}", highlight=False)
        meshes.update(loaded.meshes)  # a pack's own model of a name goes before the catalogue's
    return MeshBank(meshes)


def load_any(
    episodes: Path | None, split: Split, instructions: Instructions, known: Sequence[str], seed: int = 0
) -> list[Episode]:
    """Episodes of a file, of the natural corpus, or generated for a split."""
    from wayword.episodes import SPLITS, generate_episodes, load_episodes, load_natural
    from wayword.sim.catalogue import names

    if episodes is not None:
        return load_episodes(episodes, known_objects=known)
    if instructions == "natural":
        return list(load_natural(split))
    made = generate_episodes(split, GENERATED_EPISODES, seed, names(SPLITS[split]))
    return [episode for episode, _ in made]


def cut(episodes: Sequence[Episode], segments: int, limit: int | None) -> list[Example]:
    """The examples of ``segments`` segments, at most ``limit`` of them, evenly spread over the episodes."""
    from wayword.episodes import examples

    if limit is not None and limit < 1:
        raise WaywordError(f"--limit {limit}: at least one episode is needed")
    cuts = [example for episode in episodes for example in examples(episode, segments)]
    if limit is not None and limit < len(cuts):
        cuts = [cuts[i * len(cuts) // limit] for i in range(limit)]
    if not cuts:
        raise WaywordError(f"no episode has {segments} segments; try --segments 1")
    return cuts
