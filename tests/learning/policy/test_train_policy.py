"""The whole training of the policy in miniature: the same settings make the same weights, to the bit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.extra_torch import load_file, torch
from wayword.cli.launch import main
from wayword.cli.train_policy import PARTS as SHOWN_PARTS
from wayword.cli.train_policy import TrainPolicy
from wayword.errors import WaywordError
from wayword.grounding.weight_files import find_weights
from wayword.language.phrases_db import load_phrases
from wayword.learning.common.loop import NO_LIMIT, LoopConfig
from wayword.learning.common.stage_process import run_here
from wayword.learning.common.train_config import claim, read_options, read_train_config
from wayword.learning.common.typed_json import from_plain, to_plain
from wayword.learning.policy.control_run import ControlTraining
from wayword.learning.policy.dataset import SampleConfig
from wayword.learning.policy.prepare import DataConfig
from wayword.learning.policy.sizes import PAPER_SIZE, ControlSize, Size
from wayword.learning.policy.sureal import SurealPlan
from wayword.learning.policy.teacher import TeacherConfig
from wayword.learning.policy.train_policy import PARTS, PolicyInputs, PolicyTraining, train_policy
from wayword.learning.policy.train_visitation import VisitationTraining, load_items, natural_sources
from wayword.objects import Box, teach, view_pixels
from wayword.policy import FsPVN
from wayword.policy.control import PAPER
from wayword.policy.stage1 import SHIPPED
from wayword.shipped import DEFAULT_GROUNDER

MINIATURE = PolicyTraining(
    data=DataConfig(episodes=1, drills=2, natural=2, reworded=True, dev=2, photos=2),
    visitation=VisitationTraining(
        loop=LoopConfig(2, 1.0, log_every=1), size=Size(words=6, hidden=4, channels=8, filtered=4, last=8), examples=2,
        workers=1, check_every=2, sample=SampleConfig(moments=1),
    ),
    control=ControlTraining(
        size=ControlSize(2, 2, 4), teacher=TeacherConfig(horizon=4), iterations=2, cloning=1, flights=2, episodes=2,
        held_out=1, evaluate_every=2,
    ),
    plan=SurealPlan(iterations=1, flights=2, send_every=1),
).exact()  # fmt: skip


def fly_photos(folder: Path) -> None:
    """Photos of every seen object without a flight for them, which would take a minute: a pattern each."""
    rng = np.random.default_rng(0)
    for entry in load_phrases("seen"):
        images = rng.integers(0, 255, (2, 32, 32, 3)).astype(np.uint8)
        teach(
            folder, entry.name, [replace(view_pixels(i, Box(0, 0, 32, 32)), photo=None) for i in images], entry.phrases
        )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs from one file, with --seed 7; the parts run in this process."""
    folder = tmp_path_factory.mktemp("policy")
    for name in ("first", "second"):
        fly_photos(folder / name / "data" / "photos")
        config = MINIATURE if name == "first" else read_options(
            folder / "first" / "weights" / "train_config.json", "policy", PolicyTraining
        )  # fmt: skip
        train_policy(config.with_seed(7), folder / name, folder / name / "weights", run_one=run_here, workers=1)
    return folder


def test_the_same_settings_make_the_same_weights_to_the_bit(runs: Path) -> None:
    first, second = (runs / name / "weights" for name in ("first", "second"))
    for name in ("text.onnx", "visitation.onnx", "control.onnx", "control.json", "model.safetensors"):
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    for part in ("visitation", "control", "sureal/a", "sureal/b"):
        one, two = (load_file(runs / name / part / "checkpoint.safetensors") for name in ("first", "second"))
        assert one.keys() == two.keys()
        assert all(torch.equal(one[key], two[key]) for key in one)
    FsPVN.load(first)  # what came out flies


def test_what_is_reworded_is_flown_and_read_like_what_is_natural(runs: Path) -> None:
    data = runs / "first" / "data"
    natural, reworded = (load_items(source) for source in natural_sources(data))
    assert [item.example.episode.id for item in reworded] == ["train-000-reworded"] * 2
    assert [item.readings.whole.tokens for item in reworded] != [item.readings.whole.tokens for item in natural]


def test_both_stages_learn_together_with_an_actor(runs: Path, tmp_path: Path) -> None:
    """Learner A here, learner B and its actor in processes of their own, at their own pace."""
    for part in ("data", "visitation", "control"):
        (tmp_path / part).symlink_to(runs / "first" / part)
    plan = replace(MINIATURE.plan, sync=False, actors=1, iterations=2, minutes=10.0)
    config = replace(MINIATURE, plan=plan).with_seed(7)
    train_policy(config, tmp_path, tmp_path / "weights", ("sureal", "export"), run_one=run_here)
    assert sorted((tmp_path / "sureal" / "exchange").glob("executions-*.safetensors"))
    assert "lag" in (tmp_path / "sureal" / "b" / "log.csv").read_text()
    assert not read_train_config(tmp_path / "weights" / "train_config.json").repeatable


def test_settings_of_earlier_versions_are_read(runs: Path, tmp_path: Path) -> None:
    """What did not exist when a file was written, or a run begun, had what is now its default."""
    path = runs / "first" / "train_config.json"
    record = json.loads(path.read_text())
    for name in ("actors", "stale"):
        del record["options"]["plan"][name]
    del record["options"]["visitation"]["loop"]["device"]
    (tmp_path / "train_config.json").write_text(json.dumps(record))
    assert read_options(tmp_path / "train_config.json", "policy", PolicyTraining) == MINIATURE.with_seed(7)
    assert (
        claim(tmp_path, "policy", MINIATURE.with_seed(7), PolicyInputs(find_weights(DEFAULT_GROUNDER), None)).seed == 7
    )
    other = replace(MINIATURE, plan=replace(MINIATURE.plan, actors=3)).with_seed(7)
    with pytest.raises(WaywordError, match=r"plan\.actors 0, now 3"):
        claim(tmp_path, "policy", other, PolicyInputs(find_weights(DEFAULT_GROUNDER), None))


def test_weights_say_how_they_were_made(runs: Path) -> None:
    said = [read_train_config(runs / name / "weights" / "train_config.json") for name in ("first", "second")]
    assert said[0].seed == 7
    assert said[0].repeatable
    assert from_plain(PolicyTraining, said[0].options) == MINIATURE.with_seed(7)
    assert said[0].data.keys() == {"grounder", "data"}
    assert said[0].data["grounder"]["path"] is None  # ships with the package
    assert not said[1].other_data(said[0])  # the data was made again, and is the same
    joint = read_train_config(runs / "first" / "sureal" / "train_config.json")
    assert joint.started_from["stage1"]["train_config"]["options"] == said[0].options["visitation"]
    assert joint.started_from["stage2"]["train_config"]["seed"] == 7
    for part in ("data", "visitation", "control", "sureal", "sureal/a", "sureal/b"):
        assert (runs / "first" / part / "train_config.json").exists()


def test_another_seed_makes_other_weights(runs: Path, tmp_path: Path) -> None:
    other = MINIATURE.with_seed(8)
    (tmp_path / "data").symlink_to(runs / "first" / "data")
    train_policy(other, tmp_path, tmp_path / "weights", ("visitation", "control"), run_one=run_here)
    for part in ("visitation", "control"):
        one, two = (load_file(run / part / "checkpoint.safetensors") for run in (runs / "first", tmp_path))
        assert any(not torch.equal(one[key], two[key]) for key in one)
    seeds = json.dumps(to_plain(other)).count('"seed": 8')
    assert seeds == json.dumps(to_plain(other)).count('"seed"') == 6  # data, flights, readings, stage 1, 2, SuReAL


def test_a_run_folder_belongs_to_its_settings(runs: Path) -> None:
    for other, message in (
        (MINIATURE.with_seed(8), r"data.flights.seed 7, now 8"),
        (
            replace(MINIATURE.with_seed(7), plan=replace(MINIATURE.plan, seed=7, flights=3)),
            r"\(plan.flights 2, now 3\)",
        ),
        (replace(MINIATURE.with_seed(7), grounder="lab"), r"\(grounder real, now lab; data.grounder "),
    ):
        with pytest.raises(WaywordError, match=message) as caught:
            train_policy(other, runs / "first", runs / "first" / "weights", ())
        assert "\n" not in str(caught.value)


def test_all_settings_go_through_json() -> None:
    paper = replace(
        PolicyTraining(start="fspvn"), control=ControlTraining(inputs=PAPER, size=PAPER_SIZE),
        visitation=VisitationTraining(size=Size.paper()),
    )  # fmt: skip
    for config in (PolicyTraining(), MINIATURE, paper):
        assert from_plain(PolicyTraining, json.loads(json.dumps(to_plain(config)))) == config


def test_the_options_of_the_verb() -> None:
    assert SHOWN_PARTS == PARTS
    assert TrainPolicy(reworded=False).settings() == PolicyTraining()
    assert TrainPolicy().settings() == PolicyTraining(data=DataConfig(reworded=True))  # older settings did not know it
    made = TrainPolicy(
        seed=3, sync=True, size=Size(hidden=8), control_hidden=16, chunker="shipped", grounder="lab", method="bc"
    ).settings()
    assert made.seed == made.control.seed == made.plan.seed == made.visitation.seed == 3
    assert made.repeatable
    assert made.visitation.loop.minutes == made.control.minutes == NO_LIMIT
    assert (made.visitation.size.hidden, made.control.size.hidden, made.grounder) == (8, 16, "lab")
    assert not PolicyTraining().repeatable  # minutes end its parts


def test_a_file_of_settings_is_run_again_and_nothing_is_mixed_into_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["train", "policy", "--show", "--episodes", "9", "--words", "12", "--sync"])
    (tmp_path / "mine.json").write_text(capsys.readouterr().out)
    again = TrainPolicy(config=tmp_path / "mine.json", seed=5).settings()
    assert again == TrainPolicy(episodes=9, size=Size(words=12), sync=True, seed=5).settings()
    for options, message in (
        (["--episodes", "8"], "--episodes: --config has all settings"),
        (["--config", str(tmp_path / "none.json")], "none.json: is not there"),
    ):
        with pytest.raises(SystemExit):
            main(["train", "policy", "--config", str(tmp_path / "mine.json"), *options])
        assert message in capsys.readouterr().err
    with pytest.raises(WaywordError, match="--start nobody: neither shipped weights"):
        train_policy(PolicyTraining(start="nobody"), tmp_path / "run", tmp_path / "out", ())


def of_that_day(settings: Any, record: Any) -> Any:
    """Settings without those that did not exist when ``record`` was written."""
    if not (isinstance(settings, dict) and isinstance(record, dict)):
        return settings
    return {name: of_that_day(value, record[name]) for name, value in settings.items() if name in record}


@pytest.mark.parametrize(("name", "start"), [("fspvn", "fspvn_sim"), ("fspvn_sim", "clear"), ("clear", None)])
def test_the_shipped_weights_say_how_they_were_made(name: str, start: str | None) -> None:
    path = SHIPPED / name / "train_config.json"
    config = TrainPolicy(config=path).settings()  # `wayword train policy --config` takes it
    assert config.start == start
    said = read_train_config(path)
    if name == "fspvn":  # nothing is left to defaults: it is what such a run would write into its folder
        assert said.options == of_that_day(to_plain(config), said.options)
    assert not said.repeatable  # SuReAL's processes went at their own pace
    saved = json.loads((SHIPPED / name / "config.json").read_text())
    assert config.visitation.size == Size(**saved["size"])
    assert to_plain(config.control.size) == json.loads((SHIPPED / name / "control.json").read_text())["size"]
    before = said.started_from
    names = [name for name in (config.start, config.start_control) if name is not None]
    assert [each["train_config"] for each in before.values()] == [
        json.loads((SHIPPED / name / "train_config.json").read_text()) for name in names
    ]
