"""``wayword train grounding`` and ``wayword train grounding-report``: from data to weights, and how good they are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wayword.cli.common import check_png, need_torch, save_picture, say
from wayword.errors import WaywordError

SIMULATED_SHARE = 0.4
"""Of the frames made for a place of one's own: objects must be known from photos that were not taken there."""
_FINE_TUNING_RATE = 1e-3


@dataclass(frozen=True)
class TrainGrounding:
    """Train the segmentation: two processes, one core each; from nothing under 2.5 hours.

    Stop it at any time and start it again with the same folders: it goes on from the last checkpoint.

    For a place of your own: wayword train grounding --frames my_room/ --start sim --minutes 25 --out my_room-weights
    """

    data: Path | None = None
    """Folder of shards made by `wayword ar generate`; with --frames, where to make them, by default RUN-FOLDER/data."""
    run_folder: Path | None = None
    """Keeps checkpoints and logs (docs/grounding.md explains the numbers in log.csv); by default OUT-run."""
    out: Path = Path("runs/grounding/weights")
    """Where the finished weights go; fly with them: --grounder FOLDER."""
    minutes: float = 135.0
    """Longest time for all three trainings together; on a slow machine they are shortened to fit."""
    only: Literal["proposals", "metric", "refine", "all"] = "all"
    """Train one network only and assemble nothing."""
    frames: Path | None = None
    """Your own pictures of the empty place with poses.json (docs/ar.md): training frames are made from them first."""
    packs: tuple[Path, ...] = ()
    """With --frames: baked mesh packs beside the procedural random objects."""
    count: int = 32_000
    """With --frames: training frames to make of them."""
    start: str | None = None
    """Weights to go on from instead of random ones, shipped ones (sim) or a folder: far shorter."""

    def run(self) -> None:
        """Make frames if asked, train side by side, then assemble and fit."""
        need_torch()
        if self.minutes <= 0:
            raise WaywordError(f"--minutes {self.minutes}: must be positive")
        self._prepare()
        # One process trains the metric all the time, the other the proposals and then the refinement.
        share = {"proposals": 0.6, "refine": 0.4, "metric": 1.0}
        queues: list[list[str]] = [["metric"], ["proposals", "refine"]] if self.only == "all" else [[self.only]]
        running: dict[str, subprocess.Popen[bytes]] = {}
        try:
            while queues or running:
                for queue in list(queues):
                    if not any(name in running for name in queue):
                        running[queue[0]] = self._start(queue[0], self.minutes * share[queue[0]])
                time.sleep(1.0)
                for name, process in list(running.items()):
                    if process.poll() is not None:
                        del running[name]
                        if process.returncode:
                            raise WaywordError(
                                f"training of {name} stopped with code {process.returncode}; its messages are above. "
                                f"Run the same command again to go on from the last checkpoint"
                            )
                        for queue in queues:
                            if name in queue:
                                queue.remove(name)
                queues = [queue for queue in queues if queue]
        finally:
            for process in running.values():
                process.terminate()
                process.wait()
        if self.only == "all":
            from wayword.learning.grounding.assemble import Sizes, assemble

            assemble(self._data, self._runs, self.out, Sizes())
            say(self.out)

    @property
    def _runs(self) -> Path:
        return self.run_folder or self.out.with_name(f"{self.out.name}-run")

    @property
    def _data(self) -> Path:
        return self.data or self._runs / "data"

    def _prepare(self) -> None:
        """Refuse what cannot work before hours are spent, and make the frames."""
        from wayword.grounding.weights import find_weights

        if self.start is not None:
            find_weights(self.start)
        if self.frames is None:
            if self.data is None:
                raise WaywordError("name --data DIR (made by `wayword ar generate`), or --frames DIR of your own place")
            return
        from wayword.cli.ar import Generate, Source
        from wayword.learning.ar.config import ARConfig, PhotoConfig

        config = ARConfig(photo=PhotoConfig(simulated_share=SIMULATED_SHARE))
        Generate(self._data, self.count, 2, Source(self.packs, self.frames, config=config)).run()

    def _start(self, name: str, minutes: float) -> subprocess.Popen[bytes]:
        from wayword.learning.grounding.loop import PARENT

        command = [sys.executable, "-m", f"wayword.learning.grounding.train_{name}"]
        command += [str(self._data), str(self._runs / name), "--config.loop.minutes", f"{minutes:g}"]
        if self.start is not None:
            from wayword.grounding.weights import find_weights

            command += ["--config.start", str(find_weights(self.start))]
            command += ["--config.loop.learning-rate", f"{_FINE_TUNING_RATE:g}"]
        # Two OpenMP threads per process fight for two cores; one each does not.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", PARENT: str(os.getpid())}
        # A session of its own: Ctrl-C reaches this process alone, which then ends the trainings in good order.
        return subprocess.Popen(command, env=environment, start_new_session=True)


@dataclass(frozen=True)
class ReportGrounding:
    """Measure every stage of the segmentation on unseen objects."""

    split: Literal["dev", "test"] = "dev"
    """Whose objects; test is for the end."""
    weights: str = "sim"
    """Which shipped weights."""
    folder: Path | None = None
    """Weights in a folder of your own instead."""
    frames: int = 400
    """Frames for proposals and grounding."""
    trials: int = 2000
    """Trials of each n-way choice."""
    seed: int = 0
    """Seeds frames, databases and trials."""
    language: bool = True
    """References are phrases ("the globe") understood by the language side; off takes them as certain."""
    pictures: Path | None = None
    """Write a sheet of 24 random frames here (.png)."""
    publish: bool = False
    """Enter the figures into docs/results.json (maintainers)."""

    def run(self) -> None:
        """Measure, print, publish if asked."""
        import numpy as np

        from wayword.grounding import Grounder
        from wayword.grounding.weights import weight_folder
        from wayword.learning.grounding.databases import certain, phrases_of_names
        from wayword.learning.grounding.report import measure, table, times

        if self.pictures is not None:
            check_png(self.pictures)
        grounder = Grounder.load(self.weights, self.folder)
        references = phrases_of_names() if self.language else certain
        report = measure(grounder, self.split, self.frames, self.seed, references, self.trials)
        times(report, grounder, self.split, self.seed, folder=self.folder or weight_folder(self.weights))
        say(table(report.figures))
        say("calibration of ALIGN: mean value, share that is true, boxes x references")
        for value, share, count in report.curve:
            say(f"  {value:.2f}  {share:.2f}  {count}")
        if self.pictures is not None:
            from wayword.learning.grounding.report import picture_sheet

            save_picture(picture_sheet(grounder, self.split, np.random.default_rng([self.seed, 60])), self.pictures)
        if self.publish:
            from wayword.cli.results import publish_figures

            command = f"wayword train grounding-report --split {self.split} --frames {self.frames} --seed {self.seed}"
            publish_figures(report.publishable(self.split, command))
