"""An instruction of one's own: where to fly it, and what to say about a flight that nobody demonstrated.

A layout is drawn that holds what the instruction mentions, in an order that can be flown: the first thing ahead of
the drone, the next ones not far beyond, with room to pass on either side. The policy is told nothing of this.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wayword.episodes import (
    SPLITS,
    Episode,
    EpisodeRules,
    Example,
    LayoutConfig,
    PlacedObject,
    Pose2,
    Segment,
    examples,
    load_natural,
    random_layout,
)
from wayword.episodes.geometry import distances_to_path, wrap
from wayword.episodes.loader import check_episode
from wayword.errors import DataError, WaywordError
from wayword.guarded import read_json
from wayword.pilot.verdict import ENDED_WORDS, FlightEnd, FlightJudge, Verdict
from wayword.task import ARENA_M

_LAYOUTS = 200
_START_CLEARANCE_M = 0.55
_START_EDGE_M = 0.53
_START_YAW_RAD = 0.35
"""Standard deviation about the direction of the first thing mentioned."""
_NEAR_M, _FAR_M = 1.0, 2.3
"""How far apart things that are mentioned one after the other should be, the start included."""
_TURN_RAD = 1.4
"""How far the way from one to the next should bend at most."""
_ASIDE_M = 0.6
"""From the straight way to things that are not mentioned."""
_ROOM_M = 1.1
"""From the edge to a thing that something else follows: it can then be passed on either side."""


def free_example(
    id: str, instruction: str, objects: Sequence[PlacedObject], start: Pose2, arena_m: float = ARENA_M
) -> Example:
    """An example without a demonstration: its path is the start alone."""
    ahead = np.array([start.x, start.y]) + 0.01 * np.array([math.cos(start.yaw), math.sin(start.yaw)])
    path = np.array([[start.x, start.y], ahead])  # an episode's path has two points
    episode = Episode(id, "free", arena_m, tuple(objects), start, path, (Segment(1, instruction),), "you")
    return Example(id, episode, 0, 1, instruction, start, path[:1])


def is_free(example: Example) -> bool:
    """Whether nobody demonstrated the example, so that it cannot be scored."""
    return len(example.path) < 2


def title_of(example: Example) -> str:
    """What a flight is called: after the example, or after where the layout of an instruction of one's own is from."""
    return f"layout of {example.id}" if is_free(example) else example.id


def draw_scene(
    mentioned: Sequence[str], known: Collection[str], others: Collection[str], rng: np.random.Generator
) -> tuple[tuple[PlacedObject, ...], Pose2]:
    """A layout with all that is ``mentioned``, objects that are ``known``, and ``others`` if those are few; a start."""
    config = LayoutConfig()
    must = list(dict.fromkeys(mentioned))[: config.max_objects]
    pool = sorted(set(known) - set(must))
    spare = sorted(set(others) - set(must) - set(pool))
    room = range(max(config.min_objects, len(must)), config.max_objects + 1)
    count = int(rng.choice(room))
    present = must + [pool[i] for i in rng.permutation(len(pool))][: max(count - len(must), 0)]
    missing = max(config.min_objects - len(present), 0)
    present += [spare[i] for i in rng.permutation(len(spare))][:missing]
    exact = LayoutConfig(min_objects=len(present), max_objects=len(present))
    best: tuple[float, tuple[PlacedObject, ...], Pose2] | None = None
    for _ in range(_LAYOUTS):
        layout = random_layout(present, rng, exact)
        way = [next((o.x, o.y) for o in layout if o.name == name) for name in must]
        start = _draw_start(layout, way, rng)
        if start is None:
            continue
        strain = _strain(start, way, [(o.x, o.y) for o in layout])
        if best is None or strain < best[0]:
            best = strain, layout, start
        if strain == 0:
            break
    if best is None:
        raise WaywordError("no free place to start was found in 200 layouts; mention fewer objects")
    return best[1], best[2]


def _draw_start(
    layout: Sequence[PlacedObject], way: Sequence[tuple[float, float]], rng: np.random.Generator
) -> Pose2 | None:
    side = LayoutConfig().arena_m
    x, y = rng.uniform(_START_EDGE_M, side - _START_EDGE_M, 2).round(3).tolist()
    towards = way[0] if way else (side / 2, side / 2)
    yaw = wrap(math.atan2(towards[1] - y, towards[0] - x) + rng.normal(0, _START_YAW_RAD))
    clear = min(math.dist((x, y), (o.x, o.y)) for o in layout) >= _START_CLEARANCE_M
    return Pose2(x, y, round(yaw, 3)) if clear else None


def _strain(start: Pose2, way: Sequence[tuple[float, float]], objects: Sequence[tuple[float, float]]) -> float:
    """How far a way is from an easy one: metres of legs too short or too long, and radians of turns too sharp.

    Metres that are missing for room count as well: between the edge and what is to be passed, and between the way and
    whatever else stands there.
    """
    points = [(start.x, start.y), *way]
    total, heading = 0.0, None
    for (ax, ay), (bx, by) in itertools.pairwise(points):
        length, direction = math.dist((ax, ay), (bx, by)), math.atan2(by - ay, bx - ax)
        total += max(0.0, _NEAR_M - length) + max(0.0, length - _FAR_M)
        if heading is not None:
            total += max(0.0, abs(wrap(direction - heading)) - _TURN_RAD)
        heading = direction
    side = LayoutConfig().arena_m
    total += sum(max(0.0, _ROOM_M - min(x, y, side - x, side - y)) for x, y in way[:-1])
    others = np.array([place for place in objects if place not in way]).reshape(-1, 2)
    if len(points) > 1 and len(others):
        total += float(np.maximum(0.0, _ASIDE_M - distances_to_path(others, np.array(points))).sum())
    return total


def read_layout(source: str, instruction: str, known_objects: Collection[str]) -> Example:
    """A layout to fly ``instruction`` in: an example such as "dev-003/1-2", or a JSON file.

    The file holds an episode, or the trace of an earlier flight; of both only "objects", "start" and "arena_m" count.
    """
    split = source.split("-", 1)[0]
    if split in SPLITS and not Path(source).exists():
        return _corpus_layout(source, split, instruction)
    try:
        episode = _layout_episode(_read_record(Path(source)), instruction)
        _check_start(episode, EpisodeRules().min_clearance_m)
        check_episode(episode, known_objects, EpisodeRules())
    except DataError:
        raise
    except WaywordError as error:
        raise DataError(source, str(error)) from None
    return free_example(Path(source).stem, instruction, episode.objects, episode.start, episode.arena_m)


def _layout_episode(record: dict[str, Any], instruction: str) -> Episode:
    """The layout as an episode that goes no farther than its start."""
    missing = next((key for key in ("objects", "start") if key not in record), None)
    if missing:
        raise WaywordError(f"field '{missing}' is missing")
    template = free_example("layout", instruction, (), Pose2(0.0, 0.0, 0.0)).episode.to_json()
    episode = Episode.from_json(
        template | {key: record[key] for key in ("objects", "start", "arena_m") if key in record}
    )
    here = np.array([episode.start.x, episode.start.y])
    inwards = np.where(here < episode.arena_m / 2, 1e-6, -1e-6)
    return replace(episode, path=np.array([here, here + inwards]))


def _check_start(episode: Episode, clearance_m: float) -> None:
    """In words about a start: whoever wrote a layout wrote no path."""
    x, y = episode.start.x, episode.start.y
    if not all(0 <= value <= episode.arena_m for value in (x, y)):
        raise WaywordError(f"the start ({x:g}, {y:g}) lies outside the {episode.arena_m:g} m arena")
    nearest = min(episode.objects, key=lambda item: math.dist((x, y), (item.x, item.y)))
    if (gap := math.dist((x, y), (nearest.x, nearest.y))) < clearance_m:
        raise WaywordError(f"the start is {gap:.2f} m from the '{nearest.name}'; at least {clearance_m:g} m is needed")


def _corpus_layout(source: str, split: str, instruction: str) -> Example:
    name = source.split("/", 1)[0]
    episodes = load_natural(split)
    episode = next((episode for episode in episodes if episode.id == name), None)
    if episode is None:
        raise WaywordError(f"no layout {source!r}; the first is {episodes[0].id!r}, the last {episodes[-1].id!r}")
    start = episode.start
    if source != name:
        cuts = {cut.id: cut for segments in (1, 2) for cut in examples(episode, segments)}
        if source not in cuts:
            raise WaywordError(f"no example {source!r}; there are {', '.join(cuts)}")
        start = cuts[source].start
    return free_example(source, instruction, episode.objects, start, episode.arena_m)


def _read_record(path: Path) -> dict[str, Any]:
    record = read_json(path, 2**24, "give a file of one episode, or an example such as dev-003")
    if not isinstance(record, dict):
        raise DataError(path, "is not one JSON object; keep one episode in the file")
    return record


def judge_by_mentions(mentioned: Sequence[str]) -> FlightJudge:
    """For a flight that nobody demonstrated: says where it ended, not whether that was right."""
    return lambda end: Verdict(describe_end(end, mentioned))


def describe_end(end: FlightEnd, mentioned: Sequence[str]) -> str:
    """What a flight came to, in one line: where it ended, how near it came to what else was mentioned, its contacts.

    The end is told from the last of ``mentioned``, the goal, even if something else is nearer.
    """
    example, contacts = end.example, end.contacts
    x, y, *_, yaw = end.pose.tolist()
    ended = ENDED_WORDS[end.ending]
    places = {item.name: (item.x, item.y) for item in example.objects}
    names = [name for name in mentioned if name in places]
    if names:
        goal_x, goal_y = places[names[-1]]
        bearing = wrap(math.atan2(goal_y - y, goal_x - x) - yaw)
        place = f"{math.dist((x, y), (goal_x, goal_y)):.2f} m from the {names[-1]}, {_side(bearing)}"
    else:
        place = f"{math.dist((x, y), (example.start.x, example.start.y)):.2f} m from where it started"
    passed = [
        f"came within {np.hypot(*(end.path - places[name]).T).min():.2f} m of the {name}"
        for name in dict.fromkeys(names)
        if name != names[-1]
    ]
    touched = "no contacts" if not contacts else f"{contacts} contact{'s' if contacts > 1 else ''}"
    return "; ".join([f"{ended} after {end.seconds:.1f} s, {place}", *passed, touched])


def _side(bearing: float) -> str:
    """Where something in this direction is, seen from the drone."""
    if abs(bearing) < math.radians(30):
        return "which is ahead"
    if abs(bearing) > math.radians(150):
        return "which is behind it"
    side = "left" if bearing > 0 else "right"
    if abs(bearing) < math.radians(60):
        return f"which is ahead on its {side}"
    return f"which is on its {side}" if abs(bearing) < math.radians(120) else f"which is behind on its {side}"
