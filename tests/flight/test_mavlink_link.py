"""What is taken from a line on which others speak too, how old a pose is that comes in two messages, what is said."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pymavlink", reason="needs pymavlink: pip install -e '.[flight]'")

from pymavlink import mavutil

from wayword.flight.autopilots import ARDUPILOT, PX4
from wayword.flight.mavlink_link import MavlinkLink
from wayword.flight.mavlink_vehicle import MavlinkVehicle

MAV = mavutil.mavlink


class Speaker:
    """Somebody on the line, who speaks to a port."""

    def __init__(self, port: int, system: int, component: int) -> None:
        self._codec = MAV.MAVLink(None, srcSystem=system, srcComponent=component)
        self._port, self._socket = port, socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def say(self, message: Any) -> None:
        self._socket.sendto(message.pack(self._codec), ("127.0.0.1", self._port))

    def hear(self, kind: str) -> Any:
        """The next message of a kind that is sent to it."""
        self._socket.settimeout(60.0)
        while True:
            for message in self._codec.parse_buffer(self._socket.recv(4096)) or []:
                if message.get_type() == kind:
                    return message

    def beat(self, autopilot: int, kind: int = MAV.MAV_TYPE_QUADROTOR) -> None:
        self.say(MAV.MAVLink_heartbeat_message(kind, autopilot, 0, 0, MAV.MAV_STATE_ACTIVE, 3))


@pytest.fixture
def port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def link(port: int) -> Iterator[MavlinkLink]:
    made = MavlinkLink(f"udpin://127.0.0.1:{port}")
    yield made
    made.close()


def test_a_ground_station_and_a_gimbal_are_not_the_vehicle(port: int, link: MavlinkLink) -> None:
    # The station is heard first; the gimbal is a part of the vehicle (system 1) and beats as well.
    station, vehicle, gimbal = Speaker(port, 255, 190), Speaker(port, 1, 1), Speaker(port, 1, 154)
    station.beat(MAV.MAV_AUTOPILOT_INVALID, MAV.MAV_TYPE_GCS)
    vehicle.beat(MAV.MAV_AUTOPILOT_PX4)
    gimbal.beat(MAV.MAV_AUTOPILOT_INVALID, MAV.MAV_TYPE_GIMBAL)
    gimbal.say(MAV.MAVLink_system_time_message(0, 0))  # what a part of the vehicle says is heard
    assert link.wait_for(lambda: link.newest("SYSTEM_TIME") is not None, 60.0)
    assert link.target == (1, 1)
    newest = link.newest("HEARTBEAT")
    assert newest is not None
    assert newest[1].autopilot == MAV.MAV_AUTOPILOT_PX4


@pytest.mark.parametrize(("height", "climb"), [(0.2, 0.4), (0.6, 0.1), (0.9, -0.2), (1.3, -0.4)])
def test_back_to_the_height_it_climbs_and_sinks_no_faster_than_forty_centimetres_a_second(
    port: int, link: MavlinkLink, height: float, climb: float
) -> None:
    # 0.7 m are held: as many metres per second as metres are missing, within 0.4. Down is positive on the line.
    speaker, vehicle = Speaker(port, 1, 1), MavlinkVehicle(link.address)
    vehicle.link, vehicle.autopilot = link, ARDUPILOT
    speaker.beat(MAV.MAV_AUTOPILOT_ARDUPILOTMEGA)
    speaker.say(MAV.MAVLink_local_position_ned_message(0, 0.0, 0.0, -height, 0.0, 0.0, 0.0))
    speaker.say(MAV.MAVLink_attitude_quaternion_message(0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert link.wait_for(lambda: link.newest("ATTITUDE_QUATERNION") is not None, 60.0)
    vehicle.set_velocity(0.5, 0.0)
    setpoint = speaker.hear("SET_POSITION_TARGET_LOCAL_NED")
    assert (setpoint.vx, setpoint.vz) == pytest.approx((0.5, -climb), abs=1e-6)


def test_a_pose_is_as_old_as_the_older_of_its_two_messages(port: int, link: MavlinkLink) -> None:
    speaker, vehicle = Speaker(port, 1, 1), MavlinkVehicle(link.address)
    vehicle.link, vehicle.autopilot = link, PX4
    arrived: dict[str, list[float]] = {"LOCAL_POSITION_NED": [], "ATTITUDE_QUATERNION": []}

    def hear(message: Any) -> None:
        kind = message.get_type()
        before = link.newest(kind)
        speaker.say(message)
        assert link.wait_for(lambda: link.newest(kind) is not before, 60.0)
        newest = link.newest(kind)
        assert newest is not None
        arrived.get(kind, []).append(newest[0])
        time.sleep(0.02)

    def position() -> None:
        hear(MAV.MAVLink_local_position_ned_message(0, 1.0, 2.0, -0.7, 0.0, 0.0, 0.0))

    def attitude() -> None:
        hear(MAV.MAVLink_attitude_quaternion_message(0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))

    speaker.beat(MAV.MAV_AUTOPILOT_PX4)
    assert link.wait_for(lambda: link.newest("HEARTBEAT") is not None, 60.0)
    position()
    attitude()
    attitude()  # the position has stopped coming
    assert vehicle.telemetry().pose_s == arrived["LOCAL_POSITION_NED"][-1] < arrived["ATTITUDE_QUATERNION"][0]
    position()
    position()  # and now the attitude has
    assert vehicle.telemetry().pose_s == arrived["ATTITUDE_QUATERNION"][-1] < arrived["LOCAL_POSITION_NED"][1]
