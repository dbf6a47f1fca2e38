"""A real quadcopter over MAVLink: PX4 in offboard or ArduPilot in guided mode.

    vehicle = MavlinkVehicle("udpin://127.0.0.1:14540", camera, start=(0.6, 0.6, 0.0))

The vehicle stands at ``start`` on the map when it is connected. The pose is LOCAL_POSITION_NED + ATTITUDE_QUATERNION.
Setpoints are local velocities, sent anew at every tick. Nothing is ever sent by a thread of its own: if the governor
stops, the stream stops, and the autopilot's failsafe does what it was set to. What may be sent depends on who flies
(``helm.py``); before a landing the mode is asked for, since the last one that was heard may be a second old.
"""

from __future__ import annotations

import math
import time
from typing import Any, Protocol

from wayword.errors import WaywordError
from wayword.flight.autopilots import (
    BY_NUMBER,
    FORCE_DISARM,
    PLACE_MASK,
    VELOCITY_HEIGHT_MASK,
    VELOCITY_MASK,
    Autopilot,
)
from wayword.flight.failsafe_rules import parameter_checks, room_checks
from wayword.flight.fence import Fence
from wayword.flight.firmware import Version, read_firmware
from wayword.flight.frames import Site, euler
from wayword.flight.health import health_check
from wayword.flight.mavlink_helm import MavlinkHelm
from wayword.flight.mavlink_link import MavlinkLink
from wayword.flight.take_off import take_off_ardupilot, take_off_px4
from wayword.flight.vehicle import Mode, PreflightCheck, Shot, Telemetry, VehicleFacts
from wayword.task import ALTITUDE_M

_HEARTBEAT_S, _LAND_AGAIN_S = 1.0, 1.0
_HEIGHT_GAIN, _CLIMB_M_S = 1.0, 0.4


class ImageSource(Protocol):
    """Whatever delivers images."""

    def shot(self) -> Shot | None:
        """The newest image."""
        ...

    def close(self) -> None:
        """Stop reading."""
        ...


class MavlinkVehicle:
    """One vehicle behind one address."""

    def __init__(
        self,
        address: str = "udpin://127.0.0.1:14540",
        camera: ImageSource | None = None,
        start: tuple[float, float, float] = (0.6, 0.6, 0.0),
        connect_s: float = 10.0,
    ) -> None:
        self.address, self.camera, self.start, self.connect_s = address, camera, start, connect_s
        self.link: MavlinkLink | None = None
        self.autopilot: Autopilot | None = None
        self.parameters: dict[str, float] = {}
        self.firmware: Version | None = None
        self.site = Site()
        self.height_m = ALTITUDE_M
        """What setpoints hold."""
        self.helm = MavlinkHelm()
        self.stopped = False
        """The motors were stopped by hand."""
        self._beat_s = self._land_s = -math.inf
        self._unheard = False
        """A landing is wanted and nobody answers: our heartbeat stops too, so that the autopilot's failsafe acts."""

    def now(self) -> float:
        """The monotonic clock."""
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Let time pass; the heartbeat goes on."""
        self._heartbeat()
        time.sleep(seconds)

    def connect(self) -> VehicleFacts:
        """Wait for a heartbeat and a pose, ask for the messages we need, read the parameters back."""
        self.link = link = MavlinkLink(self.address, self.helm.watch)
        deadline = time.monotonic() + self.connect_s
        while link.newest("HEARTBEAT") is None:
            self._heartbeat()
            if link.wait_for(lambda: link.newest("HEARTBEAT") is not None, 0.5):
                break
            if time.monotonic() > deadline:
                self.close()
                raise WaywordError(
                    f"{self.address}: no heartbeat for {self.connect_s:g} s; is a vehicle sending there?"
                )
        beat = self._newest("HEARTBEAT")
        self.autopilot = BY_NUMBER.get(beat.autopilot)
        if self.autopilot is None:
            self.close()
            raise WaywordError(f"{self.address}: autopilot number {beat.autopilot} is neither PX4 nor ArduPilot")
        self._request_messages()
        arrived = link.wait_for(lambda: all(link.newest(kind) for kind in _POSE), max(deadline - time.monotonic(), 3.0))
        if not arrived:
            self.close()
            raise WaywordError(f"{self.address}: no position; LOCAL_POSITION_NED and ATTITUDE_QUATERNION are needed")
        self.parameters = link.read_parameters(self.autopilot.names, tries=2)
        lacking = [rule.name for rule in self.autopilot.rules if not {rule.name, *rule.others} & self.parameters.keys()]
        self.parameters |= link.read_parameters([name for name in lacking if name != "MAV_GCS_SYSID_HI"], tries=2)
        self.firmware = read_firmware(link)
        self.helm.connect(link, self.autopilot)
        position, attitude = self._newest("LOCAL_POSITION_NED"), self._newest("ATTITUDE_QUATERNION")
        yaw = euler((attitude.q1, attitude.q2, attitude.q3, attitude.q4))[2]
        self.site = Site.of_start(self.start, (position.x, position.y, position.z), yaw)
        silence = self.autopilot.silence_s(self.parameters)
        details = {"address": self.address, "firmware": self.firmware, "parameters": self.parameters,
                   "site": self.site, "start": self.start}  # fmt: skip
        return VehicleFacts(self.autopilot.name, silence, details)

    def checks(self) -> list[PreflightCheck]:
        """The autopilot's own failsafes and how well it says it is."""
        assert self.autopilot is not None
        assert self.link is not None
        health = health_check(self.link, self.now())
        return [health, *parameter_checks(self.autopilot, self.parameters, self.firmware)]

    def fence_checks(self, height_m: float, fence: Fence) -> list[PreflightCheck]:
        """Whether the autopilot's own fence, around where the vehicle stands, leaves room for the flight."""
        assert self.autopilot is not None
        farthest = max(math.dist(corner, self.start[:2]) for corner in fence.corners)
        return room_checks(self.autopilot, self.parameters, height_m, farthest)

    def telemetry(self) -> Telemetry:
        """The newest of everything, on the map."""
        link = self.link
        if link is None or self.autopilot is None:
            return Telemetry()
        self._heartbeat()
        self.helm.keep_up()
        position, attitude, beat = (link.newest(kind) for kind in (*_POSE, "HEARTBEAT"))
        if position is None or attitude is None or beat is None:
            return Telemetry(link_s=link.heard_s)
        p, q = position[1], attitude[1]
        armed = bool(beat[1].base_mode & link.mavlink.MAV_MODE_FLAG_SAFETY_ARMED)
        state, power = link.newest("EXTENDED_SYS_STATE"), link.newest("SYS_STATUS")
        on_ground = state is not None and state[1].landed_state == link.mavlink.MAV_LANDED_STATE_ON_GROUND
        landed = not armed or on_ground
        left = -1 if power is None else power[1].battery_remaining
        return Telemetry(
            self.site.pose((p.x, p.y, p.z), (q.q1, q.q2, q.q3, q.q4)),
            self.site.velocity((p.vx, p.vy, p.vz)),
            min(position[0], attitude[0]),
            link.heard_s,
            self.helm.reported,
            self.helm.heard_mode_s,
            armed,
            landed,
            None if left < 0 else left / 100,
        )

    def shot(self) -> Shot | None:
        """From the camera."""
        return None if self.camera is None else self.camera.shot()

    def take_off(self, height_m: float) -> None:
        """Arm and climb, in offboard or guided."""
        assert self.autopilot is not None
        (take_off_px4 if self.autopilot.name == "PX4" else take_off_ardupilot)(self, height_m)

    def set_velocity(self, forward_m_s: float, yaw_rate_rad_s: float, left_m_s: float = 0.0) -> None:
        """By the present heading, as a local velocity."""
        yaw = self.telemetry().pose[5]
        cos, sin = math.cos(yaw), math.sin(yaw)
        north, east = self.site.ned_direction(forward_m_s * cos - left_m_s * sin, forward_m_s * sin + left_m_s * cos)
        self._velocity(north, east, -yaw_rate_rad_s)

    def hold(self, anchor: tuple[float, float, float] | None) -> None:
        """A place, or no speed."""
        if anchor is None:
            self._velocity(0.0, 0.0, 0.0)
            return
        place = self.site.ned(anchor[0], anchor[1], self.height_m)
        self._setpoint(PLACE_MASK, place, (0.0, 0.0, 0.0), self.site.ned_yaw(anchor[2]), 0.0)

    def land(self) -> bool:
        """Ask for the autopilot's own landing, if it is ours to ask: the mode is heard first. No setpoints any more.

        False: nobody has answered yet, so ask again.
        """
        helm = self.helm
        helm.stopping = True
        if self.link is None or self.autopilot is None or helm.lost is not None:
            return True
        if self.now() - self._land_s < _LAND_AGAIN_S:
            return True
        helm.refresh()
        self._unheard = self.now() - helm.heard_mode_s > _LAND_AGAIN_S
        if not helm.may_land(self.now()):
            return helm.mode in (Mode.LAND, Mode.GROUND)
        self._land_s = self.now()
        helm.ask_to_land()
        self.set_mode(Mode.LAND)
        return True

    def emergency_stop(self) -> None:
        """Force the motors off, unless somebody else flies it."""
        self.stopped = True
        if self.link is not None and self.link.target is not None and self.helm.lost is None:
            for _ in range(3):
                self.link.tell(self.link.mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 0.0, FORCE_DISARM)

    def close(self) -> None:
        """Let go of line and camera."""
        if self.camera is not None:
            self.camera.close()
        if self.link is not None:
            self.link.close()

    def _velocity(self, north: float, east: float, yaw_rate: float) -> None:
        assert self.autopilot is not None
        if self.autopilot.mixes_height:
            place = (0.0, 0.0, self.site.ned(0.0, 0.0, self.height_m)[2])
            self._setpoint(VELOCITY_HEIGHT_MASK, place, (north, east, 0.0), 0.0, yaw_rate)
            return
        climb = _HEIGHT_GAIN * (self.height_m - self.telemetry().pose[2])
        climb = min(max(climb, -_CLIMB_M_S), _CLIMB_M_S)
        self._setpoint(VELOCITY_MASK, (0.0, 0.0, 0.0), (north, east, -climb), 0.0, yaw_rate)

    def _setpoint(
        self, mask: int, place: tuple[float, ...], velocity: tuple[float, ...], yaw: float, yaw_rate: float
    ) -> None:
        link = self.link
        assert link is not None
        assert link.target is not None
        if self.stopped or not self.helm.may_fly(self.now()):
            return
        message = link.mavlink.MAVLink_set_position_target_local_ned_message(
            int(self.now() * 1000) & 0xFFFFFFFF, *link.target, link.mavlink.MAV_FRAME_LOCAL_NED, mask,
            *place, *velocity, 0.0, 0.0, 0.0, yaw, yaw_rate,
        )  # fmt: skip
        link.send(message)

    def set_mode(self, mode: Mode) -> None:
        """Ask for a mode; the heartbeat says whether it was granted."""
        assert self.link is not None
        assert self.autopilot is not None
        mav = self.link.mavlink
        main, sub = self.autopilot.modes[mode]
        self.link.tell(mav.MAV_CMD_DO_SET_MODE, mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED, main, sub)

    def _request_messages(self) -> None:
        assert self.link is not None
        mav = self.link.mavlink
        rates = {mav.MAVLINK_MSG_ID_HEARTBEAT: 10, mav.MAVLINK_MSG_ID_LOCAL_POSITION_NED: 30,
                 mav.MAVLINK_MSG_ID_ATTITUDE_QUATERNION: 30, mav.MAVLINK_MSG_ID_EXTENDED_SYS_STATE: 5,
                 mav.MAVLINK_MSG_ID_SYS_STATUS: 2}  # fmt: skip
        for message, rate in rates.items():
            self.link.tell(mav.MAV_CMD_SET_MESSAGE_INTERVAL, message, 1e6 / rate)

    def _newest(self, kind: str) -> Any:
        assert self.link is not None
        newest = self.link.newest(kind)
        assert newest is not None
        return newest[1]

    def _heartbeat(self) -> None:
        """From whoever calls us, so that a governor that stands still is silent here too."""
        link = self.link
        if link is None or self._unheard or self.now() - self._beat_s < _HEARTBEAT_S:
            return
        self._beat_s = self.now()
        mav = link.mavlink
        link.send(mav.MAVLink_heartbeat_message(
            mav.MAV_TYPE_ONBOARD_CONTROLLER, mav.MAV_AUTOPILOT_INVALID, 0, 0, mav.MAV_STATE_ACTIVE, 3
        ))  # fmt: skip


_POSE = ("LOCAL_POSITION_NED", "ATTITUDE_QUATERNION")
