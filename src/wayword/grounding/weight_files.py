"""Trained weights: a folder that explains itself, found by name.

weights/sim/config.json          sizes, fitted numbers, hashes of the files, what it was trained on
weights/sim/model.safetensors    the weights of the three torch networks, for training on and for comparison
weights/sim/*.onnx               the same networks as onnxruntime runs them, made from model.safetensors
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayword.errors import DataError, WaywordError
from wayword.grounding.backend import OnnxNetwork
from wayword.grounding.density import DensityConfig
from wayword.grounding.proposals import ProposalConfig
from wayword.weight_folder import CONFIG, REMEDY, WeightFolder, holds_weights, locate, shipped_names

WEIGHTS = Path(__file__).parent / "weights"
NETWORKS = ("proposals", "metric", "refine")
SCHEMA = 1


@dataclass(frozen=True)
class GroundingConfig:
    """All numbers of the segmentation that are not network weights."""

    proposals: ProposalConfig
    density: DensityConfig
    dimension: int
    """D, length of an embedding."""
    threshold: float = 0.5
    """Masks S(I, r; O) above this are taken as the object, where a yes or no is needed; fitted for best IoU."""


def find_weights(weights: Path | str) -> Path:
    """The folder of weights a user names: shipped ones by name, or a folder of their own."""
    folder = locate(weights, WEIGHTS)
    if holds_weights(folder):
        return folder
    known = ", ".join(shipped_names(WEIGHTS)) or "none"
    raise WaywordError(
        f"{weights}: neither shipped grounding weights ({known}) nor a folder of them; "
        "`wayword train grounding --frames DIR --out FOLDER` makes one"
    )


def read_grounding_config(weights: Path) -> tuple[GroundingConfig, dict[str, Any]]:
    """The configuration in ``config.json``, and the whole file."""
    folder = WeightFolder.read(weights, SCHEMA)
    return _configuration(folder), dict(folder.settings)


def open_networks(weights: Path | str) -> tuple[dict[str, OnnxNetwork], GroundingConfig]:
    """The three networks and the configuration of shipped weights, or of those in a folder."""
    folder = WeightFolder.read(find_weights(weights), SCHEMA)
    config = _configuration(folder)
    hashes = folder.settings.get("sha256", {})
    if not isinstance(hashes, dict) or not all(f"{part}.onnx" in hashes for part in NETWORKS):
        raise DataError(folder.path / CONFIG, f"does not list its networks; {REMEDY}")
    return {part: OnnxNetwork(*folder.file(f"{part}.onnx")) for part in NETWORKS}, config


def _configuration(folder: WeightFolder) -> GroundingConfig:
    with folder.parsing() as settings:
        return GroundingConfig(
            ProposalConfig(**settings["proposals"]),
            DensityConfig(**settings["density"]),
            int(settings["dimension"]),
            float(settings["threshold"]),
        )
