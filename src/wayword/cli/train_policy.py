"""``wayword train policy``: from generated demonstrations to a policy that flies, on two cores."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wayword.cli.common import console, need_torch
from wayword.errors import WaywordError

Stage = Literal["data", "visitation", "control", "sureal", "export"]
STAGES: tuple[Stage, ...] = ("data", "visitation", "control", "sureal", "export")
_MODULE = "wayword.learning.policy"


@dataclass(frozen=True)
class TrainPolicy:
    """Train FsPVN: data, stage 1, stage 2, SuReAL, weights. Stopped at any time, the same command goes on.

    Numbers that are logged (docs/policy.md explains all): visit and goal, the KL divergences of the two visitation
    distributions; dev near, the share of goals within 0.47 m on natural dev instructions when the Oracle has flown;
    success, the share of flights that end within 0.47 m; return, the intrinsic reward.
    """

    run_folder: Path = Path("runs/policy")
    """Keeps data, checkpoints and logs."""
    out: Path = Path("runs/policy/weights")
    """Where the finished weights go; fly them with `wayword fly --weights`."""
    episodes: int = 7000
    """Generated demonstrations, beside the natural corpus."""
    drills: int = 4000
    """Short flights in pairs that only the told side tells apart."""
    visitation_minutes: float = 60.0
    """Stage 1 on the Oracle's flights, both cores."""
    control_minutes: float = 20.0
    """Stage 2 on teacher distributions, one core."""
    sureal_minutes: float = 40.0
    """Both stages together, one core each."""
    only: tuple[Stage, ...] = STAGES
    """Do these parts only, in this order."""
    sync: bool = False
    """SuReAL in one process, reproducible to the bit under the seed."""
    blank_images: bool = False
    """Train the ablation that sees nothing (FsPVN-NoI)."""
    empty_instructions: bool = False
    """Train the ablation that is told nothing (FsPVN-NoU)."""
    start: Path | None = None
    """A folder of weights whose stage 1 to go on from, such as src/wayword/policy/weights/fspvn; from nothing if not
    given."""
    seed: int = 0

    def run(self) -> None:
        """Do what is not done yet."""
        need_torch()
        for name in ("episodes", "drills", "visitation_minutes", "control_minutes", "sureal_minutes"):
            if getattr(self, name) <= 0:
                raise WaywordError(f"--{name.replace('_', '-')} {getattr(self, name)}: must be positive")
        for stage in self.only:
            console.print(f"[bold]{stage}[/bold]")
            getattr(self, f"_{stage}")()
        if "export" in self.only:
            console.print(f"{self.out}", highlight=False, soft_wrap=True)

    def _data(self) -> None:
        from wayword.learning.policy.prepare import prepare

        prepare(self.run_folder / "data", self.episodes, self.drills, self.seed)

    def _visitation(self) -> None:
        self._call("train_visitation", self.run_folder / "visitation", *self._visitation_options("--config."),
                   "--config.loop.minutes", f"{self.visitation_minutes:g}")  # fmt: skip

    def _control(self) -> None:
        self._call("train_control", self.run_folder / "control", "--config.minutes", f"{self.control_minutes:g}")

    def _sureal(self) -> None:
        sync = ["--config.sync"] if self.sync else []
        self._call("sureal", self.run_folder / "sureal", *self._visitation_options("--config.visitation."),
                   "--config.stage1", str(self.run_folder / "visitation"),
                   "--config.stage2", str(self.run_folder / "control"),
                   "--config.minutes", f"{self.sureal_minutes:g}", "--config.seed", str(self.seed), *sync)  # fmt: skip

    def _export(self) -> None:
        from wayword.learning.policy.export import export_runs

        sureal = self.run_folder / "sureal"
        if (sureal / "a" / "checkpoint.safetensors").exists():
            export_runs(self.run_folder / "visitation", sureal / "a", sureal / "b", self.out)
        else:
            export_runs(
                self.run_folder / "visitation", self.run_folder / "visitation", self.run_folder / "control", self.out
            )

    def _visitation_options(self, prefix: str) -> list[str]:
        data = self.run_folder / "data"
        options = [
            f"{prefix}generated", str(data / "generated"), f"{prefix}natural", str(data / "natural"),
            f"{prefix}photos", str(data / "photos"), f"{prefix}validation", str(data / "dev"),
        ]  # fmt: skip
        if (data / "drills").exists():  # data made before there were drills has none
            options += [f"{prefix}drills", str(data / "drills")]
        if self.start is not None:
            options += [f"{prefix}start", str(self.start)]
        if self.blank_images:
            options.append(f"{prefix}sample.blank-images")
        if self.empty_instructions:
            options.append(f"{prefix}sample.empty-instructions")
        return options

    def _call(self, module: str, folder: Path, *options: str) -> None:
        command: Sequence[str] = [sys.executable, "-m", f"{_MODULE}.{module}", str(folder), *options]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
        code = subprocess.run(command, env=environment, check=False).returncode
        if code:
            raise WaywordError(
                f"{module} stopped with code {code}; its messages are above. "
                f"Run the same command again to go on from the last checkpoint"
            )
