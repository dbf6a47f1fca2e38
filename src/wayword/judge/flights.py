"""Reading what was flown: results of ``wayword eval`` and ``wayword eval table`` as flights that can be shown.

{"policy": "oracle", "split": ..., "flights": [{"example": "dev-000/1-2", "track": "..."}]}      wayword eval
{"split": "dev", "cells": {"fspvn.dev.natural": {"system": "FsPVN", "flights": [...]}}}          wayword eval table
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayword.episodes import Example
from wayword.errors import DataError, WaywordError
from wayword.evaluation.track import Track, read_track

LARGEST_BYTES = 200_000_000
"""Of a file with results; a table of eight systems has some ten million."""
_FOREIGN = "is not what `wayword eval --out` or `wayword eval table` writes"
Report = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Shown:
    """One flight that raters see."""

    system: str
    example: Example
    track: Track


def read_flights(
    results: Sequence[Path], load: Callable[[Report], Sequence[Example]], kind: str = "natural"
) -> list[Shown]:
    """All flights of several results; ``load`` gives the examples a result was flown on, ``kind`` picks the column of
    a table: natural, generated or seen."""
    flights: list[Shown] = []
    for path in results:
        report = _read(path)
        try:
            parts = _cells(path, report, kind) if "cells" in report else [(str(report["policy"]), report)]
            known = {example.id: example for example in load(report)}
            for system, part in parts:
                flights += _flights(path, system, part["flights"], known)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(path, _FOREIGN) from error
        except DataError:
            raise
        except WaywordError as error:
            raise DataError(path, str(error)) from error
    seen = set()
    for flight in flights:
        if (pair := (flight.system, flight.example.id)) in seen:
            raise WaywordError(f"{pair[0]} flew {pair[1]} twice; give every result once")
        seen.add(pair)
    return flights


def in_common(flights: Sequence[Shown]) -> dict[str, dict[str, Shown]]:
    """Flights by example and system, of the examples that every system flew; order is kept."""
    systems = {flight.system for flight in flights}
    table: dict[str, dict[str, Shown]] = {}
    for flight in flights:
        table.setdefault(flight.example.id, {})[flight.system] = flight
    common = {example: row for example, row in table.items() if row.keys() == systems}
    if not common:
        raise WaywordError("no example was flown by every system; evaluate them on the same episodes")
    return common


def _flights(path: Path, system: str, rows: Any, known: Mapping[str, Example]) -> Iterator[Shown]:
    for row in rows:
        name = row["example"]
        if name not in known:
            shown = f"{name!r}"[:60]
            raise DataError(path, f"example {shown} is not among the episodes the file names; evaluate again")
        if "track" not in row:
            raise DataError(path, f"{system}: flights have no tracks; evaluate again (a table: in a new --folder)")
        yield Shown(system, known[name], read_track(row["track"]))


def _cells(path: Path, report: Report, kind: str) -> list[tuple[str, Any]]:
    column = ".seen.natural" if kind == "seen" else f".{report['split']}.{kind}"
    found = [(str(cell["system"]), cell) for key, cell in report["cells"].items() if key.endswith(column)]
    if not found:
        raise DataError(path, f"the table has no column for --episodes {kind}; it has {', '.join(report['cells'])}")
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise DataError(path, f"is larger than {LARGEST_BYTES // 10**6} MB; evaluate with --limit")
        report = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); write one with wayword eval --out") from error
    except (ValueError, RecursionError) as error:
        raise DataError(path, "is not valid JSON; write it anew with wayword eval --out") from error
    if not isinstance(report, dict):
        raise DataError(path, _FOREIGN)
    return report
