"""ALIGN(b, r) and the masks made from it (Equations 1 and 3).

    P(o | b)   (B, M + 1)   of B boxes over M objects and "none of these" (last)
    P(o | r)   (R, M + 1)   of R references, likewise
    P(b)       (B,)         probability that the box holds an object at all
    ALIGN      (R, B)
    M_b        (B, H, W)    refined masks in the frame
    S(I, r; O) (R, H, W)    masks of what the references mean
    S(I)       (H, W)       mask of all objects

Equation 1 reads sum_o P(o | b) P(b) P(o | r) / P(o), with P(o) uniform and P(b) known up to a factor. The
released code takes P(b) = objectness / sum of objectness and P(o) = 1/M, so that a mask grows with the number
of objects in the database and shrinks with the number of boxes in view. The factor is ours to choose: with
P(b) = objectness x P(o), ALIGN is the probability that b holds an object and that it is the database object r
means. It lies in [0, 1] whatever the database and the frame. "None of these" is no object and is not summed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def align(p_object_of_box: ArrayLike, p_box: ArrayLike, p_object_of_reference: ArrayLike) -> NDArray[np.float64]:
    """ALIGN(b, r) for all pairs: (R, B)."""
    of_box, of_reference = np.asarray(p_object_of_box, np.float64), np.asarray(p_object_of_reference, np.float64)
    if of_box.ndim != 2 or of_reference.ndim != 2 or of_box.shape[1] != of_reference.shape[1]:
        raise ValueError(
            f"P(o | b) is {of_box.shape} and P(o | r) is {of_reference.shape}; both need M + 1 columns, "
            f"one per object of the database and one for none of these"
        )
    result: NDArray[np.float64] = (of_reference[:, :-1] @ of_box[:, :-1].T) * np.asarray(p_box, np.float64)
    return result


def reference_masks(alignment: ArrayLike, masks: NDArray[np.float32]) -> NDArray[np.float32]:
    """S(I, r; O) = sum_b ALIGN(b, r) M_b (Equation 3), at most 1 where boxes overlap: (R, H, W)."""
    weights = np.asarray(alignment, np.float32)
    total: NDArray[np.float32] = np.tensordot(weights, masks, axes=1)
    return np.minimum(total, np.float32(1.0))


def all_objects_mask(masks: NDArray[np.float32], p_box: ArrayLike) -> NDArray[np.float32]:
    """S(I) = max_b M_b over the boxes that hold an object, (H, W).

    The paper keeps boxes of objectness above 0.4 before this maximum. Here each mask counts with its
    objectness instead of being cut off, so that a doubtful box gives a faint mask.
    """
    if not len(masks):
        return np.zeros(masks.shape[1:], np.float32)
    result: NDArray[np.float32] = (masks * np.asarray(p_box, np.float32)[:, None, None]).max(axis=0)
    return result
