"""The report of a table to look at: every system on every column with intervals, then each column, then the failures.

One page like that of a single evaluation (``html_report``). FsPVN's failures come first, with what lost them; videos
of the farthest off lie beside the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from wayword.evaluation.metrics import METRICS
from wayword.evaluation.report.failures import BLAME
from wayword.evaluation.report.html_report import (
    FailureFilmer,
    ReportedFlight,
    Section,
    by_system,
    flight_sections,
    interval_words,
    render_page,
    result_sections,
    write_pages,
)
from wayword.evaluation.summary import summarise
from wayword.evaluation.table import systems
from wayword.evaluation.table.attribution import STAGES
from wayword.evaluation.table.cells import Cell, TableConfig, run_config
from wayword.evaluation.table.columns import Column, TableCase, load_cases
from wayword.evaluation.table.systems import system_of
from wayword.recording.track import read_track
from wayword.sim.render.bank import MeshBank

MAIN = "fspvn"
"""Whose failures come first, and are filmed."""
_TABLE_METRICS = ("sr", "emd")
"""The metrics of the paper's table."""


def write_table(
    folder: Path,
    title: str,
    cells: Sequence[Cell],
    config: TableConfig,
    about: Mapping[str, str],
    videos: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Path:
    """Write the report of finished cells and return its page; ``videos`` of FsPVN's failures are filmed."""
    flights: list[ReportedFlight] = []
    places: dict[int, tuple[Cell, int]] = {}
    for cell in cells:
        cases = load_cases(cell.column, config.folder, config.seed, config.limit)
        if cell.system == MAIN:
            places |= {len(flights) + number: (cell, number) for number in range(len(cell.rows))}
        flights += reported_flights(cell, cases)
    worst = sorted((i for i in places if not flights[i].metrics.sr), key=lambda i: -flights[i].metrics.ne)[:videos]
    filmers: dict[Column, FailureFilmer] = {}

    def film(number: int, one: ReportedFlight, path: Path) -> ReportedFlight:
        cell, own = places[number]
        if cell.column not in filmers:
            filmers[cell.column] = _filmer(cell, config)
        return filmers[cell.column].film(own, one, path)

    return write_pages(
        folder, flights, lambda current: render_table(title, cells, current, about), worst, film, progress
    )


def reported_flights(cell: Cell, cases: Sequence[TableCase]) -> list[ReportedFlight]:
    """The flights of a cell as the report shows them."""
    result = []
    for row, metrics, case in zip(cell.rows, cell.scores(), cases, strict=True):
        verdict = row.get("verdict")
        lost = verdict is not None and not metrics.sr
        remark = f"Lost by {verdict['lost_by']}: {verdict['detail']}" if verdict is not None and lost else ""
        result.append(
            ReportedFlight(
                system_of(cell.system).title,
                case.example,
                metrics,
                read_track(row["track"]),
                remark=remark,
                column=_name(cell.column),
                rank=int(cell.system != MAIN),
            )
        )
    return result


def render_table(title: str, cells: Sequence[Cell], flights: Sequence[ReportedFlight], about: Mapping[str, str]) -> str:
    """The page."""
    sections: list[Section] = [("Table", _overview(cells)), *_lost(cells)]
    for column in dict.fromkeys(cell.column for cell in cells):
        here = [one for one in flights if one.column == _name(column)]
        sections += result_sections(by_system(here), of=_name(column))
    return render_page(title, about, [*sections, *flight_sections(flights)])


def _overview(cells: Sequence[Cell]) -> str:
    """Systems by columns, as the paper has it."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    by_place = {(cell.system, cell.column): cell for cell in cells}
    top, below = "", ""
    for column in columns:
        count = max(len(cell.rows) for cell in cells if cell.column == column)
        wide = f'colspan="{len(_TABLE_METRICS)}" scope="colgroup"'
        top += f"<th {wide}>{escape(_name(column))} <span>n = {count}</span></th>"
        below += "".join(
            f'<th scope="col">{METRICS[m].title} <span>{METRICS[m].unit}</span></th>' for m in _TABLE_METRICS
        )
    rows = []
    for system in dict.fromkeys(cell.system for cell in cells):
        line = f'<th scope="row">{escape(system_of(system).title)}</th>'
        for column in columns:
            summary = summarise(by_place[system, column].scores(), 0)
            line += "".join(f"<td>{interval_words(summary[m], METRICS[m].unit, '<br>')}</td>" for m in _TABLE_METRICS)
        rows.append(f"<tr>{line}</tr>")
    head = f'<tr><th rowspan="2" scope="col">system</th>{top}</tr><tr>{below}</tr>'
    notes = {system_of(cell.system).title: cell.note for cell in cells if cell.note}
    remarks = "".join(f'<p class="quiet">{escape(name)}: {escape(note)}</p>' for name, note in notes.items())
    return f'<div class="wide"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>{remarks}'


def _lost(cells: Sequence[Cell]) -> list[Section]:
    """Which stage lost how many flights, of systems that can be asked."""
    counts = [(cell, lost) for cell in cells if (lost := cell.lost())]
    if not counts:
        return []
    head = "".join(f'<th scope="col">{escape(stage)}</th>' for stage in STAGES)
    rows = [
        f'<tr><th scope="row">{escape(system_of(cell.system).title)}</th><td>{escape(_name(cell.column))}</td>'
        + "".join(f"<td>{lost[stage]}</td>" for stage in STAGES)
        + "</tr>"
        for cell, lost in counts
    ]
    top = f'<tr><th scope="col">system</th><th scope="col">column</th>{head}</tr>'
    meaning = "".join(f"<li>{escape(stage)}: {escape(BLAME[stage])}</li>" for stage in STAGES)
    table = f'<div class="wide"><table><thead>{top}</thead><tbody>{"".join(rows)}</tbody></table></div>'
    return [("Failed flights by the stage that lost them", f'{table}<ul class="quiet">{meaning}</ul>')]


def _name(column: Column) -> str:
    return f"{column.split} {column.kind}"


def _filmer(cell: Cell, config: TableConfig) -> FailureFilmer:
    """What films the flights of a cell again."""
    cases = load_cases(cell.column, config.folder, config.seed, config.limit)
    taught = systems.teach_system(cell.system, cell.column, cases, config.folder, config.grounder)
    policy = systems.load_system(cell.system, config.weights, config.grounder)
    return FailureFilmer(policy, MeshBank.of_catalogue(), run_config(config.seed), taught)
