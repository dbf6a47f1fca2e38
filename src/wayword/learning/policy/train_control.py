"""Trains stage 2 on teacher distributions: behaviour cloning of the Oracle, then PPO on the intrinsic reward.

    train(folder, ControlTraining(iterations=800))
    train(folder, ControlTraining(), ControlSources(start=Path("weights")))        on from another stage 2

The folder keeps the run as ``control_run`` says. A killed run goes on from its last checkpoint, to the bit if its
minutes have no limit.

Logged of the flights of an iteration: return, success (share within 0.47 m), error_m (distance to the end), stopped
(share ended by a stop), steps; of PPO: policy_loss, value_loss, entropy, kl; of cloning: bc_loss. Now and then the
policy flies held-out two-segment examples with its means: clean_* and noisy_* are on gold and on noisy distributions,
with emd_m, the earth mover's distance to the demonstration.

Weights have no value network. A run that goes on from some therefore begins with ``settling`` iterations in which only
the value network learns, in the place of cloning: PPO with values of nothing would undo what is there.

The paper's inputs and network are ``ControlTraining(inputs=policy.control.PAPER, size=PAPER_SIZE)``; FsPVN-BC is
``method="bc"``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from wayword.episodes import Example
from wayword.learning.common.train_config import claim
from wayword.learning.policy import ppo
from wayword.learning.policy.control_net import ControlNet, ValueNet
from wayword.learning.policy.control_run import ControlRun, ControlTraining, exported_control
from wayword.learning.policy.teacher import (
    Actor,
    Flights,
    TeacherConfig,
    TeacherWorld,
    fly_world,
    oracle_actor,
    teacher_examples,
)
from wayword.path_distance import emd

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class ControlSources:
    """What this training starts with."""

    start: Path | None = None
    """A folder of exported weights whose stage 2 to go on from; its inputs and size must be the same."""


_FROM_NOTHING = ControlSources()


def train(
    folder: Path, config: ControlTraining, inputs: ControlSources = _FROM_NOTHING, stop: Event | None = None
) -> ControlRun:
    """Train until the iterations or the minutes are over, or ``stop`` is set; then a checkpoint is left."""
    claim(folder, "policy/control", config, inputs)
    torch.set_num_threads(1)
    run = ControlRun(folder, config)
    if inputs.start is not None and run.step == 0:
        run.begin_with(exported_control(inputs.start, config))
    pool = teacher_examples(config.episodes, 2 * config.seed)
    held_out = teacher_examples(config.held_out // 3 + 1, 2 * config.seed + 1, (2,))[: config.held_out]
    while run.progress < 1.0 and not (stop is not None and stop.is_set()):
        rng = run.rng
        sample = [pool[int(k)] for k in rng.choice(len(pool), config.flights, replace=False)]
        teacher = replace(config.teacher, noise=None) if rng.random() < config.clean else config.teacher
        world = TeacherWorld(sample, teacher, config.inputs, rng, pool)
        if inputs.start is not None and run.step < config.settling:
            numbers, flights = _settle(run, world)
        elif config.method == "bc" or (inputs.start is None and run.step < config.cloning):
            numbers, flights = _clone(run, world)
        else:
            numbers, flights = _improve(run, world)
        run.update_average()
        run.step += 1
        run.frames += sum(len(r) for r in flights.rewards)
        if run.step % 10 == 0:
            run.log({**flights.numbers(), **numbers})
        if run.step % config.evaluate_every == 0 or run.progress >= 1.0:
            for name, noise in (("clean", None), ("noisy", config.teacher.noise)):
                scores = evaluate(run.averaged_control(), held_out, replace(config.teacher, noise=noise), config)
                run.log({f"{name}_{key}": value for key, value in scores.items()})
        if time.monotonic() - run.saved > config.save_every_s:
            run.save()
    run.save()
    run.export()
    return run


def _improve(run: ControlRun, world: TeacherWorld) -> tuple[dict[str, float], Flights]:
    """One iteration of PPO: fly with sampled actions, then update."""
    config = run.config.ppo
    run.set_rate(config.learning_rate * (1 - run.progress) + 1e-6)
    flights = fly_world(world, sampling_actor(run.control, run.value, run.rng), run.config.reward)
    batch = ppo.make_batch(*flights[:5], config)
    return ppo.update(run.control, run.value, run.optimiser, batch, config, run.rng), flights


def _settle(run: ControlRun, world: TeacherWorld) -> tuple[dict[str, float], Flights]:
    """One iteration in which the policy stays as it is: the value network fits the returns of its flights."""
    config = run.config
    run.set_rate(config.cloning_rate)
    flights = fly_world(world, sampling_actor(run.control, run.value, run.rng), config.reward)
    inputs = np.concatenate(flights.inputs)
    returns = np.concatenate([ppo.discounted(r, config.ppo.gamma) for r in flights.rewards]).astype(np.float32)
    losses = []
    for x, target in _minibatches(run, inputs, returns):
        loss = 0.5 * functional.mse_loss(run.value(x), target)
        run.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        run.optimiser.step()
        losses.append(float(loss.detach()))
    return {"value_loss": float(np.mean(losses))}, flights


def _minibatches(run: ControlRun, *arrays: Floats) -> Iterator[list[torch.Tensor]]:
    """Some 128 rows of each array at a time, all of them as often as PPO passes over an iteration."""
    for _ in range(run.config.ppo.passes):
        for part in np.array_split(run.rng.permutation(len(arrays[0])), max(1, len(arrays[0]) // 128)):
            yield [torch.from_numpy(each[part]) for each in arrays]


def _clone(run: ControlRun, world: TeacherWorld) -> tuple[dict[str, float], Flights]:
    """One iteration of behaviour cloning: the disturbed Oracle flies, the networks fit its actions and returns."""
    config, oracle, targets = run.config, oracle_actor(world), [[] for _ in world.examples]  # type: ignore[var-annotated]

    def disturbed(slots: NDArray[np.int64], inputs: Floats) -> tuple[Floats, Floats, Floats]:
        actions = oracle(slots)
        for m, n in enumerate(slots):
            targets[n].append(actions[m].copy())
        actions[:, :2] += config.perturbation * run.rng.standard_normal((len(slots), 2), np.float32)
        none = np.zeros(len(slots), np.float32)
        return actions, none, none

    run.set_rate(config.cloning_rate)
    flights = fly_world(world, disturbed, config.reward)
    inputs = np.concatenate(flights.inputs)
    actions = np.concatenate([np.stack(rows) for rows in targets])
    returns = np.concatenate([ppo.discounted(r, config.ppo.gamma) for r in flights.rewards]).astype(np.float32)
    losses = []
    for x, a, target in _minibatches(run, inputs, actions, returns):
        outputs = run.control(x)
        moves = functional.mse_loss(outputs[:, [0, 2]], a[:, :2])
        loss = moves + functional.binary_cross_entropy_with_logits(outputs[:, 4], a[:, 2])
        run.optimiser.zero_grad(set_to_none=True)
        (loss + 0.1 * functional.mse_loss(run.value(x), target)).backward()  # type: ignore[no-untyped-call]
        run.optimiser.step()
        losses.append(float(loss.detach()))
    return {"bc_loss": float(np.mean(losses))}, flights


def sampling_actor(control: ControlNet, value: ValueNet, rng: np.random.Generator) -> Actor:
    """Acts as PPO needs it: drawn from the policy."""

    @torch.inference_mode()
    def act(slots: NDArray[np.int64], inputs: Floats) -> tuple[Floats, Floats, Floats]:
        x = torch.from_numpy(inputs)
        actions, log_probs = ppo.sample_actions(control(x).numpy(), rng)
        return actions, log_probs, value(x).numpy()

    return act


def mean_actor(control: ControlNet) -> Actor:
    """Acts as in flight: the means, and the likelier of stop and go."""

    @torch.inference_mode()
    def act(slots: NDArray[np.int64], inputs: Floats) -> tuple[Floats, Floats, Floats]:
        outputs = control(torch.from_numpy(inputs)).numpy()
        none = np.zeros(len(slots), np.float32)
        return np.column_stack([outputs[:, 0], outputs[:, 2], outputs[:, 4] > 0]).astype(np.float32), none, none

    return act


def evaluate(
    control: ControlNet, examples: Sequence[Example], teacher: TeacherConfig, config: ControlTraining, seed: int = 1
) -> dict[str, float]:
    """Numbers of the policy's own flights over ``examples``, the same noise every time."""
    world = TeacherWorld(examples, teacher, config.inputs, np.random.default_rng(seed))
    flights = fly_world(world, mean_actor(control), config.reward)
    distances = [emd(path, example.path) for path, example in zip(flights.paths, examples, strict=True)]
    return {**flights.numbers(), "emd_m": float(np.mean(distances))}
