"""``wayword fly``: fly one instruction and film it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from wayword.cli.common import EpisodeSource, Split, check_seed, load_bank, one_line, progress_bar, say, say_aside
from wayword.errors import WaywordError
from wayword.io import check_target, write_text

if TYPE_CHECKING:
    from wayword.episodes import Example
    from wayword.evaluation.recorder import RecorderConfig, Recording
    from wayword.evaluation.rerun_files import FilmLog
    from wayword.language.pipeline import Parsed
    from wayword.objects import ObjectDatabase
    from wayword.policy import Policy
    from wayword.sim.render.bank import MeshBank

PolicyName = Literal["fspvn", "oracle", "average", "stop"]
_NAMED = 16
"""Objects of a database that are named in a message."""
_ECHOED, _QUOTED = 400, 60
"""Characters of the instruction, and of a phrase in it, that are said again."""


@dataclass(frozen=True)
class Fly(EpisodeSource):
    """Fly one instruction, film it, and keep every number.

    Writes a video with the drone's view, the map and what the policy thinks, and a JSON trace; says in one line what
    came of it. Without an instruction an example of the corpus is flown.

    For example: wayword fly "go past the planter on its left, then stop in front of the globe"
    """

    instruction: tyro.conf.Positional[str | None] = None
    """Where to fly, in quotes."""
    policy: PolicyName = "fspvn"
    """Who flies. The oracle is shown the demonstration; average and stop neither look nor listen."""
    db: str | None = None
    """What the policy was taught: the folder of an object database (see `wayword teach`), or dev or test for those
    that ship. By default test, or the one that goes with the example or layout."""
    layout: str | None = None
    """For an instruction of your own, where it is flown: an example such as dev-003/1-2, or a JSON file with "objects"
    and "start" such as an episode or an earlier trace. By default a layout that holds what the instruction mentions is
    drawn with the seed."""
    split: Split = "dev"
    """Where an example is taken from."""
    example: str | None = None
    """Which one, such as dev-000/1-2; by default one is drawn with the seed."""
    random_look: bool = False
    """Draw light, ground and surround at random."""
    as_seen: bool = False
    """Show the 128 x 72 pixels the policy sees instead of a sharp picture of the same view."""
    weights: Path | None = None
    """A folder of trained weights instead of those that ship."""
    grounder: str = "sim"
    """The segmentation's weights: shipped ones by name, or a folder (see `wayword train grounding`)."""
    world: Literal["arena", "lab"] = "arena"
    """Where: the arena, or a lab with another camera that neither policy nor segmentation has seen."""
    out: Path = Path("out/flight.mp4")
    """The video: .mp4, .gif, or .png for its last frame."""
    trace: Path | None = None
    """The trace; by default beside the video, with the ending .json."""
    rerun: Path | None = None
    """Also a recording for the Rerun viewer, such as flight.rrd (docs/recordings.md)."""
    vehicle: str | None = None
    """A real vehicle instead of the simulator, over MAVLink, such as udpin://127.0.0.1:14540 (docs/flying.md)."""
    camera: str | None = None
    """Its camera: rtsp://..., a device or a file."""
    calibration: Path | None = None
    """Its camera's calibration, as `wayword flight calibrate` writes it."""

    def run(self) -> None:
        """Fly, film, write."""
        if self.vehicle is not None:
            self._run_vehicle(self.vehicle)
            return
        if self.camera is not None or self.calibration is not None:
            raise WaywordError("--camera and --calibration are for a real vehicle; name it with --vehicle")
        from wayword.evaluation.first_run import FirstRun
        from wayword.evaluation.free_flight import is_free, title_of
        from wayword.evaluation.recorder import FRAMES_PER_SECOND, Film, RecorderConfig
        from wayword.evaluation.trace import dump
        from wayword.grounding.weights import find_weights
        from wayword.sim.pictures.video import check_ending, write_video
        from wayword.sim.worlds import WORLDS

        find_weights(self.grounder)
        if self.random_look and self.world != "arena":
            raise WaywordError(f"--random-look and --world {self.world}: choose one of the two")
        trace = self.trace or self.out.with_suffix(".json")
        check_ending(self.out)
        if check_target(self.out) == check_target(trace):
            raise WaywordError(f"{trace}: video and trace cannot be the same file")
        self._check_rerun(trace)
        first = FirstRun()
        bank, example, policy, database, parsed = self._prepare() if self.instruction is None else self._prepare_own()
        say(f"{self.policy} flies {'in the ' if is_free(example) else ''}{title_of(example)}:")
        say(_brief(example.instruction, _ECHOED))
        if parsed is not None and database is not None:
            _warn_unknown(parsed, database)
        place = WORLDS[self.world]
        config = RecorderConfig(self.seed, self.random_look, self.as_seen, place.arena(), look=place.look)
        if self.policy == "fspvn":
            first.finish(policy, database)
        with self._recording(policy, example, bank, config) as log, progress_bar("flying and filming", 100) as advance:
            named = [_model(name, bank) or name for name in mentioned(parsed)]
            heard = {} if log is None else {"decided": log.decided}
            film = Film(policy, example, bank, config, database, named, advance, **heard)
            write_video(self.out, film, FRAMES_PER_SECOND)
            if log is not None:
                log.ended(film.recording)
        write_text(trace, dump(_trace(film.recording, self.policy, self.seed, parsed, database)))
        say(film.recording.outcome)
        say(trace)
        say(self.out)
        if self.rerun is not None:
            say(self.rerun)

    def _check_rerun(self, trace: Path) -> None:
        if self.rerun is not None:
            from wayword.evaluation.rerun_files import check_recording, need_rerun

            need_rerun()
            check_recording(self.rerun)
            if check_target(self.rerun) == check_target(trace):
                raise WaywordError(f"{trace}: recording and trace cannot be the same file")

    def _recording(
        self, policy: Policy, example: Example, bank: MeshBank, config: RecorderConfig
    ) -> AbstractContextManager[FilmLog | None]:
        if self.rerun is None:
            return nullcontext()
        from wayword.evaluation.rerun_files import FilmLog

        return FilmLog(self.rerun, policy, example, bank, config)

    def _run_vehicle(self, vehicle: str) -> None:
        """The same with a real vehicle, under the governor."""
        from wayword.cli.flight import VehicleOptions, fly_vehicle
        from wayword.pilot import check_instruction

        if self.policy != "fspvn":
            raise WaywordError(f"--policy {self.policy} flies in the simulator only; leave it out with --vehicle")
        if self.world != "arena":
            raise WaywordError(f"--world {self.world} is simulated; leave it out with --vehicle")
        if self.rerun is not None:
            raise WaywordError("--rerun records flights in the simulator; a real vehicle has its black box")
        options = VehicleOptions(vehicle, self.camera, self.calibration)
        instruction = check_instruction(self.instruction or "")
        fly_vehicle(options, instruction, self.db or "test", self.weights, self.out, self.seed, grounder=self.grounder)

    def _prepare(self) -> _Prepared:
        """An example of a corpus."""
        from wayword.policy import make_policy

        if self.layout is not None:
            raise WaywordError("--layout is for an instruction of your own; choose an example with --example")
        bank, cuts = self.load()
        example = self._choose(cuts)
        if self.policy != "fspvn":
            return bank, example, make_policy(self.policy), None, None
        database = self._database(example)
        policy = make_policy(self.policy, self.weights, self.grounder)
        return bank, example, policy, database, _read(policy, example.instruction, database)

    def _prepare_own(self) -> _Prepared:
        """An instruction of the user's own, in a layout for it."""
        import numpy as np

        from wayword.evaluation.free_flight import draw_scene, free_example, read_layout
        from wayword.pilot import check_instruction
        from wayword.policy import make_policy
        from wayword.sim.models.catalogue import names

        if self.example is not None or self.episodes is not None:
            raise WaywordError("an instruction of your own goes with --layout, not with --example or --episodes")
        if self.policy == "oracle":
            raise WaywordError("the oracle follows demonstrations, and an instruction of your own has none")
        check_seed(self.seed)
        instruction = check_instruction(self.instruction or "")
        bank = load_bank(self.objects)
        example = None if self.layout is None else read_layout(self.layout, instruction, bank.index)
        database = self._database(example)
        policy = make_policy(self.policy, self.weights if self.policy == "fspvn" else None, self.grounder)
        parsed = _read(policy, instruction, database)
        if example is None:
            shown = {name: model for name in database.names if (model := _model(name, bank)) is not None}
            wanted = mentioned(parsed)
            absent = [name for name in wanted if name not in shown]
            if absent:
                say_aside(f"the simulator has no model of {_listed(absent)}; give meshes with --objects")
            there = [shown[name] for name in wanted if name in shown]
            rng = np.random.default_rng(self.seed)
            scene = draw_scene(there, shown.values(), names("seen"), rng)
            example = free_example(f"seed {self.seed}", instruction, *scene)
        return bank, example, policy, database, parsed

    def _database(self, example: Example | None) -> ObjectDatabase:
        """What --db says; else the shipped database that knows the objects of the layout."""
        from wayword.pilot import open_database

        if self.db is not None:
            return open_database(self.db)
        if example is None:
            return open_database("test")
        present = {item.name for item in example.objects}
        for split in ("test", "dev"):
            database = open_database(split)
            if present <= set(database.names):
                return database
        raise WaywordError(
            f"no shipped database knows the objects of {example.id}; say with --db what the policy was taught "
            "(`wayword objects build --which seen` makes one of the seen objects)"
        )

    def _choose(self, cuts: list[Example]) -> Example:
        import numpy as np

        if self.example is None:
            return cuts[int(np.random.default_rng(self.seed).integers(len(cuts)))]
        for candidate in cuts:
            if candidate.id == self.example:
                return candidate
        raise WaywordError(f"no example {self.example!r} here; the first is {cuts[0].id!r}, the last {cuts[-1].id!r}")


_Prepared = tuple["MeshBank", "Example", "Policy", "ObjectDatabase | None", "Parsed | None"]


def mentioned(parsed: Parsed | None) -> list[str]:
    """The objects an instruction refers to, each once, in its order."""
    if parsed is None:
        return []
    return list(dict.fromkeys(r.best for r in parsed.references if r.best is not None))


def _read(policy: Policy, instruction: str, database: ObjectDatabase) -> Parsed:
    """How the instruction is understood, by the policy itself if it listens."""
    from wayword.policy.fspvn import FsPVN

    if isinstance(policy, FsPVN):
        policy.reset([instruction], [database])
        return policy.parsed(0)
    from wayword.language.phrases_db import ObjectPhrases
    from wayword.language.pipeline import LanguageModel

    known = tuple(ObjectPhrases(item.name, tuple(item.phrases) or (item.name,)) for item in database.objects)
    return LanguageModel.load().parse(instruction, known)


def _model(name: str, bank: MeshBank) -> str | None:
    """What the bank calls an object of a database; None if it has no such model."""
    from wayword.objects.names import name_key

    return next((known for known in bank.index if name_key(known) == name_key(name)), None)


def _warn_unknown(parsed: Parsed, database: ObjectDatabase) -> None:
    from wayword.pilot import unknown_references

    unknown = unknown_references(parsed)
    if unknown:
        quoted = _listed([f'"{_brief(phrase, _QUOTED)}"' for phrase in unknown])
        say_aside(f"the database does not know {quoted}; it knows: {_listed(database.names, 'and')}")


def _brief(text: str, limit: int) -> str:
    shown = one_line(text)
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."


def _listed(names: Sequence[str], joint: str = "and") -> str:
    shown = [one_line(name) for name in names[:_NAMED]]
    if len(names) > _NAMED:
        return f"{', '.join(shown)} {joint} {len(names) - _NAMED} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {joint} {shown[-1]}"


def _trace(
    recording: Recording, policy: str, seed: int, parsed: Parsed | None, database: ObjectDatabase | None
) -> dict[str, Any]:
    from dataclasses import asdict

    from wayword.cli.evaluate import versions
    from wayword.cli.parse import to_json
    from wayword.evaluation.free_flight import is_free
    from wayword.policy.interface import STOP_THRESHOLD

    example = recording.example
    return {
        "example": example.id,
        "instruction": example.instruction,
        "policy": policy,
        "seed": seed,
        "outcome": recording.outcome,
        "arena_m": example.episode.arena_m,
        "objects": [asdict(item) for item in example.objects],
        "start": asdict(example.start),
        "demonstration": None if is_free(example) else example.path.round(4).tolist(),
        "database": None if database is None else list(database.names),
        "parsed": None if parsed is None else to_json(parsed),
        "decisions": [
            {"time_s": row.time_s, "pose": row.pose, "forward_m_s": row.action[0], "yaw_rate_rad_s": row.action[1],
             "stop": row.action[2] > STOP_THRESHOLD, **({} if row.thought is None else {"thought": row.thought})}
            for row in recording.decisions
        ],
        "flown": recording.path.round(4).tolist(),
        "contacts": recording.contacts,
        "metrics": None if recording.metrics is None else asdict(recording.metrics),
        "versions": versions(),
    }  # fmt: skip
