from __future__ import annotations

import numpy as np
import pytest

from support.extra_torch import torch
from wayword.learning.grounding.losses import (
    ContrastiveLoss,
    KernelLoss,
    TripletLoss,
    squared_distances,
)
from wayword.learning.grounding.networks import MetricNet, ProposalNet, RefineNet
from wayword.learning.grounding.train_proposals import assign, losses


def centres() -> torch.Tensor:
    y, x = np.meshgrid(np.arange(18), np.arange(32), indexing="ij")
    return torch.tensor((np.stack([x, y], 2).reshape(-1, 2) + 0.5) * 4, dtype=torch.float32)


def test_cells_in_the_middle_are_responsible() -> None:
    # A 20 x 20 box around (30, 30): cells within 0.2 x 20 = 4 pixels, that is centres 26, 30 and 34 both ways.
    # A 6 x 6 box around (71, 31) reaches at least 2.01 pixels: only the cell centred on (70, 30).
    boxes = torch.tensor([[[20.0, 20, 40, 40], [68, 28, 74, 34], [0, 0, 0, 0]]])
    target, responsible = assign(boxes, centres())
    found = centres()[responsible[0]]
    large = {(x, y) for x, y in found.tolist() if x < 50}
    assert large == {(x, y) for x in (26.0, 30.0, 34.0) for y in (26.0, 30.0, 34.0)}
    assert [(x, y) for x, y in found.tolist() if x > 50] == [(70.0, 30.0)]
    assert target[0, responsible[0]][-1].tolist() != [0, 0, 0, 0]


def test_of_two_boxes_the_smaller_wins() -> None:
    boxes = torch.tensor([[[10.0, 10, 50, 50], [26, 26, 34, 34]]])
    target, responsible = assign(boxes, centres())
    cell = int(((centres() - torch.tensor([30.0, 30.0])).abs().sum(1)).argmin())
    assert responsible[0, cell]
    assert target[0, cell].tolist() == [26, 26, 34, 34]


def test_perfect_boxes_have_no_fit_loss() -> None:
    boxes = torch.tensor([[[20.0, 20, 40, 40]]])
    c = centres()
    sides = torch.stack([c[:, 0] - 20, c[:, 1] - 20, 40 - c[:, 0], 40 - c[:, 1]], dim=1)[None]
    logits = torch.full((1, 576), -30.0)
    logits[0, assign(boxes, c)[1][0]] = 30.0
    score, fit, mean_iou = losses(logits, sides, boxes)
    assert float(score) == pytest.approx(0, abs=1e-6)
    assert float(fit) == pytest.approx(0, abs=1e-6)
    assert mean_iou == pytest.approx(1)


def test_frames_without_objects_train_too() -> None:
    score, fit, _ = losses(torch.zeros(2, 576), torch.ones(2, 576, 4), torch.zeros(2, 16, 4))
    assert float(score) > 0
    assert float(fit) == 0


def test_squared_distances_by_hand() -> None:
    x = torch.tensor([[[0.0, 0], [3, 4]], [[0, 1], [0, 0]]])
    d = squared_distances(x)
    assert d[0, 0, 0, 1] == 25
    assert d[0, 1, 1, 0] == pytest.approx(18)  # (3, 3)


def test_triplet_loss_by_hand() -> None:
    # Object A at 0 and 1, object B at 3 and 5 on a line; margins T1 = 1, T2 = 2, squared distances.
    # A0: s_a = 1, s_b = 9 -> 0.  A1: 1, 4 -> 0.  B3: 4, 4 -> (4-2) + 0 + (4-4+1) = 3.  B5: 4, 16 -> 2.  Mean 1.25.
    x = torch.tensor([[[0.0], [1.0]], [[3.0], [5.0]]])
    assert float(TripletLoss(1.0, 2.0)(x)) == pytest.approx(1.25)


def test_kernel_loss_by_hand() -> None:
    # Both views of an object coincide, the two objects lie at squared distance 4, variance 0.5, background 0.1:
    # own density 1, other exp(-4) = 0.018316. Known: log(1 + 0.018316 + 0.1) = 0.111824.
    # Without itself: -log(0.1 / 0.118316) = 0.168188; weight 0.3. Sum 0.162280.
    x = torch.tensor([[[1.0, 0], [1, 0]], [[-1, 0], [-1, 0]]])
    assert float(KernelLoss(0.5, 0.1, 0.3)(x).detach()) == pytest.approx(0.162280, abs=1e-5)


def test_contrastive_loss_by_hand() -> None:
    # As above at temperature 1: cosine 1 to the positive, -1 to two negatives: -log(e / (e + 2/e)) = 0.239545.
    x = torch.tensor([[[1.0, 0], [1, 0]], [[-1, 0], [-1, 0]]])
    assert float(ContrastiveLoss(1.0)(x)) == pytest.approx(0.239545, abs=1e-5)


@pytest.mark.parametrize("loss", [KernelLoss(), ContrastiveLoss(), TripletLoss()])
def test_losses_pull_and_push(loss: torch.nn.Module) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.nn.Parameter(torch.randn(4, 3, 8, generator=generator))
    optimiser = torch.optim.Adam([x], 0.05)
    first = None
    for _ in range(60):
        value = loss(torch.nn.functional.normalize(x, dim=2))
        first = float(value.detach()) if first is None else first
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
    assert float(value.detach()) < first


def test_network_shapes() -> None:
    image, crop = torch.zeros(2, 3, 72, 128), torch.zeros(3, 3, 32, 32)
    logits, sides = ProposalNet().eval()(image)
    assert logits.shape == (2, 18, 32)
    assert sides.shape == (2, 4, 18, 32)
    assert float(sides.detach().min()) > 0
    x = MetricNet().eval()(crop)
    assert x.shape == (3, 64)
    torch.testing.assert_close(x.norm(dim=1), torch.ones(3))
    assert RefineNet().eval()(crop).shape == (3, 32, 32)
