"""Every figure the project publishes, once, with the command that produced it.

``docs/results.json`` maps a dotted key to a ``Figure``; ``docs/results.md`` and ``docs/benchmarks.md``
are rendered from it and never edited. Keys that start with ``bench.`` are benchmarks, in one table; the
first component of any other key names its section of the page.

Units: rates in "%", distances in "m", times in "ms", "" for scores without a unit; other quantities
("fps", "MB") as they come.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date as calendar_date
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

from wayword import io
from wayword.errors import DataError, WaywordError
from wayword.evaluation.intervals import Interval
from wayword.evaluation.summary import METRICS, format_number

_KEY = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+")
_PREFERRED = {
    "s": "ms",
    "us": "ms",
    "µs": "ms",
    "ns": "ms",
    "cm": "m",
    "mm": "m",
    "percent": "%",
    "fraction": "%",
}

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
_ABOUT_BENCHMARKS = """\
Measured on one machine on the day given; compare rows of one table, not with another machine.
An interval is given where the measurement was repeated enough to have one.

`wayword bench sim` measures the simulator. `wayword bench policy` measures how long FsPVN thinks about a step, for one
drone on one core, and which stage takes how much of it; its figures stand under `policy` in [results.md](results.md).
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


@dataclass(frozen=True)
class Figure:
    """One published number; ``low`` and ``high`` are its 95 % interval, or both None."""

    value: float
    low: float | None
    high: float | None
    n: int
    """Episodes, sentences or other items, or repetitions of a benchmark."""
    command: str
    """What to run to get the number again."""
    date: str
    """Day of measurement, YYYY-MM-DD."""
    unit: str

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise WaywordError("low and high must both be numbers or both be null")
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if (number is not None or name == "value") and not _is_finite_number(number):
                raise WaywordError(f"{name} is {number!r}; it must be a finite number")
        if self.low is not None and self.high is not None and not self.low <= self.value <= self.high:
            raise WaywordError(f"value {self.value} lies outside its interval [{self.low}, {self.high}]")
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1:
            raise WaywordError(f"n is {self.n!r}; it must be a count of at least 1")
        if not _is_line(self.command):
            raise WaywordError(f"command is {self.command!r}; give the one line that reproduces the figure")
        if not _is_iso_date(self.date):
            raise WaywordError(f"date is {self.date!r}; write it as YYYY-MM-DD")
        if self.unit != "" and not _is_line(self.unit):
            raise WaywordError(f"unit is {self.unit!r}; write a short name, or nothing for a plain score")
        if self.unit in _PREFERRED:
            raise WaywordError(f"unit is {self.unit!r}; convert the figure to {_PREFERRED[self.unit]}")
        if self.unit == "%" and not (0 <= self.value <= 100):
            raise WaywordError(f"value is {self.value} %; rates lie between 0 and 100")

    @classmethod
    def of(cls, interval: Interval, unit: str, command: str, date: str) -> Figure:
        """A measured interval as a figure; where the unit is "%", the interval holds fractions."""
        scale = 100 if unit == "%" else 1
        low, high = scale * interval.low, scale * interval.high
        return cls(scale * interval.mean, low, high, interval.n, command, date, unit)


def figures(prefix: str, summary: Mapping[str, Interval], command: str, date: str) -> dict[str, Figure]:
    """A summary as figures named ``prefix.metric``, with fractions turned into percent."""
    return {
        f"{prefix}.{name}": Figure.of(interval, METRICS[name].unit, command, date) for name, interval in summary.items()
    }


def load_results(path: Path | str) -> dict[str, Figure]:
    """Read and check ``results.json``; the error names the line or the key that is wrong."""
    try:
        raw = json.loads(
            Path(path).read_text(encoding="utf-8"), object_pairs_hook=_once, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        raise DataError(path, f"not valid JSON ({error.msg}); restore it from git", error.lineno) from error
    except UnicodeDecodeError as error:
        raise DataError(path, "not UTF-8 text; restore it from git") from error
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); publish a figure first") from error
    except WaywordError as error:
        raise DataError(path, str(error)) from error
    if not isinstance(raw, dict):
        raise DataError(path, f"holds a {type(raw).__name__}; it must map keys to figures")
    results = {}
    for key in sorted(raw):
        try:
            results[key] = _figure(_checked_key(key), raw[key])
        except WaywordError as error:
            raise DataError(path, f"{key}: {error}") from error
    return results


def publish(path: Path | str, new: Mapping[str, Figure]) -> None:
    """Add or replace ``new`` figures in ``results.json``, sorted by key; the file is made if missing.

    The replacement is atomic, but two commands publishing at the same instant would keep only the
    figures of the later one: publish one after the other.
    """
    for key in new:
        _checked_key(key)
    merged = {**(load_results(path) if Path(path).exists() else {}), **new}
    io.write_json(path, {key: asdict(merged[key]) for key in sorted(merged)})


def render_results_md(results: Mapping[str, Figure]) -> str:
    """The text of ``docs/results.md``: every figure that is not a benchmark."""
    rest = [key for key in sorted(results) if not _is_benchmark(key)]
    return _page("Results", _ABOUT_RESULTS, rest, results)


def render_benchmarks_md(results: Mapping[str, Figure]) -> str:
    """The text of ``docs/benchmarks.md``: the figures whose keys start with ``bench.``."""
    benchmarks = [key for key in sorted(results) if _is_benchmark(key)]
    return _page("Benchmarks", _ABOUT_BENCHMARKS, benchmarks, results)


def _page(title: str, about: str, keys: list[str], results: Mapping[str, Figure]) -> str:
    parts = [f"# {title}\n", _GENERATED, about]
    for section, members in groupby(keys, key=lambda key: key.split(".")[0]):
        if section != "bench":
            parts.append(f"## {section}\n")
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


def _figure(key: str, raw: Any) -> Figure:
    if not isinstance(raw, dict):
        raise WaywordError(f"is a {type(raw).__name__}; it must be an object with the fields of a figure")
    expected = {field.name for field in fields(Figure)}
    if raw.keys() != expected:
        wrong = ", ".join(sorted(raw.keys() ^ expected))
        raise WaywordError(f"missing or unknown fields: {wrong}")
    return Figure(**raw)


def _checked_key(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise WaywordError(f"bad key {key!r}; write section.name, of letters, digits, _ and -")
    return key


def _is_benchmark(key: str) -> bool:
    return key.startswith("bench.")


def _is_finite_number(number: object) -> bool:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return False
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer beyond any float
        return False


def _is_line(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip()) and len(text.splitlines()) == 1


def _is_iso_date(text: object) -> bool:
    try:
        return isinstance(text, str) and calendar_date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise WaywordError(f"{twice!r} stands there twice; keep one of the two")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise WaywordError(f"holds {name}; figures are finite")
