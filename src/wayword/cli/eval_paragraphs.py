"""``wayword eval paragraphs``: whole paragraphs of the natural corpus, from the first word to the last."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wayword.cli.common import console, progress_bar, say
from wayword.cli.crew_options import CrewOptions
from wayword.cli.results import check_docs
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.io import check_target, write_json

if TYPE_CHECKING:
    from wayword.evaluation.table.paragraphs import FlownParagraph
    from wayword.figures import Figure


@dataclass(frozen=True)
class EvalParagraphs(CrewOptions):
    """Fly whole paragraphs, four or five segments each, as one text: it is read into legs that share one map.

    Prints how often the drone stopped at the last segment's end, and how often it passed the ends of all segments in
    their order.

    For example: wayword eval paragraphs --split dev --limit 20
    """

    policy: str = "wayword"
    """Who flies: a policy by name, or one of your own as module:Class."""
    split: Literal["dev", "test"] = "dev"
    """dev for all decisions; test once, at the end."""
    limit: int | None = None
    """At most this many paragraphs, evenly spread."""
    seed: int = 0
    """Seeds vehicles and sensors."""
    out: Path | None = None
    """Where a JSON with every flight goes."""
    publish: bool = False
    """Enter the figures into docs/results.json and renew the pages made from it (maintainers)."""

    def run(self) -> None:
        """Fly, print, write, publish."""
        from rich.table import Table

        from wayword.evaluation.table.paragraphs import fly_paragraphs, paragraph_examples

        self._check()
        total = len(paragraph_examples(self.split, self.limit))
        with progress_bar(f"flying {self.policy}", total) as advance:
            flights = fly_paragraphs(self.policy, self.split, self.limit, self.seed, self.crew(), advance)
        figures = self.figures(flights)
        if self.out is not None:
            numbers = {key: figure.value for key, figure in figures.items()}
            write_json(
                self.out,
                {"command": self.command(), "figures": numbers, "flights": [asdict(flight) for flight in flights]},
            )
            say(self.out)
        table = Table("whole paragraphs", "value", "95 % interval", "n")
        for key, figure in figures.items():
            bounds = "" if figure.low is None or figure.high is None else f"{figure.low:.3g} to {figure.high:.3g}"
            table.add_row(key.rpartition(".")[2].replace("_", " "), f"{figure.value:.3g}", bounds, str(figure.n))
        console.print(table)
        if self.publish:
            from wayword.cli.results import publish_figures

            publish_figures(figures)

    def _check(self) -> None:
        from wayword.registry import POLICIES

        check_seed(self.seed)
        POLICIES.find(self.policy)
        self.crew()
        if self.limit is not None and self.limit < 1:
            raise WaywordError(f"--limit {self.limit}: at least one flight is needed")
        if self.out is not None:
            check_target(self.out)
        if self.publish:
            if self.policy != "wayword" or self.seed != 0 or self.limit is not None:
                raise WaywordError("--publish is for what ships: without --policy, --seed and --limit")
            check_docs()

    def figures(self, flights: list[FlownParagraph]) -> dict[str, Figure]:
        """As they are published: paragraphs.SPLIT.end, all_ends, contacts."""
        import numpy as np

        from wayword.figures import Figure
        from wayword.intervals import bootstrap_mean, wilson

        prefix, today, command = f"paragraphs.{self.split}", date.today().isoformat(), self.command()
        end, ends = sum(bool(each.metrics.sr) for each in flights), sum(each.all_ends for each in flights)
        contacts = bootstrap_mean([each.metrics.collisions for each in flights], np.random.default_rng(self.seed))
        return {
            f"{prefix}.end": Figure.of(wilson(end, len(flights)), "%", command, today),
            f"{prefix}.all_ends": Figure.of(wilson(ends, len(flights)), "%", command, today),
            f"{prefix}.contacts": Figure.of(contacts, "per episode", command, today),
        }

    def command(self) -> str:
        """The command line that flies the same again."""
        words = [f"wayword eval paragraphs --split {self.split}"]
        words += [f"--policy {self.policy}"] * (self.policy != "wayword") + [f"--limit {self.limit}"] * bool(self.limit)
        return " ".join([*words, *[f"--seed {self.seed}"] * bool(self.seed)])
