"""The simulator as a vehicle: the autopilot model, the arena's renderer as its camera, and a link that can break.

Time passes only in ``wait`` and ``take_off``, so a flight is the same to the bit on every machine and takes as long as
its arithmetic. What arrives late, frozen or not at all is decided by ``SimulatedLink``, which the fault suite turns.
The mode is told once a second, and when it is asked for, as PX4 does; what may be sent is the helm's (``helm.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.flight.autopilot_model import AutopilotModel, Setpoint
from wayword.flight.helm import Helm
from wayword.flight.vehicle import Mode, Pose, PreflightCheck, Shot, Telemetry, VehicleFacts
from wayword.task import ALTITUDE_M

STEP_S = 0.05
"""Between two calls of ``on_step``."""
CameraFunction = Callable[[Pose], NDArray[np.uint8]]
"""What the camera sees from a pose."""


@dataclass
class SimulatedLink:
    """What comes through, now; the fault suite changes it in flight."""

    up: bool = True
    """Anything at all, both ways."""
    pose_up: bool = True
    camera_up: bool = True
    camera_frozen: bool = False
    camera_delay_s: float = 0.05
    pose_delay_s: float = 0.02
    heartbeat_s: float = 1.0
    """The mode is told this often."""
    answers: bool = True
    """It is also told when it is asked for."""


@dataclass
class SimulatedVehicle:
    """Lock-step simulation behind the vehicle protocol."""

    body: AutopilotModel = field(default_factory=AutopilotModel)
    eye: CameraFunction | None = None
    """None: images are grey noise, for policies that do not look."""
    frame_s: float = 0.1
    link: SimulatedLink = field(default_factory=SimulatedLink)
    on_step: Callable[[SimulatedVehicle], None] | None = None
    """Called after every step: faults, records."""

    def __post_init__(self) -> None:
        self._news = Telemetry()
        self.helm = Helm()
        self._beat_due, self._question = -math.inf, False
        self._poses: list[Telemetry] = []
        self._shots: list[tuple[float, Shot]] = []
        self._shot: Shot | None = None
        self._next_shot = 0.0
        self._height = ALTITUDE_M
        self._rng = np.random.default_rng(self.body.seed)
        self._frozen: NDArray[np.uint8] | None = None

    def now(self) -> float:
        """Simulated seconds."""
        return self.body.time_s

    def wait(self, seconds: float) -> None:
        """Fly on."""
        for _ in range(max(round(seconds / STEP_S), 1)):
            self.body.advance(STEP_S)
            self._transmit()
            if self.on_step is not None:
                self.on_step(self)

    def connect(self) -> VehicleFacts:
        """Always there."""
        self.wait(0.3)
        return VehicleFacts("simulator", self.body.config.silence_s)

    def checks(self) -> list[PreflightCheck]:
        """A simulated autopilot has its failsafe always on."""
        silence = self.body.config.silence_s
        return [PreflightCheck("failsafe", True, f"stops {silence:.1f} s after the last setpoint", "on")]

    def take_off(self, height_m: float) -> None:
        """Arm, climb, stream, enter offboard: the order a real autopilot wants."""
        self._height = height_m
        self.body.arm()
        self.body.take_off(height_m)
        deadline = self.now() + 5 + height_m / 0.3
        while self.body.mode is not Mode.HOLD:
            self.wait(0.05)
            if self.now() > deadline:
                raise WaywordError("the simulated vehicle did not reach its height")
        for _ in range(12):
            self.hold(None)
            self.wait(0.05)
        if not self.body.offboard():
            raise WaywordError("the simulated autopilot refused offboard: it hears no setpoints")
        self.helm.answers = self.link.answers
        self.helm.take(self.now())
        self._question = True
        self.hold(None)
        self.wait(0.05)

    def telemetry(self) -> Telemetry:
        """What was heard last; whoever asks is alive, and a heartbeat says so."""
        if self.link.up:
            self.body.hear()
            self._question = self._question or self.helm.wants_news(self.now())
        return self._news

    def shot(self) -> Shot | None:
        """The newest image."""
        return self._shot

    def set_velocity(self, forward_m_s: float, yaw_rate_rad_s: float, left_m_s: float = 0.0) -> None:
        """A world velocity by the heading as it was heard last, as for PX4."""
        cos, sin = math.cos(self._news.pose[5]), math.sin(self._news.pose[5])
        velocity = (forward_m_s * cos - left_m_s * sin, forward_m_s * sin + left_m_s * cos, 0.0)
        self._send(Setpoint(velocity, yaw_rate_rad_s, height=self._height))

    def hold(self, anchor: tuple[float, float, float] | None) -> None:
        """A place, or no speed."""
        if anchor is None:
            self._send(Setpoint((0.0, 0.0, 0.0), 0.0, height=self._height))
        else:
            self._send(Setpoint(None, 0.0, (anchor[0], anchor[1]), anchor[2], self._height))

    def land(self) -> bool:
        """The autopilot's own landing, if its mode, asked for first, is still ours."""
        self.helm.stopping = True
        if self.link.up and self.link.answers:
            self.helm.see(self.body.mode, self.now())
        if self.helm.may_land(self.now()):
            self.helm.ask_to_land()
            self.body.land()
            return True
        return self.helm.lost is not None or self.helm.mode in (Mode.LAND, Mode.GROUND)

    def emergency_stop(self) -> None:
        """Motors off, unless somebody else flies it."""
        if self.link.up and self.helm.lost is None:
            self.body.kill()

    def close(self) -> None:
        """Nothing to let go of."""

    def _send(self, setpoint: Setpoint) -> None:
        if self.link.up and self.helm.may_fly(self.now()):
            self.body.receive(setpoint)

    def _transmit(self) -> None:
        """Telemetry and images set off, and arrive, each with its own delay."""
        now, link = self.now(), self.link
        if link.up:
            report = self.body.telemetry()
            if link.pose_up:
                self._poses.append(report)
            self.helm.hear(now)
            if now + 1e-9 >= self._beat_due or (self._question and link.answers):
                self.helm.see(report.mode, now)
                if self._question and link.answers:
                    self.helm.answer(now)
                self._beat_due, self._question = now + link.heartbeat_s, False
            before = self._news
            self._news = replace(
                report, pose=before.pose, velocity=before.velocity, pose_s=before.pose_s, link_s=now,
                mode=self.helm.reported, mode_s=self.helm.heard_mode_s,
            )  # fmt: skip
        while self._poses and self._poses[0].pose_s + link.pose_delay_s <= now + 1e-9:
            report = self._poses.pop(0)
            if link.up:
                self._news = replace(self._news, pose=report.pose, velocity=report.velocity, pose_s=report.pose_s)
        if now + 1e-9 >= self._next_shot:
            self._next_shot = now + self.frame_s
            if link.camera_up:
                self._shots.append((now + link.camera_delay_s, Shot(self._see(), now)))
        while self._shots and self._shots[0][0] <= now + 1e-9:
            self._take(self._shots.pop(0)[1])

    def _take(self, shot: Shot) -> None:
        """A frame equal to the last is no new one: a live sensor has noise."""
        if self._shot is None or not np.array_equal(self._shot.pixels, shot.pixels):
            self._shot = shot

    def _see(self) -> NDArray[np.uint8]:
        if self.link.camera_frozen:
            if self._frozen is None:
                self._frozen = self._look()
            return self._frozen
        self._frozen = None
        return self._look()

    def _look(self) -> NDArray[np.uint8]:
        if self.eye is not None:
            return self.eye(self.body.true_pose)
        return self._rng.integers(0, 256, (2, 4, 3), dtype=np.uint8)
