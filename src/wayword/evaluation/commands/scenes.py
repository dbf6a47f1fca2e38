"""The scenes a policy is judged in: commands, filled with the objects and phrases of a split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from wayword.episodes import SPLITS
from wayword.episodes.commands import Command
from wayword.episodes.commands.scenes import (
    SCENE_KINDS,
    CommandScene,
    CommandSceneConfig,
    SceneKind,
    draw_command_scene,
)
from wayword.language.phrases_db import load_phrases


@cache
def phrases_of_split(split: str) -> dict[str, tuple[str, ...]]:
    """The objects of a split with the phrases they are taught with."""
    return {entry.name: entry.phrases for entry in load_phrases(SPLITS[split])}


def scene_keys(count: int, kinds: Sequence[SceneKind], fills: int = 1) -> list[tuple[int, int, SceneKind]]:
    """Which scenes there are: command, fill, kind. Commands lie next to each other, so that a part has all kinds."""
    return [(number, fill, kind) for fill in range(fills) for number in range(count) for kind in kinds]


def thinned(keys: Sequence[tuple[int, int, SceneKind]], limit: int | None) -> list[tuple[int, int, SceneKind]]:
    """At most ``limit`` keys: evenly spread over the commands, equally many of each kind of scene."""
    if limit is None or limit >= len(keys):
        return list(keys)
    kinds = list(dict.fromkeys(key[2] for key in keys))
    rows = [[key for key in keys if key[2] == kind] for kind in kinds]
    # One flight after the other through the kinds, each a little farther on than the last.
    return [rows[i % len(kinds)][i * len(rows[0]) // limit] for i in range(limit)]


def make_scenes(
    commands: Sequence[Command],
    keys: Sequence[tuple[int, int, SceneKind]],
    split: str,
    seed: int = 0,
    config: CommandSceneConfig | None = None,
) -> Iterator[CommandScene]:
    """The scenes of some keys. Each depends on its own key and the seed only, whatever else is drawn."""
    phrases = phrases_of_split(split)
    for number, fill, kind in keys:
        rng = np.random.default_rng((seed, number, fill, SCENE_KINDS.index(kind)))
        name = f"{split}-{number:04d}-{fill}-{kind}"
        yield draw_command_scene(commands[number], kind, phrases, rng, name, config)
