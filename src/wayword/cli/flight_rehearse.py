"""``wayword flight rehearse``: the whole real path on a real autopilot in software, in a world that is drawn for it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from wayword.cli.common import say
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.shipped import DEFAULT_GROUNDER

if TYPE_CHECKING:
    from wayword.episodes import Example
    from wayword.flight.relay import MavlinkRelay
    from wayword.flight.testing import RtspServer

_FRAMES_PER_S = 10.0
_MAIN = "from wayword.cli.launch import main; main()"


@dataclass(frozen=True)
class Rehearse:
    """Fly an instruction on an autopilot in software (PX4 SIH, ArduCopter SITL), in a world drawn from its pose.

    Everything but the aircraft is real: parameters, modes, take-off, frames, camera protocol, landing. With --faults it
    is killed, frozen and cut off, one thing after the other, and what was promised stands beside what was seen.

    For example: wayword flight rehearse "stop in front of the globe" --vehicle udpin://127.0.0.1:14540
    """

    instruction: tyro.conf.Positional[str] = ""
    """Where to fly, in quotes."""
    vehicle: str = "udpin://127.0.0.1:14540"
    """Where the autopilot is heard: udpin://127.0.0.1:14540 (PX4), tcp://127.0.0.1:5760 (ArduCopter)."""
    faults: bool = False
    """Rehearse faults instead, a flight each; exit code 1 if a promise was not kept."""
    only: str | None = None
    """Of the faults, those whose name holds this."""
    policy: str = "wayword"
    """Who flies: wayword, the paper's fspvn, or a policy of your own as module:Class."""
    db: str = "test"
    """What the policy was taught: the folder of an object database, or dev or test for those that ship."""
    weights: Path | None = None
    """A folder of trained weights instead of those that ship."""
    grounder: str = DEFAULT_GROUNDER
    """The segmentation's weights."""
    fence: Path | None = None
    """A JSON file with corners, low_m and high_m; by default the map and a metre around it."""
    seed: int = 0
    """The layout and the noise."""
    out: Path = Path("out/rehearsal.mp4")
    """The video; trace and black box are written beside it. With --faults, where the black boxes go."""
    film: bool = True
    """Make the video and the trace after the flight."""

    def run(self) -> None:
        """Draw the world, stand between the vehicle and the flight, fly."""
        from wayword.cli.flight import VehicleOptions, fly_vehicle
        from wayword.flight.mavlink_link import parse_address
        from wayword.flight.setup import refuse_unflyable
        from wayword.flying.flight_request import FlightRequest, prepare_flight
        from wayword.pilot.pilot import check_instruction, open_database
        from wayword.policy import make_policy

        check_instruction(self.instruction)
        check_seed(self.seed)
        parse_address(self.vehicle)
        flier = make_policy(self.policy, self.weights, self.grounder)
        refuse_unflyable(flier, self.instruction, open_database(self.db))
        request = FlightRequest(instruction=self.instruction, policy="stop", db=self.db, seed=self.seed)
        example = prepare_flight(request).example
        start = (example.start.x, example.start.y, example.start.yaw)
        with self._stage(example) as (relay, camera, calibration):
            relay.stand_at(start)
            if self.faults:
                self._faults(relay, camera, calibration)
                return
            options = VehicleOptions(relay.address, camera.address, calibration, start=start, fence=self.fence)
            fly_vehicle(
                options, self.instruction, self.db, self.weights, self.out, self.seed, self.film, self.grounder,
                self.policy, flier,
            )  # fmt: skip

    @contextmanager
    def _stage(self, example: Example) -> Iterator[tuple[MavlinkRelay, RtspServer, Path]]:
        """The relay, the camera that draws what is seen from where the vehicle is, and the file about it."""
        from wayword.flight.calibration import Calibration
        from wayword.flight.relay import MavlinkRelay
        from wayword.flight.setup import Eye
        from wayword.flight.testing import RtspServer
        from wayword.sim.render.bank import MeshBank
        from wayword.task import IMAGE_HEIGHT, IMAGE_WIDTH

        eye = Eye(MeshBank.of_catalogue(), example.objects, self.seed)
        relay = MavlinkRelay(self.vehicle)
        try:
            with RtspServer(lambda: eye(relay.pose), _FRAMES_PER_S) as camera, tempfile.TemporaryDirectory() as folder:
                calibration = Path(folder) / "camera.json"
                Calibration.pinhole(IMAGE_WIDTH, IMAGE_HEIGHT).save(calibration)
                yield relay, camera, calibration
        finally:
            relay.close()

    def _faults(self, relay: MavlinkRelay, camera: RtspServer, calibration: Path) -> None:
        from wayword.flight.fence import Fence
        from wayword.flight.rehearsal import rehearse, rehearsed_faults

        faults = [fault for fault in rehearsed_faults() if self.only is None or self.only in fault.name]
        if not faults:
            raise WaywordError(f"--only {self.only}: no fault has that name; leave it out for all of them")
        fence = Fence() if self.fence is None else Fence.load(self.fence)

        def launch(start: tuple[float, float, float]) -> subprocess.Popen[bytes]:
            return subprocess.Popen([sys.executable, "-c", _MAIN, *self._words(relay, camera, calibration, start)])

        results = rehearse(relay, camera, launch, fence, faults, say)
        successes = sum(not result.problems for result in results)
        say(f"{successes} of {len(results)} promises kept")
        if successes < len(results):
            raise SystemExit(1)

    def _words(
        self, relay: MavlinkRelay, camera: RtspServer, calibration: Path, start: tuple[float, float, float]
    ) -> list[str]:
        """The command line of one flight: `wayword flight fly` as anybody would type it."""
        words = ["flight", "fly", self.instruction, "--vehicle", relay.address, "--video", camera.address,
                 "--camera", str(calibration), "--start", *(f"{value:.4f}" for value in start), "--db", self.db,
                 "--policy", self.policy, "--grounder", self.grounder, "--out", str(self.out), "--no-film"]  # fmt: skip
        if self.weights is not None:
            words += ["--weights", str(self.weights)]
        return words if self.fence is None else [*words, "--fence", str(self.fence)]
