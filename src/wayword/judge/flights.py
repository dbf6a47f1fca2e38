"""Reading what was flown: results of ``wayword eval`` and ``wayword eval table`` as flights that can be shown.

{"policy": "oracle", "split": ..., "flights": [{"example": "dev-000/1-2", "track": "..."}]}      wayword eval
{"split": "dev", "cells": {"fspvn.dev.natural": {"system": "FsPVN", "flights": [...]}}}          wayword eval table
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayword.episodes import Example
from wayword.errors import DataError, WaywordError
from wayword.guarded import read_json
from wayword.recording.track import PoseTrack, read_track

LARGEST_BYTES = 200_000_000
"""Of a file with results; a table of eight systems has some ten million."""
_FOREIGN = "is not what `wayword eval --out` or `wayword eval table` writes"
ResultsFile = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class StudyFlight:
    """One flight that raters see."""

    system: str
    example: Example
    track: PoseTrack


def read_flights(
    results: Sequence[Path], load: Callable[[ResultsFile], Sequence[Example]], kind: str = "natural"
) -> list[StudyFlight]:
    """All flights of several results; ``load`` gives the examples a result was flown on, ``kind`` picks the column of
    a table: natural, generated or seen."""
    flights: list[StudyFlight] = []
    for path in results:
        report = _read(path)
        try:
            parts = _cells(path, report, kind) if "cells" in report else [(str(report["policy"]), report)]
            by_id = {example.id: example for example in load(report)}
            for system, part in parts:
                flights += _flights(path, system, part["flights"], by_id)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(path, _FOREIGN) from error
        except DataError:
            raise
        except WaywordError as error:
            raise DataError(path, str(error)) from error
    pairs = set()
    for flight in flights:
        if (pair := (flight.system, flight.example.id)) in pairs:
            raise WaywordError(f"{pair[0]} flew {pair[1]} twice; give every result once")
        pairs.add(pair)
    return flights


def flights_in_common(flights: Sequence[StudyFlight]) -> dict[str, dict[str, StudyFlight]]:
    """Flights by example and system, of the examples that every system flew; order is kept."""
    systems = {flight.system for flight in flights}
    table: dict[str, dict[str, StudyFlight]] = {}
    for flight in flights:
        table.setdefault(flight.example.id, {})[flight.system] = flight
    common = {example: row for example, row in table.items() if row.keys() == systems}
    if not common:
        raise WaywordError("no example was flown by every system; evaluate them on the same episodes")
    return common


def _flights(path: Path, system: str, rows: Any, examples: Mapping[str, Example]) -> Iterator[StudyFlight]:
    for row in rows:
        name = row["example"]
        if name not in examples:
            quoted = f"{name!r}"[:60]
            raise DataError(path, f"example {quoted} is not among the episodes the file names; evaluate again")
        if "track" not in row:
            raise DataError(path, f"{system}: flights have no tracks; evaluate again (a table: in a new --folder)")
        yield StudyFlight(system, examples[name], read_track(row["track"]))


def _cells(path: Path, report: ResultsFile, kind: str) -> list[tuple[str, Any]]:
    column = ".seen.natural" if kind == "seen" else f".{report['split']}.{kind}"
    cells = [(str(cell["system"]), cell) for key, cell in report["cells"].items() if key.endswith(column)]
    if not cells:
        raise DataError(path, f"the table has no column for --episodes {kind}; it has {', '.join(report['cells'])}")
    return cells


def _read(path: Path) -> dict[str, Any]:
    report = read_json(path, LARGEST_BYTES, "write one with wayword eval --out")
    if not isinstance(report, dict):
        raise DataError(path, _FOREIGN)
    return report
