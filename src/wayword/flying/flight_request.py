"""What is to be flown: a request, and everything it takes to fly it.

An instruction of one's own is flown in a layout: one that is drawn for it, or one that is given. Without an
instruction an example of a corpus is flown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wayword.errors import RefusedError, WaywordError
from wayword.flying.episode_source import EpisodeSource, Remark, Split, check_seed, ignore, load_bank, one_line
from wayword.shipped import DEFAULT_GROUNDER

if TYPE_CHECKING:
    from wayword.camera import Camera
    from wayword.episodes import Example
    from wayword.language.pipeline import Parsed
    from wayword.language.reader import Reading
    from wayword.objects import ObjectDatabase
    from wayword.policy import Policy
    from wayword.sim.render.bank import MeshBank

WorldName = Literal["arena", "lab"]
_NAMED = 16
"""Objects of a database that are named in a message."""
_QUOTED = 60
"""Characters of a phrase of the instruction that are said again."""


@dataclass(frozen=True)
class FlightRequest(EpisodeSource):
    """One flight in the simulator."""

    instruction: str | None = None
    """Where to fly, in quotes."""
    policy: str = "wayword"
    """Who flies: wayword, which reads any text into steps or the description of a way; the paper's fspvn, fspvn_bc,
    fspvn_nou, fspvn_noi, fspvn_perfect; oracle, average, stop; lerobot (one of LeRobot's, with --weights); or a policy
    of your own as module:Class (docs/extending.md). The oracle is shown the demonstration; average and stop neither
    look nor listen; fspvn_perfect is shown the true masks."""
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
    """The policy's weights: shipped ones by name, or a folder; by default those it ships with."""
    grounder: str = DEFAULT_GROUNDER
    """The segmentation's weights: shipped ones by name, or a folder (see `wayword train grounding`)."""
    world: WorldName = "arena"
    """Where: the arena, or a lab with another camera that neither policy nor segmentation has seen."""
    camera: Path | None = None
    """Another camera than the one it was trained with: a file as `wayword flight calibrate` writes it, or one that says
    hfov_deg and mount_pitch_deg (docs/pilot.md). The simulator draws with it; a real vehicle must have one."""
    anyway: bool = False
    """Fly even a text that was not understood, as if it described a way."""

    def check(self) -> None:
        """Refuse what cannot be flown, before anything is loaded."""
        from wayword.camera import open_camera
        from wayword.grounding.weight_files import find_weights
        from wayword.pilot import check_instruction
        from wayword.registry import POLICIES

        check_seed(self.seed)
        find_weights(self.grounder)
        open_camera(self.camera).at_model_size()
        maker = POLICIES.find(self.policy)
        if self.random_look and self.world != "arena":
            raise WaywordError(f"--random-look and --world {self.world}: choose one of the two")
        if self.instruction is None:
            if self.layout is not None:
                raise WaywordError("--layout is for an instruction of your own; choose an example with --example")
            return
        check_instruction(self.instruction)
        if self.example is not None or self.episodes is not None:
            raise WaywordError("an instruction of your own goes with --layout, not with --example or --episodes")
        if self.policy in ("oracle_steps", "wayword_told") or hasattr(maker, "brief_steps"):
            raise WaywordError(f"{self.policy} is told what is meant, and flies in `wayword eval commands` only")
        if hasattr(maker, "brief"):
            raise WaywordError(f"the {self.policy} follows demonstrations, and an instruction of your own has none")


@dataclass(frozen=True, eq=False)
class PreparedFlight:
    """Everything that is needed to fly a request."""

    bank: MeshBank
    example: Example
    policy: Policy
    database: ObjectDatabase | None
    """What the policy is taught; None for one that is taught nothing."""
    parsed: Parsed | None
    """How the instruction is understood; None if nobody reads it."""
    camera: Camera
    """Whose images the policy is shown."""

    reading: Reading | None = None
    """What the policy understood, if it reads texts into steps."""

    def model(self, name: str) -> str | None:
        """What the layout calls an object of the database."""
        return _model(name, self.bank)

    @property
    def mentioned(self) -> list[str]:
        """Models of the objects the instruction refers to, as the bank calls them, as often as it does."""
        names = [] if self.parsed is None else [reference.best for reference in self.parsed.references]
        return [_model(name, self.bank) or name for name in names if name is not None]


def prepare_flight(
    request: FlightRequest,
    remark: Remark = ignore,
    database: ObjectDatabase | None = None,
    camera: Camera | None = None,
    way_out: str = "--anyway flies all the same",
) -> PreparedFlight:
    """Load and draw what a request needs; a ``database`` or ``camera`` goes before the one that the request names.

    A text that is refused is refused with ``way_out``; empty for who offers none.
    """
    from wayword.camera import open_camera
    from wayword.policy.wayfinder import Wayfinder

    request.check()
    build = _corpus_flight if request.instruction is None else _own_flight
    flight = build(request, remark, database, open_camera(camera or request.camera).at_model_size())
    if isinstance(flight.policy, Wayfinder):
        flight = replace(flight, reading=flight.policy.reading(0))
    if flight.reading is not None and flight.reading.refusal is not None:
        refusal = flight.reading.refusal
        final = flight.reading.is_answer or not way_out
        raise RefusedError(refusal if final else f"{refusal.rstrip('.')}; {way_out}")
    if flight.parsed is not None and flight.database is not None:
        _remark_unknown(flight.parsed, flight.database, remark)
    return flight


def _corpus_flight(
    request: FlightRequest, remark: Remark, database: ObjectDatabase | None, camera: Camera
) -> PreparedFlight:
    from wayword.policy import needs_objects

    bank, examples = request.load(remark)
    example = _choose(request, examples)
    policy = _policy(request, camera)
    if not needs_objects(policy):
        return PreparedFlight(bank, example, policy, None, None, camera)
    database = database or _database(request, example)
    return PreparedFlight(bank, example, policy, database, _read(policy, example.instruction, database), camera)


def _own_flight(
    request: FlightRequest, remark: Remark, database: ObjectDatabase | None, camera: Camera
) -> PreparedFlight:
    import numpy as np

    from wayword.pilot.free_flight import draw_scene, free_example, read_layout
    from wayword.sim.models.catalogue import names

    instruction = request.instruction or ""
    bank = load_bank(request.objects, remark)
    example = None if request.layout is None else read_layout(request.layout, instruction, bank.index)
    database = database or _database(request, example)
    policy = _policy(request, camera)
    parsed = _read(policy, instruction, database)
    if example is None:
        models = {name: model for name in database.names if (model := _model(name, bank)) is not None}
        mentioned = mentioned_objects(parsed)
        absent = [name for name in mentioned if name not in models]
        if absent:
            remark(f"the simulator has no model of {_listed(absent)}; give meshes with --objects")
        rng = np.random.default_rng(request.seed)
        scene = draw_scene([models[name] for name in mentioned if name in models], models.values(), names("seen"), rng)
        example = free_example(f"seed {request.seed}", instruction, *scene)
    return PreparedFlight(bank, example, policy, database, parsed, camera)


def _policy(request: FlightRequest, camera: Camera) -> Policy:
    from wayword.policy import make_policy
    from wayword.policy.wayfinder import Wayfinder

    policy = make_policy(request.policy, request.weights, request.grounder, camera)
    if request.anyway:
        if not isinstance(policy, Wayfinder):
            raise WaywordError(f"--anyway is for policies that may refuse, and {request.policy} flies anything")
        policy.anyway = True
    return policy


def _database(request: FlightRequest, example: Example | None) -> ObjectDatabase:
    """What the request says; else the shipped database that knows the objects of the layout."""
    from wayword.pilot import open_database

    if request.db is not None:
        return open_database(request.db)
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


def _choose(request: FlightRequest, examples: list[Example]) -> Example:
    import numpy as np

    if request.example is None:
        return examples[int(np.random.default_rng(request.seed).integers(len(examples)))]
    for candidate in examples:
        if candidate.id == request.example:
            return candidate
    first, last = examples[0].id, examples[-1].id
    raise WaywordError(f"no example {request.example!r} here; the first is {first!r}, the last {last!r}")


def mentioned_objects(parsed: Parsed | None) -> list[str]:
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
    from wayword.language.pipeline import LanguageModel

    return LanguageModel.load().parse(instruction, database.phrase_list)


def _model(name: str, bank: MeshBank) -> str | None:
    """What the bank calls an object of a database; None if it has no such model."""
    from wayword.objects.names import name_key

    return next((known for known in bank.index if name_key(known) == name_key(name)), None)


def _remark_unknown(parsed: Parsed, database: ObjectDatabase, remark: Remark) -> None:
    from wayword.pilot.pilot import unknown_references

    unknown = unknown_references(parsed)
    if unknown:
        quoted = _listed([f'"{brief(phrase, _QUOTED)}"' for phrase in unknown])
        remark(f"the database does not know {quoted}; it knows: {_listed(database.names)}")


def brief(text: str, limit: int) -> str:
    """Text on one line, cut at ``limit`` characters."""
    line = one_line(text)
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


def _listed(names: Sequence[str]) -> str:
    lines = [one_line(name) for name in names[:_NAMED]]
    if len(names) > _NAMED:
        return f"{', '.join(lines)} and {len(names) - _NAMED} more"
    return lines[0] if len(lines) == 1 else f"{', '.join(lines[:-1])} and {lines[-1]}"
