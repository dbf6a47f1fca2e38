"""Many scored flights in one line: means with 95 % intervals, and the table the command line prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from wayword.errors import WaywordError
from wayword.evaluation.intervals import Interval, bootstrap_mean, wilson
from wayword.evaluation.metrics import ENDINGS, EndedBy, EpisodeMetrics


class Metric(NamedTuple):
    """How a field of ``EpisodeMetrics`` is shown; "%" marks a rate, kept as a fraction until then."""

    title: str
    unit: str


METRICS: dict[str, Metric] = {
    "sr": Metric("SR", "%"),
    "emd": Metric("EMD", "m"),
    "osr": Metric("OSR", "%"),
    "ne": Metric("NE", "m"),
    "spl": Metric("SPL", ""),
    "ndtw": Metric("nDTW", ""),
    "sdtw": Metric("SDTW", ""),
    "collisions": Metric("coll.", "per episode"),
    "steps": Metric("steps", "per episode"),
}
"""The averaged fields, in the order of the tables."""


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
    seen = Counter(episode.ended_by for episode in episodes)
    return {ending: seen[ending] for ending in ENDINGS}


def table(rows: Mapping[str, Mapping[str, Interval]]) -> Table:
    """One line per system: ``rows`` maps its name to its summary. Intervals stand under the means."""
    shown = {name: metric for name, metric in METRICS.items() if name != "steps"}
    caption = "mean and 95 % interval: Wilson for SR and OSR, bootstrap for the others"
    result = Table(caption=caption, box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1))
    result.add_column("system", no_wrap=True)
    result.add_column("n", justify="right", no_wrap=True)
    for metric in shown.values():
        # Narrow terminals break an interval at its space, never inside a number ("[48.8," or "100.0]").
        heading = Text("\n".join(part.replace("per episode", "/flight") for part in metric if part))
        result.add_column(heading, justify="right", min_width=max(6, len(metric.title)))
    for system, summary in rows.items():
        n = max((interval.n for interval in summary.values()), default=0)
        cells = [_cell(summary.get(name), metric.unit) for name, metric in shown.items()]
        result.add_row(Text(system), str(n), *cells)
    return result


def format_number(value: float, unit: str) -> str:
    """``value`` with as many digits as its unit deserves, without the unit."""
    if unit == "%":
        return f"{value:.1f}"
    if unit in ("m", "", "per episode"):
        return f"{value:.2f}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _cell(interval: Interval | None, unit: str) -> Text:
    if interval is None:
        return Text("–")
    scale = 100 if unit == "%" else 1
    mean, low, high = (format_number(scale * value, unit) for value in (interval.mean, interval.low, interval.high))
    return Text(f"{mean}\n[{low}, {high}]")  # Text, so that brackets are never taken for markup
