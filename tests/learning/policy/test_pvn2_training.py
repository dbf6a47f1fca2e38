"""PVN2's whole training in miniature: the same settings make the same weights, to the bit, and these fly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from support.extra_torch import load_file, torch
from support.pvn2_weights import MINIATURE, write_data
from wayword.cli.launch import main
from wayword.cli.train_pvn2 import TrainPvn2
from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.runner import fly_examples
from wayword.learning.common.loop import NO_LIMIT
from wayword.learning.common.stage_process import run_here
from wayword.learning.common.train_config import read_options, read_train_config
from wayword.learning.common.typed_json import from_plain, to_plain
from wayword.learning.policy.pvn2_run import TRAINING, train_pvn2
from wayword.learning.policy.pvn2_train import Pvn2Inputs, Pvn2Training, load_pvn2_data
from wayword.learning.policy.sizes import ImageSize, Size
from wayword.pilot.episode_loop import RunConfig
from wayword.policy.pvn2 import PVN2_ALL, PVN2_SEEN
from wayword.sim.arena import ArenaConfig
from wayword.sim.models.catalogue import names
from wayword.sim.render.bank import MeshBank

ALL = replace(MINIATURE, objects="all")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, bank: MeshBank) -> Path:
    """Two runs of PVN2-ALL with seed 7, the second from the first one's file of settings."""
    folder = tmp_path_factory.mktemp("pvn2")
    write_data(folder / "data", bank)
    for name in ("first", "second"):
        config = ALL if name == "first" else read_options(
            folder / "first" / "weights" / "train_config.json", TRAINING, Pvn2Training
        )  # fmt: skip
        place = folder / name
        train_pvn2(config.with_seed(7), folder / "data", place, place / "weights", run_one=run_here, workers=1)
    return folder


def test_the_same_settings_make_the_same_weights_to_the_bit(runs: Path) -> None:
    first, second = (runs / name / "weights" for name in ("first", "second"))
    for name in ("text.onnx", "image.onnx", "visitation.onnx", "control.onnx", "control.json", "model.safetensors"):
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    one, two = (load_file(runs / name / "visitation" / "checkpoint.safetensors") for name in ("first", "second"))
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert any(key.startswith("extra.classes") for key in one)  # the auxiliary heads are trained on with the rest


def test_what_came_out_flies(runs: Path, dev_pairs: list[Example], bank: MeshBank) -> None:
    policy = PVN2_ALL.load(runs / "first" / "weights")
    run = RunConfig(arena=ArenaConfig(horizon=3))
    (flight,) = fly_examples(policy, dev_pairs[:1], bank, run, [None])
    assert len(flight.track) >= 3
    with pytest.raises(WaywordError, match="--objects all, which is not pvn2_seen"):
        PVN2_SEEN.load(runs / "first" / "weights")


def test_weights_say_how_they_were_made(runs: Path) -> None:
    config = read_train_config(runs / "first" / "weights" / "train_config.json")
    assert config.seed == 7
    assert config.repeatable
    assert from_plain(Pvn2Training, config.options) == ALL.with_seed(7)
    assert config.data.keys() == {"data", "others"}
    assert config.started_from.keys() == {"stage2"}
    log = (runs / "first" / "visitation" / "log.csv").read_text()
    for name in ("visit", "goal", "classes", "mentions", "words", "sparsity", "dev near"):
        assert f",{name}," in log, name


def test_seen_meets_the_seen_objects_alone(runs: Path) -> None:
    seen, everything = (
        load_pvn2_data(MINIATURE, Pvn2Inputs(runs / "data", others)) for others in (None, runs / "first" / "others")
    )
    assert set(seen.names) == set(names("seen"))
    assert len(everything.names) == 80
    for item in seen.samples.items:
        assert {thing.name for thing in item.example.objects} <= set(names("seen"))
        assert item.example.episode.split == "train"
    assert len(everything.samples.vocabulary) >= len(seen.samples.vocabulary)
    assert everything.weights.sum() == pytest.approx(1.0)
    others = [n for n, item in enumerate(everything.samples.items) if item.example.episode.split == "others"]
    assert everything.weights[others].sum() == pytest.approx(0.25)  # what there would be of drills is generated
    assert not {item.example.episode.split for item in everything.samples.items} & {"dev", "test"}


def test_mistakes_are_said_before_anything_is_done(runs: Path, tmp_path: Path) -> None:
    def refusal(config: Pvn2Training, data: Path, folder: Path) -> str:
        with pytest.raises(WaywordError) as caught:
            train_pvn2(config, data, folder, tmp_path / "out", run_one=run_here, workers=1)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "nowhere: holds no data to learn from" in refusal(ALL, tmp_path / "nowhere", tmp_path / "run")
    assert "--control nobody" in refusal(replace(ALL, control="nobody"), runs / "data", tmp_path / "run")
    assert "loop.seed 7, now 8" in refusal(ALL.with_seed(8), runs / "data", runs / "first")
    assert not (tmp_path / "out").exists()


def test_the_options_of_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert TrainPvn2().settings() == Pvn2Training()
    config = TrainPvn2("all", seed=3, sync=True, size=Size(hidden=8), image=ImageSize(blocks=2)).settings()
    assert config.seed == config.others.seed == config.others.flights.seed == 3
    assert config.loop.minutes == NO_LIMIT
    assert config.repeatable
    assert json.dumps(to_plain(config)).count('"seed": 3') == json.dumps(to_plain(config)).count('"seed"') == 3
    main(["train", "pvn2", "--show", "--objects", "all", "--features", "12"])
    (tmp_path / "mine.json").write_text(capsys.readouterr().out)
    again = TrainPvn2(config=tmp_path / "mine.json", seed=5).settings()
    assert again == TrainPvn2("all", image=ImageSize(features=12), seed=5).settings()
    for options, message in (
        (["--config", str(tmp_path / "mine.json"), "--steps", "8"], "--steps: --config has all settings"),
        (["--minutes", "0"], "--minutes 0.0: must be positive"),
        (["--encoded", "8"], "--encoded 8: PVN2 reads words by vectors of its own"),
    ):
        with pytest.raises(SystemExit):
            main(["train", "pvn2", *options])
        assert message in capsys.readouterr().err
