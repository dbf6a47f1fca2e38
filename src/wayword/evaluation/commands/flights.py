"""Flies a policy through scenes of commands and has the flights judged.

Every flight goes through the one episode loop, with a horizon long enough for four goals. A policy that can refuse is
asked once it has read its text: what it refuses is not flown. Scenes are drawn and flown in parts, by several
workers; a flight depends on its own scene and number only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from wayword.compute import Workers, in_order
from wayword.episodes.commands import Command, CommandScene, SceneKind, load_commands
from wayword.evaluation.commands.flown_command import HORIZON, FlownCommand
from wayword.evaluation.commands.governed import command_stack, fly_scenes_governed
from wayword.evaluation.commands.judge import CommandEnding, judge
from wayword.evaluation.commands.scenes import make_scenes, scene_keys, thinned
from wayword.evaluation.commands.trace import Trace
from wayword.evaluation.table.columns import shipped_database
from wayword.evaluation.table.reading import steady_policy
from wayword.flight.airframes import Airframe
from wayword.pilot.episode_loop import EpisodeLoop
from wayword.policy import Policy, Refusing, StepBriefed, needs_objects
from wayword.shipped import DEFAULT_GROUNDER
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig

PART = 24
STOP = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class CommandRun:
    """What is flown, and by whom."""

    commands: str = "dev"
    """A split of commands or a file of them."""
    split: str = "dev"
    """Whose objects and phrases."""
    kinds: tuple[SceneKind, ...] = ("drawn", "random", "hidden")
    policy: str = "wayword"
    weights: Path | None = None
    grounder: str = DEFAULT_GROUNDER
    fills: int = 1
    """Scenes of each kind per command."""
    seed: int = 0
    limit: int | None = None
    """At most this many flights, evenly spread."""
    told_nothing: bool = False
    """Fly with an empty text, and judge by the steps all the same."""
    vehicle: Airframe | None = None
    """Fly under the governor, with this simulated vehicle; None: in the arena, without one."""

    def keys(self) -> list[tuple[int, int, SceneKind]]:
        """Which scenes."""
        return thinned(scene_keys(len(read_commands(self.commands)), self.kinds, self.fills), self.limit)


def fly_scenes(
    policy: Policy,
    scenes: Sequence[CommandScene],
    bank: MeshBank,
    seeds: Sequence[int],
    taught: Any = None,
    told_nothing: bool = False,
    config: ArenaConfig | None = None,
) -> list[FlownCommand]:
    """Fly scenes side by side; ``taught`` is the object database of all of them."""
    arena = Arena(len(scenes), bank, config or ArenaConfig(horizon=HORIZON))
    loop = EpisodeLoop(policy, arena, looks=needs_objects(policy))
    loop.begin(
        [Situation(scene.objects, scene.start, arena_m=scene.arena_m) for scene in scenes],
        list(seeds),
        ["" if told_nothing else scene.text for scene in scenes],
        [taught] * len(scenes),
    )
    if isinstance(policy, StepBriefed):
        policy.brief_steps(
            [scene.steps for scene in scenes], [scene.objects for scene in scenes], [scene.start for scene in scenes]
        )
    refusals = [policy.refusal(slot) if isinstance(policy, Refusing) else None for slot in range(len(scenes))]
    for point in loop:
        for row, slot in enumerate(point.slots):
            if refusals[slot] is not None:
                point.actions[row] = STOP
    flown = []
    for slot, scene in enumerate(scenes):
        trace = Trace.every(arena.flown_poses(slot), arena.config.vehicle.sub_step_s)
        ended = arena.endings[slot]
        assert ended is not None
        ending: CommandEnding = ended if refusals[slot] is None else "refused"
        reason = policy.refusal(slot) if isinstance(policy, Refusing) else None
        verdict = judge(scene.steps, scene.objects, trace, ending, reason)
        flown.append(FlownCommand(scene, trace, ending, int(arena.contacts[slot]), reason, verdict))
    return flown


def fly_commands(
    run: CommandRun, workers: Workers = 2, progress: Callable[[int], None] = lambda done: None
) -> Iterator[FlownCommand]:
    """All flights of a run, in the order of its keys."""
    parts = [(run, start) for start in range(0, len(run.keys()), PART)]
    for flights in in_order(partial(_fly_part, _bank()), parts, workers):
        progress(len(flights))
        yield from flights


def _fly_part(bank: MeshBank, part: tuple[CommandRun, int]) -> list[FlownCommand]:
    run, start = part
    keys = run.keys()[start : start + PART]
    scenes = list(make_scenes(read_commands(run.commands), keys, run.split, run.seed))
    seeds = [_seed(run, start + i) for i in range(len(scenes))]
    policy = _policy(run.policy, run.weights, run.grounder)
    taught = shipped_database(run.split) if needs_objects(policy) else None
    if run.vehicle is not None:
        stack = command_stack(run.vehicle)
        return fly_scenes_governed(policy, scenes, bank, seeds, stack, taught, run.told_nothing)
    arena = ArenaConfig(horizon=HORIZON, render=RenderConfig(threads=1))
    return fly_scenes(policy, scenes, bank, seeds, taught, run.told_nothing, arena)


def _seed(run: CommandRun, number: int) -> int:
    return int(np.random.SeedSequence((run.seed, number)).generate_state(1, np.uint64)[0] >> 2)


@cache
def read_commands(source: str) -> list[Command]:
    """The commands of a split or a file, read once per process."""
    return load_commands(source)


@cache
def _policy(name: str, weights: Path | None, grounder: str) -> Policy:
    return steady_policy(name, weights, grounder)


@cache
def _bank() -> MeshBank:
    return MeshBank.of_catalogue()
