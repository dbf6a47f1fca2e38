"""Rehearsal on a real autopilot: one fault after the other in flights of their own, promised against seen.

The autopilot is the real software (PX4 SIH or ArduCopter SITL, started by the user); the flight is a process of its own
with the real link and camera protocols; the world is ours, drawn from where the autopilot says it is.

    launch(start)    starts the flight's process for a vehicle that stands at ``start`` on the map
"""

from __future__ import annotations

import math
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from wayword.errors import WaywordError
from wayword.flight.fence import Fence
from wayword.flight.relay import MavlinkRelay, moved_m
from wayword.flight.vehicle import Mode, Pose

_HIGH_M, _UNDER_WAY_S = 0.5, 2.0
_START_S, _GROUND_S, _PILOT_S = 180.0, 40.0, 3.0
_QUIET_S = 0.5
"""What a pilot's switch may take to be noticed."""


class RehearsalCamera(Protocol):
    """What the fault can do to the pictures."""

    paused: bool
    frozen: bool


Launch = Callable[[tuple[float, float, float]], "subprocess.Popen[bytes]"]


@dataclass
class RehearsalScene:
    """One rehearsed flight while it runs."""

    relay: MavlinkRelay
    camera: RehearsalCamera
    process: subprocess.Popen[bytes]
    fence: Fence
    fault_s: float = math.inf
    place: Pose = (0.0,) * 6
    nearest_m: float = math.inf
    furthest_m: float = 0.0

    def watch(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Let time pass and measure; whether ``until`` came true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pose = self.relay.pose
            if self.relay.armed:
                self.nearest_m = min(self.nearest_m, self.fence.distance(pose[0], pose[1]))
            if time.monotonic() > self.fault_s:
                self.furthest_m = max(self.furthest_m, moved_m(self.place, pose))
            if until():
                return True
            time.sleep(0.05)
        return until()

    @property
    def undone(self) -> bool:
        """Whether a landing was taken back."""
        after = [mode for at, mode in self.relay.modes if at >= self.fault_s]
        return (Mode.LAND, Mode.OFFBOARD) in pairwise(after)


Act = Callable[[RehearsalScene], None]


@dataclass(frozen=True)
class RehearsedFault:
    """What is done, and what was promised for it."""

    name: str
    promised: str
    act: Act
    silent: bool = False
    """Nothing may be sent after the fault."""
    falls: bool = False
    """The motors stop at once."""


@dataclass(frozen=True)
class RehearsalReport:
    """What came of one."""

    fault: RehearsedFault
    problems: tuple[str, ...]
    ground_s: float
    furthest_m: float
    nearest_m: float
    sent: int = field(default=0)

    def line(self) -> str:
        """Promised against seen."""
        ground = "not on the ground" if math.isinf(self.ground_s) else f"on the ground after {self.ground_s:.1f} s"
        outcome = f"{ground}, {self.furthest_m:.2f} m on, {self.nearest_m:.2f} m inside the fence"
        verdict = "ok  " if not self.problems else "STOP"
        tail = f" ({'; '.join(self.problems)})" if self.problems else ""
        return f"{verdict} {self.fault.name}: promised {self.fault.promised}; seen {outcome}{tail}"


def rehearsed_faults() -> list[RehearsedFault]:
    """In this order: what makes it fall comes last."""

    def cut(seconds: float) -> Act:
        def act(scene: RehearsalScene) -> None:
            scene.relay.cut = True
            scene.watch(seconds, lambda: not scene.relay.armed)
            scene.relay.cut = False

        return act

    def freeze(scene: RehearsalScene) -> None:
        scene.process.send_signal(signal.SIGSTOP)
        scene.watch(4.0)
        scene.process.send_signal(signal.SIGCONT)

    def interrupt(scene: RehearsalScene) -> None:
        scene.process.send_signal(signal.SIGINT)

    def interrupt_twice(scene: RehearsalScene) -> None:
        interrupt(scene)
        scene.watch(0.3)
        interrupt(scene)

    land = "it lands, and nothing takes that back"
    return [
        RehearsedFault("no fault", "it flies, and lands by itself", lambda scene: None),
        RehearsedFault("process killed", land, lambda scene: scene.process.kill()),
        RehearsedFault("process frozen for 4 s", land, freeze),
        RehearsedFault("link cut for 1.5 s", "it flies on, or lands and nothing takes that back", cut(1.5)),
        RehearsedFault("link cut for 2 s", "it flies on, or lands and nothing takes that back", cut(2.0)),
        RehearsedFault("link cut for good", land, cut(_GROUND_S)),
        RehearsedFault("camera stops", land, lambda scene: setattr(scene.camera, "paused", True)),
        RehearsedFault("camera freezes", land, lambda scene: setattr(scene.camera, "frozen", True)),
        RehearsedFault("pilot takes over", "nothing is sent any more", lambda scene: scene.relay.switch(Mode.HOLD),
                       silent=True),
        RehearsedFault("Ctrl-C", land, interrupt),
        RehearsedFault("Ctrl-C twice", "the motors stop", interrupt_twice, falls=True),
    ]  # fmt: skip


def rehearse(
    relay: MavlinkRelay,
    camera: RehearsalCamera,
    launch: Launch,
    fence: Fence,
    faults: Sequence[RehearsedFault],
    say: Callable[[str], None] = lambda text: None,
) -> list[RehearsalReport]:
    """Fly one after the other; each begins where the last one ended."""
    outcomes = []
    for fault in faults:
        x, y, _, _, _, yaw = relay.pose
        process = launch((x, y, yaw))
        try:
            result = _one(RehearsalScene(relay, camera, process, fence), fault)
        finally:
            relay.cut = camera.paused = camera.frozen = False
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
        say(result.line())
        outcomes.append(result)
    return outcomes


def _one(scene: RehearsalScene, fault: RehearsedFault) -> RehearsalReport:
    relay, process = scene.relay, scene.process
    relay.sent.clear()
    relay.modes.clear()
    if not scene.watch(_START_S, lambda: _flies(relay) or process.poll() is not None) or process.poll() is not None:
        raise WaywordError(f"{fault.name}: the flight did not take off; see what it said above")
    scene.watch(_UNDER_WAY_S, lambda: process.poll() is not None)
    scene.place, scene.fault_s = relay.pose, time.monotonic()
    fault.act(scene)
    acted = time.monotonic()
    if fault.silent:
        scene.watch(_PILOT_S)
        relay.switch(Mode.LAND)
    scene.watch(_GROUND_S if fault.name != "no fault" else 2 * _GROUND_S, lambda: not relay.armed)
    ground = math.inf if relay.armed else time.monotonic() - scene.fault_s
    late = [what for at, what in relay.sent if acted + _QUIET_S < at < acted + _PILOT_S]
    problems = []
    if relay.armed:
        problems.append("it is still in the air")
    if scene.nearest_m < 0:
        problems.append("it left the fence")
    if scene.undone:
        problems.append("a landing was taken back")
    if fault.silent and late:
        problems.append(f"{len(late)} messages were sent after the pilot had taken over")
    if fault.falls and ground > _PILOT_S:
        problems.append("the motors did not stop at once")
    return RehearsalReport(fault, tuple(problems), ground, scene.furthest_m, scene.nearest_m, len(late))


def _flies(relay: MavlinkRelay) -> bool:
    return relay.armed and relay.mode is Mode.OFFBOARD and relay.pose[2] > _HIGH_M
