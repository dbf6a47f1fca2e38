"""The language report: its figures, their intervals, and the optional comparison with spaCy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import support.extra_torch  # noqa: F401 - what follows needs it
from wayword.cli.launch import main
from wayword.cli.train import LanguageReport
from wayword.errors import DataError
from wayword.evaluation.summary import format_number
from wayword.intervals import Interval, wilson
from wayword.learning.language.gold_references import GOLD_FOLDER
from wayword.learning.language.matches import Matches
from wayword.learning.language.measured import Measured, f1_figures, rate
from wayword.learning.language.report import Sources, language_report
from wayword.learning.language.score_spelling import read_typos

DATA = GOLD_FOLDER


FEW = 8


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gold folder with the first sentences of each file."""
    folder = tmp_path_factory.mktemp("gold")
    for name in ("nav_chunks.jsonl", "nav_objrefs.jsonl", "nav_train_objrefs.jsonl", "typos.jsonl"):
        lines = (DATA / name).read_text(encoding="utf-8").splitlines()
        (folder / name).write_text("\n".join(lines[:FEW]) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def no_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)  # what Python does with a package that is not there


def test_f1_figures_by_hand() -> None:
    # 3 right of 4 said and 5 wanted in 2 sentences: F1 6/9, precision 3/4, recall 3/5.
    report = f1_figures("language.x", Matches.of([(2, 2, 3), (1, 2, 2)]))
    assert {key: measured.interval.mean for key, measured in report.items()} == pytest.approx(
        {"language.x.f1": 6 / 9, "language.x.precision": 3 / 4, "language.x.recall": 3 / 5}
    )
    assert [measured.interval.n for measured in report.values()] == [2, 4, 5]
    # F1 of two draws: the first sentence twice 4/5, the second twice 2/4.
    f1 = report["language.x.f1"].interval
    assert (f1.low, f1.high) == pytest.approx((0.5, 0.8))


def test_a_silent_system_has_no_precision() -> None:
    report = f1_figures("language.x", Matches.of([(0, 0, 2)]), "_other")
    assert set(report) == {"language.x.f1_other", "language.x.recall_other"}


def test_a_note_stands_behind_the_command() -> None:
    figure = Measured(Interval(0.9, 0.8, 1.0, 7), note="spaCy 3.8.0, en_x 1.0").figure("wayword x", "2026-01-31")
    assert figure.command == "wayword x  # spaCy 3.8.0, en_x 1.0"
    assert (figure.value, figure.low, figure.high, figure.n, figure.unit) == (90.0, 80.0, 100.0, 7, "%")
    assert Measured(Interval(0.9, 0.8, 1.0, 7), "").figure("wayword x", "2026-01-31").value == 0.9
    assert rate(np.array([True, False])).interval == wilson(1, 2)


def test_report_without_spacy_says_so_and_is_seeded(
    few: Path, no_spacy: None, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    report = language_report(Sources(few), said.append)
    told = [line for line in said if "spaCy" in line]
    assert len(told) == 1
    assert told[0].startswith("no comparison with spaCy: ")
    assert "pip install" in told[0]
    assert "\n" not in told[0]
    assert not any(key.endswith("_spacy") for key in report)
    # Every figure carries an interval; F1 counts the sentences it was drawn over.
    for key, measured in report.items():
        assert measured.interval.low <= measured.interval.mean <= measured.interval.high, key
    assert report["language.chunk.nav.f1"].interval.n == FEW
    assert report["language.spelling.nav_train.right"].interval.n == FEW
    assert "language.in_db.auroc" in report
    # Again, by the command: the same values but for the clock's.
    LanguageReport(gold=few).run()
    lines = capsys.readouterr().out.splitlines()
    for key, measured in report.items():
        if not key.startswith("bench."):
            figure = measured.figure("wayword x", "2026-01-31")
            line = next(line for line in lines if f" {key} " in line)
            assert f"{format_number(figure.value, figure.unit)} {figure.unit}".strip() in line
            assert " - " in line


def test_missing_gold_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["train", "language-report", "--gold", str(tmp_path)])
    assert caught.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_training_says_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    for options, wanted in (([], "--ewt"), (["--seed", "-1"], "--seed -1"), (["--generated", "-5"], "negative")):
        with pytest.raises(SystemExit) as caught:
            main(["train", "language", *options])
        assert caught.value.code == 2
        error = capsys.readouterr().err
        assert wanted in error
        assert error.count("\n") == 1


def test_bad_typing_errors_name_their_line(tmp_path: Path) -> None:
    path = tmp_path / "typos.jsonl"
    with pytest.raises(DataError, match="cannot be read"):
        read_typos(path)
    path.write_text('{"typo": "teh", "intended": "the", "source": "a"}\n{"typo": "x"}\n')
    with pytest.raises(DataError, match=r"typos.jsonl:2: expected"):
        read_typos(path)
