"""``wayword flight``: check a vehicle and fly it under the governor; its other verbs are in ``flight_tools``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from wayword.cli.common import say, say_aside
from wayword.cli.flight_rehearse import Rehearse
from wayword.cli.flight_tools import Calibrate, Faults, Replay
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.shipped import DEFAULT_GROUNDER
from wayword.task import ALTITUDE_M

if TYPE_CHECKING:
    from wayword.camera import Camera
    from wayword.flight.governor import GovernorConfig
    from wayword.flight.mission import FlightPlan
    from wayword.policy import Policy


@dataclass(frozen=True)
class VehicleOptions:
    """Which vehicle, what it sees, and where it may fly."""

    vehicle: str = "sim"
    """sim, or where the vehicle is heard: udpin://127.0.0.1:14540, tcp://127.0.0.1:5760, serial:///dev/ttyACM0:921600."""
    video: str | None = None
    """Its pictures: rtsp://127.0.0.1:8554/cam, a video file or /dev/video0; sim draws its own."""
    camera: Path | None = None
    """The camera they are from: what `wayword flight calibrate` wrote. For sim, which camera to draw with."""
    video_delay: float = 0.0
    """Seconds between the light and the first bytes of a frame, if you have measured it."""
    start: tuple[float, float, float] = (0.6, 0.6, 0.0)
    """Where the vehicle stands on the map: x and y in metres, yaw in radians."""
    fence: Path | None = None
    """A JSON file with corners, low_m and high_m; by default the map and a metre around it."""
    height: float = ALTITUDE_M
    """Flight height in metres; the policy was trained at 0.7."""

    def plan(self) -> FlightPlan:
        """The plan of the flight."""
        from wayword.flight.fence import Fence
        from wayword.flight.mission import FlightPlan

        fence = Fence() if self.fence is None else Fence.load(self.fence)
        return FlightPlan(self.height, fence, self.governor(), lockstep=self.vehicle == "sim")

    def governor(self) -> GovernorConfig:
        """Its settings; how far beside its heading the vehicle looks is the camera's."""
        from wayword.flight.governor import GovernorConfig
        from wayword.mapping.standing import side_of

        return GovernorConfig(side_rad=side_of(self.view().hfov_deg))

    def view(self) -> Camera:
        """What the policy takes the pictures for."""
        from wayword.camera import open_camera

        return open_camera(self.camera).at_model_size()


@dataclass(frozen=True)
class FlyVehicle(VehicleOptions):
    """Fly one instruction with a vehicle, under the governor; Ctrl-C lands, a second Ctrl-C stops the motors.

    For example: wayword flight fly "stop in front of the globe" --vehicle udpin://127.0.0.1:14540
    --video rtsp://127.0.0.1:8554/cam --camera camera.json
    """

    instruction: tyro.conf.Positional[str] = ""
    """Where to fly, in quotes."""
    policy: str = "wayword"
    """Who flies: wayword, the paper's fspvn, or a policy of your own as module:Class."""
    db: str = "test"
    """What the policy was taught: the folder of an object database, or dev or test for those that ship."""
    weights: Path | None = None
    """A folder of trained weights instead of those that ship."""
    grounder: str = DEFAULT_GROUNDER
    """The segmentation's weights: shipped ones by name, or a folder trained for your room (docs/flying.md)."""
    seed: int = 0
    """For sim: the layout and the noise."""
    out: Path = Path("out/flight.mp4")
    """The video; trace and black box are written beside it with the endings .json and .box."""
    film: bool = True
    """Make the video and the trace after the flight."""

    def run(self) -> None:
        """Prepare, fly, film."""
        fly_vehicle(
            self, self.instruction, self.db, self.weights, self.out, self.seed, self.film, self.grounder, self.policy
        )


def fly_vehicle(
    options: VehicleOptions,
    instruction: str,
    db: str = "test",
    weights: Path | None = None,
    out: Path = Path("out/flight.mp4"),
    seed: int = 0,
    film: bool = True,
    grounder: str = DEFAULT_GROUNDER,
    policy: str = "wayword",
    flier: Policy | None = None,
) -> None:
    """One governed flight with black box, trace and video: what `wayword fly --vehicle` does.

    A text that the policy refuses is not flown: it is asked before the vehicle is spoken to. ``flier`` is that policy
    with its weights and camera, from who has loaded it and asked it already.
    """
    from wayword.episodes import PlacedObject
    from wayword.flight.blackbox import BlackBox
    from wayword.flight.decider import Mind, PolicyMind
    from wayword.flight.mind_process import MindProcess
    from wayword.flight.mission import fly_mission
    from wayword.flight.setup import MindRecipe, check_address, real_vehicle, refuse_unflyable, simulated_vehicle
    from wayword.flight.vehicle import Vehicle
    from wayword.flying.flight_request import FlightRequest, prepare_flight
    from wayword.grounding.weight_files import find_weights
    from wayword.io import check_target
    from wayword.pictures.video import check_ending
    from wayword.pilot.pilot import check_instruction, open_database
    from wayword.policy import make_policy
    from wayword.registry import POLICIES

    check_instruction(instruction)
    find_weights(grounder)  # wrong names are said before anything is armed
    if policy in POLICIES.own and policy not in ("fspvn", "wayword"):
        raise WaywordError(f"--policy {policy} flies in the simulator only; a vehicle is flown by wayword or fspvn")
    POLICIES.find(policy)
    check_seed(seed)
    check_ending(out)
    check_target(out)
    view = options.view()
    plan, recipe = options.plan(), MindRecipe(instruction, db, weights, grounder, policy, view)
    objects: tuple[PlacedObject, ...] = ()
    mind: Mind
    vehicle: Vehicle
    if options.vehicle == "sim":
        request = FlightRequest(
            instruction=instruction, policy=policy, db=db, weights=weights, grounder=grounder, seed=seed
        )
        prepared = prepare_flight(request, camera=view, way_out="")
        example = prepared.example
        vehicle = simulated_vehicle(prepared.bank, example.objects, example.start, seed, view)
        flier = prepared.policy
        mind, objects = PolicyMind(flier, instruction, prepared.database), example.objects
    else:
        check_address(options.vehicle)
        if flier is None:
            flier = make_policy(policy, weights, grounder, view)
            refuse_unflyable(flier, instruction, open_database(db))
        vehicle = real_vehicle(options.vehicle, options.video, options.camera, options.start, options.video_delay)
        mind = MindProcess(recipe)
    box_path = _free(out.with_suffix(".box"))
    box = BlackBox(box_path)
    placed = [{"name": item.name, "x": item.x, "y": item.y, "yaw": item.yaw} for item in objects]
    about = {"instruction": instruction, "database": db, "vehicle": options.vehicle, "video": options.video,
             "camera": asdict(view), "policy": policy, "weights": weights, "grounder": grounder,
             "objects": placed}  # fmt: skip
    try:
        outcome = fly_mission(vehicle, mind, plan, box, say, about)
    finally:
        vehicle.close()
        box.close()
        if isinstance(mind, MindProcess):
            mind.close()
    say(outcome.line())
    say(box_path)
    if film and outcome.tracks:
        _film(box_path, flier, instruction, open_database(db), outcome.line(), out, objects)


def _film(
    box: Path, policy: object, instruction: str, database: object, outcome: str, out: Path, objects: object
) -> None:
    from wayword.flight.replay import load_recording
    from wayword.io import write_text
    from wayword.pictures.video import write_video
    from wayword.recording.film import FRAMES_PER_SECOND
    from wayword.recording.trace import format_trace
    from wayword.recording.vehicle_film import VehicleFilm
    from wayword.sim.render.bank import MeshBank

    film = VehicleFilm(
        load_recording(box), policy, instruction, database, MeshBank.of_catalogue(), outcome, objects  # type: ignore[arg-type]
    )  # fmt: skip
    write_video(out, film, FRAMES_PER_SECOND)
    write_text(out.with_suffix(".json"), format_trace(film.trace()))
    if film.different:
        say_aside(f"{film.different} decisions are not those the policy would take now on the recorded images")
    say(out.with_suffix(".json"))
    say(out)


def _free(path: Path) -> Path:
    """The path, or the first free one with a number: black boxes are never overwritten."""
    if not path.exists():
        return path
    return next(p for i in range(2, 10_000) if not (p := path.with_stem(f"{path.stem}-{i}")).exists())


@dataclass(frozen=True)
class CheckVehicle(VehicleOptions):
    """Read the pre-flight list of a vehicle without arming it; exit code 2 if anything is not as it must be."""

    watch: float = 0.0
    """Afterwards print for so many seconds where it is on the map: carry it to your marks and compare."""

    def run(self) -> None:
        """Connect, read, print."""
        from wayword.flight.preflight import preflight
        from wayword.flight.setup import real_vehicle
        from wayword.flight.simulated import SimulatedVehicle
        from wayword.flight.vehicle import Vehicle

        plan = self.plan()
        vehicle: Vehicle = SimulatedVehicle()
        if self.vehicle != "sim":
            vehicle = real_vehicle(self.vehicle, self.video, self.camera, self.start, self.video_delay)
        try:
            facts = vehicle.connect()
            say(f"{facts.name}: stops {facts.silence_s:.1f} s after the last setpoint")
            checks = preflight(vehicle, plan)
            for check in checks:
                say(check.line())
            for _ in range(round(2 * self.watch)):
                vehicle.wait(0.5)
                x, y, z, _, _, yaw = vehicle.telemetry().pose
                say(f"x {x:6.2f}  y {y:6.2f}  z {z:5.2f} m  yaw {yaw:5.2f} rad")
        finally:
            vehicle.close()
        wrong = sum(not check.ok for check in checks)
        if wrong:
            raise WaywordError(f"{wrong} of {len(checks)} checks say STOP; it would not arm")


@dataclass(frozen=True)
class FlightVerb:
    """Calibrate a camera, check, rehearse and fly a vehicle, replay its black box, fly the fault suite."""

    what: (
        Annotated[FlyVehicle, tyro.conf.subcommand("fly")]
        | Annotated[CheckVehicle, tyro.conf.subcommand("check")]
        | Annotated[Rehearse, tyro.conf.subcommand("rehearse")]
        | Annotated[Calibrate, tyro.conf.subcommand("calibrate")]
        | Annotated[Replay, tyro.conf.subcommand("replay")]
        | Annotated[Faults, tyro.conf.subcommand("faults")]
    )

    def run(self) -> None:
        """Run the chosen one."""
        self.what.run()
