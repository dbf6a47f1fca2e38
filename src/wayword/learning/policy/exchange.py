"""How SuReAL's two learners speak: through a folder of files, each written atomically.

stage1.safetensors          from A: the newest parameters of stage 1
executions-*.safetensors    from B: what was seen on the flights of an iteration ...
executions-*.json           ... and which instructions they belong to; last, so that it makes the pair complete
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import save_file

from wayword.errors import DataError
from wayword.guarded import read_json
from wayword.io import atomic_path
from wayword.learning.common.tensor_files import read_header, read_torch
from wayword.learning.policy.dataset import Item
from wayword.learning.policy.executions import Execution, read_executions, write_executions

_REMEDY = "delete the folder exchange to begin it anew"


class Exchange:
    """The folder through which the processes speak."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._sent_at = 0

    @property
    def stage1(self) -> Path:
        """The newest parameters of stage 1."""
        return self.folder / "stage1.safetensors"

    def send_parameters(self, state: dict[str, torch.Tensor], step: int) -> None:
        """Line 8 of Algorithm 1."""
        with atomic_path(self.stage1) as temporary:
            save_file({k: v.detach().clone().contiguous() for k, v in state.items()}, temporary, {"step": str(step)})

    def newest_parameters(self) -> tuple[dict[str, torch.Tensor], int] | None:
        """Line 3 of Algorithm 2; None if nothing new was sent."""
        if not self.stage1.exists():
            return None
        try:
            step = int(read_header(self.stage1, _REMEDY).texts.get("step", 0))
        except ValueError as error:
            raise DataError(self.stage1, f"does not say its step; {_REMEDY}") from error
        if step == self._sent_at:
            return None
        self._sent_at = step
        return read_torch(self.stage1, _REMEDY), step

    def send_executions(self, iteration: int, numbers: list[int], executions: list[Execution]) -> None:
        """Line 13 of Algorithm 2: numbers say which instruction each execution belongs to."""
        write_executions(self.folder / f"executions-{iteration:06d}.safetensors", executions)
        with atomic_path(self.folder / f"executions-{iteration:06d}.json") as temporary:
            temporary.write_text(json.dumps(numbers), encoding="utf-8")  # last: it makes the pair complete

    def merge(self, items: list[Item], after: int, last: float = math.inf) -> int:
        """Merge(D, E) with the executions sent after iteration ``after``, up to ``last``; the newest iteration."""
        newest = after
        for path in sorted(self.folder.glob("executions-*.json")):
            iteration = int(re.sub(r"\D", "", path.stem))
            if not after < iteration <= last:
                continue
            numbers, executions = read_json(path, remedy=_REMEDY), read_executions(path.with_suffix(".safetensors"))
            try:
                for number, execution in zip(numbers, executions, strict=True):
                    items[number] = replace(items[number], execution=execution)
            except (TypeError, ValueError, IndexError) as error:
                raise DataError(path, f"does not fit its executions; {_REMEDY}") from error
            newest = max(newest, iteration)
        return newest
