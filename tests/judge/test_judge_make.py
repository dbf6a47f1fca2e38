from __future__ import annotations

import json
from pathlib import Path

import pytest

from wayword.cli.launch import main
from wayword.judge.study import Study


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two policies on the same three dev examples."""
    folder = tmp_path_factory.mktemp("results")
    for policy in ("stop", "average"):
        main(["eval", "--policy", policy, "--split", "dev", "--limit", "3", "--out", str(folder / f"{policy}.json")])
    return [str(folder / f"{policy}.json") for policy in ("stop", "average")]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as exit_:
        main(["judge", *arguments])
    assert exit_.value.code == 2
    said = capsys.readouterr().err.strip()
    assert len(said.splitlines()) == 1
    return said


def test_from_results_to_pages(results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "study"
    words = ["--raters", "2", "--examples", "2", "--checks", "1", "--consent", "Yes, <i>gladly</i>."]
    main(["judge", "make", *results, "--out", str(out), *words])
    said = capsys.readouterr()
    study = Study.load(out)
    assert study.systems == ["average", "stop"]
    assert [Path(line).stem for line in said.out.split()] == list(study.sheets)
    assert "2 instructions x 2 systems; 2 raters judge 5 flights each, 1 of them checks" in said.err
    for code in study.sheets:
        page = (out / "pages" / f"{code}.html").read_text(encoding="utf-8")
        assert "Yes, \\u003ci>gladly" in page
        assert "average" not in page


def test_the_same_seed_makes_the_same_study(results: list[str], tmp_path: Path) -> None:
    words = ["--raters", "1", "--examples", "1", "--checks", "0"]
    for name, seed in (("a", ["--seed", "3"]), ("b", ["--seed", "3"]), ("c", []), ("d", [])):
        main(["judge", "make", *results, "--out", str(tmp_path / name), *words, *seed])
    studies = {name: Study.load(tmp_path / name) for name in "abcd"}
    assert studies["a"] == studies["b"]
    assert len({studies[name].id for name in "acd"}) == 3


def test_mistakes_are_said_in_one_line(results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "study")]
    assert "cannot be read" in refused(capsys, "make", str(tmp_path / "none.json"), *out)
    assert "stop flew" in refused(capsys, "make", results[0], results[0], *out)
    assert "there are average, stop" in refused(capsys, "make", *results, *out, "--systems", "fspvn")
    assert "1 to 3" in refused(capsys, "make", *results, *out, "--examples", "4")
    assert "--raters 0" in refused(capsys, "make", *results, *out, "--raters", "0")
    assert "--per-rater 0" in refused(capsys, "make", *results, *out, "--per-rater", "0")
    assert "--consent" in refused(capsys, "make", *results, *out, "--consent", " ")
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({**json.loads(Path(results[0]).read_text()), "segments": "two"}))
    assert "broken.json" in refused(capsys, "make", str(broken), *out)
    assert not (tmp_path / "study").exists()
    assert "key.json" in refused(capsys, "serve", str(tmp_path))
    assert "key.json" in refused(capsys, "report", str(tmp_path))
