"""Drills: the same start, the same layout, the same goal, and only the words say on which side to pass.

Demonstrations mostly pass an object on the side on which it already lies, so a model that looks at the layout and
skips the word "left" is right most of the time. Drills come in pairs, one for each side, that start in the same pose:
nothing but the instruction tells them apart. Episodes 2 k and 2 k + 1 are a pair.

    once around    past the target and straight on to the goal, in one segment
    in two         past the target, then to the goal, in two segments
    past only      past the target, where the way ends
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import numpy as np

from wayword.episodes.format import Episode, PlacedObject
from wayword.episodes.geometry import wrap
from wayword.episodes.instructions.writer import WrittenInstruction, write_episode
from wayword.episodes.layouts import random_layout
from wayword.episodes.leg_pieces import Point
from wayword.episodes.legs import Leg, approach, past, past_and_on
from wayword.episodes.manoeuvres import Manoeuvre, Side
from wayword.episodes.paths import FlownLeg, PathConfig, acceptable, finish_episode
from wayword.errors import WaywordError

_LAYOUTS = 2000
_TEXTS = 16
_SIDE_CLAIMS = ("side", "round")
_SIDES: tuple[Side, ...] = ("left", "right")


@dataclass(frozen=True)
class DrillConfig:
    """What drills look like."""

    path: PathConfig = field(default_factory=lambda: PathConfig(max_segment_m=3.9))
    """The longer way round may be longer than a segment of a demonstration."""
    apart_m: tuple[float, float] = (0.95, 2.3)
    """Distance from the start to the target, and from there to the goal."""
    bend_rad: float = 1.6
    """How far the way from start to target to goal may bend."""
    yaw_rad: float = 0.45
    """Standard deviation of the start yaw about the direction of the target: the same for both of a pair."""
    shares: tuple[float, float, float] = (0.5, 0.3, 0.2)
    """Of the three forms."""


@dataclass(frozen=True, eq=False)
class Drill:
    """One of a pair."""

    episode: Episode
    written: list[WrittenInstruction]
    target: str
    """The object to pass."""
    side: Side
    """Where the drone is to have it as it goes by."""


def generate_drills(
    split: str,
    count: int,
    seed: int,
    names: Collection[str],
    first: int = 0,
    voice: str | None = None,
    config: DrillConfig | None = None,
) -> Iterator[Drill]:
    """Drills ``first`` to ``first + count - 1`` of the endless sequence (split, seed, names, config), in words.

    Each depends on its index only. Every instruction says the side on which the target is passed.
    """
    if seed < 0:
        raise WaywordError(f"the seed must not be negative, found {seed}")
    config = config or DrillConfig()
    for index in range(first, first + count):
        rng = np.random.default_rng([seed, zlib.crc32(split.encode()), index // 2, 2])
        yield _pair(f"{split}-d{seed}-{index // 2:06d}", split, names, voice, rng, config)[index % 2]


def _pair(
    id: str, split: str, names: Collection[str], voice: str | None, rng: np.random.Generator, config: DrillConfig
) -> tuple[Drill, Drill]:
    for _ in range(_LAYOUTS):
        objects = random_layout(names, rng, config.path.layout)
        scene = _scene(objects, rng, config)
        if scene is None:
            continue
        at, target, goal, yaw = scene
        form = int(rng.choice(3, p=config.shares))
        pair: list[Drill] = []
        for side in _SIDES:
            demonstration = _demonstration(
                f"{id}-{side}", split, objects, (at, target, goal, yaw), side, form, rng, config
            )
            drill = None if demonstration is None else _worded(*demonstration, objects[target].name, side, voice, rng)
            if drill is None:
                break
            pair.append(drill)
        if len(pair) == 2:
            return pair[0], pair[1]
    raise WaywordError("no drill fits these settings; use fewer objects or smaller clearances")


def _scene(
    objects: tuple[PlacedObject, ...], rng: np.random.Generator, config: DrillConfig
) -> tuple[Point, int, int, float] | None:
    """Start, target, goal and start yaw."""
    centres = [(o.x, o.y) for o in objects]
    margin = config.path.edge_clearance_m + 0.1
    x, y = rng.uniform(margin, config.path.layout.arena_m - margin, 2).tolist()
    if min(math.dist((x, y), c) for c in centres) < config.path.start_clearance_m:
        return None
    near, far = config.apart_m
    pairs = []
    for i, a in enumerate(centres):
        towards = math.atan2(a[1] - y, a[0] - x)
        for j, b in enumerate(centres):
            bend = abs(wrap(math.atan2(b[1] - a[1], b[0] - a[0]) - towards))
            if i != j and near < math.dist((x, y), a) < far and near < math.dist(a, b) < far and bend < config.bend_rad:
                pairs.append((i, j, towards))
    if not pairs:
        return None
    target, goal, towards = pairs[int(rng.integers(len(pairs)))]
    return (x, y), target, goal, round(wrap(towards + rng.normal(0, config.yaw_rad)), 3)


def _demonstration(
    id: str,
    split: str,
    objects: tuple[PlacedObject, ...],
    scene: tuple[Point, int, int, float],
    side: Side,
    form: int,
    rng: np.random.Generator,
    config: DrillConfig,
) -> tuple[Episode, tuple[Manoeuvre, ...]] | None:
    at, target, goal, yaw = scene
    sign = 1 if side == "left" else -1
    centres = [(o.x, o.y) for o in objects]
    legs: list[Leg | None]
    own = config.path.legs
    if form == 0:
        legs = [past_and_on("pass", target, goal, sign, rng.uniform(*own.round_m), at, centres, rng, own)]
    else:
        first = past("pass", target, sign, at, centres, rng.uniform(*own.beyond_m), rng, own)
        legs = [first]
        if form == 1 and first is not None:
            legs.append(approach(goal, first.end, centres, rng, own))
    flown: list[FlownLeg] = []
    for leg in legs:
        if leg is None:
            return None
        points = leg.points(rng, own.bow)
        states = acceptable(points, np.array(centres), flown, config.path)
        if states is None:
            return None
        flown.append(FlownLeg(leg, points, states))
    return finish_episode(id, split, objects, flown, rng, config.path, yaw)


def _worded(
    episode: Episode,
    manoeuvres: tuple[Manoeuvre, ...],
    target: str,
    side: Side,
    voice: str | None,
    rng: np.random.Generator,
) -> Drill | None:
    """The drill in words that tell the side; None if no draft does."""
    for _ in range(_TEXTS):
        in_words, written = write_episode(episode, manoeuvres, rng, voice)
        if any(c.kind in _SIDE_CLAIMS and c.side == side and target in c.objects for c in written[0].claims):
            return Drill(in_words, written, target, side)
    return None
