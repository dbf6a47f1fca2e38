"""Every figure the project publishes, once, with the command that produced it.

``docs/results.json`` maps a dotted key to a ``Figure``; the pages made of it are never edited.

Units: rates in "%", distances in "m", times in "ms", "" for scores without a unit; other quantities
("fps", "MB") as they come.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date as calendar_date
from pathlib import Path
from typing import Any

from wayword import io
from wayword.errors import DataError, WaywordError
from wayword.guarded import parse_json, read_text
from wayword.intervals import Interval

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


def load_results(path: Path | str) -> dict[str, Figure]:
    """Read and check ``results.json``; the error names the line or the key that is wrong."""
    try:
        raw = parse_json(read_text(path, remedy="publish a figure first"), pairs=_once)
    except json.JSONDecodeError as error:
        raise DataError(path, f"not valid JSON ({error.msg}); restore it from git", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise DataError(path, f"not valid JSON ({error}); restore it from git") from error
    except DataError:
        raise
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
