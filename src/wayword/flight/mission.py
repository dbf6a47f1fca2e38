"""One flight from the pre-flight list to the ground, the same for a simulator and a real vehicle."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.flight.blackbox import BlackBox
from wayword.flight.decider import Decider, Mind
from wayword.flight.fence import Fence
from wayword.flight.governor import GovernorConfig
from wayword.flight.loop import GovernorLoop, Track, with_silence
from wayword.flight.preflight import preflight
from wayword.flight.reasons import Reason
from wayword.flight.vehicle import Mode, PreflightCheck, Vehicle
from wayword.task import ALTITUDE_M

_LAND_AGAIN_S, _DOWN_S = 1.0, 30.0
_AFTER_S = 30.0
"""A flight is given up as lost this long after its time is up: nobody has heard it land."""


@dataclass(frozen=True)
class FlightPlan:
    """Where and how to fly."""

    height_m: float = ALTITUDE_M
    """The height at which the policy was trained."""
    fence: Fence = field(default_factory=Fence)
    governor: GovernorConfig = field(default_factory=GovernorConfig)
    lockstep: bool = False
    """Time passes in ``Vehicle.wait``: for simulators."""
    catch_signals: bool = True
    """Ctrl-C lands instead of ending the process; off where many simulated flights follow each other."""

    def __post_init__(self) -> None:
        if not self.fence.low_m < self.height_m < self.fence.high_m:
            raise WaywordError(
                f"the flight height {self.height_m:g} m is not between the fence's {self.fence.low_m:g} and "
                f"{self.fence.high_m:g} m"
            )


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a flight ended."""

    ended: str
    """landed, landed by its autopilot or pilot, taken over, emergency stop or lost."""
    reasons: tuple[Reason, ...]
    seconds: float
    decisions: int
    tracks: list[Track]
    checks: list[PreflightCheck]

    @property
    def path(self) -> NDArray[np.float64]:
        """Where the vehicle was (T, 2)."""
        return np.array([track.telemetry.pose[:2] for track in self.tracks]).reshape(-1, 2)

    def line(self) -> str:
        """In one line."""
        why = ", ".join(self.reasons) or "no reason"
        return f"{self.ended} after {self.seconds:.1f} s and {self.decisions} decisions ({why})"


def fly_mission(
    vehicle: Vehicle,
    mind: Mind,
    plan: FlightPlan | None = None,
    box: BlackBox | None = None,
    say: Callable[[str], None] = lambda text: None,
    about: dict[str, Any] | None = None,
) -> Outcome:
    """Check, take off, fly under the governor, land. Raises WaywordError before take-off only."""
    plan = plan or FlightPlan()
    facts = vehicle.connect()
    governor = with_silence(plan.governor, facts.silence_s)
    if box is not None:
        box.write("flight", vehicle=facts, plan=plan, about=about or {})
    checks = preflight(vehicle, plan, mind)
    for check in checks:
        say(check.line())
    if box is not None:
        box.write("preflight", checks=checks)
    refused = [check for check in checks if not check.ok]
    if refused:
        raise WaywordError(f"not armed: {'; '.join(check.line()[5:] for check in refused)}")
    decider = Decider(vehicle, mind, governor.interval_s, box=box)
    loop = GovernorLoop(vehicle, decider, plan.fence, governor, box, say)
    with Interrupts(loop, vehicle, say, plan.catch_signals) as interrupts:
        try:
            vehicle.take_off(plan.height_m)
        except BaseException as error:
            ended = _come_down(vehicle, interrupts)
            if not interrupts.any_request or not isinstance(error, WaywordError):
                raise
            say(str(error))
            return _given_up(ended, checks, box)
        say(f"flying at {plan.height_m:g} m; Ctrl-C lands, a second Ctrl-C stops the motors")
        loop.begin()
        started = vehicle.now()
        lost_s = started + governor.max_flight_s + governor.max_held_s + _AFTER_S
        if plan.lockstep:
            _lockstep(vehicle, decider, loop, lost_s, interrupts)
        else:
            _threaded(decider, loop, lost_s, interrupts)
        decider.stop()
    ended = "emergency stop" if interrupts.stopped else "landed" if loop.ended else "lost"
    if loop.state.silent and not interrupts.stopped:
        ended = "taken over" if not loop.ended else "landed by its autopilot or pilot"
    outcome = Outcome(ended, loop.state.lasting, vehicle.now() - started, decider.count, loop.tracks, checks)
    if box is not None:
        box.write("end", ended=ended, reasons=outcome.reasons, seconds=outcome.seconds, failure=loop.failure)
        if box.failed:
            say(f"the black box is incomplete: {box.failed}")
    return outcome


def _lockstep(vehicle: Vehicle, decider: Decider, loop: GovernorLoop, lost_s: float, interrupts: Interrupts) -> None:
    while not loop.ended and not interrupts.over and vehicle.now() < lost_s:
        decider.poll()
        loop.tick()
        vehicle.wait(loop.config.period_s)


def _threaded(decider: Decider, loop: GovernorLoop, lost_s: float, interrupts: Interrupts) -> None:
    decider.start()
    loop.start()
    while not loop.ended and not interrupts.over and loop.vehicle.now() < lost_s:
        time.sleep(0.05)


def _come_down(vehicle: Vehicle, interrupts: Interrupts) -> str:
    """After a take-off that was given up: wait for the ground, so that a second Ctrl-C still stops the motors."""
    asked_s, end_s = -math.inf, vehicle.now() + _DOWN_S
    while not interrupts.over and vehicle.now() < end_s:
        if vehicle.now() - asked_s >= _LAND_AGAIN_S and vehicle.land() is not False:
            asked_s = vehicle.now()
        news = vehicle.telemetry()
        if news.landed and not news.armed:
            return "landed"
        if news.mode in (Mode.OTHER, Mode.HOLD):
            return "taken over"
        vehicle.wait(0.05)
    return "emergency stop" if interrupts.stopped else "lost"


def _given_up(ended: str, checks: list[PreflightCheck], box: BlackBox | None) -> Outcome:
    """Ctrl-C came while it climbed."""
    if box is not None:
        box.write("end", ended=ended, reasons=(Reason.PILOT_LAND,), seconds=0.0, failure=None)
    return Outcome(ended, (Reason.PILOT_LAND,), 0.0, 0, [], checks)


class Interrupts:
    """Ctrl-C lands; a second one stops the motors. A polite kill (SIGTERM) lands as well.

    Once somebody else flies, both only leave: nothing is sent any more, least of all what would make it fall.
    """

    def __init__(self, loop: GovernorLoop, vehicle: Vehicle, say: Callable[[str], None], catch: bool = True) -> None:
        self.loop, self.vehicle, self.say = loop, vehicle, say
        self._catch = catch and threading.current_thread() is threading.main_thread()
        self.stopped = self._left = False
        self._requests = self._signals = 0
        self._before: dict[signal.Signals, Any] = {}

    @property
    def any_request(self) -> bool:
        """Whether anybody has asked to land."""
        return self._signals > 0

    @property
    def over(self) -> bool:
        """Whether to wait no longer."""
        return self.stopped or self._left

    def __enter__(self) -> Interrupts:
        if self._catch:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._interrupted)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self._requests += number == signal.SIGINT
        self._signals += 1
        if self.loop.state.silent:
            self._left = True
            self.say("somebody else flies it: leaving")
        elif self._requests <= 1:
            self.loop.ask_to_land()
            if not self.loop.begun:  # still climbing: the governor is not at work yet
                self.vehicle.land()
            self.say("landing; Ctrl-C again stops the motors at once")
        else:
            self.stopped = True
            self.vehicle.emergency_stop()
            if self.loop.box is not None:
                self.loop.box.write("emergency stop", now_s=self.vehicle.now())
