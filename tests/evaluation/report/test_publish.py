from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from wayword.errors import DataError, WaywordError
from wayword.evaluation import Figure, load_results, wilson
from wayword.evaluation.report.publish import render_benchmarks_md, render_results_md, summary_figures
from wayword.figures import publish
from wayword.intervals import Interval

SR = Figure(80.0, 49.0, 94.3, 10, "wayword evaluate --split test", "2026-11-15", "%")
EMD = Figure(0.314, 0.25, 0.38, 10, "wayword evaluate --split test", "2026-11-15", "m")
RENDER = Figure(2240.4, None, None, 5, "wayword bench render | tee log", "2026-11-14", "fps")


def test_publish_merges_sorts_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "docs" / "results.json"
    publish(path, {"natural.fspvn.sr": SR, "bench.render.fps": RENDER})
    newer = replace(SR, value=81.0, date="2026-11-16")
    publish(path, {"natural.fspvn.sr": newer, "natural.fspvn.emd": EMD})
    assert load_results(path) == {
        "bench.render.fps": RENDER,
        "natural.fspvn.emd": EMD,
        "natural.fspvn.sr": newer,
    }
    assert list(json.loads(path.read_text())) == ["bench.render.fps", "natural.fspvn.emd", "natural.fspvn.sr"]
    assert [child.name for child in path.parent.iterdir()] == ["results.json"]  # no temporary file stays


def test_a_corrupt_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"natural.fspvn.sr": ')
    with pytest.raises(DataError):
        publish(path, {"natural.fspvn.emd": EMD})
    assert path.read_text() == '{"natural.fspvn.sr": '


def test_figures_turn_fractions_into_percent() -> None:
    summary = {"sr": wilson(8, 10), "emd": Interval(0.3, 0.2, 0.4, 10)}
    result = summary_figures("natural.fspvn", summary, "wayword evaluate", "2026-11-15")
    assert result["natural.fspvn.sr"].value == 80.0
    assert result["natural.fspvn.sr"].high == pytest.approx(94.33, abs=0.01)
    assert result["natural.fspvn.sr"].unit == "%"
    assert result["natural.fspvn.emd"] == Figure(0.3, 0.2, 0.4, 10, "wayword evaluate", "2026-11-15", "m")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": float("nan")}, "value is nan"),
        ({"value": True}, "value is True"),
        ({"value": None}, "value is None"),
        ({"value": 10**400}, "must be a finite number"),
        ({"high": float("inf")}, "high is inf"),
        ({"low": None}, "both"),
        ({"value": 95.0}, r"outside its interval \[49.0, 94.3\]"),
        ({"n": 0}, "n is 0"),
        ({"n": 2.5}, "n is 2.5"),
        ({"command": "  "}, "command is"),
        ({"command": "two\nlines"}, "command is"),
        ({"date": "15.11.2026"}, "YYYY-MM-DD"),
        ({"date": "20261115"}, "YYYY-MM-DD"),
        ({"date": "2026-02-30"}, "YYYY-MM-DD"),
        ({"unit": "s"}, "convert the figure to ms"),
        ({"unit": ["%"]}, "unit is"),
        ({"value": 120.0, "high": 130.0}, "between 0 and 100"),
    ],
)
def test_bad_figures_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match=message):
        replace(SR, **change)
    # The same figure in a file is reported with the file and the key.
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"natural.fspvn.sr": {**asdict(SR), **change}}))
    with pytest.raises(DataError) as caught:
        load_results(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["sr", "natural..sr", "natural.s r", "bench", "natural.sr\n", ""])
def test_bad_keys_are_refused(key: str, tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match="bad key"):
        publish(tmp_path / "results.json", {key: SR})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n"a.b": {,}\n}', "results.json:2: not valid JSON"),
        ("[]", "holds a list"),
        ('{"a.b": 3}', "a.b: is a int"),
        ('{"a.b": {"value": 3}}', "missing or unknown fields: command, date, high, low, n, unit"),
        ('{"a.b": {}, "a.b": {}}', "'a.b' stands there twice"),
        ('{"a.b": {"value": NaN}}', "NaN found"),
        ("\udcff", "not UTF-8"),
    ],
)
def test_malformed_files_are_data_errors(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(DataError) as caught:
        load_results(path)
    assert message in str(caught.value)


def test_a_missing_file_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="publish a figure first"):
        load_results(tmp_path / "results.json")


def test_pages() -> None:
    results = {"natural.fspvn.sr": SR, "bench.render.fps": RENDER, "ablation.no-map.emd": EMD}
    page, benchmarks = render_results_md(results), render_benchmarks_md(results)
    row = "| `natural.fspvn.sr` | 80.0 % | [49.0, 94.3] | 10 | `wayword evaluate --split test` | 2026-11-15 |"
    assert row in page.splitlines()
    assert page.index("## ablation") < page.index("## natural")
    assert "bench" not in page
    # A bar inside the command must not end the cell; a figure without interval shows a dash.
    row = "| `bench.render.fps` | 2,240 fps | – | 5 | `wayword bench render \\| tee log` | 2026-11-14 |"
    assert row in benchmarks.splitlines()
    assert "natural.fspvn" not in benchmarks
    for text in (page, benchmarks):
        assert "`wayword results`" in text.split("##")[0]


def test_the_page_always_says_who_wrote_the_instructions() -> None:
    for results in ({}, {"main.fspvn.sr": SR}):
        assert "written by language-model annotators, not by people" in render_results_md(results)
    assert "No figures" in render_results_md({})
