"""Scenes to fly commands in: objects and phrases in the slots, a layout that holds them, a start pose.

    drawn    facing the first object that the command is about, which is in view
    random   any pose
    hidden   that object out of view

The first object is looked at where the command comes to it: after "turn around" it is behind the start. Commands
without one, and those whose own words say where it is ("the one behind you", "until it is on your left"), are drawn
alike in all three. Every scene can be flown (``possible``), and what is meant by its place is plain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from wayword.episodes.commands.corpus import Command, FilledCommand, fill
from wayword.episodes.commands.possible import RoomConfig, pose_before, why_not
from wayword.episodes.commands.select import choose, margin
from wayword.episodes.commands.steps import SelectionRule, Step
from wayword.episodes.format import PlacedObject, Pose2
from wayword.episodes.geometry import wrap
from wayword.episodes.layouts import LayoutConfig, random_layout
from wayword.errors import WaywordError
from wayword.task import ARENA_M

SceneKind = Literal["drawn", "random", "hidden"]
SCENE_KINDS: tuple[SceneKind, ...] = get_args(SceneKind)
_BY_BEARING: frozenset[SelectionRule] = frozenset({"leftmost", "rightmost", "straight-ahead"})
_TELLING: frozenset[SelectionRule] = frozenset({"straight-ahead", "behind-me"})
"""Rules that say themselves where the object is."""
_SWAY_RAD = 0.14
"""What a rule means must not hang on so small a turn."""


@dataclass(frozen=True)
class CommandSceneConfig:
    """How scenes are drawn."""

    min_objects: int = 6
    max_objects: int = 8
    start_clear_m: float = 0.55
    """From objects to the start."""
    start_edge_m: float = 0.35
    facing_deg: float = 35.0
    """Drawn: the first object at most this far off the nose."""
    facing_m: float = 0.9
    """And at least this far away: the camera does not see what is nearly below it."""
    hidden_deg: float = 55.0
    """Hidden: at least this far off the nose."""
    plain_m: float = 0.25
    plain_rad: float = 0.2
    """What a rule means is ahead of the next candidate by this much."""
    layouts: int = 300
    starts: int = 40
    """Tries: layouts, and starts in each."""
    room: RoomConfig = RoomConfig()  # noqa: RUF009 - frozen


@dataclass(frozen=True)
class CommandScene:
    """A command, ready to be flown."""

    id: str
    kind: SceneKind
    filled: FilledCommand
    steps: tuple[Step, ...]
    """About names of the layout's objects, as the command was written."""
    objects: tuple[PlacedObject, ...]
    start: Pose2
    arena_m: float = ARENA_M

    @property
    def text(self) -> str:
        """What is typed."""
        return self.filled.text

    @property
    def family(self) -> str:
        """The family of the command."""
        return self.filled.command.family


def draw_command_scene(
    command: Command,
    kind: SceneKind,
    phrases: Mapping[str, Sequence[str]],
    rng: np.random.Generator,
    id_: str = "",
    config: CommandSceneConfig | None = None,
) -> CommandScene:
    """One scene for a command; ``phrases`` are the objects that may stand in it, each with its phrases."""
    config = config or CommandSceneConfig()
    pool = sorted(phrases)
    if len(pool) < config.min_objects:
        raise WaywordError(f"scenes need at least {config.min_objects} objects, not {len(pool)}")
    slots = command.slots
    order = [pool[i] for i in rng.permutation(len(pool))]
    names = dict(zip(slots, order, strict=False))
    words = {slot: _phrase(phrases[name], rng) for slot, name in names.items()}
    filled = fill(command, names, words)
    wrong = "no layout"
    for _ in range(config.layouts):
        count = int(rng.integers(config.min_objects, min(config.max_objects, len(pool)) + 1))
        others = [name for name in order if name not in names.values()]
        present = [*names.values(), *(others[i] for i in rng.permutation(len(others)))][: max(count, len(names))]
        size = LayoutConfig(config.room.arena_m, len(present), len(present))
        layout = random_layout(present, rng, size)
        places = {item.name: (item.x, item.y) for item in layout}
        for _ in range(config.starts):
            start, steps, wrong = _start(command, kind, names, places, rng, config)
            if start is not None:
                return CommandScene(id_, kind, filled, steps, layout, start, config.room.arena_m)
    raise WaywordError(f"no {kind} scene for {command.text[:60]!r}: {wrong}; change the command or the scenes")


def _start(
    command: Command,
    kind: SceneKind,
    names: Mapping[str, str],
    places: Mapping[str, tuple[float, float]],
    rng: np.random.Generator,
    config: CommandSceneConfig,
) -> tuple[Pose2 | None, tuple[Step, ...], str]:
    """A start pose and the steps about named objects; or why this one will not do."""
    low, high = config.start_edge_m, config.room.arena_m - config.start_edge_m
    x, y = (round(float(v), 3) for v in rng.uniform(low, high, 2))
    off, yaw = rng.uniform(-config.facing_deg, config.facing_deg), rng.uniform(-math.pi, math.pi)
    if min(math.dist((x, y), place) for place in places.values()) < config.start_clear_m:
        return None, (), "no clear start"
    number = _first(command)
    if kind == "drawn" and number is not None and command.steps[number].mentioned[0] in names:
        # Most draws would look elsewhere: turn this one so that it looks there once it has come to the step.
        plain = tuple(step.renamed(lambda key: names.get(key, key)) for step in command.steps)
        before = pose_before(plain, number, places, Pose2(x, y, yaw))
        target = places[plain[number].mentioned[0]]
        yaw += wrap(math.atan2(target[1] - before.y, target[0] - before.x) - before.yaw) + math.radians(off)
    start = Pose2(x, y, round(wrap(yaw), 3))
    meant = _meant(command, names, places, start, config)
    if meant is None:
        return None, (), "what is meant is not plain"
    steps = tuple(step.renamed(lambda key: meant[key]) for step in command.steps)
    if number is not None and kind != "random":
        pose = pose_before(steps, number, places, start)
        target = places[steps[number].mentioned[0]]
        away = math.dist(target, (pose.x, pose.y))
        bearing = abs(math.degrees(wrap(math.atan2(target[1] - pose.y, target[0] - pose.x) - pose.yaw)))
        if kind == "drawn" and (bearing > config.facing_deg or away < config.facing_m):
            return None, steps, "the first object is not in view"
        if kind == "hidden" and bearing < config.hidden_deg:
            return None, steps, "the first object is in view"
    wrong = why_not(steps, places, start, config.room)
    return (None if wrong else start), steps, wrong or ""


def _first(command: Command) -> int | None:
    """The step whose object decides between drawn and hidden; None if there is none, or the words say where it is."""
    number = next((i for i, step in enumerate(command.steps) if step.mentioned and step.do != "avoid"), None)
    if number is None:
        return None
    step = command.steps[number]
    rule = command.select.get(step.mentioned[0])
    if step.until is not None or (rule is not None and rule.rule in _TELLING):
        return None
    return number


def _meant(
    command: Command,
    names: Mapping[str, str],
    places: Mapping[str, tuple[float, float]],
    start: Pose2,
    config: CommandSceneConfig,
) -> dict[str, str] | None:
    """The object of every key; None if a rule means nothing, something else that is named, or not plainly one."""
    meant = dict(names)
    for key, select in command.select.items():
        rule = select if select.of is None else type(select)(select.rule, meant.get(select.of), select.rank)
        name = choose(rule, places, start)
        least = config.plain_rad if rule.rule in _BY_BEARING else config.plain_m
        if name is None or name in meant.values() or margin(rule, places, start) < least:
            return None
        for sway in (-_SWAY_RAD, _SWAY_RAD):
            if choose(rule, places, Pose2(start.x, start.y, start.yaw + sway)) != name:
                return None
        meant[key] = name
    return meant


def _phrase(phrases: Sequence[str], rng: np.random.Generator) -> str:
    """A phrase with its article."""
    article = "that" if rng.random() < 0.1 else "the"
    return f"{article} {phrases[int(rng.integers(len(phrases)))]}"
