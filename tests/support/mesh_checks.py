"""What it means for a mesh to be closed and oriented outwards; used by the tests of all objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def signed_volume(positions: NDArray[Any], faces: NDArray[Any]) -> float:
    """Sum of the tetrahedra from the middle to each face: positive if the faces look outwards."""
    points = np.asarray(positions, dtype=np.float64)
    corners = (points - points.mean(axis=0))[faces]
    return float(np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6)


def is_closed(positions: NDArray[Any], faces: NDArray[Any], digits: int = 6) -> bool:
    """Each edge is walked as often in one direction as in the other."""
    _, place = np.unique(np.round(positions, digits) + 0.0, axis=0, return_inverse=True)
    corners = place.reshape(-1)[faces]
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    forth, back = edges @ [1_000_000, 1], edges @ [1, 1_000_000]
    return bool(np.array_equal(np.sort(forth), np.sort(back)))
