"""A recorded flight: as a vehicle for another policy, and as evidence that the governor did what it says.

The governor is a pure function of recorded inputs, so ``govern_again`` must give the recorded commands to the bit;
where it does not, code or settings have changed since the flight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayword.errors import DataError
from wayword.flight.blackbox import Recorded, decode_image, read_box
from wayword.flight.fence import Fence
from wayword.flight.governor import Command, Decision, GovernorConfig, Inputs, Kind, State, step
from wayword.flight.reasons import Reason
from wayword.flight.vehicle import Check, Facts, Mode, Pose, Shot, Telemetry


@dataclass(frozen=True, eq=False)
class Seen:
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
    ticks: list[tuple[Inputs, Command]]
    seen: list[Seen]

    @property
    def about(self) -> dict[str, Any]:
        """What was said about the flight when it began."""
        return next((record["about"] for record in self.box.of("flight")), {})

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
        seen = [_seen(record) for record in box.of("decision")]
        by_time = {item.decision.made_s: item.decision for item in seen}
        corners = tuple((float(x), float(y)) for x, y in head["fence"]["corners"])
        fence = Fence(corners, head["fence"]["low_m"], head["fence"]["high_m"])
        ticks = [(_inputs(record["inputs"], by_time), _command(record["command"])) for record in box.of("tick")]
        return Recording(box, GovernorConfig(**head["config"]), fence, head["started_s"], ticks, seen)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(path, f"was written by another version of Wayword ({error})") from error


def govern_again(recording: Recording) -> Iterator[tuple[int, Command, Command]]:
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
        self.told: list[str] = []

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

    def connect(self) -> Facts:
        """Always there."""
        return Facts("recording", self.recording.config.silence_s)

    def checks(self) -> list[Check]:
        """As they were."""
        return [Check(**row) for record in self.recording.box.of("preflight") for row in record["checks"]]

    def take_off(self, height_m: float) -> None:
        """A recording begins in the air."""

    def telemetry(self) -> Telemetry:
        """What was heard then."""
        return self.recording.ticks[self._at][0].telemetry

    def shot(self) -> Shot | None:
        """The newest recorded image; images were kept at decisions."""
        now = self.now()
        return next((item.shot for item in reversed(self.recording.seen) if item.shot.taken_s <= now), None)

    def set_velocity(self, forward_m_s: float, yaw_rate_rad_s: float, left_m_s: float = 0.0) -> None:
        """Noted, not flown."""
        self.told.append("velocity")

    def hold(self, anchor: tuple[float, float, float] | None) -> None:
        """Noted, not flown."""
        self.told.append("hold")

    def land(self) -> None:
        """Noted, not flown."""
        self.told.append("land")

    def emergency_stop(self) -> None:
        """Noted, not flown."""
        self.told.append("emergency stop")

    def close(self) -> None:
        """Nothing to let go of."""


def _seen(record: dict[str, Any]) -> Seen:
    raw = dict(record["decision"])
    raw["obstacles"] = tuple(tuple(disc) for disc in raw["obstacles"])
    decision = Decision(**raw)
    pose: Pose = tuple(record["pose"])
    return Seen(decision, pose, Shot(decode_image(record["image"]), decision.image_s, pose))


def _inputs(raw: dict[str, Any], decisions: dict[float, Decision]) -> Inputs:
    telemetry = dict(raw["telemetry"])
    telemetry["pose"], telemetry["velocity"] = tuple(telemetry["pose"]), tuple(telemetry["velocity"])
    telemetry["mode"] = Mode(telemetry["mode"])
    decision = None if raw["decision"] is None else decisions[raw["decision"]]
    return Inputs(**{**raw, "telemetry": Telemetry(**telemetry), "decision": decision})


def _command(raw: dict[str, Any]) -> Command:
    anchor = None if raw["anchor"] is None else tuple(raw["anchor"])
    reasons = tuple(Reason(code) for code in raw["reasons"])
    left = raw.get("left_m_s", 0.0)
    return Command(Kind(raw["kind"]), raw["forward_m_s"], raw["yaw_rate_rad_s"], anchor, reasons, left)  # type: ignore[arg-type]
