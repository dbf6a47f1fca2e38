"""Clearance: what is left of a wish beside the things that stand there.

    n       from the vehicle to a thing, of length 1
    free    distance to it, less its radius, the hull's and what is to be kept
    u . n   <= free / t_near        of the velocity asked for: from there the vehicle stops in time
    u . n   <= 0                    if the vehicle already comes nearer than that: it lags behind what it is asked

What leads towards a thing is taken away; what leads past it is kept, so that the vehicle slides by instead of standing
before something that it was about to pass. Where it does not look it only creeps, over ground that it saw on its way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

Disc = tuple[float, float, float]
"""x, y, radius in metres of something that stands there."""
SIDE_RAD = 0.7
"""Just inside half of the camera's 84 degrees."""
CREEP_M_S = 0.2
"""Beside that, no faster than this."""
STILL_M_S = 0.1
"""Slower than this is noise."""
_PASSES, _CLOSE_M_S = 20, 0.002
"""Two things that lean towards each other are satisfied in turn, until what is left does not matter."""


def cleared(
    x: float,
    y: float,
    wish: tuple[float, float],
    velocity: tuple[float, float],
    obstacles: Iterable[Disc],
    keep_m: float,
    stop_s: float,
) -> tuple[float, float]:
    """The velocity that obstacles leave of the one that is wished for, both on the map."""
    walls = _walls(x, y, wish, velocity, obstacles, keep_m, stop_s)
    ux, uy = wish
    for _ in range(_PASSES):
        nx, ny, most = max(walls, key=lambda wall: ux * wall[0] + uy * wall[1] - wall[2], default=(0.0, 0.0, 0.0))
        over = ux * nx + uy * ny - most
        if over <= _CLOSE_M_S:
            break
        ux, uy = ux - over * nx, uy - over * ny
    else:  # between several things
        return 0.0, 0.0
    size, wished = math.hypot(ux, uy), math.hypot(*wish)
    along = wish[0] * ux + wish[1] * uy
    if along <= 0:  # the only way out leads back: that is for the policy to choose
        return 0.0, 0.0
    beside = along < math.cos(SIDE_RAD) * size * wished
    share = CREEP_M_S / size if beside and size > CREEP_M_S else 1.0
    return share * ux, share * uy


def _walls(
    x: float,
    y: float,
    wish: tuple[float, float],
    velocity: tuple[float, float],
    obstacles: Iterable[Disc],
    keep_m: float,
    stop_s: float,
) -> list[tuple[float, float, float]]:
    """For everything within reach its direction and the most speed towards it."""
    moving = math.hypot(*velocity) > STILL_M_S
    reach = stop_s * max(math.hypot(*wish), math.hypot(*velocity))
    walls = []
    for ox, oy, radius in obstacles:
        away = math.hypot(ox - x, oy - y)
        free = away - radius - keep_m
        if not free < reach or away < 1e-9:  # far away, or no number
            continue
        nx, ny, most = (ox - x) / away, (oy - y) / away, max(free, 0.0) / stop_s
        coming = velocity[0] * nx + velocity[1] * ny
        walls.append((nx, ny, 0.0 if moving and coming > most else most))
    return walls
