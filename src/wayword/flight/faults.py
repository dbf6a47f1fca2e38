"""Faults in flight: one simulated flight each, with a fault thrown in, and what must have come of it.

Everything runs in simulated time, so a case is the same to the bit everywhere. Distances are those really flown from
the moment of the fault until the vehicle stood still or was on the ground, whatever it reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wayword.flight.autopilot_model import AutopilotModel, AutopilotModelConfig
from wayword.flight.decider import Wish
from wayword.flight.fence import Fence
from wayword.flight.governor import GovernorConfig
from wayword.flight.mission import Outcome, Plan, fly
from wayword.flight.reasons import Reason
from wayword.flight.simulated import SimulatedVehicle
from wayword.flight.vehicle import Mode, Pose

Turn = Callable[["Scene"], None]
FAULT_S = 4.0
"""Seconds after take-off at which a fault begins."""


@dataclass
class ScriptedMind:
    """Flies a circuit, or straight on; can be made to hang, crash or talk nonsense."""

    speed_m_s: float = 0.7
    turn_rad_s: float = 0.0
    stop_after: int = 10_000
    hang: bool = False
    crash: bool = False
    nonsense: float | None = None
    count: int = 0

    def begin_anew(self) -> None:
        """Count from the start."""
        self.count = 0

    def decide(self, pixels: NDArray[np.uint8], pose: Pose) -> Wish:
        """The next wish; None stands for an answer that never comes."""
        if self.hang:
            return None  # type: ignore[return-value]
        if self.crash:
            raise RuntimeError("this policy was told to crash")
        if self.nonsense is not None:
            return Wish(self.nonsense, 0.0, False)
        self.count += 1
        return Wish(self.speed_m_s, self.turn_rad_s, self.count > self.stop_after)


@dataclass
class Scene:
    """One faulty flight while it runs."""

    body: AutopilotModel
    mind: ScriptedMind
    vehicle: SimulatedVehicle
    fence: Fence
    begin: Turn
    end: Turn | None = None
    lasts_s: float = math.inf
    fault_s: float = FAULT_S
    flying_s: float | None = None
    began: bool = False
    over: bool = False
    after_m: float = 0.0
    nearest_m: float = math.inf
    """Least true distance to the fence in flight; negative is a violation."""
    _last: tuple[float, float] | None = None

    def watch(self, vehicle: SimulatedVehicle) -> None:
        """After every step: throw the fault in, take it out, measure."""
        body = self.body
        if body.mode is Mode.OFFBOARD and self.flying_s is None:
            self.flying_s = body.time_s
        if self.flying_s is None:
            return
        gone = body.time_s - self.flying_s
        if not self.began and gone >= self.fault_s:
            self.began = True
            self.begin(self)
        if self.began and not self.over and gone >= self.fault_s + self.lasts_s:
            self.over = True
            if self.end is not None:
                self.end(self)
        if body.mode is not Mode.GROUND:
            self.nearest_m = min(self.nearest_m, self.fence.distance(body.x, body.y))
        if self.began and self._last is not None:
            self.after_m += math.hypot(body.x - self._last[0], body.y - self._last[1])
        self._last = (body.x, body.y)


@dataclass(frozen=True)
class Case:
    """One fault and what must come of it."""

    name: str
    what: str
    begin: Turn
    ends: tuple[str, ...]
    """Allowed endings."""
    reasons: tuple[Reason, ...]
    """Codes that must be given."""
    most_m: float
    """The vehicle must not fly further than this after the fault; ``inf`` where it rightly flies on."""
    end: Turn | None = None
    lasts_s: float = math.inf
    model: AutopilotModelConfig = field(default_factory=AutopilotModelConfig)
    speed_m_s: float = 0.7
    turn_rad_s: float = 0.55
    """The mind flies circles of 1.3 m radius unless it is told otherwise."""
    stop_after: int = 10_000
    start: tuple[float, float, float] = (2.35, 1.1, 0.0)
    fault_s: float = FAULT_S


@dataclass(frozen=True, eq=False)
class Result:
    """What came of a case."""

    case: Case
    outcome: Outcome
    after_m: float
    nearest_m: float

    @property
    def problems(self) -> list[str]:
        """Everything that is not as it must be."""
        case, found = self.case, list[str]()
        if self.outcome.ended not in case.ends:
            found.append(f"ended as {self.outcome.ended!r}, not {' or '.join(case.ends)}")
        given = {reason for track in self.outcome.tracks for reason in track.command.reasons}
        found += [f"reason {reason} was not given" for reason in case.reasons if reason not in given]
        if self.after_m > case.most_m:
            found.append(f"flew {self.after_m:.2f} m after the fault, more than {case.most_m:.2f} m")
        if self.nearest_m < 0:
            found.append(f"left the fence by {-self.nearest_m:.2f} m")
        return found


def run_case(case: Case, fence: Fence | None = None, seed: int = 0, governor: GovernorConfig | None = None) -> Result:
    """Fly one case."""
    fence = fence or Fence()
    x, y, yaw = case.start
    body = AutopilotModel(case.model, x, y, yaw, seed)
    mind = ScriptedMind(case.speed_m_s, case.turn_rad_s, case.stop_after)
    vehicle = SimulatedVehicle(body)
    scene = Scene(body, mind, vehicle, fence, case.begin, case.end, case.lasts_s, case.fault_s)
    vehicle.on_step = scene.watch
    governor = governor or GovernorConfig(max_flight_s=25.0)
    outcome = fly(vehicle, mind, Plan(fence=fence, governor=governor, lockstep=True, catch_signals=False))
    return Result(case, outcome, scene.after_m, scene.nearest_m)


def _link(up: bool) -> Turn:
    def turn(scene: Scene) -> None:
        scene.vehicle.link.up = up

    return turn


def _set(**values: object) -> Turn:
    """Change the link, the mind or the body by the name of the attribute."""

    def turn(scene: Scene) -> None:
        for name, value in values.items():
            owner = next(part for part in (scene.vehicle.link, scene.mind, scene.body) if hasattr(part, name))
            setattr(owner, name, value)

    return turn


_LANDED = ("landed",)
_AUTOPILOT = ("landed by its autopilot or pilot",)
_PX4, _ARDUPILOT = AutopilotModelConfig(silence_s=1.6), AutopilotModelConfig(silence_s=3.9, on_silence="land")
_MIDDLE = (2.35, 2.35, 0.0)


def cases() -> list[Case]:
    """The suite of docs/safety.md. Without a fault the mind flies on until the time is up."""
    return [
        Case("no fault", "a flight that ends when the policy says so", _set(), _LANDED, (Reason.ARRIVED,), math.inf,
             stop_after=20),
        Case("frozen image", "one frame again and again", _set(camera_frozen=True), _LANDED, (Reason.NO_IMAGE,), 1.6),
        Case("dropped frames", "no frames for 0.4 s: less than the limit", _set(camera_up=False), _LANDED,
             (Reason.TIME_UP,), math.inf, end=_set(camera_up=True), lasts_s=0.4),
        Case("camera lost", "no frames any more", _set(camera_up=False), _LANDED, (Reason.NO_IMAGE,), 1.6),
        Case("late frames", "frames arrive 0.9 s late", _set(camera_delay_s=0.9), _LANDED, (Reason.NO_IMAGE,), 1.6),
        Case("pose jump", "the estimate jumps by 1 m", lambda scene: scene.body.jump(0.8, 0.6), _LANDED,
             (Reason.POSE_JUMP,), 1.2),
        Case("pose lost", "no poses any more", _set(pose_up=False), _LANDED, (Reason.NO_POSE,), 1.3),
        Case("policy hangs", "no more decisions", _set(hang=True), _LANDED, (Reason.NO_DECISION,), 1.9),
        Case("policy crashes", "an exception in the policy", _set(crash=True), _LANDED, (Reason.POLICY_FAILED,), 1.4),
        Case("NaN from a network", "the answer is NaN", _set(nonsense=math.nan), _LANDED, (Reason.BAD_OUTPUT,), 1.4),
        Case("wild output", "the policy asks for 40 m/s", _set(nonsense=40.0), _LANDED, (Reason.BAD_OUTPUT,), 1.4),
        Case("battery low", "15 % left", _set(battery=0.15), _LANDED, (Reason.BATTERY_LOW,), 1.0),
        Case("battery empty", "5 % left", _set(battery=0.05), _LANDED, (Reason.BATTERY_EMPTY,), 1.0),
        Case("link lost for 0.5 s", "shorter than the autopilot's timer", _link(False), _LANDED,
             (Reason.NO_POSE, Reason.TIME_UP), math.inf, end=_link(True), lasts_s=0.5),
        Case("link lost for 2 s, PX4", "the autopilot leaves offboard after 1.6 s", _link(False), _AUTOPILOT,
             (Reason.NO_POSE, Reason.TAKEN_OVER), 2.2, end=_link(True), lasts_s=2.0, model=_PX4),
        Case("link lost for 2 s, ArduPilot", "back before its timer of 3.9 s", _link(False), _LANDED,
             (Reason.NO_POSE,), math.inf, end=_link(True), lasts_s=2.0, model=_ARDUPILOT),
        Case("link lost for 10 s, PX4", "the autopilot lands by itself", _link(False), _LANDED,
             (Reason.LINK_LOST,), 2.2, end=_link(True), lasts_s=10.0, model=_PX4),
        Case("link lost for 10 s, ArduPilot", "the autopilot lands by itself", _link(False), _LANDED,
             (Reason.LINK_LOST,), 3.6, end=_link(True), lasts_s=10.0, model=_ARDUPILOT),
        Case("process killed", "nothing is sent any more (kill -9; also tested on loopback)", _link(False), ("lost",),
             (), 2.2),
        Case("pilot takes over", "the autopilot is switched to position hold", lambda scene: _hold(scene),
             ("taken over", "landed by its autopilot or pilot"), (Reason.TAKEN_OVER,), 1.0),
        Case("wind", "1.5 m/s, gusts of 0.5 m/s, towards the fence", _set(), _LANDED, (Reason.TIME_UP,), math.inf,
             model=AutopilotModelConfig(wind_m_s=(1.5, 0.0), gust_m_s=0.5)),
        Case("slow vehicle", "time constant 1.0 s, latency 0.2 s, straight at the fence", _set(), _LANDED,
             (Reason.FENCE, Reason.TIME_UP), math.inf, model=AutopilotModelConfig(time_constant_s=1.0, latency_s=0.2),
             turn_rad_s=0.0, start=_MIDDLE, fault_s=0.5),
        Case("fence edge at full speed", "straight on, as fast as allowed", _set(), _LANDED,
             (Reason.FENCE, Reason.TIME_UP), math.inf, turn_rad_s=0.0, start=_MIDDLE, fault_s=0.5),
        Case("link lost at the fence", "straight on at full speed, then silence", _link(False), ("lost",),
             (Reason.NO_POSE, Reason.LINK_LOST), 2.2, turn_rad_s=0.0, start=_MIDDLE, fault_s=3.0),
        Case("link lost at the fence, ArduPilot", "the same with a timer of 3.9 s", _link(False), ("lost",),
             (Reason.NO_POSE, Reason.LINK_LOST), 3.6, model=_ARDUPILOT, turn_rad_s=0.0, start=_MIDDLE,
             fault_s=3.0),
    ]  # fmt: skip


def _hold(scene: Scene) -> None:
    scene.body.hold()


def table(results: list[Result]) -> str:
    """The suite as a Markdown table."""
    lines = [
        "| fault | what happens | end state | reason codes | flown after it | at most | nearest to the fence |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in results:
        case = result.case
        codes = ", ".join(f"`{reason}`" for reason in result.outcome.reasons) or "none"
        held = math.isinf(case.most_m)
        flown = "flies on" if held else f"{result.after_m:.2f} m"
        most = "-" if held else f"{case.most_m:.2f} m"
        lines.append(
            f"| {case.name} | {case.what} | {result.outcome.ended} | {codes} | {flown} | {most} | "
            f"{result.nearest_m:.2f} m |"
        )
    return "\n".join(lines) + "\n"
