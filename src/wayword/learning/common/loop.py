"""What the trainings share: schedule, checkpoints, resuming, averaged weights, a log.

A run is a folder: ``checkpoint.safetensors`` (weights, averaged weights, optimiser, in one file written
atomically, with the step, the random generator and the time spent in its metadata) and ``log.csv``. A run
that was killed goes on from its last checkpoint when it is started again with the same folder.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from wayword.errors import DataError
from wayword.io import atomic_path
from wayword.learning.common.run_folder import RunFolder, below
from wayword.learning.common.tensor_files import check_optimiser, read_state, read_torch

_REMEDY = "delete the folder to start anew"
Net = TypeVar("Net", bound=nn.Module)
NO_LIMIT = 1e9
"""Minutes that never end: steps alone do, and the same seed makes the same bits, however fast the machine is."""


@dataclass(frozen=True)
class LoopConfig:
    """Length and pace of a training."""

    steps: int
    """Steps of a full run."""
    minutes: float
    """Longest wall time; on a slow machine the schedule is compressed into it. ``NO_LIMIT``: steps alone count."""
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    warm_up: float = 0.03
    """Share of the run in which the learning rate rises."""
    average: float = 0.998
    """Decay of the averaged weights, which are the ones that are kept."""
    clip: float = 5.0
    """Longest gradient."""
    save_every_s: float = 60.0
    log_every: int = 50
    seed: int = 0
    device: Literal["cpu", "cuda"] = "cpu"
    """Where the network is; where there are GPUs, their last bits are not those of a CPU."""

    @property
    def repeatable(self) -> bool:
        """Whether a run does not depend on how fast the machine is."""
        return self.minutes >= NO_LIMIT


class LoopSettings:
    """Settings of a training whose one loop says what is random in it, and when it ends."""

    loop: LoopConfig

    @property
    def seed(self) -> int:
        """Of the initial weights and the draws."""
        return self.loop.seed

    @property
    def repeatable(self) -> bool:
        """See ``LoopConfig``; where there are several processes, they go in step."""
        return self.loop.repeatable


def share_done(share: float, seconds: float, minutes: float) -> float:
    """From 0 to 1: the share of the steps or of the time, whichever is further; of the steps without a limit."""
    return min(1.0, share if minutes >= NO_LIMIT else max(share, seconds / (60 * minutes)))


class Run(RunFolder):
    """One training on its way."""

    def __init__(
        self,
        folder: Path,
        net: nn.Module,
        config: LoopConfig,
        extra: nn.Module | None = None,
        stop: threading.Event | None = None,
        slower: Mapping[str, float] | None = None,
        leader: bool = True,
    ) -> None:
        """``slower``: the share of the learning rate that parameters with this prefix learn with.

        ``leader``: whether this process keeps log and checkpoints; of several that train together one does.
        """
        super().__init__(folder)
        self.config, self.net, self.extra, self.stop, self.leader = config, net, extra, stop, leader
        self.clock_s: float | None = None
        """Seconds spent by which the schedule goes, if they are not this process's own (``team``)."""
        self.about: dict[str, float] = {}
        """What the run is made from, for whoever reads the weights; kept in the checkpoint."""
        self.rng = np.random.default_rng(config.seed)
        parts = [net] if extra is None else [net, extra]
        groups = [
            {"params": parameters, "weight_decay": config.weight_decay if wide else 0.0, "share": share}
            for prefix, share in {**(slower or {}), "": 1.0}.items()
            for wide in (True, False)
            if (parameters := [p for p in _under(parts, prefix, slower or {}) if (p.ndim > 1) == wide])
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=config.learning_rate)
        self._parameters = [parameter for group in groups for parameter in group["params"]]  # type: ignore[attr-defined]
        self._averaged = {name: value.detach().clone() for name, value in net.state_dict().items()}
        self._totals: dict[str, float] = {}
        self._counted = 0
        self._saved = time.monotonic()
        if self.checkpoint.exists():
            self._resume()

    @property
    def progress(self) -> float:
        """0 at the start, 1 at the end."""
        return share_done(
            self.step / self.config.steps, self.seconds if self.clock_s is None else self.clock_s, self.config.minutes
        )

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end, or was asked to stop."""
        return self.progress >= 1.0 or (self.stop is not None and self.stop.is_set())

    def update(self, loss: Tensor, numbers: Mapping[str, float]) -> None:
        """One step of the optimiser on ``loss``, and the numbers to log beside it."""
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.apply(loss, numbers)

    def apply(self, loss: Tensor, numbers: Mapping[str, float]) -> None:
        """One step of the optimiser on gradients that are there already."""
        if not bool(torch.isfinite(loss)):
            raise RuntimeError(
                f"the loss is {float(loss.detach())} at step {self.step}; resume with a lower learning rate"
            )
        rate = self._rate()
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group["share"]
        norm = nn.utils.clip_grad_norm_(self._parameters, self.config.clip)
        self.optimiser.step()
        self.step += 1
        self._average()
        for name, value in {"loss": float(loss.detach()), "gradient": float(norm), **numbers}.items():
            self._totals[name] = self._totals.get(name, 0.0) + value
        self._counted += 1
        if self.step % self.config.log_every == 0:
            self.log({name: total / self._counted for name, total in self._totals.items()} | {"rate": rate})
            self._totals, self._counted = {}, 0
        if time.monotonic() - self._saved > self.config.save_every_s:
            self.save()

    def averaged(self) -> dict[str, Tensor]:
        """The averaged weights."""
        return self._averaged

    def averaged_in(self, net: Net) -> Net:
        """``net``, of the shape of the one that is trained, with the averaged weights: ready to answer."""
        net.load_state_dict(self._averaged)
        return net.eval()

    def log(self, numbers: Mapping[str, float]) -> None:
        """Keep the numbers of this step and say them."""
        if not self.leader:
            return
        self.write_log(numbers)
        text = "  ".join(f"{name} {value:.4g}" for name, value in numbers.items())
        print(f"{self.folder.name} {100 * self.progress:5.1f} %  step {self.step}  {text}", flush=True)

    def save(self) -> None:
        """Write the checkpoint."""
        if not self.leader:
            return
        tensors = {f"net.{name}": value.contiguous() for name, value in self.net.state_dict().items()}
        tensors |= {f"averaged.{name}": value.contiguous() for name, value in self._averaged.items()}
        if self.extra is not None:
            tensors |= {f"extra.{name}": value.contiguous() for name, value in self.extra.state_dict().items()}
        for number, parameter in enumerate(self._parameters):
            for name, value in self.optimiser.state.get(parameter, {}).items():
                tensors[f"optimiser.{number}.{name}"] = torch.as_tensor(value).contiguous()
        about = {"step": self.step, "seconds": self.seconds, "about": self.about, "rng": self.rng.bit_generator.state}
        tensors = {name: value.clone() for name, value in tensors.items()}  # no two may share memory
        with atomic_path(self.checkpoint) as temporary:
            save_file(tensors, temporary, {"state": json.dumps(about)})
        self._saved = time.monotonic()

    def _resume(self) -> None:
        try:
            about, tensors = read_state(self.checkpoint, _REMEDY), read_torch(self.checkpoint, _REMEDY)
            self.net.load_state_dict(below(tensors, "net."))
            if self.extra is not None:
                self.extra.load_state_dict(below(tensors, "extra."))
            averaged = below(tensors, "averaged.")
            if {k: v.shape for k, v in averaged.items()} != {k: v.shape for k, v in self._averaged.items()}:
                raise ValueError("averaged weights of another network")
            self._averaged = {name: averaged[name].to(value.device) for name, value in self._averaged.items()}
            for number, parameter in enumerate(self._parameters):
                state = below(tensors, f"optimiser.{number}.")
                if state:
                    check_optimiser(self.checkpoint, state, parameter, _REMEDY)
                    layout = torch.channels_last if parameter.ndim == 4 else torch.contiguous_format
                    self.optimiser.state[parameter] = {
                        name: _beside(parameter, value.contiguous(memory_format=layout) if value.ndim == 4 else value)
                        for name, value in state.items()
                    }
            self.rng.bit_generator.state = about["rng"]
            self.step, self._spent = int(about["step"]), float(about["seconds"])
            self.about = dict(about.get("about", {}))
        except (KeyError, ValueError, TypeError, RuntimeError) as error:
            raise DataError(self.checkpoint, f"is damaged or of another network; {_REMEDY}") from error

    def _rate(self) -> float:
        done, warm = self.progress, self.config.warm_up
        if self.step < 20 or done < warm:
            return self.config.learning_rate * min(1.0, max((self.step + 1) / 20 * 0.2, done / warm))
        return self.config.learning_rate * (0.5 + 0.5 * math.cos(math.pi * (done - warm) / (1 - warm))) + 1e-6

    @torch.no_grad()
    def _average(self) -> None:
        # Early weights are forgotten fast: an average over the first steps would lag for the whole run.
        decay = min(self.config.average, (1 + self.step) / (10 + self.step))
        for name, value in self.net.state_dict().items():
            average = self._averaged[name]
            if average.is_floating_point():
                average.lerp_(value, 1 - decay)
            else:
                average.copy_(value)


def _beside(parameter: nn.Parameter, value: Tensor) -> Tensor:
    """An optimiser's moments are where the parameter is; its count of steps stays where it is."""
    return value.to(parameter.device) if value.ndim else value


def _under(parts: Sequence[nn.Module], prefix: str, slower: Mapping[str, float]) -> list[nn.Parameter]:
    """Parameters whose names start with ``prefix``; with "", those that no other prefix has."""
    named = [(name, parameter) for part in parts for name, parameter in part.named_parameters()]
    if prefix:
        return [parameter for name, parameter in named if name.startswith(prefix)]
    return [parameter for name, parameter in named if not name.startswith(tuple(slower))]
