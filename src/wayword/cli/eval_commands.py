"""``wayword eval commands``: does it do what people type?"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tyro

from wayword.cli.common import console, progress_bar, say
from wayword.cli.crew_options import CrewOptions
from wayword.cli.eval_conditions import GovernedVehicle
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.io import check_target, write_text
from wayword.shipped import DEFAULT_GROUNDER

if TYPE_CHECKING:
    from wayword.evaluation.commands.flights import CommandRun


@dataclass(frozen=True)
class EvalCommands(CrewOptions):
    """Fly commands as people type them and judge from the trace whether all steps were done, in order.

    Slots are filled with a split's objects and phrases, scenes are drawn in which the command can be flown, and a table
    shows success per family, contacts, flights that ran out of time and refusals. The commands were written by language
    models, not by people.

    For example: wayword eval commands --split dev --scenes random --out flights.jsonl

    Or as a real vehicle flies them: wayword eval commands --vehicle px4 --limit 100
    """

    file: tyro.conf.Positional[Path | None] = None
    """A file of commands (docs/commands.md has the format); by default the shipped dev commands."""
    split: Literal["dev", "test"] = "dev"
    """Whose objects and phrases fill the slots: dev for all decisions, test once."""
    scenes: Literal["drawn", "random", "hidden", "all"] = "all"
    """Where flights begin: facing the first object, anywhere, or with it out of view."""
    policy: str = "wayword"
    """Who flies: a policy by name, or your own as module:Class."""
    weights: Path | None = None
    """The policy's weights; by default those it ships with."""
    grounder: str = DEFAULT_GROUNDER
    """The segmentation's weights: shipped ones by name, or a folder."""
    vehicle: GovernedVehicle | None = None
    """Fly under the governor, with the simulated vehicle of `wayword flight`, as `wayword eval governed` has them; by
    default in the arena, without a governor."""
    fills: int = 1
    """Scenes of each kind per command, each with other objects."""
    nothing: bool = False
    """Fly everything once more without a text: what the layouts alone give away."""
    limit: int | None = None
    """At most this many flights, evenly spread."""
    seed: int = 0
    """Seeds fills, scenes and vehicles."""
    out: Path | None = None
    """A file for every flight, a JSON line each: text, steps, layout, trace, ending, verdicts."""
    publish: bool = False
    """Keep the figures in docs/results.json."""

    def run(self) -> None:
        """Fly, judge, print, write."""
        from wayword.evaluation.commands.flights import fly_commands
        from wayword.evaluation.commands.table import commands_table, percent, summarise_commands
        from wayword.registry import POLICIES

        check_seed(self.seed)
        self.crew()
        for name, value in (("fills", self.fills), ("limit", self.limit)):
            if value is not None and value < 1:
                raise WaywordError(f"--{name} {value}: at least 1 is needed")
        POLICIES.find(self.policy)
        if self.out is not None:
            check_target(self.out)
        if self.publish and (self.file, self.weights, self.seed) != (None, None, 0):
            raise WaywordError("--publish is for what ships: leave out FILE, --weights and --seed")
        run = self._settings()
        count = len(run.keys())
        with progress_bar(f"flying {self.policy}", count) as advance:
            flights = list(fly_commands(run, self.crew(), advance))
        bare = None
        if self.nothing:
            with progress_bar("told nothing", count) as advance:
                bare = list(fly_commands(replace(run, told_nothing=True), self.crew(), advance))
        if self.out is not None:
            write_text(self.out, "".join(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in flights))
        summary = summarise_commands(flights, bare)
        console.print(commands_table(summary))
        if summary.right_refusals is not None:
            say(f"right refusals: {percent(summary.right_refusals)} %, n = {summary.right_refusals.n}")
        if summary.false_refusals is not None:
            say(f"false refusals: {percent(summary.false_refusals)} %, n = {summary.false_refusals.n}")
        if self.out is not None:
            say(self.out)
        if self.publish:
            from wayword.cli.results import publish_figures
            from wayword.evaluation.commands.table import command_figures

            names = [self.policy] if self.vehicle is None else ["governed", self.policy, self.vehicle]
            prefix = ".".join(["commands", *(name for name in names if name != "usual"), self.split])
            publish_figures(command_figures(summary, prefix, self.command(), date.today().isoformat()))

    def command(self) -> str:
        """The command line that flies the same again."""
        words = [f"wayword eval commands --split {self.split}"]
        words += [] if self.scenes == "all" else [f"--scenes {self.scenes}"]
        words += [] if self.limit is None else [f"--limit {self.limit}"]
        words += [] if self.vehicle is None else [f"--vehicle {self.vehicle}"]
        return " ".join(words + ([] if self.policy == "wayword" else [f"--policy {self.policy}"]))

    def _settings(self) -> CommandRun:
        from wayword.evaluation.commands.flights import CommandRun

        return CommandRun(
            commands="dev" if self.file is None else str(self.file),
            split=self.split,
            kinds=("drawn", "random", "hidden") if self.scenes == "all" else (self.scenes,),
            policy=self.policy,
            weights=self.weights,
            grounder=self.grounder,
            vehicle=self.vehicle,
            fills=self.fills,
            seed=self.seed,
            limit=self.limit,
        )
