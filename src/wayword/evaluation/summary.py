"""Many scored flights in one line: means with 95 % intervals, and the table the command line prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from wayword.errors import WaywordError
from wayword.evaluation.metrics import ENDINGS, METRICS, EndedBy, EpisodeMetrics
from wayword.intervals import Interval, bootstrap_mean, wilson

_CAPTION = "mean and 95 % interval: Wilson for SR and OSR, bootstrap for the others"


def summarise(episodes: Sequence[EpisodeMetrics], seed: int) -> dict[str, Interval]:
    """The mean and 95 % interval of each metric; ``sr`` and ``osr`` are fractions with Wilson intervals.

    Each bootstrapped metric starts from ``seed`` anew: all see the same draws of episodes, and one
    metric more or less does not change the others' intervals.
    """
    if not episodes:
        raise WaywordError("no episodes to summarise; evaluate at least one")
    summary = {}
    for name, metric in METRICS.items():
        values = [getattr(episode, name) for episode in episodes]
        if metric.unit == "%":
            summary[name] = wilson(sum(values), len(values))
        else:
            summary[name] = bootstrap_mean(values, np.random.default_rng(seed))
    return summary


def count_endings(episodes: Sequence[EpisodeMetrics]) -> dict[EndedBy, int]:
    """How many episodes ended in each way; every way is listed, also those that never happened."""
    counts = Counter(episode.ended_by for episode in episodes)
    return {ending: counts[ending] for ending in ENDINGS}


class _Column(NamedTuple):
    heading: str
    cells: list[Text]

    @property
    def full(self) -> int:
        """Width in which every line fits."""
        return self._widest("\n")

    @property
    def least(self) -> int:
        """Width in which every word fits."""
        return self._widest(None)

    def _widest(self, separator: str | None) -> int:
        texts = [self.heading, *(cell.plain for cell in self.cells)]
        return max(cell_len(part) for text in texts for part in text.split(separator) or [""])


class SummaryTable:
    """What ``metrics_table`` makes: one line per system with the intervals under the means, for any width of terminal.

    A terminal that is too narrow for that gets a line per metric instead, so that no metric is ever left out.
    """

    def __init__(self, rows: Mapping[str, Mapping[str, Interval]]) -> None:
        self._rows = rows
        self._metrics = {name: metric for name, metric in METRICS.items() if name != "steps"}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = self._columns()
        spaces = len(columns) - 1
        for widths in ([column.full for column in columns], [column.least for column in columns]):
            if sum(widths) + spaces <= options.max_width:
                yield self._across(columns, widths)
                return
        yield self._down()

    def _columns(self) -> list[_Column]:
        counts = [str(_count(summary)) for summary in self._rows.values()]
        columns = [_Column("system", [Text(system) for system in self._rows]), _Column("n", [*map(Text, counts)])]
        for name, metric in self._metrics.items():
            heading = "\n".join(part for part in (metric.title, _short(metric.unit)) if part)
            cells = [_cell(summary.get(name), metric.unit, "\n") for summary in self._rows.values()]
            columns.append(_Column(heading, cells))
        return columns

    def _across(self, columns: list[_Column], widths: list[int]) -> Table:
        # Rich would share out what is missing as it likes: narrow columns break at a space, never inside a number.
        result = Table(caption=_CAPTION, box=box.SIMPLE_HEAD, padding=0, show_edge=False)
        for column, width in zip(columns, widths, strict=True):
            result.add_column(Text(column.heading), justify="left" if column is columns[0] else "right", width=width)
        for cells in zip(*(column.cells for column in columns), strict=True):
            result.add_row(*cells)
        return result

    def _down(self) -> Text:
        lines = []
        for system, summary in self._rows.items():
            lines.append(f"{system}, n = {_count(summary)}")
            for name, metric in self._metrics.items():
                label = f"{metric.title} {_short(metric.unit)}".rstrip()
                lines.append(f" {label} {_cell(summary.get(name), metric.unit, ' ')}")
        return Text("\n".join([*lines, _CAPTION]))


def metrics_table(rows: Mapping[str, Mapping[str, Interval]]) -> SummaryTable:
    """One line per system, to be printed by rich: ``rows`` maps its name to its summary."""
    return SummaryTable(rows)


def format_number(value: float, unit: str) -> str:
    """``value`` with as many digits as its unit deserves, without the unit."""
    if unit == "%":
        return f"{value:.1f}"
    if unit in ("m", "", "per episode"):
        return f"{value:.2f}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _count(summary: Mapping[str, Interval]) -> int:
    return max((interval.n for interval in summary.values()), default=0)


def _short(unit: str) -> str:
    return unit.replace("per episode", "/flight")


def _cell(interval: Interval | None, unit: str, between: str) -> Text:
    if interval is None:
        return Text("–")
    scale = 100 if unit == "%" else 1
    mean, low, high = (format_number(scale * value, unit) for value in (interval.mean, interval.low, interval.high))
    return Text(f"{mean}{between}[{low}, {high}]")  # Text, so that brackets are never taken for markup
