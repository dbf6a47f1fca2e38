"""The three networks of the segmentation as torch modules, for training and as the reference of the ONNX files.

    I      (N, 3, 72, 128)   images, colour in [-1, 1]
    I[b]   (N, 3, 32, 32)    crops, colour in [-1, 1]
    grid   (18, 32)          cells of 4 x 4 pixels; cell (i, j) is centred on pixel ((j + 0.5) 4, (i + 0.5) 4)

Batch normalisation is folded into the convolutions at export, so that inference sees convolutions alone.
(The released networks normalise each image by itself, which throws the colour and contrast of a crop away.)
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from wayword.learning.grounding.sizes import MetricSize, ProposalSize, RefineSize

STRIDE = 4
ROWS, COLUMNS = 18, 32


class Block(nn.Sequential):
    """Convolution, batch normalisation, ReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        )


class Residual(nn.Module):
    """x + two convolutions of it."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = Block(channels, channels)
        self.second = nn.Sequential(nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        """The same shape."""
        return functional.relu(x + self.second(self.first(x)))


class ProposalNet(nn.Module):
    """A pyramid down to stride 32 and back up to stride 4: per cell one score and the distances to four sides."""

    def __init__(self, size: ProposalSize | None = None) -> None:
        super().__init__()
        c2, c4, c8, c16, c32 = (size or ProposalSize()).channels
        self.stem = nn.Sequential(Block(3, c2, 3, 2), Block(c2, c4, 3, 2), Residual(c4))
        self.down8 = nn.Sequential(Block(c4, c8, 3, 2), Residual(c8))
        self.down16 = nn.Sequential(Block(c8, c16, 3, 2), Residual(c16))
        self.down32 = nn.Sequential(Block(c16, c32, 3, 2), Residual(c32))
        self.side32, self.side16, self.side8 = Block(c32, c16, 1), Block(c16, c8, 1), Block(c8, c4, 1)
        self.up16, self.up8, self.up4 = Block(c16, c16), Block(c8, c8), Block(c4, c4)
        self.score = nn.Sequential(Block(c4, c4), nn.Conv2d(c4, 1, 1))
        self.sides = nn.Sequential(Block(c4, c4), nn.Conv2d(c4, 4, 1))
        nn.init.constant_(self.score[1].bias, -4.0)  # type: ignore[arg-type]  # objects are rare: start at p = 0.02
        nn.init.constant_(self.sides[1].bias, 1.0)  # type: ignore[arg-type]

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """Score logits (N, 18, 32) and distances left, top, right, bottom (N, 4, 18, 32) in pixels."""
        x4 = self.stem(image)
        x8 = functional.pad(self.down8(x4), (0, 0, 0, 3))  # 12 rows instead of 9: strides 16 and 32 divide them
        x16 = self.down16(x8)
        x32 = self.down32(x16)
        y16 = self.up16(x16 + _double(self.side32(x32)))
        y8 = self.up8(x8 + _double(self.side16(y16)))
        y4 = self.up4(x4 + _double(self.side8(y8[:, :, : ROWS // 2])))
        logits = self.score(y4)[:, 0]
        sides = STRIDE * torch.exp(self.sides(y4).clamp(-4.0, 4.0))
        return logits, sides


class MetricNet(nn.Module):
    """ImgEmb: a crop to a unit vector; every stage is pooled, so that colour, texture and shape all count."""

    def __init__(self, size: MetricSize | None = None) -> None:
        super().__init__()
        size = size or MetricSize()
        c1, c2, c3 = size.channels
        self.stage1 = nn.Sequential(Block(3, c1, 5, 2), Residual(c1))
        self.stage2 = nn.Sequential(Block(c1, c2, 3, 2), Residual(c2))
        self.stage3 = nn.Sequential(Block(c2, c3, 3, 2), Residual(c3))
        self.unit = size.unit
        self.look = nn.Conv2d(c3, 1, 1)
        self.flat = nn.Conv2d(c3, 12, 1)
        self.head = nn.Linear(c1 + c2 + c3 + 12 * 16, size.dimension)

    def forward(self, crop: Tensor) -> Tensor:
        """Unit vectors (N, D)."""
        x1 = self.stage1(crop)
        x2 = self.stage2(x1)
        x3 = self.stage3(x2)
        weight = torch.sigmoid(self.look(x3))  # (N, 1, 4, 4): where the object is, learned without a mask
        pooled = [_weighted_mean(x, weight, 4 << level) for x, level in ((x1, 2), (x2, 1), (x3, 0))]
        features = torch.cat([*pooled, self.flat(x3).flatten(1)], dim=1)
        x: Tensor = self.head(features)
        return functional.normalize(x, dim=1) if self.unit else x


class RefineNet(nn.Module):
    """U-Net from a crop to the mask of its most prominent object; the last doubling is a pixel shuffle."""

    def __init__(self, size: RefineSize | None = None) -> None:
        super().__init__()
        c16, c8, c4 = (size or RefineSize()).channels
        self.down16 = nn.Sequential(Block(3, c16, 5, 2), Block(c16, c16))
        self.down8 = nn.Sequential(Block(c16, c8, 3, 2), Block(c8, c8))
        self.down4 = nn.Sequential(Block(c8, c4, 3, 2), Block(c4, c4))
        self.side4, self.side8 = Block(c4, c8, 1), Block(c8, c16, 1)
        self.up8, self.up16 = Block(c8, c8), Block(c16, c16)
        self.head = nn.Conv2d(c16, 4, 3, 1, 1)

    def forward(self, crop: Tensor) -> Tensor:
        """Mask logits (N, 32, 32)."""
        x16 = self.down16(crop)
        x8 = self.down8(x16)
        x4 = self.down4(x8)
        y8 = self.up8(x8 + _double(self.side4(x4)))
        y16 = self.up16(x16 + _double(self.side8(y8)))
        return functional.pixel_shuffle(self.head(y16), 2)[:, 0]


def _double(x: Tensor) -> Tensor:
    return functional.interpolate(x, scale_factor=2.0, mode="nearest")


def _weighted_mean(x: Tensor, weight: Tensor, cells: int) -> Tensor:
    """Mean of x (N, C, cells, cells) under weights (N, 1, 4, 4) -> (N, C)."""
    pooled = functional.avg_pool2d(x, cells // 4) if cells > 4 else x
    return (pooled * weight).sum((2, 3)) / (weight.sum((2, 3)) + 1e-3)
