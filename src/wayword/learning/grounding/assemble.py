"""From training runs to one folder of weights: averaged networks, ONNX files, fitted numbers.

run/proposals  run/metric  run/refine    ->    weights folder

Where only some networks were trained, the others are those of the weights they went on from.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from wayword.grounding.grounder import Grounder
from wayword.grounding.weight_files import NETWORKS
from wayword.learning.common.tensor_files import read_state, read_torch
from wayword.learning.common.train_config import TrainConfig, joined
from wayword.learning.grounding.export import Nets, begin_from, save_weights
from wayword.learning.grounding.fit import fit, unfitted
from wayword.learning.grounding.networks import MetricNet, ProposalNet, RefineNet
from wayword.learning.grounding.sizes import Sizes


def assemble(
    shards: Path,
    run: Path,
    out: Path,
    sizes: Sizes,
    seed: int = 0,
    record: TrainConfig | None = None,
    start: Path | None = None,
) -> dict[str, Any]:
    """Write the weights of the runs below ``run`` to ``out`` and fit them; returns what they were made from.

    With ``start``, networks that have no run are those of these weights. ``record`` is what the weights keep as
    train_config.json: by default the chain of the three runs.
    """
    nets = Nets(ProposalNet(sizes.proposals), MetricNet(sizes.metric), RefineNet(sizes.refine))
    about: dict[str, Any] = {"trained_on": _described(shards)}
    for part, net in nets.items().items():
        if start is not None and not (run / part / "checkpoint.safetensors").exists():
            begin_from(start, part, net)
            net.eval()
            about[part] = {"from": start.name}
            continue
        tensors, state = _averaged(run / part / "checkpoint.safetensors")
        net.load_state_dict(tensors)
        net.eval()
        about[part] = {"steps": state["step"], "minutes": round(state["seconds"] / 60, 1), **state.get("about", {})}
    shapes = (sizes.proposals, sizes.metric, sizes.refine)
    with tempfile.TemporaryDirectory() as staging:  # nothing unfitted is ever left where weights are looked for
        save_weights(Path(staging), nets, shapes, unfitted(sizes.metric.dimension), about)
        config, fitted = fit(Grounder.load(Path(staging)), shards, seed)
    about["fitted_on"] = fitted
    (record or _chain(run, start)).keep(out)
    save_weights(out, nets, shapes, config, about)
    return about


def _chain(run: Path, start: Path | None) -> TrainConfig:
    """The runs below ``run`` and the weights that the rest is from."""
    runs = {part: run / part for part in NETWORKS if start is None or (run / part).is_dir()}
    return joined("grounding/assemble", **runs, **({} if start is None else {"start": start}))


def _averaged(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Averaged weights and state of a run's checkpoint."""
    remedy = "train this network first"
    return read_torch(path, remedy, "averaged."), read_state(path, remedy)


def _described(shards: Path) -> dict[str, Any]:
    """What of the data's manifest belongs beside the weights."""
    try:
        manifest = json.loads((shards / "manifest.json").read_text(encoding="utf-8"))
        return {name: manifest.get(name) for name in ("version", "seed", "config")}
    except (OSError, ValueError):
        return {}
