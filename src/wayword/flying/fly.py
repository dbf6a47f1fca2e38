"""Fly one instruction, from Python: what ``wayword fly`` does.

    flight = wayword.fly("go past the planter on its left, then stop in front of the globe", video="flight.mp4")
    print(flight.outcome)

Video, trace and Rerun recording are written only if a file is named for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword.errors import WaywordError
from wayword.flying.episode_source import Remark, ignore
from wayword.flying.flight_request import FlightRequest, PreparedFlight, WorldName, prepare_flight
from wayword.io import check_target, write_text
from wayword.shipped import DEFAULT_GROUNDER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wayword.camera import Camera
    from wayword.language.pipeline import Parsed
    from wayword.objects import ObjectDatabase
    from wayword.pilot.verdict import FlightJudge, VerdictPart
    from wayword.recording.film import FilmedFlight, RecorderConfig
    from wayword.recording.mcap_flights import FilmMcap
    from wayword.recording.rerun_files import FilmLog


@dataclass(frozen=True)
class FlightFiles:
    """What is kept of a flight; None is not written."""

    video: Path | None = None
    """.mp4, .gif, or .png for the last frame."""
    trace: Path | None = None
    """Every number, as JSON."""
    rerun: Path | None = None
    """For the Rerun viewer, .rrd."""
    mcap: Path | None = None
    """For Foxglove and ROS 2, .mcap."""

    def check(self) -> None:
        """Refuse what cannot be written, before anything flies."""
        from wayword.pictures.video import check_ending

        if self.video is not None:
            check_ending(self.video)
        if self.rerun is not None:
            from wayword.recording.rerun_files import check_recording, need_rerun

            need_rerun()
            check_recording(self.rerun)
        if self.mcap is not None:
            from wayword.recording.mcap_log import check_mcap, need_mcap

            need_mcap()
            check_mcap(self.mcap)
        named = (self.video, self.rerun, self.mcap, self.trace)
        targets = [(check_target(path), path) for path in named if path is not None]
        for i, (target, path) in enumerate(targets):
            if any(target == other for other, _ in targets[:i]):
                raise WaywordError(f"{path}: two things cannot be written to the same file")


@dataclass(frozen=True, eq=False)
class FlightResult:
    """One flight in the simulator."""

    request: FlightRequest
    prepared: PreparedFlight
    flown: FilmedFlight

    @property
    def outcome(self) -> str:
        """What came of it, in one line."""
        return self.flown.outcome

    @property
    def success(self) -> bool | None:
        """Whether it arrived where the demonstration ends; None if nobody demonstrated it."""
        return self.flown.verdict.success

    @property
    def parts(self) -> tuple[VerdictPart, ...]:
        """What was done and what was not, thing by thing, where that can be told."""
        return self.flown.verdict.parts

    @property
    def path(self) -> Any:
        """Where the drone was (P, 2), in metres."""
        return self.flown.end.path

    @property
    def contacts(self) -> int:
        """How often it touched something."""
        return self.flown.end.contacts

    @property
    def parsed(self) -> Parsed | None:
        """How the instruction was understood."""
        return self.prepared.parsed

    def trace(self) -> dict[str, Any]:
        """Every number of the flight, as plain values."""
        from wayword.language.parsed_record import parsed_record
        from wayword.pilot.free_flight import is_free
        from wayword.task import STOP_THRESHOLD
        from wayword.versions import versions

        request, database, end = self.request, self.prepared.database, self.flown.end
        example, metrics = end.example, getattr(self.flown.verdict, "metrics", None)
        return {
            "example": example.id,
            "instruction": example.instruction,
            "policy": request.policy,
            "seed": request.seed,
            "camera": asdict(self.prepared.camera),
            "outcome": self.outcome,
            "arena_m": example.episode.arena_m,
            "objects": [asdict(item) for item in example.objects],
            "start": asdict(example.start),
            "demonstration": None if is_free(example) else example.path.round(4).tolist(),
            "database": None if database is None else list(database.names),
            "reading": None if self.prepared.reading is None else self.prepared.reading.to_json(),
            "parts": [asdict(part) for part in self.parts],
            "parsed": None if self.parsed is None else parsed_record(self.parsed),
            "decisions": [
                {"time_s": row.time_s, "pose": row.pose, "forward_m_s": row.action[0], "yaw_rate_rad_s": row.action[1],
                 "stop": row.action[2] > STOP_THRESHOLD, **({} if row.thought is None else {"thought": row.thought})}
                for row in self.flown.decisions
            ],
            "flown": end.path.round(4).tolist(),
            "contacts": end.contacts,
            "metrics": None if metrics is None else asdict(metrics),
            "versions": versions(),
        }  # fmt: skip


def fly(
    instruction: str | None = None,
    *,
    policy: str = "wayword",
    objects: ObjectDatabase | Path | str | None = None,
    layout: str | None = None,
    seed: int = 0,
    world: WorldName = "arena",
    weights: Path | str | None = None,
    grounder: Path | str = DEFAULT_GROUNDER,
    camera: Camera | Path | str | None = None,
    anyway: bool = False,
    video: Path | str | None = None,
    trace: Path | str | None = None,
    rerun: Path | str | None = None,
    mcap: Path | str | None = None,
    remark: Remark = ignore,
) -> FlightResult:
    """Fly one instruction in the simulator; without one, an example of the corpus.

    ``objects`` is what the policy was taught: a database, its folder, or "dev" or "test" for those that ship;
    ``layout`` where it is flown, by default one that is drawn with the seed; ``camera``, or its file, what it is flown
    with, if not with the camera the policy was trained with. A text that is not understood raises ``RefusedError``
    unless ``anyway``. ``remark`` hears what is worth knowing, such as phrases
    that the database does not know.
    """
    request = FlightRequest(
        instruction=instruction,
        policy=policy,
        db=str(objects) if isinstance(objects, (str, Path)) else None,
        layout=layout,
        seed=seed,
        world=world,
        weights=None if weights is None else Path(weights),
        grounder=str(grounder),
        camera=Path(camera) if isinstance(camera, (str, Path)) else None,
        anyway=anyway,
    )
    files = FlightFiles(*(None if path is None else Path(path) for path in (video, trace, rerun, mcap)))
    database = None if isinstance(objects, (str, Path)) else objects
    own = None if isinstance(camera, (str, Path)) else camera
    return fly_request(request, files, remark, database=database, camera=own)


def fly_request(
    request: FlightRequest,
    files: FlightFiles | None = None,
    remark: Remark = ignore,
    announce: Callable[[PreparedFlight], None] = lambda flight: None,
    progress: Callable[[int], None] = lambda percent: None,
    database: ObjectDatabase | None = None,
    camera: Camera | None = None,
) -> FlightResult:
    """Fly a request and write its files; ``announce`` hears what is about to be flown, ``progress`` per cents.

    A ``database`` or ``camera`` goes before the one that the request names.
    """
    from wayword.evaluation.verdicts import judge_by_demonstration_and_goal
    from wayword.pictures.video import write_video
    from wayword.pilot.free_flight import is_free
    from wayword.policy import Watching
    from wayword.policy.fspvn import FsPVN
    from wayword.recording.film import FRAMES_PER_SECOND, Film, RecorderConfig
    from wayword.recording.first_run import FirstRun
    from wayword.recording.trace import format_trace
    from wayword.sim.arena import ArenaConfig
    from wayword.sim.worlds import WORLDS
    from wayword.task import HORIZON

    files = files or FlightFiles()
    request.check()
    files.check()
    first = FirstRun()
    flight = prepare_flight(request, remark, database, camera)
    announce(flight)
    place = WORLDS[request.world]
    arena = place.arena(ArenaConfig(camera=flight.camera, horizon=getattr(flight.policy, "horizon", HORIZON)))
    config = RecorderConfig(request.seed, request.random_look, request.as_seen, arena, look=place.look)
    if isinstance(flight.policy, FsPVN) and not isinstance(flight.policy, Watching):
        first.finish(flight.policy, flight.database)
    judge: FlightJudge = judge_by_demonstration_and_goal(flight.mentioned)
    if is_free(flight.example):
        judge = _judge_of_words(flight, arena.vehicle.sub_step_s)
    with ExitStack() as open_files:
        logs = list(_logs(files, flight, config))
        for log in logs:
            open_files.enter_context(log)  # type: ignore[arg-type]

        def decided(pose: NDArray[np.float64], image: NDArray[np.uint8]) -> None:
            for log in logs:
                log.decided(pose, image)

        film = Film(flight.policy, flight.example, flight.bank, config, flight.database, judge, progress, decided)
        if files.video is None:
            film.fly()
        else:
            write_video(files.video, film, FRAMES_PER_SECOND)
        for log in logs:
            log.ended(film.flight)
    result = FlightResult(request, flight, film.flight)
    if files.trace is not None:
        write_text(files.trace, format_trace(result.trace()))
    return result


def _judge_of_words(flight: PreparedFlight, sub_step_s: float) -> FlightJudge:
    """For a flight that nobody demonstrated: step by step where steps were read, else where it ended."""
    from wayword.evaluation.commands.spoken import judge_by_reading
    from wayword.pilot.free_flight import judge_by_mentions
    from wayword.policy import Refusing

    reading, policy = flight.reading, flight.policy
    if reading is None or reading.kind != "steps" or not isinstance(policy, Refusing):
        return judge_by_mentions(flight.mentioned)
    return judge_by_reading(reading, flight.model, policy.refusal, sub_step_s)


def _logs(files: FlightFiles, flight: PreparedFlight, config: RecorderConfig) -> Iterator[FilmLog | FilmMcap]:
    """Recordings that were asked for beside film and trace."""
    if files.rerun is not None:
        from wayword.recording.rerun_files import FilmLog

        yield FilmLog(files.rerun, flight.policy, flight.example, flight.bank, config)
    if files.mcap is not None:
        from wayword.recording.mcap_flights import FilmMcap

        yield FilmMcap(files.mcap, flight.policy, flight.example, flight.camera)
