"""Flight: real vehicles and simulated ones behind one protocol, and the governor that keeps them safe."""

from wayword.flight.fence import Fence
from wayword.flight.governor import Command, Decision, GovernorConfig, Inputs, Kind, State, step
from wayword.flight.mission import Outcome, Plan, fly
from wayword.flight.reasons import MEANING, Reason
from wayword.flight.vehicle import Check, Facts, Mode, Shot, Telemetry, Vehicle

__all__ = [
    "MEANING",
    "Check",
    "Command",
    "Decision",
    "Facts",
    "Fence",
    "GovernorConfig",
    "Inputs",
    "Kind",
    "Mode",
    "Outcome",
    "Plan",
    "Reason",
    "Shot",
    "State",
    "Telemetry",
    "Vehicle",
    "fly",
    "step",
]
