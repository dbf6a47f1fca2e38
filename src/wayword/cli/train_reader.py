"""``wayword train reader`` and ``wayword train reader-report``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from wayword.cli.common import console, need_torch, refuse_beside_config, say, say_aside
from wayword.cli.training_talk import show_settings, warn_of_other_data
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed

if TYPE_CHECKING:
    from wayword.learning.language.train_reader import ReaderInputs, ReaderTraining


@dataclass(frozen=True)
class TrainReader:
    """Train the reader: what a text asks for, as steps, and where the legs of a description begin.

    The weights appear in OUT/reader, in the layout of src/wayword/language/weights/reader; parsed texts stay in OUT.
    A run that was stopped goes on where it was when the same command is given again; other settings need another
    folder. train_config.json has all settings; --config FILE runs one again, to the bit. About an hour on one core.
    """

    ewt: Path | None = None
    """Folder with ewt-train.conllu.gz (UD English EWT): sentences that are no commands. Better with it."""
    commands: Path | None = None
    """What to learn from, in the format of docs/commands; by default the commands that ship."""
    more: tuple[Path, ...] = ()
    """Further files of commands beside those that ship, in the format of docs/commands."""
    start: Path | None = None
    """Weights of a reader to go on from, as with commands of your own; from MiniLM alone if not given."""
    out: Path = Path("runs/reader")
    """Where the weights and intermediate results go."""
    config: Path | None = None
    """A train_config.json to run again, on the same data or on that of --ewt and --more."""
    show: bool = False
    """Print the settings as a file for --config, and train nothing."""
    steps: int = 9000
    """Batches of 16 texts."""
    rate: float = 8e-4
    """Learning rate at its highest; a third of it where --start is given is a good choice."""
    layers: int = 4
    """Size of the network: layers of MiniLM that are trained further, at most 4."""
    start_share: float = 0.0
    """With --start: share of its weights in those that are saved; a half forgets less of what it could read."""
    seed: int | None = None
    """Of everything random; by default 0, or that of --config."""

    def run(self) -> None:
        """Train and say where the weights are."""
        need_torch()
        from wayword.learning.common.train_config import FILE, read_train_config
        from wayword.learning.language.train_reader import TRAINING, train_reader

        config = self.settings()
        if self.show:
            show_settings(TRAINING, config)
            return
        weights = train_reader(config, self._inputs(), self.out)
        warn_of_other_data(read_train_config(weights / FILE), self.config)
        say(f"weights in {weights}")

    def settings(self) -> ReaderTraining:
        """All settings: those of --config, or of the options."""
        from wayword.learning.common.train_config import read_options
        from wayword.learning.language.train_reader import TRAINING, ReaderTraining

        check_seed(self.seed or 0)
        if self.config is not None:
            refuse_beside_config(self, ("commands", "ewt", "more", "start", "out", "show", "seed"))
            config = read_options(self.config, TRAINING, ReaderTraining)
        else:
            if self.steps < 1:
                raise WaywordError(f"--steps {self.steps}: must be at least 1")
            if not 1 <= self.layers <= 4:
                raise WaywordError(f"--layers {self.layers}: from 1 to 4")
            base = ReaderTraining()
            if not 0 < self.rate < 1:
                raise WaywordError(f"--rate {self.rate}: between 0 and 1")
            shape = replace(base.shape, layers=self.layers)
            loop = replace(base.loop, steps=self.steps, learning_rate=self.rate)
            config = replace(base, shape=shape, loop=loop, start_share=self.start_share)
        return config if self.seed is None else replace(config, loop=replace(config.loop, seed=self.seed))

    def _inputs(self) -> ReaderInputs:
        from wayword.learning.common.train_config import read_train_config
        from wayword.learning.language.train_reader import COMMANDS, MORE, ReaderInputs

        earlier = read_train_config(self.config) if self.config is not None else None
        before = earlier.inputs() if earlier is not None else {}
        if earlier is not None and "start" in earlier.started_from and self.start is None:
            raise WaywordError(f"{self.config}: went on from another reader; name its weights with --start")
        more = self.more or tuple(path for name, path in before.items() if name.startswith("more/"))
        commands = self.commands or before.get("commands") or COMMANDS
        if commands is COMMANDS and (earlier is None or f"more/{MORE.name}" in earlier.data):
            more = (MORE, *more)
        return ReaderInputs(commands, self.ewt or before.get("ewt"), more, self.start)


@dataclass(frozen=True)
class ReportReader:
    """Measure the shipped reader on commands and natural paragraphs of dev; docs/language.md explains the figures."""

    weights: Path | None = None
    """Another reader than the shipped one: the folder of its weights."""
    publish: bool = False
    """Enter the figures into docs/results.json (maintainers)."""

    def run(self) -> None:
        """Measure, print, publish if asked."""
        from rich.table import Table

        from wayword.cli.results import publish_figures
        from wayword.evaluation.summary import format_number
        from wayword.language.reader.reader import WEIGHTS
        from wayword.learning.language.reader_report import reader_report

        if self.publish and self.weights is not None:
            raise WaywordError("--publish is for the shipped reader; leave --weights out")
        command, today = "wayword train reader-report", date.today().isoformat()
        report = reader_report(self.weights or WEIGHTS, say_aside)
        figures = {key: measured.figure(command, today) for key, measured in report.items()}
        table = Table("figure", "value", "95 % interval", "n")
        for key, figure in sorted(figures.items()):
            low, high = figure.low, figure.high
            bounds = "" if low is None or high is None else f"{low:.3g} - {high:.3g}"
            table.add_row(key, f"{format_number(figure.value, figure.unit)} {figure.unit}", bounds, str(figure.n))
        console.print(table)
        if self.publish:
            publish_figures(figures)
