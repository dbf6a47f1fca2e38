"""The page of a whole table: `wayword eval table --html`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_html_report import Outline

from wayword.cli.launch import main
from wayword.evaluation.report import html_table
from wayword.evaluation.report.html_report import FailureFilmer, ReportedFlight, check_folder
from wayword.evaluation.report.html_table import render_table, reported_flights, write_table
from wayword.evaluation.table.cells import Cell, TableConfig, fly_table
from wayword.evaluation.table.columns import Column, TableCase, load_cases

DEV, SEEN = Column("dev", "natural"), Column("seen", "natural")


def cell(system: str, column: Column, cases: list[TableCase], arrived: int) -> Cell:
    """Flights of which the first ``arrived`` did; the others are lost by the map, each farther off."""
    rows = []
    for number, case in enumerate(cases):
        metrics = {"sr": number < arrived, "osr": True, "ne": 0.1 + number, "emd": 0.2, "spl": 0.5, "ndtw": 0.5,
                   "sdtw": 0.5, "collisions": 0, "steps": 9, "ended_by": "policy"}  # fmt: skip
        row = {"example": case.example.id, **metrics, "track": "1,1,0 2,2,90"}
        if system != "average":
            lost_by = None if number < arrived else "map"
            row["verdict"] = {"lost_by": lost_by, "signs": [], "detail": "the <globe> is off"}
        rows.append(row)
    return Cell(system, column, tuple(rows), "a note" if system == "fspvn" else "")


@pytest.fixture
def cells(tmp_path: Path) -> list[Cell]:
    columns = {column: load_cases(column, tmp_path, limit=4) for column in (DEV, SEEN)}
    made = [cell("average", c, cases, 1) for c, cases in columns.items()]
    return made + [cell("fspvn", c, cases, 2) for c, cases in columns.items()]


def test_one_page_has_every_system_on_every_column(cells: list[Cell], tmp_path: Path) -> None:
    text = write_table(tmp_path / "r", "<T>", cells, TableConfig(tmp_path, limit=4), {"command": "c"}).read_text()
    page = Outline(text)
    words = " ".join(page.words)
    assert "<T>" in page.words
    assert {"dev natural", "seen natural"} <= {word.strip() for word in page.words}
    assert words.count("Success against the length of the instruction") >= 2  # a column each
    assert "25.0" in words  # Average: 1 of 4
    assert "50.0" in words  # FsPVN: 2 of 4
    assert "[15.0, 85.0]" in words  # Wilson's interval of 2 in 4
    assert "FsPVN: a note" in words
    assert not [a for tag, a in page.seen if tag in ("script", "link", "iframe") or "//" in (a.get("src") or "")]
    assert all(attributes.get("scope") for attributes in page.all("th"))
    assert len(page.all("article")) == 16
    assert "an object was found and put more than 0.5 m from its place" in words
    assert "<globe>" not in text


def test_fspvns_failures_come_first_with_what_lost_them(cells: list[Cell], tmp_path: Path) -> None:
    flown = [one for each in cells for one in reported_flights(each, load_cases(each.column, tmp_path, limit=4))]
    text = render_table("t", cells, flown, {})
    cards = text[text.index("10 failures") :].split("<article>")[1:]
    assert ["<b>FsPVN</b>" in card for card in cards[:10]] == [True] * 4 + [False] * 6
    assert all("Lost by map: the &lt;globe&gt; is off" in card for card in cards[:4])
    assert "3.10 m from the end" in cards[0]  # the farthest off
    assert "dev-" in cards[0] or "train-" in cards[0]
    assert not any("Lost by" in card for card in cards[4:])


def test_only_fspvns_failures_are_filmed(cells: list[Cell], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filmed: list[tuple[str, int]] = []

    class Fake:
        def __init__(self, column: Column) -> None:
            self.column = column

        def film(self, number: int, one: ReportedFlight, path: Path) -> ReportedFlight:
            filmed.append((self.column.key, number))
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"video")
            return one

    monkeypatch.setattr(html_table, "_filmer", lambda each, config: Fake(each.column))
    done: list[int] = []
    write_table(tmp_path / "r", "t", cells, TableConfig(tmp_path, limit=4), {}, 3, done.append)
    assert filmed == [("dev.natural", 3), ("seen.natural", 3), ("dev.natural", 2)]
    assert sum(done) == 3
    assert len(list((tmp_path / "r" / "videos").iterdir())) == 3


def test_a_filmer_films_a_cells_own_flights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = TableConfig(tmp_path, limit=2)
    (flown,) = fly_table(["average"], [DEV], config, workers=1)
    monkeypatch.setattr("wayword.recording.film.Film._shoot", lambda *_: np.zeros((4, 4, 3), np.uint8))
    filmer = html_table._filmer(flown, config)
    assert isinstance(filmer, FailureFilmer)
    one = reported_flights(flown, load_cases(DEV, tmp_path, limit=2))[1]
    assert "another way" not in filmer.film(1, one, tmp_path / "v.mp4").remark


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report"
    command = ["eval", "table", "--systems", "average", "oracle", "--episodes", "natural", "--limit", "2",
               "--workers", "1", "--folder", str(tmp_path / "runs"), "--html", str(report)]  # fmt: skip
    main(command)
    assert capsys.readouterr().out.splitlines()[-1] == str(report / "index.html")
    page = Outline((report / "index.html").read_text(encoding="utf-8"))
    assert {"Average", "Oracle"} <= set(page.words)
    assert len(page.all("article")) == 4
    check_folder(report)  # it may be replaced
    (tmp_path / "notes").write_text("mine")
    for words, message in ((["--html", str(tmp_path)], "holds other files"), (["--videos", "-1"], "--videos -1")):
        with pytest.raises(SystemExit) as stop:
            main([*command[:-2], *words])
        assert stop.value.code == 2
        assert message in capsys.readouterr().err
