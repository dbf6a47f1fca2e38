"""The report of a table to look at: every system on every column with intervals, then each column, then the failures.

One page like that of a single evaluation (``html_report``). FsPVN's failures come first, with what lost them; videos
of the farthest off lie beside the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from wayword.evaluation import systems
from wayword.evaluation.attribution import STAGES
from wayword.evaluation.columns import Case, Column, load_cases
from wayword.evaluation.failures import BLAME
from wayword.evaluation.html_report import (
    Camera,
    Flown,
    Section,
    by_system,
    flight_sections,
    interval_words,
    render_page,
    result_sections,
    write_pages,
)
from wayword.evaluation.summary import METRICS, summarise
from wayword.evaluation.systems import SYSTEMS, SystemName
from wayword.evaluation.table import Cell, TableConfig, run_config
from wayword.evaluation.track import read_track
from wayword.sim.render.bank import MeshBank

MAIN: SystemName = "fspvn"
"""Whose failures come first, and are filmed."""
_SHOWN = ("sr", "emd")
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
    flown: list[Flown] = []
    filmed: dict[int, tuple[Cell, int]] = {}
    for cell in cells:
        cases = load_cases(cell.column, config.folder, config.seed, config.limit)
        if cell.system == MAIN:
            filmed |= {len(flown) + number: (cell, number) for number in range(len(cell.rows))}
        flown += flown_of(cell, cases)
    chosen = sorted((i for i in filmed if not flown[i].metrics.sr), key=lambda i: -flown[i].metrics.ne)[:videos]
    cameras: dict[Column, Camera] = {}

    def film(number: int, one: Flown, path: Path) -> Flown:
        cell, own = filmed[number]
        if cell.column not in cameras:
            cameras[cell.column] = _camera(cell, config)
        return cameras[cell.column].film(own, one, path)

    return write_pages(folder, flown, lambda shown: render_table(title, cells, shown, about), chosen, film, progress)


def flown_of(cell: Cell, cases: Sequence[Case]) -> list[Flown]:
    """The flights of a cell as the report shows them."""
    result = []
    for row, metrics, case in zip(cell.rows, cell.scores(), cases, strict=True):
        verdict = row.get("verdict")
        lost = verdict is not None and not metrics.sr
        remark = f"Lost by {verdict['lost_by']}: {verdict['detail']}" if verdict is not None and lost else ""
        result.append(
            Flown(
                SYSTEMS[cell.system].title,
                case.example,
                metrics,
                read_track(row["track"]),
                remark=remark,
                column=_name(cell.column),
                rank=int(cell.system != MAIN),
            )
        )
    return result


def render_table(title: str, cells: Sequence[Cell], flown: Sequence[Flown], about: Mapping[str, str]) -> str:
    """The page."""
    sections: list[Section] = [("Table", _overview(cells)), *_lost(cells)]
    for column in dict.fromkeys(cell.column for cell in cells):
        here = [one for one in flown if one.column == _name(column)]
        sections += result_sections(by_system(here), of=_name(column))
    return render_page(title, about, [*sections, *flight_sections(flown)])


def _overview(cells: Sequence[Cell]) -> str:
    """Systems by columns, as the paper has it."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    found = {(cell.system, cell.column): cell for cell in cells}
    top, below = "", ""
    for column in columns:
        count = max(len(cell.rows) for cell in cells if cell.column == column)
        wide = f'colspan="{len(_SHOWN)}" scope="colgroup"'
        top += f"<th {wide}>{escape(_name(column))} <span>n = {count}</span></th>"
        below += "".join(f'<th scope="col">{METRICS[m].title} <span>{METRICS[m].unit}</span></th>' for m in _SHOWN)
    rows = []
    for system in dict.fromkeys(cell.system for cell in cells):
        line = f'<th scope="row">{escape(SYSTEMS[system].title)}</th>'
        for column in columns:
            summary = summarise(found[system, column].scores(), 0)
            line += "".join(f"<td>{interval_words(summary[m], METRICS[m].unit, '<br>')}</td>" for m in _SHOWN)
        rows.append(f"<tr>{line}</tr>")
    head = f'<tr><th rowspan="2" scope="col">system</th>{top}</tr><tr>{below}</tr>'
    notes = {SYSTEMS[cell.system].title: cell.note for cell in cells if cell.note}
    said = "".join(f'<p class="quiet">{escape(name)}: {escape(note)}</p>' for name, note in notes.items())
    return f'<div class="wide"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>{said}'


def _lost(cells: Sequence[Cell]) -> list[Section]:
    """Which stage lost how many flights, of systems that can be asked."""
    judged = [(cell, lost) for cell in cells if (lost := cell.lost())]
    if not judged:
        return []
    head = "".join(f'<th scope="col">{escape(stage)}</th>' for stage in STAGES)
    rows = [
        f'<tr><th scope="row">{escape(SYSTEMS[cell.system].title)}</th><td>{escape(_name(cell.column))}</td>'
        + "".join(f"<td>{lost[stage]}</td>" for stage in STAGES)
        + "</tr>"
        for cell, lost in judged
    ]
    top = f'<tr><th scope="col">system</th><th scope="col">column</th>{head}</tr>'
    meaning = "".join(f"<li>{escape(stage)}: {escape(BLAME[stage])}</li>" for stage in STAGES)
    table = f'<div class="wide"><table><thead>{top}</thead><tbody>{"".join(rows)}</tbody></table></div>'
    return [("Failed flights by the stage that lost them", f'{table}<ul class="quiet">{meaning}</ul>')]


def _name(column: Column) -> str:
    return f"{column.split} {column.kind}"


def _camera(cell: Cell, config: TableConfig) -> Camera:
    """What films the flights of a cell again."""
    cases = load_cases(cell.column, config.folder, config.seed, config.limit)
    taught = systems.teach(cell.system, cell.column, cases, config.folder, config.grounder)
    policy = systems.load(cell.system, config.weights, config.grounder)
    return Camera(policy, MeshBank.of_catalogue(), run_config(config.seed), taught)
