"""The mean of runs of stage 2."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.extra_torch import load_file
from wayword.errors import WaywordError
from wayword.learning.common.train_config import read_train_config
from wayword.learning.policy.control_run import ControlRun, ControlTraining
from wayword.learning.policy.mean_control import mean_control
from wayword.learning.policy.sizes import ControlSize
from wayword.policy.control import Control


def _run(folder: Path, seed: int, size: ControlSize | None = None) -> Path:
    training = ControlTraining(seed=seed)
    run = ControlRun(folder, replace(training, size=size) if size else training)
    run.save()
    run.export()
    return folder


def test_the_mean_lies_between_and_flies(tmp_path: Path) -> None:
    runs = [_run(tmp_path / str(seed), seed) for seed in (0, 1)]
    mean_control(runs, tmp_path / "mean")
    said = read_train_config(tmp_path / "mean" / "train_config.json")
    assert said.started_from.keys() == {"run0", "run1"}
    assert not said.repeatable  # of these runs nobody knows how they were made
    parts, mean = [load_file(run / "model.safetensors") for run in runs], load_file(tmp_path / "mean/model.safetensors")
    for name, value in mean.items():
        np.testing.assert_allclose(value, (parts[0][name] + parts[1][name]) / 2, rtol=1e-6)
    control = Control.load(tmp_path / "mean")
    own = [Control.load(run) for run in runs]
    shown = np.random.default_rng(0).normal(size=(3, control.config.size)).astype(np.float32)
    answers = [np.asarray(each._network(shown)[0]) for each in (control, *own)]
    assert not np.allclose(answers[0], answers[1])
    assert not np.allclose(answers[0], answers[2])


def test_what_has_no_mean_is_refused(tmp_path: Path) -> None:
    one = _run(tmp_path / "one", 0)
    with pytest.raises(WaywordError, match="at least two runs"):
        mean_control([one], tmp_path / "mean")
    narrow = ControlSize(channels=4, mask_channels=2, hidden=8)
    with pytest.raises(WaywordError, match="of another network"):
        mean_control([one, _run(tmp_path / "narrow", 0, narrow)], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
