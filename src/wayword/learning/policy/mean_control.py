"""The mean of stage 2 over runs that began from the same weights.

Runs of PPO that share a beginning and then part, for example because one flew on other vehicles, lie close enough
together that the mean of their weights flies better than either (docs/policy.md has the numbers). What comes out is a
folder that ``export_runs`` takes in place of a run.

    mean_control([run / "b", other / "b"], out)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from wayword.errors import WaywordError
from wayword.io import atomic_path
from wayword.learning.common.onnx_files import batch_to_onnx
from wayword.learning.common.tensor_files import read_torch
from wayword.learning.common.train_config import joined
from wayword.learning.policy.control_run import load_networks
from wayword.policy.control import read_control_record, write_control_record


def mean_control(folders: Sequence[Path], out: Path) -> None:
    """Write the mean of finished runs of stage 2; the progress that is kept beside it is the first one's."""
    if len(folders) < 2:
        raise WaywordError("a mean takes at least two runs of stage 2")
    inputs, raw = read_control_record(folders[0])
    for folder in folders[1:]:
        other, other_raw = read_control_record(folder)
        if other != inputs or other_raw["size"] != raw["size"]:
            raise WaywordError(f"{folder}: is of another network than {folders[0]}; take runs with the same settings")
    tensors = [read_torch(folder / "model.safetensors", "train that run again") for folder in folders]
    mean = {name: torch.stack([each[name] for each in tensors]).mean(dim=0) for name in tensors[0]}
    out.mkdir(parents=True, exist_ok=True)
    joined("policy/mean_control", **{f"run{number}": folder for number, folder in enumerate(folders)}).keep(out)
    (out / "checkpoint.safetensors").write_bytes((folders[0] / "checkpoint.safetensors").read_bytes())
    with atomic_path(out / "model.safetensors") as temporary:
        save_file(mean, temporary)
    write_control_record(
        out, inputs, (folders[0] / "control.onnx").read_bytes(), raw["size"]
    )  # what ``load_networks`` reads
    control, _ = load_networks(out)
    content = batch_to_onnx(control, (1, inputs.size), ["outputs"])
    with atomic_path(out / "control.onnx") as temporary:
        temporary.write_bytes(content)
    write_control_record(out, inputs, content, raw["size"])  # last: makes it valid
