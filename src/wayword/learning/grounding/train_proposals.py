"""Trains the proposal network on augmented-reality frames.

    boxes    (N, K, 4)        true boxes of each frame, zero rows where a frame has fewer than K
    logits   (N, 576)         scores of the cells
    sides    (N, 576, 4)      distances of the cells to their box's sides

A cell near the middle of a box is responsible for it. Its score learns how well its own box fits (IoU), all
other cells learn 0 (quality focal loss); the sides learn by generalised IoU. Frames are flipped, zoomed
and recoloured at random, so that photos with one large object in the middle are within what was trained on.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from wayword.grounding.crops import crop_and_resize
from wayword.grounding.nms import iou
from wayword.grounding.proposals import HEIGHT, STRIDE, WIDTH, ProposalConfig, image_tensor, pick
from wayword.learning.common.loop import LoopConfig, LoopSettings, Run
from wayword.learning.common.stage_process import TrainingStage
from wayword.learning.common.team import team_of
from wayword.learning.common.train_config import claim
from wayword.learning.grounding.augment import recolour
from wayword.learning.grounding.data import Labelled, open_shards
from wayword.learning.grounding.export import begin_from
from wayword.learning.grounding.inputs import GroundingInputs
from wayword.learning.grounding.networks import ProposalNet
from wayword.learning.grounding.sizes import ProposalSize

MOST_BOXES = 16


@dataclass(frozen=True)
class ProposalTraining(LoopSettings):
    """Settings of this training."""

    loop: LoopConfig = field(default_factory=lambda: LoopConfig(steps=14_000, minutes=55, learning_rate=3e-3))
    size: ProposalSize = field(default_factory=ProposalSize)
    batch: int = 32
    zoomed: float = 0.35
    """Share of frames of which only a random window is shown, enlarged."""
    smallest_zoom: float = 0.35
    """Width of the smallest window, as a share of the frame."""
    check_every: int = 500
    workers: int = 1
    """Processes, each with batches of its own, whose gradients are averaged."""


def train(
    folder: Path, config: ProposalTraining, inputs: GroundingInputs, stop: threading.Event | None = None
) -> ProposalNet:
    """Train to the end, or on from the checkpoint in ``folder``; returns the averaged network."""
    claim(folder, "grounding/proposals", config, inputs)
    torch.set_num_threads(1)
    with team_of(TrainingStage(train, folder, config, inputs), config.workers, config.loop.device) as team:
        torch.manual_seed(config.loop.seed)
        data, held_out = open_shards(inputs.data)
        net = ProposalNet(config.size)
        begin_from(inputs.start, "proposals", net)
        net = net.to(team.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        run = Run(folder, net, config.loop, stop=stop, leader=team.leader)
        run.about = {"frames": data.frames, "batch": config.batch * team.size}

        def step(rng: np.random.Generator) -> tuple[Tensor, dict[str, float]]:
            images, boxes = (part.to(team.device) for part in proposal_batch(data, config, rng))
            net.train()
            logits, sides = net(images.contiguous(memory_format=torch.channels_last))
            score, fit, mean_iou = losses(logits.flatten(1), sides.flatten(2).transpose(1, 2), boxes)
            numbers = {"score": float(score.detach()), "fit": float(fit.detach()), "iou": mean_iou}
            return score + 2.0 * fit, numbers

        team.share(step, net)
        while team.goes_on(run):
            run.apply(*team.gradients(team.rng(run)))
            if team.leader and run.step % config.check_every == 0:
                run.log({"recall10": recall(run.averaged_in(ProposalNet(config.size)), held_out, 400)})
        run.save()
        return run.averaged_in(ProposalNet(config.size))


def proposal_batch(data: Labelled, config: ProposalTraining, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Frames (N, 3, 72, 128) and their boxes (N, K, 4), augmented."""
    frames = rng.integers(data.frames, size=config.batch)
    images = data.images(frames)
    windows = np.tile(np.array([0, 0, WIDTH, HEIGHT], np.float32), (config.batch, 1))
    for k in np.flatnonzero(rng.random(config.batch) < config.zoomed):
        share = rng.uniform(config.smallest_zoom, 1.0)
        stretch = rng.uniform(0.9, 1.1)
        w, h = WIDTH * share, min(HEIGHT * share * stretch, HEIGHT)
        x, y = rng.uniform(0, WIDTH - w), rng.uniform(0, HEIGHT - h)
        windows[k] = (x, y, x + w, y + h)
    mirrored = rng.random(config.batch) < 0.5
    whole = image_tensor(images)
    zoomed = np.flatnonzero(windows[:, 2] - windows[:, 0] < WIDTH)
    if len(zoomed):
        whole[zoomed] = crop_and_resize(images, zoomed, windows[zoomed], (HEIGHT, WIDTH))
    whole[mirrored] = whole[mirrored, :, :, ::-1]
    boxes = np.zeros((config.batch, MOST_BOXES, 4), np.float32)
    for n, frame in enumerate(frames.tolist()):
        visible = _in_window(data.boxes[data.rows(frame)], windows[n])
        if mirrored[n]:
            visible = np.stack([WIDTH - visible[:, 2], visible[:, 1], WIDTH - visible[:, 0], visible[:, 3]], axis=1)
        boxes[n, : min(len(visible), MOST_BOXES)] = visible[:MOST_BOXES]
    return torch.from_numpy(recolour(whole, rng, 0.6, 0.2)), torch.from_numpy(boxes)


def losses(logits: Tensor, sides: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor, float]:
    """Quality focal loss of the scores, generalised-IoU loss of the sides, and the mean IoU of responsible cells."""
    centres = _centres().to(logits.device)
    target, responsible = assign(boxes, centres)
    x, y = centres[:, 0], centres[:, 1]
    predicted = torch.stack([x - sides[..., 0], y - sides[..., 1], x + sides[..., 2], y + sides[..., 3]], dim=2)
    overlap, generalised = _pair_iou(predicted[responsible], target[responsible])
    quality = torch.zeros_like(logits)
    quality[responsible] = overlap.detach().clamp(0, 1)
    error = (torch.sigmoid(logits) - quality).abs().square()
    count = max(1, int(responsible.sum()))
    entropy = functional.binary_cross_entropy_with_logits(logits, quality, reduction="none")
    return (error * entropy).sum() / count, (1 - generalised).sum() / count, float(overlap.detach().mean())


def assign(boxes: Tensor, centres: Tensor) -> tuple[Tensor, Tensor]:
    """The box (N, C, 4) each cell is responsible for, and whether it is for any (N, C).

    Responsible are the cells within a fifth of the box's size from its middle, at least the nearest one; of
    several boxes the smallest wins, since the larger has other cells.
    """
    size = boxes[..., 2:] - boxes[..., :2]  # (N, K, 2)
    middle = (boxes[..., :2] + boxes[..., 2:]) / 2
    reach = torch.clamp(0.2 * size, min=STRIDE / 2 + 0.01)
    near = ((centres[None, None] - middle[:, :, None]).abs() <= reach[:, :, None]).all(dim=3)  # (N, K, C)
    near &= (size.prod(dim=2) > 0)[:, :, None]
    area = torch.where(near, size.prod(dim=2)[:, :, None].expand_as(near), torch.inf)
    smallest, which = area.min(dim=1)  # (N, C)
    targets = torch.gather(boxes, 1, which[..., None].expand(-1, -1, 4))
    return targets, torch.isfinite(smallest)


def recall(net: ProposalNet, data: Labelled, frames: int) -> float:
    """Share of objects larger than 8 pixels on both sides that one of the ten boxes overlaps by half."""
    sample = np.linspace(0, data.frames - 1, min(frames, data.frames)).astype(np.int64)
    hits = total = 0
    for start in range(0, len(sample), 50):
        part = sample[start : start + 50]
        with torch.no_grad():
            logits, sides = net(torch.from_numpy(image_tensor(data.images(part))))
        for n, frame in enumerate(part):
            boxes = data.boxes[data.rows(int(frame))]
            boxes = boxes[((boxes[:, 2:] - boxes[:, :2]) > 8).all(axis=1)]
            if len(boxes):
                proposed = pick(logits[n].numpy(), sides[n].numpy(), ProposalConfig(least=0.0)).boxes
                hits += int((iou(boxes, proposed).max(axis=1) >= 0.5).sum())
                total += len(boxes)
    return hits / max(total, 1)


def _in_window(boxes: NDArray[np.float32], window: NDArray[np.float32]) -> NDArray[np.float32]:
    """Boxes in the coordinates of a window that fills the frame; those mostly outside are gone."""
    scale = np.array([WIDTH, HEIGHT] * 2, np.float32) / np.tile(window[2:] - window[:2], 2)
    moved = (boxes - np.tile(window[:2], 2)) * scale
    cut = np.clip(moved, 0, np.array([WIDTH, HEIGHT] * 2, np.float32))
    left = (cut[:, 2:] - cut[:, :2]).prod(axis=1) / np.maximum((moved[:, 2:] - moved[:, :2]).prod(axis=1), 1e-6)
    inside: NDArray[np.float32] = cut[(left > 0.25) & ((cut[:, 2:] - cut[:, :2]) > 2).all(axis=1)]
    return inside


def _centres() -> Tensor:
    y, x = torch.meshgrid(torch.arange(HEIGHT // STRIDE), torch.arange(WIDTH // STRIDE), indexing="ij")
    return (torch.stack([x, y], dim=2).reshape(-1, 2) + 0.5) * STRIDE


def _pair_iou(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """IoU and generalised IoU of boxes (K, 4) with boxes (K, 4)."""
    overlap = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0).prod(dim=1)
    areas = (a[:, 2:] - a[:, :2]).prod(dim=1) + (b[:, 2:] - b[:, :2]).prod(dim=1)
    union = (areas - overlap).clamp(min=1e-6)
    hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).prod(dim=1).clamp(min=1e-6)
    value = overlap / union
    return value, value - (hull - union) / hull
