"""Reading and writing episode files (.jsonl, one episode per line).

Every defect is a ``DataError`` that names the file and the line, so that a person can open it there.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wayword.episodes.format import Episode
from wayword.episodes.geometry import distances_to_path
from wayword.errors import DataError, WaywordError
from wayword.guarded import parse_json, read_bytes
from wayword.io import atomic_path

MAX_BYTES = 2**29
"""Of one file of episodes."""


@dataclass(frozen=True)
class EpisodeRules:
    """What a demonstration must respect to be flyable."""

    min_clearance_m: float = 0.29
    """Least distance from the path to an object's centre. The natural corpus keeps 0.30 m at its points and
    a little less half-way between two of them."""
    max_arena_m: float = 50.0
    """Largest side of an arena."""
    max_length_m: float = 300.0
    """Longest path."""
    max_points: int = 5000
    """Most points of a path; at one every 6 cm that is 300 m."""
    start_tolerance_m: float = 0.10
    """Largest distance from the start pose to the first path point."""


def load_episodes(
    path: Path | str,
    known_objects: Collection[str] | None = None,
    rules: EpisodeRules | None = None,
) -> list[Episode]:
    """Read and check a .jsonl file.

    ``known_objects`` are the names the world can show; None accepts any name. A byte-order mark, Windows line
    ends and blank lines are accepted.
    """
    raw = read_bytes(path, MAX_BYTES, remedy="check the path: one JSON object per line is wanted")
    episodes: list[Episode] = []
    lines_of: dict[str, int] = {}
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            episode = Episode.from_json(_parse(line))
            check_episode(episode, known_objects, rules or EpisodeRules())
        except WaywordError as error:
            raise DataError(path, str(error), number) from None
        if episode.id in lines_of:
            message = f"id '{episode.id}' was already used on line {lines_of[episode.id]}; ids must be unique"
            raise DataError(path, message, number)
        lines_of[episode.id] = number
        episodes.append(episode)
    if not episodes:
        raise DataError(path, "holds no episodes; expected one JSON object per line")
    return episodes


def write_episodes(path: Path | str, episodes: Iterable[Episode]) -> None:
    """Write one episode per line, atomically. What is written can be read back unchanged."""
    ids: set[str] = set()
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for episode in episodes:
            if episode.id in ids:
                raise WaywordError(f"{path}: not written, two episodes have the id '{episode.id}'")
            ids.add(episode.id)
            try:
                line = json.dumps(episode.to_json(), ensure_ascii=False, allow_nan=False)
            except ValueError:
                raise WaywordError(f"{path}: not written, '{episode.id}' holds a NaN or infinity") from None
            file.write(line + "\n")


def check_episode(episode: Episode, known_objects: Collection[str] | None, rules: EpisodeRules) -> None:
    """Raise a one-line ``WaywordError`` for the first thing that is wrong with an episode."""
    if not 0 < episode.arena_m <= rules.max_arena_m:
        raise WaywordError(f"arena_m must be positive and at most {rules.max_arena_m:g}, found {episode.arena_m:g}")
    for label, text in (("id", episode.id), ("split", episode.split)):
        if not text.isprintable():
            raise WaywordError(f"{label} {text!r} holds line breaks or control characters")
    _check_objects(episode, known_objects)
    _check_path(episode, rules)
    _check_segments(episode)


def _check_objects(episode: Episode, known_objects: Collection[str] | None) -> None:
    names: set[str] = set()
    for index, placed in enumerate(episode.objects):
        where = f"objects[{index}]"
        if not placed.name.isprintable():
            raise WaywordError(f"{where}: the name {placed.name!r} holds line breaks or control characters")
        if known_objects is not None and placed.name not in known_objects:
            close = difflib.get_close_matches(placed.name, sorted(known_objects), n=1, cutoff=0.5)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise WaywordError(f"{where}: unknown object '{placed.name}'{hint}")
        if placed.name in names:
            raise WaywordError(f"{where}: a second '{placed.name}'; names must be unique within a layout")
        names.add(placed.name)
        if not (0 <= placed.x <= episode.arena_m and 0 <= placed.y <= episode.arena_m):
            place = f"({placed.x:g}, {placed.y:g})"
            raise WaywordError(f"{where}: '{placed.name}' at {place} stands outside the {_arena(episode)}")


def _check_path(episode: Episode, rules: EpisodeRules) -> None:
    path, arena = episode.path, episode.arena_m
    if len(path) > rules.max_points:
        raise WaywordError(f"path has {len(path):,} points; at most {rules.max_points:,} are allowed")
    outside = np.flatnonzero(((path < 0) | (path > arena)).any(axis=1))
    if len(outside):
        i = int(outside[0])
        point = f"({path[i, 0]:g}, {path[i, 1]:g})"
        raise WaywordError(f"path[{i}] at {point} leaves the {_arena(episode)}")
    gap = math.hypot(episode.start.x - path[0, 0], episode.start.y - path[0, 1])
    if gap > rules.start_tolerance_m:
        limit = f"at most {rules.start_tolerance_m:g} m is allowed"
        raise WaywordError(f"start is {gap:.2f} m away from path[0]; {limit}")
    length = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
    if length > rules.max_length_m:
        raise WaywordError(f"path is {length:.0f} m long; at most {rules.max_length_m:g} m are allowed")
    centres = np.array([[o.x, o.y] for o in episode.objects])
    distances = distances_to_path(centres, path)
    nearest = int(distances.argmin())
    if distances[nearest] < rules.min_clearance_m:
        name, limit = episode.objects[nearest].name, f"at least {rules.min_clearance_m:g} m is needed"
        raise WaywordError(f"the path comes within {distances[nearest]:.3f} m of the '{name}'; {limit}")


def _check_segments(episode: Episode) -> None:
    last, before = len(episode.path) - 1, 0
    for index, segment in enumerate(episode.segments):
        where = f"segments[{index}]: end {segment.end}"
        if not 0 <= segment.end <= last:
            raise WaywordError(f"{where} is out of range; the path has points 0 to {last}")
        if segment.end <= before:
            raise WaywordError(f"{where} must be greater than {before}, where the segment begins")
        if not np.ptp(episode.path[before : segment.end + 1], axis=0).any():
            raise WaywordError(f"{where}: the path stands still in this segment")
        before = segment.end
    if before != last:
        raise WaywordError(f"the last segment ends at {before}, but the path ends at {last}; they must agree")


def _parse(line: bytes) -> object:
    try:
        return parse_json(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise WaywordError("not UTF-8 text; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise WaywordError(f"not valid JSON ({error.msg} at column {error.colno})") from None
    except ValueError as error:  # NaN, a number of thousands of digits, or thousands of brackets
        raise WaywordError(f"not valid JSON ({error})") from None


def _arena(episode: Episode) -> str:
    return f"{episode.arena_m:g} m arena"
