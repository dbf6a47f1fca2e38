"""TensorBoard beside the log: the same numbers as curves, if TensorBoard is installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Board:
    """Writes scalars below ``folder/tensorboard``; does nothing without the package."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer: Any = None
        self._tried = False

    def add(self, step: int, numbers: Mapping[str, float]) -> None:
        """One point on each curve."""
        if not self._tried:
            self._tried = True  # on first use: runs that only read a checkpoint leave no empty event file behind
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                return
            self._writer = SummaryWriter(str(self._folder / "tensorboard"))  # type: ignore[no-untyped-call]
        if self._writer is not None:
            for name, value in numbers.items():
                self._writer.add_scalar(name.replace(" ", "/"), value, step)
