"""Contacts of the body disc with solid columns.

An object stands from the floor past the flight height, so on the ground plan it is a disc
(x, y, radius) that the body disc may touch but not enter.
"""

from __future__ import annotations

import math

from wayword.compiled import compiled
from wayword.sim.vehicle.arrays import BoolArray, FloatArray

# A touch ends, and the next one counts anew, once the gap exceeds this many metres.
REARM_GAP_M = 0.01
# Bodies are set down this far outside the rim, so that rounding cannot leave them inside it.
SKIN_M = 1e-9
# Rounds over the columns before a body caught between several is put back where it was.
PASSES = 8


@compiled(nogil=True)
def push_out(
    x: float,
    y: float,
    vx: float,
    vy: float,
    free_x: float,
    free_y: float,
    body_radius: float,
    columns: FloatArray,
    touching: BoolArray,
) -> tuple[float, float, float, float, int]:
    """Move a body out of all ``columns`` (K, 3) and take away its velocity into them.

    ``touching`` (K,) remembers which columns are being touched and is updated in place;
    ``(free_x, free_y)`` is the position before the move, used when the body is wedged between columns.
    Returns the position, the velocity and the number of touches that began.
    """
    began = 0
    clear = columns.shape[0] == 0
    for _ in range(PASSES):
        if clear:
            break
        clear = True
        for k in range(columns.shape[0]):
            if columns[k, 2] <= 0.0:  # padding
                continue
            rim = columns[k, 2] + body_radius
            dx = x - columns[k, 0]
            dy = y - columns[k, 1]
            squared = dx * dx + dy * dy
            if squared >= rim * rim:
                continue
            clear = False
            distance = math.sqrt(squared)
            nx, ny = 1.0, 0.0  # at the very centre every way out is as good
            if distance > 0.0:
                nx, ny = dx / distance, dy / distance
            x = columns[k, 0] + nx * (rim + SKIN_M)
            y = columns[k, 1] + ny * (rim + SKIN_M)
            inward = vx * nx + vy * ny
            if inward < 0.0:
                vx -= inward * nx
                vy -= inward * ny
            if not touching[k]:
                touching[k] = True
                began += 1
    if not clear:
        x, y, vx, vy = free_x, free_y, 0.0, 0.0
    for k in range(columns.shape[0]):
        if touching[k]:
            gap = math.hypot(x - columns[k, 0], y - columns[k, 1]) - columns[k, 2] - body_radius
            if gap > REARM_GAP_M:
                touching[k] = False
    return x, y, vx, vy, began
