"""Boxes of a photo that may hold the thing it was taken for, and what each has to say for itself.

    I         (H, W, 3)   uint8 photo of any size
    boxes     (K, 4)      pixels of I: proposals at three sizes, the region that stands out, two middles of the photo
    traits    (K, T)      what speaks for a box alone, see ``TRAITS``
    vectors   (K, D)      ``photo_vectors``
    looks     (K, D')     ImgEmb, as the drone will see it

A photo of one thing is not what a drone sees, so it is looked at as it is and reduced twice: an object that fills the
photo is then as large as one the proposal network was trained on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.grounding.crops import crop_and_resize, letterbox, square
from wayword.grounding.image_metric import MARGIN, ImageEmbedder
from wayword.grounding.nms import iou, nms
from wayword.grounding.photo_vectors import PhotoEmbedder
from wayword.grounding.proposals import HEIGHT, WIDTH, Proposer
from wayword.objects.cropping import MIN_BOX, Box, Pixels
from wayword.objects.saliency import SaliencyCropper

PADDINGS = (0.0, 0.5, 1.2)
"""Border around the photo at each look, as a share of it."""
MOST, SAME = 12, 0.7
"""Proposals best, and the overlap from which two of them are one."""
TRAITS = (
    "log odds of P(b), 0 if it is no proposal",
    "is the region that stands out",
    "is a middle of the photo",
    "log of its share of the photo's side",
    "the square of that",
    "squared distance from the middle",
    "distance from the middle",
    "overlap with the region that stands out",
    "the same, times that region's confidence",
    "how many borders it touches",
)


MIDDLE = TRAITS.index("is a middle of the photo")


@dataclass(frozen=True, eq=False)
class Candidates:
    """The boxes of one photo; see the head of this module."""

    boxes: NDArray[np.float32]
    traits: NDArray[np.float64]
    vectors: NDArray[np.float32]
    looks: NDArray[np.float32]


class CandidateFinder:
    """Everybody who may know where the thing is."""

    def __init__(
        self,
        proposer: Proposer,
        embedder: ImageEmbedder,
        photo_embedder: PhotoEmbedder,
        salient: SaliencyCropper | None = None,
    ) -> None:
        self.proposer, self.embedder, self.photo_embedder = proposer, embedder, photo_embedder
        self.salient = salient or SaliencyCropper()

    def __call__(self, image: Pixels) -> Candidates:
        """The candidates of one photo; at least two, its middles."""
        height, width = image.shape[:2]
        proposed, odds = self._proposed(image)
        salient, sure = self.salient.crop_box(image)
        middles = [Box.middle(width, height), Box(width / 4, height / 4, width * 3 / 4, height * 3 / 4)]
        others = np.array([box.values for box in (salient, *middles)], np.float32)
        boxes = np.concatenate([proposed, others])
        # What stands out with confidence 0 is the middle under another name.
        kinds = np.array([0] * len(proposed) + [1 if sure > 0 else 2, 2, 2])
        traits = _traits(boxes, np.append(odds, [0.0, 0.0, 0.0]), kinds, sure, width, height)
        squares = square(boxes, MARGIN)
        crops = crop_and_resize(image[None], np.zeros(len(boxes), np.int64), squares)
        return Candidates(boxes, traits, self.photo_embedder(image, boxes), self.embedder.embed(crops))

    def _proposed(self, image: Pixels) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Boxes and log odds of P(b)."""
        height, width = image.shape[:2]
        boxes, probabilities = [], []
        for padding in PADDINGS:
            frame, scale, dx, dy = letterbox(image, HEIGHT, WIDTH, padding)
            proposals = self.proposer(frame[None])[0]
            real = (proposals.boxes - np.array([dx, dy, dx, dy], np.float32)) / np.float32(scale)
            boxes.append(np.clip(real, 0, np.array([width, height, width, height], np.float32)))
            probabilities.append(proposals.objectness)
        every, p = np.concatenate(boxes).astype(np.float32), np.concatenate(probabilities)
        usable = (every[:, 2:] - every[:, :2]).min(axis=1, initial=np.inf) >= MIN_BOX
        every, p = every[usable], p[usable]
        best = nms(every, p, SAME, MOST)
        p = np.clip(p[best], 1e-3, 1 - 1e-3)
        return every[best], np.clip(np.log(p / (1 - p)), -4, 4)


def _traits(
    boxes: NDArray[np.float32],
    odds: NDArray[np.float64],
    kinds: NDArray[np.int64],
    sure: float,
    width: int,
    height: int,
) -> NDArray[np.float64]:
    sides = (boxes[:, 2:] - boxes[:, :2]).astype(np.float64) / (width, height)
    share = np.log(np.maximum(np.sqrt(sides.prod(axis=1)), 0.02))
    off = (boxes[:, :2] + boxes[:, 2:]) / 2 / np.array([width, height]) - 0.5
    square_off = (off**2).sum(axis=1)
    standing_out = iou(boxes, boxes[kinds == 1]).max(axis=1, initial=0.0).astype(np.float64)
    touches = (boxes[:, 0] < 2) * 1.0 + (boxes[:, 1] < 2) + (boxes[:, 2] > width - 2) + (boxes[:, 3] > height - 2)
    return np.column_stack(
        [
            odds,
            kinds == 1,
            kinds == 2,
            share,
            share**2,
            4 * square_off,
            2 * np.sqrt(square_off),
            standing_out,
            standing_out * sure,
            touches / 2,
        ]
    )
