"""``wayword eval swap``: a place that policy and segmentation never saw, before and after swapping the segmentation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal

from wayword.cli.common import console, progress_bar, say
from wayword.cli.crew_options import CrewOptions
from wayword.cli.evaluate import EVALUATIONS
from wayword.cli.results import check_docs
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.io import check_target, write_json
from wayword.shipped import DEFAULT_GROUNDER
from wayword.versions import versions

if TYPE_CHECKING:
    from wayword.evaluation.table.cells import Cell
    from wayword.figures import Figure


@dataclass(frozen=True)
class EvalSwap(CrewOptions):
    """Fly FsPVN in another world with the segmentation of the simulator, then with the one trained for that world.

    The policy's weights are the same in both: only the segmentation is swapped, as the paper does for its real drone.
    Finished parts are kept in --folder: the same command goes on where it was stopped.

    For example: wayword eval swap --world lab --grounder runs/lab/weights --split dev
    """

    grounder: str
    """The swapped weights: a folder that `wayword train grounding` made, or shipped ones by name."""
    world: Literal["lab", "arena"] = "lab"
    """Where both fly."""
    split: Literal["dev", "test"] = "test"
    """Whose objects and natural instructions; dev for all decisions, test once, at the end."""
    weights: Path | None = None
    """A folder of fspvn's weights; by default the shipped ones."""
    limit: int | None = None
    """At most this many examples, evenly spread."""
    seed: int = 0
    """Seeds vehicles and sensors."""
    folder: Path = EVALUATIONS
    """Where finished parts are kept."""
    out: Path | None = None
    """Where the JSON goes, if not into --folder."""
    publish: bool = False
    """Enter swap.WORLD.* and noswap.WORLD.* into docs/results.json and renew the pages made from it (maintainers)."""

    def run(self) -> None:
        """Fly twice, print, write."""
        from wayword.evaluation.summary import metrics_table
        from wayword.evaluation.table.cells import TableConfig, fly_table
        from wayword.evaluation.table.columns import Column, load_cases

        self._check()
        out = self.out or self.folder / f"swap-{self.world}-{self.split}.json"
        check_target(out)
        column = Column(self.split, "natural")
        cells: dict[str, Cell] = {}
        count = len(load_cases(column, self.folder, self.seed, self.limit))
        with progress_bar(f"flying in the {self.world}", 2 * count) as advance:
            for name, grounder in (("noswap", DEFAULT_GROUNDER), ("swap", self.grounder)):
                config = TableConfig(
                    self.folder, self.seed, self.limit, self.weights, grounder=grounder, world=self.world
                )
                (cells[name],) = fly_table(["fspvn"], [column], config, self.crew(), advance)
        say(f"{self.split} natural in the {self.world}")
        titles = {"noswap": "segmentation of the simulator", "swap": "segmentation swapped"}
        console.print(metrics_table({titles[name]: cell.summary() for name, cell in cells.items()}))
        for name, cell in cells.items():
            counts = ", ".join(f"{stage} {n}" for stage, n in cell.lost().items() if n)
            say(f"{name} lost {sum(cell.lost().values())} of {len(cell.rows)}: {counts}")
        report = {
            "world": self.world,
            "split": self.split,
            "seed": self.seed,
            "grounder": self.grounder,
            "cells": {name: cell.report() for name, cell in cells.items()},
            "versions": versions(),
            "command": self.command(),
            "date": date.today().isoformat(),
        }
        write_json(out, report)
        say(out)
        if self.publish:
            from wayword.cli.results import publish_figures

            publish_figures(self.figures(cells))

    def _check(self) -> None:
        from wayword.evaluation.table.systems import missing_weights
        from wayword.grounding.weight_files import find_weights

        check_seed(self.seed)
        if find_weights(self.grounder) == find_weights(DEFAULT_GROUNDER):
            raise WaywordError(
                f"--grounder {DEFAULT_GROUNDER}: that is what it is compared with; name the swapped weights"
            )
        self.crew()
        if self.limit is not None and self.limit < 1:
            raise WaywordError(f"--limit {self.limit}: at least one episode is needed")
        if reason := missing_weights("fspvn", self.weights):
            raise WaywordError(reason)
        if self.publish:
            if self.split != "test" or self.limit is not None or self.weights is not None or self.seed != 0:
                raise WaywordError("--publish is for FsPVN's shipped weights on the whole test split, with seed 0")
            check_docs()

    def figures(self, cells: dict[str, Cell]) -> dict[str, Figure]:
        """Both rows as published figures."""
        from wayword.evaluation.report.publish import summary_figures

        today, result = date.today().isoformat(), dict[str, "Figure"]()
        for name, cell in cells.items():
            result |= summary_figures(f"{name}.{self.world}", cell.summary(), self.command(), today)
        return result

    def command(self) -> str:
        """The command line that flies the same again."""
        words = [f"wayword eval swap --world {self.world} --grounder {quote(self.grounder)} --split {self.split}"]
        words += [f"--weights {quote(str(self.weights))}"] * bool(self.weights)
        words += [f"--limit {self.limit}"] * bool(self.limit)
        return " ".join([*words, f"--seed {self.seed}"])
