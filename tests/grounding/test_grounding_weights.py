"""From trainings to weights: the loop, exported networks, assembling a folder, the command that does it all."""

from __future__ import annotations

import json
import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.extra_torch import torch
from wayword.errors import DataError, WaywordError
from wayword.grounding import DensityConfig, Grounder, GroundingConfig, ProposalConfig
from wayword.grounding.backend import OnnxNetwork
from wayword.grounding.weight_files import find_weights, read_grounding_config
from wayword.learning.common.loop import LoopConfig, Run
from wayword.learning.grounding import assemble as assembling
from wayword.learning.grounding.assemble import assemble
from wayword.learning.grounding.export import Nets, load_nets, save_weights
from wayword.learning.grounding.networks import MetricNet, ProposalNet, RefineNet
from wayword.learning.grounding.sizes import MetricSize, ProposalSize, RefineSize, Sizes

SMALL = Sizes(ProposalSize((4, 4, 4, 4, 4)), MetricSize(dimension=4), RefineSize())
CONFIG = GroundingConfig(ProposalConfig(slope=1.5), DensityConfig(0.03, 0.02), 4, 0.4)


def tiny_nets(seed: int = 0) -> Nets:
    torch.manual_seed(seed)
    nets = Nets(ProposalNet(SMALL.proposals), MetricNet(SMALL.metric), RefineNet(SMALL.refine))
    for net in nets.items().values():
        net.eval()
    return nets


# The loop ---------------------------------------------------------------------------------------------------


def run_in(folder: Path, **settings: Any) -> Run:
    torch.manual_seed(0)
    values = {"steps": 100, "minutes": 1e9, "log_every": 1000, "learning_rate": 0.1, "warm_up": 0.1, **settings}
    return Run(folder, torch.nn.Linear(1, 1), LoopConfig(**values))


def step(run: Run) -> None:
    run.update(run.net(torch.ones(2, 1)).square().mean(), {})


def test_the_rate_rises_and_falls_with_the_progress(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    # Step 0: a fifth of a twentieth of the peak. At half of the way, (0.5 - 0.1) / 0.9 of the cosine has passed.
    assert run._rate() == pytest.approx(0.1 * 0.01)
    run.step = 50
    assert run._rate() == pytest.approx(0.1 * (0.5 + 0.5 * math.cos(math.pi * 0.4 / 0.9)), rel=1e-3)
    run.step = 100
    assert run._rate() == pytest.approx(1e-6, rel=1e-2)
    assert run.finished


def test_time_ends_a_run_as_steps_do(tmp_path: Path) -> None:
    run = run_in(tmp_path, minutes=2.0)
    assert run.progress < 0.01
    run._spent = 60.0  # one of two minutes
    assert run.progress == pytest.approx(0.5, abs=0.01)
    run._spent = 121.0
    assert run.finished
    stop = threading.Event()
    asked = Run(tmp_path / "other", torch.nn.Linear(1, 1), LoopConfig(steps=9, minutes=1), stop=stop)
    assert not asked.finished
    stop.set()
    assert asked.finished


def test_averaged_weights_by_hand(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    before = run.net.weight.item()
    step(run)
    after = run.net.weight.item()
    # After the first step the decay is (1 + 1) / (10 + 1): 9/11 of the new weight.
    assert run.averaged()["weight"].item() == pytest.approx(before + 9 / 11 * (after - before), rel=1e-5)


def test_a_loss_that_is_no_number_stops_the_run(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    step(run)
    kept = run.net.weight.item()
    with pytest.raises(RuntimeError, match="the loss is nan at step 1"):
        run.update(run.net(torch.ones(1, 1)).sum() * torch.tensor(float("nan")), {})
    assert run.net.weight.item() == kept


def test_the_log_has_a_row_per_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_in(tmp_path, log_every=2)
    for _ in range(4):
        step(run)
    rows = [line.split(",") for line in (tmp_path / "log.csv").read_text().splitlines()]
    assert rows[0] == ["step", "minutes", "name", "value"]
    assert [(row[0], row[2]) for row in rows[1:]] == [
        (number, name) for number in ("2", "4") for name in ("loss", "gradient", "rate")
    ]
    assert "step 4" in capsys.readouterr().out


# Files ------------------------------------------------------------------------------------------------------


def test_exported_networks_answer_as_the_trained_ones(tmp_path: Path) -> None:
    nets = tiny_nets()
    sizes = (SMALL.proposals, SMALL.metric, SMALL.refine)
    save_weights(tmp_path, nets, sizes, CONFIG, {"why": "a test"})
    config, raw = read_grounding_config(tmp_path)
    assert config == CONFIG
    assert raw["about"] == {"why": "a test"}
    loaded, found = load_nets(tmp_path)
    assert found == sizes
    inputs = {"proposals": (2, 3, 72, 128), "metric": (3, 3, 32, 32), "refine": (1, 3, 32, 32)}
    for name, shape in inputs.items():
        x = torch.rand(shape) * 2 - 1
        with torch.no_grad():
            wanted, again = nets.items()[name](x), loaded.items()[name](x)
        wanted, again = ((v,) if isinstance(v, torch.Tensor) else v for v in (wanted, again))
        got = OnnxNetwork(tmp_path / f"{name}.onnx", raw["sha256"][f"{name}.onnx"])(x.numpy())
        for ours, theirs, stored in zip(got, wanted, again, strict=True):
            np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-3, atol=1e-4)
            torch.testing.assert_close(stored, theirs)
    grounder = Grounder.load(tmp_path)
    assert grounder.embed_database({"a": np.zeros((2, 32, 32, 3), np.uint8)}).vectors.shape == (2, 4)
    # Another file than the one that was hashed is refused, and so is a list of networks that misses one.
    (tmp_path / "metric.onnx").write_bytes((tmp_path / "refine.onnx").read_bytes())
    with pytest.raises(DataError, match="is not the file its config"):
        Grounder.load(tmp_path)
    del raw["sha256"]["metric.onnx"]
    (tmp_path / "config.json").write_text(json.dumps(raw))
    with pytest.raises(DataError, match="does not list its networks"):
        Grounder.load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"half a file")
    with pytest.raises(DataError, match="is missing or damaged"):
        load_nets(tmp_path)


def test_unknown_weights_name_the_known_ones() -> None:
    with pytest.raises(WaywordError, match=r"neither shipped grounding weights \(.*sim"):
        find_weights("../sim")


def save_runs(folder: Path) -> None:
    for name, net in tiny_nets(1).items().items():
        run = Run(folder / name, net, LoopConfig(steps=10, minutes=1))
        run.about = {"frames": 12.0}
        run.step = 7
        run.save()


def test_assembling_takes_averaged_weights_and_says_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_runs(tmp_path / "run")
    (tmp_path / "manifest.json").write_text(json.dumps({"version": "9", "seed": 3, "config": {}, "objects": [1]}))

    def no_fit(grounder: Grounder, shards: Path, seed: int) -> tuple[GroundingConfig, dict[str, float]]:
        assert grounder.config.dimension == 4  # the networks of the run, not yet fitted
        assert not (tmp_path / "out").exists()  # nothing unfitted is left where weights are looked for
        return CONFIG, {"boxes": 5}

    monkeypatch.setattr(assembling, "fit", no_fit)
    about = assemble(tmp_path, tmp_path / "run", tmp_path / "out", SMALL)
    assert about["trained_on"] == {"version": "9", "seed": 3, "config": {}}
    assert about["proposals"] == {"steps": 7, "minutes": 0.0, "frames": 12.0}
    assert about["fitted_on"] == {"boxes": 5}
    assert Grounder.load(tmp_path / "out").config == CONFIG
    (tmp_path / "run" / "metric" / "checkpoint.safetensors").unlink()
    with pytest.raises(DataError, match="train this network first"):
        assemble(tmp_path, tmp_path / "run", tmp_path / "out", SMALL)
