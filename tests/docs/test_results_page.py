"""The readable half of docs/results.md: which figures stand where, to the digit."""

from __future__ import annotations

import re
from pathlib import Path

from wayword.evaluation.report.grid import Grid
from wayword.evaluation.report.publish import render_results_md
from wayword.evaluation.report.results_grids import GRIDS
from wayword.evaluation.report.results_page import NO_BREAK, figure_text, render_grids
from wayword.figures import Figure, load_results

ROOT = Path(__file__).parents[2]
SR = Figure(81.1059, 75.3724, 85.7591, 217, "wayword eval", "2026-11-16", "%")
EMD = Figure(0.2512, 0.2301, 0.2749, 217, "wayword eval", "2026-11-16", "m")
GRID = Grid(
    "Flights", "About them.", "system", {"FsPVN": "fspvn", "BC": "fspvn_bc"}, (("SR", "{}.sr"), ("EMD", "{}.emd"))
)


def test_a_grid_by_hand() -> None:
    few = Figure(0.5, None, None, 3, "wayword eval", "2026-11-16", "m")
    page = render_grids({"fspvn.sr": SR, "fspvn.emd": EMD, "fspvn_bc.emd": few}, (GRID,)).replace(NO_BREAK, " ")
    # n is said where it changes: 217 for SR; EMD counts 217 and 3, so none is said there.
    assert page.splitlines() == [
        "## Flights",
        "",
        "About them.",
        "",
        "| system | SR % (n = 217) | EMD m |",
        "|---|---:|---:|",
        "| FsPVN | 81.1 [75.4, 85.8] | 0.25 [0.23, 0.27] |",
        "| BC | – | 0.50 |",
    ]


def test_rows_and_grids_without_figures_are_left_out() -> None:
    assert "BC" not in render_grids({"fspvn.sr": SR}, (GRID,))
    assert render_grids({"other.sr": SR}, (GRID,)) == ""
    assert "Appendix" not in render_results_md({"other.sr": SR})


def test_every_published_figure_is_in_the_appendix_once_and_those_above_agree_with_it() -> None:
    results = load_results(ROOT / "docs" / "results.json")
    tables, appendix = render_results_md(results).split("## Appendix")
    listed = re.findall(r"^\| `([\w.-]+)` \|", appendix, re.MULTILINE)
    assert listed == sorted(key for key in results if not key.startswith("bench."))
    cells = {cell for row in tables.splitlines() if row.startswith("|") for cell in row.split(" | ")}
    for grid in GRIDS:
        for row in grid.rows.values():
            for _, pattern in grid.columns:
                figure = results[pattern.format(row)]  # a grid that names a figure nobody published is a mistake
                assert any(figure_text(figure) in cell for cell in cells)
                assert re.search(
                    rf"^\| `{re.escape(pattern.format(row))}` \| {re.escape(figure_text(figure).split(' ')[0])}",
                    appendix,
                    re.M,
                )
