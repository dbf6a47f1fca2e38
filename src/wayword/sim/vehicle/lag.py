"""The lag model: velocity and yaw rate follow their setpoints as first-order lags.

    dv/dt = (u h(yaw) - v) / tau + k w        velocity (world frame), u = forward setpoint,
                                              h(yaw) = (cos yaw, sin yaw), w = wind, k = drag
    dr/dt = (omega - r) / tau_yaw             yaw rate
    dyaw/dt = r

Each sub-step uses the exact exponential solution for the heading at its middle, so straight flight has
no integration error at any sub-step and a turn has an error of second order. The body leans into the
acceleration its rotors produce, which decides where the camera looks; altitude is held perfectly.
The autopilot knows its own drag but not the wind: a steady wind w makes it drift by tau k w.
"""

from __future__ import annotations

import math

from wayword.compiled import compiled
from wayword.sim.vehicle.arrays import BoolArray, FloatArray, IntArray
from wayword.sim.vehicle.config import DRAG_PER_S, GRAVITY_M_S2
from wayword.sim.vehicle.contact import push_out


@compiled(nogil=True)
def fly_lag(
    pose: FloatArray,
    velocity: FloatArray,
    rates: FloatArray,
    contacts: IntArray,
    touching: BoolArray,
    track: FloatArray,
    time_constants: FloatArray,
    setpoints: FloatArray,
    wind: FloatArray,
    columns: FloatArray,
    sub_step_s: float,
    yaw_time_constant_s: float,
    tilt_time_constant_s: float,
    radius_m: float,
) -> None:
    """Advance N vehicles by S sub-steps in place.

    pose (N, 6), velocity (N, 3), rates (N, 3), contacts (N,), touching (N, K) and track (N, S, 3) are
    written; time_constants (N,), setpoints (N, S, 2), wind (N, S, 2) or (N, 0, 2) for none, and columns
    (N, K, 3) are read. Vehicles are integrated one after the other in scalar arithmetic, so a vehicle's
    flight does not depend, even in the last bit, on which others fly along.
    """
    dt = sub_step_s
    windy = wind.shape[1] > 0
    yaw_keep = math.exp(-dt / yaw_time_constant_s)
    yaw_gain = yaw_time_constant_s * (1.0 - yaw_keep)
    yaw_gain_half = yaw_time_constant_s * (1.0 - math.exp(-0.5 * dt / yaw_time_constant_s))
    tilt_keep = math.exp(-dt / tilt_time_constant_s)
    for i in range(pose.shape[0]):
        tau = time_constants[i]
        keep = math.exp(-dt / tau)
        x, y = pose[i, 0], pose[i, 1]
        roll, pitch, yaw = pose[i, 3], pose[i, 4], pose[i, 5]
        vx, vy, rate = velocity[i, 0], velocity[i, 1], rates[i, 2]
        for s in range(setpoints.shape[1]):
            speed, turn = setpoints[i, s, 0], setpoints[i, s, 1]
            middle = yaw + 0.5 * turn * dt + (rate - turn) * yaw_gain_half
            yaw += turn * dt + (rate - turn) * yaw_gain
            rate = turn + (rate - turn) * yaw_keep
            if yaw > math.pi:
                yaw -= 2.0 * math.pi
            elif yaw <= -math.pi:
                yaw += 2.0 * math.pi

            end_x = speed * math.cos(middle)
            end_y = speed * math.sin(middle)
            if windy:
                end_x += tau * DRAG_PER_S * wind[i, s, 0]
                end_y += tau * DRAG_PER_S * wind[i, s, 1]
            free_x, free_y = x, y
            x += end_x * dt + (vx - end_x) * tau * (1.0 - keep)
            y += end_y * dt + (vy - end_y) * tau * (1.0 - keep)
            vx = end_x + (vx - end_x) * keep
            vy = end_y + (vy - end_y) * keep
            x, y, vx, vy, began = push_out(x, y, vx, vy, free_x, free_y, radius_m, columns[i], touching[i])
            contacts[i] += began

            # Thrust points along Ry(pitch) Rx(roll) z = (sin p cos r, -sin r, cos p cos r): forward
            # acceleration needs positive pitch, acceleration to the left negative roll.
            cos_yaw, sin_yaw = math.cos(yaw), math.sin(yaw)
            ahead = (speed - vx * cos_yaw - vy * sin_yaw) / (tau * GRAVITY_M_S2)
            left = (vx * sin_yaw - vy * cos_yaw) / (tau * GRAVITY_M_S2)
            aim_pitch = math.atan(ahead)
            aim_roll = -math.atan(left / math.sqrt(1.0 + ahead * ahead))
            pitch = aim_pitch + (pitch - aim_pitch) * tilt_keep
            roll = aim_roll + (roll - aim_roll) * tilt_keep
            track[i, s, 0] = x
            track[i, s, 1] = y
            track[i, s, 2] = yaw
        pose[i, 0], pose[i, 1] = x, y
        pose[i, 3], pose[i, 4], pose[i, 5] = roll, pitch, yaw
        velocity[i, 0], velocity[i, 1], rates[i, 2] = vx, vy, rate
