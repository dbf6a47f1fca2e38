"""Writes a trained policy as a folder of weights: model.safetensors, three .onnx files, config.json, control.json.

Beside them train_config.json says how they were made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from wayword.errors import DataError
from wayword.guarded import read_json
from wayword.io import atomic_path, write_json
from wayword.language.minilm import WIDTH
from wayword.learning.common.onnx_files import to_onnx
from wayword.learning.common.tensor_files import read_state, read_torch
from wayword.learning.common.train_config import TrainConfig, joined
from wayword.learning.policy.networks import Stage1
from wayword.learning.policy.sizes import Size
from wayword.mapping.context_map import OTHER_CHANNELS
from wayword.mapping.grid import PREDICTION_CELLS
from wayword.policy.stage1 import SCHEMA
from wayword.policy.tokens import Vocabulary


class _Text(nn.Module):
    def __init__(self, net: Stage1) -> None:
        super().__init__()
        self.net = net

    def forward(self, tokens: Tensor, encoded: Tensor) -> tuple[Tensor, Tensor]:
        return self.net.single(tokens, encoded)


class _Visitation(nn.Module):
    def __init__(self, net: Stage1) -> None:
        super().__init__()
        self.net = net

    def forward(self, psi: Tensor, mean: Tensor, references: Tensor, others: Tensor) -> Tensor:
        return torch.softmax(self.net(psi, mean, references, others), dim=2)


def save_policy(
    folder: Path, stage1: Stage1, vocabulary: Vocabulary, size: Size, control: Path, about: Mapping[str, Any]
) -> None:
    """Write everything; ``control`` is a folder that ``ControlRun.export`` wrote.

    ``about`` says what the weights were trained on, for the reader.
    """
    stage1.eval()
    tensors = {f"stage1.{name}": value for name, value in stage1.state_dict().items()}
    tensors |= {
        f"control.{name}": value
        for name, value in read_torch(control / "model.safetensors", "train stage 2 first", "control.").items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / "model.safetensors") as temporary:
        save_file({name: value.detach().clone().contiguous() for name, value in tensors.items()}, temporary)
    hashes = {name: _write(folder / name, content) for name, content in _contents(stage1, size).items()}
    for name in ("control.onnx", "control.json"):
        _write(folder / name, (control / name).read_bytes())
    saved = {
        "schema": SCHEMA,
        "size": asdict(size),
        "vocabulary": list(vocabulary.words),
        "sha256": hashes,
        "about": dict(about),
    }
    write_json(folder / "config.json", saved)  # last: it is what makes the folder valid


def _contents(stage1: Stage1, size: Size) -> dict[str, bytes]:
    cells = PREDICTION_CELLS
    # Without an encoder its input has no use, and the exporter leaves it out.
    text = to_onnx(
        _Text(stage1), (torch.ones(1, 5, dtype=torch.int64), torch.zeros(1, 5, WIDTH)),
        ["tokens", "encoded"], ["states", "mean"],
        {"tokens": {1: "l"}, "states": {1: "l"}, **({"encoded": {1: "l"}} if size.encoded else {})},
    )  # fmt: skip
    inputs = ["psi", "mean", "references", "others"]
    axes: dict[str, dict[int, str]] = {name: {0: "n"} for name in (*inputs, "distributions")}
    axes["psi"][1] = axes["references"][1] = "r"
    shapes = [(2, 3, size.context), (2, size.summary), (2, 3, cells, cells), (2, OTHER_CHANNELS, cells, cells)]
    example = tuple(torch.zeros(shape) for shape in shapes)
    visitation = to_onnx(_Visitation(stage1), example, inputs, ["distributions"], axes)
    return {"text.onnx": text, "visitation.onnx": visitation}


def _write(path: Path, content: bytes) -> str:
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def load_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary of a training run."""
    try:
        return Vocabulary(tuple(json.loads(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(path, "is missing or damaged; train stage 1 first") from error


def export_runs(first: Path, stage1: Path, stage2: Path, out: Path, record: TrainConfig | None = None) -> None:
    """Weights from a run of stage 1 (or process A) and one of stage 2 (or process B).

    ``first`` is the run of ``train_visitation`` that the vocabulary and the size of stage 1 come from. ``record`` is
    what the weights keep as train_config.json: by default the chain of these runs.
    """
    from wayword.learning.policy.sureal import averaged_of

    vocabulary, size = load_vocabulary(first / "vocabulary.json"), load_size(first)
    net = Stage1(len(vocabulary), size)
    net.load_state_dict(averaged_of(stage1))
    about: dict[str, Any] = {"stage1": progress_of(stage1), "stage2": progress_of(stage2)}
    if stage1 != first:
        about["stage1 before"] = progress_of(first)
    if (first / "start.json").exists():
        about["started from"] = read_json(first / "start.json")
    (record or joined("policy/export", stage1=stage1, stage2=stage2)).keep(out)
    save_policy(out, net, vocabulary, size, stage2, about)


def progress_of(folder: Path) -> dict[str, float]:
    """Steps and minutes of a run."""
    state = read_state(folder / "checkpoint.safetensors", "train this stage first")
    return {
        name: round(float(state[key]) / (60 if key == "seconds" else 1), 1)
        for name, key in (("steps", "step"), ("minutes", "seconds"), ("frames", "frames"))
        if key in state
    }


def load_size(folder: Path) -> Size:
    """The size that ``train_visitation`` wrote beside its checkpoint."""
    path, remedy = folder / "size.json", "train stage 1 first"
    try:
        return Size(**read_json(path, remedy=remedy))
    except TypeError as error:
        raise DataError(path, f"does not say the size of a stage 1; {remedy}") from error
