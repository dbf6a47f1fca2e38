"""``wayword bench``: how fast it is, as ratios measured in one run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tyro

from wayword.cli.common import console, need_torch, progress_bar, say
from wayword.cli.results import check_docs
from wayword.errors import WaywordError

if TYPE_CHECKING:
    from wayword.intervals import Interval

BUSY = 0.9
"""A step that spent less of its time computing was measured on a machine that was doing something else."""


@dataclass(frozen=True)
class Bench:
    """Measure speed on this machine, which should be doing nothing else.

    sim: frames and environment steps per second, and the ratio to PyBullet's renderer on the same
    scene in the same run; that comparison needs the extra: pip install -e ".[bench]".

    policy: milliseconds per step of FsPVN, one drone on one core, segmentation included, and the share of each
    stage.

    studio: seconds until the first picture, and updates per second while flying, in a browser without a screen;
    needs Chromium and pip install playwright.

    database: what 8 to 8,000 taught objects cost: to load, to read a sentence, to decide, to teach one more, in memory.
    scale: processor seconds of a flight, a frame, a training step, and what 1 to 512 workers would make of them: a
    discrete-event simulation (docs/scale.md); needs PyTorch, unless --costs has them.
    """

    what: tyro.conf.Positional[Literal["sim", "policy", "studio", "database", "scale"]]
    """What to measure."""
    repeats: int = 7
    """Times each measurement is repeated, or flights of the policy; the interval is over these."""
    most: int = 8000
    """The largest database that is measured."""
    weights: Path | None = None
    """A folder of the policy's weights; by default the shipped ones."""
    costs: Path | None = None
    """scale: a file of costs to simulate with, instead of measuring them here."""
    out: Path | None = None
    """scale: where the measured costs go, for --costs."""
    publish: bool = False
    """Enter the figures into docs/results.json (maintainers)."""

    def run(self) -> None:
        """Measure, print, publish if asked."""
        if self.repeats < 2:
            raise WaywordError(f"--repeats {self.repeats}: at least 2 are needed for an interval")
        if self.publish:
            if self.weights is not None:
                raise WaywordError("--publish is for the shipped weights: without --weights")
            check_docs()
        if self.what == "scale":
            self._scale()
        elif self.what == "policy":
            self._policy()
        elif self.what == "studio":
            self._studio()
        elif self.what == "database":
            self._database()
        else:
            self._sim()

    def _scale(self) -> None:
        from dataclasses import asdict

        from wayword.evaluation.bench.scale_costs import Costs, load_of_this_machine, measure_costs
        from wayword.evaluation.bench.scale_report import scale_report

        if self.publish:
            raise WaywordError("--publish: the figures of scale are in docs/scale.json; write them with --out")
        if self.costs is not None:
            costs = Costs.read(self.costs)
        else:
            need_torch()
            with progress_bar("measuring", 6) as advance:
                costs = measure_costs(progress=advance)
            say(f"measured on one core ({load_of_this_machine()})")
            self._pairs()
        for name, value in asdict(costs).items():
            say(f"{name:16s} {value:.4g}")
        say(f"\n{scale_report(costs)}")
        if self.out is not None:
            costs.write(self.out)
            say(self.out)

    def _pairs(self) -> None:
        """What a second worker brings here, in wall time."""
        from wayword.compute import Crew
        from wayword.evaluation.bench.scale_costs import load_of_this_machine
        from wayword.evaluation.bench.scale_pair import batches_per_second, flights_per_second

        for what, one, two in (
            ("flights", flights_per_second(Crew(1, apart=True)), flights_per_second(Crew(2))),
            ("batches of stage 1", batches_per_second(1), batches_per_second(2)),
        ):
            share = f"{100 * two / (2 * one):.0f} %"
            say(f"{what} per second: {one:.2f} with one worker, {two:.2f} with two, efficiency {share}")
        say(load_of_this_machine())

    def _policy(self) -> None:
        from rich.table import Table

        from wayword.evaluation.bench.policy_speed import policy_speed
        from wayword.figures import Figure

        with progress_bar("flying", self.repeats + 1) as advance:
            speed = policy_speed(self.repeats, self.weights, advance)
        table = Table("one drone, one core", "ms", "95 % interval", "share of a step", title="wayword bench policy")
        rows = {"step": speed.step_ms, **speed.stages_ms, "reading, once per instruction": speed.reading_ms}
        for what, ms in rows.items():
            share = f"{100 * speed.shares[what].mean:.0f} %" if what in speed.shares else ""
            table.add_row(what, f"{ms.mean:.1f}", f"{ms.low:.1f} - {ms.high:.1f}", share)
        console.print(table)
        say(f"{speed.step_ms.n} flights; slowest step {speed.slowest_ms:.1f} ms")
        busy = speed.computing_ms.mean / speed.step_ms.mean
        if busy < BUSY:
            remark = f"only {100 * busy:.0f} % of a step was computing: this machine was doing something else as well"
            if self.publish:
                raise WaywordError(f"not published: {remark}; measure again when it is idle")
            say(remark)
        if self.publish:
            from wayword.cli.results import publish_figures

            command, today = f"wayword bench policy --repeats {self.repeats}", date.today().isoformat()
            times = {"step": speed.step_ms, "reading": speed.reading_ms}
            figures = {f"policy.ms_{what}": Figure.of(ms, "ms", command, today) for what, ms in times.items()}
            for stage, part in speed.shares.items():
                figures[f"policy.share_{stage}"] = Figure.of(part, "%", command, today)
            publish_figures(figures)

    def _studio(self) -> None:
        from rich.table import Table

        from wayword.figures import Figure
        from wayword.studio.speed import studio_speed

        with progress_bar("opening and flying", 3 * self.repeats) as advance:
            speed = studio_speed(self.repeats, advance)
        rows = {
            "first_picture": ("command to first picture, s", speed.first_picture_s),
            "updates": ("view updates per second in flight", speed.updates_per_s),
            "pictures": ("first-person pictures per second", speed.pictures_per_s),
            "updates_of_two": ("view updates per second for each of two visitors", speed.shared_updates_per_s),
        }
        table = Table("in a browser without a screen", "mean", "95 % interval", title="wayword bench studio")
        for what, interval in rows.values():
            table.add_row(what, f"{interval.mean:.1f}", f"{interval.low:.1f} - {interval.high:.1f}")
        console.print(table)
        if self.publish:
            from wayword.cli.results import publish_figures

            command, today = f"wayword bench studio --repeats {self.repeats}", date.today().isoformat()
            figures = {}
            for key, (_, i) in rows.items():
                scale, unit = (1000, "ms") if key == "first_picture" else (1, "1/s")
                values = (scale * i.mean, scale * i.low, scale * i.high)
                figures[f"bench.studio_{key}"] = Figure(*values, i.n, command, today, unit)
            publish_figures(figures)

    def _database(self) -> None:
        from rich.table import Table

        from wayword.evaluation.bench.database_growth import SIZES, database_costs
        from wayword.figures import Figure

        sizes = [size for size in SIZES if size <= self.most]
        if not sizes:
            raise WaywordError(f"--most {self.most}: the smallest database that is measured has {SIZES[0]} objects")
        with progress_bar("measuring", len(sizes)) as advance:
            costs = database_costs(self.repeats, sizes, advance)
        heads = ("objects", "first load of new ones, s", "load, s", "parse, ms", "step, ms", "teach, s", "memory, MB")
        table = Table(*heads, title="wayword bench database, processor time on one core")
        for cost in costs:
            first = f"{cost.first_load_s:.1f} ({cost.new_objects:,} new)"
            parse, step = (f"{i.mean:.1f} [{i.low:.1f}, {i.high:.1f}]" for i in (cost.parse_ms, cost.step_ms))
            numbers = f"{cost.load_s:.1f}", parse, step, f"{cost.teach_s:.2f}", f"{cost.memory_mb:,.0f}"
            table.add_row(f"{cost.objects:,}", first, *numbers)
        console.print(table)
        if self.publish:
            from wayword.cli.results import publish_figures

            most = "" if self.most >= SIZES[-1] else f" --most {self.most}"
            command, today = f"wayword bench database --repeats {self.repeats}{most}", date.today().isoformat()
            figures = {}
            for cost in costs:
                seconds = {"first_load": cost.first_load_s, "load": cost.load_s, "teach": cost.teach_s}
                for what, value in seconds.items():
                    name = f"bench.database_{what}_{cost.objects}"
                    figures[name] = Figure(1000 * value, None, None, 1, command, today, "ms")
                for what, ms in {"parse": cost.parse_ms, "step": cost.step_ms}.items():
                    figures[f"bench.database_{what}_{cost.objects}"] = Figure.of(ms, "ms", command, today)
                memory = Figure(cost.memory_mb, None, None, 1, command, today, "MB")
                figures[f"bench.database_memory_{cost.objects}"] = memory
            publish_figures(figures)

    def _sim(self) -> None:
        from rich.table import Table

        from wayword.evaluation.bench import simulator as bench

        scene = bench.bench_scene()
        rows: dict[str, tuple[str, Interval | None, str]] = {}
        with progress_bar("measuring", 8) as advance:
            for key, what, supersample, threads in (
                ("render_fps_core", "frames, one core", False, 1),
                ("render_fps_2cores", "frames, two cores", False, 2),
                ("render_ss_fps_core", "frames 2 x 2 supersampled, one core", True, 1),
            ):
                rows[key] = (what, bench.render_rate(scene, supersample, threads, self.repeats), "1/s")
                advance(1)
            tiny = bench.pybullet_rate(scene, self.repeats)
            advance(1)
            rows["env_single_steps_s"] = ("steps, single environment", bench.single_rate(self.repeats), "1/s")
            advance(1)
            for key, what, threads in (
                ("env_steps_s_core", "steps, 32 environments, one core", 1),
                ("env_steps_s", "steps, 32 environments, two cores", 2),
            ):
                rows[key] = (what, bench.vector_rate(32, threads, self.repeats), "1/s")
                advance(1)
            memory = bench.peak_memory_mb()
            advance(1)
        ours = rows["render_fps_core"][1]
        table = Table("figure", "mean", "95 % interval", title="wayword bench sim")
        for what, interval, _ in rows.values():
            assert interval is not None
            table.add_row(what, f"{interval.mean:,.0f} /s", f"{interval.low:,.0f} - {interval.high:,.0f}")
        table.add_row("peak memory", f"{memory:,.0f} MB", "")
        if tiny is not None and ours is not None:
            table.add_row(
                "PyBullet TinyRenderer, frames, one core", f"{tiny.mean:,.0f} /s", f"{tiny.low:,.0f} - {tiny.high:,.0f}"
            )
            table.add_row("ours / PyBullet", f"{ours.mean / tiny.mean:.1f} x", "")
        console.print(table)
        if tiny is None:
            console.print('PyBullet is not installed; for the ratio: pip install -e ".[bench]"', markup=False)
        if self.publish:
            self._publish(rows, memory, tiny)

    def _publish(self, rows: dict[str, tuple[str, Interval | None, str]], memory: float, tiny: Interval | None) -> None:
        from wayword.cli.results import publish_figures
        from wayword.figures import Figure

        command, today = f"wayword bench sim --repeats {self.repeats}", date.today().isoformat()
        figures = {
            f"bench.{key}": Figure(i.mean, i.low, i.high, i.n, command, today, unit)
            for key, (_, i, unit) in rows.items()
            if i is not None
        }
        figures["bench.memory_peak"] = Figure(memory, None, None, 1, command, today, "MB")
        ours = rows["render_fps_core"][1]
        if tiny is not None and ours is not None:
            figures["bench.render_fps_pybullet"] = Figure(tiny.mean, tiny.low, tiny.high, tiny.n, command, today, "1/s")
            ratio = ours.mean / tiny.mean
            figures["bench.render_ratio_pybullet"] = Figure(ratio, None, None, ours.n, command, today, "x")
        publish_figures(figures)
