"""Commands through the whole flight stack: one drone, under the governor, as ``wayword flight fly`` flies it.

What the policy refuses is not flown: no vehicle takes off for it. The trace that is judged are the true poses from the
end of the take-off to where it has landed. The policy has the same two minutes as in the arena; ``wayword flight fly``
gives it one (``GovernorConfig.max_flight_s``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wayword.episodes.commands import CommandScene
from wayword.errors import WaywordError
from wayword.evaluation.commands.flown_command import HORIZON, FlownCommand
from wayword.evaluation.commands.judge import CommandEnding, judge
from wayword.evaluation.commands.trace import Trace
from wayword.evaluation.table.governed import Stack, fly_stack
from wayword.flight.airframes import AIRFRAMES, Airframe
from wayword.flight.decider import PolicyMind
from wayword.flight.governor import GovernorConfig
from wayword.flight.simulated import STEP_S
from wayword.policy import Policy, Refusing, StepBriefed
from wayword.sim.render.bank import MeshBank
from wayword.task import DECISION_S


def command_stack(vehicle: Airframe) -> Stack:
    """A vehicle under the governor, with the time that commands have."""
    return Stack(governor=GovernorConfig(max_flight_s=HORIZON * DECISION_S), vehicle=AIRFRAMES[vehicle])


def fly_scenes_governed(
    policy: Policy,
    scenes: Sequence[CommandScene],
    bank: MeshBank,
    seeds: Sequence[int],
    stack: Stack,
    taught: Any = None,
    told_nothing: bool = False,
) -> list[FlownCommand]:
    """One scene after the other; ``taught`` is what was taught in all of them."""
    if isinstance(policy, StepBriefed):
        raise WaywordError(f"{policy.name} is shown steps and things as they are: it does not fly under the governor")
    return [
        _fly_scene(policy, scene, bank, seed, stack, taught, "" if told_nothing else scene.text)
        for scene, seed in zip(scenes, seeds, strict=True)
    ]


def _fly_scene(
    policy: Policy, scene: CommandScene, bank: MeshBank, seed: int, stack: Stack, taught: Any, text: str
) -> FlownCommand:
    start = scene.start
    mind = PolicyMind(policy, text, taught)
    reason = policy.refusal(0) if isinstance(policy, Refusing) else None
    if reason is not None:
        trace, contacts = Trace(np.zeros(1), np.array([[start.x, start.y, start.yaw]])), 0
        ending: CommandEnding = "refused"
    else:
        flight = fly_stack(scene.objects, start, mind, bank, stack, seed)
        trace, contacts = Trace.every(flight.poses, STEP_S), flight.contacts
        ending = flight.ended_by
        reason = policy.refusal(0) if isinstance(policy, Refusing) else None
    return FlownCommand(
        scene, trace, ending, contacts, reason, judge(scene.steps, scene.objects, trace, ending, reason)
    )
