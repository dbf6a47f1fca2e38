"""Proximal policy optimisation of stage 2 (Algorithm 2, lines 6 to 9), on one page.

outputs     (B, 5)   of the control network: mean v, std v, mean omega, std omega, stop logit
actions     (B, 3)   sampled v and omega in units of their limits and not clipped, stop as 0 or 1
log pi      (B,)     log N(v) + log N(omega) + log Bernoulli(stop)
returns     (B,)     sum of discounted rewards to the end of the episode
advantages  (B,)     returns minus values, normalised over the iteration

All of these are checked to be (B,): the paper's release multiplies (B,) by (B, 1), which makes every action
answer for the mean of all advantages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

Floats = NDArray[np.float32]
_LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class PPOConfig:
    """The paper's table where it says something."""

    learning_rate: float = 2.5e-4
    epsilon: float = 1e-5
    """Of Adam."""
    clip: float = 0.1
    gamma: float = 0.99
    gae_lambda: float | None = None
    """None: Monte Carlo returns, as in the paper; otherwise lambda of generalised advantage estimation."""
    value_weight: float = 1.0
    entropy_weight: float = 0.001
    max_gradient: float = 1.0
    passes: int = 1
    """Over the steps of an iteration."""
    minibatches: int = 8
    """Updates per pass (K_steps^RL of the paper with one pass)."""


@dataclass(frozen=True)
class PPOBatch:
    """The steps of one iteration, episodes one after another."""

    inputs: Floats
    """(B, size)"""
    actions: Floats
    """(B, 3)"""
    log_probs: Floats
    """(B,) under the policy that acted"""
    returns: Floats
    """(B,)"""
    advantages: Floats
    """(B,) normalised"""

    def __post_init__(self) -> None:
        count = len(self.inputs)
        assert self.actions.shape == (count, 3), self.actions.shape
        for part in (self.log_probs, self.returns, self.advantages):
            assert part.shape == (count,), part.shape


def sample_actions(outputs: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Actions (B, 3) drawn from outputs (B, 5), and their log pi (B,)."""
    moves = outputs[:, [0, 2]] + outputs[:, [1, 3]] * rng.standard_normal((len(outputs), 2), np.float32)
    stop = rng.random(len(outputs)) < 1 / (1 + np.exp(-outputs[:, 4].astype(np.float64)))
    actions = np.column_stack([moves, stop]).astype(np.float32)
    return actions, log_prob(torch.from_numpy(outputs), torch.from_numpy(actions)).numpy()


def log_prob(outputs: Tensor, actions: Tensor) -> Tensor:
    """log pi (B,) of actions (B, 3) under outputs (B, 5)."""
    assert outputs.shape == (len(actions), 5)
    mean, std = outputs[:, [0, 2]], outputs[:, [1, 3]]
    normal = -0.5 * ((actions[:, :2] - mean) / std) ** 2 - std.log() - 0.5 * _LOG_2_PI
    stop = -functional.binary_cross_entropy_with_logits(outputs[:, 4], actions[:, 2], reduction="none")
    return normal.sum(dim=1) + stop


def entropy(outputs: Tensor) -> Tensor:
    """Entropy (B,) of the policy: 1/2 log(2 pi e std^2) per Gaussian, plus that of the stop."""
    std, logit = outputs[:, [1, 3]], outputs[:, 4]
    normal = (std.log() + 0.5 * (_LOG_2_PI + 1.0)).sum(dim=1)
    return normal + functional.softplus(logit) - logit * torch.sigmoid(logit)


def discounted(rewards: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """R_t = r_t + gamma R_{t+1} (T,) of one finished episode."""
    returns, total = np.zeros(len(rewards)), 0.0
    for t in reversed(range(len(rewards))):
        total = rewards[t] + gamma * total
        returns[t] = total
    return returns


def make_batch(
    inputs: Sequence[Floats],
    actions: Sequence[Floats],
    log_probs: Sequence[Floats],
    rewards: Sequence[NDArray[np.float64]],
    values: Sequence[Floats],
    config: PPOConfig,
) -> PPOBatch:
    """One batch of finished episodes, each given by its steps; values are V before the update."""
    returns, advantages = [], []
    for r, v in zip(rewards, values, strict=True):
        assert r.shape == v.shape
        if config.gae_lambda is None:
            returns.append(discounted(r, config.gamma))
            advantages.append(returns[-1] - v)
        else:  # the sum of discounted one-step errors r_t + gamma V_{t+1} - V_t; V is 0 behind the end
            errors = r + config.gamma * np.append(v[1:], 0.0) - v
            advantages.append(discounted(errors, config.gamma * config.gae_lambda))
            returns.append(advantages[-1] + v)
    advantage = np.concatenate(advantages)
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-5)
    return PPOBatch(
        np.concatenate(list(inputs)),
        np.concatenate(list(actions)),
        np.concatenate(list(log_probs)),
        np.concatenate(returns).astype(np.float32),
        advantage.astype(np.float32),
    )


def policy_loss(log_pi: Tensor, old_log_pi: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """-E min(ratio A, clipped ratio A)."""
    assert log_pi.shape == old_log_pi.shape == advantages.shape
    assert log_pi.ndim == 1
    ratio = torch.exp(log_pi - old_log_pi)
    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages).mean()


def update(
    control: nn.Module,
    value: nn.Module,
    optimiser: torch.optim.Optimizer,
    batch: PPOBatch,
    config: PPOConfig,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Improve control and value network on one iteration's steps; answers with the means of what is worth logging."""
    parameters = [*control.parameters(), *value.parameters()]
    names = ("policy_loss", "value_loss", "entropy", "kl")
    rows = []
    for _ in range(config.passes):
        for part in np.array_split(rng.permutation(len(batch.inputs)), config.minibatches):
            if not len(part):
                continue
            inputs, actions, old, returns, advantages = (
                torch.from_numpy(each[part])
                for each in (batch.inputs, batch.actions, batch.log_probs, batch.returns, batch.advantages)
            )
            outputs, values = control(inputs), value(inputs)
            assert values.shape == returns.shape
            log_pi, spread = log_prob(outputs, actions), entropy(outputs).mean()
            surrogate = policy_loss(log_pi, old, advantages, config.clip)
            error = 0.5 * (values - returns).pow(2).mean()
            loss = surrogate + config.value_weight * error - config.entropy_weight * spread
            if not bool(torch.isfinite(loss)):
                raise RuntimeError(f"the PPO loss is {float(loss.detach())}; resume with a lower learning rate")
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(parameters, config.max_gradient)
            optimiser.step()
            rows.append([float(each.detach()) for each in (surrogate, error, spread, (old - log_pi).mean())])
    return dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True))
