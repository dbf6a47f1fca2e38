"""What the trainings of the segmentation's networks start with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class GroundingInputs:
    """Folders that all three trainings are given."""

    data: Path
    """Shards made by `wayword ar generate`."""
    start: Path | None = None
    """A folder of weights to go on from, instead of random ones."""
