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

A further one is a field of ``EpisodeMetrics``, a line of ``score`` and a line of ``METRICS``; tables, reports and
published figures have it from there.

Success is judged by position alone, as in the paper's evaluation: running into the horizon beside the
goal counts. ``EpisodeMetrics.ended_by`` keeps apart what the position cannot tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.spatial.distance import cdist

from wayword.path_distance import FloatArray, arc_lengths, checked_path, dtw, resample, transport
from wayword.task import SUCCESS_RADIUS_M

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


class Metric(NamedTuple):
    """How a field of ``EpisodeMetrics`` is shown; "%" marks a rate, kept as a fraction until then."""

    title: str
    unit: str


METRICS: dict[str, Metric] = {
    "sr": Metric("SR", "%"),
    "emd": Metric("EMD", "m"),
    "osr": Metric("OSR", "%"),
    "ne": Metric("NE", "m"),
    "spl": Metric("SPL", ""),
    "ndtw": Metric("nDTW", ""),
    "sdtw": Metric("SDTW", ""),
    "collisions": Metric("coll.", "per episode"),
    "steps": Metric("steps", "per episode"),
}
"""The averaged fields, in the order of the tables."""


def score(
    flown_path: FloatArray, gold_path: FloatArray, collisions: int, steps: int, ended_by: EndedBy
) -> EpisodeMetrics:
    """Score one flight against its demonstration with every metric of this module."""
    flown, gold = checked_path(flown_path, "flown path"), checked_path(gold_path, "demonstration")
    # EMD and DTW share the resampled distances, by far the largest array here.
    distances = cdist(resample(gold), resample(flown))
    sr, ndtw_value = success(flown, gold), _ndtw(distances, SUCCESS_RADIUS_M)
    return EpisodeMetrics(
        sr=sr,
        emd=transport(distances),
        osr=oracle_success(flown, gold),
        ne=navigation_error(flown, gold),
        spl=spl(flown, gold),
        ndtw=ndtw_value,
        sdtw=sr * ndtw_value,
        collisions=collisions,
        steps=steps,
        ended_by=ended_by,
    )


def navigation_error(path: FloatArray, gold: FloatArray) -> float:
    """Distance in metres from the last position to the end of the demonstration (NE)."""
    return float(_to_goal(path, gold)[-1])


def success(path: FloatArray, gold: FloatArray, threshold: float = SUCCESS_RADIUS_M) -> bool:
    """Whether the last position is strictly within ``threshold`` metres of the demonstration's end (SR)."""
    return navigation_error(path, gold) < threshold


def oracle_success(path: FloatArray, gold: FloatArray, threshold: float = SUCCESS_RADIUS_M) -> bool:
    """Whether any recorded position is strictly within ``threshold`` of the demonstration's end (OSR)."""
    return bool(_to_goal(path, gold).min() < threshold)


def spl(path: FloatArray, gold: FloatArray, threshold: float = SUCCESS_RADIUS_M) -> float:
    """Success weighted by path length: S * L / max(P, L), with P the length flown.

    L is the length of the *demonstration*, not of the shortest way to its end: instructions here
    prescribe a path ("go around the barrel"), and cutting across must not count as efficient. Flying
    less than L is not rewarded either. A demonstration that does not move leaves 1 for staying put.
    """
    if not success(path, gold, threshold):
        return 0.0
    flown, prescribed = (float(arc_lengths(checked_path(each))[-1]) for each in (path, gold))
    longest = max(flown, prescribed)
    return prescribed / longest if longest > 0 else 1.0


def ndtw(path: FloatArray, gold: FloatArray, threshold: float = SUCCESS_RADIUS_M) -> float:
    """Normalised dynamic time warping, exp(-DTW(R', F') / (|R'| * threshold)), within 0..1.

    Both paths are resampled every 2 cm first, so |R'| counts points 2 cm apart and neither the speed
    of the flight nor the rate of recording matters.
    """
    return _ndtw(cdist(resample(gold), resample(path)), threshold)


def sdtw(path: FloatArray, gold: FloatArray, threshold: float = SUCCESS_RADIUS_M) -> float:
    """nDTW of a flight that succeeds, 0 of one that fails."""
    return ndtw(path, gold, threshold) if success(path, gold, threshold) else 0.0


def _ndtw(distances: FloatArray, threshold: float) -> float:
    return float(np.exp(-dtw(distances) / (len(distances) * threshold)))


def _to_goal(path: FloatArray, gold: FloatArray) -> FloatArray:
    offsets = checked_path(path) - checked_path(gold, "demonstration")[-1]
    distances: FloatArray = np.hypot(offsets[:, 0], offsets[:, 1])
    return distances
