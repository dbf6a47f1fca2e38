"""Flight: real vehicles and simulated ones behind one protocol, and the governor that keeps them safe."""

from wayword.flight.fence import Fence
from wayword.flight.governor import Decision, GovernorConfig, GovernorInputs, Kind, State, VehicleCommand, step
from wayword.flight.mission import FlightPlan, Outcome, fly_mission
from wayword.flight.reasons import MEANING, Reason
from wayword.flight.vehicle import Mode, PreflightCheck, Shot, Telemetry, Vehicle, VehicleFacts

__all__ = [
    "MEANING",
    "Decision",
    "Fence",
    "FlightPlan",
    "GovernorConfig",
    "GovernorInputs",
    "Kind",
    "Mode",
    "Outcome",
    "PreflightCheck",
    "Reason",
    "Shot",
    "State",
    "Telemetry",
    "Vehicle",
    "VehicleCommand",
    "VehicleFacts",
    "fly_mission",
    "step",
]
