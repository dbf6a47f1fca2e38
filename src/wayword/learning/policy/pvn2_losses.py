"""What PVN2 is trained for: KL of the visitation distributions, and the release's four auxiliary objectives.

    visit, goal   KL from the gold to the predicted d^p and d^g, as for FsPVN
    classes       which object stands here, from S at the cells of objects in view
    mentions      whether the instruction speaks of it, from R at the same cells
    words         which objects the instruction speaks of, from h alone
    sparsity      mean length of S (L1)

FsPVN needs none of the four. They take the names and places of all objects of the layouts that are learned from, and
which of them each instruction means; without them PVN2 has to find out by itself that objects matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from wayword.camera import Camera
from wayword.learning.common.team import to_device
from wayword.learning.policy.networks import visitation_loss
from wayword.learning.policy.pvn2_network import Pvn2Stage1, integrate, project_frames, seen_from
from wayword.learning.policy.pvn2_samples import Pvn2Batch


@dataclass(frozen=True)
class AuxiliaryWeights:
    """How much each auxiliary objective counts beside the KL; 1 each, as released."""

    classes: float = 1.0
    mentions: float = 1.0
    words: float = 1.0
    sparsity: float = 1.0


class Auxiliaries(nn.Module):
    """The heads of the auxiliary objectives, which do not fly."""

    def __init__(self, net: Pvn2Stage1, objects: int) -> None:
        super().__init__()
        self.classes = nn.Linear(net.image_size.features, objects)
        self.mentions = nn.Linear(net.image_size.grounded, 1)
        self.words = nn.Linear(net.width, objects)


class Pvn2Answer(NamedTuple):
    """What the network makes of a batch of N = E M samples."""

    logits: Tensor
    """(N, 2, 4097)."""
    text: Tensor
    """h (E, H)."""
    world: Tensor
    """S^W (E, M, C, 32, 32)."""
    views: Tensor
    """(E, M, 32, 32): which cells were in view."""


class Pvn2Loss(NamedTuple):
    """Terms of the loss: visit and goal (N,), the others as means over the batch."""

    visit: Tensor
    goal: Tensor
    classes: Tensor
    mentions: Tensor
    words: Tensor
    sparsity: Tensor

    def total(self, weights: AuxiliaryWeights) -> Tensor:
        """All of it."""
        kl = (self.visit + self.goal).mean()
        return (
            kl + weights.classes * self.classes + weights.mentions * self.mentions + weights.words * self.words
            + weights.sparsity * self.sparsity
        )  # fmt: skip

    def numbers(self) -> dict[str, float]:
        """For the log."""
        return {name: float(value.detach().mean()) for name, value in self._asdict().items()}


def pvn2_answer(net: Pvn2Stage1, batch: Pvn2Batch, camera: Camera) -> Pvn2Answer:
    """Pictures to features, to the ground, over time, to the prediction grid, to distributions."""
    here = next(net.parameters()).device
    tokens, lengths, images, others = to_device(here, batch.tokens, batch.lengths, batch.images, batch.others)
    text = net.read(tokens, lengths)
    poses = torch.as_tensor(batch.poses, dtype=torch.float32, device=here)
    ground = project_frames(net.image(images), poses, camera)
    maps, views, semantic = [], [], []
    for flight, moments, start, flipped in zip(
        torch.split(ground, batch.frames.tolist()), batch.moments, batch.starts, batch.flipped, strict=True
    ):
        world, view = integrate(flight, moments.tolist())
        ahead = seen_from(world, start)
        semantic.append(ahead.flip(2) if flipped else ahead)  # rows of the prediction grid run from right to left
        maps.append(world)
        views.append(view)
    each = text.repeat_interleave(batch.moments.shape[1], 0)
    logits = net(each, torch.cat(semantic), others)
    return Pvn2Answer(logits, text, torch.stack(maps), torch.stack(views))


def loss_terms(net: Pvn2Stage1, heads: Auxiliaries, batch: Pvn2Batch, camera: Camera) -> tuple[Pvn2Loss, Pvn2Answer]:
    """All terms of the loss, and the answer they judge."""
    answer = pvn2_answer(net, batch, camera)
    here = answer.logits.device
    gold, cells, classes, subjects, lexicon = to_device(
        here, batch.gold, batch.cells, batch.classes, batch.subjects, batch.lexicon
    )
    visit, goal = visitation_loss(answer.logits, gold)
    count, moments = answer.world.shape[:2]
    number = (cells[..., 0] * answer.world.shape[-1] + cells[..., 1])[:, None].expand(-1, moments, -1)
    world = answer.world.flatten(3)
    vectors = world.gather(3, number[:, :, None].expand(-1, -1, world.shape[2], -1))  # (E, M, C, K)
    # Only what stands in view can be named; the rest stays in the sum with weight 0: every head needs a gradient.
    valid = answer.views.flatten(2).gather(2, number).float() * (classes >= 0)[:, None]
    share = valid / valid.sum().clamp(min=1.0)
    target = classes.clamp(min=0)[:, None].expand(-1, moments, -1)
    named = functional.cross_entropy(heads.classes(vectors.movedim(2, 3)).movedim(3, 1), target, reduction="none")
    grounded = net.grounding(vectors.movedim(1, 2).flatten(2), answer.text).movedim(1, 2)
    pointed = heads.mentions(grounded).reshape(count, moments, -1)
    meant = functional.binary_cross_entropy_with_logits(
        pointed, subjects[:, None].expand(-1, moments, -1), reduction="none"
    )
    words = functional.binary_cross_entropy_with_logits(heads.words(answer.text), lexicon)
    terms = ((named * share).sum(), (meant * share).sum(), words, answer.world.abs().mean())
    return Pvn2Loss(visit, goal, *terms), answer
