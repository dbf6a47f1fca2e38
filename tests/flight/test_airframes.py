"""Aircraft by name answer as the autopilots did that they are fitted to."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.evaluation.table.conditions import VEHICLES
from wayword.flight.airframes import AIRFRAMES
from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.autopilot_model import AutopilotModel, Setpoint
from wayword.flight.governor import GovernorConfig
from wayword.flight.vehicle import Mode
from wayword.sim.vehicle import Fleet


def hovering(config: AutopilotModelConfig) -> AutopilotModel:
    body = AutopilotModel(config, 1.0, 1.0)
    body.arm()
    body.take_off(0.7)
    body.advance(5.0)
    body.mode = Mode.OFFBOARD
    return body


def fly(body: AutopilotModel, seconds: float, speed: float, turn: float = 0.0) -> np.ndarray:
    """Speed ahead, to the left, and pitch in degrees, every 0.05 s: the heading is steered by as the governor does."""
    rows = []
    for _ in range(round(seconds / 0.05)):
        cos, sin = math.cos(body.yaw), math.sin(body.yaw)
        body.receive(Setpoint((speed * cos, speed * sin, 0.0), turn, height=0.7))
        body.advance(0.05)
        cos, sin = math.cos(body.yaw), math.sin(body.yaw)
        ahead, left = body.vx * cos + body.vy * sin, body.vy * cos - body.vx * sin
        rows.append((ahead, left, math.degrees(body.pitch)))
    return np.array(rows)


@pytest.mark.parametrize(("name", "share"), [("px4", 0.8), ("arducopter", 1.0)])
def test_what_was_measured_on_the_autopilots(name, share):
    flown = fly(hovering(AIRFRAMES[name]), 6.0, 0.7)
    assert flown[-1, 0] == pytest.approx(0.7 * share, rel=0.01)
    reached = 0.05 * (1 + np.argmax(flown[:, 0] >= 0.632 * flown[-1, 0]))
    assert 0.6 <= reached <= 1.0
    assert 6.0 <= flown[:, 2].max() <= 9.0
    # In an arc of 0.5 rad/s it slips outwards: to the right where it turns left.
    slip = -fly(hovering(AIRFRAMES[name]), 8.0, 0.7, 0.5)[-1, 1]
    assert 0.15 <= slip <= 0.28


@pytest.mark.parametrize("name", ["px4", "arducopter"])
def test_the_arena_and_the_flight_stack_fly_the_same_vehicle(name):
    body = hovering(AIRFRAMES[name])
    fleet = Fleet(1, VEHICLES[name])
    fleet.reset([0], body.x, body.y, 0.0)
    fly(body, 3.0, 0.7)
    fleet.step([[0.7, 0.0]], 3.0)
    assert body.x == pytest.approx(fleet.pose[0, 0], abs=0.02)


def test_a_slow_one_is_as_slow_as_the_governor_expects_at_most():
    for config in AIRFRAMES.values():
        assert config.time_constant_s + config.latency_s <= GovernorConfig().response_s + GovernorConfig().latency_s
