"""The governor's loop: twenty times a second, in a thread of its own or in lock-step with a simulator.

Each tick reads what is newest, calls the pure governor, sends one command, and writes both to the black box. It waits
for nobody: not for the camera, the policy or the vehicle. Should the governor itself ever fail, the loop lands.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from wayword.flight.blackbox import BlackBox
from wayword.flight.decider import Decider
from wayword.flight.fence import Fence
from wayword.flight.governor import GovernorConfig, GovernorInputs, Kind, State, VehicleCommand, step
from wayword.flight.pose_watch import PoseWatch
from wayword.flight.reasons import MEANING, Reason
from wayword.flight.vehicle import Mode, Telemetry, Vehicle

_LAND_AGAIN_S = 1.0


@dataclass(frozen=True)
class Track:
    """Where the vehicle was heard to be at one tick, and what it was told."""

    time_s: float
    telemetry: Telemetry
    command: VehicleCommand


class GovernorLoop:
    """Ticks until the vehicle is on the ground or somebody else flies it."""

    def __init__(
        self,
        vehicle: Vehicle,
        decider: Decider,
        fence: Fence | None = None,
        config: GovernorConfig | None = None,
        box: BlackBox | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.vehicle, self.decider, self.box, self.say = vehicle, decider, box, say
        self.fence, self.config = fence or Fence(), config or GovernorConfig()
        self.state = State(vehicle.now())
        self.tracks: list[Track] = []
        self.begun = self.ended = False
        self.failure: str | None = None
        """What went wrong in the governor itself; it lands then."""
        self._land_asked = threading.Event()
        self._land_sent = float("-inf")
        self._pose_watch = PoseWatch()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """The vehicle is in the air and hears setpoints: the flight starts now."""
        self.begun = True
        self.state = State(self.vehicle.now())
        self._record("governor", config=self.config, fence=self.fence, started_s=self.state.started_s)

    def ask_to_land(self) -> None:
        """From any thread, or a signal handler."""
        self._land_asked.set()

    def tick(self) -> VehicleCommand:
        """Read, govern, send, record."""
        try:
            command = self._govern()
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"
            self._record("governor failed", error=self.failure)
            command = VehicleCommand(Kind.LAND)
        try:
            self._send(command)
        except Exception as error:  # a socket that went away: the autopilot's failsafe is what is left
            self._record("send failed", error=f"{type(error).__name__}: {error}")
        return command

    def _govern(self) -> VehicleCommand:
        vehicle = self.vehicle
        telemetry, shot = self._pose_watch.look(vehicle.telemetry()), vehicle.shot()
        self.decider.poses.add(telemetry.pose_s, telemetry.pose)
        if self.failure is not None:
            self.ended = telemetry.landed
            return VehicleCommand(Kind.LAND)
        inputs = GovernorInputs(
            vehicle.now(),
            telemetry,
            float("-inf") if shot is None else shot.taken_s,
            self.decider.latest(),
            self.decider.alive,
            self._land_asked.is_set(),
        )
        before = self.state.reasons
        self.state, command = step(self.config, self.fence, self.state, inputs)
        self.tracks.append(Track(inputs.now_s, telemetry, command))
        if self.box is not None:
            self.box.write("tick", inputs=_slim(inputs), command=command)
        if command.reasons != before:
            self._announce(command, before)
        if self.state.landing or self.state.silent:
            fresh = telemetry.mode_s > self.state.started_s
            self.ended = fresh and telemetry.landed and telemetry.mode is Mode.GROUND
        return command

    def _send(self, command: VehicleCommand) -> None:
        if command.kind is Kind.VELOCITY:
            self.vehicle.set_velocity(command.forward_m_s, command.yaw_rate_rad_s, command.left_m_s)
        elif command.kind is Kind.HOLD:
            self.vehicle.hold(command.anchor)
        elif command.kind is Kind.LAND and not self.state.landing_seen:
            now = self.vehicle.now()
            if now - self._land_sent >= _LAND_AGAIN_S and self.vehicle.land() is not False:
                self._land_sent = now

    def start(self) -> None:
        """Tick in a thread."""
        self._thread = threading.Thread(target=self._run, name="governor", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        due = time.monotonic()
        while not self.ended:
            self.tick()
            due += self.config.period_s
            left = due - time.monotonic()
            if left < 0:  # late: go on from now instead of catching up in a burst
                due, left = time.monotonic(), 0.001
            time.sleep(left)

    def _announce(self, command: VehicleCommand, before: tuple[Reason, ...]) -> None:
        new = [reason for reason in command.reasons if reason not in before]
        quiet = {Reason.SPEED, Reason.YAW, Reason.ACCELERATION, Reason.FADING, Reason.FENCE, Reason.CLEARANCE}
        for reason in new:
            if reason not in quiet:
                self.say(f"{command.kind}: {MEANING[reason]} [{reason}]")
        self._record("intervention", now_s=self.vehicle.now(), act=command.kind, reasons=command.reasons)

    def _record(self, kind: str, **values: object) -> None:
        if self.box is not None:
            self.box.write(kind, **values)


def _slim(inputs: GovernorInputs) -> dict[str, object]:
    """The inputs with the decision by its time: it has a record of its own."""
    values = {name: getattr(inputs, name) for name in inputs.__dataclass_fields__}
    values["decision"] = None if inputs.decision is None else inputs.decision.made_s
    return values


def with_silence(config: GovernorConfig, silence_s: float) -> GovernorConfig:
    """The governor for a vehicle whose autopilot stops so long after the last setpoint."""
    return replace(config, silence_s=silence_s)
