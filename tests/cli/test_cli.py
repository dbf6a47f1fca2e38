from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from wayword import __version__
from wayword.cli.launch import main
from wayword.cli.results import render_pages
from wayword.episodes import load_episodes, load_natural, write_episodes
from wayword.pictures.video import read_video_info

ROOT = Path(__file__).parents[2]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must fail, and return its one line."""
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_eval_prints_a_table_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results.json"
    main(["eval", "--policy", "oracle", "--split", "test", "--instructions", "natural", "--segments", "2",
          "--limit", "6", "--out", str(out)])  # fmt: skip
    report = json.loads(out.read_text())
    assert (report["policy"], report["split"], report["n"], report["seeds"]) == ("oracle", "test", 6, [0])
    assert report["privileged"] is True
    assert set(report["metrics"]) >= {"sr", "emd", "osr", "ne", "spl", "ndtw", "sdtw", "collisions"}
    for interval in report["metrics"].values():
        assert interval["low"] <= interval["mean"] <= interval["high"]
    assert report["metrics"]["sr"]["mean"] == 1.0
    assert len(report["flights"]) == 6
    assert report["configuration"]["arena"]["vehicle"]["model"] == "lag"
    assert "wayword" in report["versions"]
    assert "SR" in capsys.readouterr().out


def test_the_same_command_gives_the_same_numbers(tmp_path: Path) -> None:
    reports = []
    for name, batch in (("a", "4"), ("b", "1")):
        out = tmp_path / f"{name}.json"
        main(["eval", "--policy", "average", "--split", "dev", "--limit", "4", "--random-looks", "--seed", "5",
              "--batch", batch, "--out", str(out)])  # fmt: skip
        reports.append(json.loads(out.read_text()))
    assert reports[0]["metrics"] == reports[1]["metrics"]
    assert reports[0]["flights"] == reports[1]["flights"]


def test_eval_on_an_outsiders_world(tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "garden_gnome.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.3 0.3 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    )
    episode = load_natural("dev")[0].to_json()
    episode["objects"][0]["name"] = "garden gnome"
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(episode) + "\n")
    out = tmp_path / "r.json"
    main(["eval", "--episodes", str(file), "--objects", str(pack), "--segments", "1", "--out", str(out)])
    report = json.loads(out.read_text())
    assert report["n"] == len(episode["segments"])
    assert report["split"] is None


def test_fly_writes_a_video_and_a_trace_and_prints_the_path_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "flight.mp4"
    main(["fly", "--policy", "oracle", "--segments", "1", "--out", str(out), "--seed", "3"])
    info = read_video_info(out)
    assert (info.width, info.height) == (1280, 720)
    trace = json.loads(out.with_suffix(".json").read_text())
    assert info.frames == 1 + 5 * (len(trace["decisions"]) - 1) + 20
    assert trace["metrics"]["sr"] is True
    assert trace["decisions"][-1]["stop"] is True
    assert np.linalg.norm(np.array(trace["flown"][-1]) - trace["demonstration"][-1]) < 0.47
    assert "".join(capsys.readouterr().out.split()).endswith(str(out))


def test_world_draws_layouts_and_demonstrations(tmp_path: Path) -> None:
    main(["world", "layout", "--split", "dev", "--seed", "1", "--out", str(tmp_path / "layout.png")])
    assert Image.open(tmp_path / "layout.png").size[0] >= 500
    main(["world", "demos", "--count", "3", "--out", str(tmp_path / "demos.jsonl")])
    assert len(load_episodes(tmp_path / "demos.jsonl")) == 3
    assert Image.open(tmp_path / "demos.png").size[0] > 1000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e["objects"][0].update(name="griffin"), "griffin"),
        (lambda e: e["path"].__setitem__(3, [float("nan"), 1.0]), "line 2|mine.jsonl:2"),
        (lambda e: e["segments"][0].update(end=100000), "end"),
        (lambda e: e["segments"][0].update(instruction="  "), "instruction"),
        (lambda e: e.pop("start"), "start"),
    ],
)
def test_bad_episodes_name_the_file_and_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: object, message: str
) -> None:
    import re

    good, bad = (episode.to_json() for episode in load_natural("dev")[:2])
    change(bad)  # type: ignore[operator]
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(good) + "\n" + json.dumps(bad) + "\n")
    line = refused(capsys, "eval", "--episodes", str(file), "--out", str(tmp_path / "r.json"))
    assert "mine.jsonl:2" in line
    assert re.search(message, line)
    assert not (tmp_path / "r.json").exists()


def test_other_bad_input_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such file" in refused(capsys, "eval", "--episodes", str(tmp_path / "none.jsonl"))
    (tmp_path / "pack").mkdir()
    write_episodes(tmp_path / "e.jsonl", load_natural("dev")[:1])
    assert "pack" in refused(
        capsys, "eval", "--episodes", str(tmp_path / "e.jsonl"), "--objects", str(tmp_path / "pack")
    )
    assert "dev-9" in refused(capsys, "fly", "--example", "dev-9/9-9")
    assert ".mp4" in refused(capsys, "fly", "--out", str(tmp_path / "flight.doc"))
    assert "--limit 0" in refused(capsys, "eval", "--limit", "0")
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert "cannot be written" in refused(capsys, "eval", "--limit", "1", "--out", str(blocked / "r.json"))


def test_hostile_names_and_numbers_are_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def with_change(**changes: object) -> str:
        file = tmp_path / "mine.jsonl"
        file.write_text(json.dumps({**load_natural("dev")[0].to_json(), **changes}) + "\n")
        return str(file)

    assert "-1" in refused(capsys, "eval", "--seed", "-1")
    assert "ordinary file" in refused(capsys, "eval", "--limit", "1", "--out", str(tmp_path))
    assert "arena_m" in refused(capsys, "eval", "--episodes", with_change(arena_m=1e9))
    assert "control characters" in refused(capsys, "eval", "--episodes", with_change(id="a\n\x1b[31mb"))
    assert "points" in refused(capsys, "eval", "--episodes", with_change(path=[[1.0, 1.0]] * 6000))
    same = str(tmp_path / "same.png")
    assert "same file" in refused(capsys, "fly", "--out", same, "--trace", same)
    assert ".jsonl" in refused(capsys, "world", "demos", "--out", str(tmp_path / "demos.png"))
    main(["fly", "--episodes", with_change(id="[/foo]"), "--segments", "1", "--out", str(tmp_path / "f.png")])
    assert "[/foo]" in capsys.readouterr().out


def test_only_whole_splits_are_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "whole splits" in refused(capsys, "eval", "--limit", "2", "--publish")
    assert "whole splits" in refused(capsys, "eval", "--vehicle", "rigid", "--publish")
    monkeypatch.chdir(tmp_path)
    assert "clone" in refused(capsys, "eval", "--publish")
    assert not (tmp_path / "docs").exists()


def test_ctrl_c_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wayword.evaluation.runner.fly_examples", interrupted)
    with pytest.raises(SystemExit) as stop:
        main(["eval", "--limit", "1"])
    assert stop.value.code == 130
    assert capsys.readouterr().err.strip().splitlines() == ["wayword: stopped; nothing half-written was left"]


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -c 'from wayword.cli.launch import main; main()' --help | head -c 0"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("module", ["wayword", "wayword.cli.launch"])
def test_it_runs_as_a_module_too(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"wayword {__version__}\n", "")


def test_help_needs_no_heavy_imports() -> None:
    code = "import sys; import wayword.cli.main; print([m for m in ('numba', 'torch', 'av', 'ot') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_published_pages_are_made_from_results_json(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text((ROOT / "docs" / "results.json").read_text())
    render_pages(tmp_path)
    for page in ("results.md", "benchmarks.md"):
        assert (tmp_path / page).read_text() == (ROOT / "docs" / page).read_text(), f"run `wayword results` for {page}"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["flyy", "stop"], "there is no wayword 'flyy'; did you mean: wayword fly"),
        (["eval", "tabel"], "there is no wayword eval 'tabel'; did you mean: wayword eval table"),
        (["flight", "rehears"], "there is no wayword flight 'rehears'; did you mean: wayword flight rehearse"),
        (["stop", "at", "it"], "there is no wayword 'stop'; to fly a sentence: wayword fly \"stop at it\""),
        (["stop at it"], "there is no wayword 'stop at it'; to fly a sentence: wayword fly \"stop at it\""),
        (["objects", "x"], "there is no wayword objects 'x'; there is list, "),
    ],
)
def test_a_verb_that_there_is_not_is_one_line_with_a_way_out(
    words: list[str], answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(words)
    said = capsys.readouterr().err
    assert (stop.value.code, said.count("\n")) == (2, 1)
    assert said.startswith(f"wayword: {answer}")
