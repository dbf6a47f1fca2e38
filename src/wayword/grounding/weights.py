"""Trained weights: a folder that explains itself, found by name.

weights/sim/config.json          sizes, fitted numbers, hashes of the files, what it was trained on
weights/sim/model.safetensors    the weights of the three torch networks, for training on and for comparison
weights/sim/*.onnx               the same networks as onnxruntime runs them, made from model.safetensors
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayword.errors import DataError, WaywordError
from wayword.grounding.backend import OnnxNetwork
from wayword.grounding.density import DensityConfig
from wayword.grounding.proposals import ProposalConfig

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


def weight_folder(name: str) -> Path:
    """The folder of the shipped weights ``name``."""
    known = sorted(path.parent.name for path in WEIGHTS.glob("*/config.json"))
    if name not in known:
        raise WaywordError(f"there are no grounding weights named {name!r}; choose one of {', '.join(known) or 'none'}")
    return WEIGHTS / name


def find_weights(which: Path | str) -> Path:
    """The folder of weights a user names: shipped ones by name, or a folder of their own."""
    if (WEIGHTS / str(which) / "config.json").is_file() and Path(which).name == str(which):
        return WEIGHTS / str(which)
    folder = Path(which)
    if (folder / "config.json").is_file():
        return folder
    known = ", ".join(sorted(path.parent.name for path in WEIGHTS.glob("*/config.json"))) or "none"
    raise WaywordError(
        f"{which}: neither shipped grounding weights ({known}) nor a folder of them; "
        "`wayword train grounding --frames DIR --out FOLDER` makes one"
    )


def read_config(folder: Path) -> tuple[GroundingConfig, dict[str, Any]]:
    """The configuration in ``config.json``, and the whole file."""
    path = folder / "config.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["schema"] != SCHEMA:
            raise DataError(path, f"has schema {raw['schema']}; this version reads {SCHEMA}")
        config = GroundingConfig(
            ProposalConfig(**raw["proposals"]),
            DensityConfig(**raw["density"]),
            int(raw["dimension"]),
            float(raw["threshold"]),
        )
        return config, raw
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); reinstall or train again") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(path, "is damaged; reinstall or train again") from error


def load_networks(name: str, folder: Path | None = None) -> tuple[dict[str, OnnxNetwork], GroundingConfig]:
    """The three networks and the configuration of the weights ``name``, or of those in ``folder``."""
    place = folder or weight_folder(name)
    config, raw = read_config(place)
    hashes = raw.get("sha256", {})
    if not isinstance(hashes, dict) or not all(f"{part}.onnx" in hashes for part in NETWORKS):
        raise DataError(place / "config.json", "does not list its networks; reinstall or train again")
    return {part: OnnxNetwork(place / f"{part}.onnx", hashes[f"{part}.onnx"]) for part in NETWORKS}, config
