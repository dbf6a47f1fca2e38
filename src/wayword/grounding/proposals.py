"""Region proposals: which boxes of a frame hold an object, and with what probability P(b).

    I        (N, 72, 128, 3)   uint8 frames
    logits   (N, 18, 32)       score of every cell of 4 x 4 pixels
    sides    (N, 4, 18, 32)    distances in pixels from the cell's centre to left, top, right and bottom
    b        (B, 4)            at most 10 boxes per frame, x0, y0, x1, y1 in pixels, best first
    P(b)     (B,)              calibrated: the share of boxes with this value that overlap an object by half

One class and no anchors: each cell says how sure it is to lie at the middle of an object, and how far away
the object's sides are. Boxes are tight around what is visible. (The released network places squares of a
fixed physical size around the objects' centres.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.grounding.backend import Network
from wayword.grounding.nms import nms
from wayword.task import IMAGE_HEIGHT, IMAGE_WIDTH

HEIGHT, WIDTH, STRIDE = IMAGE_HEIGHT, IMAGE_WIDTH, 4


@dataclass(frozen=True)
class ProposalConfig:
    """How scores become boxes."""

    most: int = 10
    """Boxes per frame, as in the paper."""
    candidates: int = 60
    """Best cells looked at before suppression."""
    overlap: float = 0.55
    """A box that overlaps a better one by more than this (IoU) is the same object seen twice."""
    least: float = 0.05
    """Boxes less probable than this are dropped. (Paper: 0.4; here the probability weighs the box instead.)"""
    slope: float = 1.0
    """P(b) = sigmoid(slope x logit + offset), fitted on held-out frames."""
    offset: float = 0.0


class Proposals(NamedTuple):
    """The boxes of one frame."""

    boxes: NDArray[np.float32]
    objectness: NDArray[np.float64]
    """P(b)."""
    logits: NDArray[np.float32]
    """The network's own score, before calibration."""


class Proposer:
    """Runs the network and picks the boxes."""

    def __init__(self, network: Network, config: ProposalConfig | None = None) -> None:
        self.network, self.config = network, config or ProposalConfig()

    def __call__(self, images: NDArray[np.uint8]) -> list[Proposals]:
        """The boxes of every frame."""
        logits, sides = self.network(image_tensor(images))
        return [pick(score, distance, self.config) for score, distance in zip(logits, sides, strict=True)]


def image_tensor(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Frames (N, 72, 128, 3) uint8 as the network takes them: (N, 3, 72, 128), colour in [-1, 1]."""
    if images.ndim != 4 or images.shape[1:] != (HEIGHT, WIDTH, 3) or images.dtype != np.uint8:
        raise WaywordError(
            f"frames must be (N, {HEIGHT}, {WIDTH}, 3) uint8, not {images.shape} {images.dtype}; "
            f"use wayword.grounding.letterbox for pictures of another size"
        )
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2), dtype=np.float32) / np.float32(127.5) - np.float32(1)


def decode(cells: NDArray[np.int64], sides: NDArray[np.float32]) -> NDArray[np.float32]:
    """Boxes (K, 4) of flat cell numbers (K,) and their distances (K, 4), cut at the frame."""
    columns = WIDTH // STRIDE
    x, y = (cells % columns + 0.5) * STRIDE, (cells // columns + 0.5) * STRIDE
    boxes = np.stack([x - sides[:, 0], y - sides[:, 1], x + sides[:, 2], y + sides[:, 3]], axis=1)
    limit = np.array([WIDTH, HEIGHT, WIDTH, HEIGHT], np.float32)
    result: NDArray[np.float32] = np.clip(boxes, 0, limit).astype(np.float32)
    return result


def pick(logits: NDArray[np.float32], sides: NDArray[np.float32], config: ProposalConfig) -> Proposals:
    """The boxes of one frame out of the network's answer for it."""
    flat = logits.reshape(-1)
    cells = np.argsort(-flat, kind="stable")[: config.candidates]
    with np.errstate(over="ignore"):
        objectness = 1.0 / (1.0 + np.exp(-(config.slope * flat[cells].astype(np.float64) + config.offset)))
    cells, objectness = cells[objectness >= config.least], objectness[objectness >= config.least]
    boxes = decode(cells, sides.reshape(4, -1)[:, cells].T)
    best = nms(boxes, objectness, config.overlap, config.most)
    return Proposals(boxes[best], objectness[best], flat[cells[best]])
