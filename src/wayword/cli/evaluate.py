"""``wayword eval``: fly a policy through many episodes and report how well it followed them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

from wayword import __version__
from wayword.cli.common import console, progress_bar, say, say_aside
from wayword.cli.crew_options import CrewOptions
from wayword.cli.results import check_docs
from wayword.errors import WaywordError
from wayword.flying.episode_source import EpisodeSource, thin_out
from wayword.io import check_target, write_json
from wayword.shipped import DEFAULT_GROUNDER
from wayword.versions import versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wayword.episodes import Example
    from wayword.evaluation.report.html_report import FailureFilmer
    from wayword.evaluation.runner import ScoredFlight
    from wayword.pilot.episode_loop import RunConfig
    from wayword.policy import Policy
    from wayword.recording.rerun_files import Recordings
    from wayword.sim.render.bank import MeshBank

ModelName = Literal["lag", "rigid"]
EVALUATIONS = Path("runs/eval")
"""Where evaluations keep what they make once: photos of seen objects, generated episodes, flown cells."""


@dataclass(frozen=True)
class Eval(CrewOptions, EpisodeSource):
    """Fly a policy through many episodes, print a table with 95 % intervals, write the numbers as JSON.

    For example: wayword eval --policy oracle --split test --out results.json

    In a world of your own: wayword eval --policy fspvn --episodes mine.jsonl --objects my_meshes/ --db my-objects

    Other measurements have options of their own, each with a --help:

      wayword eval table      all systems on all columns, as the paper's table has them
      wayword eval vehicles   agile, sluggish, delayed and rigid vehicles, another world
      wayword eval sides      drills that only the told side tells apart
      wayword eval swap       segmentation weights swapped for another place
      wayword eval governed   under the governor that a real vehicle flies with
      wayword eval paragraphs whole natural paragraphs, from the first word to the last
      wayword eval commands   what people type, judged step by step
    """

    policy: str = "oracle"
    """Who flies: oracle, average, stop, fspvn, fspvn_bc, fspvn_nou, fspvn_noi, fspvn_perfect, pvn2_seen and pvn2_all
    (`wayword train pvn2` makes their --weights), wayword, wayword_perfect, lerobot (one that LeRobot has trained, with
    --weights), or a policy of your own as module:Class (docs/extending.md). The oracle is shown the demonstration: an
    upper bound; those called perfect are shown the true masks. oracle_steps and wayword_told are told what is meant,
    and fly in `wayword eval commands` only."""
    db: Path | None = None
    """The object database the policy is taught: a folder, or dev or test for those that ship; by default that of the
    split's objects."""
    others: int | None = None
    """With --db: teach only what stands in the layout and this many others, as for seen objects; by default all."""
    weights: Path | None = None
    """The policy's weights: shipped ones by name, or a folder; by default those it ships with."""
    grounder: str = DEFAULT_GROUNDER
    """The segmentation's weights: shipped ones by name, or a folder (see `wayword train grounding`)."""
    world: Literal["arena", "lab"] = "arena"
    """Where: the arena, or a lab with another camera that neither policy nor segmentation has seen."""
    limit: int | None = None
    """Fly at most this many examples, spread over the split."""
    vehicle: ModelName = "lag"
    """Model of the quadcopter: first-order lag, or a rigid body with its controllers."""
    response_s: float = 0.5
    """Time in which the vehicle reaches 63 % of a commanded speed."""
    random_looks: bool = False
    """Draw light, ground and surround at random per episode."""
    workers: int | None = None
    """Workers, one core each; by default this process flies alone, drawing on all cores, and on a cluster there are as
    many as it has cores."""
    batch: int = 32
    """Episodes flown side by side; changes speed, never results."""
    out: Path | None = None
    """Where the JSON goes."""
    html: Path | None = None
    """A folder for a report to look at: table, plots, every flight, failures first with their videos."""
    videos: int = 12
    """Failures to film for --html, the farthest off first."""
    rerun: Path | None = None
    """A folder for a recording of every flight, for the Rerun viewer (docs/recordings.md)."""
    publish: bool = False
    """Enter the figures into docs/results.json and renew the pages made from it (maintainers)."""

    def run(self) -> None:
        """Fly, score, print, write."""
        from wayword.evaluation.runner import fly_examples
        from wayword.evaluation.shared_flights import Sortie, fly_shared
        from wayword.evaluation.summary import count_endings, metrics_table, summarise
        from wayword.evaluation.table.reading import steady_policy
        from wayword.grounding.weight_files import find_weights
        from wayword.pilot.episode_loop import RunConfig
        from wayword.policy import Privileged, Watching, needs_objects
        from wayword.registry import POLICIES
        from wayword.sim.arena import ArenaConfig
        from wayword.sim.vehicle import VehicleConfig
        from wayword.sim.worlds import WORLDS

        find_weights(self.grounder)
        POLICIES.find(self.policy)
        if self.random_looks and self.world != "arena":
            raise WaywordError(f"--random-looks and --world {self.world}: choose one of the two")
        if self.others is not None and (self.db is None or self.others < 0):
            raise WaywordError("--others is a number of at least 0 beside --db, whose objects they are")
        if self.batch < 1:
            raise WaywordError(f"--batch {self.batch}: at least 1 is needed")
        if self.publish:
            self._check_publishable()
        if self.out is not None:
            check_target(self.out)
        self._check_html()
        self._check_rerun()
        bank, cuts = self.load(say_aside)
        cuts = thin_out(cuts, self.limit)
        arena = ArenaConfig(vehicle=VehicleConfig(model=self.vehicle, time_constant_s=self.response_s))
        place = WORLDS[self.world]
        config = RunConfig(self.seed, self.batch, self.random_looks, place.arena(arena), place.look)
        policy = steady_policy(self.policy, self.weights, self.grounder)
        taught = self._databases(cuts) if needs_objects(policy) else None
        with self._recordings(policy, bank, config) as log, progress_bar(f"flying {self.policy}", len(cuts)) as advance:
            if self._alone():
                flights = fly_examples(policy, cuts, bank, config, taught, progress=advance, witness=log)
            else:
                sortie = Sortie(self.policy, self.weights, self.grounder, cuts, taught, bank, config)
                flights = fly_shared(sortie, self.crew(), advance)
        scores = [flight.metrics for flight in flights]
        summary = summarise(scores, self.seed)
        endings = count_endings(scores)
        report = {
            "policy": self.policy,
            "privileged": isinstance(policy, (Privileged, Watching)),
            "episodes": str(self.episodes) if self.episodes else None,
            "split": None if self.episodes else self.split,
            "instructions": None if self.episodes else self.instructions,
            "segments": self.segments,
            "n": len(flights),
            "seeds": [self.seed],
            "metrics": {name: interval.to_dict() for name, interval in summary.items()},
            "ended_by": endings,
            "commands": _mean_commands(flights),
            "configuration": asdict(config),
            "versions": versions(),
            "command": self.command(),
            "date": date.today().isoformat(),
            "flights": [_row(flight) for flight in flights],
        }
        if self.out is not None:
            write_json(self.out, report)
        console.print(metrics_table({self.policy: summary}))
        console.print("ended by " + ", ".join(f"{how} {count}" for how, count in endings.items() if count))
        if self.out is not None:
            console.print(f"{self.out}", highlight=False, markup=False, soft_wrap=True)
        if self.rerun is not None:
            say(self.rerun)
        if self.html is not None:
            from wayword.evaluation.report.html_report import FailureFilmer

            self._write_html(self.html, flights, FailureFilmer(policy, bank, config, taught))
        if self.publish:
            from wayword.cli.results import publish_figures
            from wayword.evaluation.report.publish import summary_figures

            prefix = f"{self.policy}.{self.split}.{self.instructions}"
            publish_figures(summary_figures(prefix, summary, self.command(), date.today().isoformat()))

    def _check_html(self) -> None:
        if self.videos < 0:
            raise WaywordError(f"--videos {self.videos}: must be 0 or more")
        if self.html is not None:
            from wayword.evaluation.report.html_report import check_folder

            check_folder(self.html)
            check_target(self.html / "index.html")

    def _check_rerun(self) -> None:
        if self.rerun is not None:
            from wayword.recording.rerun_files import check_recordings, need_rerun

            need_rerun()
            check_recordings(self.rerun)
            if not self._alone():
                raise WaywordError("--rerun records flights of this process: leave out --workers and --ray")

    def _alone(self) -> bool:
        """Whether this process flies all by itself, on all cores of the machine."""
        return self.crew().ray is None and self.workers in (None, 1)

    def _recordings(
        self, policy: Policy, bank: MeshBank, config: RunConfig
    ) -> AbstractContextManager[Recordings | None]:
        if self.rerun is None:
            return nullcontext()
        from wayword.recording.rerun_files import Recordings

        return Recordings(self.rerun, policy, bank, config)

    def _write_html(self, folder: Path, flights: list[ScoredFlight], filmer: FailureFilmer) -> None:
        from wayword.evaluation.report.html_report import ReportedFlight, write_report

        flown = [ReportedFlight.of(self.policy, flight) for flight in flights]
        where = self.episodes.name if self.episodes else f"{self.split} {self.instructions}"
        about = {"command": self.command(), "date": date.today().isoformat(), "wayword": __version__}
        filmed = min(self.videos, sum(not flight.metrics.sr for flight in flights))
        with progress_bar("filming failures", filmed) as advance:
            title = f"{self.policy} on {where}"
            page = write_report(folder, title, flown, about, filmer, self.videos, self.seed, advance)
        say(page)

    def _databases(self, cuts: list[Example]) -> list[Any]:
        """What the policy is taught for each example."""
        from wayword.evaluation.table.columns import layout_database, seen_database, shipped_database
        from wayword.pilot.pilot import open_database

        if self.db is not None:
            whole = open_database(self.db)
            if self.others is None:
                return [whole] * len(cuts)
            self._check_taught(cuts, whole.names)
            return [layout_database(cut, whole, self.others) for cut in cuts]
        if self.episodes is not None:
            raise WaywordError("your own episodes need a database of their objects: --db (see wayword teach --help)")
        if self.split != "train":
            return [shipped_database(self.split)] * len(cuts)
        everything = seen_database(EVALUATIONS)
        return [layout_database(cut, everything) for cut in cuts]

    def _check_taught(self, cuts: list[Example], known: Sequence[str]) -> None:
        for cut in cuts:
            for item in cut.objects:
                if item.name not in known:
                    raise WaywordError(f"{self.db}: {item.name!r} of {cut.id} is not in it; teach it, or drop --others")

    def _check_publishable(self) -> None:
        """A published key names policy, split and kind of instruction: everything else must be as usual."""
        from wayword.registry import POLICIES

        usual = Eval(policy=self.policy, split=self.split, instructions=self.instructions)
        if self.policy not in POLICIES.own:
            raise WaywordError(f"--publish is for Wayword's own policies: {', '.join(POLICIES.own)}")
        if self.command() != usual.command():
            raise WaywordError(f"--publish is for whole splits with the usual settings only: {usual.command()}")
        check_docs()

    def command(self) -> str:
        """The command line that flies the same again."""
        words = ["wayword eval", f"--policy {quote(self.policy)}"]
        if self.episodes:
            words.append(f"--episodes {quote(str(self.episodes))}")
        else:
            words.append(f"--split {self.split} --instructions {self.instructions}")
        words.append(f"--segments {self.segments}")
        words += [f"--objects {quote(str(self.objects))}"] * bool(self.objects) + [f"--limit {self.limit}"] * bool(
            self.limit
        )
        words += [f"--db {quote(str(self.db))}"] * bool(self.db)
        words += [f"--others {self.others}"] * (self.others is not None)
        words += [f"--weights {quote(str(self.weights))}"] * bool(self.weights)
        words += [f"--grounder {quote(self.grounder)}"] * (self.grounder != DEFAULT_GROUNDER)
        words += [f"--world {self.world}"] * (self.world != "arena")
        words += [f"--vehicle {self.vehicle}"] * (self.vehicle != "lag")
        words += [f"--response-s {self.response_s}"] * (self.response_s != 0.5)
        words += ["--random-looks"] * self.random_looks
        return " ".join([*words, f"--seed {self.seed}"])


def _mean_commands(flights: list[ScoredFlight]) -> dict[str, float]:
    """Mean commands before the stop: what the Average baseline is made of."""
    import numpy as np

    from wayword.task import STOP_THRESHOLD

    moving = np.concatenate([flight.actions[flight.actions[:, 2] <= STOP_THRESHOLD] for flight in flights])
    if not len(moving):
        return {"speed_m_s": 0.0, "yaw_rate_rad_s": 0.0, "steps": 0.0}
    speed, turn = moving[:, :2].mean(axis=0)
    return {"speed_m_s": float(speed), "yaw_rate_rad_s": float(turn), "steps": len(moving) / len(flights)}


def _row(flight: ScoredFlight) -> dict[str, Any]:
    scores = {
        key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(flight.metrics).items()
    }
    return {"example": flight.example.id, **scores, "track": flight.track}
