"""Writes a trained PVN2 as a folder of weights: model.safetensors, four .onnx files, config.json, control.json.

Beside them train_config.json says how they were made. ``wayword.policy.pvn2`` flies them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from wayword.errors import DataError
from wayword.io import atomic_path, write_json
from wayword.learning.common.onnx_files import to_onnx
from wayword.learning.common.tensor_files import read_torch
from wayword.learning.policy.export import load_vocabulary, progress_of
from wayword.learning.policy.pvn2_network import Pvn2Stage1
from wayword.learning.policy.pvn2_train import Pvn2Training
from wayword.mapping.grid import PREDICTION_CELLS
from wayword.policy.control import Control
from wayword.policy.pvn2 import NETWORK, PLAIN_CHANNELS, PVN2_SCHEMA
from wayword.policy.tokens import Vocabulary
from wayword.task import IMAGE_HEIGHT, IMAGE_WIDTH
from wayword.weight_folder import content_digest


class _Words(nn.Module):
    def __init__(self, net: Pvn2Stage1) -> None:
        super().__init__()
        self.text = net.text

    def forward(self, tokens: Tensor) -> Tensor:
        return self.text.single(tokens)[1]


class _Distributions(nn.Module):
    def __init__(self, net: Pvn2Stage1) -> None:
        super().__init__()
        self.net = net

    def forward(self, text: Tensor, semantic: Tensor, others: Tensor) -> Tensor:
        return torch.softmax(self.net(text, semantic, others), dim=2)


def save_pvn2(
    folder: Path, net: Pvn2Stage1, vocabulary: Vocabulary, config: Pvn2Training, control: Path, about: Mapping[str, Any]
) -> None:
    """Write everything; ``control`` is a folder of weights, or a run of stage 2, whose stage 2 flies.

    ``about`` says what the weights were trained on, for the reader.
    """
    Control.load(control)  # before anything is written
    net.eval()
    tensors = {f"stage1.{name}": value for name, value in net.state_dict().items()}
    tensors |= {
        f"control.{name}": value
        for name, value in read_torch(control / "model.safetensors", "choose another --control", "control.").items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / "model.safetensors") as temporary:
        save_file({name: value.detach().clone().contiguous() for name, value in tensors.items()}, temporary)
    files = _networks(net)
    for name in ("control.onnx", "control.json"):
        _write_bytes(folder / name, (control / name).read_bytes())
    for name, content in files.items():
        _write_bytes(folder / name, content)
    saved = {
        "schema": PVN2_SCHEMA,
        "network": NETWORK,
        "objects": config.objects,
        "size": asdict(config.size),
        "image": asdict(config.image),
        "vocabulary": list(vocabulary.words),
        "sha256": {name: content_digest(content) for name, content in files.items()},
        "about": dict(about),
    }
    write_json(folder / "config.json", saved)  # last: it is what makes the folder valid


def _networks(net: Pvn2Stage1) -> dict[str, bytes]:
    cells = (PREDICTION_CELLS, PREDICTION_CELLS)
    text = to_onnx(
        _Words(net), (torch.ones(1, 5, dtype=torch.int64),), ["tokens"], ["text"], {"tokens": {1: "l"}}
    )  # fmt: skip
    pictures = torch.zeros(2, IMAGE_HEIGHT, IMAGE_WIDTH, 3, dtype=torch.uint8)
    image = to_onnx(
        net.image, (pictures,), ["images"], ["features"], {name: {0: "n"} for name in ("images", "features")}
    )
    inputs = ["text", "semantic", "others"]
    shapes = [(2, net.width), (2, net.image_size.features, *cells), (2, PLAIN_CHANNELS, *cells)]
    visitation = to_onnx(
        _Distributions(net), tuple(torch.zeros(shape) for shape in shapes), inputs, ["distributions"],
        {name: {0: "n"} for name in (*inputs, "distributions")},
    )  # fmt: skip
    return {"text.onnx": text, "image.onnx": image, "visitation.onnx": visitation}


def _write_bytes(path: Path, content: bytes) -> None:
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def export_pvn2(run: Path, config: Pvn2Training, control: Path, out: Path) -> None:
    """Weights from a run of stage 1."""
    vocabulary, path = load_vocabulary(run / "vocabulary.json"), run / "checkpoint.safetensors"
    net = Pvn2Stage1(len(vocabulary), config.size, config.image)
    try:
        net.load_state_dict(read_torch(path, "train PVN2 first", "averaged."))
    except RuntimeError as error:
        raise DataError(path, "is of another network; train PVN2 with the same settings") from error
    save_pvn2(out, net, vocabulary, config, control, {"stage1": progress_of(run), "stage2": control.name})
