"""A way around things: the cheapest path on a fine grid, where passing close to something costs.

    discs    (K, 3)     x, y, radius in metres of what must not be touched, the drone's own radius included
    cell     0.05 m     grid over the arena, 94 x 94
    cost     per metre: 1 far from everything, growing within ``ROOM_M`` of a disc, 400 inside one or off the arena

A path always exists: where the drone starts inside a disc, or the goal lies in one, it pays. Dijkstra from the goal,
then straightened where a straight piece costs no more.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.compiled import compiled
from wayword.task import ARENA_M

CELL_M = 0.05
EDGE_M = 0.1
"""The drone keeps this far inside the arena."""
ROOM_M = 0.32
CLOSE = 9.0
"""Extra cost per metre at the surface of a disc; falls with the square to 0 at ``ROOM_M``."""
BLOCKED = 400.0


def route(start: ArrayLike, goal: ArrayLike, discs: ArrayLike, arena_m: float = ARENA_M) -> NDArray[np.float64]:
    """The way (P, 2) from ``start`` to ``goal``, both included."""
    a, b = np.asarray(start, np.float64)[:2], np.asarray(goal, np.float64)[:2]
    around = np.ascontiguousarray(np.asarray(discs, np.float64).reshape(-1, 3))
    if _straight_cost(a[0], a[1], b[0], b[1], around, arena_m) <= 1.02 * float(np.hypot(*(b - a))):
        return np.stack([a, b])
    count = round(arena_m / CELL_M)
    cells = _search(a, b, around, arena_m, count)
    points = np.concatenate([a[None], (cells + 0.5) * CELL_M, b[None]])
    return _straightened(points, around, arena_m)


def is_way_free(start: ArrayLike, goal: ArrayLike, discs: NDArray[np.float64]) -> bool:
    """Whether the straight way touches nothing."""
    a, b = np.asarray(start, np.float64)[:2], np.asarray(goal, np.float64)[:2]
    if not len(discs):
        return True
    along = b - a
    share = np.clip(((discs[:, :2] - a) @ along) / max(float(along @ along), 1e-9), 0.0, 1.0)
    nearest = a + share[:, None] * along
    return bool((np.hypot(*(discs[:, :2] - nearest).T) >= discs[:, 2]).all())


def clearance(point: ArrayLike, discs: NDArray[np.float64]) -> float:
    """Metres from a point to the nearest disc; negative inside one."""
    x, y = np.asarray(point, np.float64)[:2]
    if not len(discs):
        return 1e9
    return float((np.hypot(discs[:, 0] - x, discs[:, 1] - y) - discs[:, 2]).min())


def _straightened(points: NDArray[np.float64], discs: NDArray[np.float64], arena_m: float) -> NDArray[np.float64]:
    """Leave out corners where the straight way costs no more than the way by the corners."""
    lengths = [_straight_cost(p[0], p[1], q[0], q[1], discs, arena_m) for p, q in pairwise(points)]
    total = np.concatenate([[0.0], np.cumsum(lengths)])
    corners, at = [0], 0
    while at < len(points) - 1:
        ahead = len(points) - 1
        while ahead > at + 1:
            p, q = points[at], points[ahead]
            if _straight_cost(p[0], p[1], q[0], q[1], discs, arena_m) <= total[ahead] - total[at] + 1e-6:
                break
            ahead = ahead - 1 if ahead - at < 8 else ahead - (ahead - at) // 4
        at = ahead
        corners.append(at)
    return points[corners]


@compiled()
def _cost(x: Any, y: Any, discs: Any, arena_m: Any) -> Any:
    """Cost per metre at a point."""
    edge = min(min(x, arena_m - x), min(y, arena_m - y))
    if edge < EDGE_M:
        return BLOCKED * 0.25
    near = 1e9
    for k in range(len(discs)):
        near = min(near, np.hypot(discs[k, 0] - x, discs[k, 1] - y) - discs[k, 2])
    if near < 0.0:
        return BLOCKED
    if near < ROOM_M:
        return 1.0 + CLOSE * (1.0 - near / ROOM_M) ** 2
    return 1.0


@compiled()
def _straight_cost(ax: Any, ay: Any, bx: Any, by: Any, discs: Any, arena_m: Any) -> Any:
    """Cost of a straight piece."""
    length = np.hypot(bx - ax, by - ay)
    count = int(length / 0.025) + 1
    total = 0.0
    for k in range(count):
        share = (k + 0.5) / count
        total += _cost(ax + share * (bx - ax), ay + share * (by - ay), discs, arena_m)
    return total * length / count


@compiled()
def _search(start: Any, goal: Any, discs: Any, arena_m: Any, count: Any) -> Any:
    """Cells (P, 2) column, row from the start's to the goal's, by Dijkstra from the goal."""
    cost = np.empty((count, count))
    for i in range(count):
        for j in range(count):
            cost[i, j] = _cost((j + 0.5) * CELL_M, (i + 0.5) * CELL_M, discs, arena_m)
    sj = min(max(int(start[0] / CELL_M), 0), count - 1)
    si = min(max(int(start[1] / CELL_M), 0), count - 1)
    gj = min(max(int(goal[0] / CELL_M), 0), count - 1)
    gi = min(max(int(goal[1] / CELL_M), 0), count - 1)
    best = np.full(count * count, 1e18)
    after = np.full(count * count, -1)
    keys, cells = np.empty(8 * count * count), np.empty(8 * count * count, np.int64)
    size = 1
    keys[0], cells[0] = 0.0, gi * count + gj
    best[gi * count + gj] = 0.0
    target = si * count + sj
    while size > 0:
        key, cell = keys[0], cells[0]
        size -= 1
        last_key, last_cell, hole = keys[size], cells[size], 0
        while True:  # sift down
            child = 2 * hole + 1
            if child >= size:
                break
            if child + 1 < size and keys[child + 1] < keys[child]:
                child += 1
            if keys[child] >= last_key:
                break
            keys[hole], cells[hole] = keys[child], cells[child]
            hole = child
        keys[hole], cells[hole] = last_key, last_cell
        if cell == target:
            break
        if key > best[cell]:
            continue
        i, j = cell // count, cell % count
        for di in range(-1, 2):
            for dj in range(-1, 2):
                u, v = i + di, j + dj
                if (di == 0 and dj == 0) or u < 0 or v < 0 or u >= count or v >= count:
                    continue
                way = key + 0.5 * (cost[i, j] + cost[u, v]) * (1.4142135623730951 if di != 0 and dj != 0 else 1.0)
                there = u * count + v
                if way < best[there] - 1e-12:
                    best[there], after[there] = way, cell
                    hole = size
                    size += 1
                    while hole > 0 and keys[(hole - 1) // 2] > way:  # sift up
                        keys[hole], cells[hole] = keys[(hole - 1) // 2], cells[(hole - 1) // 2]
                        hole = (hole - 1) // 2
                    keys[hole], cells[hole] = way, there
    path = [target]
    while path[-1] != gi * count + gj and after[path[-1]] >= 0:
        path.append(after[path[-1]])
    result = np.empty((len(path), 2))
    for k in range(len(path)):
        result[k, 0], result[k, 1] = path[k] % count, path[k] // count
    return result
