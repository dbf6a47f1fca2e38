"""Perfect segmentation: FsPVN that is told which pixels belong to which object.

Boxes, P(b), P(o | b) and masks come from the simulator's own ids; language, map and both stages of the policy are
those of FsPVN. What it gains over FsPVN is what the segmentation costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.grounding.align import align, all_objects_mask, reference_masks
from wayword.grounding.density import OTHERS
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
            true_grounding(
                self._at_model_size(frame), layout, flight.candidates.names, flight.table, flight.taught.exemplars.names
            )
            for frame, layout, flight in zip(ids, self._layouts, flights, strict=True)
        ]

    def _at_model_size(self, ids: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The ids of a larger or smaller frame in the pixels of the networks: those in the middle of each."""
        rows, columns = (
            ((np.arange(size) + 0.5) * there / size).astype(np.int64)
            for size, there in zip((self.camera.height, self.camera.width), ids.shape, strict=True)
        )
        return ids[np.ix_(rows, columns)]


class TrueLabelFsPVN(PerfectFsPVN):
    """FsPVN with its own boxes and masks that is told which object each of them shows.

    What it gains over FsPVN is what wrong and weak labels cost; boxes that are missing or badly cut stay so.
    """

    name = "fspvn_labels"

    @classmethod
    def like(cls, policy: FsPVN) -> TrueLabelFsPVN:
        """With the parts of a policy, which must not be flying."""
        return cls(policy.language, policy.grounder, policy.stage1, policy.control, policy.config)

    def _segment(self, slots: list[int], images: NDArray[np.uint8]) -> list[Grounding]:
        ids, self._ids = self._ids, None
        if ids is None or len(ids) != len(images):
            raise WaywordError("true labels need the simulator's ids: they are for `wayword eval table` only")
        return [
            true_labels(grounding, self._at_model_size(frame), layout)
            for grounding, frame, layout in zip(FsPVN._segment(self, slots, images), ids, self._layouts, strict=True)
        ]


def true_labels(grounding: Grounding, ids: NDArray[np.uint8], layout: Sequence[str]) -> Grounding:
    """A frame with the P(o | b) that is true of its boxes: of the object that most of a box's mask shows.

    A mask of which no object has half shows none of these.
    """
    columns = {name: column for column, name in enumerate(grounding.names)}
    elsewhere = columns.get(OTHERS, -1)  # an object of a large database that nobody spoke of, or none
    of_box = np.zeros_like(grounding.p_object_of_box)
    for row, mask in enumerate(grounding.box_masks > 0.5):
        counts = np.bincount(ids[mask], minlength=len(layout) + 1)[1:]
        best = int(counts.argmax()) if len(layout) else -1
        owned = best >= 0 and counts[best] > 0 and 2 * counts[best] >= mask.sum()
        of_box[row, columns.get(layout[best], elsewhere) if owned else -1] = 1.0
    alignment = align(of_box, grounding.p_box, grounding.p_object_of_reference)
    masks = reference_masks(alignment, grounding.box_masks)
    return replace(grounding, p_object_of_box=of_box, alignment=alignment, masks=masks)


def true_regions(ids: NDArray[np.uint8], objects: int) -> tuple[list[int], NDArray[np.float32], NDArray[np.float32]]:
    """The objects in view of a layout of so many: their numbers, tight boxes (K, 4) and masks (K, H, W) of 0 and 1."""
    counts = np.bincount(ids.ravel(), minlength=objects + 1)
    numbers = [k for k in range(objects) if counts[k + 1] >= LEAST_PIXELS]
    masks, boxes = np.zeros((len(numbers), *ids.shape), np.float32), np.zeros((len(numbers), 4), np.float32)
    for row, k in enumerate(numbers):
        mask = ids == k + 1
        lines, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        masks[row], boxes[row] = mask, (columns[0], lines[0], columns[-1] + 1, lines[-1] + 1)
    return numbers, boxes, masks


def true_grounding(
    ids: NDArray[np.uint8],
    layout: Sequence[str],
    database: Sequence[str],
    table: NDArray[np.float64],
    everything: Sequence[str] = (),
) -> Grounding:
    """One frame as a segmentation without mistakes would see it; ``table`` is P(o | r) of the ``database``.

    What is not in it but in ``everything`` that was taught is another taught object, if that has a column.
    """
    numbers, boxes, soft = true_regions(ids, len(layout))
    of_box, p_box = np.zeros((len(numbers), len(database) + 1)), np.ones(len(numbers))
    known = {name: column for column, name in enumerate(database)}
    if OTHERS in known:
        known |= {name: known[OTHERS] for name in layout if name in everything and name not in known}
    for row, k in enumerate(numbers):
        of_box[row, known.get(layout[k], -1)] = 1.0  # what the database does not know is none of its objects
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
        names=tuple(database),
    )
