"""Losses of the image metric on a batch of P objects with K views each.

    x        (P, K, D)      embeddings; view k of object p
    d        (P, K, P, K)   squared distances between all pairs of views

``KernelLoss`` is the default: it is the negative logarithm of the very probability the embedding is used for,
P(o | b) of Equation 2, with the other views of the batch as database. ``TripletLoss`` is the paper's.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


def squared_distances(x: Tensor) -> Tensor:
    """All pairs: (P, K, D) -> (P, K, P, K)."""
    p, k, _ = x.shape
    flat = x.flatten(0, 1)
    norms = flat.square().sum(1)
    return (norms[:, None] + norms[None] - 2 * flat @ flat.T).clamp(min=0).reshape(p, k, p, k)


class KernelLoss(nn.Module):
    """-log P(o | b), and -log P(none | b) with the object itself taken out of the database.

    Width and background are learned beside the network; what is shipped is fitted anew on real proposals.
    """

    def __init__(self, variance: float = 0.08, background: float = 0.05, none_weight: float = 0.3) -> None:
        super().__init__()
        self.log_variance = nn.Parameter(torch.tensor(math.log(variance)))
        self.log_background = nn.Parameter(torch.tensor(math.log(background)))
        self.none_weight = none_weight

    def forward(self, x: Tensor) -> Tensor:
        """Mean over all views."""
        p, k, _ = x.shape
        exponent = squared_distances(x) / (-2 * self.log_variance.exp())
        itself = torch.eye(p * k, dtype=torch.bool, device=x.device).reshape(p, k, p, k)
        exponent = exponent.masked_fill(itself, -torch.inf)
        own = torch.eye(p, dtype=torch.bool, device=x.device)[:, None, :].expand(p, k, p)
        count = torch.where(own, k - 1.0, float(k)).log()
        density = torch.logsumexp(exponent, dim=3) - count  # log k_o(b): (P, K, P)
        background = self.log_background.expand(p, k, 1)
        scores = torch.cat([density, background], dim=2)
        target = torch.arange(p, device=x.device)[:, None].expand(p, k)
        known = functional.cross_entropy(scores.flatten(0, 1), target.flatten())
        without = torch.cat([density.masked_fill(own, -torch.inf), background], dim=2)
        unknown = functional.cross_entropy(without.flatten(0, 1), torch.full((p * k,), p))
        return known + self.none_weight * unknown


class ContrastiveLoss(nn.Module):
    """Supervised contrastive loss: every positive pair against all negative pairs of the anchor."""

    def __init__(self, temperature: float = 0.1) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, x: Tensor) -> Tensor:
        """Mean over all positive pairs."""
        p, k, _ = x.shape
        flat = x.flatten(0, 1)
        scores = (flat @ flat.T) / self.temperature
        scores = scores.masked_fill(torch.eye(p * k, dtype=torch.bool, device=x.device), -torch.inf)
        logp = functional.log_softmax(scores, dim=1)
        owner = torch.arange(p, device=x.device).repeat_interleave(k)
        positive = (owner[:, None] == owner[None]) & ~torch.eye(p * k, dtype=torch.bool, device=x.device)
        return -logp[positive].mean()


class TripletLoss(nn.Module):
    """The paper's loss, for every anchor with the other views of its object and all other objects in turn.

    max(s_a - T2, 0) + max(-s_b + T2, 0) + max(s_a - s_b + T1, 0), where s_a and s_b are the smallest squared
    distances to the own object's other views and to another object's views.
    """

    def __init__(self, margin: float = 1.0, radius: float = 2.0) -> None:
        super().__init__()
        self.margin, self.radius = margin, radius

    def forward(self, x: Tensor) -> Tensor:
        """Mean over all anchors and other objects."""
        p, k, _ = x.shape
        d = squared_distances(x)
        itself = torch.eye(p * k, dtype=torch.bool, device=x.device).reshape(p, k, p, k)
        nearest = d.masked_fill(itself, torch.inf).amin(dim=3)  # (P, K, P)
        own = torch.eye(p, dtype=torch.bool, device=x.device)[:, None, :].expand(p, k, p)
        same = nearest[own].reshape(p, k, 1)
        other = nearest[~own].reshape(p, k, p - 1)
        terms = (
            (same - self.radius).clamp(min=0)
            + (self.radius - other).clamp(min=0)
            + (same - other + self.margin).clamp(min=0)
        )
        return terms.mean()
