"""The whole training of FsPVN, from nothing to a folder of weights: what `wayword train policy` does.

    data        demonstrations, flights, readings, photos                  (prepare)
    visitation  stage 1 on the Oracle's flights                            (train_visitation)
    control     stage 2 on teacher distributions                           (train_control)
    sureal      both together                                              (sureal)
    export      a folder of weights, with the settings that made it        (export)

    train_policy(PolicyTraining().with_seed(7), Path("runs/policy"), Path("runs/policy/weights"))

``PolicyTraining`` is complete: two runs of the same one, with ``exact()`` settings, make the same weights to the bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from wayword.compute import Crew, Workers
from wayword.errors import WaywordError
from wayword.grounding.weight_files import find_weights
from wayword.learning.common.followers import RAY
from wayword.learning.common.loop import NO_LIMIT
from wayword.learning.common.stage_process import TrainingStage, run_stage
from wayword.learning.common.train_config import TrainConfig, claim
from wayword.learning.policy import sureal, train_control, train_visitation
from wayword.learning.policy.control_run import ControlTraining
from wayword.learning.policy.export import export_runs
from wayword.learning.policy.prepare import DataConfig, DataInputs, prepare
from wayword.learning.policy.sureal import SurealInputs, SurealPlan, SurealTraining
from wayword.learning.policy.train_control import ControlSources
from wayword.learning.policy.train_visitation import VisitationInputs, VisitationTraining
from wayword.policy.stage1 import SHIPPED
from wayword.shipped import DEFAULT_GROUNDER
from wayword.weight_folder import holds_weights, locate, shipped_names

PolicyPart = Literal["data", "visitation", "control", "sureal", "export"]
PARTS: tuple[PolicyPart, ...] = ("data", "visitation", "control", "sureal", "export")
TRAINING = "policy"
"""As train_config.json calls it."""


@dataclass(frozen=True)
class PolicyTraining:
    """Every setting of every part."""

    data: DataConfig = field(default_factory=DataConfig)
    visitation: VisitationTraining = field(default_factory=VisitationTraining)
    control: ControlTraining = field(default_factory=ControlTraining)
    plan: SurealPlan = field(default_factory=lambda: SurealPlan(minutes=40.0))
    """Of SuReAL."""
    grounder: str = DEFAULT_GROUNDER
    """Weights of the segmentation: shipped ones by name, or a folder."""
    start: str | None = None
    """Weights whose stage 1 to go on from, shipped ones by name or a folder; from nothing if None."""
    start_control: str | None = None
    """The same for stage 2."""

    @property
    def seed(self) -> int:
        """As given to ``with_seed``."""
        return self.data.seed

    @property
    def repeatable(self) -> bool:
        """Whether another run makes the same weights to the bit."""
        return self.visitation.repeatable and self.control.repeatable and self.plan.sync

    def with_seed(self, seed: int) -> PolicyTraining:
        """The same with this seed in every part."""
        data = replace(
            self.data, seed=seed, flights=replace(self.data.flights, seed=seed),
            readings=replace(self.data.readings, seed=seed),
        )  # fmt: skip
        visitation = replace(self.visitation, loop=replace(self.visitation.loop, seed=seed))
        control, plan = replace(self.control, seed=seed), replace(self.plan, seed=seed)
        return replace(self, data=data, visitation=visitation, control=control, plan=plan)

    def exact(self) -> PolicyTraining:
        """The same, but steps end each part and not minutes, and SuReAL's processes go in step."""
        visitation = replace(self.visitation, loop=replace(self.visitation.loop, minutes=NO_LIMIT))
        control = replace(self.control, minutes=NO_LIMIT)
        return replace(self, visitation=visitation, control=control, plan=replace(self.plan, sync=True))


@dataclass(frozen=True)
class PolicyInputs:
    """Weights that a run is given."""

    grounder: Path
    start: Path | None = None
    start_control: Path | None = None


def train_policy(
    config: PolicyTraining,
    run_folder: Path,
    out: Path,
    only: Sequence[PolicyPart] = PARTS,
    say: Callable[[str], None] = print,
    run_one: Callable[[TrainingStage], None] | None = None,
    workers: Workers = 2,
) -> TrainConfig:
    """Do the parts in ``only`` that are not done yet; the weights go to ``out``. Returns what the run folder says.

    Stages run in processes of their own, or as ``run_one`` runs them. ``workers`` make the data; if they are a
    cluster's, the other processes of stage 1 and SuReAL's actors run there too.
    """
    if "RANK" in os.environ and tuple(only) != ("visitation",):
        raise WaywordError("torchrun is for stage 1: name it with --only visitation, and do the other parts without it")
    starts = [None if name is None else _weights(name) for name in (config.start, config.start_control)]
    inputs = PolicyInputs(find_weights(config.grounder), *starts)
    record = claim(run_folder, TRAINING, config, inputs)
    variables = {RAY: workers.ray} if isinstance(workers, Crew) and workers.ray else None
    run_one = run_one or partial(run_stage, variables=variables)
    run = _Run(config, inputs, run_folder, out, record, run_one, workers)
    for part in only:
        say(part)
        getattr(run, part)()
    return record


@dataclass(frozen=True)
class _Run:
    """The parts, each a method of its name."""

    config: PolicyTraining
    inputs: PolicyInputs
    folder: Path
    out: Path
    record: TrainConfig
    run_one: Callable[[TrainingStage], None]
    workers: Workers

    def data(self) -> None:
        prepare(self.folder / "data", self.config.data, DataInputs(self.inputs.grounder), self.workers)

    def visitation(self) -> None:
        inputs = VisitationInputs(self.folder / "data", self.inputs.grounder, self.inputs.start)
        self.run_one(TrainingStage(train_visitation.train, self.folder / "visitation", self.config.visitation, inputs))

    def control(self) -> None:
        inputs = ControlSources(self.inputs.start_control)
        self.run_one(TrainingStage(train_control.train, self.folder / "control", self.config.control, inputs))

    def sureal(self) -> None:
        begun = (self.folder / "visitation", self.folder / "control")
        inputs = SurealInputs(self.folder / "data", self.inputs.grounder, *begun)
        config = SurealTraining(self.config.visitation, self.config.control, self.config.plan)
        self.run_one(TrainingStage(sureal.train, self.folder / "sureal", config, inputs))

    def export(self) -> None:
        first, joint = self.folder / "visitation", self.folder / "sureal"
        record = self.record
        if (self.folder / "data").exists():
            record = record.with_data(data=self.folder / "data")
        if (joint / "a" / "checkpoint.safetensors").exists():
            export_runs(first, joint / "a", joint / "b", self.out, record)
        else:
            note = "without SuReAL: both stages as they are before it"
            export_runs(first, first, self.folder / "control", self.out, replace(record, note=note))


def _weights(start: str) -> Path:
    folder = locate(start, SHIPPED)
    if not holds_weights(folder):
        known = ", ".join(shipped_names(SHIPPED))
        raise WaywordError(f"--start {start}: neither shipped weights ({known}) nor a folder with a config.json")
    return folder
