"""From three training runs to one folder of weights: averaged networks, ONNX files, fitted numbers.

run/proposals  run/metric  run/refine    ->    weights folder
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro
from safetensors import SafetensorError, safe_open

from wayword.errors import DataError
from wayword.grounding.grounder import Grounder
from wayword.learning.grounding.export import Nets, save_weights
from wayword.learning.grounding.fit import fit, unfitted
from wayword.learning.grounding.networks import (
    MetricNet,
    MetricSize,
    ProposalNet,
    ProposalSize,
    RefineNet,
    RefineSize,
)


@dataclass(frozen=True)
class Sizes:
    """Sizes of the three networks."""

    proposals: ProposalSize = field(default_factory=ProposalSize)
    metric: MetricSize = field(default_factory=MetricSize)
    refine: RefineSize = field(default_factory=RefineSize)


def assemble(shards: Path, run: Path, out: Path, sizes: Sizes) -> dict[str, Any]:
    """Write the weights of the runs below ``run`` to ``out`` and fit them; returns what they were made from."""
    nets = Nets(ProposalNet(sizes.proposals), MetricNet(sizes.metric), RefineNet(sizes.refine))
    about: dict[str, Any] = {"trained_on": _described(shards)}
    for part, net in nets.items().items():
        tensors, state = _averaged(run / part / "checkpoint.safetensors")
        net.load_state_dict(tensors)
        net.eval()
        about[part] = {"steps": state["step"], "minutes": round(state["seconds"] / 60, 1), **state.get("about", {})}
    made = (sizes.proposals, sizes.metric, sizes.refine)
    with tempfile.TemporaryDirectory() as staging:  # nothing unfitted is ever left where weights are looked for
        save_weights(Path(staging), nets, made, unfitted(sizes.metric.dimension), about)
        config, fitted = fit(Grounder.load(folder=Path(staging)), shards)
    about["fitted_on"] = fitted
    save_weights(out, nets, made, config, about)
    return about


def _averaged(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Averaged weights and state of a run's checkpoint."""
    try:
        with safe_open(path, "pt") as file:
            state = json.loads((file.metadata() or {})["state"])
            named = [name for name in file.keys() if name.startswith("averaged.")]  # noqa: SIM118
            return {name.removeprefix("averaged."): file.get_tensor(name) for name in named}, state
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise DataError(path, "is missing or damaged; train this network first") from error


def _described(shards: Path) -> dict[str, Any]:
    """What of the data's manifest belongs beside the weights."""
    try:
        manifest = json.loads((shards / "manifest.json").read_text(encoding="utf-8"))
        return {name: manifest.get(name) for name in ("version", "seed", "config")}
    except (OSError, ValueError):
        return {}


def main(
    shards: tyro.conf.Positional[Path], run: tyro.conf.Positional[Path], out: tyro.conf.Positional[Path], sizes: Sizes
) -> None:
    """Assemble the runs in RUN, trained on SHARDS, into the weights OUT."""
    print(json.dumps(assemble(shards, run, out, sizes), indent=2))


if __name__ == "__main__":
    tyro.cli(main)
