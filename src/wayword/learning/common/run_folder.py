"""A training's folder: where its checkpoint is, how long it has run, and its log.

checkpoint.safetensors   written by whoever trains, atomically
log.csv                  step, minutes, name, value; the same numbers for TensorBoard beside it
"""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from wayword.learning.common.board import Board


class RunFolder:
    """What every training keeps of itself."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.step = folder, 0
        self._spent, self._begun = 0.0, time.monotonic()
        self._board = Board(folder)
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def checkpoint(self) -> Path:
        """Where the state is kept."""
        return self.folder / "checkpoint.safetensors"

    @property
    def seconds(self) -> float:
        """Time spent so far, over all parts of an interrupted run."""
        return self._spent + time.monotonic() - self._begun

    def write_log(self, numbers: Mapping[str, float]) -> None:
        """Add a row of ``log.csv`` for each number."""
        path = self.folder / "log.csv"
        new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(["step", "minutes", "name", "value"])
            writer.writerows([self.step, f"{self.seconds / 60:.2f}", k, f"{v:.6g}"] for k, v in numbers.items())
        self._board.add(self.step, numbers)


def below(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names start with ``prefix``, without it."""
    return {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}
