"""The control network (Appendix B) and the value network of the same design, in torch.

inputs    (N, size)   image (C, 16, 16), masks (2, 16, 16) and summary (S,), as ``wayword.policy.control`` packs them
trunk     (N, hidden) two convolutional branches, flattened, joined and followed by two dense layers
outputs   (N, 5)      mean v, standard deviation v, mean omega, standard deviation omega, stop logit
value     (N,)

v and omega are in units of their limits, 0.7 m/s and 1 rad/s. Actor and critic share no weights.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from wayword.learning.policy.sizes import ControlSize
from wayword.policy.control import CROP, SUMMARY, ControlConfig


class Trunk(nn.Module):
    """What actor and critic have in common in design."""

    def __init__(self, config: ControlConfig, size: ControlSize) -> None:
        super().__init__()
        self.config, self.size = config, size
        self.image = _branch(config.channels, size.channels, size.normalise)
        self.masks = _branch(2, size.mask_channels, size.normalise)
        joined = (size.channels + size.mask_channels) * (CROP // 2) ** 2 + (SUMMARY if config.summary else 0)
        self.first = nn.Linear(joined, size.hidden)
        self.second = nn.Linear(joined + size.hidden, size.hidden)

    def forward(self, inputs: Tensor) -> Tensor:
        """Features (N, hidden)."""
        area, channels = CROP * CROP, self.config.channels
        image, masks, summary = torch.split(
            inputs, [channels * area, 2 * area, inputs.shape[1] - (channels + 2) * area], dim=1
        )
        joined = torch.cat(
            [
                self.image(image.reshape(-1, channels, CROP, CROP)).flatten(1),
                self.masks(masks.reshape(-1, 2, CROP, CROP)).flatten(1),
                summary,
            ],
            dim=1,
        )
        first = functional.leaky_relu(self.first(joined))
        return functional.leaky_relu(self.second(torch.cat([joined, first], dim=1)))


class ControlNet(nn.Module):
    """Stage 2: inputs (N, size) to outputs (N, 5)."""

    def __init__(self, config: ControlConfig | None = None, size: ControlSize | None = None) -> None:
        super().__init__()
        size = size or ControlSize()
        self.trunk = Trunk(config or ControlConfig(), size)
        self.head = nn.Linear(size.hidden, 5)
        spread = float(torch.log(torch.expm1(torch.tensor(size.start_std))))  # softplus(spread) = start_std
        with torch.no_grad():
            self.head.weight *= 0.1
            # Fly on at half speed: an untrained policy that stops at once would never see anything.
            self.head.bias.copy_(torch.tensor([0.5, spread, 0.0, spread, -3.0]))

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs (N, 5)."""
        raw = self.head(self.trunk(inputs))
        v, spread_v, omega, spread_omega, stop = raw.split(1, dim=1)
        return torch.cat(
            [v, functional.softplus(spread_v) + 1e-3, omega, functional.softplus(spread_omega) + 1e-3, stop], dim=1
        )


class ValueNet(nn.Module):
    """The value function V: inputs (N, size) to expected returns (N,)."""

    def __init__(self, config: ControlConfig | None = None, size: ControlSize | None = None) -> None:
        super().__init__()
        size = size or ControlSize()
        self.trunk = Trunk(config or ControlConfig(), size)
        self.head = nn.Linear(size.hidden, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        """Values (N,)."""
        value: Tensor = self.head(self.trunk(inputs)).squeeze(1)
        return value


def _branch(channels: int, width: int, normalise: bool) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Conv2d(channels, width, 3, stride=2, padding=1), nn.LeakyReLU()]
    if normalise:
        layers.append(nn.InstanceNorm2d(width))
    return nn.Sequential(*layers)
