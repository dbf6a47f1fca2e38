"""Calibration from pictures of a checkerboard, with OpenCV's detector and bundle adjustment.

OpenCV is imported here only: flying does not need it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.flight.calibration import Calibration

LEAST_VIEWS = 8
LARGEST_ERROR_PX = 1.0
_OUTLIER = 3.0
"""A picture whose corners miss by so many times the median picture's has a corner that is none: it is left out."""
LEAST_SPREAD = 0.5
"""The corners found must reach over this share of the picture's width and height, or the distortion is a guess."""


@dataclass(frozen=True, eq=False)
class BoardViews:
    """What was found in the pictures."""

    corners: list[NDArray[np.float32]]
    """(N, 2) each, column and row, the centre of the first pixel at (0.5, 0.5)."""
    size: tuple[int, int]
    looked_at: int


def need_opencv() -> Any:
    """The library, or what to install."""
    try:
        import cv2
    except ImportError as error:
        raise WaywordError('calibrating needs OpenCV: pip install -e ".[flight]"') from error
    return cv2


def find_views(pictures: Iterable[NDArray[np.uint8]], inner: tuple[int, int], most: int = 60) -> BoardViews:
    """The board's inner corners in every picture that shows all of them and differs from the last that did."""
    cv2 = need_opencv()
    corners, size, looked = list[NDArray[np.float32]](), None, 0
    for picture in pictures:
        looked += 1
        own = (picture.shape[1], picture.shape[0])
        if size is not None and own != size:
            raise WaywordError(f"the pictures differ in size: {size[0]} x {size[1]} and {own[0]} x {own[1]}")
        size = own
        grey = cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGB2GRAY)
        complete, points = cv2.findChessboardCornersSB(
            grey, inner, flags=cv2.CALIB_CB_NORMALIZE_IMAGE | cv2.CALIB_CB_ACCURACY
        )
        if not complete:
            continue
        flat = _refined(cv2, grey, points, inner) + 0.5  # OpenCV counts from the centre of the first pixel
        if not corners or float(np.abs(flat - corners[-1]).max()) > 0.02 * size[0]:
            corners.append(flat)
        if len(corners) >= most:
            break
    if size is None:
        raise WaywordError("there are no pictures to calibrate from")
    return BoardViews(corners, size, looked)


def _refined(cv2: Any, grey: NDArray[np.uint8], points: Any, inner: tuple[int, int]) -> NDArray[np.float32]:
    """Corners to a tenth of a pixel.

    The detector leaves an error without bias of 0.4 pixels (root mean square) on rendered boards, through a lens with
    the distortion of the tests; what the gradients around each corner say leaves a third of that.
    """
    rough = np.asarray(points, np.float32).reshape(inner[1], inner[0], 2)
    steps = [np.linalg.norm(np.diff(rough, axis=axis), axis=2).min() for axis in (0, 1)]
    window = int(np.clip(0.3 * min(steps), 2, 8))  # no neighbouring corner is within
    end = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 50, 1e-3)
    refined = cv2.cornerSubPix(grey, rough.reshape(-1, 1, 2).copy(), (window, window), (-1, -1), end)
    flat: NDArray[np.float32] = np.asarray(refined, np.float32).reshape(-1, 2)
    return flat


def calibrate(
    views: BoardViews, inner: tuple[int, int], square_m: float = 0.025, mount_pitch_deg: float = 15.0
) -> Calibration:
    """Intrinsics and distortion that explain the corners best; refused if few, in one place or unexplained."""
    cv2 = need_opencv()
    if len(views.corners) < LEAST_VIEWS:
        raise WaywordError(
            f"the whole board of {inner[0]} x {inner[1]} inner corners is in {len(views.corners)} different pictures "
            f"of {views.looked_at}; at least {LEAST_VIEWS} are needed"
        )
    everything = np.concatenate(views.corners)
    spread = (everything.max(axis=0) - everything.min(axis=0)) / views.size
    if spread.min() < LEAST_SPREAD:
        raise WaywordError(
            f"the board covers only {100 * spread[0]:.0f} % of the picture's width and {100 * spread[1]:.0f} % of its "
            "height over all pictures; show it in the corners too"
        )
    board = np.zeros((inner[0] * inner[1], 3), np.float32)
    board[:, :2] = np.mgrid[0 : inner[0], 0 : inner[1]].T.reshape(-1, 2) * square_m
    used = [(points - 0.5)[:, None] for points in views.corners]
    for _ in range(3):
        error, matrix, distortion, _, _, _, _, per_view = cv2.calibrateCameraExtended(
            [board] * len(used), used, views.size, None, None
        )
        errors = np.asarray(per_view).ravel()
        good = errors <= _OUTLIER * np.median(errors)
        if good.all() or good.sum() < LEAST_VIEWS:
            break
        used = [points for points, keep in zip(used, good, strict=True) if keep]
    if error > LARGEST_ERROR_PX:
        raise WaywordError(
            f"the corners miss the model by {error:.2f} pixels; keep board and camera still, use a flat board, and "
            "check --corners"
        )
    k1, k2, p1, p2, k3 = np.asarray(distortion, np.float64).ravel()[:5].tolist()
    return Calibration(
        *views.size, float(matrix[0, 0]), float(matrix[1, 1]), float(matrix[0, 2]) + 0.5, float(matrix[1, 2]) + 0.5,
        k1, k2, p1, p2, k3, mount_pitch_deg, error_px=float(error),
    )  # fmt: skip
