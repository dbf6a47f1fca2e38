"""``wayword judge``: let people judge flights, blind, and report what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from wayword.cli.common import console, progress_bar, say, say_aside
from wayword.cli.evaluate import EVALUATIONS
from wayword.errors import WaywordError
from wayword.flying.episode_source import EpisodeSource, check_seed, load_bank
from wayword.io import write_json, write_text

if TYPE_CHECKING:
    from rich.table import Table

    from wayword.episodes import Example
    from wayword.judge.report import StudyReport


@dataclass(frozen=True)
class Make:
    """Make a questionnaire about the flights of one or several evaluations: a page per rater and a secret key.

    For example: wayword judge make runs/eval/table-test.json --out study --examples 20 --raters 5
    """

    results: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RESULTS.json")]
    """What `wayword eval --out` or `wayword eval table` wrote; every system must have flown the same episodes."""
    out: Path
    """The folder of the study: pages for the raters, and the key for you."""
    raters: int = 5
    """Pages to make; each has an order of its own."""
    per_rater: int | None = None
    """Flights each rater judges, evenly shared out; all of them if not given."""
    checks: int = 3
    """Attention checks per rater: texts that ask for particular scores."""
    examples: int | None = None
    """Take this many instructions, drawn at random; all that every system flew if not given."""
    systems: tuple[str, ...] = ()
    """Take only these systems, as the results name them."""
    episodes: Literal["natural", "generated", "seen"] = "natural"
    """Which column of a table."""
    consent: str | None = None
    """The line raters must agree to, in place of the usual one."""
    objects: Path | None = None
    """Meshes for objects that are not in the catalogue, as in `wayword eval --objects`."""
    folder: Path = EVALUATIONS
    """Where `wayword eval table` kept its generated episodes."""
    seed: int | None = None
    """Makes the same study again; without it the shuffle cannot be guessed."""

    def run(self) -> None:
        """Read, shuffle, draw, write; print the pages."""
        from wayword.judge.flights import flights_in_common, read_flights
        from wayword.judge.pages import CONSENT, make_study
        from wayword.judge.study import design

        if self.seed is not None:
            check_seed(self.seed)
        if self.consent is not None and not self.consent.strip():
            raise WaywordError("--consent: an empty line asks for nothing; say what raters agree to")
        draw = SystemRandom() if self.seed is None else Random(self.seed)
        flights = read_flights(self.results, self._load, self.episodes)
        known = sorted({flight.system for flight in flights})
        if unknown := [name for name in self.systems if name not in known]:
            raise WaywordError(f"--systems {unknown[0]}: nobody of that name flew; there are {', '.join(known)}")
        rows = flights_in_common([flight for flight in flights if not self.systems or flight.system in self.systems])
        names = list(rows)
        if self.examples is not None:
            if not 1 <= self.examples <= len(names):
                raise WaywordError(f"--examples {self.examples}: must be 1 to {len(names)}")
            names = draw.sample(names, self.examples)
        study = design(names, self.systems or known, self.raters, self.checks, draw, self.per_rater)
        with progress_bar("drawing", len(names)) as advance:
            bank = load_bank(self.objects, say_aside)
            pages = make_study(self.out, study, rows, bank, self.consent or CONSENT, advance)
        for page in pages:
            say(page)
        sizes = [len(sheet) for sheet in study.sheets.values()]
        flown = f"{len(names)} instructions x {len(study.systems)} systems"
        say_aside(f"{flown}; {len(pages)} raters judge {max(sizes)} flights each, {self.checks} of them checks")
        say_aside(f"keep {self.out / 'key.json'} from the raters: it says which system flew what")

    def _load(self, report: Any) -> Sequence[Example]:
        """The examples that a file of results was flown on."""
        if "cells" in report:
            from wayword.evaluation.table.columns import Column, load_cases

            is_seen = self.episodes == "seen"
            column = Column("seen", "natural") if is_seen else Column(report["split"], self.episodes)  # type: ignore[arg-type]
            return [case.example for case in load_cases(column, self.folder, int(report["seed"]))]
        own = Path(report["episodes"]) if report["episodes"] is not None else None
        named = {} if own else {"split": report["split"], "instructions": report["instructions"]}
        source = EpisodeSource(
            **named, segments=report["segments"], episodes=own, objects=self.objects, seed=int(report["seeds"][0])
        )
        return source.load(say_aside)[1]


@dataclass(frozen=True)
class Serve:
    """Serve a questionnaire to raters and keep their answers as they come; Ctrl-C ends it."""

    study: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="STUDY")]
    """The folder that `wayword judge make` wrote."""
    host: str = "127.0.0.1"
    """Where to listen; anything but this computer itself needs --token."""
    port: int = 8321
    """Which port; 0 takes a free one."""
    token: str | None = None
    """A secret that every link must carry."""

    def run(self) -> None:
        """Print one link per rater and serve."""
        from wayword.judge.server import JudgeServer, ServeConfig

        with JudgeServer(self.study, ServeConfig(self.host, self.port, self.token)) as server:
            say_aside("one link per rater; they must not share theirs")
            for link in server.links:
                say(link)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                say_aside(f"answers are in {self.study / 'answers'}")


@dataclass(frozen=True)
class ReportRatings:
    """Report what the raters said: chart of score frequencies, means with 95 % intervals, agreement."""

    study: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="STUDY")]
    """The folder that `wayword judge make` wrote."""
    answers: tuple[Path, ...] = ()
    """Files that raters downloaded and sent back, beside those in STUDY/answers."""
    allowed: int = 0
    """Attention checks a rater may get wrong and still count."""
    out: Path | None = None
    """Where scores.svg and scores.json go; STUDY/report if not given."""

    def run(self) -> None:
        """Read, sum up, print, write."""
        from wayword.judge.answers import read_answers
        from wayword.judge.report import report_on
        from wayword.judge.study import Study

        if self.allowed < 0:
            raise WaywordError(f"--allowed {self.allowed}: must be 0 or more")
        study = Study.load(self.study)
        answers, torn = read_answers(self.study, study, self.answers)
        report = report_on(study, answers.values(), self.allowed)
        out = self.out or self.study / "report"
        write_text(out / "scores.svg", report.chart())
        write_json(out / "scores.json", {**report.to_dict(), "unreadable_lines": torn})
        console.print(_table(report))
        for line in _remarks(report, torn):
            say(line)
        say(out / "scores.svg")
        say(out / "scores.json")


def _table(report: StudyReport) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, caption="mean score and share of 4 and 5, with 95 % intervals")
    for heading in ("system", "question", "judgements", "mean", "good (4-5)", "1", "2", "3", "4", "5"):
        table.add_column(heading, justify="left" if heading in ("system", "question") else "right")
    for system, questions in report.systems.items():
        for question, scores in questions.items():
            mean, good = scores.mean, scores.good
            table.add_row(
                Text(system),
                question,
                str(scores.judgements),
                f"{mean.mean:.2f} [{mean.low:.2f}, {mean.high:.2f}]",
                f"{100 * good.mean:.0f} % [{100 * good.low:.0f}, {100 * good.high:.0f}]",
                *map(str, scores.counts),
            )
    return table


def _remarks(report: StudyReport, torn: int) -> list[str]:
    lines = [
        f"{report.judgements} judgements of {report.instructions} instructions by {report.raters} raters, "
        f"{report.median_seconds:.0f} s each (median)",
        f"left out: {report.failed} raters who failed attention checks; {len(report.dropped)} instructions that most "
        "judgements flag as bad",
    ]
    for question, levels in report.alpha.items():
        words = ", ".join(f"{level} {'undefined' if a is None else f'{a:.3f}'}" for level, a in levels.items())
        lines.append(f"agreement on the {question} score (Krippendorff's alpha): {words}")
    if report.unchecked:
        lines.append(f"{report.unchecked} raters have not come to an attention check yet; they count")
    if report.silent:
        lines.append(f"{report.silent} raters have answered nothing yet")
    if torn:
        lines.append(f"{torn} lines of answers could not be read and were left out")
    return lines


@dataclass(frozen=True)
class Judge:
    """Let people judge flights, blind: make a questionnaire, serve it, report what they say."""

    what: (
        Annotated[Make, tyro.conf.subcommand("make")]
        | Annotated[Serve, tyro.conf.subcommand("serve")]
        | Annotated[ReportRatings, tyro.conf.subcommand("report")]
    )

    def run(self) -> None:
        """Run the chosen one."""
        self.what.run()
