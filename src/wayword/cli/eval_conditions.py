"""``wayword eval vehicles`` and ``wayword eval sides``: FsPVN on other vehicles, and when the side matters."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wayword.cli.common import console, progress_bar, say
from wayword.cli.crew_options import CrewOptions
from wayword.cli.results import check_docs
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed

if TYPE_CHECKING:
    from wayword.evaluation.table.conditions import Conditions

VehicleName = Literal["usual", "fast", "slow", "slowest", "delayed", "slow_delayed", "rigid", "px4", "arducopter"]
GovernedVehicle = Literal["usual", "slow", "px4", "arducopter"]
"""As `wayword.flight.airframes` has them; named here too, for the command line loads nothing of a flight."""
PolicyName = Literal["fspvn", "wayword"]


@dataclass(frozen=True)
class _Run(CrewOptions):
    """What both commands ask for."""

    split: Literal["dev", "test"] = "dev"
    """dev for all decisions; test once, at the end."""
    policy: PolicyName = "fspvn"
    """The paper's policy, or wayword, the default of `wayword fly`."""
    weights: Path | None = None
    """A folder of fspvn's weights; by default the shipped ones."""
    seed: int = 0
    """Seeds vehicles and drills."""
    publish: bool = False
    """Enter the figures into docs/results.json and renew the pages made from it (maintainers)."""

    def conditions(self, limit: int | None = None) -> Conditions:
        """Checked, as the evaluation wants them."""
        from wayword.evaluation.table.conditions import Conditions

        check_seed(self.seed)
        self.crew()
        if limit is not None and limit < 1:
            raise WaywordError(f"--limit {limit}: at least one flight is needed")
        if self.publish:
            if self.weights is not None or self.seed != 0 or limit is not None:
                raise WaywordError("--publish is for the shipped weights: without --weights, --seed and --limit")
            check_docs()
        return Conditions(self.split, self.seed, limit, self.weights, self.policy)


@dataclass(frozen=True)
class EvalVehicles(_Run):
    """Fly natural instructions on slow, fast, delayed and rigid-body vehicles; a table with 95 % intervals.

    Names and what they mean: usual 0.5 s to 63 % of full speed, fast 0.3, slow 0.7, slowest 1.0; delayed 0.2 s between
    command and response; slow_delayed 0.85 and 0.3 s; rigid a rigid body under its own controllers; px4 and arducopter
    as those autopilots answer (px4 flies 0.8 of a commanded speed).

    For example: wayword eval vehicles --split dev --vehicles fast slowest
    """

    vehicles: tuple[VehicleName, ...] = (
        "usual", "fast", "slow", "slowest", "delayed", "slow_delayed", "rigid", "px4", "arducopter",
    )  # fmt: skip
    """Which of them."""
    limit: int | None = None
    """At most this many instructions, evenly spread."""

    def run(self) -> None:
        """Fly, print, publish."""
        from wayword.evaluation.summary import metrics_table, summarise
        from wayword.evaluation.table.conditions import fly_vehicles, natural_examples

        conditions = self.conditions(self.limit)
        vehicles = list(dict.fromkeys(self.vehicles))
        with progress_bar("flying", len(vehicles) * len(natural_examples(conditions))) as advance:
            flown = fly_vehicles(conditions, vehicles, self.crew(), advance)
        summaries = {name: summarise(scores, self.seed) for name, scores in flown.items()}
        console.print(metrics_table(summaries))
        if self.publish:
            from wayword.cli.results import publish_figures
            from wayword.evaluation.report.publish import summary_figures
            from wayword.figures import Figure

            today = date.today().isoformat()
            figures: dict[str, Figure] = {}
            who = "" if self.policy == "fspvn" else f"{self.policy}."
            for name, summary in summaries.items():
                command = f"wayword eval vehicles --split {self.split} --vehicles {name}"
                command += f" --policy {self.policy}" if who else ""
                figures |= summary_figures(f"vehicles.{who}{name}.{self.split}", summary, command, today)
            publish_figures(figures)


@dataclass(frozen=True)
class EvalSides(_Run):
    """Fly drills: pairs that start alike in the same layout and are told to pass the same thing on either side.

    What counts is the share that pass it on the told side; a policy that looks at the layout alone gets half.

    For example: wayword eval sides --split dev
    """

    drills: int = 400
    """How many, half of them for each side."""

    def run(self) -> None:
        """Fly, print, publish."""
        from wayword.evaluation.summary import format_number, metrics_table, summarise
        from wayword.evaluation.table.conditions import fly_drills
        from wayword.intervals import wilson

        if self.drills < 2:
            raise WaywordError(f"--drills {self.drills}: at least one pair is needed")
        conditions = self.conditions()
        if self.publish and self.drills != EvalSides.drills:
            raise WaywordError(f"--publish is for the usual {EvalSides.drills} drills")
        with progress_bar("flying drills", self.drills) as advance:
            flown = fly_drills(conditions, self.drills, self.crew(), advance)
        summary = summarise([passed.metrics for passed in flown], self.seed)
        told_side = wilson(sum(passed.told_side for passed in flown), len(flown))
        console.print(metrics_table({"FsPVN": summary}))
        numbers = [format_number(100 * value, "%") for value in (told_side.mean, told_side.low, told_side.high)]
        say(f"passed on the told side: {numbers[0]} % [{numbers[1]}, {numbers[2]}], n = {told_side.n}")
        if self.publish:
            from wayword.cli.results import publish_figures
            from wayword.evaluation.report.publish import summary_figures
            from wayword.figures import Figure

            command, today = f"wayword eval sides --split {self.split}", date.today().isoformat()
            figures = summary_figures(f"sides.{self.split}", summary, command, today)
            publish_figures(figures | {f"sides.{self.split}.told_side": Figure.of(told_side, "%", command, today)})
