"""One tick of the governor in a test's few words: a vehicle that hovers in the middle, a policy that flies on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from wayword.flight import Decision, Fence, GovernorConfig, GovernorInputs, Mode, State, Telemetry, VehicleCommand, step

FENCE = Fence()
"""x and y from -1 to 5.7 m, heights from 0.3 to 1.5 m."""


def heard(now: float, x: float = 2.0, y: float = 2.0, z: float = 0.7, yaw: float = 0.0, **changes: Any) -> Telemetry:
    """Everything was heard at ``now``, except for what is changed."""
    pose = (x, y, z, 0.0, 0.0, yaw)
    told = Telemetry(pose, (0.0, 0.0, 0.0), now, now, Mode.OFFBOARD, now, armed=True, landed=False, battery=0.8)
    return replace(told, **changes)


def wish(now: float, forward: float = 0.4, turn: float = 0.0, stop: bool = False, **changes: Any) -> Decision:
    """A decision that was ready at ``now``, on an image of that moment."""
    return replace(Decision(forward, turn, stop, now, now), **changes)


def tick(
    state: State,
    now: float,
    told: Telemetry | None = None,
    asked: Decision | None = None,
    config: GovernorConfig | None = None,
    **changes: Any,
) -> tuple[State, VehicleCommand]:
    """One tick in which all is well, except for what is changed."""
    inputs = GovernorInputs(now, told or heard(now), now, asked or wish(now))
    return step(config or GovernorConfig(silence_s=1.1), FENCE, state, replace(inputs, **changes))
