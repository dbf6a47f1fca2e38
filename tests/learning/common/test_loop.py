"""The loop that trainings share: schedule, averaged weights, checkpoints and going on from them."""

from __future__ import annotations

import csv
import math
import threading
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest

from support.extra_torch import torch
from wayword.errors import DataError
from wayword.learning.common.loop import NO_LIMIT, LoopConfig, LoopSettings, Run, share_done

CONFIG = LoopConfig(steps=100, minutes=NO_LIMIT, log_every=10, save_every_s=1e9)
nn = torch.nn


def net(seed: int = 0) -> object:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))


def step(run: Run) -> float:
    x = torch.from_numpy(run.rng.standard_normal((8, 3))).float()
    loss = (run.net(x) - x.sum(1, keepdim=True)).square().mean()
    run.update(loss, {"x": float(x.mean())})
    return float(loss.detach())


def test_progress_is_the_share_of_steps_or_of_time_whichever_is_further() -> None:
    assert share_done(0.25, seconds=30.0, minutes=1.0) == 0.5
    assert share_done(0.75, seconds=30.0, minutes=1.0) == 0.75
    assert share_done(0.25, seconds=1e12, minutes=NO_LIMIT) == 0.25
    assert share_done(0.25, seconds=120.0, minutes=1.0) == 1.0


def test_only_runs_without_a_clock_can_be_repeated() -> None:
    assert CONFIG.repeatable
    assert not replace(CONFIG, minutes=5.0).repeatable


def test_the_rate_rises_and_falls_like_a_cosine(tmp_path: Path) -> None:
    run = Run(tmp_path, net(), CONFIG)
    rates = []
    for number in range(101):
        run.step = number
        rates.append(run._rate())
    full = CONFIG.learning_rate
    # The first steps are careful however short the run is.
    assert rates[0] == pytest.approx(full * 0.01, rel=0.01)
    assert rates[1] < rates[2] < rates[3] == full  # the warm-up is three of a hundred steps
    # Halfway between the end of the warm-up and the end of the run the cosine is at one half.
    halfway = 0.03 + 0.97 / 2
    run.step = round(100 * halfway)
    expected = full * (0.5 + 0.5 * math.cos(math.pi * (run.step / 100 - 0.03) / 0.97)) + 1e-6
    assert run._rate() == pytest.approx(expected)
    assert rates[100] == pytest.approx(1e-6)
    assert all(a >= b for a, b in pairwise(rates[20:]))


def test_averages_follow_the_weights_and_count_batches_exactly(tmp_path: Path) -> None:
    run = Run(tmp_path, net(), CONFIG)
    before = {name: value.clone() for name, value in run.averaged().items()}
    step(run)
    weights = run.net.state_dict()
    # After the first step the decay is 2 / 11: most of the new weights, little of the first ones.
    share = 1 - 2 / 11
    for name in ("0.weight", "2.bias"):
        expected = before[name] + share * (weights[name] - before[name])
        torch.testing.assert_close(run.averaged()[name], expected)
    assert int(run.averaged()["1.num_batches_tracked"]) == 1  # whole numbers are copied


def test_the_averaged_weights_answer_in_a_network_of_their_own(tmp_path: Path) -> None:
    run = Run(tmp_path, net(), CONFIG)
    step(run)
    other = run.averaged_in(net(seed=1))
    assert not other.training
    for name, value in other.state_dict().items():
        torch.testing.assert_close(value, run.averaged()[name])


def test_settings_with_one_loop_take_seed_and_repeatability_from_it() -> None:
    @dataclass(frozen=True)
    class Training(LoopSettings):
        loop: LoopConfig
        batch: int = 2

    assert Training(replace(CONFIG, seed=7)).seed == 7
    assert Training(CONFIG).repeatable
    assert not Training(replace(CONFIG, minutes=1.0)).repeatable


def test_a_run_ends_after_its_steps_or_when_it_is_asked_to(tmp_path: Path) -> None:
    stop = threading.Event()
    run = Run(tmp_path, net(), CONFIG, stop=stop)
    assert not run.finished
    run.step = 100
    assert run.finished
    run.step = 3
    stop.set()
    assert run.finished


def test_numbers_are_logged_as_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(tmp_path, net(), CONFIG)
    losses = [step(run) for _ in range(20)]
    rows = list(csv.DictReader((tmp_path / "log.csv").open()))
    logged = {int(row["step"]): float(row["value"]) for row in rows if row["name"] == "loss"}
    assert list(logged) == [10, 20]
    assert logged[20] == pytest.approx(sum(losses[10:]) / 10, rel=1e-3)
    assert {row["name"] for row in rows} == {"loss", "gradient", "x", "rate"}
    assert "step 20" in capsys.readouterr().out


def test_a_killed_run_goes_on_to_the_bit(tmp_path: Path) -> None:
    whole = Run(tmp_path / "whole", net(), CONFIG)
    for _ in range(12):
        step(whole)
    first = Run(tmp_path / "cut", net(), CONFIG)
    for _ in range(5):
        step(first)
    first.about["frames"] = 40.0
    first.save()
    second = Run(tmp_path / "cut", net(seed=9), CONFIG)  # whatever the network was made with
    assert second.step == 5
    assert second.about == {"frames": 40.0}
    for _ in range(7):
        step(second)
    for name, value in whole.net.state_dict().items():
        assert torch.equal(value, second.net.state_dict()[name]), name
        assert torch.equal(whole.averaged()[name], second.averaged()[name]), name
    assert whole.rng.random() == second.rng.random()


def test_a_second_network_is_trained_and_kept_beside_the_first(tmp_path: Path) -> None:
    def pair() -> tuple[object, object]:
        torch.manual_seed(0)
        return nn.Linear(2, 2), nn.Linear(2, 1)

    main, extra = pair()
    run = Run(tmp_path, main, CONFIG, extra)
    run.update(extra(main(torch.ones(1, 2))).sum(), {})  # type: ignore[operator]
    run.save()
    again = pair()
    Run(tmp_path, again[0], CONFIG, again[1])
    for old, new in zip((main, extra), again, strict=True):
        for name, value in old.state_dict().items():  # type: ignore[attr-defined]
            assert torch.equal(value, new.state_dict()[name])  # type: ignore[attr-defined]


def test_a_loss_that_is_no_number_ends_the_run_before_it_spoils_the_weights(tmp_path: Path) -> None:
    run = Run(tmp_path, net(), CONFIG)
    before = {name: value.clone() for name, value in run.net.state_dict().items()}
    with pytest.raises(RuntimeError, match="the loss is nan at step 0; resume with a lower learning rate"):
        run.update(run.net(torch.full((4, 3), math.nan)).sum(), {})
    assert torch.equal(before["0.weight"], run.net.state_dict()["0.weight"])


def test_large_gradients_are_cut(tmp_path: Path) -> None:
    run = Run(tmp_path, nn.Linear(1, 1, bias=False), replace(CONFIG, weight_decay=0.0))
    run.optimiser.zero_grad()
    loss = 1e6 * run.net(torch.ones(1, 1)).sum()
    loss.backward()
    run.apply(loss, {})
    assert float(run.net.weight.grad.norm()) == pytest.approx(5.0, rel=1e-4)


@pytest.mark.parametrize("damage", ["empty", "text", "other"])
def test_a_checkpoint_of_something_else_is_one_line(tmp_path: Path, damage: str) -> None:
    if damage == "other":
        Run(tmp_path, nn.Linear(7, 7), CONFIG).save()
    else:
        (tmp_path / "checkpoint.safetensors").write_bytes(b"" if damage == "empty" else b"not tensors at all" * 9)
    with pytest.raises(DataError, match=r"damaged.*; delete the folder to start anew"):
        Run(tmp_path, net(), CONFIG)
