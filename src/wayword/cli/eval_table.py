"""``wayword eval table``: every system on every kind of episode, as the paper's table has them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal

from wayword.cli.common import console, progress_bar, say, say_aside
from wayword.cli.crew_options import CrewOptions
from wayword.cli.evaluate import EVALUATIONS
from wayword.cli.results import check_docs
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.io import check_target, write_json, write_text
from wayword.shipped import DEFAULT_GROUNDER
from wayword.versions import versions

if TYPE_CHECKING:
    from wayword.evaluation.table.cells import Cell, TableConfig
    from wayword.evaluation.table.columns import Column
    from wayword.figures import Figure

EpisodeKind = Literal["natural", "generated", "seen"]


@dataclass(frozen=True)
class EvalTable(CrewOptions):
    """Fly all systems on all kinds of episodes and print the paper's table with 95 % intervals.

    Finished parts are kept in --folder: the same command goes on where it was stopped. Besides the table it writes
    table-SPLIT.json there, and pages with 20 random failures of FsPVN each.

    For example: wayword eval table --split dev --systems average fspvn oracle --episodes natural
    """

    split: Literal["dev", "test"] = "dev"
    """dev for all decisions; test once, at the end."""
    systems: tuple[str, ...] = ()
    """Rows: average, pvn2_seen, pvn2_all, fspvn, oracle, fspvn_bc, fspvn_bigo, fspvn_nou, fspvn_noi, fspvn_perfect,
    other registered policies, or your own as module:Class; the paper's that have weights if none are named."""
    episodes: tuple[EpisodeKind, ...] = ("natural", "generated", "seen")
    """Columns: natural and generated instructions about the split's unseen objects, and natural ones in held-out
    layouts of seen objects."""
    weights: Path | None = None
    """A folder of fspvn's weights to fly instead of the shipped ones; those of its variants are looked for beside it
    (NAME_bc, NAME_nou, NAME_noi), and so are pvn2_seen and pvn2_all."""
    grounder: str = DEFAULT_GROUNDER
    """The segmentation's weights of all learned rows: shipped ones by name, or a folder."""
    limit: int | None = None
    """At most this many episodes per column, evenly spread."""
    seed: int = 0
    """Seeds vehicles, sensors and generated episodes."""
    folder: Path = EVALUATIONS
    """Where parts, generated episodes and photos of seen objects are kept."""
    any_code: bool = False
    """Take over parts that were flown by other code; otherwise they are flown again."""
    out: Path | None = None
    """Where the JSON goes, if not into --folder."""
    html: Path | None = None
    """A folder for a report to look at: table, plots, every column, failures first with their videos."""
    videos: int = 12
    """Failures of FsPVN to film for --html, the farthest off first."""
    publish: bool = False
    """Enter the figures into docs/results.json and renew the pages made from it (maintainers)."""

    def run(self) -> None:
        """Fly what has not been flown, print, write."""
        from wayword.evaluation.table.cells import TableConfig, fly_table
        from wayword.evaluation.table.columns import Column, load_cases

        self._check()
        out = self.out or self.folder / f"table-{self.split}.json"
        check_target(out)
        systems = self._rows()
        kinds = dict.fromkeys(self.episodes)
        columns = [Column("seen", "natural") if kind == "seen" else Column(self.split, kind) for kind in kinds]
        config = TableConfig(self.folder, self.seed, self.limit, self.weights, self.any_code, self.grounder)
        self._prepare(columns, systems)
        total = sum(len(load_cases(c, self.folder, self.seed, self.limit)) for c in columns) * len(systems)
        with progress_bar("flying", total) as advance:
            cells = fly_table(systems, columns, config, self.crew(), progress=advance)
        self._print(cells, columns)
        report = {
            "split": self.split,
            "seed": self.seed,
            "limit": self.limit,
            "weights": str(self.weights) if self.weights else "shipped",
            "grounder": self.grounder,
            "cells": {cell.key: cell.report() for cell in cells},
            "versions": versions(),
            "command": self.command(),
            "date": date.today().isoformat(),
        }
        write_json(out, report)
        say(out)
        for page in self._pages(cells, config):
            say(page)
        if self.html is not None:
            self._write_html(self.html, cells, config)
        if self.publish:
            from wayword.cli.results import publish_figures

            publish_figures(self.figures(cells))

    def _check(self) -> None:
        from wayword.grounding.weight_files import find_weights

        check_seed(self.seed)
        find_weights(self.grounder)
        self.crew()
        if self.limit is not None and self.limit < 1:
            raise WaywordError(f"--limit {self.limit}: at least one episode is needed")
        if not self.episodes:
            raise WaywordError("--episodes: name at least one of natural, generated, seen")
        if self.videos < 0:
            raise WaywordError(f"--videos {self.videos}: must be 0 or more")
        if self.html is not None:
            from wayword.evaluation.report.html_report import check_folder

            check_folder(self.html)
            check_target(self.html / "index.html")
        if self.publish:
            usual = self.weights is None and self.grounder == DEFAULT_GROUNDER
            if self.limit is not None or not usual or self.seed != 0 or self.any_code:
                raise WaywordError(
                    "--publish is for the shipped weights on whole splits, flown by this code: "
                    "without --limit, --weights, --grounder, --seed and --any-code"
                )
            check_docs()

    def _rows(self) -> list[str]:
        from wayword.evaluation.table import systems

        rows: list[str] = []
        for name in dict.fromkeys(self.systems or systems.SYSTEMS):
            reason = systems.missing_weights(name, self.weights)
            if reason and (self.systems or (self.weights is not None and name == "fspvn")):
                raise WaywordError(reason)
            if reason:
                say_aside(f"left out: {name} ({reason})")
            else:
                rows.append(name)
        return rows

    def _prepare(self, columns: list[Column], rows: list[str]) -> None:
        """Make what is made once, saying so."""
        from wayword.evaluation.table.columns import load_cases, seen_database, seen_photos

        needs_photos = "fspvn_bigo" in rows or any(column.split == "seen" for column in columns)
        if needs_photos and not seen_photos(self.folder).exists():
            say_aside(f"taking photos of the seen objects, once: {seen_photos(self.folder)}")
            with progress_bar("photos", 64) as advance:
                seen_database(self.folder, advance)
        for column in columns:
            load_cases(column, self.folder, self.seed, self.limit, self.crew())

    def _print(self, cells: list[Cell], columns: list[Column]) -> None:
        from wayword.evaluation.summary import metrics_table
        from wayword.evaluation.table.systems import system_of

        for column in columns:
            here = [cell for cell in cells if cell.column == column]
            say(f"{column.split} {column.kind}")
            console.print(metrics_table({system_of(cell.system).title: cell.summary() for cell in here}))
            for cell in here:
                if lost := {stage: count for stage, count in cell.lost().items() if count}:
                    counts = ", ".join(f"{stage} {count}" for stage, count in lost.items())
                    say(f"{system_of(cell.system).title} lost {sum(lost.values())} of {len(cell.rows)}: {counts}")
        for title, note in {system_of(cell.system).title: cell.note for cell in cells if cell.note}.items():
            say(f"{title}: {note}")

    def _pages(self, cells: list[Cell], config: TableConfig) -> list[Path]:
        """A page of random failures for every column of FsPVN."""
        from wayword.evaluation.report.failures import failure_page
        from wayword.evaluation.table.columns import load_cases
        from wayword.evaluation.table.systems import system_of
        from wayword.flying.episode_source import load_bank

        written = []
        for cell in cells:
            if cell.system != "fspvn":
                continue
            cases = load_cases(cell.column, config.folder, config.seed, config.limit)
            title = f"{system_of(cell.system).title} on {cell.column.split} {cell.column.kind}"
            page = self.folder / f"failures-{cell.key}.html"
            write_text(page, failure_page(title, cell.rows, [case.example for case in cases], load_bank(None)))
            written.append(page)
        return written

    def _write_html(self, folder: Path, cells: list[Cell], config: TableConfig) -> None:
        from wayword import __version__
        from wayword.evaluation.report.html_table import MAIN, write_table

        failed = sum(not row["sr"] for cell in cells if cell.system == MAIN for row in cell.rows)
        about = {"command": self.command(), "date": date.today().isoformat(), "wayword": __version__}
        with progress_bar("filming failures", min(self.videos, failed)) as advance:
            title = f"All systems on {self.split}"
            page = write_table(folder, title, cells, config, about, self.videos, advance)
        say(page)

    def figures(self, cells: list[Cell]) -> dict[str, Figure]:
        """The cells as published figures, each with the command that flies it again."""
        from wayword.evaluation.report.publish import summary_figures
        from wayword.figures import Figure
        from wayword.intervals import wilson

        result: dict[str, Figure] = {}
        today = date.today().isoformat()
        for cell in cells:
            kind = "seen" if cell.column.split == "seen" else cell.column.kind
            command = f"wayword eval table --split {self.split} --systems {cell.system} --episodes {kind}"
            command += f"  # {cell.note}" if cell.note else ""
            result |= summary_figures(cell.key, cell.summary(), command, today)
            for stage, count in cell.lost().items():
                share = wilson(count, len(cell.rows))
                result[f"{cell.key}.lost_by_{stage}"] = Figure.of(share, "%", command, today)
        return result

    def command(self) -> str:
        """The command line that makes the same table."""
        words = [f"wayword eval table --split {self.split}"]
        words += [f"--systems {' '.join(map(quote, self.systems))}"] * bool(self.systems)
        words += [f"--episodes {' '.join(self.episodes)}"]
        words += [f"--weights {quote(str(self.weights))}"] * bool(self.weights)
        words += [f"--grounder {quote(self.grounder)}"] * (self.grounder != DEFAULT_GROUNDER)
        words += [f"--limit {self.limit}"] * bool(self.limit)
        return " ".join([*words, f"--seed {self.seed}"])
