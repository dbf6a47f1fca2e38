"""A training of stage 2 on its way: what it is made of, its checkpoint, its log and what it leaves behind.

checkpoint.safetensors   networks, the average of one, optimiser, random generator, step, time; written atomically
log.csv                  step, minutes, name, value
model.safetensors        control.* and value.*, for training on
control.json, .onnx      what ``wayword.policy.control.Control.load`` reads
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from wayword.errors import DataError
from wayword.io import atomic_path
from wayword.learning.common.loop import NO_LIMIT, share_done
from wayword.learning.common.onnx_files import batch_to_onnx
from wayword.learning.common.run_folder import RunFolder, below
from wayword.learning.common.tensor_files import check_optimiser, read_state, read_torch
from wayword.learning.policy.control_net import ControlNet, ValueNet
from wayword.learning.policy.ppo import PPOConfig
from wayword.learning.policy.rewards import RewardConfig
from wayword.learning.policy.sizes import ControlSize
from wayword.learning.policy.teacher import TeacherConfig
from wayword.policy.control import ControlConfig, read_control_record, write_control_record

_REMEDY = "delete the folder to start anew"


@dataclass(frozen=True)
class ControlTraining:
    """What to train, how and for how long."""

    method: Literal["bc", "ppo"] = "ppo"
    """Cloning alone, or cloning to begin with and then PPO."""
    inputs: ControlConfig = field(default_factory=lambda: ControlConfig(things=True))
    size: ControlSize = field(default_factory=ControlSize)
    teacher: TeacherConfig = field(default_factory=TeacherConfig)
    reward: RewardConfig = field(default_factory=lambda: RewardConfig(stop_unobserved=3.0, contact=0.5))
    ppo: PPOConfig = field(default_factory=lambda: PPOConfig(passes=4, minibatches=4, gae_lambda=0.95))
    iterations: int = 800
    """Of ``flights`` each, cloning included."""
    minutes: float = 20.0
    """Longest wall time of a run, over all its parts; ``NO_LIMIT``: iterations alone count."""
    cloning: int = 60
    """Iterations of cloning before PPO; all are, with method bc."""
    cloning_rate: float = 1e-3
    """Learning rate of cloning."""
    settling: int = 30
    """Iterations in which only the value network learns, in a run that goes on from other weights."""
    perturbation: float = 0.25
    """While the Oracle is cloned it is disturbed by this, in units of the limits, so that it shows how to recover."""
    clean: float = 0.25
    """Share of iterations with distributions that have no noise."""
    flights: int = 64
    """Per iteration (N of the paper, 20 there)."""
    episodes: int = 1500
    """Generated episodes to train on; each gives four or five examples of one segment and one less of two."""
    held_out: int = 200
    """Two-segment examples to evaluate on."""
    evaluate_every: int = 100
    average: float = 0.98
    """Share that the moving average of the weights, which is what flies, keeps at every iteration; 0: the newest."""
    save_every_s: float = 60.0
    seed: int = 0

    @property
    def repeatable(self) -> bool:
        """Whether a run does not depend on how fast the machine is."""
        return self.minutes >= NO_LIMIT


class ControlRun(RunFolder):
    """One training on its way: networks, optimiser, generator, checkpoint and log."""

    def __init__(self, folder: Path, config: ControlTraining) -> None:
        torch.manual_seed(config.seed)
        super().__init__(folder)
        self.config = config
        self.control, self.value = ControlNet(config.inputs, config.size), ValueNet(config.inputs, config.size)
        self._parameters = [*self.control.parameters(), *self.value.parameters()]
        self.optimiser = torch.optim.Adam(self._parameters, config.ppo.learning_rate, eps=config.ppo.epsilon)
        self.rng = np.random.default_rng(config.seed)
        self.averaged = self._copy()
        """Moving average of the control network's weights: PPO's own jitter from update to update."""
        self.frames = 0
        self.saved = time.monotonic()
        if self.checkpoint.exists():
            self._resume()

    @property
    def progress(self) -> float:
        """0 at the start, 1 at the end."""
        return share_done(self.step / self.config.iterations, self.seconds, self.config.minutes)

    def log(self, numbers: Mapping[str, float]) -> None:
        """Keep the numbers of this step and say them."""
        self.write_log(numbers)
        text = "  ".join(f"{name} {value:.3g}" for name, value in numbers.items())
        print(f"{100 * self.progress:5.1f} %  step {self.step}  frames {self.frames}  {text}", flush=True)

    def set_rate(self, rate: float) -> None:
        """The learning rate from now on."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def begin_with(self, weights: Mapping[str, Tensor]) -> None:
        """Start from this control network."""
        self.control.load_state_dict(dict(weights))
        self.averaged = self._copy()

    def update_average(self) -> None:
        """At the end of an iteration; in the first ones the average is short, so that the start is soon forgotten."""
        keep = min(self.config.average, (1 + self.step) / (10 + self.step))
        for name, value in self.control.state_dict().items():
            self.averaged[name].lerp_(value, 1 - keep)

    def _copy(self) -> dict[str, Tensor]:
        return {name: value.detach().clone() for name, value in self.control.state_dict().items()}

    def tensors(self) -> dict[str, Tensor]:
        """The weights of both networks."""
        parts = {"control": self.control, "value": self.value}
        return {f"{p}.{name}": v.detach().clone() for p, net in parts.items() for name, v in net.state_dict().items()}

    def save(self) -> None:
        """Write the checkpoint."""
        tensors = self.tensors() | {f"averaged.{name}": value.clone() for name, value in self.averaged.items()}
        for number, parameter in enumerate(self._parameters):
            for name, value in self.optimiser.state.get(parameter, {}).items():
                tensors[f"optimiser.{number}.{name}"] = torch.as_tensor(value).clone()
        state = {"step": self.step, "frames": self.frames, "seconds": self.seconds}
        state["rng"] = self.rng.bit_generator.state  # type: ignore[assignment]
        with atomic_path(self.checkpoint) as temporary:
            save_file(tensors, temporary, {"state": json.dumps(state)})
        self.saved = time.monotonic()

    def export(self) -> None:
        """Write what ``Control.load`` reads, and the weights: the averaged ones of the control network."""
        averaged = {f"control.{name}": value.clone() for name, value in self.averaged.items()}
        with atomic_path(self.folder / "model.safetensors") as temporary:
            save_file(self.tensors() | averaged, temporary)
        content = batch_to_onnx(self.averaged_control(), (1, self.config.inputs.size), ["outputs"])
        with atomic_path(self.folder / "control.onnx") as temporary:
            temporary.write_bytes(content)
        write_control_record(self.folder, self.config.inputs, content, asdict(self.config.size))  # last: makes it valid

    def averaged_control(self) -> ControlNet:
        """The control network that flies."""
        net = ControlNet(self.config.inputs, self.config.size)
        net.load_state_dict(self.averaged)
        return net

    def _resume(self) -> None:
        try:
            state, tensors = read_state(self.checkpoint, _REMEDY), read_torch(self.checkpoint, _REMEDY)
            self.control.load_state_dict(below(tensors, "control."))
            self.value.load_state_dict(below(tensors, "value."))
            self.averaged = {name: value.clone() for name, value in below(tensors, "averaged.").items()}
            self.averaged_control()  # complains if it is of another network
            for number, parameter in enumerate(self._parameters):
                if own := below(tensors, f"optimiser.{number}."):
                    check_optimiser(self.checkpoint, own, parameter, _REMEDY)
                    self.optimiser.state[parameter] = own
            self.rng.bit_generator.state = state["rng"]
            self.step, self.frames, self._spent = int(state["step"]), int(state["frames"]), float(state["seconds"])
        except (KeyError, ValueError, TypeError, RuntimeError) as error:
            raise DataError(self.checkpoint, f"is damaged or of another network; {_REMEDY}") from error


def exported_control(weights: Path, config: ControlTraining) -> dict[str, Tensor]:
    """The control network of a folder of exported weights, if it is one that ``config`` trains."""
    path, remedy = weights / "model.safetensors", "choose other weights to start from"
    inputs, raw = read_control_record(weights)
    try:
        if inputs != config.inputs or ControlSize(**raw["size"]) != config.size:
            raise DataError(path, f"has a stage 2 of other inputs or another size; {remedy}")
        tensors = read_torch(path, remedy, "control.")
        ControlNet(inputs, config.size).load_state_dict(tensors)
    except (KeyError, TypeError, RuntimeError) as error:
        raise DataError(path, f"is damaged; {remedy}") from error
    return tensors


def load_networks(folder: Path) -> tuple[ControlNet, ValueNet]:
    """The trained networks of a run, in torch; ``.trunk.config`` says what they are shown."""
    inputs, raw = read_control_record(folder)
    path = folder / "model.safetensors"
    try:
        size = ControlSize(**raw["size"])
        control, value = ControlNet(inputs, size), ValueNet(inputs, size)
        tensors = read_torch(path, "train again")
        control.load_state_dict(below(tensors, "control."))
        value.load_state_dict(below(tensors, "value."))
    except (KeyError, ValueError, RuntimeError, TypeError) as error:
        raise DataError(path, "is missing, damaged or of another network; train again") from error
    return control, value
