"""The pages of published figures: ``docs/results.md`` and ``docs/benchmarks.md``, rendered from ``docs/results.json``.

Keys that start with ``bench.`` are benchmarks, in one table; the first component of any other key names its section.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from wayword.evaluation.metrics import METRICS
from wayword.evaluation.report.results_page import render_grids
from wayword.evaluation.summary import format_number
from wayword.figures import Figure
from wayword.intervals import Interval

_GENERATED = "> Generated from `docs/results.json` by `wayword results`. Do not edit it.\n"
_ABOUT_RESULTS = """\
**The natural instructions were written by language-model annotators, not by people.** Figures on them say
how the system follows such text; how it follows people has not been measured.

SR: share of flights whose last position is strictly within 0.47 m of the demonstration's end. OSR: of those
that came that near at any time. NE: distance between the two ends. EMD: exact earth mover's distance between
flight and demonstration, resampled every 2 cm. SPL takes the demonstration's length as the length to fly.
nDTW and SDTW compare the resampled paths with a threshold of 0.47 m. Rates carry Wilson intervals, the other
means percentile bootstrap intervals over episodes.
"""
_APPENDIX = """\
## Appendix: every figure

Each with its interval, how many flights, sentences or repetitions it counts, the command that makes it and the day.
"""
_ABOUT_BENCHMARKS = """\
Measured on one machine on the day given; compare rows of one table, not with another machine.
An interval is given where the measurement was repeated enough to have one.

`wayword bench sim` measures the simulator. `wayword bench policy` measures how long FsPVN thinks about a step, for one
drone on one core, and which stage takes how much of it; its figures stand under `policy` in [results.md](results.md).
`wayword bench database` measures what a database costs as it grows from 8 to 8,000 objects, in processor time on one
core: [large databases](grounding.md#large-databases).
"""
_PROSE = {
    "natural": "Natural instructions, written by language-model annotators, not by people.",
    "fspvn": "[evaluation.md](evaluation.md) says what each system, column and figure of the table is.",
    "noswap": "FsPVN in a simulated lab it never saw, with the usual segmentation: [grounding.md](grounding.md).",
    "swap": "The same policy in the same lab, with a segmentation trained on pictures of the empty lab.",
    "policy": """\
How long FsPVN thinks, measured on one machine on the day given: `ms_step` is from image and pose to action, for one
drone on one core, segmentation included; drawing the image and moving the drone are not counted. `ms_reading` is
once per instruction. The shares of the stages add up to the step and depend less on the machine: segmentation; the
map and all bookkeeping; visitation (stage 1); control (stage 2). A decision is taken every 500 ms.""",
    "language": """\
[language.md](language.md) says what each figure is. Intervals of F1 are bootstrapped over sentences, which `n`
counts there; those of AUROC over mentions. Keys ending in `_spacy` are spaCy's noun chunks scored on the same
sentences, its version in the command. `text` counts whole sets of instructions, one per segment; `compared_vocabulary`,
`type_token_ratio` and `distinct_4grams` are over equally many words of each. The paper's Lani has 2.3k words and 11
tokens per segment.""",
}
"""A sentence or two under the heading of a section, by its name."""


def summary_figures(prefix: str, summary: Mapping[str, Interval], command: str, date: str) -> dict[str, Figure]:
    """A summary as figures named ``prefix.metric``, with fractions turned into percent."""
    return {
        f"{prefix}.{name}": Figure.of(interval, METRICS[name].unit, command, date) for name, interval in summary.items()
    }


def render_results_md(results: Mapping[str, Figure]) -> str:
    """The text of ``docs/results.md``: figures side by side, then every one that is not a benchmark by itself."""
    rest = [key for key in sorted(results) if not _is_benchmark(key)]
    first = [grids, _APPENDIX] if (grids := render_grids(results)) else []
    return _page("Results", [_ABOUT_RESULTS, *first], rest, results)


def render_benchmarks_md(results: Mapping[str, Figure]) -> str:
    """The text of ``docs/benchmarks.md``: the figures whose keys start with ``bench.``."""
    benchmarks = [key for key in sorted(results) if _is_benchmark(key)]
    return _page("Benchmarks", [_ABOUT_BENCHMARKS], benchmarks, results)


def _page(title: str, about: list[str], keys: list[str], results: Mapping[str, Figure]) -> str:
    parts = [f"# {title}\n", _GENERATED, *about]
    level = "###" if _APPENDIX in about else "##"
    for section, members in groupby(keys, key=lambda key: key.split(".")[0]):
        if section != "bench":
            parts.append(f"{level} {section}\n")
        if section in _PROSE:
            parts.append(f"{_PROSE[section]}\n")
        parts.append(_table((key, results[key]) for key in members))
    if not keys:
        parts.append("No figures have been published yet.\n")
    return "\n".join(parts)


def _table(rows: Iterable[tuple[str, Figure]]) -> str:
    lines = ["| figure | value | 95 % interval | n | command | date |", "|---|---:|---:|---:|---|---|"]
    for key, figure in rows:
        unit = figure.unit
        value = f"{format_number(figure.value, unit)} {unit}".strip()
        interval = "–"
        if figure.low is not None and figure.high is not None:
            interval = f"[{format_number(figure.low, unit)}, {format_number(figure.high, unit)}]"
        cells = (f"`{key}`", _escaped(value), interval, f"{figure.n:,}", _code(figure.command), figure.date)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    padding = " " if "`" in text else ""
    return f"{fence}{padding}{_escaped(text)}{padding}{fence}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")  # a bar would end the table cell, inside code too


def _is_benchmark(key: str) -> bool:
    return key.startswith("bench.")
