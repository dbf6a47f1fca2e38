"""Stages in processes: typed settings arrive, mistakes come back in the same words, queues wait for each other."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

import support.extra_torch  # noqa: F401 - what follows needs it
from wayword.errors import WaywordError
from wayword.learning.common import stage_process
from wayword.learning.common.loop import NO_LIMIT
from wayword.learning.common.stage_process import TrainingStage, run_stage, run_stages
from wayword.learning.common.train_config import read_options
from wayword.learning.policy import train_control
from wayword.learning.policy.control_run import ControlTraining
from wayword.learning.policy.sizes import ControlSize
from wayword.learning.policy.teacher import TeacherConfig

QUICK = ControlTraining(
    method="bc", size=ControlSize(2, 2, 4), teacher=TeacherConfig(horizon=2), iterations=1, flights=1, episodes=1,
    held_out=1, minutes=NO_LIMIT, seed=3,
)  # fmt: skip


@dataclass(frozen=True)
class Pace:
    steps: int = 1


def noted(folder: Path, config: Pace, inputs: Pace, stop: threading.Event | None = None) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "said").write_text(f"{config.steps} {inputs.steps}")


def test_a_stage_in_this_process_is_told_the_same(tmp_path: Path) -> None:
    stage_process.run_here(TrainingStage(noted, tmp_path / "run", Pace(3), Pace(4)))
    assert (tmp_path / "run" / "said").read_text() == "3 4"


def test_a_stage_trains_in_its_process_and_a_mistake_comes_back(tmp_path: Path) -> None:
    stage = TrainingStage(train_control.train, tmp_path / "control", QUICK)
    run_stage(stage)
    assert (tmp_path / "control" / "control.onnx").exists()
    assert read_options(tmp_path / "control" / "train_config.json", "policy/control", ControlTraining) == QUICK
    other = TrainingStage(train_control.train, tmp_path / "control", ControlTraining(seed=4))
    with pytest.raises(WaywordError, match=r"control: was begun with other settings \(method bc, now ppo"):
        run_stages([[other, stage]])


def test_a_stage_that_fails_ends_the_others_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fake:
        """A process that ends after a few looks at it."""

        def __init__(self, looks: int, code: int) -> None:
            self.looks, self.code, self.returncode, self.ended = looks, code, None, False

        def poll(self) -> int | None:
            self.looks -= 1
            self.returncode = self.code if self.looks <= 0 else None
            return self.returncode

        def terminate(self) -> None:
            self.ended = True

        def wait(self) -> None:
            pass

    fakes = {"metric": Fake(99, 0), "proposals": Fake(2, 0), "refine": Fake(1, 3)}
    begun: list[str] = []

    def start(stage: TrainingStage, answer: Path, variables: object = None) -> Fake:
        begun.append(stage.folder.name)
        return fakes[stage.folder.name]

    monkeypatch.setattr(stage_process, "start_stage", start)
    stages = {name: TrainingStage(noted, tmp_path / name, Pace()) for name in fakes}
    queues = [[stages["metric"]], [stages["proposals"], stages["refine"]]]
    with pytest.raises(WaywordError, match=r"refine stopped with code 3.*Run the same command again") as caught:
        run_stages(queues)
    assert "\n" not in str(caught.value)
    assert begun == ["metric", "proposals", "refine"]
    assert fakes["metric"].ended
    assert not fakes["proposals"].ended


def test_a_training_ends_with_the_command_that_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    parents = iter([os.getppid(), 1])
    monkeypatch.setattr(stage_process.os, "getppid", lambda: next(parents, 1))
    monkeypatch.setattr(stop, "wait", lambda _: stop.is_set())
    stage_process._watch(os.getppid(), stop)  # returns once the parent is another
    assert stop.is_set()
