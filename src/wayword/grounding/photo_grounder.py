"""Finds what phrases mean in a photograph of any size, where seconds do not matter.

    I                (H, W, 3)      uint8 photo
    b                (B, 4)         boxes in pixels of I: proposals of the whole photo, reduced, and of its parts
    x                (B, D)         photo vectors and ImgEmb side by side, unit length
    P(o | b), ALIGN  as in flight (``density``, ``align``), with widths fitted on photographs

A drone sees 128 x 72 pixels, and a thing must be several of them wide. A photograph has many times as many, so it is
also looked at in five overlapping parts: a mug across the room is as large there as one on the table is in the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.grounding.align import align
from wayword.grounding.crops import crop_and_resize, letterbox, square
from wayword.grounding.density import DensityConfig, Exemplars, probabilities
from wayword.grounding.grounder import Grounder, check_reference_probabilities
from wayword.grounding.image_metric import MARGIN
from wayword.grounding.nms import nms
from wayword.grounding.photo_vectors import PHOTO_WEIGHTS, SCHEMA, PhotoEmbedder
from wayword.grounding.proposals import HEIGHT, WIDTH
from wayword.objects.cropping import MIN_BOX, Pixels
from wayword.shipped import PHOTO_GROUNDER
from wayword.weight_folder import WeightFolder

PARTS = ((0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 0.6, 0.6), (0.4, 0.0, 1.0, 0.6), (0.0, 0.4, 0.6, 1.0), (0.4, 0.4, 1.0, 1.0),
         (0.2, 0.2, 0.8, 0.8))  # fmt: skip
"""Windows of the photo, as shares of its sides: the whole, four corners, the middle."""
MOST, SAME = 24, 0.5
_CUT = 0.02


@dataclass(frozen=True, eq=False)
class PhotoGrounding:
    """What was found; see the head of this module."""

    boxes: NDArray[np.float32]
    p_box: NDArray[np.float64]
    p_object_of_box: NDArray[np.float64]
    p_object_of_reference: NDArray[np.float64]
    alignment: NDArray[np.float64]


class PhotoGrounder:
    """A grounder that takes its time."""

    def __init__(
        self, grounder: Grounder, photo_embedder: PhotoEmbedder, density: DensityConfig, photo_share: float
    ) -> None:
        self.grounder, self.photo_embedder, self.density, self.photo_share = (
            grounder, photo_embedder, density, photo_share,
        )  # fmt: skip

    @staticmethod
    def load(grounder: Path | str = PHOTO_GROUNDER, weights: Path = PHOTO_WEIGHTS) -> PhotoGrounder:
        """``grounder``: shipped weights by name, or a folder; ``weights``: of the network that looks at photographs."""
        with WeightFolder.read(weights, SCHEMA).parsing() as settings:
            density = DensityConfig(**settings["density"])
            share = float(settings["photo_share"])
        return PhotoGrounder(Grounder.load(grounder), PhotoEmbedder.load(weights), density, share)

    def __call__(self, image: Pixels, p_object_of_reference: ArrayLike, exemplars: Exemplars) -> PhotoGrounding:
        """Look for the references in one photo."""
        of_reference = check_reference_probabilities(p_object_of_reference, len(exemplars.names))
        boxes, p_box = self.propose(image)
        of_box = probabilities(self.embed(image, boxes), exemplars, self.density)
        return PhotoGrounding(boxes, p_box, of_box, of_reference, align(of_box, p_box, of_reference))

    def propose(self, image: Pixels) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Boxes (B, 4) in pixels of the photo, and P(b), best first."""
        height, width = image.shape[:2]
        boxes, p = [np.zeros((0, 4), np.float32)], [np.zeros(0)]
        for k, part in enumerate(PARTS):
            x0, y0, x1, y1 = (int(edge * side) for edge, side in zip(part, (width, height, width, height), strict=True))
            if min(x1 - x0, y1 - y0) < 2 * MIN_BOX:
                continue
            for padding in (0.0, 0.5) if k == 0 else (0.0,):
                frame, scale, dx, dy = letterbox(image[y0:y1, x0:x1], HEIGHT, WIDTH, padding)
                proposals = self.grounder.proposer(frame[None])[0]
                real = (proposals.boxes - np.array([dx, dy, dx, dy])) / scale + (x0, y0, x0, y0)
                whole = _uncut(real, (x0, y0, x1, y1), width, height)
                boxes.append(np.clip(real[whole], 0, (width, height, width, height)).astype(np.float32))
                p.append(proposals.objectness[whole])
        every, sure = np.concatenate(boxes), np.concatenate(p)
        usable = (every[:, 2:] - every[:, :2]).min(axis=1, initial=np.inf) >= MIN_BOX
        best = nms(every[usable], sure[usable], SAME, MOST)
        return every[usable][best], sure[usable][best]

    def embed(self, image: Pixels, boxes: ArrayLike) -> NDArray[np.float32]:
        """Both kinds of vectors of boxes, side by side, (B, D)."""
        b = np.asarray(boxes, np.float32).reshape(-1, 4)
        crops = crop_and_resize(image[None], np.zeros(len(b), np.int64), square(b, MARGIN))
        return side_by_side(self.photo_embedder(image, b), self.grounder.embedder.embed(crops), self.photo_share)

    def embed_database(self, photos: dict[str, list[Pixels]]) -> Exemplars:
        """Embed the square crops (S, S, 3) of named objects at the size they were kept in."""
        vectors = [self.embed(crop, [_inner(len(crop))]) for crops in photos.values() for crop in crops]
        owners = np.repeat(np.arange(len(photos)), [len(crops) for crops in photos.values()]).astype(np.int64)
        width = self.photo_embedder.dimension + self.grounder.embedder.dimension
        stacked = np.concatenate(vectors) if vectors else np.zeros((0, width), np.float32)
        return Exemplars(tuple(photos), stacked, owners)


def side_by_side(
    photo_vectors: NDArray[np.float32], looks: NDArray[np.float32], photo_share: float
) -> NDArray[np.float32]:
    """Two unit vectors as one: squared distances add up, ``photo_share`` of the first and the rest of the second."""
    first, second = np.float32(np.sqrt(photo_share)), np.float32(np.sqrt(1 - photo_share))
    return np.concatenate([first * photo_vectors, second * looks], axis=1)


def _inner(side: int) -> tuple[float, float, float, float]:
    """The box that a stored square was cut around, so that cutting it again gives the square."""
    rim = side * MARGIN / (1 + 2 * MARGIN)
    return rim, rim, side - rim, side - rim


def _uncut(boxes: NDArray[np.float64], part: tuple[int, int, int, int], width: int, height: int) -> NDArray[np.bool_]:
    """Boxes that do not end where a part of the photo ends and the photo goes on: they show half of a thing."""
    x0, y0, x1, y1 = part
    rim = _CUT * max(x1 - x0, y1 - y0)
    cut = (boxes[:, 0] < x0 + rim) & (x0 > 0)
    cut |= (boxes[:, 1] < y0 + rim) & (y0 > 0)
    cut |= (boxes[:, 2] > x1 - rim) & (x1 < width)
    cut |= (boxes[:, 3] > y1 - rim) & (y1 < height)
    whole: NDArray[np.bool_] = ~cut
    return whole
