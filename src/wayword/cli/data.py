"""``wayword data``: write training data, and measure instructions."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from wayword.cli.common import console, progress_bar, say
from wayword.cli.crew_options import RayOption
from wayword.cli.data_export import Export
from wayword.errors import WaywordError
from wayword.flying.episode_source import Split, check_seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from wayword.episodes.instructions import TextStatistics
    from wayword.figures import Figure

_QUANTILES = (5, 25, 50, 75, 95)
# Lani as the paper reports it, per segment; what it does not report is left out.
_LANI: dict[str, str] = {"vocabulary": "2.3k", "words per instruction": "11"}


@dataclass(frozen=True)
class GenerateEpisodes(RayOption):
    """Write generated episodes with grammar-written instructions; the same command continues what was stopped.

    Examples:
      wayword data generate --count 10000 --out data/train.jsonl
      wayword data generate --split dev --count 400 --seed 1 --out data/dev.jsonl
    """

    split: Split = "train"
    """Whose objects stand in the layouts."""
    db: Path | None = None
    """Objects of a database stand in them instead: a folder, such as one of `wayword objects build --pack`, or dev or
    test for those that ship."""
    count: int = 10_000
    """How many episodes; each has four or five segments, so four to five one-segment examples."""
    seed: int = 0
    """Episode i of a seed is always the same one."""
    out: Path = Path("data/train.jsonl")
    """The episode file."""
    references: Path | None = None
    """Also write, one line per episode, which words refer to which object and what each instruction claims."""
    voice: str | None = None
    """Write in one voice only, such as plain, terse or pilot."""
    drills: bool = False
    """Write drills instead: pairs of short flights that start alike and that only the told side tells apart."""
    processes: int | None = None
    """Workers, one core each; by default 2, and on a cluster all of its cores. Changes speed, never results."""

    def run(self) -> None:
        """Generate, or go on generating."""
        from wayword.episodes import SPLITS
        from wayword.episodes.instructions import Recipe, find_voice, write_dataset
        from wayword.objects import ObjectDatabase
        from wayword.pilot.pilot import database_folder
        from wayword.sim.models.catalogue import names

        if self.count < 1:
            raise WaywordError(f"--count {self.count}: at least 1 is needed")
        check_seed(self.seed)
        crew = self._crew(self.processes, "processes")
        if self.voice is not None:
            find_voice(self.voice)
        objects = names(SPLITS[self.split])
        if self.db is not None:
            objects = ObjectDatabase.load(database_folder(self.db)).names
        recipe = Recipe(self.split, self.count, self.seed, tuple(objects), self.voice, self.drills)
        written = 0
        with progress_bar("writing episodes", self.count) as advance:

            def count_and_advance(amount: int) -> None:
                nonlocal written
                written += amount
                advance(amount)

            try:
                write_dataset(recipe, self.out, self.references, crew, count_and_advance)
            except KeyboardInterrupt:
                remark = f"{written} of {self.count} episodes are kept beside {self.out}"
                print(f"wayword: {remark}; run the same command again to go on", file=sys.stderr)
                raise
        say(self.out)
        if self.references is not None:
            say(self.references)


@dataclass(frozen=True)
class Stats:
    """Measure how varied instructions are, beside the natural corpus and the paper's."""

    files: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Episode files (.jsonl)."""
    json: bool = False
    """Print JSON instead of a table."""
    publish: bool = False
    """Enter the figures of the one file, and of the natural corpus beside it, into docs/results.json (maintainers)."""

    def run(self) -> None:
        """Read, count, print."""
        from wayword.episodes import load_episodes, load_natural
        from wayword.episodes.instructions import text_statistics

        if self.publish:
            from wayword.cli.results import check_docs

            if len(self.files) != 1:
                raise WaywordError("--publish is for one file of generated episodes; name it")
            check_docs()
        sets = {"natural train": [s.instruction for e in load_natural("train") for s in e.segments]}
        for file in self.files:
            sets[str(file)] = [s.instruction for e in load_episodes(file) for s in e.segments]
        # Comparable figures need the same number of words from each; the smallest set decides.
        smallest = min(sum(len(text.split()) for text in texts) for texts in sets.values())
        compared = max(1000, smallest // 1000 * 1000) if smallest >= 1000 else smallest
        measured = {name: text_statistics(texts, compared) for name, texts in sets.items()}
        if self.json:
            import json

            print(json.dumps({name: asdict(statistics) for name, statistics in measured.items()}, indent=2))
        else:
            _print_table(measured, compared)
        if self.publish:
            from wayword.cli.results import publish_figures

            publish_figures(_figures(measured, self.files[0]))


@dataclass(frozen=True)
class DataVerb:
    """Write training data, measure instructions, export flights."""

    what: (
        Annotated[GenerateEpisodes, tyro.conf.subcommand("generate")]
        | Annotated[Stats, tyro.conf.subcommand("stats")]
        | Annotated[Export, tyro.conf.subcommand("export")]
    )

    def run(self) -> None:
        """Run the chosen one."""
        self.what.run()


def _figures(measured: dict[str, TextStatistics], file: Path) -> dict[str, Figure]:
    """Counts over whole sets, so without intervals."""
    from wayword.figures import Figure

    command = f"wayword data generate --count COUNT --out {file.name} && wayword data stats {file.name}"
    today, result = date.today().isoformat(), {}
    for name, s in zip(("natural", "generated"), measured.values(), strict=True):
        values = {
            "vocabulary": (s.vocabulary, "words"),
            "length": (s.mean_length, "words"),
            **{f"length_p{share}": (value, "words") for share, value in zip(_QUANTILES, s.quantiles, strict=True)},
            "different": (100 * s.distinct_texts, "%"),
            "compared_vocabulary": (s.compared_vocabulary, "words"),
            "type_token_ratio": (100 * s.type_token_ratio, "%"),
            "distinct_4grams": (100 * s.distinct_4grams, "%"),
        }
        for key, (value, unit) in values.items():
            own_command = command.replace("COUNT", str(_episodes(file)))
            result[f"language.text.{name}.{key}"] = Figure(value, None, None, s.instructions, own_command, today, unit)
    return result


def _episodes(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def _print_table(measured: dict[str, TextStatistics], compared: int) -> None:
    from rich.table import Table

    rows: list[tuple[str, Callable[[TextStatistics], str]]] = [
        ("instructions", lambda s: f"{s.instructions:,}"),
        ("words", lambda s: f"{s.words:,}"),
        ("vocabulary", lambda s: f"{s.vocabulary:,}"),
        ("words per instruction", lambda s: f"{s.mean_length:.1f}"),
        ("  5, 25, 50, 75, 95 %", lambda s: " ".join(str(q) for q in s.quantiles)),
        ("different instructions", lambda s: f"{100 * s.distinct_texts:.1f} %"),
        (f"over {compared:,} words of each:", lambda s: ""),
        ("  vocabulary", lambda s: f"{s.compared_vocabulary:,}"),
        ("  type-token ratio", lambda s: f"{s.type_token_ratio:.4f}"),
        ("  words used once", lambda s: f"{100 * s.once:.0f} %"),
        ("  different 4-grams", lambda s: f"{100 * s.distinct_4grams:.1f} %"),
    ]
    table = Table("", *measured, "Lani (paper)", box=None)
    for name, show in rows:
        table.add_row(name, *(show(s) for s in measured.values()), _LANI.get(name, ""))
    console.print(table)
