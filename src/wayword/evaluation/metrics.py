"""How well one flight followed its demonstration.

Shape shorthand: a path is a float64 array (N, 2) of ground-plan positions in the world frame, in
metres and in the order flown. F is the flown path, R the demonstration ("gold"), both as recorded;
F' and R' are the same two resampled every 2 cm of arc length.

The paper reports SR and EMD. The others are the usual ones of language navigation:

- SR, NE    last position of F against last position of R
- OSR       every recorded position of F against last position of R
- SPL       Anderson et al. 2018, "On Evaluation of Embodied Navigation Agents"
- EMD       exact optimal transport between F' and R'
- nDTW      Ilharco et al. 2019, "General Evaluation for Instruction Conditioned Navigation using
            Dynamic Time Warping", between F' and R'; SDTW is SR times nDTW

Success is judged by position alone, as in the paper's evaluation: running into the horizon beside the
goal counts. ``EpisodeMetrics.ended_by`` keeps apart what the position cannot tell.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from wayword.episodes.format import SUCCESS_RADIUS_M

FloatArray = NDArray[np.float64]

SUCCESS_THRESHOLD = SUCCESS_RADIUS_M
"""Metres: a tenth of the arena's edge; a flight succeeds strictly inside it."""

SPACING = 0.02
"""Metres of arc length between two points of a resampled path."""

_LONGEST = 20_000  # resampled points (400 m at 2 cm): beyond it the vehicle diverged, and memory would go
_PIVOTS = 100_000_000  # network simplex steps; two 18 m flights need up to a hundred thousand

EndedBy = Literal["policy", "horizon", "contact", "error"]
ENDINGS: tuple[EndedBy, ...] = get_args(EndedBy)


@dataclass(frozen=True)
class EpisodeMetrics:
    """The scores of one flight; ``emd`` and ``ne`` in metres, the other real numbers within 0..1."""

    sr: bool
    emd: float
    osr: bool
    ne: float
    spl: float
    ndtw: float
    sdtw: float
    collisions: int
    steps: int
    """Decisions the policy took."""
    ended_by: EndedBy

    def __post_init__(self) -> None:
        if self.ended_by not in ENDINGS:
            raise ValueError(f"an episode ends by one of {', '.join(ENDINGS)}, not by {self.ended_by!r}")
        if self.collisions < 0 or self.steps < 0:
            raise ValueError(f"collisions ({self.collisions}) and steps ({self.steps}) cannot be negative")


def score(
    flown_path: FloatArray, gold_path: FloatArray, collisions: int, steps: int, ended_by: EndedBy
) -> EpisodeMetrics:
    """Score one flight against its demonstration with every metric of this module."""
    flown, gold = _checked(flown_path, "flown path"), _checked(gold_path, "demonstration")
    # EMD and DTW share the resampled distances, by far the largest array here.
    distances = cdist(resample(gold), resample(flown))
    sr, ndtw_value = success(flown, gold), _ndtw(distances, SUCCESS_THRESHOLD)
    return EpisodeMetrics(
        sr=sr,
        emd=_transport(distances),
        osr=oracle_success(flown, gold),
        ne=navigation_error(flown, gold),
        spl=spl(flown, gold),
        ndtw=ndtw_value,
        sdtw=sr * ndtw_value,
        collisions=collisions,
        steps=steps,
        ended_by=ended_by,
    )


def resample(path: FloatArray, spacing: float = SPACING) -> FloatArray:
    """Points of the polyline every ``spacing`` metres of arc length, from its first to its last point.

    The last step is shorter unless the length is a multiple of ``spacing``. A path that never moves
    becomes one point. (The paper's released evaluation drops the last, shorter step; keeping it
    makes the end of a demonstration part of what is compared.)
    """
    path = _checked(path)
    if not (np.isfinite(spacing) and spacing > 0):
        raise ValueError(f"spacing is {spacing}; it must be a positive number of metres")
    arc = _arc_lengths(path)
    length = arc[-1]
    if not length / spacing <= _LONGEST:
        raise ValueError(
            f"the path is {length:.3g} m long, over {_LONGEST} steps of {spacing} m; did the vehicle diverge?"
        )
    # Repeated points add no arc length, and interpolation needs it to increase strictly.
    moved = np.concatenate(([True], np.diff(arc) > 0))
    # The small slack keeps rounding from adding a second last point when the length is a multiple.
    at = np.arange(np.ceil(length / spacing - 1e-6)) * spacing
    inner = np.column_stack([np.interp(at, arc[moved], path[moved, axis]) for axis in (0, 1)])
    return np.concatenate([inner, path[-1:]])


def emd(path_a: FloatArray, path_b: FloatArray) -> float:
    """Earth mover's distance in metres: each path, resampled, spreads one unit of mass evenly."""
    return _transport(cdist(resample(path_a), resample(path_b)))


def navigation_error(path: FloatArray, gold: FloatArray) -> float:
    """Distance in metres from the last position to the end of the demonstration (NE)."""
    return float(_to_goal(path, gold)[-1])


def success(path: FloatArray, gold: FloatArray, threshold: float = SUCCESS_THRESHOLD) -> bool:
    """Whether the last position is strictly within ``threshold`` metres of the demonstration's end (SR)."""
    return navigation_error(path, gold) < threshold


def oracle_success(path: FloatArray, gold: FloatArray, threshold: float = SUCCESS_THRESHOLD) -> bool:
    """Whether any recorded position is strictly within ``threshold`` of the demonstration's end (OSR)."""
    return bool(_to_goal(path, gold).min() < threshold)


def spl(path: FloatArray, gold: FloatArray, threshold: float = SUCCESS_THRESHOLD) -> float:
    """Success weighted by path length: S * L / max(P, L), with P the length flown.

    L is the length of the *demonstration*, not of the shortest way to its end: instructions here
    prescribe a path ("go around the barrel"), and cutting across must not count as efficient. Flying
    less than L is not rewarded either. A demonstration that does not move leaves 1 for staying put.
    """
    if not success(path, gold, threshold):
        return 0.0
    flown, prescribed = (float(_arc_lengths(_checked(each))[-1]) for each in (path, gold))
    longest = max(flown, prescribed)
    return prescribed / longest if longest > 0 else 1.0


def ndtw(path: FloatArray, gold: FloatArray, threshold: float = SUCCESS_THRESHOLD) -> float:
    """Normalised dynamic time warping, exp(-DTW(R', F') / (|R'| * threshold)), within 0..1.

    Both paths are resampled every 2 cm first, so |R'| counts points 2 cm apart and neither the speed
    of the flight nor the rate of recording matters.
    """
    return _ndtw(cdist(resample(gold), resample(path)), threshold)


def sdtw(path: FloatArray, gold: FloatArray, threshold: float = SUCCESS_THRESHOLD) -> float:
    """nDTW of a flight that succeeds, 0 of one that fails."""
    return ndtw(path, gold, threshold) if success(path, gold, threshold) else 0.0


@njit()
def dtw(distances: FloatArray) -> float:
    """Exact dynamic time warping: the cheapest monotone walk through ``distances`` from corner to corner."""
    # Compiled anew in each process (half a second) rather than cached: no writable place is needed.
    rows, columns = distances.shape
    best = np.full(columns + 1, np.inf)  # costs up to the row above, overwritten from left to right
    best[0] = 0.0
    for i in range(rows):
        diagonal = best[0]
        best[0] = np.inf
        for j in range(columns):
            above = best[j + 1]
            best[j + 1] = distances[i, j] + min(diagonal, above, best[j])
            diagonal = above
    return float(best[columns])


def _ndtw(distances: FloatArray, threshold: float) -> float:
    return float(np.exp(-dtw(distances) / (len(distances) * threshold)))


def _transport(distances: FloatArray) -> float:
    os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")  # numpy is enough, and loading torch takes seconds
    import ot  # still takes a second, which no other command should wait for

    cost, log = ot.emd2([], [], distances, numItermax=_PIVOTS, log=True)
    if log["warning"] is not None:
        raise RuntimeError(f"optimal transport of {distances.shape} points is not optimal: {log['warning']}")
    return max(0.0, float(cost))


def _to_goal(path: FloatArray, gold: FloatArray) -> FloatArray:
    offsets = _checked(path) - _checked(gold, "demonstration")[-1]
    distances: FloatArray = np.hypot(offsets[:, 0], offsets[:, 1])
    return distances


def _arc_lengths(path: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # absurd coordinates give an infinite length, refused by resample
        steps = np.diff(path, axis=0)
        return np.concatenate(([0.0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))))


def _checked(path: FloatArray, name: str = "path") -> FloatArray:
    try:
        points = np.asarray(path, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the {name} is not an array of numbers") from error
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise ValueError(f"the {name} has shape {points.shape}; it must be (N, 2) with N at least 1")
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        raise ValueError(f"point {int(np.argmin(finite))} of the {name} is not finite")
    return points
