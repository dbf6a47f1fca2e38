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
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from wayword.io import atomic_path
from wayword.learning.policy.dataset import Item
from wayword.learning.policy.executions import Execution, read_executions, write_executions


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
        with safe_open(self.stage1, "pt") as file:
            step = int((file.metadata() or {}).get("step", 0))
        if step == self._sent_at:
            return None
        self._sent_at = step
        return load_file(self.stage1), step

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
            numbers = json.loads(path.read_text(encoding="utf-8"))
            for number, execution in zip(numbers, read_executions(path.with_suffix(".safetensors")), strict=True):
                items[number] = replace(items[number], execution=execution)
            newest = max(newest, iteration)
        return newest
