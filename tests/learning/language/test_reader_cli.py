"""``wayword train reader`` at the command line: settings that are shown can be run again, and mistakes are one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from wayword.cli.launch import main
from wayword.cli.train_reader import TrainReader
from wayword.episodes.commands.corpus import DATA
from wayword.language.reader.network import load_network
from wayword.language.reader.reader import WEIGHTS
from wayword.learning.common.train_config import read_train_config
from wayword.learning.language.train_reader import TRAINING, ReaderTraining

VERB = ["train", "reader"]


def show(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    main([*VERB, "--show", *options])
    return capsys.readouterr().out


def refusal(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """What is said on stderr about options that are a mistake."""
    with pytest.raises(SystemExit) as stop:
        main([*VERB, *options])
    captured = capsys.readouterr()
    assert (stop.value.code, captured.out) == (2, "")
    assert "Traceback" not in captured.err
    return " ".join(captured.err.split())


def test_without_options_the_settings_are_those_of_the_training() -> None:
    assert TrainReader().settings() == ReaderTraining()


def test_settings_that_are_shown_are_taken_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = show(capsys, "--steps", "7", "--layers", "2", "--seed", "3", "--out", str(tmp_path / "out"))
    record = json.loads(first)
    assert record["training"] == TRAINING
    assert (record["options"]["loop"]["steps"], record["options"]["shape"]["layers"]) == (7, 2)
    path = tmp_path / "mine.json"
    path.write_text(first, encoding="utf-8")
    assert show(capsys, "--config", str(path)) == first
    assert TrainReader(config=path).settings() == TrainReader(steps=7, layers=2, seed=3).settings()
    assert not (tmp_path / "out").exists()  # nothing is trained


def test_a_seed_beside_a_file_of_settings_changes_the_seed_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(show(capsys, "--steps", "7", "--seed", "3"), encoding="utf-8")
    assert TrainReader(config=path).settings().seed == 3
    assert TrainReader(config=path, seed=5).settings() == TrainReader(steps=7, seed=5).settings()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps", "0"], "--steps 0: must be at least 1"),
        (["--layers", "5"], "--layers 5: from 1 to 4"),
        (["--layers", "0"], "--layers 0: from 1 to 4"),
        (["--seed", "-1"], "--seed -1: must be 0 or more"),
        (["--rate", "0"], "--rate 0.0: between 0 and 1"),
        (["--start-share", "1"], "start-share 1.0: at least 0 and less than 1"),
    ],
)
def test_settings_that_cannot_be(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in refusal(capsys, "--show", *options)


@pytest.mark.parametrize("option", ["steps", "layers"])
def test_nothing_is_mixed_into_a_file_of_settings(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(show(capsys), encoding="utf-8")
    message = refusal(capsys, "--show", "--config", str(path), f"--{option}", "3")
    assert f"--{option}: --config has all settings" in message


def test_files_that_hold_no_settings_of_the_reader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "none.json: is not there" in refusal(capsys, "--show", "--config", str(tmp_path / "none.json"))
    record = json.loads(show(capsys))
    path = tmp_path / "other.json"
    path.write_text(json.dumps(record | {"training": "language"}), encoding="utf-8")
    assert "is of `language`, not of `reader`" in refusal(capsys, "--show", "--config", str(path))


def test_two_steps_of_a_miniature(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(show(capsys, "--steps", "2", "--layers", "1", "--seed", "3"))
    record["options"]["shape"] |= {"width": 16, "heads": 2, "blocks": 1, "inner": 16}
    record["options"]["pool"] |= {"described": 0.0, "grammar": 0.5}
    record["options"]["batch"] = 1
    config = tmp_path / "miniature.json"
    config.write_text(json.dumps(record), encoding="utf-8")
    lines = (DATA / "train.jsonl").read_text(encoding="utf-8").splitlines()
    empty = next(line for line in lines if json.loads(line)["steps"] == [])
    commands = tmp_path / "commands.jsonl"
    commands.write_text("\n".join([*lines[:4], empty]) + "\n", encoding="utf-8")

    out = tmp_path / "out"
    given = ["--config", str(config), "--commands", str(commands)]
    main([*VERB, *given, "--out", str(out)])

    assert "weights in" in capsys.readouterr().out
    assert load_network(out / "reader").config.width == 16
    kept_record = read_train_config(out / "reader" / "train_config.json")
    assert kept_record.inputs()["commands"] == commands
    assert TrainReader(config=out / "reader" / "train_config.json").settings() == TrainReader(config=config).settings()

    # Another run goes on from there: its first weights are the last ones, and its file says so.
    further = tmp_path / "further"
    main([*VERB, *given, "--start", str(out / "reader"), "--out", str(further)])
    record_there = read_train_config(further / "reader" / "train_config.json")
    assert record_there.started_from["start"]["train_config"]["options"] == kept_record.options
    before, after, fresh = (load_network(each / "reader").weights for each in (out, further, _anew(tmp_path, given)))
    moved, apart = (np.abs(each["words.weight"] - before["words.weight"]).max() for each in (after, fresh))
    assert 0 < moved < 0.1 * apart
    again = ["--config", str(further / "reader" / "train_config.json"), "--out", str(tmp_path / "again")]
    capsys.readouterr()
    assert "went on from another reader; name its weights with --start" in refusal(capsys, *again)
    others = ["--start", str(WEIGHTS), "--out", str(tmp_path / "others")]
    assert "the reader there is of another shape" in refusal(capsys, *given, *others)
    missing = ["--start", str(tmp_path / "nowhere"), "--out", str(tmp_path / "others")]
    assert "the reader's weights are missing or damaged" in refusal(capsys, *given, *missing)
    assert not (tmp_path / "others").exists()  # nothing was begun


def _anew(tmp_path: Path, given: list[str]) -> Path:
    """The same miniature under another seed."""
    main([*VERB, *given, "--seed", "4", "--out", str(tmp_path / "anew")])
    return tmp_path / "anew"
