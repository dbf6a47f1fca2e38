"""Each term of the PPO loss alone: which way it moves the networks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from support.extra_torch import torch
from wayword.learning.policy.ppo import PPOBatch, PPOConfig, entropy, log_prob, make_batch, update


class Constant(torch.nn.Module):
    """A network that answers the same whatever it sees: five outputs, or one value."""

    def __init__(self, *start: float) -> None:
        super().__init__()
        self.raw = torch.nn.Parameter(torch.tensor(start))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if len(self.raw) == 1:
            return self.raw.expand(len(inputs))
        v, dv, w, dw, stop = self.raw
        return torch.stack([v, dv.exp(), w, dw.exp(), stop]).expand(len(inputs), 5)


def policy() -> Constant:
    """Means 0.5 and 0, deviations 0.37, stops with 12 %."""
    return Constant(0.5, -1.0, 0.0, -1.0, -2.0)


def learn(control: Constant, value: Constant, actions: list, advantages: list, returns: list, **weights: float):
    """One update with plain gradient descent, on actions that the policy itself has taken."""
    chosen = np.array(actions, np.float32)
    with torch.no_grad():
        outputs = control(torch.zeros(len(chosen), 1))
        before = entropy(outputs).mean()
        old = log_prob(outputs, torch.from_numpy(chosen)).numpy()
    batch = PPOBatch(
        np.zeros((len(chosen), 1), np.float32), chosen, old, np.array(returns, np.float32),
        np.array(advantages, np.float32),
    )  # fmt: skip
    optimiser = torch.optim.SGD([*control.parameters(), *value.parameters()], 0.1)
    config = PPOConfig(minibatches=1, max_gradient=1e9, **weights)
    logged = update(control, value, optimiser, batch, config, np.random.default_rng(0))
    with torch.no_grad():
        after = entropy(control(torch.zeros(1, 1))).mean()
    return logged, float(after - before)


NOTHING = {"actions": [[0.5, 0.0, 0.0]], "advantages": [0.0], "returns": [0.0]}


def test_the_entropy_bonus_makes_the_policy_less_sure():
    control = policy()
    logged, grown = learn(control, Constant(0.0), **NOTHING, entropy_weight=0.1)
    assert grown > 0
    # d entropy / d log std = 1 for both: 0.1 * 0.1 each. The stop's logit goes from -2 towards 0, by 0.1 * 0.1 times
    # 2 p (1 - p) with p = 0.1192: 0.0021.
    assert control.raw.detach().tolist() == pytest.approx([0.5, -0.99, 0.0, -0.99, -1.9979], abs=1e-4)
    assert logged["entropy"] == pytest.approx(2 * (1.41894 - 1.0) + 0.36534, abs=1e-4)


def test_without_the_bonus_and_without_advantages_nothing_moves():
    control = policy()
    _, grown = learn(control, Constant(0.0), **NOTHING, entropy_weight=0.0)
    assert grown == 0
    assert control.raw.detach().tolist() == [0.5, -1.0, 0.0, -1.0, -2.0]


def test_good_actions_become_likelier_and_bad_ones_less_so():
    for advantage in (1.0, -1.0):
        control = policy()
        learn(control, Constant(0.0), [[0.7, 0.1, 1.0]], [advantage], [0.0], entropy_weight=0.0)
        v, _, w, _, stop = control.raw.detach().tolist()
        assert (v - 0.5) * advantage > 0
        assert w * advantage > 0
        assert (stop + 2.0) * advantage > 0


def test_the_value_follows_the_returns():
    value = Constant(1.0)
    logged, _ = learn(policy(), value, [[0.5, 0.0, 0.0]] * 2, [0.0, 0.0], [2.0, 4.0], entropy_weight=0.0)
    # 0.5 mean((1 - 2)^2, (1 - 4)^2) = 2.5; its gradient is 1 - 3 = -2: one step of 0.1 to 1.2.
    assert logged["value_loss"] == pytest.approx(2.5)
    assert value.raw.item() == pytest.approx(1.2)
    value = Constant(1.0)
    learn(policy(), value, [[0.5, 0.0, 0.0]] * 2, [0.0, 0.0], [2.0, 4.0], value_weight=0.5)
    assert value.raw.item() == pytest.approx(1.1)


def test_the_gradient_is_cut_at_its_largest_length():
    value, control = Constant(0.0), policy()
    optimiser = torch.optim.SGD([*control.parameters(), *value.parameters()], 1.0)
    batch = PPOBatch(
        np.zeros((1, 1), np.float32), np.array([[0.5, 0.0, 0.0]], np.float32), np.zeros(1, np.float32),
        np.array([1000.0], np.float32), np.zeros(1, np.float32),
    )  # fmt: skip
    update(control, value, optimiser, batch, PPOConfig(minibatches=1, entropy_weight=0.0), np.random.default_rng(0))
    assert value.raw.item() == pytest.approx(1.0, rel=1e-3)  # 1000 without


def test_a_loss_that_is_no_number_is_an_error():
    with pytest.raises(RuntimeError, match="PPO loss is nan"):
        learn(policy(), Constant(0.0), [[0.5, 0.0, 0.0]], [math.nan], [0.0])


def test_how_far_the_policy_has_moved_is_logged():
    control = policy()
    actions = np.array([[0.5, 0.0, 0.0]], np.float32)
    with torch.no_grad():
        now = log_prob(control(torch.zeros(1, 1)), torch.from_numpy(actions)).numpy()
    batch = PPOBatch(np.zeros((1, 1), np.float32), actions, now + 0.25, np.zeros(1, np.float32), np.ones(1, np.float32))
    optimiser = torch.optim.SGD(control.parameters(), 0.0)
    logged = update(control, Constant(0.0), optimiser, batch, PPOConfig(minibatches=1), np.random.default_rng(0))
    assert logged["kl"] == pytest.approx(0.25, abs=1e-6)
    assert logged["policy_loss"] == pytest.approx(-math.exp(-0.25), abs=1e-6)


def test_more_minibatches_than_steps_leave_none_out():
    control, value = policy(), Constant(0.0)
    optimiser = torch.optim.SGD([*control.parameters(), *value.parameters()], 0.1)
    batch = PPOBatch(
        np.zeros((3, 1), np.float32), np.tile(np.array([[0.5, 0.0, 0.0]], np.float32), (3, 1)),
        np.zeros(3, np.float32), np.ones(3, np.float32), np.zeros(3, np.float32),
    )  # fmt: skip
    update(control, value, optimiser, batch, PPOConfig(minibatches=8, entropy_weight=0.0), np.random.default_rng(0))
    # Three updates towards 1: 1 - 0.9^3.
    assert value.raw.item() == pytest.approx(1 - 0.9**3)


def test_advantages_are_normalised_over_all_episodes_together():
    parts = [[np.zeros((n, 1), np.float32) for n in (2, 1)], [np.zeros((n, 3), np.float32) for n in (2, 1)]]
    probabilities = [np.zeros(n, np.float32) for n in (2, 1)]
    rewards, values = [np.array([1.0, 1.0]), np.array([5.0])], [np.zeros(2, np.float32), np.zeros(1, np.float32)]
    batch = make_batch(*parts, probabilities, rewards, values, PPOConfig(gamma=1.0))
    # Returns 2, 1 and 5: mean 8 / 3, deviation sqrt(26 / 9) = 1.69967.
    assert batch.returns.tolist() == [2.0, 1.0, 5.0]
    assert batch.advantages.tolist() == pytest.approx([-0.39223, -0.98058, 1.37281], abs=1e-4)
