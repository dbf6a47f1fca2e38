"""Procedural demonstrations: a random layout, a start, and four or five manoeuvres flown one after the other.

Legs are drawn one by one and kept if they are clear of objects and edges, of a fair length and not a retrace
of the path so far. The sketch of the whole path is then smoothed once, which rounds the corners between
segments, and cut into steps of 6 cm. Only then is it decided whether each segment does what was meant
(``measure_manoeuvre``); a path that fails any check is thrown away.
"""

from __future__ import annotations

import bisect
import math
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from wayword.episodes.format import Episode, PlacedObject, Pose2, Segment
from wayword.episodes.geometry import Array, arc_length, distances_to_path, edge_distance, wrap
from wayword.episodes.layouts import LayoutConfig, random_layout
from wayword.episodes.leg_pieces import SKETCH_STEP_M, Point
from wayword.episodes.legs import Leg, LegConfig, propose_leg
from wayword.episodes.manoeuvres import Manoeuvre, ManoeuvreKind, measure_manoeuvre, plain_instruction
from wayword.errors import WaywordError

_PATHS_PER_LAYOUT = 8
_LAYOUTS = 100
_DRAWS_PER_LEG = 40
_KINDS: tuple[ManoeuvreKind, ...] = ("approach", "pass", "around", "between", "beside")


@dataclass(frozen=True)
class PathConfig:
    """What demonstrations look like. The defaults follow the natural corpus."""

    layout: LayoutConfig = field(default_factory=LayoutConfig)
    legs: LegConfig = field(default_factory=LegConfig)
    min_segments: int = 4
    max_segments: int = 5
    min_segment_m: float = 0.6
    max_segment_m: float = 2.7
    step_m: float = 0.06
    object_clearance_m: float = 0.30
    edge_clearance_m: float = 0.43
    start_clearance_m: float = 0.55
    """Least distance from the start to an object."""
    smoothing_m: float = 0.12
    """Standard deviation of the Gaussian along the path that rounds the corners."""
    max_curvature: float = 2.8
    """1/m, away from corners: a drone that turns at 1 rad/s flies it at 0.36 m/s."""
    max_corner_rad: float = 2.7
    """Sharper corners would fly back along the same line."""
    max_retrace_m: float = 0.3
    """How much of a leg may run along the earlier path."""
    start_yaw_rad: float = 0.49
    """Standard deviation of the start yaw about the path's first direction."""
    typical_segment_m: float = 1.4
    """Shorter legs are kept only in proportion to their length: most draws are short."""
    weights: tuple[float, float, float, float, float] = (0.2, 0.32, 0.25, 0.17, 0.06)
    """How often to try approach, pass, around, between, beside."""


def generate_episode(
    id: str, split: str, names: Collection[str], rng: np.random.Generator, config: PathConfig | None = None
) -> tuple[Episode, tuple[Manoeuvre, ...]]:
    """One episode with objects out of ``names`` and plain instructions, and the facts of its segments."""
    config = config or PathConfig()
    for _ in range(_LAYOUTS):
        objects = random_layout(names, rng, config.layout)
        for _ in range(_PATHS_PER_LAYOUT):
            count = int(rng.integers(config.min_segments, config.max_segments + 1))
            flown = _plan(objects, count, rng, config)
            pair = finish_episode(id, split, objects, flown, rng, config) if flown else None
            if pair is not None:
                return pair
    raise WaywordError("no path fits these settings; use fewer objects, smaller clearances or fewer segments")


def generate_episodes(
    split: str,
    count: int,
    seed: int,
    names: Collection[str],
    config: PathConfig | None = None,
    first: int = 0,
) -> Iterator[tuple[Episode, tuple[Manoeuvre, ...]]]:
    """Episodes ``first`` to ``first + count - 1`` of the endless sequence (split, seed, names, config).

    Each depends on its own index only, so generation can be resumed and divided among processes.
    """
    if seed < 0:
        raise WaywordError(f"the seed must not be negative, found {seed}")
    for index in range(first, first + count):
        rng = np.random.default_rng([seed, zlib.crc32(split.encode()), index])
        yield generate_episode(f"{split}-g{seed}-{index:06d}", split, names, rng, config)


@dataclass(frozen=True)
class FlownLeg:
    """A leg that was accepted: its dense points, and (x, y, heading) every 6 cm."""

    leg: Leg
    points: Array
    states: Array


def _plan(
    objects: Sequence[PlacedObject], count: int, rng: np.random.Generator, config: PathConfig
) -> list[FlownLeg] | None:
    """Draw ``count`` legs; None if the drawing got stuck."""
    centres: list[Point] = [(o.x, o.y) for o in objects]
    margin = config.edge_clearance_m + 0.1
    starts = rng.uniform(margin, config.layout.arena_m - margin, (50, 2)).tolist()
    clear = ((x, y) for x, y in starts if min(math.dist((x, y), c) for c in centres) >= config.start_clearance_m)
    at = next(clear, None)
    if at is None:
        return None
    limits = (np.cumsum(config.weights) / sum(config.weights)).tolist()
    grid, flown = np.array(centres), list[FlownLeg]()
    for _ in range(count):
        for _ in range(_DRAWS_PER_LEG):
            kind = _KINDS[min(bisect.bisect(limits, rng.random()), len(_KINDS) - 1)]
            leg = propose_leg(kind, at, centres, rng, config.legs)
            if leg is not None and _sizeable(leg, rng, config):
                points = leg.points(rng, config.legs.bow)
                states = acceptable(points, grid, flown, config)
                if states is not None:
                    break
        else:
            return None
        flown.append(FlownLeg(leg, points, states))
        at = leg.end
    return flown


def _sizeable(leg: Leg, rng: np.random.Generator, config: PathConfig) -> bool:
    """Cheap checks before a leg is drawn out: its length, and that its end is inside the arena."""
    low, high = config.edge_clearance_m, config.layout.arena_m - config.edge_clearance_m
    x, y = leg.end
    if not (low < x < high and low < y < high):
        return False
    if not config.min_segment_m < leg.length < config.max_segment_m + 0.05:  # rounding shortens corners
        return False
    return bool(rng.random() * config.typical_segment_m < leg.length)


def acceptable(points: Array, centres: Array, flown: Sequence[FlownLeg], config: PathConfig) -> Array | None:
    """(x, y, heading) every 6 cm if the leg is clear and does not retrace ``flown``, else None."""
    slack = 0.01  # smoothing pulls arcs inwards by up to about this much
    if edge_distance(points, config.layout.arena_m) < config.edge_clearance_m:
        return None
    coarse = points[::3]
    step = np.diff(coarse, axis=0)
    states = np.column_stack([coarse[1:], np.arctan2(step[:, 1], step[:, 0])])
    if flown and abs(wrap(states[0, 2] - flown[-1].states[-1, 2])) > config.max_corner_rad:
        return None
    gaps = np.hypot(coarse[:, None, 0] - centres[None, :, 0], coarse[:, None, 1] - centres[None, :, 1])
    if gaps.min() < config.object_clearance_m + slack:
        return None
    if flown:
        before = np.concatenate([f.states for f in flown])
        apart = np.hypot(states[:, None, 0] - before[None, :, 0], states[:, None, 1] - before[None, :, 1])
        parallel = np.abs(np.cos(states[:, None, 2] - before[None, :, 2])) > 0.94
        if ((apart < 0.15) & parallel).any(axis=1).sum() * 3 * SKETCH_STEP_M > config.max_retrace_m:
            return None
    return states


def finish_episode(
    id: str,
    split: str,
    objects: tuple[PlacedObject, ...],
    flown: Sequence[FlownLeg],
    rng: np.random.Generator,
    config: PathConfig,
    yaw: float | None = None,
) -> tuple[Episode, tuple[Manoeuvre, ...]] | None:
    """The episode of these legs and its facts, or None if the finished path is not as meant.

    Without ``yaw`` the drone looks at random about the path's first direction.
    """
    path, ends = _smooth_path([f.points for f in flown], config)
    if not _flyable(path, ends, objects, config):
        return None
    if yaw is None:
        heading = math.atan2(path[1, 1] - path[0, 1], path[1, 0] - path[0, 0])
        yaw = wrap(heading + rng.normal(0, config.start_yaw_rad))
    draft = Episode(
        id=id,
        split=split,
        arena_m=config.layout.arena_m,
        objects=objects,
        start=Pose2(float(path[0, 0]), float(path[0, 1]), round(yaw, 3)),
        path=path,
        segments=tuple(Segment(end, "") for end in ends),
        annotator="plain",
    )
    manoeuvres = []
    for index, leg in enumerate(f.leg for f in flown):
        names = [objects[i].name for i in leg.objects]
        manoeuvre = measure_manoeuvre(draft, index, leg.kind, names)
        if manoeuvre is None and leg.kind in ("pass", "around"):  # how far it bends is only known now
            manoeuvre = measure_manoeuvre(draft, index, "pass" if leg.kind == "around" else "around", names)
        if manoeuvre is None:
            return None
        manoeuvres.append(manoeuvre)
    pairs = zip(ends, manoeuvres, strict=True)
    segments = tuple(Segment(end, plain_instruction(m)) for end, m in pairs)
    return replace(draft, segments=segments), tuple(manoeuvres)


def _smooth_path(legs: Sequence[Array], config: PathConfig) -> tuple[Array, list[int]]:
    """The path in steps of 6 cm, in whole millimetres, and the index at which each leg ends."""
    sketch = np.concatenate(legs)
    arc = arc_length(sketch)
    marks = arc[np.cumsum([len(points) for points in legs]) - 1]
    even = np.arange(0.0, arc[-1], SKETCH_STEP_M)
    dense = np.stack([np.interp(even, arc, sketch[:, 0]), np.interp(even, arc, sketch[:, 1])], axis=1)
    reach = math.ceil(3 * config.smoothing_m / SKETCH_STEP_M)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * SKETCH_STEP_M / config.smoothing_m) ** 2)
    kernel /= kernel.sum()
    # Reflecting through the end points keeps them where they are.
    padded = np.concatenate([2 * dense[0] - dense[reach:0:-1], dense, 2 * dense[-1] - dense[-2 : -reach - 2 : -1]])
    smooth = np.stack([np.convolve(padded[:, axis], kernel, mode="valid") for axis in (0, 1)], axis=1)
    arc = arc_length(smooth)
    stops = np.arange(0.0, arc[-1], config.step_m)
    if arc[-1] - stops[-1] > config.step_m / 2:
        stops = np.append(stops, arc[-1])
    path = np.stack([np.interp(stops, arc, smooth[:, 0]), np.interp(stops, arc, smooth[:, 1])], axis=1).round(3)
    ends = [round(float(np.interp(mark, even, arc)) / config.step_m) for mark in marks[:-1]]
    return path, [*ends, len(path) - 1]


def _flyable(path: Array, ends: Sequence[int], objects: Sequence[PlacedObject], config: PathConfig) -> bool:
    if edge_distance(path, config.layout.arena_m) < config.edge_clearance_m:
        return False
    if distances_to_path(np.array([[o.x, o.y] for o in objects]), path).min() < config.object_clearance_m:
        return False
    arc = arc_length(path)
    lengths = np.diff(arc[[0, *ends]])
    if lengths.min() < config.min_segment_m or lengths.max() > config.max_segment_m:
        return False
    # Headings over 12 cm, differenced over 12 cm: over single steps the millimetre grid alone is 0.2 / m.
    chords = path[2:] - path[:-2]
    headings = np.arctan2(chords[:, 1], chords[:, 0])
    turned = np.abs((headings[2:] - headings[:-2] + math.pi) % (2 * math.pi) - math.pi)
    middle = np.arange(2, len(path) - 2)
    corner = np.zeros(len(middle), dtype=bool)
    for end in ends[:-1]:
        corner |= np.abs(middle - end) <= round(0.27 / config.step_m)
    return bool((turned[~corner] / (2 * config.step_m)).max(initial=0.0) <= config.max_curvature)
