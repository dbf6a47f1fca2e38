"""The intrinsic reward of a flight that is over, term by term; it adds up to the reward stage 2 is trained with."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.learning.policy.rewards import IntrinsicReward, RewardConfig, grid_places
from wayword.policy.control import Trails

_NOTHING = RewardConfig(visitation=0, stop=0, exploration=0, action=0, step=0)


def intrinsic_rewards(
    distributions: NDArray[np.float32],
    outputs: NDArray[np.float32],
    poses: NDArray[np.float64],
    end: ArrayLike,
    start: NDArray[np.float64],
) -> dict[str, NDArray[np.float64]]:
    """Rewards (T,) of every action by term, and "total".

    distributions (T, 2, 4097) and outputs (T, 5) of the networks, poses (T, 6) at the decisions, ``end`` (2,) where the
    flight ended, ``start`` x, y, yaw.
    """
    from dataclasses import replace

    usual, count = RewardConfig(), len(poses)
    names = ("visitation", "stop", "exploration", "action", "step")
    terms = {name: IntrinsicReward(1, replace(_NOTHING, **{name: getattr(usual, name)})) for name in names}
    terms["total"] = IntrinsicReward(1, usual)
    result = {name: np.zeros(count) for name in terms}
    trails, slot = Trails(start[None]), np.zeros(1, np.int64)
    after = np.vstack([poses[1:, [0, 1, 5]], [*np.asarray(end, np.float64), poses[-1, 5]]])
    for t in range(count):
        trails.add(slot, after[t : t + 1])
        places = grid_places(after[t : t + 1, :2], start[None])
        ended, moves = np.array([t == count - 1]), outputs[t : t + 1, [0, 2]]
        for name, term in terms.items():
            result[name][t] = term(slot, distributions[t : t + 1], trails.maps, places, moves, ended)[0]
    return result
