"""The governor: between any policy and any vehicle, always on, and a pure function.

    state x inputs -> state x command, with reason codes            twenty times a second

It knows no network and no protocol, reads no clock and draws no random number: the same inputs give the same commands
to the bit, so a recorded flight can be governed again (``wayword flight replay``).

    VELOCITY   the policy's wish within the limits (``limits.py``)
    HOLD       stay where the vehicle comes to rest: a fault (``watch.py``) or the fence
    LAND       the fault did not pass; never taken back
    SILENT     somebody else flies: send nothing, so that no failsafe of the autopilot is masked
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from wayword.errors import WaywordError
from wayword.flight.fence import Fence
from wayword.flight.limits import held_back, limited
from wayword.flight.reasons import AT_ONCE, LASTING, Reason
from wayword.flight.vehicle import Mode, Telemetry
from wayword.flight.watch import faults, has_pose
from wayword.mapping.standing import SIDE_RAD, Disc
from wayword.task import MAX_SPEED_M_S, MAX_YAW_RATE_RAD_S

Anchor = tuple[float, float, float]
"""x, y, yaw to stay at."""
_THERE_M = 0.05
_INSIDE_M, _PULL_M = 0.1, 0.3
"""A place to stay is this far inside the fence's margin; for a vehicle that is nearer to the fence, this much more."""
_LOST_M = 2.0
"""What is further out than this stays where it says it is."""


@dataclass(frozen=True)
class GovernorConfig:
    """Every number of the governor."""

    period_s: float = 0.05
    max_speed_m_s: float = MAX_SPEED_M_S
    max_yaw_rate_rad_s: float = MAX_YAW_RATE_RAD_S
    max_acceleration_m_s2: float = 1.0
    max_braking_m_s2: float = 2.0
    max_yaw_acceleration_rad_s2: float = 6.0
    wild: float = 1.5
    """An output beyond the limits times this is an error of the policy, not a wish."""
    interval_s: float = 0.5
    """The policy decides this often."""
    decision_intervals: float = 2.0
    """No fresh decision within this many intervals: hold."""
    image_s: float = 0.5
    pose_s: float = 0.3
    link_s: float = 1.0
    response_s: float = 1.0
    """Time constant of the slowest vehicle that may fly: 63 % of a new speed (0.7 to 1.0 s under common autopilots)."""
    latency_s: float = 0.2
    """From a command to the start of its effect, at most."""
    silence_s: float = 1.6
    """How long the autopilot goes on with the last setpoint when none follows; the vehicle's own is used in flight."""
    margin_m: float = 0.3
    """Kept from the fence beside the stopping distance: noise, gusts, an undetected jump of the pose."""
    clearance_m: float = 0.10
    """Kept between the vehicle's hull and anything that stands there: things are placed this well (97 of 100)."""
    squeeze_m: float = 0.04
    """Kept at least, of a vehicle that has been standing before a gap: less and less over ``squeeze_s``."""
    squeeze_s: float = 4.0
    body_m: float = 0.08
    """Radius of the vehicle."""
    ahead_s: float = 0.5
    """From where it would come to rest, the way is clear for so long: it steers around what is nearer."""
    side_rad: float = SIDE_RAD
    """Further beside the heading than this the camera does not look, and the vehicle only creeps."""
    jump_m: float = 0.25
    jump_rad: float = 0.35
    battery_low: float = 0.2
    battery_empty: float = 0.1
    max_flight_s: float = 60.0
    """Of the policy's own flight: while the governor holds it back, its time stands still ..."""
    max_held_s: float = 30.0
    """... for so long at most in one flight."""
    patience_s: float = 3.0
    """A fault that may pass is waited for this long."""
    settle_s: float = 1.5
    """A hold before landing lasts this long: the vehicle comes to rest."""
    return_s: float = 6.0
    """A vehicle that has arrived comes back to where it was told to stop, for so long at most, before it lands."""
    most_holds: int = 5
    """So many faults may pass in one flight."""

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if not math.isfinite(value) or value < 0:
                raise WaywordError(f"governor setting {name} is {value:g} but must be a number of 0 or more")
        if not 0.01 <= self.period_s <= 0.1 or self.max_speed_m_s > 5 or self.interval_s <= 0:
            raise WaywordError(
                "governor settings: period_s must be 0.01 to 0.1, max_speed_m_s at most 5, interval_s > 0"
            )

    @property
    def stopping_s(self) -> float:
        """Stopping distance per speed, when the vehicle hears us."""
        return self.response_s + self.latency_s + self.period_s


@dataclass(frozen=True)
class Decision:
    """What the policy wants until its next decision."""

    forward_m_s: float
    yaw_rate_rad_s: float
    stop: bool
    made_s: float
    """When it was ready."""
    image_s: float
    """When the image it rests on was taken."""
    obstacles: tuple[Disc, ...] = ()
    """What stands on the map, as far as the policy has seen."""


@dataclass(frozen=True)
class GovernorInputs:
    """Everything the governor may know at one tick."""

    now_s: float
    telemetry: Telemetry
    image_s: float = -math.inf
    """When the newest image was taken."""
    decision: Decision | None = None
    policy_alive: bool = True
    land_asked: bool = False


class Kind(StrEnum):
    """What is sent to the vehicle."""

    VELOCITY = "velocity"
    HOLD = "hold"
    LAND = "land"
    SILENT = "silent"


@dataclass(frozen=True)
class VehicleCommand:
    """The governor's answer."""

    kind: Kind
    forward_m_s: float = 0.0
    yaw_rate_rad_s: float = 0.0
    anchor: Anchor | None = None
    reasons: tuple[Reason, ...] = ()
    left_m_s: float = 0.0
    """Sideways, where it slides by something."""


@dataclass(frozen=True)
class State:
    """What the governor remembers from tick to tick."""

    started_s: float
    speed_m_s: float = 0.0
    """Of the last command."""
    velocity: tuple[float, float] = (0.0, 0.0)
    """Of the last command, on the map."""
    stuck_s: float = 0.0
    """For how long it has been standing before things it wanted to pass."""
    held_s: float = 0.0
    """For how long of this flight the governor held back the policy, in seconds at the speed that was wished for."""
    yaw_rate_rad_s: float = 0.0
    last_pose: Telemetry | None = None
    """The last pose that was looked at, for jumps."""
    lasting: tuple[Reason, ...] = ()
    """Reasons that nothing takes back, in the order in which they came."""
    hold_s: float | None = None
    """Since when a fault has been holding the vehicle."""
    anchor: Anchor | None = None
    anchored: bool = False
    holds: int = 0
    landing: bool = False
    landing_seen: bool = False
    """Whether the autopilot has said that it lands."""
    silent: bool = False
    reasons: tuple[Reason, ...] = field(default=())
    """Of the last command."""


def step(config: GovernorConfig, fence: Fence, state: State, inputs: GovernorInputs) -> tuple[State, VehicleCommand]:
    """One tick."""
    now, telemetry = inputs.now_s, inputs.telemetry
    if state.silent or _taken_over(state, telemetry):
        reasons = _merge(state.lasting, [Reason.TAKEN_OVER])
        after = replace(state, silent=True, lasting=reasons, reasons=reasons)
        return after, VehicleCommand(Kind.SILENT, reasons=reasons)
    present = faults(config, fence, state, inputs)
    jumped = Reason.POSE_JUMP in present
    lasting = _merge(state.lasting, (reason for reason in present if reason in LASTING | AT_ONCE))
    last_pose = telemetry if has_pose(telemetry) else state.last_pose
    state = replace(state, lasting=lasting, last_pose=last_pose)
    landing_seen = state.landing_seen or (state.landing and telemetry.mode is Mode.LAND)
    if state.landing or any(reason in AT_ONCE for reason in lasting):
        return _land(replace(state, landing_seen=landing_seen), _merge(lasting, present))
    if present or lasting:
        reasons = _merge(lasting, present)
        since = now if state.hold_s is None else state.hold_s
        holds = state.holds + (state.hold_s is None)
        if holds > config.most_holds:
            reasons = lasting = _merge(lasting, [Reason.FLAPPING])
        state = replace(state, hold_s=since, holds=holds, lasting=lasting)
        if now - since >= _wait_s(config, state, telemetry, reasons) - 1e-9:
            return _land(state, reasons)
        return _hold(config, fence, state, inputs, reasons, forget=jumped or Reason.POSE_JUMP in lasting)
    state = replace(state, hold_s=None)
    decision = inputs.decision
    if decision is None:  # the first one is on its way
        return _hold(config, fence, state, inputs, (), forget=False)
    forward, left, turn, reasons, brake = limited(config, fence, state, inputs, decision)
    if brake:
        return _hold(config, fence, state, inputs, reasons, forget=False)
    cos, sin = math.cos(telemetry.pose[5]), math.sin(telemetry.pose[5])
    velocity, speed = (forward * cos - left * sin, forward * sin + left * cos), math.hypot(forward, left)
    after = replace(
        held_back(config, state, decision, speed, reasons), speed_m_s=speed, velocity=velocity, yaw_rate_rad_s=turn,
        anchored=False, anchor=None, reasons=reasons,
    )  # fmt: skip
    return after, VehicleCommand(Kind.VELOCITY, forward, turn, reasons=reasons, left_m_s=left)


def _hold(
    config: GovernorConfig,
    fence: Fence,
    state: State,
    inputs: GovernorInputs,
    reasons: tuple[Reason, ...],
    forget: bool,
) -> tuple[State, VehicleCommand]:
    """Stay; the place is chosen once, where the vehicle comes to rest, and forgotten if the pose cannot be trusted."""
    telemetry = inputs.telemetry
    anchor, anchored = state.anchor, state.anchored
    if forget:
        anchor, anchored = None, True
    elif not anchored:
        anchored = True
        if has_pose(telemetry) and inputs.now_s - telemetry.pose_s <= config.pose_s:
            since = inputs.decision.image_s if inputs.decision and reasons == (Reason.ARRIVED,) else None
            anchor = _rest(config, fence, telemetry, since)
    after = replace(
        state, speed_m_s=0.0, velocity=(0.0, 0.0), yaw_rate_rad_s=0.0, anchor=anchor, anchored=anchored, reasons=reasons
    )  # fmt: skip
    return after, VehicleCommand(Kind.HOLD, anchor=anchor, reasons=reasons)


def _wait_s(config: GovernorConfig, state: State, telemetry: Telemetry, reasons: tuple[Reason, ...]) -> float:
    """How long this hold lasts before the landing."""
    if not state.lasting:
        return config.patience_s
    if reasons != (Reason.ARRIVED,) or state.anchor is None:
        return config.settle_s
    away = math.hypot(telemetry.pose[0] - state.anchor[0], telemetry.pose[1] - state.anchor[1])
    return config.settle_s if away < _THERE_M else config.return_s


def _rest(config: GovernorConfig, fence: Fence, telemetry: Telemetry, arrived_s: float | None) -> Anchor:
    """Where to stay, never beyond the fence's margin; from within it, back inside.

    That is where a vehicle that brakes now comes to rest: after a fault the less it moves the better. But where the
    policy says that it has arrived it means the place at which its image was taken, at ``arrived_s``, not the one half
    a metre on to which the vehicle coasts.
    """
    x, y, yaw = telemetry.pose[0], telemetry.pose[1], telemetry.pose[5]
    coast = 0.7 * config.response_s + 0.5 * config.latency_s
    if arrived_s is not None:
        coast = -min(max(telemetry.pose_s - arrived_s, 0.0), config.image_s)
    dx, dy = telemetry.velocity[0] * coast, telemetry.velocity[1] * coast
    share = fence.reach(x, y, dx, dy, config.margin_m + _INSIDE_M)
    x, y = x + share * dx, y + share * dy
    short = config.margin_m + _INSIDE_M - fence.distance(x, y)
    if 0.01 < short < _LOST_M:  # what carried it here will not stop at the margin: pull
        inwards = fence.inwards(x, y)
        x, y = x + (short + _PULL_M) * inwards[0], y + (short + _PULL_M) * inwards[1]
    return x, y, yaw


def _land(state: State, reasons: tuple[Reason, ...]) -> tuple[State, VehicleCommand]:
    after = replace(
        state, landing=True, speed_m_s=0.0, velocity=(0.0, 0.0), yaw_rate_rad_s=0.0, lasting=reasons, reasons=reasons
    )  # fmt: skip
    return after, VehicleCommand(Kind.LAND, reasons=reasons)


def _taken_over(state: State, telemetry: Telemetry) -> bool:
    """Whether the autopilot says, since we began, that it is not flying our setpoints (nor landing for us)."""
    if telemetry.mode_s <= state.started_s or telemetry.mode is Mode.UNKNOWN:
        return False
    if not state.landing:
        return telemetry.mode is not Mode.OFFBOARD
    if state.landing_seen:
        return telemetry.mode not in (Mode.LAND, Mode.GROUND)
    return telemetry.mode in (Mode.OTHER, Mode.HOLD, Mode.TAKEOFF)


def _merge(first: Iterable[Reason], second: Iterable[Reason]) -> tuple[Reason, ...]:
    return tuple(dict.fromkeys([*first, *second]))
