"""Where episodes come from, and the meshes they need: options of everything that flies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wayword.errors import WaywordError

if TYPE_CHECKING:
    from wayword.episodes import Episode, Example
    from wayword.sim.render.bank import MeshBank

Split = Literal["train", "dev", "test"]
Instructions = Literal["natural", "generated"]
Remark = Callable[[str], None]
"""Hears what is worth knowing and is not the answer, a line each."""

MOST_REMARKS = 8
"""Lines about what of a pack is unusable; collections have dozens of second objects of a name."""
GENERATED_EPISODES = 400
"""Generated episodes per split where no number is asked for; each gives three to four two-segment examples."""


def ignore(line: str) -> None:
    """For those who want no remarks."""


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

    def load(self, remark: Remark = ignore) -> tuple[MeshBank, list[Example]]:
        """The meshes and the examples; ``remark`` hears of what was left out."""
        from wayword.episodes import SPLITS, examples, load_episodes, load_natural
        from wayword.episodes.instructions import generate_written
        from wayword.sim.models.catalogue import names

        check_seed(self.seed)
        bank = load_bank(self.objects, remark)
        episodes: Sequence[Episode]
        if self.episodes is not None:
            episodes = load_episodes(self.episodes, known_objects=bank.index)
        elif self.instructions == "natural":
            episodes = load_natural(self.split)
        else:
            pairs = generate_written(self.split, GENERATED_EPISODES, self.seed, names(SPLITS[self.split]))
            episodes = [episode for episode, _ in pairs]
        cuts = [example for episode in episodes for example in examples(episode, self.segments)]
        if not cuts:
            raise WaywordError(f"no episode has {self.segments} segments; try --segments 1")
        short = sum(len(episode.segments) < self.segments for episode in episodes)
        if short:
            remark(f"left out: {short} episodes with fewer than {self.segments} segments")
        return bank, cuts


def load_bank(pack: Path | None, remark: Remark = ignore) -> MeshBank:
    """The catalogue, and beside it the meshes of a pack; ``remark`` hears what of the pack is unusable."""
    from wayword.sim.models.catalogue import catalogue, catalogue_mesh
    from wayword.sim.render.bank import MeshBank

    meshes = {name: catalogue_mesh(name) for name in catalogue()}
    if pack is not None:
        from wayword.sim.models.packs import load_pack

        loaded = load_pack(pack)
        remarks = [("skipped ", skipped) for skipped in loaded.skipped] + [("", note) for note in loaded.notes]
        for what, about in remarks[:MOST_REMARKS]:
            remark(one_line(f"{what}{about.name}: {about.reason}"))
        if len(remarks) > MOST_REMARKS:
            remark(f"and {len(remarks) - MOST_REMARKS} more such lines about objects of {pack}")
        meshes.update(loaded.meshes)  # a pack's own model of a name goes before the catalogue's
    return MeshBank(meshes)


def thin_out(cuts: list[Example], limit: int | None) -> list[Example]:
    """At most ``limit`` examples, evenly spread."""
    if limit is not None and limit < 1:
        raise WaywordError(f"--limit {limit}: at least one episode is needed")
    if limit is None or limit >= len(cuts):
        return cuts
    return [cuts[i * len(cuts) // limit] for i in range(limit)]


def check_seed(seed: int) -> None:
    """Generators take no negative seeds."""
    if seed < 0:
        raise WaywordError(f"--seed {seed}: must be 0 or more")


def one_line(text: str) -> str:
    """Text from a file on one line, without control characters."""
    return "".join(c if c.isprintable() else " " for c in text)
