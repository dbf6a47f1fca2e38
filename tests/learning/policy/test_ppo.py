"""PPO against numbers worked by hand, and on a bandit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from support.extra_torch import torch
from wayword.learning.policy.ppo import (
    PPOBatch,
    PPOConfig,
    discounted,
    entropy,
    log_prob,
    make_batch,
    policy_loss,
    sample_actions,
    update,
)

OUTPUTS = torch.tensor([[0.5, 0.2, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0, math.log(3.0)]])


def test_log_probability_by_hand() -> None:
    # Row 0: v one standard deviation off: -0.5 - log 0.2 - 0.91894 = 0.19050; omega at its mean: -0.91894;
    # no stop at logit 0: log 0.5 = -0.69315. Sum -1.42159.
    # Row 1: v and omega at their means: 2 * -0.91894; stop at logit log 3: log 0.75 = -0.28768. Sum -2.12556.
    actions = torch.tensor([[0.7, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(log_prob(OUTPUTS, actions).numpy(), [-1.42159, -2.12556], atol=1e-5)


def test_entropy_by_hand() -> None:
    # A Gaussian: 1.41894 + log std; a coin: log 2 = 0.69315 at 1/2; 0.56234 at 3/4.
    # Row 0: 2 * 1.41894 + log 0.2 + 0.69315 = 1.92159; row 1: 2.83788 + 0.56234 = 3.40021.
    np.testing.assert_allclose(entropy(OUTPUTS).numpy(), [1.92159, 3.40021], atol=1e-4)


def test_returns_by_hand() -> None:
    # 2 + 0.5 (0 + 0.5 * 4) = 3
    np.testing.assert_allclose(discounted(np.array([2.0, 0.0, 4.0]), 0.5), [3.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected"),
    [
        (1.05, 2.0, -2.10),  # inside the range: ratio * A
        (1.30, 2.0, -2.20),  # a good action already likelier than 1.1: cut off
        (0.70, 2.0, -1.40),  # a good action that became less likely: not cut off
        (0.70, -2.0, 1.80),  # a bad action already less likely than 0.9: cut off
        (1.30, -2.0, 2.60),  # a bad action that became likelier: not cut off
    ],
)
def test_clipping_by_hand(ratio: float, advantage: float, expected: float) -> None:
    old = torch.tensor([-1.5])
    new = (old + math.log(ratio)).requires_grad_()
    loss = policy_loss(new, old, torch.tensor([advantage]), clip=0.1)
    assert float(loss.detach()) == pytest.approx(expected, abs=1e-5)
    loss.backward()
    assert (float(new.grad) == 0) == (expected in (-2.20, 1.80))  # no pull where it is cut off


def test_loss_is_a_mean_over_pairs_not_over_all_combinations() -> None:
    # Ratios 1.1 and 0.9 with advantages 1 and -1: -(1.1 - 0.9) / 2 = -0.1. Broadcasting would give 0.
    loss = policy_loss(torch.log(torch.tensor([1.1, 0.9])), torch.zeros(2), torch.tensor([1.0, -1.0]), clip=0.5)
    assert float(loss) == pytest.approx(-0.1, abs=1e-6)
    with pytest.raises(AssertionError):
        policy_loss(torch.zeros(2), torch.zeros(2), torch.zeros(2, 1), clip=0.5)
    with pytest.raises(AssertionError):
        PPOBatch(*(np.zeros(s, np.float32) for s in ((2, 4), (2, 3), (2,), (2,), (2, 1))))


def test_advantages_by_hand() -> None:
    one = [np.zeros((2, 4), np.float32)], [np.zeros((2, 3), np.float32)], [np.zeros(2, np.float32)]
    rewards, values = [np.array([1.0, 3.0])], [np.array([0.5, 1.0], np.float32)]
    # Monte Carlo, gamma 0.5: returns 2.5 and 3; minus values 2 and 2: no difference left after normalising.
    batch = make_batch(*one, rewards, values, PPOConfig(gamma=0.5))
    np.testing.assert_allclose(batch.returns, [2.5, 3.0])
    np.testing.assert_allclose(batch.advantages, 0.0)
    # GAE, lambda 0.5: errors 1 + 0.5 - 0.5 = 1 and 3 - 1 = 2; advantages 1 + 0.25 * 2 = 1.5 and 2; returns 2 and 3.
    batch = make_batch(*one, rewards, values, PPOConfig(gamma=0.5, gae_lambda=0.5))
    np.testing.assert_allclose(batch.returns, [2.0, 3.0])
    np.testing.assert_allclose(batch.advantages, [-1.0, 1.0], atol=1e-4)  # mean 1.75, deviation 0.25


def test_samples_follow_the_outputs() -> None:
    rng = np.random.default_rng(3)
    outputs = np.tile(np.array([0.4, 0.1, -0.2, 0.5, math.log(3.0)], np.float32), (20_000, 1))
    actions, log_probs = sample_actions(outputs, rng)
    np.testing.assert_allclose(actions.mean(0), [0.4, -0.2, 0.75], atol=0.02)
    np.testing.assert_allclose(actions[:, :2].std(0), [0.1, 0.5], atol=0.01)
    # The mean of -log pi is the entropy: 2 * 1.41894 + log 0.1 + log 0.5 + 0.56234 = 0.40448.
    assert -log_probs.mean() == pytest.approx(0.40448, abs=0.02)
    assert log_probs.shape == (20_000,)


class Bandit(torch.nn.Module):
    """Outputs or a value that do not depend on what is seen, apart from their number."""

    def __init__(self, start: list[float]) -> None:
        super().__init__()
        self.raw = torch.nn.Parameter(torch.tensor(start))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if len(self.raw) == 1:
            return self.raw.expand(len(inputs))
        v, dv, w, dw, stop = self.raw
        return torch.stack([v, dv.exp(), w, dw.exp(), stop]).expand(len(inputs), 5)


def test_it_solves_a_bandit() -> None:
    # One step per episode; best are v = 0.6, omega = -0.4 and not to stop.
    def run() -> np.ndarray:
        rng = np.random.default_rng(0)
        control, value = Bandit([0.0, -1.0, 0.0, -1.0, 1.0]), Bandit([0.0])
        optimiser = torch.optim.Adam([*control.parameters(), *value.parameters()], 0.02)
        config, inputs = PPOConfig(passes=2, minibatches=4), np.zeros((256, 1), np.float32)
        for _ in range(60):
            with torch.no_grad():
                actions, log_probs = sample_actions(control(torch.from_numpy(inputs)).numpy(), rng)
                values = value(torch.from_numpy(inputs)).numpy()
            rewards = -((actions[:, 0] - 0.6) ** 2) - (actions[:, 1] + 0.4) ** 2 - actions[:, 2]
            lists = [list(x[:, None]) for x in (inputs, actions, log_probs, rewards.astype(np.float64), values)]
            update(control, value, optimiser, make_batch(*lists, config), config, rng)
        return control.raw.detach().numpy()

    raw = run()
    assert raw[0] == pytest.approx(0.6, abs=0.1)
    assert raw[2] == pytest.approx(-0.4, abs=0.1)
    assert raw[4] < -1
    np.testing.assert_array_equal(raw, run())  # the same under the same seed
