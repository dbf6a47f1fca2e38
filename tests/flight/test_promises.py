"""Every promise of docs/safety.md names its tests, and they exist; what is promised nowhere else is tested here."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.autopilot_model import AutopilotModel
from wayword.flight.decider import Decider
from wayword.flight.faults import ScriptedMind
from wayword.flight.loop import GovernorLoop
from wayword.flight.mavlink_link import MavlinkLink
from wayword.flight.mavlink_vehicle import MavlinkVehicle
from wayword.flight.simulated import SimulatedVehicle
from wayword.flight.vehicle import Mode

ROOT = Path(__file__).parents[2]


def test_every_promise_has_a_test():
    section = (ROOT / "docs" / "safety.md").read_text(encoding="utf-8").split("## Promises and their tests", 1)[1]
    rows = [row for row in section.split("\n## ", 1)[0].splitlines() if row.startswith("| ")][1:]
    assert len(rows) > 20
    defined: dict[str, set[str]] = {}
    for row in rows:
        promise, tests = (cell.strip() for cell in row.strip("|").split("|"))
        named = re.findall(r"`(test_\w+)`(?: \((\w+)\))?", tests)
        assert named, promise
        for name, _ in named:
            found = defined.setdefault(name, {
                path.name for path in (ROOT / "tests").rglob("test_*.py")
                if re.search(rf"^def {name}\(", path.read_text(encoding="utf-8"), re.MULTILINE)
            })  # fmt: skip
            assert found, f"{promise}: there is no {name}"


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_governor_that_stands_still_sends_nothing(comes_back):
    """No thread of its own streams setpoints on: the autopilot's failsafe acts, and lands it."""
    body = AutopilotModel(AutopilotModelConfig(silence_s=1.1, comes_back=comes_back), 2.0, 2.0)
    vehicle = SimulatedVehicle(body)
    vehicle.connect()
    vehicle.take_off(0.7)
    loop = GovernorLoop(vehicle, Decider(vehicle, ScriptedMind(0.5, 0.5)))
    loop.begin()
    for _ in range(60):
        loop.decider.poll()
        loop.tick()
        vehicle.wait(0.05)
    assert body.mode is Mode.OFFBOARD
    vehicle.wait(1.5)
    assert body.mode is Mode.LAND
    vehicle.wait(4.0)
    assert body.mode is Mode.GROUND


def test_we_are_an_onboard_computer_and_no_ground_station():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(20.0)
        address = f"udpout://127.0.0.1:{listener.getsockname()[1]}"
        vehicle = MavlinkVehicle(address, None)  # type: ignore[arg-type]
        vehicle.link = link = MavlinkLink(address)
        vehicle._heartbeat()
        heard = link.mavlink.MAVLink(None).parse_buffer(listener.recv(500))[0]
        link.close()
    assert heard.get_srcSystem() == 245
    assert heard.type == link.mavlink.MAV_TYPE_ONBOARD_CONTROLLER
