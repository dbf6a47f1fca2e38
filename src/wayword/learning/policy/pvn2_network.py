"""PVN2's stage 1: from pictures and a whole instruction to visitation distributions, end to end.

The predecessor of FsPVN (Blukis et al. 2019; the baselines PVN2-SEEN and PVN2-ALL of Section 7). It has no database and
no segmentation: what objects look like and what they are called is learned from instructions and demonstrations.

    I        (F, 72, 128, 3)   pictures, bytes
    F        (F, C, 18, 32)    features: a ResNet's, at a quarter of the resolution
    P        (F, 6)            poses of the pictures
    S        (N, C, 64, 64)    semantic map: projected features, integrated, from where the instruction was given
    h        (N, H)            instruction, its words as they are
    R        (N, 3, G, G)      grounding map: S filtered by a 1 x 1 kernel made from h
    others   (N, 5, 64, 64)    observability, four boundaries
    d^p, d^g (N, 2, 4097)      logits over the cells of the prediction grid and "not yet observed"

What differs from the release, and why:
- ResNet: the first convolution halves the picture and is 16 channels wide, and 5 residual blocks follow; the release
  has 6 of 32 channels, which begin at full resolution. So 50 M multiplications per picture, which two cores can train.
- Group normalisation instead of instance normalisation: the latter blows up the noise of a picture without objects.
  For the same reason R has none.
- LingUNet and the text encoder are those of FsPVN at the same size, so that the table compares ways of grounding and
  not sizes. The mean state of a bi-directional LSTM stands for the instruction, not the last one of a one-way LSTM.
- One simulated world: no second ResNet for real pictures, and nothing that keeps the two alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from wayword.camera import Camera
from wayword.learning.policy.networks import LingUNet, TextEncoder
from wayword.learning.policy.sizes import ImageSize, Size
from wayword.mapping.differentiable import project_features
from wayword.mapping.feature_map import LEAK, LEAST_VIEW, feature_camera
from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, WORLD_CELLS, prediction_centres, to_world
from wayword.policy.pvn2 import PLAIN_CHANNELS


class ImageFeatures(nn.Module):
    """A small ResNet."""

    def __init__(self, size: ImageSize) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, size.stem, 5, stride=2, padding=2),
            nn.GroupNorm(4, size.stem),
            nn.LeakyReLU(),
            _Residual(size.stem, size.stem),
            _Residual(size.stem, size.features, stride=2),
            *(_Residual(size.features, size.features) for _ in range(size.blocks)),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Features (F, C, 18, 32) of pictures (F, 72, 128, 3)."""
        # Channels first in memory: with few of them last, the gradient of a 1 x 1 convolution of stride 2, such as the
        # shortcut's, writes beyond its array on CPUs (torch 2.13, Conv2d(4, 8, 1, stride=2)) and the process crashes.
        pixels = images.permute(0, 3, 1, 2).contiguous().float()
        result: Tensor = self.layers(pixels / 127.5 - 1.0)
        return result


class _Residual(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
            nn.GroupNorm(4, outputs),
            nn.LeakyReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.GroupNorm(4, outputs),
        )
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return functional.leaky_relu(self.layers(x) + self.shortcut(x))


class GroundingFilter(nn.Module):
    """R: what of the semantic map the instruction speaks of, cell by cell."""

    def __init__(self, text: int, inputs: int, outputs: int) -> None:
        super().__init__()
        self.kernel, self.inputs = nn.Linear(text, inputs * outputs), inputs
        self.outputs = outputs

    def forward(self, vectors: Tensor, text: Tensor) -> Tensor:
        """Of vectors (N, C, K) at K places: (N, 3, K). Weights are gated by a sigmoid and of unit length as a whole."""
        weights = functional.normalize(torch.sigmoid(self.kernel(text)), dim=1)
        return functional.leaky_relu(weights.reshape(-1, self.outputs, self.inputs) @ vectors)


class Pvn2Stage1(nn.Module):
    """Text encoder, ResNet, grounding filter and LingUNet."""

    def __init__(self, vocabulary: int, size: Size, image: ImageSize) -> None:
        super().__init__()
        self.size, self.image_size, self.width = size, image, 2 * size.hidden
        self.text = TextEncoder(vocabulary, size)
        self.image = ImageFeatures(image)
        self.grounding = GroundingFilter(self.width, image.features, image.grounded)
        self.lingunet = LingUNet(size, image.features + image.grounded + PLAIN_CHANNELS)
        self.dropout = nn.Dropout(size.dropout)

    def read(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """h (N, H) of padded instructions (N, L)."""
        result: Tensor = self.dropout(self.text(tokens, lengths)[1])
        return result

    def forward(self, text: Tensor, semantic: Tensor, others: Tensor) -> Tensor:
        """Logits (N, 2, 4097) from h, S and others."""
        grid = self.size.grid
        if (shrink := PREDICTION_CELLS // grid) > 1:
            semantic, others = functional.avg_pool2d(semantic, shrink), functional.avg_pool2d(others, shrink)
        grounded = self.grounding(semantic.flatten(2), text).reshape(-1, self.image_size.grounded, grid, grid)
        result: Tensor = self.lingunet(torch.cat([semantic, grounded, others], dim=1), text)
        return result


def project_frames(features: Tensor, poses: Tensor, camera: Camera) -> Tensor:
    """Features (F, C, h, w) of frames on the world grid, and o behind them: (F, C + 1, 32, 32)."""
    layers = torch.cat([features, torch.ones_like(features[:, :1])], dim=1)
    coarse = feature_camera(camera, *features.shape[2:])
    return torch.stack([project_features(each, pose, coarse) for each, pose in zip(layers, poses, strict=True)])


def integrate(ground: Tensor, moments: Sequence[int], rate: float = LEAK) -> tuple[Tensor, Tensor]:
    """S^W (M, C, 32, 32) of one flight at each of its frames ``moments``, and which cells were in view (M, 32, 32).

    ``ground`` (T, C + 1, 32, 32) is what ``project_frames`` makes of its frames. The same recursion as ``FeatureMap``.
    """
    sums, after = torch.zeros_like(ground[0]), []
    for frame in ground[: max(moments) + 1]:
        sums = sums + rate * (frame - frame[-1:] * sums)
        after.append(sums)
    states = torch.stack([after[moment] for moment in moments])
    views = states[:, -1:]
    return torch.where(views > LEAST_VIEW, states[:, :-1] / views.clamp(min=LEAST_VIEW), 0.0), views[:, 0] > LEAST_VIEW


def seen_from(maps: Tensor, start: NDArray[np.float64]) -> Tensor:
    """Maps (M, C, 32, 32) on the world grid as (M, C, 64, 64) on the prediction grid of ``start`` (x, y, yaw)."""
    # In [-1, 1] from border to border of the arena, as grid_sample counts.
    where = to_world(prediction_centres(), start) * (2 / (WORLD_CELLS * CELL_M)) - 1
    grid = torch.as_tensor(where, dtype=maps.dtype, device=maps.device).expand(len(maps), -1, -1, -1)
    return functional.grid_sample(maps, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
