"""Trains the image embedding ImgEmb on P objects x K views of the augmented-reality data.

    crops   (P K, 3, 32, 32)   squares around jittered boxes, colour in [-1, 1]
    x       (P, K, D)          their embeddings

All pairs of a batch count. A third of the objects of a batch are alike in colour, so that colour alone does
not do. Objects of held-out nouns are never trained on; the validation is a 15-way choice among them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wayword.grounding.crops import crop_and_resize, square
from wayword.grounding.image_metric import MARGIN
from wayword.learning.common.loop import LoopConfig, LoopSettings, Run
from wayword.learning.common.stage_process import TrainingStage
from wayword.learning.common.team import team_of, to_device
from wayword.learning.common.train_config import claim
from wayword.learning.grounding.augment import recolour
from wayword.learning.grounding.data import Labelled, is_held_out, object_groups, open_shards
from wayword.learning.grounding.export import begin_from
from wayword.learning.grounding.inputs import GroundingInputs
from wayword.learning.grounding.losses import ContrastiveLoss, KernelLoss, TripletLoss
from wayword.learning.grounding.networks import MetricNet
from wayword.learning.grounding.sizes import MetricSize


@dataclass(frozen=True)
class MetricTraining(LoopSettings):
    """Settings of this training."""

    loop: LoopConfig = field(default_factory=lambda: LoopConfig(steps=24_000, minutes=110, learning_rate=2e-3))
    size: MetricSize = field(default_factory=MetricSize)
    loss: Literal["kernel", "contrastive", "triplet"] = "contrastive"
    objects: int = 24
    """P."""
    views: int = 8
    """K."""
    alike: float = 0.5
    """Share of a batch's objects that resemble each other in colour."""
    jitter: float = 0.09
    """Spread of the boxes' sides, as a share of the box: proposals are not perfect."""
    least_pixels: int = 40
    """Views with fewer visible pixels are not used."""
    least_visible: float = 0.35
    """Views of which less of the whole box is visible are not used."""
    check_every: int = 500
    workers: int = 1
    """Processes, each with batches of its own, whose gradients are averaged."""


class Views:
    """The usable views of every object."""

    def __init__(self, data: Labelled, numbers: set[int], config: MetricTraining) -> None:
        self.data = data
        size = (data.boxes[:, 2:] - data.boxes[:, :2]).max(axis=1)
        usable = (data.pixels >= config.least_pixels) & (data.visible() >= config.least_visible) & (size >= 8)
        rows = np.flatnonzero(usable)
        order = rows[np.argsort(data.identity[rows], kind="stable")]
        owners, starts = np.unique(data.identity[order], return_index=True)
        parts = np.split(order, starts[1:])
        self.rows = [
            part for owner, part in zip(owners, parts, strict=True) if int(owner) in numbers and len(part) >= 4
        ]
        self.config = config
        self.colours = self._colours()

    def __len__(self) -> int:
        return len(self.rows)

    def crops(
        self, objects: NDArray[np.int64], views: int, rng: np.random.Generator, plain: bool = False
    ) -> NDArray[np.float32]:
        """(P K, 3, 32, 32); ``plain`` leaves out the changes of colour."""
        rows = np.concatenate(
            [rng.choice(self.rows[o], views, replace=len(self.rows[o]) < views) for o in objects]
        ).astype(np.int64)
        boxes = self.data.boxes[rows]
        extent = np.tile(boxes[:, 2:] - boxes[:, :2], 2)
        boxes = boxes + extent * rng.normal(0, self.config.jitter, boxes.shape).clip(-0.25, 0.25).astype(np.float32)
        images = self.data.images(self.data.frame[rows])
        crops = crop_and_resize(images, np.arange(len(rows)), square(boxes, MARGIN))
        if plain:
            return crops
        mirrored = rng.random(len(crops)) < 0.5
        crops[mirrored] = crops[mirrored, :, :, ::-1]
        return recolour(crops, rng, 0.6, 0.2)

    def draw(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """P different objects, some of them of like colour."""
        count = min(self.config.objects, len(self))
        alike = round(self.config.alike * count)
        seed = int(rng.integers(len(self)))
        near = np.argsort(np.square(self.colours - self.colours[seed]).sum(axis=1))[: max(3 * alike, 1)]
        first = rng.permutation(near)[:alike]
        rest = np.setdiff1d(rng.permutation(len(self))[: 2 * count], first)
        return np.concatenate([first, rng.permutation(rest)[: count - len(first)]]).astype(np.int64)

    def _colours(self) -> NDArray[np.float32]:
        """Mean colour of two views of each object, (objects, 3)."""
        result = np.zeros((len(self), 3), np.float32)
        for o, rows in enumerate(self.rows):
            for row in rows[:: max(1, len(rows) // 2)][:2]:
                frame = self.data.frame[row : row + 1]
                mask = self.data.instances(frame)[0] == self.data.instance[row]
                if mask.any():
                    result[o] += self.data.images(frame)[0][mask].mean(axis=0) / 2
        return result


def train(
    folder: Path, config: MetricTraining, inputs: GroundingInputs, stop: threading.Event | None = None
) -> MetricNet:
    """Train to the end, or on from the checkpoint in ``folder``; returns the averaged network."""
    claim(folder, "grounding/metric", config, inputs)
    torch.set_num_threads(1)
    stage = TrainingStage(train, folder, config, inputs)
    if config.loss == "triplet":
        config = replace(config, size=replace(config.size, unit=False))
    with team_of(stage, config.workers, config.loop.device) as team:
        torch.manual_seed(config.loop.seed)
        data, _ = open_shards(inputs.data)
        groups = object_groups(inputs.data)
        known = {number for number, group in groups.items() if not is_held_out(group)}
        views, unseen = Views(data, known, config), Views(data, groups.keys() - known, config)
        net = MetricNet(config.size)
        begin_from(inputs.start, "metric", net)
        net = net.to(team.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        losses = {"kernel": KernelLoss, "contrastive": ContrastiveLoss, "triplet": TripletLoss}
        loss: nn.Module = losses[config.loss]().to(team.device)
        run = Run(folder, net, config.loop, loss, stop, leader=team.leader)
        run.log({"objects": len(views), "held out": len(unseen)})
        run.about = {"frames": data.frames, "batch": config.objects * config.views * team.size}

        def step(rng: np.random.Generator) -> tuple[Tensor, dict[str, float]]:
            objects = views.draw(rng)
            (crops,) = to_device(team.device, views.crops(objects, config.views, rng))
            net.train()
            x = net(crops.contiguous(memory_format=torch.channels_last))
            return loss(x.reshape(len(objects), config.views, -1)), {}

        team.share(step, net, loss)
        while team.goes_on(run):
            run.apply(*team.gradients(team.rng(run)))
            if team.leader and run.step % config.check_every == 0:
                choices = check_choices(run.averaged_in(MetricNet(config.size)), unseen)
                run.log({f"choice{n}": value for n, value in choices.items()})
        run.save()
        return run.averaged_in(MetricNet(config.size))


@torch.no_grad()
def check_choices(net: MetricNet, views: Views, objects: int = 120, seed: int = 5) -> dict[int, float]:
    """Share of single views assigned to their object among 2, 8 and 15 held-out ones with 5 exemplars each."""
    rng = np.random.default_rng(seed)
    count = min(objects, len(views))
    sample = rng.permutation(len(views))[:count].astype(np.int64)
    crops = torch.from_numpy(views.crops(sample, 10, rng, plain=True))
    x = torch.cat([net(crops[i : i + 256]) for i in range(0, len(crops), 256)]).reshape(count, 10, -1)
    result = {}
    for ways in (2, 8, 15):
        right = total = 0
        for _ in range(300):
            some = torch.from_numpy(rng.permutation(count)[: min(ways, count)])
            right += int((_scores(x[some[0], 5:], x[some][:, :5]).argmax(dim=1) == 0).sum())
            total += 5
        result[ways] = right / total
    return result


def _scores(queries: Tensor, exemplars: Tensor) -> Tensor:
    """(Q, ways): log of the mean kernel, with a width relative to the typical distance."""
    d = (queries[:, None, None] - exemplars[None]).square().sum(dim=3)
    return torch.logsumexp(-d / (0.25 * d.mean()), dim=2)
