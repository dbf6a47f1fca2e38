"""The object context grounding map C^W (Section 5): what stands where, and what the instruction says to do about it.

    psi          (R, D)              context embedding of each reference
    references   (R, H, W)           M^W(r), world or prediction grid alike
    all_objects  (H, W)
    coverage     (H, W)
    boundaries   (4, H, W)
    C^W          (D + 6, H, W)       [sum_r psi(r) M^W(r); all objects; coverage; boundaries]

The paper's map has no coverage channel and one boundary channel in its equation; its release has these. Coverage tells
a place without an object from a place not looked at. The release divides the sum by R; the paper does not,
and neither do we: a second reference is no reason for the first to grow faint.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError

OTHER_CHANNELS = 6
"""Channels behind the D of the context: all objects, coverage, four boundaries."""

FloatArray = NDArray[np.float32]


def check_shapes(
    psi: tuple[int, ...],
    references: tuple[int, ...],
    all_objects: tuple[int, ...],
    coverage: tuple[int, ...],
    boundaries: tuple[int, ...],
) -> None:
    """Raise one clear line if the parts of a context map do not belong together; they may have batch axes in front."""
    ok = len(psi) >= 2 and len(references) == len(psi) + 1 and references[:-2] == psi[:-1]
    batch, grid = psi[:-2], references[-2:]
    ok = ok and all_objects == coverage == (*batch, *grid) and boundaries in ((4, *grid), (*batch, 4, *grid))
    if not ok:
        raise WaywordError(
            "a context map needs psi (R, D), references (R, H, W), all_objects and coverage (H, W) and boundaries "
            f"(4, H, W), not {psi}, {references}, {all_objects}, {coverage} and {boundaries}"
        )


def object_context_map(
    psi: FloatArray, references: FloatArray, all_objects: FloatArray, coverage: FloatArray, boundaries: FloatArray
) -> FloatArray:
    """C^W (D + 6, H, W) of one instruction; with the same batch axes in front of all parts, of several."""
    check_shapes(psi.shape, references.shape, all_objects.shape, coverage.shape, boundaries.shape)
    dimension, grid = psi.shape[-1], references.shape[-2:]
    result = np.empty((*psi.shape[:-2], dimension + OTHER_CHANNELS, *grid), np.float32)
    result[..., :dimension, :, :] = np.einsum("...rd,...rhw->...dhw", psi, references, optimize=True)
    result[..., dimension, :, :] = all_objects
    result[..., dimension + 1, :, :] = coverage
    result[..., dimension + 2 :, :, :] = boundaries
    return result
