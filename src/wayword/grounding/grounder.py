"""The whole segmentation: frames, references and a database of objects in, masks out.

grounder = Grounder.load("sim")
exemplars = grounder.embed_database({"globe": crops, ...})        # or embed boxes in photos
for answer in grounder(images, p_object_of_reference, exemplars):
    answer.masks, answer.all_objects, answer.boxes, answer.alignment, ...

I            (N, 72, 128, 3)   uint8 frames
P(o | r)     (R, M + 1)        per frame or for all frames; the last column is "none of these"
b, P(b)      (B, 4), (B,)      proposals of one frame
x            (B, D)            ImgEmb(I[b])
P(o | b)     (B, M + 1)        Equation 2
ALIGN        (R, B)            Equation 1
M_b          (B, 72, 128)
S(I, r; O)   (R, 72, 128)      Equation 3
S(I)         (72, 128)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.errors import WaywordError
from wayword.grounding.align import align, all_objects_mask, reference_masks
from wayword.grounding.crops import CROP
from wayword.grounding.density import Exemplars, probabilities
from wayword.grounding.image_metric import ImageEmbedder
from wayword.grounding.proposals import Proposals, Proposer
from wayword.grounding.refine import Refiner
from wayword.grounding.weight_files import GroundingConfig, open_networks
from wayword.shipped import DEFAULT_GROUNDER


class Regions(NamedTuple):
    """What a frame holds before any reference is asked about; worth keeping if references change."""

    proposals: Proposals
    embeddings: NDArray[np.float32]
    masks: NDArray[np.float32]
    """M_b."""


@dataclass(frozen=True)
class Grounding:
    """Everything found out about one frame; see the head of this module for the symbols."""

    boxes: NDArray[np.float32]
    p_box: NDArray[np.float64]
    p_object_of_box: NDArray[np.float64]
    p_object_of_reference: NDArray[np.float64]
    alignment: NDArray[np.float64]
    box_masks: NDArray[np.float32]
    masks: NDArray[np.float32]
    all_objects: NDArray[np.float32]
    embeddings: NDArray[np.float32]
    names: tuple[str, ...] = ()
    """The objects of P(o | b) and P(o | r), without "none of these"."""


class Grounder:
    """The three networks, the density and the alignment in one call."""

    def __init__(
        self,
        proposer: Proposer,
        embedder: ImageEmbedder,
        refiner: Refiner,
        config: GroundingConfig,
        maker: str | None = None,
    ) -> None:
        self.proposer, self.embedder, self.refiner, self.config = proposer, embedder, refiner, config
        self.maker = maker
        """What makes its embeddings, if they can be kept on the disk; changes whenever they may."""

    @staticmethod
    def load(weights: Path | str = DEFAULT_GROUNDER) -> Grounder:
        """The grounder with shipped weights, by name, or with those in a folder."""
        networks, config = open_networks(weights)
        return Grounder(
            Proposer(networks["proposals"], config.proposals),
            ImageEmbedder(networks["metric"], config.dimension),
            Refiner(networks["refine"]),
            config,
            networks["metric"].maker,
        )

    @staticmethod
    def of(grounder: Grounder | Path | str) -> Grounder:
        """A grounder as it is, or the one with the weights that are named."""
        return grounder if isinstance(grounder, Grounder) else Grounder.load(grounder)

    def regions(self, images: NDArray[np.uint8]) -> list[Regions]:
        """Boxes, embeddings and masks of every frame."""
        proposals = self.proposer(images)
        counts = [len(frame.boxes) for frame in proposals]
        which = np.repeat(np.arange(len(images)), counts)
        boxes = np.concatenate([frame.boxes for frame in proposals]) if proposals else np.zeros((0, 4), np.float32)
        embeddings, masks = self.embedder(images, which, boxes), self.refiner(images, which, boxes)
        cuts = np.cumsum(np.array(counts, np.int64))[:-1]
        parts = zip(proposals, np.split(embeddings, cuts), np.split(masks, cuts), strict=False)
        return [Regions(*part) for part in parts]

    def ground(self, regions: Regions, p_object_of_reference: ArrayLike, exemplars: Exemplars) -> Grounding:
        """Equations 1 to 3 for one frame."""
        of_reference = check_reference_probabilities(p_object_of_reference, len(exemplars.names))
        of_box = probabilities(regions.embeddings, exemplars, self.config.density)
        p_box = regions.proposals.objectness
        alignment = align(of_box, p_box, of_reference)
        return Grounding(
            boxes=regions.proposals.boxes,
            p_box=p_box,
            p_object_of_box=of_box,
            p_object_of_reference=of_reference,
            alignment=alignment,
            box_masks=regions.masks,
            masks=reference_masks(alignment, regions.masks),
            all_objects=all_objects_mask(regions.masks, p_box),
            embeddings=regions.embeddings,
            names=exemplars.names,
        )

    def __call__(
        self,
        images: NDArray[np.uint8],
        p_object_of_reference: ArrayLike | Sequence[ArrayLike],
        exemplars: Exemplars | Sequence[Exemplars],
    ) -> list[Grounding]:
        """Segment N frames.

        ``p_object_of_reference`` is one (R, M + 1) matrix for all frames, or a list of N; ``exemplars`` one
        database for all frames, or a list of N.
        """
        regions = self.regions(images)
        per_frame = isinstance(p_object_of_reference, (list, tuple)) and np.ndim(p_object_of_reference[0]) == 2
        references: list[Any] = list(p_object_of_reference) if per_frame else [p_object_of_reference] * len(regions)  # type: ignore[arg-type]
        databases = [exemplars] * len(regions) if isinstance(exemplars, Exemplars) else list(exemplars)
        if len(references) != len(regions) or len(databases) != len(regions):
            raise WaywordError(
                f"{len(regions)} frames but {len(references)} sets of references and {len(databases)} databases"
            )
        return [
            self.ground(region, reference, database)
            for region, reference, database in zip(regions, references, databases, strict=True)
        ]

    def embed_database(self, crops: Mapping[str, NDArray[np.uint8]] | Mapping[str, NDArray[np.float32]]) -> Exemplars:
        """Embed the exemplars of named objects, as ``ObjectDatabase.crops()`` gives them; an object may have none.

        Crops are (J, 32, 32, 3) uint8, or (J, 3, 32, 32) float32 with colour in [-1, 1].
        """
        names = tuple(crops)
        owners = np.repeat(np.arange(len(names)), [len(crops[name]) for name in names]).astype(np.int64)
        stacked = [crop_tensor(crops[name]) for name in names if len(crops[name])]
        vectors = self.embedder.embed(np.concatenate(stacked) if stacked else np.zeros((0, 3, CROP, CROP), np.float32))
        return Exemplars(names, vectors, owners)


def crop_tensor(crops: NDArray[np.uint8] | NDArray[np.float32]) -> NDArray[np.float32]:
    """Crops as the network takes them: (J, 3, 32, 32), colour in [-1, 1]."""
    if crops.dtype == np.uint8 and crops.shape[1:] == (CROP, CROP, 3):
        return np.ascontiguousarray(crops.transpose(0, 3, 1, 2), np.float32) / np.float32(127.5) - np.float32(1)
    if crops.dtype == np.float32 and crops.shape[1:] == (3, CROP, CROP):
        return np.asarray(crops, np.float32)
    raise WaywordError(f"exemplars must be (J, {CROP}, {CROP}, 3) uint8, not {crops.shape} {crops.dtype}")


def check_reference_probabilities(values: ArrayLike, objects: int) -> NDArray[np.float64]:
    """P(o | r) as (R, M + 1) float64, or one clear line about what is wrong with it."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != objects + 1:
        raise WaywordError(
            f"P(o | r) has shape {matrix.shape}; {objects} objects need {objects + 1} columns, the last for none"
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any() or not np.allclose(matrix.sum(axis=1), 1.0, atol=1e-4):
        raise WaywordError("P(o | r) holds rows that are not probabilities: they must be at least 0 and sum to 1")
    return matrix
