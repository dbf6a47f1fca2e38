"""Sizes of the segmentation's networks; without PyTorch, so that the command line can show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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

    @staticmethod
    def of_weights(config: Mapping[str, Any]) -> Sizes:
        """Those that the config.json of weights names; a KeyError or TypeError where it does not."""
        sizes = config["sizes"]
        return Sizes(
            ProposalSize(**_tuples(sizes["proposals"])),
            MetricSize(**_tuples(sizes["metric"])),
            RefineSize(**_tuples(sizes["refine"])),
        )


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has lists where the configurations have tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
