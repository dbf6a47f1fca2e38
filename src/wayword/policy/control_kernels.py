"""Compiled loops behind ``wayword.policy.control``; shapes and frames are explained there.

Places are in cells: u ahead and v to the left of the drone (ego) or of the start (prediction grid, whose centre
lies between its four middle cells).
"""

from __future__ import annotations

import math

import numpy as np

from wayword.compiled import compiled
from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED
from wayword.task import SUCCESS_RADIUS_M

_HALF = (PREDICTION_CELLS - 1) / 2
_NEAR_CELLS = SUCCESS_RADIUS_M / CELL_M
_WINDOW = 2  # the likeliest stop is the middle of the (2 * 2 + 1)^2 cells with most goal mass


@compiled()
def mark_segments(maps, starts, before, after, slots):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Set the cells touched by the straight way from ``before`` to ``after`` (N, 3, world) to 1, for some slots."""
    for n in slots:
        x, y, yaw = starts[n, 0], starts[n, 1], starts[n, 2]
        c, s = math.cos(yaw), math.sin(yaw)
        dx, dy = after[n, 0] - before[n, 0], after[n, 1] - before[n, 1]
        parts = int(math.hypot(dx, dy) / CELL_M * 10) + 1
        for k in range(parts + 1):
            px = (before[n, 0] + dx * k / parts - x) / CELL_M
            py = (before[n, 1] + dy * k / parts - y) / CELL_M
            j = math.floor(c * px + s * py + _HALF + 0.5)
            i = math.floor(-s * px + c * py + _HALF + 0.5)
            if 0 <= i < maps.shape[1] and 0 <= j < maps.shape[2]:
                maps[n, i, j] = 1


@compiled()
def sample_grid(grid, line, column):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Bilinear sample of a square grid; 0 outside."""
    size = grid.shape[0]
    i0, j0 = math.floor(line), math.floor(column)
    if i0 < -1 or j0 < -1 or i0 >= size or j0 >= size:
        return np.float32(0)
    fi, fj = np.float32(line - i0), np.float32(column - j0)
    total = np.float32(0)
    for di in range(2):
        for dj in range(2):
            i, j = i0 + di, j0 + dj
            if 0 <= i < size and 0 <= j < size:
                total += (fi if di else 1 - fi) * (fj if dj else 1 - fj) * grid[i, j]
    return total


@compiled()
def _ego(start, pose):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Column and line of the drone on the prediction grid, and cosine and sine of its turn since the start."""
    c, s = math.cos(start[2]), math.sin(start[2])
    dx, dy = (pose[0] - start[0]) / CELL_M, (pose[1] - start[1]) / CELL_M
    turn = pose[2] - start[2]
    return c * dx + s * dy + _HALF, -s * dx + c * dy + _HALF, math.cos(turn), math.sin(turn)


@compiled()
def write_images(  # type: ignore[no-untyped-def]
    distributions, starts, poses, trails, by_crop, image
):  # pragma: no cover - compiled
    """The egocentric crops of d^p, d^g and the trail, and the constant channels."""
    crop = image.shape[2]
    for n in range(len(image)):
        column, line, c, s = _ego(starts[n], poses[n])
        for k in range(image.shape[1]):
            if k in (2, 3):
                image[n, k] = distributions[n, k - 2, UNOBSERVED]
                continue
            grid = trails[n]
            if k < 2:
                grid = distributions[n, k, :UNOBSERVED].reshape(PREDICTION_CELLS, PREDICTION_CELLS)
            largest = np.float32(0)
            for i in range(crop):
                v = i - (crop - 1) / 2
                for j in range(crop):
                    u = j - (crop - 1) / 2
                    value = sample_grid(grid, line + s * u + c * v, column + c * u - s * v)
                    image[n, k, i, j] = value
                    largest = max(largest, value)
            if k < 2:
                if not by_crop:
                    largest = np.float32(0)
                    for cell in range(UNOBSERVED):
                        largest = max(largest, distributions[n, k, cell])
                if largest > 0:
                    for i in range(crop):
                        for j in range(crop):  # cell by cell: a whole-array division takes seconds to compile
                            image[n, k, i, j] /= largest


@compiled()
def write_things(things, poses, crops):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The egocentric crops of what stands around; outside the arena nothing does."""
    crop = crops.shape[1]
    for n in range(len(crops)):
        column, line = poses[n, 0] / CELL_M - 0.5, poses[n, 1] / CELL_M - 0.5
        c, s = math.cos(poses[n, 2]), math.sin(poses[n, 2])
        for i in range(crop):
            v = i - (crop - 1) / 2
            for j in range(crop):
                u = j - (crop - 1) / 2
                crops[n, i, j] = sample_grid(things[n], line + s * u + c * v, column + c * u - s * v)


@compiled()
def write_masks(coverage, poses, masks):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """What is not yet observed of the arena and where its boundary lies: 64 x 64 around the drone, pooled 4 x 4."""
    size, cells = masks.shape[2], coverage.shape[1]
    pool = PREDICTION_CELLS // size
    for n in range(len(masks)):
        column, line = poses[n, 0] / CELL_M - 0.5, poses[n, 1] / CELL_M - 0.5
        c, s = math.cos(poses[n, 2]), math.sin(poses[n, 2])
        masks[n] = 0
        for i in range(PREDICTION_CELLS):
            v = i - _HALF
            for j in range(PREDICTION_CELLS):
                u = j - _HALF
                y, x = line + s * u + c * v, column + c * u - s * v
                # How far inside the outermost cells' centres: there the boundary is drawn, one cell wide.
                inside = min(min(x, y), min(cells - 1 - x, cells - 1 - y))
                if inside < -1:
                    continue
                masks[n, 1, i // pool, j // pool] += max(0.0, 1.0 - abs(inside))
                if inside > -0.5:  # beyond the boundary there is nothing to observe
                    x, y = min(max(x, 0.0), cells - 1.0), min(max(y, 0.0), cells - 1.0)
                    masks[n, 0, i // pool, j // pool] += 1 - sample_grid(coverage[n], y, x)
        for k in range(masks.shape[1]):
            for i in range(size):
                for j in range(size):
                    masks[n, k, i, j] /= pool * pool


@compiled()
def write_summaries(  # type: ignore[no-untyped-def]
    distributions, starts, poses, trails, motion, summary
):  # pragma: no cover - compiled
    """Sixteen numbers per drone, all of order one.

    0, 1     P(not yet observed) of d^p and d^g
    2-4      mean of d^g: ahead, left (a unit vector, shorter within a cell), log(1 + metres)
    5-8      likeliest place to stop: the same three, and the goal mass around it
    9        goal mass within 0.47 m of the drone
    10-13    mean of the d^p that lies off the trail: the same three, and its mass
    14, 15   way (m) and turn (rad) of the last decision
    """
    size = PREDICTION_CELLS
    sums = np.zeros((size + 1, size + 1))
    for n in range(len(summary)):
        column, line, c, s = _ego(starts[n], poses[n])
        out, path, goal, trail = summary[n], distributions[n, 0], distributions[n, 1], trails[n]
        goal_mass, goal_j, goal_i, near = 0.0, 0.0, 0.0, 0.0
        rest_mass, rest_j, rest_i = 0.0, 0.0, 0.0
        for i in range(size):
            row = 0.0
            for j in range(size):
                p = np.float64(goal[i * size + j])
                row += p
                sums[i + 1, j + 1] = sums[i, j + 1] + row
                goal_mass += p
                goal_j += p * j
                goal_i += p * i
                if (i - line) ** 2 + (j - column) ** 2 < _NEAR_CELLS**2:
                    near += p
                q = path[i * size + j] * (1.0 - trail[i, j])
                rest_mass += q
                rest_j += q * j
                rest_i += q * i
        best, best_i, best_j = -1.0, 0, 0
        for i in range(_WINDOW, size - _WINDOW):
            for j in range(_WINDOW, size - _WINDOW):
                a, b, e, f = i - _WINDOW, i + _WINDOW + 1, j - _WINDOW, j + _WINDOW + 1
                held = sums[b, f] - sums[a, f] - sums[b, e] + sums[a, e]
                # A full window does not say where in it the peak is: prefer a likely middle.
                held += np.float64(goal[i * size + j])
                if held > best + 1e-9:
                    best, best_i, best_j = held, i, j
        out[0], out[1] = path[UNOBSERVED], goal[UNOBSERVED]
        if goal_mass > 1e-6:
            _direction(goal_j / goal_mass - column, goal_i / goal_mass - line, c, s, out, 2)
            _direction(best_j - column, best_i - line, c, s, out, 5)
            out[8] = best - goal[best_i * size + best_j]
        out[9] = near
        if rest_mass > 1e-6:
            _direction(rest_j / rest_mass - column, rest_i / rest_mass - line, c, s, out, 10)
        out[13] = rest_mass
        out[14], out[15] = motion[n, 0], motion[n, 1]


@compiled()
def _direction(du, dv, c, s, out, at):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """A place relative to the drone, in cells of the start frame, as ahead, left, log(1 + metres)."""
    far = math.hypot(du, dv)
    out[at] = (c * du + s * dv) / (far + 1.0)
    out[at + 1] = (-s * du + c * dv) / (far + 1.0)
    out[at + 2] = math.log1p(far * CELL_M)
