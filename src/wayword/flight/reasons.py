"""Why the governor changed or stopped a flight: one code each, in the black box, on the screen, in docs/safety.md."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Codes; ``MEANING`` says them in words."""

    # It goes on, but not as the policy asked.
    SPEED = "SPEED"
    YAW = "YAW"
    ACCELERATION = "ACCELERATION"
    FADING = "FADING"
    FENCE = "FENCE"
    CLEARANCE = "CLEARANCE"
    # Hold; fly on if it passes, land if it does not.
    NO_DECISION = "NO_DECISION"
    BAD_OUTPUT = "BAD_OUTPUT"
    NO_IMAGE = "NO_IMAGE"
    NO_POSE = "NO_POSE"
    LINK_LOST = "LINK_LOST"
    # Hold, then land.
    ARRIVED = "ARRIVED"
    TIME_UP = "TIME_UP"
    POLICY_FAILED = "POLICY_FAILED"
    POSE_JUMP = "POSE_JUMP"
    BATTERY_LOW = "BATTERY_LOW"
    OUTSIDE = "OUTSIDE"
    ALTITUDE = "ALTITUDE"
    FLAPPING = "FLAPPING"
    # Land at once.
    PILOT_LAND = "PILOT_LAND"
    BATTERY_EMPTY = "BATTERY_EMPTY"
    # Not ours any more.
    TAKEN_OVER = "TAKEN_OVER"


PASSING = frozenset({Reason.NO_DECISION, Reason.BAD_OUTPUT, Reason.NO_IMAGE, Reason.NO_POSE, Reason.LINK_LOST})
"""Faults that may pass."""
LASTING = frozenset(
    {Reason.ARRIVED, Reason.TIME_UP, Reason.POLICY_FAILED, Reason.POSE_JUMP, Reason.BATTERY_LOW, Reason.OUTSIDE,
     Reason.ALTITUDE, Reason.FLAPPING}
)  # fmt: skip
"""Hold until the vehicle stands still, then land; nothing takes them back."""
AT_ONCE = frozenset({Reason.PILOT_LAND, Reason.BATTERY_EMPTY})

MEANING: dict[Reason, str] = {
    Reason.SPEED: "faster than the limit was asked for",
    Reason.YAW: "a quicker turn than the limit was asked for",
    Reason.ACCELERATION: "a quicker change than the limit was asked for",
    Reason.FADING: "the last decision is more than one and a half intervals old: slowing down",
    Reason.FENCE: "the stopping distance reaches the fence",
    Reason.CLEARANCE: "an object is ahead",
    Reason.NO_DECISION: "no decision for two intervals",
    Reason.BAD_OUTPUT: "the policy's output was not finite or far out of range",
    Reason.NO_IMAGE: "no image newer than 0.5 s",
    Reason.NO_POSE: "no pose newer than 0.3 s",
    Reason.LINK_LOST: "nothing heard from the vehicle for a second",
    Reason.ARRIVED: "the policy says that the instruction has been carried out",
    Reason.TIME_UP: "the longest flight is over",
    Reason.POLICY_FAILED: "the policy raised an error or its process ended",
    Reason.POSE_JUMP: "the pose jumped: the position estimate cannot be trusted",
    Reason.BATTERY_LOW: "battery low",
    Reason.OUTSIDE: "outside the fence",
    Reason.ALTITUDE: "above or below the height band",
    Reason.FLAPPING: "faults came and went too often",
    Reason.PILOT_LAND: "asked to land (Ctrl-C)",
    Reason.BATTERY_EMPTY: "battery nearly empty",
    Reason.TAKEN_OVER: "the autopilot is in another mode: a pilot or its own failsafe has taken over",
}
