"""Gradients from several processes: each computes a batch of its own, the first one averages and steps.

Two one-thread processes scale by 2.0 on two cores where two threads in one process do not (they wait for each
other in every layer). Weights and gradients are exchanged through shared memory, in step: a run with n workers
is as reproducible as a run with one.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.multiprocessing as multiprocessing
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

Step = Callable[[nn.Module, np.random.Generator], tuple[Tensor, dict[str, float]]]
"""Loss and numbers to log of one batch, drawn with the generator."""
Build = Callable[[], tuple[nn.Module, Step]]
"""Makes the network and the step function inside a process; must be importable."""


def seeded(seed: int, step: int, rank: int) -> np.random.Generator:
    """The generator of one step in one process; also seeds torch (dropout)."""
    torch.manual_seed((seed * 1_000_003 + step) * 64 + rank)
    return np.random.default_rng([seed, 50, step, rank])


class Workers:
    """The other processes of a training; with ``count`` 1 there are none."""

    def __init__(self, build: Build, parameters: int, count: int, seed: int) -> None:
        context: Any = multiprocessing.get_context("spawn")
        self.seed, self.count = seed, count
        self._weights = torch.zeros(parameters).share_memory_()  # type: ignore[no-untyped-call]
        self._gradients = torch.zeros(max(count - 1, 0), parameters).share_memory_()  # type: ignore[no-untyped-call]
        self._step = context.Value("q", 0)
        self._barrier = context.Barrier(count) if count > 1 else None
        self._processes = []
        for rank in range(1, count):
            arguments = (build, rank, seed, os.getpid(), self._weights, self._gradients, self._step, self._barrier)
            process = context.Process(target=_work, args=arguments, daemon=True)
            process.start()
            self._processes.append(process)

    def gradients(self, net: nn.Module, step_of: Step, step: int) -> tuple[Tensor, dict[str, float]]:
        """Loss of this process's batch with gradients ready on ``net``: averaged over all processes."""
        if self._barrier is not None:
            self._weights.copy_(parameters_to_vector(net.parameters()).detach())
            self._step.value = step
            self._barrier.wait()
        loss, numbers = step_of(net, seeded(self.seed, step, 0))
        net.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if self._barrier is not None:
            self._barrier.wait()
            at = 0
            for parameter in net.parameters():
                part = self._gradients[:, at : at + parameter.numel()].sum(dim=0).view_as(parameter)
                grad = parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)
                parameter.grad = (grad + part) / self.count
                at += parameter.numel()
        return loss.detach(), numbers

    def close(self) -> None:
        """End the other processes."""
        for process in self._processes:
            process.terminate()
            process.join()


def _work(
    build: Build, rank: int, seed: int, parent: int, weights: Tensor, gradients: Tensor, step: Any, barrier: Any
) -> None:
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    torch.set_num_threads(1)
    net, step_of = build()
    net.train()
    while True:
        barrier.wait()
        vector_to_parameters(weights, net.parameters())
        loss, _ = step_of(net, seeded(seed, int(step.value), rank))
        net.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        at = 0
        for parameter in net.parameters():
            if parameter.grad is not None:
                gradients[rank - 1, at : at + parameter.numel()] = parameter.grad.flatten()
            else:
                gradients[rank - 1, at : at + parameter.numel()] = 0
            at += parameter.numel()
        barrier.wait()


def _end_with(parent: int) -> None:
    """A killed training must not leave processes behind that wait for it for ever."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
