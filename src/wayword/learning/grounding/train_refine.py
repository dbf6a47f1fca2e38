"""Trains the refinement U-Net: from a region to the mask of its most prominent object, by pixel-wise BCE.

I[b]   (N, 3, 32, 32)   regions around jittered boxes, colour in [-1, 1]
m      (N, 32, 32)      share of each cell that the object covers, 0 to 1
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

from wayword.grounding.crops import crop_and_resize, expand
from wayword.grounding.refine import MARGIN
from wayword.learning.common.loop import LoopConfig, LoopSettings, Run
from wayword.learning.common.stage_process import TrainingStage
from wayword.learning.common.team import team_of, to_device
from wayword.learning.common.train_config import claim
from wayword.learning.grounding.augment import recolour
from wayword.learning.grounding.data import Labelled, open_shards
from wayword.learning.grounding.export import begin_from
from wayword.learning.grounding.inputs import GroundingInputs
from wayword.learning.grounding.networks import RefineNet
from wayword.learning.grounding.sizes import RefineSize


@dataclass(frozen=True)
class RefineTraining(LoopSettings):
    """Settings of this training."""

    loop: LoopConfig = field(default_factory=lambda: LoopConfig(steps=16_000, minutes=45, learning_rate=3e-3))
    size: RefineSize = field(default_factory=RefineSize)
    batch: int = 128
    per_frame: int = 4
    """Objects taken from one frame, so that fewer frames need to be read."""
    jitter: float = 0.07
    """Spread of the boxes' sides, as a share of the box."""
    least_pixels: int = 20
    check_every: int = 500
    workers: int = 1
    """Processes, each with batches of its own, whose gradients are averaged."""


def train(
    folder: Path, config: RefineTraining, inputs: GroundingInputs, stop: threading.Event | None = None
) -> RefineNet:
    """Train to the end, or on from the checkpoint in ``folder``; returns the averaged network."""
    claim(folder, "grounding/refine", config, inputs)
    torch.set_num_threads(1)
    with team_of(TrainingStage(train, folder, config, inputs), config.workers, config.loop.device) as team:
        torch.manual_seed(config.loop.seed)
        data, held_out = open_shards(inputs.data)
        usable, checked = (np.flatnonzero(part.pixels >= config.least_pixels) for part in (data, held_out))
        net = RefineNet(config.size)
        begin_from(inputs.start, "refine", net)
        net = net.to(team.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        run = Run(folder, net, config.loop, stop=stop, leader=team.leader)
        run.about = {"frames": data.frames, "batch": config.batch * team.size}

        def step(rng: np.random.Generator) -> tuple[Tensor, dict[str, float]]:
            rows = _rows(data, usable, config, rng)
            crops, masks = to_device(team.device, *refine_batch(data, rows, config.jitter, rng))
            net.train()
            logits = net(crops.contiguous(memory_format=torch.channels_last))
            loss = functional.binary_cross_entropy_with_logits(logits, masks)
            return loss, {"iou": mask_iou(logits.detach(), masks)}

        team.share(step, net)
        while team.goes_on(run):
            run.apply(*team.gradients(team.rng(run)))
            if team.leader and run.step % config.check_every == 0:
                rng = np.random.default_rng(5)
                crops, masks = refine_batch(held_out, rng.choice(checked, 800), config.jitter, rng, plain=True)
                with torch.no_grad():
                    answer = run.averaged_in(RefineNet(config.size))(torch.from_numpy(crops))
                run.log({"held out iou": mask_iou(answer, torch.from_numpy(masks))})
        run.save()
        return run.averaged_in(RefineNet(config.size))


def refine_batch(
    data: Labelled, rows: NDArray[np.int64], jitter: float, rng: np.random.Generator, plain: bool = False
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Crops and masks of the boxes in ``rows``; ``plain`` leaves out the changes of colour."""
    boxes = data.boxes[rows]
    extent = np.tile(boxes[:, 2:] - boxes[:, :2], 2)
    boxes = expand(boxes + extent * rng.normal(0, jitter, boxes.shape).clip(-0.2, 0.2).astype(np.float32), MARGIN)
    frames, which = np.unique(data.frame[rows], return_inverse=True)
    crops = crop_and_resize(data.images(frames), which, boxes)
    own = data.instances(frames)[which] == data.instance[rows][:, None, None]
    painted = np.repeat((own * np.uint8(255))[..., None], 3, axis=3)
    masks = (crop_and_resize(painted, np.arange(len(rows)), boxes)[:, 0] + 1) * np.float32(0.5)
    if not plain:
        mirrored = rng.random(len(crops)) < 0.5
        crops[mirrored], masks[mirrored] = crops[mirrored, :, :, ::-1], masks[mirrored, :, ::-1]
        crops = recolour(crops, rng, 0.6, 0.2)
    return crops, masks


def mask_iou(logits: Tensor, masks: Tensor) -> float:
    """Mean IoU at one half."""
    ours, true = logits > 0, masks > 0.5
    union = (ours | true).sum((1, 2)).clamp(min=1)
    return float(((ours & true).sum((1, 2)) / union).mean())


def _rows(
    data: Labelled, usable: NDArray[np.int64], config: RefineTraining, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Boxes in runs that share a frame: rows are sorted by frame."""
    starts = rng.integers(len(usable), size=config.batch // config.per_frame)
    spread = (starts[:, None] + np.arange(config.per_frame)) % len(usable)
    return np.asarray(usable[spread.ravel()])
