"""The intrinsic reward of stage 2 (Equation 11): follow, stop by and complete one's own predictions. No gold.

d_t           (2, 4097)   d^p_t, d^g_t that action a_t was chosen from; grid cells, then "not yet observed"
V_t           (64, 64)    1 in the cells touched by the flight up to p_{t+1}, where a_t led
p_{t+1}       (2,)        place after a_t, in cells of the prediction grid: line, column
W1            cells       Wasserstein distance, both sides normalised over the grid, "not yet observed" left out

    phi_v(t) = -W1(V_t, d^p_t)                      r_v(t) = phi_v(t) - phi_v(t-1)
    phi_e(t) = max_{k<=t} (1 - d^g_k(unobserved))   r_e(t) = phi_e(t) - phi_e(t-1)
    r_s(t)   = -W1(d^g_t, one at p_{t+1})           when the episode ends at t, for whatever reason
    r_u(t)   = -d^g_t(unobserved)                   likewise; not in the paper, weight 3 in its release
    r_a(t)   = min(max(v - 1.7, -0.5 - v, 0) + max(|omega| - 2, 0), 2), on normalised outputs before clipping
    r_c(t)   = min(max(1 - gap / margin, 0), 1)     gap: nearest the body came to anything while a_t was flown
    r        = .3 r_v + .5 r_s + 1 r_e + w_u r_u - w_c r_c - 1 r_a - .04;   r_v(0) = r_e(0) = 0

r_c is not in the paper, where nothing is solid. It is the only term that knows the world: what is touched cannot be
told from one's own predictions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.compiled import compiled
from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED

Floats = NDArray[np.float32]
_HALF = (PREDICTION_CELLS - 1) / 2
_LEAST = 1e-6
"""Less mass than this on the grid has no shape: the terms that need one stay as they were."""


@dataclass(frozen=True)
class RewardConfig:
    """The weights of the paper's table."""

    visitation: float = 0.3
    stop: float = 0.5
    exploration: float = 1.0
    action: float = 1.0
    step: float = 0.04
    stop_unobserved: float = 0.0
    """Against stopping while the goal has not been observed; 3 in the paper's release, not in the paper."""
    contact: float = 0.0
    """Against touching things, in full where one is touched; 0 in the paper."""
    margin_m: float = 0.1
    """As far from the body as this, a thing begins to count."""
    directions: int = 8
    """Slices of W1 (0.02 ms); 0 takes the exact distance (0.4 to 13 ms)."""


class IntrinsicReward:
    """Rewards of N episodes, each with the memory the potentials need."""

    def __init__(self, count: int, config: RewardConfig | None = None) -> None:
        self.config = config or RewardConfig()
        self._visitation = np.full(count, np.nan)
        self._exploration = np.full(count, np.nan)

    def reset(self, slots: ArrayLike) -> None:
        """Episodes begin in ``slots``."""
        self._visitation[np.asarray(slots, np.int64)] = np.nan
        self._exploration[np.asarray(slots, np.int64)] = np.nan

    def __call__(
        self,
        slots: NDArray[np.int64],
        distributions: Floats,
        visited: Floats,
        places: NDArray[np.float64],
        outputs: ArrayLike,
        ended: NDArray[np.bool_],
        gaps_m: ArrayLike = math.inf,
    ) -> NDArray[np.float64]:
        """Rewards (M,) of one action each.

        distributions (M, 2, 4097) before the action, visited (M, 64, 64) and places (M, 2: line, column in cells)
        after it, outputs (M, 2) normalised v and omega as sampled, ended (M,), gaps_m (M,) to the nearest thing.
        """
        count, config = len(slots), self.config
        assert distributions.shape == (count, 2, UNOBSERVED + 1)
        assert visited.shape == (count, PREDICTION_CELLS, PREDICTION_CELLS)
        assert places.shape == (count, 2)
        assert ended.shape == (count,)
        grids, unobserved = distributions[:, :, :UNOBSERVED], distributions[:, :, UNOBSERVED]
        distance = transport_cells(visited.reshape(count, -1), grids[:, 0], config.directions)
        distance = np.where(np.isnan(distance), -self._visitation[slots], distance)
        r_v = np.nan_to_num(-distance - self._visitation[slots])
        exploration = np.fmax(self._exploration[slots], 1.0 - unobserved[:, 1])
        r_e = np.nan_to_num(exploration - self._exploration[slots])
        self._visitation[slots], self._exploration[slots] = -distance, exploration
        r_s = np.where(ended, -np.nan_to_num(mean_distance_cells(grids[:, 1], places)), 0.0)
        r_u = np.where(ended, -unobserved[:, 1], 0.0)
        total: NDArray[np.float64] = (
            config.visitation * r_v
            + config.stop * r_s
            + config.exploration * r_e
            + config.stop_unobserved * r_u
            - config.contact * nearness(gaps_m, config.margin_m)
            - config.action * action_excess(outputs)
            - config.step
        )
        return total


def nearness(gaps_m: ArrayLike, margin_m: float) -> NDArray[np.float64]:
    """r_c (N,) of gaps (N,) between body and things: 1 where they touch, 0 from the margin on."""
    result: NDArray[np.float64] = np.clip(1 - np.asarray(gaps_m, np.float64) / margin_m, 0.0, 1.0)
    return result


def action_excess(outputs: ArrayLike) -> NDArray[np.float64]:
    """r_a (N,) of normalised v and omega (N, 2): how far beyond a generous range, at most 2."""
    v, omega = np.asarray(outputs, np.float64).T
    excess = np.maximum(np.maximum(v - 1.7, -0.5 - v), 0) + np.maximum(np.abs(omega) - 2.0, 0)
    result: NDArray[np.float64] = np.minimum(excess, 2.0)
    return result


def grid_places(points: ArrayLike, starts: ArrayLike) -> NDArray[np.float64]:
    """World points (N, 2) as line and column (N, 2) of the prediction grids of ``starts`` (N, 3)."""
    start = np.asarray(starts, np.float64)
    offset = (np.asarray(points, np.float64) - start[:, :2]) / CELL_M
    c, s = np.cos(start[:, 2]), np.sin(start[:, 2])
    u, v = c * offset[:, 0] + s * offset[:, 1], -s * offset[:, 0] + c * offset[:, 1]
    return np.stack([v, u], axis=1) + _HALF


def mean_distance_cells(grids: Floats, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """W1 (N,) between grids (N, 4096) and one place (N, 2) each, in cells; NaN where a grid is empty."""
    result = np.empty(len(grids))
    _mean_distances(np.ascontiguousarray(grids), places, result)
    return result


def transport_cells(a: Floats, b: Floats, directions: int = 8) -> NDArray[np.float64]:
    """W1 (N,) between grids (N, 4096) in cells; NaN where one of them is empty.

    Sliced: the mean of the one-dimensional distances along ``directions``, times pi / 2, which makes it exact for a
    shift and a lower bound otherwise (to 1 %, for 8 directions); the two correlate at over 0.99. 0 directions: exact.
    """
    if directions == 0:
        return np.array([_exact(p, q) for p, q in zip(a, b, strict=True)])
    result = np.empty(len(a))
    _sliced(np.ascontiguousarray(a), np.ascontiguousarray(b), directions, result)
    return result


def _exact(a: Floats, b: Floats) -> float:
    import ot  # takes seconds to load, and flies nowhere

    i, j = np.flatnonzero(a > 0), np.flatnonzero(b > 0)
    p, q = a[i].astype(np.float64), b[j].astype(np.float64)
    if p.sum() < _LEAST or q.sum() < _LEAST:
        return math.nan
    places = [np.stack(np.divmod(cells, PREDICTION_CELLS), axis=1).astype(np.float64) for cells in (i, j)]
    cost = np.linalg.norm(places[0][:, None] - places[1][None], axis=2)
    return float(ot.emd2(p / p.sum(), q / q.sum(), cost, numItermax=1_000_000))


@compiled()
def _mean_distances(grids, places, result):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    for n in range(len(grids)):
        total, mass = 0.0, 0.0
        for i in range(PREDICTION_CELLS):
            for j in range(PREDICTION_CELLS):
                p = grids[n, i * PREDICTION_CELLS + j]
                if p > 0:
                    mass += p
                    total += p * math.hypot(i - places[n, 0], j - places[n, 1])
        result[n] = total / mass if mass >= _LEAST else np.nan


@compiled()
def _sliced(a, b, directions, result):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """One histogram of a - b per direction, half a cell fine; W1 in one dimension is the area under its |sum|."""
    bins = 4 * PREDICTION_CELLS
    cosines, sines = np.empty(directions), np.empty(directions)
    for k in range(directions):
        # Half a step off the axes: along them whole rows of cells would fall into one bin.
        cosines[k], sines[k] = math.cos(math.pi * (k + 0.5) / directions), math.sin(math.pi * (k + 0.5) / directions)
    for n in range(len(a)):
        mass_a, mass_b = 0.0, 0.0
        for cell in range(a.shape[1]):
            mass_a += a[n, cell]
            mass_b += b[n, cell]
        if mass_a < _LEAST or mass_b < _LEAST:
            result[n] = np.nan
            continue
        histograms = np.zeros((directions, bins))
        for i in range(PREDICTION_CELLS):
            for j in range(PREDICTION_CELLS):
                cell = i * PREDICTION_CELLS + j
                if a[n, cell] == 0 and b[n, cell] == 0:
                    continue
                weight = a[n, cell] / mass_a - b[n, cell] / mass_b
                for k in range(directions):
                    at = 2.0 * ((j - _HALF) * cosines[k] + (i - _HALF) * sines[k]) + bins / 2
                    low = int(at)
                    histograms[k, low] += weight * (1.0 - (at - low))
                    histograms[k, low + 1] += weight * (at - low)
        area = 0.0
        for k in range(directions):
            running = 0.0
            for m in range(bins):
                running += histograms[k, m]
                area += abs(running)
        result[n] = 0.5 * area / directions * math.pi / 2
