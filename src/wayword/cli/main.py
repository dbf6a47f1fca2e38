"""The ``wayword`` command: one verb per job.

Each verb is a frozen dataclass whose fields are its options and whose ``run`` does the job. Modules are
imported when a verb runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

from typing import Annotated, Any

import tyro

from wayword.cli.ar import AR
from wayword.cli.bench import Bench
from wayword.cli.data import DataVerb
from wayword.cli.eval_commands import EvalCommands
from wayword.cli.eval_conditions import EvalSides, EvalVehicles
from wayword.cli.eval_governed import EvalGoverned
from wayword.cli.eval_paragraphs import EvalParagraphs
from wayword.cli.eval_swap import EvalSwap
from wayword.cli.eval_table import EvalTable
from wayword.cli.evaluate import Eval
from wayword.cli.flight import FlightVerb, FlyVehicle
from wayword.cli.flight_rehearse import Rehearse
from wayword.cli.fly import Fly
from wayword.cli.ground import Ground
from wayword.cli.judge import Judge
from wayword.cli.objects import ObjectsVerb
from wayword.cli.parse import Parse
from wayword.cli.results import Results
from wayword.cli.studio import StudioVerb
from wayword.cli.teach import Teach
from wayword.cli.train import Train
from wayword.cli.verb_names import quote_plainly, refuse_unknown_verb
from wayword.cli.world import WorldVerb
from wayword.errors import WaywordError

Verb = (
    Annotated[Fly, tyro.conf.subcommand("fly")]
    | Annotated[Eval, tyro.conf.subcommand("eval")]
    | Annotated[StudioVerb, tyro.conf.subcommand("studio")]
    | Annotated[Judge, tyro.conf.subcommand("judge")]
    | Annotated[Parse, tyro.conf.subcommand("parse")]
    | Annotated[Ground, tyro.conf.subcommand("ground")]
    | Annotated[Teach, tyro.conf.subcommand("teach")]
    | Annotated[ObjectsVerb, tyro.conf.subcommand("objects")]
    | Annotated[WorldVerb, tyro.conf.subcommand("world")]
    | Annotated[DataVerb, tyro.conf.subcommand("data")]
    | Annotated[AR, tyro.conf.subcommand("ar")]
    | Annotated[FlightVerb, tyro.conf.subcommand("flight")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
    | Annotated[Results, tyro.conf.subcommand("results")]
)

EVALUATIONS: dict[
    str, type[EvalTable | EvalSwap | EvalVehicles | EvalSides | EvalGoverned | EvalParagraphs | EvalCommands]
] = {
    "table": EvalTable,
    "swap": EvalSwap,
    "vehicles": EvalVehicles,
    "sides": EvalSides,
    "governed": EvalGoverned,
    "paragraphs": EvalParagraphs,
    "commands": EvalCommands,
}
_ABOUT = "Tell a camera drone where to fly in plain language, about things it has never seen."


def run(arguments: list[str]) -> None:
    """Read the options of one verb and run it."""
    read(arguments).run()


def read(arguments: list[str]) -> Any:
    """The verb that a command line names, with its options; it has not run."""
    config = (tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes)
    if arguments[:1] == ["eval"] and arguments[1:2] and arguments[1] in EVALUATIONS:
        name = arguments[1]  # has options of its own, beside those of `wayword eval`
        return tyro.cli(EVALUATIONS[name], prog=f"wayword eval {name}", args=arguments[2:], config=config)
    refuse_unknown_verb(arguments, Verb, {"eval": EVALUATIONS})
    options: dict[str, Any] = {"prog": "wayword", "description": _ABOUT, "config": config}
    if not {"-h", "--help"} & set(arguments):
        _refuse_unquoted(arguments, tyro.cli(Verb, args=arguments, return_unknown_args=True, **options))  # type: ignore[call-overload]
    return tyro.cli(Verb, args=arguments, **options)  # type: ignore[call-overload]


def _refuse_unquoted(arguments: list[str], read: tuple[Any, list[str]]) -> None:
    """Words of an instruction that nobody put in quotes: the first one was read as all of it."""
    verb, left = read
    if not left or any(word.startswith("-") for word in left):
        return
    inner = verb.what if isinstance(verb, FlightVerb) else verb
    if isinstance(inner, (Fly, FlyVehicle, Rehearse, Parse)) and inner.instruction:
        sentence = " ".join([inner.instruction, *left])
        command = " ".join(word for word in arguments[:2] if word in ("fly", "flight", "rehearse", "parse"))
        raise WaywordError(f"put the instruction in quotes: wayword {command} {quote_plainly(sentence)}")
