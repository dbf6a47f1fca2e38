"""Perfect segmentation: FsPVN that is told which pixels belong to which object.

Boxes, P(b), P(o | b) and masks come from the simulator's own ids; language, map and both stages of the policy are
those of FsPVN. What it gains over FsPVN is what the segmentation costs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.grounding.align import align, all_objects_mask, reference_masks
from wayword.grounding.grounder import Grounding
from wayword.policy.fspvn import FsPVN

LEAST_PIXELS = 12
"""An object of which less is in view has no box, as in the training of the proposals."""


class PerfectFsPVN(FsPVN):
    """Must be shown the true ids with ``watch`` before every ``act``; only the evaluation does that."""

    name = "fspvn_perfect"
    _ids: NDArray[np.uint8] | None = None
    _layouts: Sequence[Sequence[str]] = ()

    def watch(self, ids: NDArray[np.uint8], layouts: Sequence[Sequence[str]]) -> None:
        """Whose every pixel of the next frames is (M, H, W), and the names of each row's objects."""
        self._ids, self._layouts = ids, layouts

    def _segment(self, slots: list[int], images: NDArray[np.uint8]) -> list[Grounding]:
        ids, self._ids = self._ids, None
        if ids is None or len(ids) != len(images):
            raise WaywordError("perfect segmentation needs the simulator's ids: it flies in `wayword eval` only")
        flights = [self._flights[slot] for slot in slots]
        return [
            true_grounding(self._at_model_size(frame), layout, flight.taught.exemplars.names, flight.table)
            for frame, layout, flight in zip(ids, self._layouts, flights, strict=True)
        ]

    def _at_model_size(self, ids: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The ids of a larger or smaller frame in the pixels of the networks: those in the middle of each."""
        rows, columns = (
            ((np.arange(size) + 0.5) * there / size).astype(np.int64)
            for size, there in zip((self.camera.height, self.camera.width), ids.shape, strict=True)
        )
        return ids[np.ix_(rows, columns)]


def true_grounding(
    ids: NDArray[np.uint8], layout: Sequence[str], database: Sequence[str], table: NDArray[np.float64]
) -> Grounding:
    """One frame as a segmentation without mistakes would see it; ``table`` is P(o | r) of the ``database``."""
    counts = np.bincount(ids.ravel(), minlength=len(layout) + 1)
    numbers = [k for k in range(len(layout)) if counts[k + 1] >= LEAST_PIXELS]
    masks = np.stack([ids == k + 1 for k in numbers]) if numbers else np.zeros((0, *ids.shape), bool)
    boxes, of_box = np.zeros((len(numbers), 4), np.float32), np.zeros((len(numbers), len(database) + 1))
    known = {name: column for column, name in enumerate(database)}
    for row, (k, mask) in enumerate(zip(numbers, masks, strict=True)):
        lines, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        boxes[row] = (columns[0], lines[0], columns[-1] + 1, lines[-1] + 1)
        of_box[row, known.get(layout[k], -1)] = 1.0  # what the database does not know is none of its objects
    soft, p_box = masks.astype(np.float32), np.ones(len(numbers))
    alignment = align(of_box, p_box, table)
    return Grounding(
        boxes=boxes,
        p_box=p_box,
        p_object_of_box=of_box,
        p_object_of_reference=table,
        alignment=alignment,
        box_masks=soft,
        masks=reference_masks(alignment, soft),
        all_objects=all_objects_mask(soft, p_box),
        embeddings=np.zeros((len(numbers), 0), np.float32),
    )
