"""``wayword results``: the pages of published figures, made from docs/results.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wayword.cli.common import say
from wayword.errors import WaywordError

if TYPE_CHECKING:
    from wayword.figures import Figure

DOCS = Path("docs")


@dataclass(frozen=True)
class Results:
    """Write docs/results.md, docs/benchmarks.md and the figures of docs/cards anew from docs/results.json."""

    docs: Path = DOCS
    """The folder that holds results.json."""

    def run(self) -> None:
        """Render the pages and cards."""
        say("\n".join(str(path) for path in render_pages(self.docs)))


def check_docs(docs: Path = DOCS) -> None:
    """Figures are published from a clone of the repository only."""
    if not (docs / "results.json").is_file():
        raise WaywordError(f"{docs / 'results.json'}: not found; publish from the root of a clone of the repository")


def render_pages(docs: Path) -> list[Path]:
    """All pages with figures from one file, so that prose and measurement cannot drift apart; returns the files."""
    from wayword.evaluation.report.cards import render_cards
    from wayword.evaluation.report.publish import render_benchmarks_md, render_results_md
    from wayword.figures import load_results
    from wayword.io import write_text

    figures = load_results(docs / "results.json")
    write_text(docs / "results.md", render_results_md(figures))
    write_text(docs / "benchmarks.md", render_benchmarks_md(figures))
    return [docs / "results.md", docs / "benchmarks.md", *render_cards(docs, figures)]


def publish_figures(figures: Mapping[str, Figure], docs: Path = DOCS) -> None:
    """Enter figures and renew the pages."""
    from wayword.figures import publish

    publish(docs / "results.json", figures)
    render_pages(docs)
    say(f"published {len(figures)} figures in {docs / 'results.json'}")
