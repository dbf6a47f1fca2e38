"""The Oracle flies demonstrations, many at once, while somebody watches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Episode
from wayword.pilot.episode_loop import EpisodeLoop
from wayword.policy.oracle import Oracle
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look

Watcher = Callable[[Arena, NDArray[np.int64]], None]


def fly_oracle(
    episodes: Sequence[Episode],
    bank: MeshBank,
    looks: Sequence[Look],
    seeds: Sequence[int],
    watch: Watcher,
    empty: bool = False,
    config: ArenaConfig | None = None,
) -> None:
    """Fly every episode under its look; ``watch(arena, slots)`` is called at each decision with those still flying.

    In an ``empty`` arena the demonstrations are flown as if their objects stood there.
    """
    count = len(episodes)
    arena = Arena(count, bank, config)
    places = zip(episodes, looks, strict=True)
    situations = [Situation(() if empty else e.objects, e.start, look, e.arena_m) for e, look in places]
    loop = EpisodeLoop(Oracle(), arena, looks=False)
    loop.begin(situations, seeds, [""] * count, [None] * count, [episode.path for episode in episodes])
    for point in loop:
        watch(arena, point.slots)
