"""Sizes of the segmentation's networks; without PyTorch, so that the command line can show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from wayword.errors import DataError, WaywordError
from wayword.learning.common.typed_json import from_plain
from wayword.weight_folder import CONFIG


@dataclass(frozen=True)
class ProposalSize:
    """Channels at strides 2, 4, 8, 16 and 32."""

    channels: tuple[int, int, int, int, int] = (16, 32, 48, 64, 64)


@dataclass(frozen=True)
class MetricSize:
    """Channels of the three stages and length of the embedding."""

    channels: tuple[int, int, int] = (24, 48, 96)
    dimension: int = 64
    unit: bool = True
    """Embeddings of length 1; off for the paper's loss, whose margins are absolute."""


@dataclass(frozen=True)
class RefineSize:
    """Channels at 16, 8 and 4 cells across."""

    channels: tuple[int, int, int] = (24, 48, 64)


@dataclass(frozen=True)
class Sizes:
    """Sizes of the three networks."""

    proposals: ProposalSize = field(default_factory=ProposalSize)
    metric: MetricSize = field(default_factory=MetricSize)
    refine: RefineSize = field(default_factory=RefineSize)


def read_sizes(weights: Path) -> Sizes:
    """Those of a folder of weights, as its config.json says."""
    from wayword.grounding.weight_files import read_grounding_config  # loads onnxruntime

    _, config = read_grounding_config(weights)
    try:
        return from_plain(Sizes, config.get("sizes"), "sizes")
    except WaywordError as error:
        raise DataError(weights / CONFIG, f"{error}; train again") from error
