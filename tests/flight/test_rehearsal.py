"""Rehearsals against the stand-in autopilot: real processes, real links, and faults that really happen."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("pymavlink", reason="needs pymavlink: pip install -e '.[flight]'")

from wayword.errors import WaywordError
from wayword.flight.fence import Fence
from wayword.flight.rehearsal import RehearsalReport, RehearsedFault, rehearse, rehearsed_faults
from wayword.flight.relay import MavlinkRelay
from wayword.flight.testing.mavlink_server import MavlinkServer
from wayword.flight.testing.rtsp_server import RtspServer
from wayword.flight.vehicle import Mode

FLIGHT = """
import sys
from wayword.flight.calibration import Calibration
from wayword.flight.faults import ScriptedMind
from wayword.flight.governor import GovernorConfig
from wayword.flight.mavlink_vehicle import MavlinkVehicle
from wayword.flight.mission import FlightPlan, fly_mission
from wayword.flight.resample import Resampler
from wayword.flight.video_stream import VideoStream
address, video, *start = sys.argv[1:]
camera = VideoStream(video, Resampler(Calibration.pinhole(128, 72)), open_s=60.0)
vehicle = MavlinkVehicle(address, camera, tuple(map(float, start)), connect_s=60.0)
# As fast as a shared machine is: what is rehearsed is what happens, not how soon.
governor = GovernorConfig(image_s=2.0, pose_s=2.0, decision_intervals=8.0, jump_m=3.0, jump_rad=4.0, max_flight_s=40.0)
print(fly_mission(vehicle, ScriptedMind(0.4, 0.55), FlightPlan(governor=governor)).line())
"""
BY_NAME = {fault.name: fault for fault in rehearsed_faults()}


def rehearsed(kind: str, fault: RehearsedFault, lines: list[str]) -> RehearsalReport:
    rng = np.random.default_rng(0)
    start = (2.0, 2.0, 0.0)
    with MavlinkServer(kind, start=start) as drone:
        relay = MavlinkRelay(drone.address, connect_s=60.0)
        relay.stand_at(start)
        try:
            with RtspServer(lambda: rng.integers(0, 256, (72, 128, 3), dtype=np.uint8)) as camera:

                def launch(start) -> subprocess.Popen[bytes]:
                    words = [relay.address, camera.address, *map(str, start)]
                    return subprocess.Popen([sys.executable, "-c", FLIGHT, *words])

                return rehearse(relay, camera, launch, Fence(), [fault], lines.append)[0]
        finally:
            relay.close()


@pytest.mark.parametrize(
    ("kind", "name"),
    [("PX4", "process killed"), ("PX4", "process frozen for 4 s"), ("PX4", "link cut for 2 s"),
     ("PX4", "pilot takes over"), ("PX4", "Ctrl-C twice"), ("ArduPilot", "camera stops")],
)  # fmt: skip
def test_what_was_promised_is_seen(kind, name):
    lines: list[str] = []
    seen = rehearsed(kind, BY_NAME[name], lines)
    assert seen.problems == ()
    assert lines[0].startswith(f"ok   {name}: promised ")


def test_a_broken_promise_is_seen_too():
    """Nothing is done to it, so it flies on and sends setpoints."""
    lines: list[str] = []
    seen = rehearsed("PX4", RehearsedFault("nothing", "silence", lambda scene: None, silent=True), lines)
    assert seen.problems == (f"{seen.sent} messages were sent after the pilot had taken over",)
    assert seen.sent > 10
    assert lines[0].startswith("STOP nothing: promised silence; seen ")


def test_the_relay_sees_the_vehicle_when_the_flight_does_not():
    with MavlinkServer("PX4", start=(1.0, 1.5, 0.4)) as drone:
        relay = MavlinkRelay(drone.address, connect_s=60.0)
        relay.stand_at((1.0, 1.5, 0.4))
        relay.cut = True
        assert relay.pose[:2] == pytest.approx((1.0, 1.5), abs=0.1)
        assert relay.mode is Mode.GROUND
        assert not relay.armed
        relay.close()


def test_nobody_there_is_one_line():
    with pytest.raises(WaywordError, match=r"no heartbeat for 0\.3 s; start the autopilot first"):
        MavlinkRelay("udpin://127.0.0.1:14998", connect_s=0.3)
