"""Sizes of the policy's networks; without PyTorch, so that the command line can show them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """Layer sizes of stage 1."""

    words: int = 48
    """Width of word vectors."""
    hidden: int = 32
    """Width of the LSTM in each direction; psi and h_hat are twice as wide."""
    grid: int = 32
    """Cells per side inside LingUNet: 64 as released, 32 for the fast one."""
    levels: int = 4
    channels: int = 32
    """hc1: width of the feature maps on the way down."""
    filtered: int = 16
    """hb1: width of the text-filtered maps."""
    last: int = 32
    """hc2: width of the last map before the output."""
    skip: bool = True
    """A text-filtered map at full resolution joins before the output (not in the paper)."""
    positions: bool = True
    """Channels with each cell's place relative to the start (not in the paper)."""
    dropout: float = 0.1
    """Of word vectors and states while training."""
    encoded: int = 0
    """Width that MiniLM's states of every word are brought to, beside its own vector; 0: none (not in the paper)."""
    layers: int = 1
    """Layers of the LSTM."""
    queries: int = 0
    """Summaries of an instruction beside the mean of its states, means that weigh words by learned queries (not in the
    paper)."""
    members: int = 1
    """Networks that answer together, each trained on its own loss (not in the paper)."""

    @staticmethod
    def paper() -> Size:
        """As released: 64 x 64, five levels, 256 channels in the last block."""
        return Size(20, 20, 64, 5, 48, 24, 256, skip=False, positions=False, dropout=0.0)

    @property
    def member_context(self) -> int:
        """Width of psi(r) and h_hat of one member."""
        return 2 * self.hidden

    @property
    def member_summary(self) -> int:
        """Width of h_hat of one member."""
        return self.member_context * (1 + self.queries)

    @property
    def context(self) -> int:
        """Width of psi(r), of all members one behind the other."""
        return self.members * self.member_context

    @property
    def summary(self) -> int:
        """Width of h_hat, of all members one behind the other."""
        return self.members * self.member_summary


@dataclass(frozen=True)
class ControlSize:
    """Widths of the network."""

    channels: int = 16
    """Of the image's convolution."""
    mask_channels: int = 8
    """Of the masks' convolution."""
    hidden: int = 64
    """Of the two dense layers."""
    normalise: bool = False
    """Instance normalisation behind the convolutions, as in the paper; it hides how strong a channel is."""
    start_std: float = 0.3
    """Standard deviation of v and omega before training."""


PAPER_SIZE = ControlSize(channels=4, mask_channels=4, hidden=32, normalise=True)
"""Of stage 2, as released."""


@dataclass(frozen=True)
class ImageSize:
    """Layer sizes of what PVN2 looks with."""

    stem: int = 16
    """Channels of the first layers, at half the picture's resolution."""
    features: int = 32
    """Channels of the features, at a quarter of it."""
    blocks: int = 3
    """Residual blocks at a quarter of the resolution."""
    grounded: int = 3
    """Channels of the grounding map."""
