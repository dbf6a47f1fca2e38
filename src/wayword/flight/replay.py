"""A recorded flight: as a vehicle for another policy, and as evidence that the governor did what it says.

The governor is a pure function of recorded inputs, so ``govern_again`` must give the recorded commands to the bit;
where it does not, code or settings have changed since the flight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayword.camera import Camera, camera_of
from wayword.errors import DataError, WaywordError
from wayword.flight.blackbox import Recorded, decode_image, read_box
from wayword.flight.fence import Fence
from wayword.flight.governor import Decision, GovernorConfig, GovernorInputs, Kind, State, VehicleCommand, step
from wayword.flight.reasons import Reason
from wayword.flight.vehicle import Mode, Pose, PreflightCheck, Shot, Telemetry, VehicleFacts


@dataclass(frozen=True, eq=False)
class RecordedSight:
    """One decision of a recorded flight with the image it rests on."""

    decision: Decision
    pose: Pose
    shot: Shot


@dataclass(frozen=True, eq=False)
class Recording:
    """A black box, read and understood."""

    box: Recorded
    config: GovernorConfig
    fence: Fence
    started_s: float
    ticks: list[tuple[GovernorInputs, VehicleCommand]]
    sights: list[RecordedSight]

    @property
    def about(self) -> dict[str, Any]:
        """What was said about the flight when it began."""
        return next((record["about"] for record in self.box.of("flight")), {})

    @property
    def camera(self) -> Camera:
        """The view of its images: the one that was said when it began, else the paper's."""
        return camera_of(self.about.get("camera") or {})

    @property
    def end(self) -> dict[str, Any] | None:
        """The last record of a flight that ended in order; None if its process was killed."""
        return next(self.box.of("end"), None)


def load_recording(path: Path | str) -> Recording:
    """Read a black box; one that was cut off by a kill is read up to there."""
    box = read_box(path)
    head = next(box.of("governor"), None)
    if head is None:
        raise DataError(path, "the vehicle never flew: there is nothing to replay")
    try:
        sights = [_sight(record) for record in box.of("decision")]
        by_time = {item.decision.made_s: item.decision for item in sights}
        corners = tuple((float(x), float(y)) for x, y in head["fence"]["corners"])
        fence = Fence(corners, head["fence"]["low_m"], head["fence"]["high_m"])
        ticks = [(_inputs(record["inputs"], by_time), _command(record["command"])) for record in box.of("tick")]
        return Recording(box, GovernorConfig(**head["config"]), fence, head["started_s"], ticks, sights)
    except (KeyError, TypeError, ValueError, AttributeError, OSError, SyntaxError, WaywordError) as error:
        words = " ".join(str(error).split())[:80]
        raise DataError(path, f"is damaged, or was written by another version of Wayword ({words})") from error


def govern_again(recording: Recording) -> Iterator[tuple[int, VehicleCommand, VehicleCommand]]:
    """Ticks at which today's governor answers differently: number, recorded, now."""
    state = State(recording.started_s)
    for number, (inputs, recorded) in enumerate(recording.ticks):
        state, command = step(recording.config, recording.fence, state, inputs)
        if command != recorded:
            yield number, recorded, command


class ReplayVehicle:
    """A vehicle that does what it did, whatever it is told."""

    def __init__(self, recording: Recording) -> None:
        self.recording, self._at = recording, 0
        self.commands: list[str] = []

    @property
    def over(self) -> bool:
        """Whether the recording has ended."""
        return self._at >= len(self.recording.ticks) - 1

    def now(self) -> float:
        """The time of the recorded tick."""
        return self.recording.ticks[self._at][0].now_s

    def wait(self, seconds: float) -> None:
        """On to the tick that was recorded then."""
        until = self.now() + seconds - 1e-6
        while not self.over and self.now() < until:
            self._at += 1

    def connect(self) -> VehicleFacts:
        """Always there."""
        return VehicleFacts("recording", self.recording.config.silence_s)

    def checks(self) -> list[PreflightCheck]:
        """As they were."""
        return [PreflightCheck(**row) for record in self.recording.box.of("preflight") for row in record["checks"]]

    def take_off(self, height_m: float) -> None:
        """A recording begins in the air."""

    def telemetry(self) -> Telemetry:
        """What was heard then."""
        return self.recording.ticks[self._at][0].telemetry

    def shot(self) -> Shot | None:
        """The newest recorded image; images were kept at decisions."""
        now = self.now()
        return next((item.shot for item in reversed(self.recording.sights) if item.shot.taken_s <= now), None)

    def set_velocity(self, forward_m_s: float, yaw_rate_rad_s: float, left_m_s: float = 0.0) -> None:
        """Noted, not flown."""
        self.commands.append("velocity")

    def hold(self, anchor: tuple[float, float, float] | None) -> None:
        """Noted, not flown."""
        self.commands.append("hold")

    def land(self) -> None:
        """Noted, not flown."""
        self.commands.append("land")

    def emergency_stop(self) -> None:
        """Noted, not flown."""
        self.commands.append("emergency stop")

    def close(self) -> None:
        """Nothing to let go of."""


def _numbers(values: Any, count: int) -> tuple[float, ...]:
    """So many numbers; a record that holds something else is damaged."""
    numbers = tuple(values)
    if len(numbers) != count or not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in numbers):
        raise ValueError(f"{count} numbers were expected")
    return numbers


def _sight(record: dict[str, Any]) -> RecordedSight:
    raw = dict(record["decision"])
    raw["obstacles"] = tuple(_numbers(disc, 3) for disc in raw["obstacles"])
    decision = Decision(**raw)
    _numbers([decision.forward_m_s, decision.yaw_rate_rad_s, decision.made_s, decision.image_s], 4)
    pose: Pose = _numbers(record["pose"], 6)  # type: ignore[assignment]
    return RecordedSight(decision, pose, Shot(decode_image(record["image"]), decision.image_s, pose))


def _inputs(raw: dict[str, Any], decisions: dict[float, Decision]) -> GovernorInputs:
    telemetry = dict(raw["telemetry"])
    telemetry["pose"], telemetry["velocity"] = _numbers(telemetry["pose"], 6), _numbers(telemetry["velocity"], 3)
    _numbers([telemetry["pose_s"], telemetry["link_s"], telemetry["mode_s"], raw["now_s"], raw["image_s"]], 5)
    _numbers([] if telemetry["battery"] is None else [telemetry["battery"]], int(telemetry["battery"] is not None))
    telemetry["mode"] = Mode(telemetry["mode"])
    decision = None if raw["decision"] is None else decisions[raw["decision"]]
    return GovernorInputs(**{**raw, "telemetry": Telemetry(**telemetry), "decision": decision})


def _command(raw: dict[str, Any]) -> VehicleCommand:
    anchor = None if raw["anchor"] is None else _numbers(raw["anchor"], 3)
    reasons = tuple(Reason(code) for code in raw["reasons"])
    left = raw.get("left_m_s", 0.0)
    return VehicleCommand(Kind(raw["kind"]), raw["forward_m_s"], raw["yaw_rate_rad_s"], anchor, reasons, left)  # type: ignore[arg-type]
