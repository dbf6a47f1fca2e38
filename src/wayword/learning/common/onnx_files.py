"""Trained networks as .onnx files, which fly without torch."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn


def to_onnx(
    net: nn.Module,
    example: tuple[Tensor, ...],
    inputs: Sequence[str],
    outputs: Sequence[str],
    axes: Mapping[str, Mapping[int, str]],
) -> bytes:
    """A network as the bytes of an .onnx file; ``axes`` names the dimensions of inputs and outputs that are free."""
    buffer: Any = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns about its own successor
        plain = net.eval().to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
        torch.onnx.export(
            plain, example, buffer, dynamo=False, input_names=list(inputs), output_names=list(outputs),
            dynamic_axes={name: dict(value) for name, value in axes.items()}, opset_version=17,
        )  # fmt: skip
    content: bytes = buffer.getvalue()
    return content


def batch_to_onnx(net: nn.Module, shape: tuple[int, ...], outputs: Sequence[str]) -> bytes:
    """A network of one input ``x`` whose first dimension, the batch, is free."""
    axes = {name: {0: "n"} for name in ("x", *outputs)}
    return to_onnx(net, (torch.zeros(shape),), ["x"], outputs, axes)
