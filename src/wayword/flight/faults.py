"""Faults in flight: one simulated flight each, with a fault thrown in, and what must have come of it.

The cases themselves are in ``fault_suite.py``.

Everything runs in simulated time, so a case is the same to the bit everywhere. Distances are those really flown from
the moment of the fault until the vehicle stood still or was on the ground, whatever it reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.autopilot_model import AutopilotModel
from wayword.flight.decider import Wish
from wayword.flight.fence import Fence
from wayword.flight.governor import GovernorConfig
from wayword.flight.mission import FlightPlan, Outcome, fly_mission
from wayword.flight.reasons import Reason
from wayword.flight.simulated import SimulatedVehicle
from wayword.flight.vehicle import Mode, Pose
from wayword.mapping.grid import WORLD_CELLS
from wayword.mapping.standing import Disc, standing
from wayword.mapping.world_map import splat_max
from wayword.task import MAX_SPEED_M_S

SceneChange = Callable[["FaultScene"], None]
FAULT_S = 4.0
"""Seconds after take-off at which a fault begins."""


@dataclass
class ScriptedMind:
    """Flies a circuit, or straight on; can be made to hang, crash or talk nonsense."""

    speed_m_s: float = MAX_SPEED_M_S
    turn_rad_s: float = 0.0
    stop_after: int = 10_000
    hang: bool = False
    crash: bool = False
    nonsense: float | None = None
    obstacles: tuple[Disc, ...] = ()
    """What it has seen stand on the map."""
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
            return Wish(self.nonsense, 0.0, False, self.obstacles)
        self.count += 1
        return Wish(self.speed_m_s, self.turn_rad_s, self.count > self.stop_after, self.obstacles)


@dataclass
class FaultScene:
    """One faulty flight while it runs."""

    body: AutopilotModel
    mind: ScriptedMind
    vehicle: SimulatedVehicle
    fence: Fence
    begin: SceneChange
    end: SceneChange | None = None
    lasts_s: float = math.inf
    fault_s: float = FAULT_S
    flying_s: float | None = None
    began: bool = False
    over: bool = False
    after_m: float = 0.0
    nearest_m: float = math.inf
    """Least true distance to the fence in flight; negative is a violation."""
    gap_m: float = math.inf
    """Least true distance of the body from an object in flight."""
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
            self.gap_m = min(self.gap_m, body.gap_m)
        if self.began and self._last is not None:
            self.after_m += math.hypot(body.x - self._last[0], body.y - self._last[1])
        self._last = (body.x, body.y)


@dataclass(frozen=True)
class Case:
    """One fault and what must come of it."""

    name: str
    what: str
    begin: SceneChange
    ends: tuple[str, ...]
    """Allowed endings."""
    reasons: tuple[Reason, ...]
    """Codes that must be given."""
    most_m: float
    """The vehicle must not fly further than this after the fault; ``inf`` where it rightly flies on."""
    end: SceneChange | None = None
    lasts_s: float = math.inf
    model: AutopilotModelConfig = field(default_factory=AutopilotModelConfig)
    speed_m_s: float = MAX_SPEED_M_S
    turn_rad_s: float = 0.55
    """The mind flies circles of 1.3 m radius unless it is told otherwise."""
    stop_after: int = 10_000
    start: tuple[float, float, float] = (2.35, 1.1, 0.0)
    fault_s: float = FAULT_S
    columns: tuple[Disc, ...] = ()
    """Objects that stand there."""
    mapped: bool = True
    """Whether the mind has them on its map."""
    least_gap_m: float = 0.0
    """The body must keep this far from every object."""


@dataclass(frozen=True, eq=False)
class Result:
    """What came of a case."""

    case: Case
    outcome: Outcome
    after_m: float
    nearest_m: float
    gap_m: float = math.inf
    contacts: int = 0

    @property
    def problems(self) -> list[str]:
        """Everything that is not as it must be."""
        case, complaints = self.case, list[str]()
        if self.outcome.ended not in case.ends:
            complaints.append(f"ended as {self.outcome.ended!r}, not {' or '.join(case.ends)}")
        codes = {reason for track in self.outcome.tracks for reason in track.command.reasons}
        complaints += [f"reason {reason} was not given" for reason in case.reasons if reason not in codes]
        if self.after_m > case.most_m:
            complaints.append(f"flew {self.after_m:.2f} m after the fault, more than {case.most_m:.2f} m")
        if self.nearest_m < 0:
            complaints.append(f"left the fence by {-self.nearest_m:.2f} m")
        if self.contacts:
            complaints.append(f"touched an object {self.contacts} times")
        elif self.gap_m < case.least_gap_m:
            complaints.append(f"came within {self.gap_m:.3f} m of an object, not {case.least_gap_m:.3f} m")
        return complaints


def run_case(case: Case, fence: Fence | None = None, seed: int = 0, governor: GovernorConfig | None = None) -> Result:
    """Fly one case."""
    fence = fence or Fence()
    x, y, yaw = case.start
    body = AutopilotModel(case.model, x, y, yaw, seed, np.array(case.columns).reshape(-1, 3))
    mind = ScriptedMind(case.speed_m_s, case.turn_rad_s, case.stop_after)
    mind.obstacles = on_map(case.columns) if case.mapped else ()
    vehicle = SimulatedVehicle(body)
    scene = FaultScene(body, mind, vehicle, fence, case.begin, case.end, case.lasts_s, case.fault_s)
    vehicle.on_step = scene.watch
    governor = governor or GovernorConfig(max_flight_s=25.0)
    outcome = fly_mission(vehicle, mind, FlightPlan(fence=fence, governor=governor, lockstep=True, catch_signals=False))
    return Result(case, outcome, scene.after_m, scene.nearest_m, scene.gap_m, body.contacts)


def on_map(columns: tuple[Disc, ...]) -> tuple[Disc, ...]:
    """Objects as the all-object map of a policy has them that sees everything right."""
    world = np.zeros((1, WORLD_CELLS, WORLD_CELLS), np.float32)
    prints = np.array([(*column, 1.0) for column in columns], np.float32).reshape(-1, 4)
    splat_max(world, prints, np.ones((1, len(prints))))
    return standing(world[0])


def fault_table(results: list[Result]) -> str:
    """The suite as a Markdown table."""
    lines = [
        "| fault | what happens | end state | reason codes | flown after it | at most | nearest to the fence "
        "| to an object |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        case = result.case
        codes = ", ".join(f"`{reason}`" for reason in result.outcome.reasons) or "none"
        held = math.isinf(case.most_m)
        flown = "flies on" if held else f"{result.after_m:.2f} m"
        most = "-" if held else f"{case.most_m:.2f} m"
        gap = f"{result.gap_m:.2f} m" if case.columns else "-"
        lines.append(
            f"| {case.name} | {case.what} | {result.outcome.ended} | {codes} | {flown} | {most} | "
            f"{result.nearest_m:.2f} m | {gap} |"
        )
    return "\n".join(lines) + "\n"
