"""The ``wayword`` command: one verb per job.

Each verb is a frozen dataclass whose fields are its options and whose ``run`` does the job. Modules are
imported when a verb runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

from typing import Annotated

import tyro

from wayword.cli.ar import AR
from wayword.cli.bench import Bench
from wayword.cli.data import Data
from wayword.cli.eval_conditions import EvalSides, EvalVehicles
from wayword.cli.eval_governed import EvalGoverned
from wayword.cli.eval_swap import EvalSwap
from wayword.cli.eval_table import EvalTable
from wayword.cli.evaluate import Eval
from wayword.cli.flight import Flight
from wayword.cli.fly import Fly
from wayword.cli.ground import Ground
from wayword.cli.judge import Judge
from wayword.cli.objects import Objects
from wayword.cli.parse import Parse
from wayword.cli.results import Results
from wayword.cli.studio import Studio
from wayword.cli.teach import Teach
from wayword.cli.train import Train
from wayword.cli.world import World

Verb = (
    Annotated[Fly, tyro.conf.subcommand("fly")]
    | Annotated[Eval, tyro.conf.subcommand("eval")]
    | Annotated[Studio, tyro.conf.subcommand("studio")]
    | Annotated[Judge, tyro.conf.subcommand("judge")]
    | Annotated[Parse, tyro.conf.subcommand("parse")]
    | Annotated[Ground, tyro.conf.subcommand("ground")]
    | Annotated[Teach, tyro.conf.subcommand("teach")]
    | Annotated[Objects, tyro.conf.subcommand("objects")]
    | Annotated[World, tyro.conf.subcommand("world")]
    | Annotated[Data, tyro.conf.subcommand("data")]
    | Annotated[AR, tyro.conf.subcommand("ar")]
    | Annotated[Flight, tyro.conf.subcommand("flight")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
    | Annotated[Results, tyro.conf.subcommand("results")]
)

_EVALUATIONS: dict[str, type[EvalTable | EvalSwap | EvalVehicles | EvalSides | EvalGoverned]] = {
    "table": EvalTable,
    "swap": EvalSwap,
    "vehicles": EvalVehicles,
    "sides": EvalSides,
    "governed": EvalGoverned,
}
_ABOUT = "Tell a camera drone where to fly in plain language, about things it has never seen."


def run(arguments: list[str]) -> None:
    """Read the options of one verb and run it."""
    config = (tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes)
    if arguments[:1] == ["eval"] and arguments[1:2] and arguments[1] in _EVALUATIONS:
        name = arguments[1]  # has options of its own, beside those of `wayword eval`
        tyro.cli(_EVALUATIONS[name], prog=f"wayword eval {name}", args=arguments[2:], config=config).run()
        return
    verb = tyro.cli(Verb, prog="wayword", description=_ABOUT, args=arguments, config=config)  # type: ignore[call-overload]
    verb.run()
