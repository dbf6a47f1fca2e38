"""``wayword fly``: fly one instruction and film it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from wayword.cli.common import progress_bar, say, say_aside
from wayword.errors import WaywordError
from wayword.flying.flight_request import FlightRequest, brief

if TYPE_CHECKING:
    from wayword.flying.flight_request import PreparedFlight

_ECHOED = 400
"""Characters of the instruction that are said again."""


@dataclass(frozen=True)
class Fly(FlightRequest):
    """Fly one instruction, film it, and keep every number.

    Writes a video with the drone's view, the map and what the policy thinks, and a JSON trace; says in one line what
    came of it. Without an instruction an example of the corpus is flown.

    For example: wayword fly "go past the planter on its left, then stop in front of the globe"
    """

    instruction: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="[INSTRUCTION]")] = None
    """Where to fly, in quotes."""
    db: str | None = None
    """What the policy was taught: the folder of an object database (see `wayword teach`), or dev or test for those
    that ship. By default test, or the one that goes with the example or layout."""
    out: Path = Path("out/flight.mp4")
    """The video: .mp4, .gif, or .png for its last frame."""
    trace: Path | None = None
    """The trace; by default beside the video, with the ending .json."""
    rerun: Path | None = None
    """Also a recording for the Rerun viewer, such as flight.rrd (docs/recordings.md)."""
    mcap: Path | None = None
    """Also a recording for Foxglove and ROS 2, such as flight.mcap (docs/recordings.md)."""
    vehicle: str | None = None
    """A real vehicle instead of the simulator, over MAVLink, such as udpin://127.0.0.1:14540 (docs/flying.md)."""
    video: str | None = None
    """The vehicle's pictures: rtsp://..., a device or a file. (The film goes to --out.)"""
    start: tuple[float, float, float] | None = None
    """Where it stands on the map: x and y in metres, yaw in radians; by default 0.6 0.6 0."""
    fence: Path | None = None
    """Where it may fly: a JSON file (docs/flying.md); by default the map and a metre around it."""

    def run(self) -> None:
        """Fly, film, write."""
        if self.vehicle is not None:
            self._run_vehicle(self.vehicle)
            return
        if self.video is not None:
            raise WaywordError(
                "--video is where a real vehicle's pictures come from: name it with --vehicle; --out is for the film"
            )
        for name, value in (("start", self.start), ("fence", self.fence)):
            if value is not None:
                raise WaywordError(f"--{name} is for a real vehicle; name it with --vehicle")
        from wayword.flying.fly import FlightFiles, fly_request

        trace = self.trace or self.out.with_suffix(".json")
        with progress_bar("flying and filming", 100) as advance:
            files = FlightFiles(self.out, trace, self.rerun, self.mcap)
            flight = fly_request(self.request(), files, say_aside, self._announce, advance)
        say(flight.outcome)
        for path in (trace, self.out, self.rerun, self.mcap):
            if path is not None:
                say(path)

    def request(self) -> FlightRequest:
        """What is to be flown, without what becomes of it."""
        return FlightRequest(**{field.name: getattr(self, field.name) for field in fields(FlightRequest)})

    def _announce(self, flight: PreparedFlight) -> None:
        from wayword.language.reader.words import in_words
        from wayword.pilot.free_flight import is_free, title_of

        example = flight.example
        say(f"{self.policy} flies {'in the ' if is_free(example) else ''}{title_of(example)}:")
        say(brief(example.instruction, _ECHOED))
        if flight.reading is not None:
            say(f"understood: {in_words(flight.reading)}")

    def _run_vehicle(self, vehicle: str) -> None:
        """The same with a real vehicle, under the governor."""
        from wayword.cli.flight import VehicleOptions, fly_vehicle
        from wayword.pilot.pilot import check_instruction

        if self.world != "arena":
            raise WaywordError(f"--world {self.world} is simulated; leave it out with --vehicle")
        if self.anyway:
            raise WaywordError("--anyway is for the simulator: no vehicle takes off for a text that was not understood")
        if self.rerun is not None:
            raise WaywordError("--rerun records flights in the simulator; a real vehicle has its black box")
        if self.mcap is not None:
            raise WaywordError(
                "--mcap records flights in the simulator; make one of a black box: wayword flight replay"
            )
        options = VehicleOptions(vehicle, self.video, self.camera, fence=self.fence)
        if self.start is not None:
            options = replace(options, start=self.start)
        instruction = check_instruction(self.instruction or "")
        fly_vehicle(
            options, instruction, self.db or "test", self.weights, self.out, self.seed,
            grounder=self.grounder, policy=self.policy,
        )  # fmt: skip
