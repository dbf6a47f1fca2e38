"""The first half of ``docs/results.md``: published figures side by side, as a reader compares them.

A ``Grid`` names rows and columns; the key of a cell is the column's pattern with the row put in:

    row "fspvn", column "{}.test.natural.sr"   ->   figure ``fspvn.test.natural.sr``   ->   81.1 [75.4, 85.8]

Cells show the figures to the same digit as the list of single ones, which has n, command and date of each. A cell
without a figure is a dash; rows and grids without any figure are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wayword.evaluation.report.grid import Grid
from wayword.evaluation.report.results_grids import GRIDS
from wayword.evaluation.summary import format_number
from wayword.figures import Figure

NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class GridCell:
    """What stands in one place of a grid."""

    text: str
    unit: str
    n: int


def render_grids(results: Mapping[str, Figure], grids: tuple[Grid, ...] = GRIDS) -> str:
    """All grids that have figures, as Markdown; empty if none has."""
    return "\n".join(part for grid in grids if (part := _render(grid, results)))


def figure_text(figure: Figure) -> str:
    """A figure without its unit, and its interval: "81.1 [75.4, 85.8]"."""
    value = format_number(figure.value, figure.unit)
    if figure.low is None or figure.high is None:
        return value
    low, high = (format_number(bound, figure.unit) for bound in (figure.low, figure.high))
    return f"{value} [{low},{NO_BREAK}{high}]"  # a narrow column breaks before the bracket, never inside


def _render(grid: Grid, results: Mapping[str, Figure]) -> str:
    table = {
        label: [_cell(results, pattern.format(row)) for _, pattern in grid.columns] for label, row in grid.rows.items()
    }
    table = {label: cells for label, cells in table.items() if any(cells)}
    if not table:
        return ""
    lines = [
        f"| {' | '.join([grid.corner, *_headings(grid, list(table.values()))])} |",
        "|---|" + "---:|" * len(grid.columns),
    ]
    for label, cells in table.items():
        lines.append(f"| {' | '.join([label, *(cell.text if cell else '–' for cell in cells)])} |")
    return "\n".join([*_head(grid), "\n".join(lines) + "\n"])


def _head(grid: Grid) -> Iterator[str]:
    if grid.title:
        yield f"## {grid.title}\n"
    if grid.about:
        yield f"{grid.about.strip()}\n"


def _cell(results: Mapping[str, Figure], key: str) -> GridCell | None:
    figure = results.get(key)
    return None if figure is None else GridCell(figure_text(figure), figure.unit, figure.n)


def _headings(grid: Grid, rows: list[list[GridCell | None]]) -> Iterator[str]:
    """Titles with the unit that a column's cells share, and with how many they count where that changes."""
    before = None
    for number, (title, _) in enumerate(grid.columns):
        cells = [cell for cell in (row[number] for row in rows) if cell]
        units, counts = {cell.unit for cell in cells}, {cell.n for cell in cells}
        heading = " ".join([title, *(_short(unit) for unit in units if unit and len(units) == 1)])
        if len(counts) == 1 and counts != before:
            heading += f" (n{NO_BREAK}={NO_BREAK}{next(iter(counts)):,})"
        before = counts
        yield heading


def _short(unit: str) -> str:
    return unit.replace("per episode", "per flight")
