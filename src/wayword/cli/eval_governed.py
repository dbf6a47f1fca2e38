"""``wayword eval governed``: how well FsPVN follows instructions through the whole flight stack."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wayword.cli.common import console, progress_bar, say
from wayword.cli.crew_options import CrewOptions
from wayword.cli.eval_conditions import GovernedVehicle, PolicyName
from wayword.cli.results import check_docs
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.io import check_target, write_json

if TYPE_CHECKING:
    from wayword.evaluation.table.governed import Governed
    from wayword.figures import Figure
    from wayword.intervals import Interval


@dataclass(frozen=True)
class EvalGoverned(CrewOptions):
    """Fly natural instructions under the governor, with the simulated vehicle of `wayword flight`.

    Besides SR and the other metrics of `wayword eval` it says how often per flight the governor stepped in, and why.

    For example: wayword eval governed --split dev --limit 50 --vehicle px4 --policy wayword
    """

    split: Literal["dev", "test"] = "dev"
    """dev for all decisions; test once, at the end."""
    vehicle: GovernedVehicle = "usual"
    """usual 0.7 s to 63 % of a new speed, slow 1.0 s and commands 0.2 s late, px4 and arducopter as those answer."""
    policy: PolicyName = "fspvn"
    """The paper's policy, or wayword, the default of `wayword fly`."""
    weights: Path | None = None
    """A folder of fspvn's weights; by default the shipped ones."""
    limit: int | None = None
    """At most this many instructions, evenly spread."""
    seed: int = 0
    """Seeds vehicles and sensors."""
    out: Path | None = None
    """Where a JSON with every flight goes."""
    publish: bool = False
    """Enter the figures into docs/results.json and renew the pages made from it (maintainers)."""

    def run(self) -> None:
        """Fly, print, write, publish."""
        from wayword.evaluation.summary import metrics_table, summarise
        from wayword.evaluation.table.conditions import Conditions, natural_examples
        from wayword.evaluation.table.governed import Stack, fly_governed
        from wayword.flight.airframes import AIRFRAMES

        self._check()
        conditions = Conditions(self.split, self.seed, self.limit, self.weights, self.policy)
        stack = Stack(vehicle=AIRFRAMES[self.vehicle])
        with progress_bar("flying governed", len(natural_examples(conditions))) as advance:
            flights = fly_governed(conditions, stack, workers=self.crew(), progress=advance)
        summary = summarise([flight.metrics for flight in flights], self.seed)
        stepped_in = interventions_per_flight(flights, self.seed)
        if self.out is not None:
            metrics = {name: interval.to_dict() for name, interval in (summary | stepped_in).items()}
            rows = [asdict(flight) for flight in flights]
            write_json(self.out, {"command": self.command(), "metrics": metrics, "flights": rows})
        console.print(metrics_table({f"{self.policy}, governed": summary}))
        counted = [f"{name} {interval.mean:.2f}" for name, interval in stepped_in.items() if interval.mean > 0]
        say(f"interventions per flight: {', '.join(counted) or 'none'}")
        if self.out is not None:
            say(self.out)
        if self.publish:
            from wayword.cli.results import publish_figures

            publish_figures(self.figures(summary, stepped_in))

    def _check(self) -> None:
        check_seed(self.seed)
        self.crew()
        if self.limit is not None and self.limit < 1:
            raise WaywordError(f"--limit {self.limit}: at least one flight is needed")
        if self.out is not None:
            check_target(self.out)
        if self.publish:
            if self.weights is not None or self.seed != 0 or self.limit is not None:
                raise WaywordError("--publish is for the shipped weights: without --weights, --seed and --limit")
            check_docs()

    def figures(self, summary: dict[str, Interval], stepped_in: dict[str, Interval]) -> dict[str, Figure]:
        """As they are published: governed.[POLICY.][VEHICLE.]SPLIT.natural.METRIC, and interventions_REASON."""
        from wayword.evaluation.report.publish import summary_figures
        from wayword.figures import Figure

        others = [name for name, usual in ((self.policy, "fspvn"), (self.vehicle, "usual")) if name != usual]
        prefix, today = ".".join(["governed", *others, self.split, "natural"]), date.today().isoformat()
        figures = summary_figures(prefix, summary, self.command(), today)
        for name, interval in stepped_in.items():
            key = f"{prefix}.interventions_{name.lower()}"
            figures[key] = Figure.of(interval, "per episode", self.command(), today)
        return figures

    def command(self) -> str:
        """The command line that flies the same again."""
        words = [f"wayword eval governed --split {self.split}"]
        words += [f"--vehicle {self.vehicle}"] * (self.vehicle != "usual")
        words += [f"--policy {self.policy}"] * (self.policy != "fspvn")
        words += [f"--weights {self.weights}"] * bool(self.weights) + [f"--limit {self.limit}"] * bool(self.limit)
        return " ".join([*words, *[f"--seed {self.seed}"] * bool(self.seed)])


def interventions_per_flight(flights: list[Governed], seed: int) -> dict[str, Interval]:
    """The mean count of every reason, with its 95 % interval."""
    import numpy as np

    from wayword.evaluation.table.governed import WATCHED
    from wayword.intervals import bootstrap_mean

    counts = {reason.value: [flight.interventions.get(reason.value, 0) for flight in flights] for reason in WATCHED}
    return {name: bootstrap_mean(values, np.random.default_rng(seed)) for name, values in counts.items()}
