"""Run folders that belong to their settings, and digests that do not depend on when or where."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from wayword.errors import DataError, WaywordError
from wayword.learning.common.digests import digest_of
from wayword.learning.common.train_config import FILE, claim, describe, joined, read_options, read_train_config


@dataclass(frozen=True)
class Settings:
    steps: int = 3
    seed: int = 7
    repeatable: bool = True


@dataclass(frozen=True)
class Inputs:
    data: Path
    start: Path | None = None


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.txt").write_text("one")
    return folder


def test_a_folder_is_claimed_and_gone_on_with_under_the_same_settings(tmp_path: Path, data: Path) -> None:
    made = claim(tmp_path / "run", "thing", Settings(), Inputs(data))
    said = json.loads((tmp_path / "run" / FILE).read_text())
    assert said["schema"] == 1
    assert said["options"] == {"steps": 3, "seed": 7, "repeatable": True}
    assert said["seed"] == 7
    assert said["data"]["data"] == {"path": data.as_posix(), "digest": digest_of(data)}
    assert {"wayword", "python", "numpy"} <= said["versions"].keys()
    assert claim(tmp_path / "run", "thing", Settings(), Inputs(data)) == made
    assert read_options(tmp_path / "run" / FILE, "thing", Settings) == Settings()
    assert made.inputs() == {"data": data}


def test_other_settings_other_data_and_other_beginnings_are_refused_in_one_line(tmp_path: Path, data: Path) -> None:
    start = tmp_path / "start"
    start.mkdir()
    save_file({"w": np.zeros(2)}, start / "model.safetensors")
    run, inputs = tmp_path / "run", Inputs(data, start)
    claim(run, "thing", Settings(), inputs)
    with pytest.raises(WaywordError, match=r"other settings \(steps 3, now 4; seed 7, now 8\); go on with") as caught:
        claim(run, "thing", Settings(4, 8), inputs)
    assert "\n" not in str(caught.value)
    with pytest.raises(WaywordError, match="holds a run of thing, not of other"):
        claim(run, "other", Settings(), inputs)
    (data / "b.txt").write_text("two")
    with pytest.raises(WaywordError, match=r"\(data.data "):
        claim(run, "thing", Settings(), inputs)
    (data / "b.txt").unlink()
    save_file({"w": np.ones(2)}, start / "model.safetensors")
    with pytest.raises(WaywordError, match=r"\(started_from.start "):
        claim(run, "thing", Settings(), inputs)


def test_a_run_that_does_not_say_how_it_was_begun_is_not_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.safetensors").write_bytes(b"")
    with pytest.raises(WaywordError, match="does not say with which settings"):
        claim(tmp_path, "thing", Settings())


def test_the_chain_of_runs_is_kept(tmp_path: Path, data: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    claim(first, "thing", Settings(), Inputs(data))
    save_file({"w": np.zeros(2)}, first / "checkpoint.safetensors")
    made = claim(second, "thing", Settings(), Inputs(data, first))
    before = made.started_from["start"]
    assert before["digest"] == digest_of(first)
    assert before["train_config"]["options"]["steps"] == 3
    save_file({"w": np.ones(2)}, second / "checkpoint.safetensors")
    chain = joined("mean", one=first, two=second)
    assert chain.started_from["two"]["train_config"]["started_from"]["start"] == before
    assert (chain.seed, chain.repeatable) == (7, True)
    replace(made, repeatable=False).keep(second)
    assert not joined("mean", one=first, two=second).repeatable  # a chain is as repeatable as its weakest part


def test_digests_know_tensors_and_content_but_not_time_and_place(tmp_path: Path, data: Path) -> None:
    tensors = {"net.w": np.arange(3.0), "optimiser.0.step": np.ones(1)}
    runs = [tmp_path / name for name in "abc"]
    for number, run in enumerate(runs):
        run.mkdir()
        own = {**tensors, "optimiser.0.step": np.full(1, number)}
        save_file(own, run / "checkpoint.safetensors", {"seconds": str(number)})
    assert digest_of(runs[0]) == digest_of(runs[1])
    save_file({"net.w": np.arange(3.0) + 1}, runs[2] / "checkpoint.safetensors")
    assert digest_of(runs[2]) != digest_of(runs[0])
    (runs[1] / "config.json").write_text('{"threshold": 0.5, "about": {"minutes": 3}}')
    (runs[0] / "config.json").write_text('{"threshold": 0.5, "about": {"minutes": 4}}')
    assert digest_of(runs[0]) == digest_of(runs[1])
    (runs[0] / "config.json").write_text('{"threshold": 0.6}')
    assert digest_of(runs[0]) != digest_of(runs[1])
    before = digest_of(data)
    claim(data / "run among the data", "thing", Settings())
    (data / "flights.done").touch()
    assert digest_of(data) == before
    (data / "a.txt").rename(data / "b.txt")
    assert digest_of(data) != before


def test_damaged_and_foreign_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with pytest.raises(DataError, match="is not there"):
        read_train_config(path)
    for content, message in (("{", "is not valid JSON"), ("[]", "no JSON object"), ('{"schema": 1}', "is damaged"),
                             ('{"schema": 9}', "has schema 9")):  # fmt: skip
        path.write_text(content)
        with pytest.raises(DataError, match=message):
            read_train_config(path)
    describe("thing", Settings()).keep(tmp_path)
    with pytest.raises(DataError, match="is of `thing`, not of `policy`"):
        read_options(path, "policy", Settings)
    said = json.loads(path.read_text())
    said["options"]["stepps"] = 1
    path.write_text(json.dumps(said))
    with pytest.raises(DataError, match="stepps is no setting; did you mean steps"):
        read_options(path, "thing", Settings)
