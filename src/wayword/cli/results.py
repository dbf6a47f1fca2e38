"""``wayword results``: the pages of published figures, made from docs/results.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wayword.cli.common import say
from wayword.errors import WaywordError

if TYPE_CHECKING:
    from wayword.evaluation.publish import Figure

DOCS = Path("docs")


@dataclass(frozen=True)
class Results:
    """Write docs/results.md and docs/benchmarks.md anew from docs/results.json."""

    docs: Path = DOCS
    """The folder that holds results.json."""

    def run(self) -> None:
        """Render both pages."""
        render_pages(self.docs)
        say(f"{self.docs / 'results.md'}\n{self.docs / 'benchmarks.md'}")


def check_docs(docs: Path = DOCS) -> None:
    """Figures are published from a clone of the repository only."""
    if not (docs / "results.json").is_file():
        raise WaywordError(f"{docs / 'results.json'}: not found; publish from the root of a clone of the repository")


def render_pages(docs: Path) -> None:
    """Both pages from one file, so that prose and measurement cannot drift apart."""
    from wayword.evaluation.publish import load_results, render_benchmarks_md, render_results_md
    from wayword.io import write_text

    figures = load_results(docs / "results.json")
    write_text(docs / "results.md", render_results_md(figures))
    write_text(docs / "benchmarks.md", render_benchmarks_md(figures))


def publish_figures(figures: Mapping[str, Figure], docs: Path = DOCS) -> None:
    """Enter figures and renew the pages."""
    from wayword.evaluation.publish import publish

    publish(docs / "results.json", figures)
    render_pages(docs)
    say(f"published {len(figures)} figures in {docs / 'results.json'}")
