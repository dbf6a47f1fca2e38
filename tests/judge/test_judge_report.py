from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from support.judge_data import answer
from wayword.cli.launch import main
from wayword.errors import WaywordError
from wayword.judge.agreement import Level, krippendorff_alpha
from wayword.judge.answers import Answer, AnswerBook, read_answers
from wayword.judge.report import report_on
from wayword.judge.study import Study, design

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section D: four observers, twelve units, gaps.
FOUR_OBSERVERS = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
# The worked example of Wikipedia's article: three coders, fifteen units.
THREE_CODERS = """
. . . . . 3 4 1 2 1 1 3 3 . 3
1 . 2 1 3 3 4 3 . . . . . . .
. . 2 1 3 4 4 . 2 1 1 3 3 . 4
"""


def units(table: str) -> list[list[int]]:
    rows = [line.split() for line in table.strip().splitlines()]
    return [[int(value) for value in column if value != "."] for column in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("table", "level", "published"),
    [(FOUR_OBSERVERS, "ordinal", 0.815), (FOUR_OBSERVERS, "interval", 0.849), (THREE_CODERS, "interval", 0.811)],
)
def test_alpha_of_published_examples(table: str, level: Level, published: float) -> None:
    assert krippendorff_alpha(units(table), level) == pytest.approx(published, abs=0.0005)


def test_alpha_worked_by_hand() -> None:
    # Units (1, 2), (2, 2), (3, 3). Coincidences: o12 = o21 = 1, o22 = 2, o33 = 2; n = (1, 3, 2), n. = 6.
    # Interval: D_o = 2 * 1; D_e = 2 * (1*3*1 + 1*2*4 + 3*2*1) / 5 = 6.8; alpha = 1 - 2 / 6.8.
    assert krippendorff_alpha([[1, 2], [2, 2], [3, 3]], "interval") == pytest.approx(1 - 2 / 6.8)
    # Ordinal: ranks 0.5, 2.5, 5: squares 4 (1-2), 20.25 (1-3), 6.25 (2-3); D_o = 8, D_e = 2 * (12 + 40.5 + 37.5) / 5.
    assert krippendorff_alpha([[1, 2], [2, 2], [3, 3]], "ordinal") == pytest.approx(1 - 8 / 36)


def test_alpha_at_its_ends() -> None:
    assert krippendorff_alpha([[1, 1], [5, 5], [3]], "ordinal") == 1.0  # a unit judged once says nothing
    assert krippendorff_alpha([[1, 5], [5, 1]], "interval") == pytest.approx(-0.5)  # worse than chance
    for level in ("ordinal", "interval"):
        assert krippendorff_alpha([], level) is None
        assert krippendorff_alpha([[1], [2]], level) is None
        assert krippendorff_alpha([[4, 4], [4, 4]], level) is None


@pytest.fixture
def study() -> Study:
    """Four instructions, systems a and b, three raters, two checks."""
    return design([f"e{i}" for i in range(4)], ["a", "b"], 3, 2, Random(5))


def answers(study: Study, scores: dict[str, tuple[int, int]], **changes: Any) -> list[Answer]:
    """Everybody answers everything, by system, and all checks rightly."""
    given = []
    for rater, sheet in study.sheets.items():
        for name in sheet:
            item = study.items[name]
            goal, path = item.check or scores[item.system]
            given.append(Answer.of(answer(study, rater, name, goal=goal, path=path, **changes), study))
    return given


def test_means_shares_and_counts(study: Study) -> None:
    given = answers(study, {"a": (2, 4), "b": (5, 5)})
    first = next(i for i, a in enumerate(given) if study.items[a.item].system == "a" and not study.items[a.item].check)
    given[first] = Answer.of({**given[first].__dict__, "goal": 5}, study)
    report = report_on(study, given)
    assert (report.raters, report.failed, report.judgements, report.instructions) == (3, 0, 24, 4)
    assert list(report.systems) == ["b", "a"]  # the best goal score first
    goal, path = report.systems["a"]["goal"], report.systems["a"]["path"]
    assert goal.counts == (0, 11, 0, 0, 1)
    assert goal.mean.mean == pytest.approx((11 * 2 + 5) / 12)
    assert goal.mean.low == pytest.approx(2.0)  # drawn without the instruction that has the 5
    assert goal.mean.high > goal.mean.mean
    assert goal.good.mean == pytest.approx(1 / 12)
    assert path.good.mean == 1.0
    assert report.alpha["path"] == {"ordinal": 1.0, "interval": 1.0}


def test_raters_are_drawn_as_well_as_instructions(study: Study) -> None:
    """Raters who always say 4, 4 and 5: of 27 draws of three, 8 hold no 5 (30 %) and one nothing else (3.7 %)."""
    by_rater = dict(zip(study.sheets, (4, 4, 5), strict=True))
    given = [
        a if study.items[a.item].check else Answer.of({**a.__dict__, "goal": by_rater[a.rater]}, study)
        for a in answers(study, {"a": (4, 4), "b": (4, 4)})
    ]
    mean = report_on(study, given).systems["a"]["goal"].mean
    assert (mean.mean, mean.low, mean.high, mean.n) == (pytest.approx(13 / 3), 4.0, 5.0, 4)


def test_raters_who_do_not_read_are_left_out(study: Study) -> None:
    given = answers(study, {"a": (1, 1), "b": (5, 5)})
    careless = given[0].rater
    changed = [Answer.of({**a.__dict__, "goal": 3, "path": 3}, study) if a.rater == careless else a for a in given]
    report = report_on(study, changed)
    assert (report.raters, report.failed, report.judgements) == (2, 1, 16)
    assert report.systems["a"]["goal"].counts == (8, 0, 0, 0, 0)
    assert report_on(study, changed, allowed=2).failed == 0
    with pytest.raises(WaywordError, match="all 1 raters failed"):
        report_on(study, [a for a in changed if a.rater == careless])
    with pytest.raises(WaywordError, match="nobody has answered"):
        report_on(study, [])
    early = [a for a in given if a.rater == careless and not study.items[a.item].check]
    report = report_on(study, early)
    assert (report.unchecked, report.silent, report.alpha["goal"]["ordinal"]) == (1, 2, None)


def test_instructions_flagged_by_most_are_dropped_for_all_systems(study: Study) -> None:
    given = answers(study, {"a": (1, 1), "b": (5, 5)})

    def flagged(times: int) -> list[Answer]:
        about = [a for a in given if study.items[a.item].example == "e2" and not study.items[a.item].check][:times]
        return [Answer.of({**a.__dict__, "problem": "impossible"}, study) if a in about else a for a in given]

    assert report_on(study, flagged(3)).dropped == ()  # three of six are no majority
    report = report_on(study, flagged(4))
    assert report.dropped == ("e2",)
    assert (report.judgements, report.problems) == (18, {"impossible": 4})


def test_a_changed_mind_and_a_torn_line(study: Study, tmp_path: Path) -> None:
    rater, sheet = next(iter(study.sheets.items()))
    book = AnswerBook(tmp_path, study)
    book.append(Answer.of(answer(study, rater, sheet[0], goal=1), study))
    file = tmp_path / "answers" / f"{rater}.jsonl"
    with file.open("ab") as out:
        out.write(b'{"study": "cut sho')  # a crash in the middle of a line
    book.append(Answer.of(answer(study, rater, sheet[0], goal=5, at="2026-01-31T13:00:00Z"), study))
    book.append(Answer.of(answer(study, rater, sheet[1]), study))
    found, torn = read_answers(tmp_path, study)
    assert torn == 1
    assert {item: a.goal for (_, item), a in found.items()} == {sheet[0]: 5, sheet[1]: 4}
    assert sorted(a.goal for a in book.of_rater(rater)) == [4, 5]
    sent = {"format": 1, "study": study.id, "rater": rater,
            "answers": [answer(study, rater, sheet[0], goal=2, at="2026-02-01T00:00:00Z")]}  # fmt: skip
    (tmp_path / "sent.json").write_text(json.dumps(sent))
    found, _ = read_answers(tmp_path, study, [tmp_path / "sent.json"])
    assert found[rater, sheet[0]].goal == 2
    (tmp_path / "sent.json").write_text(json.dumps({**sent, "answers": [{}]}))
    with pytest.raises(WaywordError, match="exactly the fields"):
        read_answers(tmp_path, study, [tmp_path / "sent.json"])


def test_the_chart_is_well_formed_and_adds_up(study: Study) -> None:
    odd = Study(study.id, {k: v.__class__(v.id, v.example, v.system.replace("a", "<A&A>"), v.check)
                           for k, v in study.items.items()}, study.sheets)  # fmt: skip
    report = report_on(odd, answers(odd, {"<A&A>": (2, 4), "b": (5, 3)}))
    root = ElementTree.fromstring(report.chart())
    words = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "<A&A>" in words
    assert "2.00 [2.00, 2.00]" in words
    assert words.count("100%") == 4
    assert words.index("Goal score") < words.index("Path score")


def test_report_command(study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study.save(tmp_path)
    with pytest.raises(SystemExit):
        main(["judge", "report", str(tmp_path)])
    assert "nobody has answered yet" in capsys.readouterr().err
    book = AnswerBook(tmp_path, study)
    given = answers(study, {"a": (2, 4), "b": (5, 3)})
    spoilt = given[0].rater
    for a in given:
        wrong = a.rater == spoilt and study.items[a.item].check
        book.append(Answer.of({**a.__dict__, "path": a.path % 5 + 1}, study) if wrong else a)
    main(["judge", "report", str(tmp_path)])
    said = capsys.readouterr().out
    assert "left out: 1 raters who failed attention checks; 0 instructions" in said
    assert "ordinal 1.000, interval 1.000" in said
    saved = json.loads((tmp_path / "report" / "scores.json").read_text())
    assert saved["systems"]["b"]["goal"]["counts"] == [0, 0, 0, 0, 8]
    ElementTree.parse(tmp_path / "report" / "scores.svg")
