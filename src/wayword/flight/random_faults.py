"""Randomised faulty flights: any vehicle, wind, fence, policy and fault the governor must keep inside its fence.

Flight number i of a seed is always the same one. The policies are worse than real ones: some steer for the nearest
edge at full speed and never stop. At the ``Edge`` of what the governor is made for, further things go wrong in every
one of them: to know where its promise ends.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.autopilot_model import AutopilotModel
from wayword.flight.decider import Wish
from wayword.flight.faults import FaultScene, SceneChange, ScriptedMind
from wayword.flight.fence import Fence
from wayword.flight.governor import GovernorConfig
from wayword.flight.mission import FlightPlan, Outcome, fly_mission
from wayword.flight.simulated import SimulatedVehicle
from wayword.flight.vehicle import Mode, Pose
from wayword.task import ARENA_M, MAX_SPEED_M_S

FENCES = (
    Fence(),
    Fence(((0.0, 0.0), (ARENA_M, 0.0), (ARENA_M, ARENA_M), (0.0, ARENA_M))),
    Fence(((0.0, 0.0), (6.0, 0.0), (6.0, 2.5), (2.5, 2.5), (2.5, 6.0), (0.0, 6.0))),  # an L
    Fence(((0.0, 0.0), (7.0, 0.0), (3.5, 6.0))),
    Fence(((0.0, 0.0), (8.0, 0.0), (8.0, 2.2), (0.0, 2.2))),
)


@dataclass(frozen=True)
class Edge:
    """Something that goes wrong in every flight, beside its fault."""

    name: str
    holds: bool
    """Whether the fence is promised to hold all the same."""
    overshoot: float = 0.0
    """Share by which the vehicle overshoots a new velocity."""
    jump_m: float = 0.0
    """Two jumps of the pose estimate in one direction, of so much each ..."""
    apart_s: tuple[float, float] = (0.0, 0.0)
    """... and so long after each other."""
    drift_m_s: float = 0.0
    """The pose estimate creeps away."""


EDGES = (
    Edge("overshoots a new velocity by 10 %", True, overshoot=0.1),
    Edge("overshoots by 20 %", True, overshoot=0.2),
    Edge("overshoots by 40 %", False, overshoot=0.4),
    Edge("two jumps of 0.24 m within 2 s", False, jump_m=0.24, apart_s=(0.1, 2.0)),
    Edge("two jumps of 0.24 m, 3.5 to 6 s apart", False, jump_m=0.24, apart_s=(3.5, 6.0)),
    Edge("the pose creeps away by 0.05 m/s", False, drift_m_s=0.05),
)


@dataclass
class RandomMind(ScriptedMind):
    """Wanders, or goes for the fence."""

    rng: np.random.Generator | None = None
    fence: Fence | None = None
    aims: bool = False
    """Steer for the nearest edge."""

    def decide(self, pixels: NDArray[np.uint8], pose: Pose) -> Wish:
        """A wish of its own, unless a fault has the word."""
        wish = super().decide(pixels, pose)
        if wish is None or self.nonsense is not None:
            return wish
        assert self.rng is not None
        assert self.fence is not None
        if self.aims:
            turn = 1.5 * math.remainder(_outwards(self.fence, pose) - pose[5], 2 * math.pi)
            return Wish(self.speed_m_s, max(-1.0, min(1.0, turn)), False)
        return Wish(float(self.rng.uniform(0, self.speed_m_s)), float(self.rng.uniform(-1, 1)), wish.stop)


def _outwards(fence: Fence, pose: Pose) -> float:
    """The direction in which the fence is nearest."""
    angles = np.linspace(-math.pi, math.pi, 16, endpoint=False)
    away = [fence.distance(pose[0] + 0.3 * math.cos(a), pose[1] + 0.3 * math.sin(a)) for a in angles]
    return float(angles[int(np.argmin(away))])


@dataclass(frozen=True, eq=False)
class RandomFlight:
    """One of them, flown."""

    index: int
    fault: str
    outcome: Outcome
    nearest_m: float
    """Least true distance to the fence; negative is a violation."""


def random_flight(index: int, seed: int = 0, edge: Edge | None = None) -> RandomFlight:
    """Flight number ``index`` of a seed."""
    rng = np.random.default_rng((seed, index))
    fence = FENCES[int(rng.integers(len(FENCES)))]
    x, y = _place(fence, rng)
    wind = rng.uniform(0, 1.0) * np.array([math.cos(a := rng.uniform(-math.pi, math.pi)), math.sin(a)])
    silence = float(rng.choice([1.1, 1.6, 3.9]))
    on_silence = "land" if rng.random() < 0.7 else "hold"
    model = AutopilotModelConfig(
        time_constant_s=float(rng.uniform(0.3, 1.0)),
        latency_s=float(rng.uniform(0.02, 0.2)),
        silence_s=silence,
        on_silence="stop" if silence == 3.9 else on_silence,  # type: ignore[arg-type]
        comes_back=silence != 3.9,
        heartbeat_s=5.0 if silence == 3.9 else math.inf,
        wind_m_s=(float(wind[0]), float(wind[1])) if rng.random() < 0.5 else (0.0, 0.0),
        gust_m_s=float(rng.choice([0.0, 0.3])),
        position_noise_m=float(rng.uniform(0, 0.02)),
        velocity_noise_m_s=float(rng.uniform(0, 0.03)),
        overshoot=edge.overshoot if edge else 0.0,
    )
    body = AutopilotModel(model, x, y, float(rng.uniform(-math.pi, math.pi)), int(rng.integers(2**31)))
    mind = RandomMind(MAX_SPEED_M_S, 0.0, int(rng.integers(10, 60)), rng=rng, fence=fence, aims=rng.random() < 0.5)
    vehicle = SimulatedVehicle(body)
    name, begin, end = _fault(rng)
    lasts = float(rng.choice([0.2, 0.5, 1.0, 2.0, 10.0, math.inf]))
    scene = FaultScene(body, mind, vehicle, fence, begin, end, lasts, float(rng.uniform(0.5, 10.0)))
    vehicle.on_step = scene.watch if edge is None else _with_edge(scene, edge, np.random.default_rng((seed, index, 1)))
    plan = FlightPlan(fence=fence, governor=GovernorConfig(max_flight_s=15.0), lockstep=True, catch_signals=False)
    outcome = fly_mission(vehicle, mind, plan)
    return RandomFlight(index, name, outcome, scene.nearest_m)


def _with_edge(scene: FaultScene, edge: Edge, rng: np.random.Generator) -> Callable[[SimulatedVehicle], None]:
    """The scene's watch, and before it what goes wrong besides."""
    angle = float(rng.uniform(-math.pi, math.pi))
    first = float(rng.uniform(0.5, 8.0))
    due = [first, first + float(rng.uniform(*edge.apart_s))] if edge.jump_m else []
    before = scene.body.time_s

    def watch(vehicle: SimulatedVehicle) -> None:
        nonlocal before
        body = scene.body
        passed, before = body.time_s - before, body.time_s
        if scene.flying_s is not None and body.mode is not Mode.GROUND:
            way = edge.drift_m_s * passed
            while due and body.time_s - scene.flying_s >= due[0]:
                due.pop(0)
                way += edge.jump_m
            if way:
                body.jump(way * math.cos(angle), way * math.sin(angle))
        scene.watch(vehicle)

    return watch


def _place(fence: Fence, rng: np.random.Generator) -> tuple[float, float]:
    corners = np.array(fence.corners)
    while True:
        x, y = rng.uniform(corners.min(axis=0), corners.max(axis=0)).tolist()
        if fence.distance(x, y) > 0.5:
            return x, y


def _fault(rng: np.random.Generator) -> tuple[str, SceneChange, SceneChange | None]:
    """A fault, how it begins and how it ends."""

    def on_link(name: str, bad: object, good: object) -> tuple[SceneChange, SceneChange]:
        return (lambda s: setattr(s.vehicle.link, name, bad)), (lambda s: setattr(s.vehicle.link, name, good))

    def on_mind(name: str, bad: object, good: object) -> tuple[SceneChange, SceneChange]:
        return (lambda s: setattr(s.mind, name, bad)), (lambda s: setattr(s.mind, name, good))

    angle, size = float(rng.uniform(-math.pi, math.pi)), float(rng.uniform(0.1, 3.0))
    jump = (size * math.cos(angle), size * math.sin(angle))
    kinds: dict[str, tuple[SceneChange, SceneChange | None]] = {
        "link": on_link("up", False, True),
        "pose": on_link("pose_up", False, True),
        "camera": on_link("camera_up", False, True),
        "frozen image": on_link("camera_frozen", True, False),
        "late frames": on_link("camera_delay_s", float(rng.uniform(0.3, 2.0)), 0.05),
        "late poses": on_link("pose_delay_s", float(rng.uniform(0.1, 0.6)), 0.02),
        "policy hangs": on_mind("hang", True, False),
        "policy crashes": on_mind("crash", True, False),
        "nonsense": on_mind("nonsense", float(rng.choice([math.nan, math.inf, 40.0, -3.0])), None),
        "pose jump": ((lambda s: s.body.jump(*jump)), None),
        "battery": ((lambda s: setattr(s.body, "battery", float(rng.choice([0.15, 0.05])))), None),
    }
    name = str(rng.choice(list(kinds)))
    return name, *kinds[name]


def report(flights: Iterable[RandomFlight]) -> str:
    """Counts for docs/safety.md."""
    flown = list(flights)
    rows = []
    for fault in sorted({flight.fault for flight in flown}):
        own = [flight for flight in flown if flight.fault == fault]
        ends = Counter(flight.outcome.ended for flight in own)
        ended = ", ".join(f"{count} {end}" for end, count in ends.most_common())
        left, nearest = sum(f.nearest_m < 0 for f in own), min(f.nearest_m for f in own)
        rows.append(f"| {fault} | {len(own)} | {left} | {nearest:.2f} m | {ended} |")
    violations = sum(flight.nearest_m < 0 for flight in flown)
    head = "| fault | flights | fence violations | nearest to the fence | ended |\n|---|---|---|---|---|\n"
    return head + "\n".join(rows) + f"\n\n{len(flown)} flights, {violations} fence violations.\n"


def edge_report(flights: Iterable[tuple[Edge, RandomFlight]]) -> str:
    """What came of flights at the edge, for docs/safety.md."""
    flown = list(flights)
    rows = []
    for edge in dict.fromkeys(edge for edge, _ in flown):
        own = [flight for each, flight in flown if each is edge]
        left, nearest = sum(f.nearest_m < 0 for f in own), min(f.nearest_m for f in own)
        rows.append(f"| {edge.name} | {'yes' if edge.holds else 'no'} | {len(own)} | {left} | {nearest:.2f} m |")
    head = (
        "| beside the fault | promised | flights | fence violations | nearest to the fence |\n|---|---|---|---|---|\n"
    )
    return head + "\n".join(rows) + "\n"
