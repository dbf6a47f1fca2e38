"""The object context grounding map C (Section 5): what stands where, and what the instruction says to do about it.

    psi          (N, R, D)           context embedding of each reference
    references   (N, R, G, G)        M(r): where its object stands
    others       (N, 6, G, G)        all objects, coverage, four boundaries
    C            (N, D + 6, G, G)    [sum_r psi(r) M(r); all objects; coverage; boundaries]

The paper's map has no coverage channel and one boundary channel in its equation; its release has these. Coverage tells
a place without an object from a place not looked at. The release divides the sum by R; the paper does not,
and neither do we: a second reference is no reason for the first to grow faint.

In flight ``map_layers`` turns what a drone has seen into references and others. Stage 1 begins with
``object_context_map``, in training and, exported with it, in the ``visitation.onnx`` that flies. It takes arrays of
numpy or of torch, with gradients.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.errors import WaywordError
from wayword.mapping.grid import world_to_prediction
from wayword.mapping.observability import boundary_masks

OTHER_CHANNELS = 6
"""Channels behind the D of the context: all objects, coverage, four boundaries."""

FloatArray = NDArray[np.float32]
Array = TypeVar("Array")
"""An array of numpy or a tensor of torch."""


def map_layers(
    references: FloatArray, all_objects: FloatArray, coverage: FloatArray, start: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """One drone's world masks, seen from its ``start`` (x, y, yaw): references (R, 64, 64) and others (6, 64, 64)."""
    layers = np.concatenate([references, all_objects[None], coverage[None], boundary_masks()])
    both = world_to_prediction(layers, start)
    return both[:-OTHER_CHANNELS], both[-OTHER_CHANNELS:]


def object_context_map(psi: Array, references: Array, others: Array) -> Array:
    """C (N, D + 6, G, G) of N instructions with R references each."""
    # What numpy and torch both can do is in no type that they share.
    context, masks, rest = cast(tuple[Any, Any, Any], (psi, references, others))
    _check_shapes(tuple(context.shape), tuple(masks.shape), tuple(rest.shape))
    n, r, g = masks.shape[:3]
    placed = (context.swapaxes(1, 2) @ masks.reshape(n, r, g * g)).reshape(n, -1, g, g)
    if isinstance(psi, np.ndarray):
        return cast(Array, np.concatenate([placed, rest], axis=1))
    import torch  # whoever brings a tensor has it

    return cast(Array, torch.cat([placed, rest], dim=1))


def _check_shapes(psi: tuple[int, ...], references: tuple[int, ...], others: tuple[int, ...]) -> None:
    """Raise one clear line if the parts of a context map do not belong together."""
    ok = len(psi) == 3 and len(references) == 4 and references[:2] == psi[:2] and references[2] == references[3]
    if not ok or others != (psi[0], OTHER_CHANNELS, *references[2:]):
        raise WaywordError(
            "a context map needs psi (N, R, D), references (N, R, G, G) and others (N, 6, G, G), "
            f"not {psi}, {references} and {others}"
        )
