"""Writes trained networks as a folder of weights: model.safetensors, three .onnx files, config.json.

The .onnx files hold plain convolutions: batch normalisation is folded into the convolution before it, which
changes results only by rounding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import nn

from wayword.errors import DataError
from wayword.grounding.weight_files import SCHEMA, GroundingConfig
from wayword.io import atomic_path, write_json
from wayword.learning.common.onnx_files import batch_to_onnx
from wayword.learning.common.tensor_files import read_torch
from wayword.learning.grounding.networks import MetricNet, ProposalNet, RefineNet
from wayword.learning.grounding.sizes import MetricSize, ProposalSize, RefineSize, read_sizes
from wayword.task import IMAGE_HEIGHT, IMAGE_WIDTH

_INPUTS = {"proposals": (1, 3, IMAGE_HEIGHT, IMAGE_WIDTH), "metric": (1, 3, 32, 32), "refine": (1, 3, 32, 32)}
_OUTPUTS = {"proposals": ["logits", "sides"], "metric": ["embedding"], "refine": ["logits"]}


@dataclass(frozen=True)
class Nets:
    """The three trained networks, ready to answer."""

    proposals: ProposalNet
    metric: MetricNet
    refine: RefineNet

    def items(self) -> dict[str, nn.Module]:
        """By name."""
        return {"proposals": self.proposals, "metric": self.metric, "refine": self.refine}


def save_weights(
    folder: Path,
    nets: Nets,
    sizes: tuple[ProposalSize, MetricSize, RefineSize],
    config: GroundingConfig,
    about: Mapping[str, Any],
) -> None:
    """Write everything; ``about`` says what the weights were trained and fitted on, for the reader."""
    tensors = {
        f"{part}.{name}": value.detach().clone().contiguous()
        for part, net in nets.items().items()
        for name, value in net.state_dict().items()
    }
    with atomic_path(folder / "model.safetensors") as temporary:
        save_file(tensors, temporary)
    hashes = {}
    for part, net in nets.items().items():
        content = batch_to_onnx(net, _INPUTS[part], _OUTPUTS[part])
        with atomic_path(folder / f"{part}.onnx") as temporary:
            temporary.write_bytes(content)
        hashes[f"{part}.onnx"] = hashlib.sha256(content).hexdigest()
    saved = {
        "schema": SCHEMA,
        **asdict(config),
        "sizes": dict(zip(_INPUTS, (asdict(size) for size in sizes), strict=True)),
        "sha256": hashes,
        "about": dict(about),
    }
    write_json(folder / "config.json", saved)  # last: it is what makes the folder valid


def load_nets(weights: Path) -> tuple[Nets, tuple[ProposalSize, MetricSize, RefineSize]]:
    """The torch networks of a folder of weights."""
    sizes = read_sizes(weights)
    path = weights / "model.safetensors"
    try:
        nets = Nets(ProposalNet(sizes.proposals), MetricNet(sizes.metric), RefineNet(sizes.refine))
        tensors = read_torch(path, "train again")
        for part, net in nets.items().items():
            own = {name[len(part) + 1 :]: value for name, value in tensors.items() if name.startswith(f"{part}.")}
            net.load_state_dict(own)
            net.eval()
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise DataError(path, "is damaged or does not fit its config.json; train again") from error
    return nets, (sizes.proposals, sizes.metric, sizes.refine)


def begin_from(weights: Path | None, part: str, net: nn.Module) -> None:
    """Give a network the same part of ``weights`` to train on from; nothing if there are none."""
    if weights is None:
        return
    nets, _ = load_nets(weights)
    try:
        net.load_state_dict(nets.items()[part].state_dict())
    except RuntimeError as error:
        raise DataError(weights, f"holds {part} of another size; train without --start") from error
