"""What the verbs of training say: their settings, the part they are at, and data that are not those of --config."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword.cli.common import console, say_aside

if TYPE_CHECKING:
    from wayword.learning.common.train_config import TrainConfig


def show_settings(training: str, config: Any) -> None:
    """Settings as a file for --config."""
    from wayword.learning.common.train_config import describe

    print(json.dumps(describe(training, config).as_json(), indent=2))


def announce_part(part: str) -> None:
    """A part begins."""
    console.print(f"[bold]{part}")


def warn_of_other_data(run: TrainConfig, config: Path | None) -> None:
    """Say which data of a run are not those that ``config`` was made with."""
    from wayword.learning.common.train_config import read_train_config

    if config is not None:
        for name in run.other_data(read_train_config(config)):
            say_aside(f"{name} is not what {config} was made with; the weights will be others")
