"""The whole training of PVN2: what `wayword train pvn2` does.

    others       for PVN2-ALL: demonstrations about the dev and test objects   (pvn2_others)
    visitation   stage 1 on the Oracle's flights                               (pvn2_train)
    export       a folder of weights with FsPVN's stage 2                      (pvn2_export)

    train_pvn2(Pvn2Training("all"), Path("runs/policy/data"), Path("runs/pvn2_all"), Path("runs/pvn2_all/weights"))

What is done already is not done again, and a stage that was stopped goes on from its last checkpoint.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wayword.compute import Crew, Workers
from wayword.errors import WaywordError
from wayword.learning.common.followers import RAY
from wayword.learning.common.stage_process import TrainingStage, run_stage
from wayword.learning.common.train_config import TrainConfig, claim
from wayword.learning.policy import pvn2_train
from wayword.learning.policy.pvn2_export import export_pvn2
from wayword.learning.policy.pvn2_others import make_others
from wayword.learning.policy.pvn2_train import Pvn2Inputs, Pvn2Training
from wayword.policy.control import RECORD
from wayword.policy.stage1 import SHIPPED
from wayword.weight_folder import locate, shipped_names

TRAINING = "pvn2"
"""As train_config.json calls it."""


@dataclass(frozen=True)
class Pvn2Origin:
    """What a run is given."""

    data: Path
    stage2: Path


def train_pvn2(
    config: Pvn2Training,
    data: Path,
    run_folder: Path,
    out: Path,
    say: Callable[[str], None] = print,
    run_one: Callable[[TrainingStage], None] | None = None,
    workers: Workers = 2,
) -> TrainConfig:
    """Do what is not done yet; the weights go to ``out``. Returns what the run folder says.

    ``data`` is what `wayword train policy --only data` made. Stage 1 runs in a process of its own, or as ``run_one``
    runs it. ``workers`` fly for PVN2-ALL; if they are a cluster's, the other processes of stage 1 run there too.
    """
    if "RANK" in os.environ:
        raise WaywordError("torchrun cannot start PVN2, which starts its own processes: leave it out")
    if not (data / "natural").is_dir():
        raise WaywordError(f"--data {data}: holds no data to learn from; `wayword train policy --only data` makes it")
    control = _control(config.control)
    record = claim(run_folder, TRAINING, config, Pvn2Origin(data, control))
    others = run_folder / "others" if config.objects == "all" else None
    if others is not None:
        say("others")
        make_others(others, config.others, workers)
    say("visitation")
    variables = {RAY: workers.ray} if isinstance(workers, Crew) and workers.ray else None
    run_one = run_one or partial(run_stage, variables=variables)
    run_one(TrainingStage(pvn2_train.train, run_folder / "visitation", config, Pvn2Inputs(data, others)))
    say("export")
    export_pvn2(run_folder / "visitation", config, control, out)
    (record if others is None else record.with_data(others=others)).keep(out)
    return record


def _control(control: str) -> Path:
    folder = locate(control, SHIPPED)
    if not (folder / RECORD).is_file():
        known = ", ".join(shipped_names(SHIPPED))
        raise WaywordError(f"--control {control}: neither shipped weights ({known}) nor a folder with a {RECORD}")
    return folder
